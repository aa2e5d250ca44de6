"""Files of agents, evaluations and tracing: lines and rows that the programs wrote, shortened."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tunaeval
from tests.data.adapters.file_writers import FILE_WRITERS, SECONDS, chat, pi
from tests.data.adapters.steps import Answered, Asked, Called, Step, conversations
from tests.data.adapters.test_agents import lines, shown
from tests.data.adapters.test_laws import BOUND, assert_read_or_refused, rounds, seconds
from tests.data.adapters.writers import WRITERS
from tunaeval.cli import main
from tunaeval.data.adapters.documents import DOCUMENT_SHAPES, read_file, read_path
from tunaeval.errors import UsageError
from tunaeval.testing.strategies import json_values
from tunaeval.types.conversations import Conversation
from tunaeval.types.messages import Usage

STEPS: list[Step] = [
    Asked("Read a."),
    Called("I look.", (("read_file", {"path": "a"}, "c1"),)),
    Answered((("c1", "text of a", False),)),
]


def read_one(document: Any, shape: str | None = None) -> Conversation:
    (read,) = tunaeval.read_conversations(document, shape=shape)
    return read


def codes(read: Conversation) -> list[str]:
    return [notice.code for notice in read.warnings]


# --- pi (packages/coding-agent/src/core/session-manager.ts) ------------------------------------


def entry(name: str, parent: str | None, **fields: Any) -> dict[str, Any]:
    return {"type": "message", "id": name, "parentId": parent, **fields}


def said(role: str, text: str, **more: Any) -> dict[str, Any]:
    return {"message": {"role": role, "content": [{"type": "text", "text": text}], **more}}


def test_the_branch_of_the_last_entry_is_the_conversation() -> None:
    session = [
        {"type": "session", "version": 3, "id": "s", "cwd": "/w"},
        entry("a", None, **said("user", "Read a.")),
        entry("b", "a", **said("assistant", "Wrong.")),
        entry("c", "b", **said("user", "No.")),
        {"type": "branch_summary", "id": "d", "parentId": "a", "fromId": "c", "summary": "Tried."},
        {"type": "label", "id": "e", "parentId": "d", "targetId": "a", "label": "here"},
        entry("f", "e", **said("assistant", "Right.")),
    ]
    (read,) = read_file(lines(session))
    assert (read.shape, read.length, read.sources) == ("pi", 7, (1, 4, 6))
    assert [message.content for message in read.messages] == ["Read a.", "Tried.", "Right."]
    assert [(one.code, one.source) for one in read.warnings] == [("side-conversation", 2)]
    assert read.warnings[0].message.startswith("2 messages")


def test_a_parent_of_pi_that_is_missing_is_said_and_the_rest_is_kept() -> None:
    lines = [
        entry("a", None, **said("user", "Go.")),
        entry("b", "a", **said("assistant", "Well.")),
        entry("d", "lost", **said("user", "And?")),
        entry("e", "d", **said("assistant", "Done.")),
    ]
    read = read_one(lines)
    assert [one.content for one in read.messages] == ["Go.", "Well.", "And?", "Done."]
    assert codes(read) == ["missing-parent"]
    assert (read.warnings[0].path, "'lost'" in read.warnings[0].message) == ("/2", True)
    assert [one.content for one in read_one(lines[2:]).messages] == ["And?", "Done."]
    assert codes(read_one(lines[2:])) == ["missing-parent"]


@pytest.mark.parametrize("parent", ["c", "d"])
def test_a_circle_of_parents_of_pi_is_said(parent: str) -> None:
    lines = [
        entry("a", None, **said("user", "Go.")),
        entry("c", parent, **said("assistant", "Well.")),
        entry("d", "c", **said("user", "And?")),
    ]
    read = read_one(lines)
    assert [one.content for one in read.messages] == ["Go.", "Well.", "And?"]
    assert codes(read) == ["cyclic-parents"]


def test_lines_of_pi_that_are_no_message_of_the_model() -> None:
    old = [{key: one for key, one in line.items() if key not in {"id", "parentId"}}
           for line in pi(STEPS)]  # fmt: skip
    more = [
        {"type": "message", "message": {"role": "bashExecution", "command": "ls", "output": "a",
                                        "exitCode": 0}},
        {"type": "custom_message", "customType": "x", "content": "Be brief.", "display": True},
        {"type": "compaction", "summary": "So far.", "tokensBefore": 9},
        {"type": "custom", "customType": "x", "data": {}},
        {"type": "dream", "content": "?"},
        {"type": "message", **said("assistant", "", stopReason="error", errorMessage="529")},
    ]  # fmt: skip
    read = read_one([*old, *more])
    assert [one.content for one in read.messages if one.role == "system"] == [
        "$ ls\na", "Be brief.", "So far.",
    ]  # fmt: skip
    assert codes(read) == ["compacted", "unknown-part", "failed-reply", "failed-run"]
    assert (read.failure, read.messages[1].usage) == ("529", Usage(100, 5, 0.25))
    assert read.messages[1].at == 1795692265.0


# --- mini-swe-agent (agents/default.py, models/utils/actions_text.py) ---------------------------


def mini(*messages: Any, **info: Any) -> dict[str, Any]:
    start = [{"role": "system", "content": "You fix."}, {"role": "user", "content": "Fix it."}]
    return {"info": info, "messages": [*start, *messages],
            "trajectory_format": "mini-swe-agent-1"}  # fmt: skip


def replied(text: str, **extra: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": text, "timestamp": SECONDS, "extra": extra}


def seen(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


@pytest.mark.parametrize("mark", ["mswea_bash_command", "bash"])
@pytest.mark.parametrize("whole", [True, False])
def test_blocks_are_calls_and_the_return_code_decides(mark: str, whole: bool) -> None:
    usage = {"response": {"usage": {"prompt_tokens": 100, "completion_tokens": 5}}}
    run = mini(
        replied(f"I look.\n\n```{mark}\ncat a\n```", **usage),
        seen("<returncode>1</returncode>\n<output>\ncat: a\n</output>"),
        replied(f"```{mark}\n\nls -l\nls\n```\nSo."),
        seen("<returncode>0</returncode>\n<output>\na\n</output>"),
        replied(f"```{mark}\necho COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT\n```"),
        seen("error: this is what was submitted"),
        exit_status="Submitted",
    )
    read = read_one(run if whole else run["messages"])
    assert (read.shape, read.query, codes(read)) == ("mini-swe-agent", "Fix it.", [])
    calls = [call for message in read.messages for call in message.tool_calls]
    assert [call.name for call in calls] == ["bash"] * 3
    assert [call.arguments["command"] for call in calls[:2]] == ["cat a", "ls -l\nls"]
    results = [message.is_error for message in read.messages if message.is_result]
    assert results == [True, False, None]
    assert (read.messages[2].usage, read.messages[2].at) == (Usage(100, 5), SECONDS)


def test_a_reply_with_two_blocks_was_refused() -> None:
    two = "```bash\nls\n```\n```bash\nls a\n```"
    read = read_one(mini(replied(two), seen("EXACTLY ONE"), replied("Sorry."), seen("None.")))
    assert [m.is_error for m in read.messages if m.is_result] == [True, True]
    assert shown(read)[-2:] == [("assistant", "Sorry."), ("user", "None.")]


def test_a_refused_reply_is_in_the_message_that_refuses_it() -> None:
    call = {"id": "c1", "function": {"name": "zsh", "arguments": "{}"}}
    message = {"role": "assistant", "content": "Hm.", "tool_calls": [call]}
    response = {"choices": [{"message": message}], "usage": {"prompt_tokens": 9}}
    refusal = {"interrupt_type": "FormatError", "response": response, "cost": 0.5}
    read = read_one(mini({"role": "user", "content": "Unknown tool.", "extra": refusal}))
    assert shown(read)[2:] == [
        ("assistant", "Hm.", ("zsh", "c1")), ("tool", "Unknown tool.", "c1", True),
    ]  # fmt: skip
    assert read.messages[2].usage == Usage(9, None, 0.5)
    text = {"interrupt_type": "FormatError", "model_response": "Hm.", "response": {"usage": {}}}
    read = read_one(mini({"role": "user", "content": "None found.", "extra": text}))
    assert shown(read)[2:] == [("assistant", "Hm."), ("system", "None found.")]


def test_a_run_on_the_responses_api_is_read() -> None:
    items = [
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I"}]},
        {"type": "function_call", "name": "bash", "call_id": "c1",
         "arguments": '{"command": "ls"}'},
    ]  # fmt: skip
    usage = {"input_tokens": 7, "output_tokens": 2}
    output = {"type": "function_call_output", "call_id": "c1", "output": "no ls"}
    read = read_one(mini(
        {"object": "response", "output": items, "usage": usage, "extra": {"actions": [{}]},
         "text": {"format": {"type": "text"}}, "reasoning": {"effort": "low"}},
        {**output, "extra": {"returncode": 127}},
    ))  # fmt: skip
    assert shown(read)[2:] == [
        ("assistant", "I"), ("assistant", "", ("bash", "c1")), ("tool", "no ls", "c1", True),
    ]  # fmt: skip
    assert [m.usage for m in read.messages if m.usage] == [Usage(7, 2)]
    assert not read.warnings


@pytest.mark.parametrize("interactive", [True, False])
def test_to_submit_is_a_call_that_succeeded_and_the_exit_is_silent(interactive: bool) -> None:
    call = {"id": "c1", "function": {"name": "bash", "arguments": '{"command": "echo"}'}}
    reply = {**replied("", actions=[{"command": "echo", "tool_call_id": "c1"}]),
             "tool_calls": [call]}  # fmt: skip
    padded = {"role": "tool", "tool_call_id": "c1", "content": "not executed",
              "extra": {"returncode": -1, "exception_info": "action was not executed"}}  # fmt: skip
    ended = {"role": "exit", "content": "diff", "extra": {"exit_status": "Submitted"}}
    read = read_one(mini(reply, *[padded] * interactive, ended, exit_status="Submitted"))
    assert [(m.role, m.is_error) for m in read.messages[2:]] == [
        ("assistant", None), ("tool", None if interactive else False),
    ]  # fmt: skip
    assert codes(read) == []
    assert tunaeval.score(read, "Fix it.").success_ratio == 1.0
    broken = {"exit_status": "APIError", "traceback": "..."}
    assert read_one(mini({**ended, "extra": broken})).failure == "APIError: diff"
    assert read_one(mini(**broken, submission="down")).failure == "APIError"


HOST_ERRORS = ["APIError", "RateLimitError", "TimeoutExpired", "KeyboardInterrupt", "BadException"]
AGENTS_ENDS = ["Submitted", "LimitsExceeded", "RepeatedFormatError", "FormatError", "", None]


@pytest.mark.parametrize("status", [*HOST_ERRORS, *AGENTS_ENDS])
def test_an_error_of_the_host_is_a_failure_without_a_traceback_too(status: str | None) -> None:
    is_hosts = status in HOST_ERRORS
    run = mini(replied("Hm."), exit_status=status)
    assert read_one(run).failure == (status if is_hosts else None)
    left = {"role": "exit", "content": "down", "extra": {"exit_status": status}}
    assert read_one(mini(replied("Hm."), left)).failure == (f"{status}: down" if is_hosts else None)


# --- SWE-agent ---------------------------------------------------------------------------------


@pytest.mark.parametrize("typed", [True, False])
def test_the_last_results_of_swe_agent_are_in_its_steps(typed: bool) -> None:
    history = [
        {"role": "system", "content": "You fix.", "message_type": "system_prompt"},
        {"role": "user", "content": "Fix it.", "message_type": "observation"},
        {"role": "assistant", "content": "I look.", "thought": "I look.", "action": "ls\n",
         "message_type": "action"},
        {"role": "user", "content": "calc.py", "message_type": "observation"},
        {"role": "assistant", "content": "Again.", "thought": "Again.", "action": "ls a\n",
         "message_type": "action"},
    ]  # fmt: skip
    steps = [
        {"action": "ls\n", "observation": "calc.py", "response": "I look."},
        {"action": "ls a\n", "observation": "a", "response": "Again."},
        {"action": "submit", "observation": "diff", "response": "Done."},
        {"action": "", "observation": "", "response": "Exit due to cost"},
    ]
    if not typed:
        history = [{k: v for k, v in one.items() if k != "message_type"} for one in history]
    spent = {"tokens_sent": 100, "tokens_received": 5, "instance_cost": 0.25}
    run = {"history": history, "trajectory": steps, "info": {"model_stats": spent}}
    read = read_one(run)
    assert (read.usage, codes(read), read.length) == (Usage(100, 5, 0.25), [], 5)
    assert shown(read)[2:] == [
        ("assistant", "I look.", ("bash", "bash-1")), ("tool", "calc.py", "bash-1", None),
        ("assistant", "Again.", ("bash", "bash-2")), ("tool", "a", "bash-2", None),
        ("assistant", "Done.", ("bash", "bash-3")), ("tool", "diff", "bash-3", None),
    ]  # fmt: skip
    assert read_one({"history": history[:4]}).shape == "swe-agent"  # a demonstration
    assert codes(read_one({**run, "attempts": [run, run]})) == ["side-conversation"]


# --- OpenHands ---------------------------------------------------------------------------------

ACTIONS: list[dict[str, Any]] = [
    {"source": "user", "action": "message", "args": {"content": "Look."}},
    {"source": "agent", "action": "run", "args": {"command": "ls", "thought": "I look."}},
    {"observation": "run", "content": "no ls", "extras": {"exit_code": 127}},
    {"source": "agent", "action": "read", "args": {"path": "a", "thought": ""}},
    {"observation": "null", "content": "", "extras": {}},
    {"source": "agent", "action": "finish", "args": {"outputs": {}, "thought": "Nothing."}},
]


@pytest.mark.parametrize("pairs", [True, False])
def test_the_oldest_events_have_no_ids(pairs: bool) -> None:
    events: list[Any] = [*ACTIONS]
    if pairs:
        null = ACTIONS[4]
        events = [[ACTIONS[0], null], ACTIONS[1:3], ACTIONS[3:5], [ACTIONS[5], null]]
    read = read_one({"instance_id": "django-1", "instruction": "Look!", "history": events})
    assert (read.shape, read.name, read.query) == ("openhands", "django-1", "Look!")
    assert shown(read) == [
        ("user", "Look."), ("assistant", "I look.", ("run", "event-1")),
        ("tool", "no ls", "event-1", True), ("assistant", "", ("read", "event-2")),
        ("assistant", "Nothing."),
    ]  # fmt: skip
    assert codes(read) == ["dangling-call"]


def test_events_that_are_flat_are_read() -> None:
    flat = [
        {"content": "Look.", "action": "message"},
        {"command": "ls", "thought": "I look.", "action": "run", "keep_prompt": True},
        {"content": "no ls", "command": "ls", "exit_code": 127, "observation": "run"},
    ]
    read = read_one({"git_patch": "", "history": flat})
    assert not read.warnings
    assert shown(read)[1:] == [
        ("assistant", "I look.", ("run", "event-1")), ("tool", "no ls", "event-1", True),
    ]  # fmt: skip
    assert read.messages[1].tool_calls[0].arguments == {"command": "ls"}


@pytest.mark.parametrize(
    ("arguments", "texts"),
    [
        ({"thought": "", "final_thought": "Done."}, ["Done."]),
        ({"thought": "", "message": "Done.", "final_thought": ""}, ["Done."]),
        ({"thought": "So.", "final_thought": "Done."}, ["So.", "Done."]),
        ({"thought": "Done."}, ["Done."]),
        ({"thought": ""}, [""]),
    ],
)
@pytest.mark.parametrize("version", [0, 1])
def test_to_finish_is_no_call_but_the_last_words(
    version: int, arguments: dict[str, str], texts: list[str]
) -> None:
    first: dict[str, Any] = {"source": "agent", "action": "finish", "args": arguments}
    if version:
        thought = [{"type": "text", "text": arguments["thought"]}]
        call = {"arguments": json.dumps({"message": arguments.get("message", "")})}
        first = {"kind": "ActionEvent", "source": "agent", "thought": thought, "tool_call": call,
                 "action": {"kind": "FinishAction", **arguments}, "tool_name": "finish",
                 "tool_call_id": "c9"}  # fmt: skip
    answer = {"kind": "ObservationEvent", "source": "environment", "tool_name": "finish",
              "tool_call_id": "c9", "observation": {"content": "Done."}}  # fmt: skip
    read = read_one([ACTIONS[0], first, *[answer] * version], "openhands")
    assert [(m.content, m.tool_calls) for m in read.messages[1:]] == [(one, ()) for one in texts]
    assert codes(read) == []


def test_the_error_of_a_row_is_the_hosts_or_the_agents() -> None:
    row = {"instance_id": "i", "history": ACTIONS, "metrics": {
        "accumulated_cost": 0.25, "accumulated_token_usage": {"prompt_tokens": 9}}}  # fmt: skip
    assert read_one(row).usage == Usage(9, None, 0.25)
    assert (
        read_one({**row, "error": "RuntimeError: no docker"}).failure == "RuntimeError: no docker"
    )
    empty: dict[str, Any] = {
        "instance_id": "j",
        "history": None,
        "test_result": {},
        "error": "no docker",
    }
    assert [one.failure for one in read_file(lines([row, empty]))] == [None, "no docker"]
    own = read_one({**row, "error": "RuntimeError: Agent reached maximum iteration."})
    assert own.failure is None
    assert "failed-run" in codes(own)


def test_the_usage_of_a_reply_of_openhands_counts_once() -> None:
    reply = {"id": "r1", "usage": {"prompt_tokens": 9, "completion_tokens": 2}}
    events = [
        {"id": n, "source": "agent", "action": "run", "args": {},
         "tool_call_metadata": {"tool_call_id": f"c{n}", "model_response": reply}}
        for n in range(2)
    ]  # fmt: skip
    assert [m.usage for m in read_one(events).messages] == [Usage(9, 2)]


@pytest.mark.parametrize("version", [0, 1])
def test_a_folder_with_an_event_in_each_file_is_one_transcript(
    version: int, tmp_path: Path, capsys: Any
) -> None:
    folder = tmp_path / "sessions" / "s1" / "events"
    folder.mkdir(parents=True)
    cached = tmp_path / "sessions" / "s1" / "event_cache"
    cached.mkdir()
    written = FILE_WRITERS["openhands rows"](STEPS * 6)[0]["history"]
    (cached / "0-25.json").write_text(json.dumps(written))
    for number, event in enumerate(written):
        name = f"event-{number:05}-3f2a.json" if version else f"{number}.json"
        (folder / name).write_text(json.dumps(event, indent=1))
    wanted = read_one(written)
    for given_ in (folder, tmp_path):
        assert main(["score", str(given_), "--json"]) in {0, 1}
        found = json.loads(capsys.readouterr().out)
        assert [(one["shape"], one["messages"]) for one in found["transcripts"]] == [
            ("openhands", len(written))
        ]
        assert found["transcripts"][0]["file"] == str(folder)
    out = tmp_path / "t.jsonl"
    assert main(["convert", str(folder), "--to", "atif", "--out", str(out)]) == 0
    assert [one.content for one in read_file(out.read_bytes())[0].messages if one.is_result] == [
        one.content for one in wanted.messages if one.is_result
    ]
    (folder / "metadata.json").write_text("{")
    assert len(read_path(str(folder))) == 1
    (folder / f"{'event-00003-3f2a' if version else 3}.json").write_text("{")
    with pytest.raises(UsageError, match="line"):
        read_path(str(folder))


# --- results of evaluations ----------------------------------------------------------------------


def test_each_row_of_tau_bench_is_a_conversation() -> None:
    rows = [
        {"task_id": 0, "trial": 1, "reward": 0.0, "info": {}, "traj": chat(STEPS)},
        {"task_id": 1, "trial": 1, "info": {"error": "APIError: 500"}, "traj": []},
    ]
    for data in (json.dumps(rows).encode(), lines(rows)):
        fine, broken = read_file(data)
        assert (fine.shape, fine.name, fine.failure) == ("tau-bench", "task 0, trial 1", None)
        assert fine.query == "Read a."
        assert (broken.failure, broken.messages) == ("APIError: 500", ())


def acted(name: str, **arguments: Any) -> dict[str, Any]:
    action = json.dumps({"name": name, "arguments": arguments})
    return {"role": "assistant", "content": f"Thought:\nLook.\nAction:\n{action}"}


def test_the_actions_in_texts_of_tau_bench_are_calls() -> None:
    """As its agents `act` and `react` write them."""
    row = {"task_id": 1, "trial": 0, "reward": 1.0, "traj": [
        {"role": "system", "content": "# Policy"},
        {"role": "user", "content": "Hi."},
        acted("find_user", email="a@b.c"),
        {"role": "user", "content": "API output: Error: user not found"},
        acted("respond", content="Which name?"),
        {"role": "user", "content": "API output: is not what I mean."},
        {"role": "assistant", "content": "Action: none of JSON"},
    ]}  # fmt: skip
    read = read_one(row)
    assert read.shape == "tau-bench"
    (call,) = [one for message in read.messages for one in message.tool_calls]
    assert (call.name, call.arguments) == ("find_user", {"email": "a@b.c"})
    said = [(one.role, one.content) for one in read.messages[1:]]
    assert said == [
        ("user", "Hi."), ("assistant", "Thought:\nLook."), ("tool", "Error: user not found"),
        ("assistant", "Which name?"), ("user", "API output: is not what I mean."),
        ("assistant", "Action: none of JSON"),
    ]  # fmt: skip
    assert codes(read) == []


def test_simulations_of_tau2_are_conversations_without_the_users_tokens() -> None:
    messages = WRITERS["tau2"](STEPS)
    for message in messages:
        if message["role"] != "tool":
            message |= {"usage": {"prompt_tokens": 9, "completion_tokens": 1}, "cost": 0.25}
    run = {"id": "r", "task_id": "4", "trial": 0, "messages": messages}
    file = {
        "tasks": [],
        "simulations": [
            {**run, "termination_reason": why} for why in ("user_stop", "infrastructure_error")
        ],
    }
    fine, broken = tunaeval.read_conversations(file)
    assert (fine.shape, fine.name, fine.failure) == ("tau2", "task 4, trial 0", None)
    assert broken.failure == "infrastructure_error"
    assert [m.role for m in fine.messages if m.usage] == ["assistant"]
    assert read_one(file["simulations"][0]) == fine


def row(output: Any, prompt: Any = "Read a.", **more: Any) -> dict[str, Any]:
    return {"promptIdx": 1, "testIdx": 0, "vars": {}, "prompt": {"raw": prompt, "label": "p"},
            "response": {"output": output, "cost": 0.25, "tokenUsage": {
                "prompt": 9, "completion": 2}, **more}, "failureReason": 0}  # fmt: skip


CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}


@pytest.mark.parametrize(
    ("output", "content", "known"),
    [
        ("Here it is.\n", "Here it is.\n", None),
        ([CALL], "", "c1"),
        ({"role": "assistant", "content": "I look.", "tool_calls": [CALL]}, "I look.", "c1"),
        ({"name": "f", "arguments": '{"a": 1}'}, "", None),
        ('I look.\n\n{"type":"tool_use","id":"t1","name":"f","input":{"a":1}}', "I look.\n", "t1"),
        ('{"type":"function_call","id":"fc","call_id":"k","name":"f","arguments":"{\\"a\\":1}"}',
         "", "k"),
        ([{"text": "I look."}, {"functionCall": {"name": "f", "args": {"a": 1}}}], "I look.", None),
        ([{"type": "tool_use", "id": "t1", "name": "f", "input": {"a": 1}}], "", "t1"),
        ({"answer": 3}, '{"answer": 3}', None),
    ],
)  # fmt: skip
def test_outputs_of_promptfoo_are_read(output: Any, content: str, known: str | None) -> None:
    read = read_one({"evalId": "e", "results": {"results": [row(output)]}})
    assert (read.shape, read.name, read.query) == ("promptfoo", "test 0, prompt 1", "Read a.")
    (reply,) = read.messages[1:]
    assert (reply.role, reply.content, reply.usage) == ("assistant", content, Usage(9, 2, 0.25))
    made = [(call.name, call.arguments, call.id) for call in reply.tool_calls]
    assert made == [("f", {"a": 1}, known)] * ("f" in str(output) and "Here" not in content)


def test_a_row_of_promptfoo_has_what_the_provider_ran_and_what_a_user_said() -> None:
    ran = [{"id": "c1", "name": "f", "input": {"a": 1}, "output": "no", "is_error": True}]
    read = read_one([row("Done.", metadata={"toolCalls": ran})])
    assert shown(read)[1:] == [
        ("assistant", "", ("f", "c1")), ("tool", "no", "c1", True), ("assistant", "Done."),
    ]  # fmt: skip
    assert codes(read) == []
    told = [{"role": "user", "content": "Hi."}, {"role": "assistant", "content": "Hello."}]
    read = read_one([row("User: Hi.", prompt="Be kind.", metadata={"messages": told})])
    assert shown(read) == [("system", "Be kind."), ("user", "Hi."), ("assistant", "Hello.")]
    broken = {**row(None, error="API error: 500"), "error": "API error: 500", "failureReason": 2}
    assert read_one([broken]).failure == "API error: 500"
    missed = {**row("Done."), "error": "Expected output to contain x", "failureReason": 1}
    assert read_one([missed]).failure is None


# --- LangSmith -----------------------------------------------------------------------------------


def test_runs_as_the_sdk_has_them_are_read() -> None:
    schemas = pytest.importorskip("langsmith.schemas", reason="needs langsmith")
    number = "01a22346-f92f-7ea6-9d70-{:012}".format
    runs = [
        schemas.Run(id=number(n), name="x", run_type=one["run_type"], start_time=one["start_time"],
                    inputs=one["inputs"], outputs=one["outputs"], error=one["error"],
                    trace_id=number(99), parent_run_id=number(98))
        for n, one in enumerate(FILE_WRITERS["langsmith nested"](STEPS)[0]["child_runs"])
    ]  # fmt: skip
    read = read_one(runs)
    assert shown(read)[:3] == [
        ("user", "Read a."), ("assistant", "I look.", ("read_file", "c1")),
        ("tool", "text of a", "c1", None),
    ]  # fmt: skip


def test_the_state_of_a_graph_is_read_where_no_model_was_traced() -> None:
    messages = chat([*STEPS, Called("Done.", ())])
    run = {"id": "r", "trace_id": "r", "run_type": "chain", "name": "LangGraph",
           "inputs": {"messages": messages[:1]}, "outputs": {"messages": messages}}  # fmt: skip
    inner = {**run, "id": "r2", "parent_run_id": "r"}
    for given_ in ([run, inner], {**run, "child_runs": [inner]}, {"runs": [run, inner]}):
        read = read_one(given_)
        assert [m.content for m in read.messages] == ["Read a.", "I look.", "text of a", "Done."]


def test_a_run_below_itself_is_read_once() -> None:
    (run,) = FILE_WRITERS["langsmith nested"](STEPS)
    wanted = read_one([run])
    run["child_runs"].append(run)
    assert read_one([run]) == wanted


@pytest.mark.parametrize("failed", [False, True])
def test_a_run_of_a_tool_that_no_later_request_repeats_is_a_result(failed: bool) -> None:
    document = json.loads(json.dumps(FILE_WRITERS["langsmith nested"](STEPS)[0]))
    asked, tool = document["child_runs"][:2]
    tool |= {"name": "read_file", "outputs": None if failed else {"output": "sunny"}}
    tool["error"] = "no file" if failed else None
    read = read_one([{**document, "error": "boom", "child_runs": [asked, tool]}])
    last = read.messages[-1]
    assert (last.content, last.is_error) == (("no file", True) if failed else ("sunny", None))
    assert (codes(read), read.failure) == (["failed-run"], "boom")


# --- all of them ---------------------------------------------------------------------------------


ODD: list[Any] = [None, [], {}, [[]], 0, -1.5, "", True, "x", [{}], {"x": []}]


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(
        value, list) else ()  # fmt: skip
    return [path, *(one for key, below in inner for one in places(below, (*path, key)))]


@pytest.mark.parametrize("name", FILE_WRITERS)
@given(steps=conversations(most=2), data=st.data())
def test_a_spoiled_file_is_read_or_refused(
    name: str, steps: list[Step], data: st.DataObject
) -> None:
    document: Any = {"": json.loads(json.dumps(FILE_WRITERS[name](steps)))}
    *path, last = data.draw(st.sampled_from(places(document)[1:]))
    at = document
    for key in path:
        at = at[key]
    at[last] = data.draw(st.sampled_from(ODD) | json_values(2))
    for shape in (None, name.partition(" ")[0]):
        assert_read_or_refused(document[""], shape)


def test_every_shape_is_named_where_none_fits() -> None:
    with pytest.raises(UsageError) as caught:
        tunaeval.read_conversation({"nothing": 1})
    assert all(name in str(caught.value) for name in DOCUMENT_SHAPES)


@pytest.mark.parametrize("name", [name for name in FILE_WRITERS if "langsmith" not in name])
def test_four_times_the_messages_take_about_four_times_the_time(name: str) -> None:
    small, large = (FILE_WRITERS[name](list(rounds(count))) for count in (250, 1_000))
    assert any(seconds(large) / seconds(small) < BOUND for _ in range(3))
