"""Wanted beside got: the argument that differs is named, by the rules that judged it."""

from __future__ import annotations

from functools import partial
from io import StringIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from tunaeval.matching.calls import match
from tunaeval.reports.page.console import show_pairs
from tunaeval.reports.page.scenario import side_by_side
from tunaeval.tasks.suites.loading import load_catalogue
from tunaeval.types.calls import ToolCall, Tools
from tunaeval.types.runs import CallRecord, Expectation, ExpectedCall

VALUES = st.none() | st.booleans() | st.integers() | st.text(max_size=3) | st.lists(st.integers())
ARGUMENTS = st.dictionaries(st.sampled_from("abc"), VALUES, max_size=3)
NAMES = st.sampled_from(["f", "g"])
RULES = partial(match, profile="strict", tools=Tools())
FINE = ("same", "unasked")


@given(
    wanted=st.lists(st.tuples(NAMES, ARGUMENTS), min_size=1, max_size=3),
    got=st.lists(st.tuples(NAMES, ARGUMENTS), max_size=3),
)
def test_something_differs_exactly_where_calls_in_any_order_do_not_match(
    wanted: list[tuple[str, dict[str, object]]], got: list[tuple[str, dict[str, object]]]
) -> None:
    """Calls that are equal meet, so that what is left over is a fault if there is one."""
    expected = Expectation(
        calls=tuple(ExpectedCall(name=name, arguments=arguments) for name, arguments in wanted),
        match="any_order",
    )
    calls = [CallRecord(name=name, arguments=arguments) for name, arguments in got]
    pairs = side_by_side(expected, calls, RULES)
    verdict = match(
        expected, [ToolCall(one.name, one.arguments) for one in calls], profile="strict"
    )
    if all(pair.state in FINE for pair in pairs):
        assert verdict.ok
    assert sum(pair.wanted is not None for pair in pairs) == len(wanted)
    assert sum(pair.got is not None for pair in pairs) == len(got)


@pytest.mark.parametrize(
    ("got", "state"),
    [
        ({"filepath": "a.txt"}, {"filepath": "same"}),
        ({"filepath": "b.txt"}, {"filepath": "differs"}),
        ({}, {"filepath": "missing"}),
        ({"filepath": "a.txt", "nonsense": 1}, {"filepath": "same", "nonsense": "extra"}),
    ],
)
def test_an_argument_says_what_is_wrong_with_it(
    got: dict[str, object], state: dict[str, str]
) -> None:
    expected = Expectation(calls=(ExpectedCall(name="read_file", arguments={"filepath": "a.txt"}),))
    rules = partial(match, profile="strict", tools=load_catalogue("tunacode-2025-12"))
    (pair,) = side_by_side(expected, [CallRecord(name="read_file", arguments=got)], rules)
    assert {one.name: one.state for one in pair.arguments} == state


def test_a_call_of_another_tool_stands_beside_the_one_that_was_wanted() -> None:
    expected = Expectation(calls=(ExpectedCall(name="f"), ExpectedCall(name="g")))
    got = [CallRecord(name="g", arguments={}), CallRecord(name="h", arguments={})]
    pairs = side_by_side(expected, got, RULES)
    assert [(pair.wanted, pair.got) for pair in pairs] == [("f", "h"), ("g", "g")]


def test_where_no_call_is_wanted_each_call_is_one_too_many() -> None:
    got = [CallRecord(name="f", arguments={"a": 1})]
    (pair,) = side_by_side(Expectation(none=True), got, RULES)
    assert (pair.wanted, pair.got, pair.state) == (None, "f", "extra")


def test_where_nothing_is_expected_the_calls_stand_alone() -> None:
    got = [CallRecord(name="f", arguments={"a": 1})]
    out = StringIO()
    show_pairs(Console(file=out), side_by_side(Expectation(), got, RULES))
    assert out.getvalue().splitlines()[1:3] == ["calls", "f"]
