"""How one argument is compared: types, defaults, paths, matchers."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tunaeval.matching import MATCHERS, match
from tunaeval.matching.paths import normalised
from tunaeval.types import ToolCall, Tools, ToolSpec

TOOLS = Tools(
    [
        ToolSpec(
            "t",
            parameters={
                "type": "object",
                "properties": {
                    "directory": {"type": "string", "default": "."},
                    "content": {"type": "string"},
                    "ratio": {"anyOf": [{"type": "number"}, {"type": "null"}], "default": None},
                    "count": {"type": "integer", "default": 5},
                    "flag": {"type": "boolean", "default": True},
                    "ratios": {"type": "array", "items": {"type": "number"}},
                },
            },
            paths=frozenset({"directory"}),
        )
    ]
)


def fits(profile: str, want: dict[str, Any], got: dict[str, Any]) -> bool:
    expect = {"calls": [{"name": "t", "arguments": want}]}
    return match(expect, [ToolCall("t", got)], profile=profile, tools=TOOLS).ok


@pytest.mark.parametrize(
    ("want", "got", "tunacode", "strict"),
    [
        ({"count": 1}, {"count": 1}, True, True),
        ({"count": 1}, {"count": 1.0}, True, False),
        ({"count": 1}, {"count": True}, True, False),
        ({"ratio": 1}, {"ratio": 1.0}, True, True),
        ({"ratio": 1.0}, {"ratio": 1}, True, True),
        ({"ratio": 1}, {"ratio": True}, True, False),
        ({"ratios": [1, 2]}, {"ratios": [1.0, 2]}, True, True),
        ({"ratios": [1, 2]}, {"ratios": [2, 1]}, False, False),
        ({"count": 1}, {"count": "1"}, False, False),
        ({"count": 1}, {"count": None}, False, False),
        ({}, {"content": "x"}, True, False),
        ({}, {"count": 5}, True, True),
        ({}, {"count": 5.0}, True, False),
        ({}, {"count": 6}, True, False),
        ({}, {"unknown": None}, True, False),
        ({"directory": "."}, {}, True, True),
        ({"directory": "src"}, {}, False, False),
        ({"content": ""}, {}, False, False),
        ({"directory": "src"}, {"directory": "src/"}, True, False),
        ({"directory": "src/"}, {"directory": "./src"}, True, False),
        ({"directory": "/"}, {"directory": "/"}, True, True),
        ({"directory": "/"}, {"directory": ""}, False, False),
        ({"directory": {"$any_of": ["a/", "b"]}}, {"directory": "a"}, True, False),
        ({"directory": {"$contains": "c/"}}, {"directory": "src/"}, True, True),
        ({"content": "a/"}, {"content": "a"}, False, False),
        ({"content": {"$contains": "b"}}, {"content": "abc"}, True, True),
        ({"content": {"$contains": ["a", "c"]}}, {"content": "abc"}, True, True),
        ({"content": {"$contains": ["a", "d"]}}, {"content": "abc"}, False, False),
        ({"ratios": {"$contains": 2}}, {"ratios": [1, 2.0]}, True, True),
        ({"content": {"$contains": "b"}}, {}, False, False),
        ({"content": {"$ignore": True}}, {"content": "x"}, True, True),
        ({"content": {"$ignore": True}}, {}, True, True),
        ({"x": {"a": {"$any_of": [1, 2]}}}, {"x": {"a": 2}}, True, True),
        ({"x": {"a": 1}}, {"x": {"a": 1, "b": 2}}, False, False),
        ({"x": {"a": 1, "b": {"$ignore": True}}}, {"x": {"a": 1}}, True, True),
    ],
)
def test_a_profile_compares_as_it_says(
    want: dict[str, Any], got: dict[str, Any], tunacode: bool, strict: bool
) -> None:
    assert fits("tunacode", want, got) is tunacode
    assert fits("strict", want, got) is strict


def test_the_matchers_are_told() -> None:
    assert frozenset({"$any_of", "$contains", "$ignore"}) == MATCHERS


@pytest.mark.parametrize(
    ("path", "plain"),
    [
        ("src/", "src"), ("src//", "src"), ("./src", "src"), (".//src/", "src"), ("././a", "a"),
        ("./", "."), (".", "."), ("/", "/"), ("//", "/"), ("", ""), ("../x/", "../x"),
        (".hidden", ".hidden"), ("a b/", "a b"), (["a/", 1], ["a", 1]), (None, None), (3, 3),
    ],
)  # fmt: skip
def test_a_path_has_one_plain_form(path: Any, plain: Any) -> None:
    assert normalised(path) == plain


@given(path=st.text(st.sampled_from("./ab"), max_size=8))
def test_the_plain_form_is_plain(path: str) -> None:
    assert normalised(normalised(path)) == normalised(path)


@given(path=st.text(st.sampled_from("./ab"), max_size=8))
def test_a_path_stays_absolute_or_relative(path: str) -> None:
    assert normalised(path).startswith("/") == path.startswith("/")
