"""What an expectation's own answer is: found for all that can be met, and passed by it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.matching.test_laws import MODES, TOOLS, Answered, made_of, wanted_calls
from tunaeval.matching.answers import NoExampleError, own_answer
from tunaeval.matching.calls import match
from tunaeval.matching.expectations import read_expectation
from tunaeval.types.calls import Tools, ToolSpec

GO = Tools(
    [
        ToolSpec(
            "go",
            "",
            {
                "type": "object",
                "properties": {"to": {"enum": ["home", "away"]}, "n": {"type": "integer"}},
                "required": ["to", "n"],
            },
        )
    ]
)


@given(wanted=wanted_calls, mode=st.sampled_from(MODES))
def test_what_is_found_is_as_wanted(wanted: list[tuple[str, Answered]], mode: str) -> None:
    expect = read_expectation(made_of(wanted, mode)[0])
    for profile in ("strict", "tunacode"):
        verdict = match(expect, own_answer(expect, TOOLS), profile=profile, tools=TOOLS)
        assert verdict.ok, verdict.reason


@pytest.mark.parametrize(
    "pattern",
    ["^TODO", r"\bfoo\b", "a{3}|b", r"[^a-z]+\d{2,}$", "(?i)^abc.?$", r"\Ax*\Z", r"x\B", r"\W\w\S"],
)
def test_a_text_is_found_for_a_pattern(pattern: str) -> None:
    expect = read_expectation({"calls": [{"name": "a", "arguments": {"y": {"$regex": pattern}}}]})
    assert match(expect, own_answer(expect, TOOLS), tools=TOOLS).ok


def test_a_pattern_that_contradicts_itself_has_no_text() -> None:
    expect = read_expectation({"calls": [{"name": "a", "arguments": {"y": {"$regex": "a^b"}}}]})
    with pytest.raises(NoExampleError, match=r"no text was found for the pattern 'a\^b'"):
        own_answer(expect, TOOLS)


def test_what_a_schema_requires_is_given() -> None:
    (call,) = own_answer(read_expectation({"tools": ["go"]}), GO)
    assert call.arguments == {"to": "home", "n": 1}


def test_of_alternatives_one_is_given_where_the_schema_requires_it() -> None:
    zero: Any = {"n": {"$any_of": [{"$default": True}, 0]}, "to": "away"}
    (call,) = own_answer(read_expectation({"calls": [{"name": "go", "arguments": zero}]}), GO)
    assert call.arguments == {"n": 0, "to": "away"}


@pytest.mark.parametrize(
    ("expect", "names"),
    [
        ({"none": True}, []),
        ({"tools": ["b", "a"]}, ["b", "a"]),
        ({"min_calls": 2, "forbid": ["a"]}, ["b", "b"]),
        ({"max_calls": 3}, []),
    ],
)
def test_limits_are_kept(expect: dict[str, Any], names: list[str]) -> None:
    calls = own_answer(read_expectation(expect), TOOLS)
    assert [call.name for call in calls] == names
    assert match(expect, calls, tools=TOOLS).ok
