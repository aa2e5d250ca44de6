"""One scenario, without IO: when it is asked again, what counts, what is kept."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tunaeval.errors import TransportFailure
from tunaeval.parsing.api import parser_for
from tunaeval.reports.replies import Read, reading
from tunaeval.runs.episode import Trial, episode
from tunaeval.runs.options import RunOptions
from tunaeval.runs.prompts import Asking
from tunaeval.types.calls import JsonObject
from tunaeval.types.exchange import Reply, Request
from tunaeval.types.messages import Usage
from tunaeval.types.parsing import LEVELS, Level
from tunaeval.types.runs import CountedCalls, ScenarioResult, Suite

GOOD = '{"name": "read_file", "arguments": {"filepath": "a.py"}}'
WRONG = '{"name": "read_file", "arguments": {"filepath": "b.py"}}'
OTHER = '{"name": "list_dir", "arguments": {}}'
UNKNOWN = '{"name": "open", "arguments": {}}'
FENCED = f"```{GOOD}```"
CUT = '{"name": "read_file", "arguments": {"filepath": "a.py'
BROKEN = '{"name": "read_file" "arguments": {}}'
WORDS = "I would rather not."
TEXTS = [GOOD, WRONG, OTHER, UNKNOWN, FENCED, CUT, BROKEN, WORDS, ""]

Play = Callable[..., tuple[ScenarioResult, list[Request]]]


def reply(text: str, finish_reason: str = "stop", **more: Any) -> Reply:
    return Reply({"role": "assistant", "content": text}, finish_reason, **more)


@pytest.fixture(scope="session")
def play(make_suite: Callable[..., Suite], api: Asking, read: Read) -> Play:
    def play(
        expect: str, *answers: str | Reply | TransportFailure, **rules: Any
    ) -> tuple[ScenarioResult, list[Request]]:
        suite = make_suite(1, expect)
        talk = episode(Trial(suite.scenarios[0], suite.tools, read, RunOptions(**rules)), api)
        requests = [next(talk)]
        for answer in answers:
            try:
                requests.append(talk.send(reply(answer) if isinstance(answer, str) else answer))
            except StopIteration as end:
                result: ScenarioResult = end.value
                return result, requests
        raise AssertionError("more was asked than answered")

    return play


def test_a_right_answer_ends_it(play: Play) -> None:
    result, requests = play("call", GOOD)
    assert (result.ok, result.first_attempt_ok, result.outcome) == (True, True, "calls")
    assert [call.name for call in result.got] == ["read_file"]
    assert (len(requests), result.format) == (1, "one-object")


def test_a_wrong_call_is_a_result(play: Play) -> None:
    result, requests = play("call", WRONG)
    assert (result.ok, len(requests), result.outcome) == (False, 1, "calls")
    assert result.reason == "wanted filepath='a.py', got 'b.py'"


@pytest.mark.parametrize("first", [BROKEN, CUT, UNKNOWN, WORDS, ""])
def test_without_a_valid_call_it_is_asked_again(play: Play, first: str) -> None:
    result, requests = play("call", first, GOOD)
    assert (result.ok, result.first_attempt_ok) == (True, False)
    assert [request.attempt for request in requests] == [1, 2]
    *before, said, retry = requests[1].messages
    assert before == list(requests[0].messages)
    assert said["role"] == "assistant"
    assert said["content"]
    assert retry["content"].startswith("No valid tool call found. Slow down. Think step by step.")
    assert "Do {task} 1" in retry["content"]


def test_both_attempts_are_kept(play: Play) -> None:
    result, _ = play("call", BROKEN, WRONG)
    assert [attempt.outcome for attempt in result.attempts] == ["malformed", "calls"]
    assert result.attempts[0].diagnoses == ("invalid-json: no call",)
    assert result.attempts[0].message["content"] == BROKEN


def test_words_are_an_answer_where_no_call_is_expected(play: Play) -> None:
    result, requests = play("none", WORDS)
    assert (result.ok, result.outcome, len(requests)) == (True, "no_call", 1)


def test_long_words_are_an_answer_too_where_no_call_is_expected(play: Play) -> None:
    result, _ = play("none", reply(WORDS, "length"))
    assert (result.ok, result.outcome) == (True, "no_call")


def test_long_words_are_cut_off_where_a_call_is_expected(play: Play) -> None:
    result, _ = play("call", reply(WORDS, "length"), reply(WORDS, "length"))
    assert (result.ok, result.outcome) == (False, "truncated")


@pytest.mark.parametrize("expect", ["none", "limits"])
def test_saying_nothing_until_the_tokens_are_used_up_is_no_abstention(
    play: Play, expect: str
) -> None:
    """As a model does that thinks for longer than it may."""
    result, requests = play(expect, reply("", "length"), reply("  ", "length"))
    assert (result.ok, result.outcome, len(requests)) == (False, "truncated", 2)
    assert play(expect, "")[0].ok


@pytest.mark.parametrize("bad", [BROKEN, CUT, UNKNOWN])
@pytest.mark.parametrize("expect", ["none", "limits"])
def test_a_malformed_call_is_no_abstention(play: Play, bad: str, expect: str) -> None:
    result, _ = play(expect, bad, bad)
    assert not result.ok
    assert result.outcome in {"malformed", "truncated"}


def test_a_call_without_its_end_is_malformed_where_the_server_says_it_was_made(play: Play) -> None:
    """Nothing was cut off: the reply is complete, and the call in it is not."""
    result, _ = play("call", reply(CUT, "tool_calls"), reply(CUT, "tool_calls"))
    assert (result.outcome, result.reason) == ("malformed", "a call was tried and is malformed")
    result, _ = play("call", reply(CUT, "length"), reply(CUT, "length"))
    assert result.outcome == "truncated"


def test_a_call_fails_where_none_is_expected_and_is_not_asked_again(play: Play) -> None:
    result, requests = play("none", GOOD)
    assert (result.ok, len(requests)) == (False, 1)
    assert result.reason == "wanted no call, got 'read_file'"


def test_a_mend_that_the_level_forbids_does_not_pass(play: Play) -> None:
    result, _ = play("call", CUT, CUT)
    assert not result.ok
    assert {level: one.ok for level, one in result.levels.items()} == {
        "strict": False,
        "standard": False,
        "lenient": True,
    }


def test_each_level_has_its_own_answer(play: Play) -> None:
    result, requests = play("call", FENCED)
    assert len(requests) == 1
    assert result.repairs == ("fence",)
    assert [result.levels[level].ok for level in LEVELS] == [False, True, True]


def test_a_retry_can_pass_at_strict_what_standard_had_read(play: Play) -> None:
    result, requests = play("call", FENCED, GOOD, level="strict")
    assert len(requests) == 2
    assert [result.levels[level].first_attempt_ok for level in LEVELS] == [False, True, True]
    assert [result.levels[level].ok for level in LEVELS] == [True, True, True]


def test_a_call_that_the_level_reads_is_the_answer_though_the_text_was_cut(play: Play) -> None:
    result, requests = play("call", CUT, level="lenient")
    assert (len(requests), result.ok, result.repairs) == (1, True, ("closed",))


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("calls", ["any", "structured"])
@pytest.mark.parametrize(
    "beside", ["<tool_call>", "[TOOL_CALLS]", "```json", "<think>let me", 'I call {"name": "x"']
)
def test_a_structured_call_is_the_answer_whatever_stands_beside_it(
    make_suite: Callable[..., Suite], api: Asking, level: Level, calls: CountedCalls, beside: str
) -> None:
    """It was finished, so what the text beside it leaves open does not ask again."""
    suite = make_suite(1, "call")
    read = reading(parser_for("auto"), suite.tools, calls)
    talk = episode(Trial(suite.scenarios[0], suite.tools, read, RunOptions(level=level)), api)
    next(talk)
    call = {"id": "1", "type": "function", "function": json.loads(GOOD)}
    message = {"role": "assistant", "content": beside, "tool_calls": [call]}
    with pytest.raises(StopIteration) as end:
        talk.send(Reply(message, "tool_calls", source="structured"))
    result: ScenarioResult = end.value.value
    assert (result.ok, result.first_attempt_ok, len(result.attempts)) == (True, True, 1)


def test_a_failed_request_is_no_answer_of_the_model(play: Play) -> None:
    result, _ = play("none", TransportFailure("nobody there", kind="connect"))
    assert (result.ok, result.outcome, result.error) == (
        False,
        "transport_failure",
        "connect: nobody there",
    )
    assert not any(level.ok for level in result.levels.values())


def test_a_failed_retry_keeps_the_first_reply(play: Play) -> None:
    result, _ = play("call", CUT, TransportFailure("slow", kind="timeout"))
    assert (result.outcome, len(result.attempts)) == ("transport_failure", 1)
    assert not result.levels["lenient"].ok


def test_calls_that_a_server_had_parsed_go_back_as_text(play: Play) -> None:
    message: JsonObject = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "1", "function": {"name": "open", "arguments": '{"x": 1}'}}],
    }
    _, requests = play("call", Reply(message), GOOD)
    assert requests[1].messages[-2] == {
        "role": "assistant",
        "content": '<tool_call>\n{"name": "open", "arguments": {"x": 1}}\n</tool_call>',
    }


def test_tokens_and_seconds_are_added_up_and_unknown_stays_unknown(play: Play) -> None:
    known = reply(WORDS, usage=Usage(10, 2), latency_seconds=0.5)
    result, _ = play("call", known, known)
    assert (result.prompt_tokens, result.completion_tokens, result.latency_seconds) == (20, 4, 1.0)
    result, _ = play("call", known, WORDS)
    assert (result.prompt_tokens, result.latency_seconds) == (None, None)


def test_each_repeat_has_a_seed_of_its_own(
    make_suite: Callable[..., Suite], api: Asking, read: Read
) -> None:
    suite = make_suite(1)
    talks = [
        episode(
            Trial(
                suite.scenarios[0],
                suite.tools,
                read,
                RunOptions(seed=7, max_tokens=50, temperature=0.5),
                repeat,
            ),
            api,
        )
        for repeat in (1, 2)
    ]
    first, second = (next(talk) for talk in talks)
    assert (first.seed, second.seed, second.repeat) == (7, 8, 2)
    assert (first.max_tokens, first.temperature, first.scenario) == (50, 0.5, "call-1")


answers = st.lists(
    st.builds(reply, st.sampled_from(TEXTS), st.sampled_from(["stop", "length"]))
    | st.builds(TransportFailure, st.just("x"), kind=st.sampled_from(["connect", "timeout"])),
    min_size=3,
    max_size=3,
)


@given(
    answers=answers,
    expect=st.sampled_from(["call", "none", "limits"]),
    level=st.sampled_from(LEVELS),
    attempts=st.integers(1, 3),
)
def test_the_laws_of_an_episode(
    play: Play,
    answers: list[Reply | TransportFailure],
    expect: str,
    level: Level,
    attempts: int,
) -> None:
    result, requests = play(expect, *answers, level=level, attempts=attempts)
    assert len(requests) <= attempts
    assert [request.attempt for request in requests] == list(range(1, len(requests) + 1))
    # Every reply is kept, a failed request is none.
    replies = answers[: len(requests)]
    failed = isinstance(replies[-1], TransportFailure)
    assert len(result.attempts) == len(replies) - failed
    # It was asked again only where that is fair.
    for attempt in result.attempts[: len(requests) - 1]:
        assert attempt.outcome != "no_call" or expect == "call"
        assert not attempt.calls
    # What passes is a call or an abstention; the run's level decides.
    assert result.levels[level].ok == result.ok
    assert not result.ok or result.outcome in {"calls", "no_call"}
    assert (result.outcome == "transport_failure") == failed == (result.error is not None)
    assert bool(result.got) == (result.outcome == "calls")
    assert expect != "none" or not (result.ok and result.got)
    # Levels grow: what an earlier level passes at the first attempt, a later one does not lose.
    firsts = [result.levels[one].first_attempt_ok for one in LEVELS]
    assert expect != "call" or firsts == sorted(firsts)
    assert result == ScenarioResult.model_validate(result.model_dump())


Limited = Callable[[Reply], tuple[ScenarioResult, list[Request]]]


@pytest.fixture(scope="session")
def limited(make_suite: Callable[..., Suite], api: Asking) -> Limited:
    """One attempt, with at most 300 tokens, in which structured calls are read, too."""

    def limited(answer: Reply) -> tuple[ScenarioResult, list[Request]]:
        suite = make_suite(1, "call")
        read = reading(parser_for("auto"), suite.tools)
        rules = RunOptions(attempts=1, max_tokens=300)
        talk = episode(Trial(suite.scenarios[0], suite.tools, read, rules), api)
        requests = [next(talk)]
        with pytest.raises(StopIteration) as end:
            talk.send(answer)
        return end.value.value, requests

    return limited


def ended(message: JsonObject, reason: str, tokens: int | None) -> Reply:
    said = {"role": "assistant", "content": None, **message}
    return Reply(said, reason, usage=Usage(5, tokens))


def structured(arguments: str) -> JsonObject:
    return {"tool_calls": [{"function": {"name": "read_file", "arguments": arguments}}]}


CUT_CALL, WHOLE_CALL = structured('{"filepath": "a.p'), structured('{"filepath": "a.py"}')


@pytest.mark.parametrize("message", [CUT_CALL, {"content": CUT}])
@pytest.mark.parametrize("reason", ["tool_calls", "length", "stop"])
@pytest.mark.parametrize("more", [0, 1])
def test_an_attempt_that_ends_at_the_limit_is_truncated(
    limited: Limited, message: JsonObject, reason: str, more: int
) -> None:
    result, _ = limited(ended(message, reason, 300 + more))
    assert result.outcome == result.attempts[0].outcome == "truncated"
    assert ("--max-tokens" in result.reason) == (reason != "stop")


@pytest.mark.parametrize("tokens", [299, 1, None])
def test_below_the_limit_the_finish_reason_is_believed(
    limited: Limited, tokens: int | None
) -> None:
    result, _ = limited(ended(CUT_CALL, "tool_calls", tokens))
    assert result.outcome == "malformed"


@pytest.mark.parametrize("reason", ["tool_calls", "length", "stop"])
def test_a_whole_answer_of_that_length_is_not_truncated(limited: Limited, reason: str) -> None:
    result, _ = limited(ended(WHOLE_CALL, reason, 300))
    assert (result.ok, result.outcome) == (True, "calls")


def test_a_whole_text_of_that_length_is_an_answer(limited: Limited) -> None:
    result, _ = limited(ended({"content": WORDS}, "stop", 300))
    assert result.outcome == "no_call"


def test_a_call_that_did_not_begin_before_the_limit_is_not_lost_by_the_server(
    limited: Limited,
) -> None:
    result, _ = limited(ended({}, "tool_calls", 300))
    assert (result.outcome, result.error) == ("truncated", None)
