"""`match` in the hands of a user: what it takes, what it refuses, and what its verdict is worth."""

from __future__ import annotations

import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tunaeval
from tunaeval.clients.scripted import ScriptedClient
from tunaeval.errors import ExpectationError, UnknownNameError, UsageError
from tunaeval.types.calls import ToolCall

LS = {"name": "bash", "arguments": {"command": "ls"}}
WANTED = {"calls": [LS]}
BASH = tunaeval.load_suite("tunacode").tools
NAMES = st.sampled_from(["bash", "grep", "read"])
ARGUMENTS = st.dictionaries(st.sampled_from("abc"), st.integers() | st.text(), max_size=2)
CALLS = st.lists(st.tuples(NAMES, ARGUMENTS), max_size=3)


def as_calls(calls: Any) -> object:
    return [ToolCall(name, arguments) for name, arguments in calls]


def as_parse(calls: Any) -> object:
    if not calls:
        return tunaeval.parse("Nothing to do.")
    return tunaeval.parse(tunaeval.render([ToolCall(*call) for call in calls], "hermes"), "hermes")


def as_dictionaries(calls: Any) -> list[dict[str, Any]]:
    return [
        {"type": "function", "id": str(number),
         "function": {"name": name, "arguments": json.dumps(arguments)}}
        for number, (name, arguments) in enumerate(calls)
    ]  # fmt: skip


def as_objects(calls: Any) -> list[object]:
    return [
        SimpleNamespace(id=str(at), type="function", function=SimpleNamespace(**one["function"]))
        for at, one in enumerate(as_dictionaries(calls))
    ]


def as_message(calls: Any) -> object:
    return {"role": "assistant", "content": "", "tool_calls": as_dictionaries(calls)}


def as_object(calls: Any) -> object:
    return SimpleNamespace(role="assistant", content=None, tool_calls=as_objects(calls) or None)


SHAPES = (as_calls, as_parse, as_dictionaries, as_objects, as_message, as_object)


@given(calls=CALLS, wanted=CALLS)
@pytest.mark.parametrize("shape", SHAPES)
def test_the_same_calls_have_the_same_verdict_in_every_shape(
    shape: Callable[[Any], object], calls: Any, wanted: Any
) -> None:
    expect: dict[str, Any] = {"calls": [{"name": n, "arguments": a} for n, a in wanted]}
    if not wanted:
        expect = {"none": True}
    plain = tunaeval.match(expect, as_calls(calls))
    given = tunaeval.match(expect, shape(calls))
    assert (given.ok, bool(given), given.failures) == (plain.ok, plain.ok, plain.failures)


def test_one_call_needs_no_list() -> None:
    assert tunaeval.match(WANTED, ToolCall("bash", {"command": "ls"}))
    assert tunaeval.match(WANTED, as_dictionaries([("bash", {"command": "ls"})])[0])
    assert tunaeval.match(WANTED, LS)


def test_a_verdict_is_true_when_it_is_ok() -> None:
    assert not tunaeval.match(WANTED, [])
    assert not tunaeval.match(WANTED, tunaeval.parse("I would run ls."))
    with pytest.raises(AssertionError):
        assert tunaeval.match(WANTED, [ToolCall("bash", {"command": "rm -rf ."})])


@pytest.mark.parametrize(
    ("message", "outcome"),
    [
        ({"content": '<tool_call>{"name": "bash", "arguments": {'}, "truncated"),
        ({"content": '<tool_call>{"name": "bash", "arguments": 5}</tool_call>'}, "malformed"),
        ({"tool_calls": [{"function": {"name": "bash", "arguments": "{"}}]}, "cut off"),
    ],
)
def test_a_call_that_was_lost_is_no_abstention(message: dict[str, Any], outcome: str) -> None:
    verdict = tunaeval.match({"none": True}, message)
    assert not verdict
    assert outcome in verdict.reason
    assert tunaeval.match({"none": True}, {"role": "assistant", "content": "Hello!"})


@pytest.mark.parametrize("profile", [None, "strict", "tunacode", "bfcl"])
def test_a_verdict_says_who_judged(profile: str | None) -> None:
    more = [ToolCall("bash", {"command": "ls", "timeout": 9})]
    verdict = tunaeval.match(WANTED, more, profile=profile, tools=BASH)
    assert verdict.profile == (profile or "strict")
    assert verdict.ok == (profile == "tunacode")


@pytest.mark.parametrize(
    ("calls", "words"),
    [
        ("<tool_call>", "a text is parsed first: tunaeval.match(expect, tunaeval.parse(text))"),
        (b"{}", "a text is parsed first"),
        (None, "calls is None; wanted a ParseResult, a list of ToolCalls"),
        (42, "calls is 42; wanted a ParseResult"),
        ([42], "calls[0] is 42; wanted"),
        ([["bash"]], "calls[0] is ['bash']; wanted"),
        ({"calls": []}, "calls is {'calls': []}; wanted"),
    ],
)
def test_what_holds_no_calls_is_refused_in_a_sentence(calls: object, words: str) -> None:
    with pytest.raises(UsageError) as caught:
        tunaeval.match(WANTED, calls)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("expect", [42, None, "bash", [LS], ["bash"], True])
def test_an_expectation_is_a_mapping(expect: Any) -> None:
    with pytest.raises(ExpectationError, match="an expectation is a mapping such as"):
        tunaeval.match(expect, [])


@pytest.mark.parametrize("profile", ["stric", 42, ["strict"], object()])
def test_an_unknown_profile_is_named(profile: Any) -> None:
    with pytest.raises(UnknownNameError, match="no match profile is called"):
        tunaeval.match(WANTED, [], profile=profile)


def test_a_report_has_no_truth_value() -> None:
    report = tunaeval.run("smoke", client=ScriptedClient(["No."] * 99), out=None)
    with pytest.raises(TypeError, match=r"report\.passed with report\.total.*--fail-under"):
        bool(report)
    with pytest.raises(TypeError, match=r"report\.passed"):
        assert report


def test_a_comparison_has_no_truth_value_either() -> None:
    report = tunaeval.run("smoke", client=ScriptedClient(["No."] * 99), out=None)
    with pytest.raises(TypeError, match="a Comparison has no truth value"):
        bool(tunaeval.compare(report, report))
