"""A task of many turns: how it goes on, how it ends, what is kept of it, and what it survives."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tunaeval
from tests.faults.runs import within
from tests.runs.tasks import (
    CALC,
    ONE,
    READ,
    REPAIR,
    TASK,
    call,
    report_of,
    result_of,
    scripted,
    suite_of,
)
from tests.runs.whole_runs import Answers
from tunaeval.errors import ToolsError, TransportFailure, UsageError
from tunaeval.types.exchange import Reply, Request, Streamed
from tunaeval.types.messages import Usage


def test_an_episode_goes_on_until_an_answer_and_is_graded(tmp_path: Path) -> None:
    asked: list[Request] = []

    def answer(request: Request) -> str:
        asked.append(request)
        return [READ, REPAIR, call("bash", command="python -m tests.t"), "It is repaired."][
            request.attempt - 1
        ]

    report = report_of(suite_of(tmp_path, TASK), Answers(answer))
    result = report.results[0]
    assert (report.passed, report.total, result.outcome) == (1, 1, "calls")
    assert result.task is not None
    assert (result.task.ended, result.task.answer) == ("answer", "It is repaired.")
    assert result.task.changed == ("calc.py",)
    assert result.reason == "2 checks passed, in 4 turns"
    assert [turn.touched for turn in result.attempts] == [(), ("calc.py",), (), ()]
    assert result.attempts[0].results[0].content == CALC
    assert result.attempts[2].results[0].content == "Exit Code: 0"
    assert [message["role"] for message in asked[-1].messages] == [
        "system", "user", *["assistant", "tool"] * 3,
    ]  # fmt: skip
    ids = [one.id for turn in result.attempts for one in turn.results]
    told = [one["tool_call_id"] for one in asked[-1].messages if one["role"] == "tool"]
    assert ids == told == ["call_1", "call_2", "call_3"]
    assert report.summary.attempts_to_success == {"1": 1}
    assert all(at.ok for at in result.levels.values())


@pytest.mark.parametrize(
    ("replies", "words", "turn"),
    [
        (["Done."], "turn 1: file calc.py: calc.py does not contain 'a + b'", 1),
        ([READ, "Done."], "turn 2: file calc.py", 2),
        (
            [READ, call("update_file", filepath="tests/t.py", target="5", patch="-1"), "Done."],
            "turn 2: unchanged tests/: tests/t.py was changed; and 1 more check failed",
            2,
        ),
    ],
)
def test_the_first_turn_that_went_wrong_is_named(
    tmp_path: Path, replies: Sequence[str], words: str, turn: int
) -> None:
    result = result_of(suite_of(tmp_path, TASK), *replies)
    assert not result.ok
    assert result.reason.startswith(words)
    assert result.task is not None
    assert result.task.wrong_turn == turn


def reply(text: str, tokens: int = 0) -> Reply:
    message = {"role": "assistant", "content": text}
    return Reply(message, "stop", Usage(completion_tokens=tokens or None), source="text")


@pytest.mark.parametrize(
    ("limits", "replies", "ended", "turns"),
    [
        ({"turns": 3}, [READ], "turns", 3),
        ({"calls": 2}, [READ], "calls", 3),
        ({"calls": 2}, [READ + READ + READ], "calls", 1),
        ({"tokens": 100}, [reply(READ, 40)], "tokens", 3),
        ({"turns": 2}, ["<tool_call>\n{broken"], "turns", 2),
        ({}, [READ, "Done."], "answer", 2),
        ({}, [READ], "turns", 16),
    ],
)
def test_a_model_that_never_stops_is_stopped(
    tmp_path: Path, limits: dict[str, int], replies: Sequence[Any], ended: str, turns: int
) -> None:
    result = result_of(suite_of(tmp_path, {**TASK, "limits": limits}), *replies)
    assert result.task is not None
    assert (result.task.ended, len(result.attempts)) == (ended, turns)
    assert result.outcome != "transport_failure"


def test_the_time_of_an_episode_ends_it_and_it_is_graded(tmp_path: Path) -> None:
    suite = suite_of(tmp_path, {**TASK, "limits": {"seconds": 0.5, "turns": 99}})
    client = Answers(lambda request: [REPAIR, READ][request.attempt > 1], seconds=0.2)
    result = report_of(suite, client).results[0]
    assert result.task is not None
    assert (result.task.ended, result.ok) == ("seconds", True)


def test_a_signal_ends_it(tmp_path: Path) -> None:
    done = {**TASK, "done": {"text": "TASK DONE"}}
    result = result_of(suite_of(tmp_path, done), READ, f"TASK DONE\n{REPAIR}", READ)
    assert result.task is not None
    assert (result.task.ended, len(result.attempts), result.ok) == ("signal", 2, True)
    called = {**TASK, "done": {"tool": "list_dir"}}
    result = result_of(suite_of(tmp_path, called), READ, call("list_dir"), READ)
    assert result.task is not None
    assert (result.task.ended, len(result.attempts)) == ("signal", 2)


def test_a_user_goes_on_by_script_and_then_by_a_callable(tmp_path: Path) -> None:
    said: list[int] = []

    async def user(messages: Sequence[Any], _: tunaeval.Episode) -> str | None:
        said.append(len(messages))
        return "And once more." if len(said) == 1 else None

    suite = suite_of(tmp_path, {**TASK, "users": ["Now repair it."]})
    replies = ["Hello.", REPAIR, "Repaired.", "Yes."]
    result = result_of(suite, *replies, environment=tunaeval.Environment(user=user))
    assert [turn.user for turn in result.attempts] == [
        None,
        "Now repair it.",
        None,
        "And once more.",
    ]
    assert result.ok
    assert len(said) == 2


def test_a_call_that_cannot_be_read_is_told_so_and_made_again(tmp_path: Path) -> None:
    client = scripted("<tool_call>\n{broken}\n</tool_call>", REPAIR, "Done.")
    result = report_of(suite_of(tmp_path, TASK), client).results[0]
    assert result.ok
    assert [turn.outcome for turn in result.attempts] == ["malformed", "calls", "no_call"]


def test_a_turn_keeps_how_its_reply_was_streamed(tmp_path: Path) -> None:
    message = {"role": "assistant", "content": "Done."}
    reply = Reply(message, streamed=Streamed(0.5, 20.0), notes=("no usage",))
    (turn,) = result_of(suite_of(tmp_path, TASK), reply).attempts
    assert (turn.first_token_seconds, turn.tokens_per_second) == (0.5, 20.0)
    assert turn.stream_notes == ("no usage",)


@given(ids=st.lists(st.sampled_from(["", "x", "x", "é", "\0", "a" * 99, "call_1"]), max_size=6))
def test_every_call_of_an_episode_has_an_id_of_its_own(ids: list[str]) -> None:
    from tunaeval.runs.turns import _with_ids
    from tunaeval.types.calls import ToolCall

    taken: set[str] = set()
    found = [one.id for at in ids for one in _with_ids([ToolCall("a", {}, at or None)] * 2, taken)]
    assert len(set(found)) == len(found) == 2 * len(ids)
    assert all(one and one.isprintable() and len(one) <= 64 for one in found)


def bad(kind: str) -> Callable[..., Any]:
    def tool(filepath: str) -> Any:
        """Read a file."""
        match kind:
            case "raises":
                raise ValueError(filepath)
            case "exits":
                raise SystemExit(3)
            case "bytes":
                return b"\xff\x00"
            case "megabytes":
                return "x" * 5_000_000
            case "nothing":
                return None
            case "hangs":
                time.sleep(60)
        raise AssertionError(kind)

    tool.__name__ = "read_file"
    return tool


@pytest.mark.parametrize("kind", ["raises", "exits", "bytes", "megabytes", "nothing", "hangs"])
def test_a_bad_tool_is_a_result_or_an_end_and_never_a_crash(tmp_path: Path, kind: str) -> None:
    limits = {"seconds": 1.5 if kind == "hangs" else 60}
    suite = suite_of(tmp_path, {**TASK, "limits": limits})

    def tools(workspace: tunaeval.Workspace, _: tunaeval.Episode) -> dict[str, Any]:
        return {**tunaeval.workspace_tools(workspace), "read_file": bad(kind)}

    environment = tunaeval.Environment(tools=tools)
    with within(10):
        result = result_of(suite, READ, REPAIR, "Done.", environment=environment)
    assert result.task is not None
    if kind == "hangs":
        assert (result.task.ended, result.ok) == ("seconds", False)
    else:
        assert (result.task.ended, result.ok) == ("answer", True)
        assert len(result.attempts[0].results[0].content) < 70_000


def test_tools_come_from_functions_without_a_workspace(tmp_path: Path) -> None:
    def lookup(key: str) -> str:
        """Look something up."""
        return {"answer": "42"}[key]

    task = {"checks": [{"answer": {"contains": "42"}}]}
    suite = suite_of(tmp_path, task, tools=[lookup_tool()])
    environment = tunaeval.Environment(tools=[lookup])
    replies = (call("lookup", key="answer"), "It is 42.")
    assert result_of(suite, *replies, environment=environment).ok
    assert not result_of(suite, replies[0], "It is 41.", environment=environment).ok
    with pytest.raises(UsageError, match=r"nothing runs the tool 'lookup'; .* the suite's `tools`"):
        result_of(suite, *replies)


def lookup_tool() -> dict[str, Any]:
    schema = {"type": "object", "properties": {"key": {"type": "string"}}, "required": ["key"]}
    return {"name": "lookup", "description": "Look something up.", "parameters": schema}


def test_a_request_that_fails_and_a_check_that_fails_itself_are_no_answers(tmp_path: Path) -> None:
    suite = suite_of(tmp_path, TASK)
    lost = result_of(suite, READ, TransportFailure("HTTP 500", kind="status", status=500))
    assert (lost.outcome, lost.ok, len(lost.attempts)) == ("transport_failure", False, 1)
    broken = suite_of(tmp_path, {**TASK, "checks": [{"command": ["no-such-program"]}]})
    report = report_of(broken, scripted(REPAIR, "Done."))
    assert report.results[0].outcome == "judge_failure"
    assert "no program 'no-such-program'" in report.results[0].reason
    assert (report.total, report.summary.infrastructure_failures) == (0, 1)


def test_what_is_expected_of_the_calls_is_a_check(tmp_path: Path) -> None:
    suite = suite_of(
        tmp_path, TASK, expect={"tools": ["read_file", "update_file"], "match": "in_order"}
    )
    assert result_of(suite, READ, REPAIR, "Done.").ok
    result = result_of(suite, REPAIR, "Done.")
    assert not result.ok
    assert "calls: no call of 'read_file'" in result.reason


def test_a_level_that_reads_other_calls_does_not_pass(tmp_path: Path) -> None:
    result = result_of(suite_of(tmp_path, TASK), READ, REPAIR.replace('"}}', '",}}'), "Done.")
    assert [result.levels[level].ok for level in ("strict", "standard", "lenient")] == [
        False, True, True,
    ]  # fmt: skip


@pytest.mark.parametrize("ask", ["api", "prompt", "schema"])
def test_however_the_tools_are_told_results_come_back(tmp_path: Path, ask: Any) -> None:
    asked: list[Request] = []

    def answer(request: Request) -> str:
        asked.append(request)
        return [READ, REPAIR, '{"answer": "Done."}' if ask == "schema" else "Done."][
            request.attempt - 1
        ]

    suite = suite_of(tmp_path, TASK)
    report = report_of(suite, Answers(answer), options=replace(ONE, ask=ask), format="auto")
    result = report.results[0]
    assert result.ok
    assert result.task is not None
    assert result.task.answer == "Done."
    assert "return a - b" in json.dumps(asked[1].messages[-1])
    assert asked[1].messages[-1]["role"] == ("tool" if ask == "api" else "user")


def test_an_environment_refuses_a_tool_that_cannot_be_run() -> None:
    described = {"name": "ls", "inputSchema": {"type": "object"}}
    mcp = pytest.importorskip("mcp.types").Tool(**described)
    for tools in ([mcp], {"ls": mcp}, (one for one in [mcp])):
        with pytest.raises(ToolsError, match=r"cannot be run; wanted a function.*McpServer\("):
            tunaeval.Environment(tools=tools)
    once = (one for one in [json.dumps])
    assert tunaeval.Environment(tools=once).tools == (json.dumps,)
