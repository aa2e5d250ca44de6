"""What each mode of an expectation accepts, and the laws that hold for all of them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tunaeval.errors import ExpectationError, UnknownNameError, UsageError
from tunaeval.matching.calls import match
from tunaeval.matching.expectations import check_expectation, read_expectation
from tunaeval.matching.profiles import PROFILES
from tunaeval.types.calls import ToolCall, Tools, ToolSpec
from tunaeval.types.runs import Expectation, ExpectedCall, MatchMode

A, B, C = (ToolCall(name, {}) for name in "abc")


def wanted(*names: str, **more: Any) -> dict[str, Any]:
    return {"calls": [{"name": name} for name in names], **more}


@pytest.mark.parametrize(
    ("mode", "calls", "ok"),
    [
        ("exactly", [A, B], True),
        ("exactly", [B, A], False),
        ("exactly", [A, B, C], False),
        ("exactly", [A], False),
        ("in_order", [A, B], True),
        ("in_order", [C, A, C, B, C], True),
        ("in_order", [B, A], False),
        ("in_order", [A], False),
        ("any_order", [B, A], True),
        ("any_order", [B, A, C], False),
        ("any_order", [A], False),
        ("superset", [C, B, A], True),
        ("superset", [B], False),
        ("subset", [B], True),
        ("subset", [A, B], True),
        ("subset", [A, A], False),
        ("subset", [C], False),
        ("subset", [], False),
    ],
)
def test_a_mode_accepts_what_it_says(mode: str, calls: list[ToolCall], ok: bool) -> None:
    assert match(wanted("a", "b", match=mode), calls).ok is ok
    assert match({"tools": ["a", "b"], "match": mode}, calls).ok is ok


def test_one_call_more_fails_the_old_rule_too() -> None:
    verdict = match(wanted("a"), [A, B], profile="tunacode")
    assert [failure.code for failure in verdict.failures] == ["extra-call"]


def test_tool_names_say_nothing_of_arguments() -> None:
    assert match({"tools": ["a"]}, [ToolCall("a", {"x": 1})]).ok


def test_none_forbids_every_call() -> None:
    assert match({"none": True}, []).ok
    assert not match({"none": True}, [A]).ok


def test_limits_hold_beside_a_mode() -> None:
    expect = wanted("a", match="superset", forbid=["c"], max_calls=2)
    assert match(expect, [A, B]).ok
    assert {f.code for f in match(expect, [A, B, C]).failures} == {
        "forbidden-tool",
        "too-many-calls",
    }


def test_a_failure_says_where_and_what() -> None:
    expect = {"calls": [{"name": "a", "arguments": {"x": 1}}]}
    (failure,) = match(expect, [ToolCall("a", {"x": 2})]).failures
    assert (failure.code, failure.path) == ("wrong-value", "calls[0].arguments.x")
    assert failure.message == "wanted x=1, got 2"


def test_a_reason_names_three_failures_and_counts_the_others() -> None:
    verdict = match({"calls": [{"name": name} for name in "abcde"]}, [])
    assert len(verdict.failures) == 5
    messages = [failure.message for failure in verdict.failures]
    assert verdict.reason == "; ".join(messages[:3]) + "; and 2 more"


def test_the_best_assignment_is_found_where_greed_fails() -> None:
    expect = {
        "calls": [
            {"name": "a", "arguments": {"x": {"$any_of": [1, 2]}}},
            {"name": "a", "arguments": {"x": 1}},
        ],
        "match": "any_order",
    }
    calls = [ToolCall("a", {"x": 1}), ToolCall("a", {"x": 2})]
    assert match(expect, calls).pairs == ((0, 1), (1, 0))
    assert match(expect, calls[::-1]).ok


@pytest.mark.parametrize(
    ("expect", "words"),
    [
        ({}, "nothing is expected"),
        ({"calls": []}, "none: true"),
        ({"none": True, "max_calls": 1}, "nothing else"),
        ({"calls": [{"name": "a"}], "tools": ["a"]}, "exclude each other"),
        ({"calls": [{"name": "a"}], "forbid": ["a"]}, "both expected and forbidden"),
        ({"max_calls": 0}, "at least 1"),
        ({"max_calls": 2, "min_calls": 3}, "min_calls is 3"),
        ({"calls": [{"name": "a", "arguments": {"$ignore": True}}]}, "no argument"),
        (
            {"calls": [{"name": "a", "argument": {}}]},
            r"calls\[0\]: no field of a call is called .argument.",
        ),
        ({"expected_tool": None, "expected_args": {"x": 1}}, "expected_args has arguments"),
        ({"expected_tool": 3}, r"calls\[0\].name"),
        ({"expected_tool_sequence": "glob"}, r"tools is .glob., wanted a list"),
    ],
)
def test_an_impossible_expectation_is_refused(expect: dict[str, Any], words: str) -> None:
    with pytest.raises(ExpectationError, match=words):
        match(expect, [])


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ([{"$like": "y"}], r"\[0\]: there is no matcher '\$like'; supported are \$any_of, \$app"),
        ({"$ignore": True, "y": 1}, r"\$ignore has to be alone in its object, not with y"),
        (
            {"$regex": "a", "$contains": 1},
            r"\$regex has to be alone in its object, not with \$contains",
        ),
        ({"a": {"$any_of": 1}}, r"\.a: \$any_of wants a list"),
        ({"$any_of": []}, "at least one value"),
        ({"$regex": "a("}, r": \$regex: '\(' at character 1 is a group that is not closed"),
        ({"$regex": 3}, "wants a string"),
        ({"$approx": "5"}, "finite number"),
        ({"$approx": 5, "tolerance": -1}, "tolerance wants a finite number of at least 0"),
        ({"$approx": 5, "relative": True}, "relative wants"),
        ({"$set": 1}, "wants a list"),
        ({"$path": 1}, "a string or a list of strings"),
        ({"$default": 5}, r"\$default wants true"),
        ({"$ignore": False}, r"\$ignore wants true"),
    ],
)
def test_a_matcher_that_cannot_be_is_refused_with_its_place(value: Any, words: str) -> None:
    with pytest.raises(ExpectationError, match=rf"calls\[0\]\.arguments\.x.*{words}"):
        match({"calls": [{"name": "a", "arguments": {"x": value}}]}, [])


def test_an_expectation_that_was_never_checked_is_named_too() -> None:
    call = ExpectedCall(name="a", arguments={"x": {"$any_of": 5}})
    with pytest.raises(ExpectationError, match="wants a list"):
        match(Expectation(calls=(call,)), [ToolCall("a", {"x": 1})])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"expected_tool": "a", "expected_args": {"x": 1}}, {"x": 1}),
        ({"expected_tool": "a"}, {}),
    ],
)
def test_the_old_shape_of_one_call_is_read(old: dict[str, Any], new: dict[str, Any]) -> None:
    assert read_expectation(old) == Expectation(calls=(ExpectedCall(name="a", arguments=new),))


def test_the_other_old_shapes_are_read() -> None:
    assert read_expectation({"expected_tool": None}) == Expectation(none=True)
    sequence = {"expected_tool_sequence": ["a", "b"]}
    assert read_expectation(sequence) == Expectation(tools=("a", "b"))


def test_at_least_so_many_calls_are_any_calls() -> None:
    assert match({"min_calls": 1}, [C]).ok
    (failure,) = match({"min_calls": 2}, [C]).failures
    assert failure.code == "too-few-calls"


def test_a_profile_that_reads_schemas_asks_for_them() -> None:
    with pytest.raises(UsageError, match="give tools"):
        match(wanted("a"), [A], profile="bfcl")


def test_checking_raises_a_value_error() -> None:
    with pytest.raises(ValueError, match="nothing is expected"):
        check_expectation(Expectation())


def test_an_unknown_profile_is_named_with_its_near_misses() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'strict'"):
        match({"none": True}, [], profile="strickt")


# Laws

SPEC = ToolSpec(
    "a",
    parameters={
        "type": "object",
        "properties": {"x": {"type": "number", "default": 1}, "p": {"default": "."}},
    },
    paths=frozenset({"p"}),
)
TOOLS = Tools([SPEC])
scalars = st.one_of(
    st.sampled_from([0, 1, 1.0, True, None, "", "src", "./src/", "/", ".", 10**300]),
    st.text(st.characters(codec=None), max_size=3),
    st.floats(),
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.text("ab", max_size=2), inner, max_size=2)
    ),
    max_leaves=4,
)
arguments = st.dictionaries(st.sampled_from(["x", "p", "q"]), values, max_size=3)
calls_made = st.lists(st.builds(ToolCall, st.sampled_from(["a", "b"]), arguments), max_size=4)
wishes = st.recursive(
    values,
    lambda inner: st.one_of(
        st.builds(lambda items: {"$any_of": items}, st.lists(inner, min_size=1, max_size=2)),
        st.builds(lambda item: {"$contains": item}, inner),
        st.builds(lambda items: {"$set": items}, st.lists(inner, max_size=2)),
        st.builds(lambda path: {"$path": path}, st.sampled_from(["src", "./", ""])),
        st.builds(lambda pattern: {"$regex": pattern}, st.sampled_from(["^s", "(a|b)*$", ""])),
        st.builds(lambda n, t: {"$approx": n, "tolerance": t}, st.integers(), st.floats(0, 9)),
        st.sampled_from([{"$ignore": True}, {"$default": True}, {"$approx": 1, "relative": 1}]),
    ),
    max_leaves=3,
)
modes = st.sampled_from(["exactly", "in_order", "any_order", "subset", "superset"])
expectations = st.builds(
    lambda calls, mode: Expectation.model_validate({"calls": calls, "match": mode}),
    st.lists(
        st.fixed_dictionaries(
            {
                "name": st.sampled_from(["a", "b"]),
                "arguments": st.dictionaries(st.sampled_from(["x", "p"]), wishes, max_size=2),
            }
        ),
        min_size=1,
        max_size=3,
    ),
    modes,
)


@given(expect=expectations, calls=calls_made)
def test_what_strict_accepts_the_old_rule_accepts(
    expect: Expectation, calls: Sequence[ToolCall]
) -> None:
    if match(expect, calls, profile="strict", tools=TOOLS).ok:
        assert match(expect, calls, profile="tunacode", tools=TOOLS).ok


@given(expect=expectations, calls=calls_made, seed=st.integers())
def test_where_order_is_free_it_changes_nothing(
    expect: Expectation, calls: list[ToolCall], seed: int
) -> None:
    expect = expect.model_copy(update={"match": "any_order"})
    shuffled = random.Random(seed).sample(calls, len(calls))
    shuffled_wishes = random.Random(seed).sample(expect.calls or (), len(expect.calls or ()))
    other = expect.model_copy(update={"calls": tuple(shuffled_wishes)})
    for profile in ("strict", "tunacode"):
        verdict = match(expect, calls, profile=profile, tools=TOOLS)
        assert match(other, shuffled, profile=profile, tools=TOOLS).ok == verdict.ok


@given(
    calls=st.lists(st.builds(ToolCall, st.just("b"), arguments), min_size=1, max_size=4), mode=modes
)
def test_calls_are_what_they_are_expected_to_be(calls: list[ToolCall], mode: str) -> None:
    expect = {
        "calls": [{"name": call.name, "arguments": call.arguments} for call in calls],
        "match": mode,
    }
    if "nan" not in repr(calls):  # NaN equals nothing, itself included
        assert match(expect, calls, tools=TOOLS).ok


@given(expect=expectations, calls=calls_made)
def test_no_calls_raise(expect: Expectation, calls: Sequence[ToolCall]) -> None:
    for profile in PROFILES:
        verdict = match(expect, calls, profile=profile, tools=TOOLS)
        assert verdict.ok == (not verdict.failures)
        assert verdict.reason


def test_hostile_calls_raise_nothing() -> None:
    deep: Any = 0
    for _ in range(100_000):
        deep = [deep]
    hostile = ToolCall("a", {"x": deep, "p": "\ud800", "q": 10**9000, "": {"$any_of": []}})
    assert not match(wanted("b"), [hostile] * 1000).ok
    assert not match({"calls": [{"name": "a", "arguments": {"x": 1, "p": "."}}]}, [hostile]).ok


class Compared(str):
    """A text that counts how often it is compared with another."""

    __slots__ = ()
    times = 0

    def __eq__(self, other: object) -> bool:
        Compared.times += 1
        return super().__eq__(other)

    __hash__ = str.__hash__


@pytest.mark.parametrize("mode", get_args(MatchMode))
def test_calls_in_their_places_are_compared_once_each(mode: str) -> None:
    paths = [f"{number}.py" for number in range(200)]
    calls = [{"name": "a", "arguments": {"x": Compared(path)}} for path in paths]
    expect = read_expectation({"calls": calls, "match": mode})
    Compared.times = 0
    made = [ToolCall("a", {"x": path}) for path in paths]
    assert match(expect, made, profile="tunacode").ok
    assert Compared.times <= 3 * len(paths)
