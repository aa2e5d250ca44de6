"""How one argument is compared: types, defaults, paths, matchers."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tunaeval
from tunaeval.matching import bfcl, calls, values
from tunaeval.matching.calls import match
from tunaeval.matching.matchers import MATCHERS, normalised
from tunaeval.types.calls import ToolCall, Tools, ToolSpec

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
        ({"content": {"$regex": "^T.*O$"}}, {"content": "TO DO"}, True, True),
        ({"content": {"$regex": "^O"}}, {"content": "TO DO"}, False, False),
        ({"content": {"$regex": "5"}}, {"content": 5}, False, False),
        ({"content": {"$regex": ""}}, {}, False, False),
        ({"count": {"$approx": 50, "tolerance": 5}}, {"count": 55}, True, True),
        ({"count": {"$approx": 50, "tolerance": 5}}, {"count": 56}, False, False),
        ({"count": {"tolerance": 5, "$approx": 50}}, {"count": 45.0}, True, True),
        ({"count": {"$approx": 50, "relative": 0.1}}, {"count": 55}, True, True),
        ({"count": {"$approx": 50, "relative": 0.1}}, {"count": 56}, False, False),
        ({"count": {"$approx": 50, "relative": 0.01, "tolerance": 5}}, {"count": 55}, True, True),
        ({"ratio": {"$approx": 1, "tolerance": 0.1}}, {"ratio": 1.1}, True, True),
        ({"ratio": {"$approx": 0.3}}, {"ratio": 0.1 + 0.2}, True, True),
        ({"ratio": {"$approx": 0.3}}, {"ratio": 0.301}, False, False),
        ({"count": {"$approx": 1, "tolerance": 5}}, {"count": True}, False, False),
        ({"count": {"$approx": 1, "tolerance": 5}}, {"count": "1"}, False, False),
        ({"count": {"$approx": 1.5, "tolerance": 5}}, {"count": 10**400}, False, False),
        ({"count": {"$approx": 1, "tolerance": 5}}, {"count": float("nan")}, False, False),
        ({"count": {"$approx": 5, "tolerance": 1}}, {}, True, True),
        ({"ratios": {"$set": [1, 2]}}, {"ratios": [2, 1.0, 2]}, True, True),
        ({"ratios": {"$set": [1, 2]}}, {"ratios": [1]}, False, False),
        ({"ratios": {"$set": [1]}}, {"ratios": [1, 2]}, False, False),
        ({"ratios": {"$set": []}}, {"ratios": []}, True, True),
        ({"ratios": {"$set": [{"$approx": 1, "tolerance": 1}]}}, {"ratios": [0, 2]}, True, True),
        ({"content": {"$path": "src"}}, {"content": "./src//"}, True, True),
        ({"content": {"$path": "src"}}, {"content": "/src"}, False, False),
        ({"x": {"$path": ["a", "b/"]}}, {"x": ["./a", "b"]}, True, True),
        ({"x": {"$path": "a"}}, {"x": None}, False, False),
        ({"directory": {"$default": True}}, {}, True, True),
        ({"directory": {"$default": True}}, {"directory": "."}, True, True),
        ({"directory": {"$default": True}}, {"directory": "src"}, False, False),
        ({"content": {"$default": True}}, {}, True, True),
        ({"content": {"$default": True}}, {"content": ""}, False, False),
        ({"content": {"$any_of": ["a", {"$default": True}]}}, {}, True, True),
        ({"content": {"$any_of": ["a", {"$regex": "^b"}]}}, {"content": "bc"}, True, True),
    ],
)
def test_a_profile_compares_as_it_says(
    want: dict[str, Any], got: dict[str, Any], tunacode: bool, strict: bool
) -> None:
    assert fits("tunacode", want, got) is tunacode
    assert fits("strict", want, got) is strict


def test_matchers_and_failures_are_in_the_reference() -> None:
    page = (Path(__file__).parents[2] / "docs" / "reference" / "expectations.md").read_text("utf-8")
    matchers, _, failures = page.partition("## Failures")
    assert set(re.findall(r"^\| `\{\"(\$\w+)\"", matchers, re.MULTILINE)) == MATCHERS.keys()
    rows = re.findall(r"^\| `([a-z-]+)` \| .+ \|$", failures, re.MULTILINE)
    made = "".join(Path(str(one.__file__)).read_text("utf-8") for one in (bfcl, calls, values))
    codes = re.findall(r'Failure\(\s*"([a-z-]+)"|return "(wrong-\w+)"', made)
    assert set(rows) == {code for pair in codes for code in pair if code}


def test_the_face_takes_tools_in_any_shape() -> None:
    def t(count: int = 5) -> None:
        del count

    calls = [ToolCall("t", {"count": 5})]
    assert tunaeval.match({"tools": ["t"]}, calls, tools=[t]).ok
    assert tunaeval.match({"calls": [{"name": "t"}]}, calls, tools=[t]).ok
    assert not tunaeval.match({"calls": [{"name": "t"}]}, calls).ok


@pytest.mark.parametrize(
    ("want", "got", "path", "message"),
    [
        ({"a": [1, {"b": 2}]}, {"a": [1, {"b": 3}]}, "x.a[1].b", "wanted x.a[1].b=2, got 3"),
        ({"a": 1, "b": 2}, {"a": 1}, "x.b", "wanted x.b=2, it was left out"),
        ({"a": 1}, {"a": 1, "b": 2}, "x", "wanted x={'a': 1}, got {'a': 1, 'b': 2}"),
        ([1, 2], [1], "x", "wanted x=[1, 2], got [1]"),
        ({"$any_of": [{"a": 1}]}, {"a": 2}, "x", "wanted x={'$any_of': [{'a': 1}]}, got {'a': 2}"),
    ],
)
def test_a_failure_names_the_innermost_place(want: Any, got: Any, path: str, message: str) -> None:
    expect = {"calls": [{"name": "t", "arguments": {"x": want}}]}
    (failure,) = match(expect, [ToolCall("t", {"x": got})]).failures
    assert (failure.path, failure.message) == (f"calls[0].arguments.{path}", message)


@pytest.mark.parametrize(
    ("path", "plain"),
    [
        ("src/", "src"), ("src//", "src"), ("./src", "src"), (".//src/", "src"), ("././a", "a"),
        ("./", "."), (".", "."), ("/", "/"), ("//", "/"), ("", ""), ("../x/", "../x"),
        ("a//b/./c", "a/b/c"), ("/./a", "/a"),
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
