"""The profile `bfcl` has the quirks of the original, each seen in a run of it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tunaeval.matching.bfcl import gold_arguments, wanted_arguments
from tunaeval.matching.calls import Verdict, match
from tunaeval.types.calls import ToolCall, Tools, ToolSpec
from tunaeval.types.runs import Expectation, ExpectedCall

SCHEMAS: dict[str, Any] = {
    "text": {"type": "string", "default": "x"},
    "whole": {"type": "integer"},
    "ratio": {"type": "number"},
    "flag": {"type": "boolean"},
    "wholes": {"type": "array", "items": {"type": "integer"}},
    "ratios": {"type": "array", "items": {"type": "number"}},
    "words": {"type": "array", "items": {"type": "string"}},
    "box": {"type": "object"},
    "boxes": {"type": "array", "items": {"type": "object"}},
    "bare": {"type": "array"},
    "odd": {"type": "null"},
}
TOOLS = Tools([ToolSpec("f", "", {"type": "object", "properties": SCHEMAS, "required": []})])


def expectation(*gold: dict[str, Any], **more: Any) -> Expectation:
    calls = tuple(ExpectedCall(name="f", arguments=wanted_arguments(one)) for one in gold)
    return Expectation(calls=calls, **more)


def judged(gold: dict[str, Any], got: dict[str, Any]) -> Verdict:
    return match(expectation(gold), [ToolCall("f", got)], profile="bfcl", tools=TOOLS)


@pytest.mark.parametrize(
    ("gold", "got", "passes"),
    [
        ({"text": ["15"]}, {"text": "1.5"}, True),
        ({"text": ["5"]}, {"text": "-5"}, True),
        ({"text": ["ABC"]}, {"text": "a/b-c"}, True),
        ({"text": ["it's"]}, {"text": 'it"s'}, True),
        ({"text": ["a b"]}, {"text": "a\tb"}, False),
        ({"text": ["x", ""]}, {"text": "..."}, True),
        ({"text": ["x", ""]}, {"text": ""}, True),
        ({"text": ["x", ""]}, {}, True),
        ({"text": ["x"]}, {}, False),
        ({}, {"text": "x"}, False),  # the default, spelled out
        ({"whole": [1]}, {"whole": True}, False),
        ({"whole": [5]}, {"whole": 5.0}, False),
        ({"whole": [5]}, {"whole": "5"}, False),
        ({"ratio": [1.0]}, {"ratio": 1}, True),
        ({"ratio": [0.3]}, {"ratio": 0.1 + 0.2}, False),
        ({"whole": ["n"]}, {"whole": "n"}, True),  # a variable
        ({"whole": ["n"]}, {"whole": "N"}, False),
        ({"ratios": [[1.0, 2.0]]}, {"ratios": [1, 2]}, False),
        ({"ratios": [[1, 2]]}, {"ratios": [1, 2]}, True),
        ({"wholes": ["", [1, 2]]}, {"wholes": [1.0, 2.0]}, True),
        ({"wholes": [[1, 2]]}, {"wholes": [1.0, 2.0]}, False),
        ({"wholes": ["", [1]]}, {"wholes": [True]}, True),
        ({"wholes": [[1, 2], ""]}, {"wholes": []}, True),
        ({"wholes": [[1, 2]]}, {"wholes": [2, 1]}, False),
        ({"words": [["a b"]]}, {"words": ["A-B"]}, True),
        ({"whole": [1, ""]}, {"whole": None}, False),
        ({"whole": [1, None]}, {"whole": None}, False),
        ({"whole": [None, 1]}, {"whole": None}, True),
        ({"box": [{"a": ["x"], "b": [1, ""]}]}, {"box": {"a": "X"}}, True),
        ({"box": [{"a": ["x"], "b": [1]}]}, {"box": {"a": "x"}}, False),
        ({"box": [{"a": ["x"]}]}, {"box": {"a": "x", "c": 1}}, False),
        ({"box": [{"a": ["x"]}, ""]}, {"box": {}}, False),
        ({"boxes": [[{"a": ["x"]}, {"a": ["y"]}]]}, {"boxes": [{"a": "x"}, {"a": "y"}]}, True),
        ({"boxes": [[{"a": ["x"]}, {"a": ["y"]}]]}, {"boxes": [{"a": "y"}, {"a": "x"}]}, False),
    ],
)
def test_a_call_is_judged_as_there(gold: dict[str, Any], got: dict[str, Any], passes: bool) -> None:
    assert judged(gold, got).ok is passes


@pytest.mark.parametrize(
    ("gold", "got"),
    [
        ({"boxes": [[{"a": ["x"]}], ""]}, {"boxes": ["x"]}),
        ({"bare": [[1]]}, {"bare": [1]}),
        ({"odd": [None]}, {"odd": None}),
        ({"ratio": [1.0]}, {"ratio": 10**400}),
        ({"words": [["a"], None]}, {"words": ["a"]}),
    ],
)
def test_a_crash_there_is_a_named_failure_here(gold: dict[str, Any], got: dict[str, Any]) -> None:
    verdict = judged(gold, got)
    assert [failure.code for failure in verdict.failures] == ["checker-crash"]
    assert "the checker crashes on 'f'" in verdict.reason


def test_the_order_of_calls_may_decide() -> None:
    """The first wish takes the first call that fits, though the second could take no other."""
    expect = expectation({"whole": [1, 2]}, {"whole": [1]}, match="any_order")
    one, two = ToolCall("f", {"whole": 1}), ToolCall("f", {"whole": 2})
    assert match(expect, [two, one], profile="bfcl", tools=TOOLS).ok
    assert not match(expect, [one, two], profile="bfcl", tools=TOOLS).ok
    assert match(expect, [one, two], profile="strict", tools=TOOLS).ok


def test_a_failure_says_where() -> None:
    (failure,) = judged({"whole": [1]}, {"whole": "1"}).failures
    assert (failure.code, failure.path) == ("wrong-type", "calls[0].arguments.whole")


values = st.recursive(
    st.sampled_from([None, True, 0, 1, 1.0, "", "a", "A.", 10**400]),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2)
    ),
    max_leaves=4,
)
keys = st.sampled_from([*SCHEMAS, "unknown"])
nested = st.lists(values, max_size=2)
alternatives = st.lists(
    values | st.dictionaries(st.sampled_from("ab"), nested, max_size=2), max_size=3
)


@given(gold=st.dictionaries(keys, alternatives, max_size=3))
def test_gold_survives_the_way_there_and_back(gold: dict[str, list[Any]]) -> None:
    assert gold_arguments(wanted_arguments(gold)) == gold


@given(
    gold=st.lists(st.dictionaries(keys, alternatives, max_size=2), min_size=1, max_size=2),
    got=st.lists(st.dictionaries(keys, values, max_size=2), max_size=3),
    mode=st.sampled_from(["exactly", "any_order", "in_order", "superset", "subset"]),
)
def test_no_calls_raise(gold: list[dict[str, Any]], got: list[dict[str, Any]], mode: str) -> None:
    calls = [ToolCall("f", arguments) for arguments in got]
    verdict = match(expectation(*gold, match=mode), calls, profile="bfcl", tools=TOOLS)
    assert verdict.ok == (not verdict.failures)
