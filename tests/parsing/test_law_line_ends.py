r"""The law of line ends: markup whose lines end in `\r\n` reads as if they ended in `\n`."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.parsing.samples import TOOLS, said
from tunaeval import parse, stream
from tunaeval.grammar.formats import FORMATS
from tunaeval.parsing.api import render
from tunaeval.types.calls import ToolCall

LINED = ["qwen3-coder", "qwen3-bare"]
"""Formats whose values are between line ends."""


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_line_ends_change_nothing(name: str) -> None:
    calls = [ToolCall("bash", {"command": "ls -l"}), ToolCall("read_file", {"filepath": "a b"})]
    text = render(calls[: None if FORMATS[name].separator else 1], FORMATS[name])
    read = parse(text.replace("\n", "\r\n"), name, TOOLS)
    assert said(read) == said(parse(text, name, TOOLS)) != []
    assert read.diagnoses == ()


def told(text: str, name: str, size: int) -> tuple[object, object]:
    """The arguments of the first call, as a stream's events tell them, and as it has them."""
    reader = stream(name, tools=TOOLS)
    events = [e for at in range(0, len(text), size) for e in reader.feed(text[at : at + size])]
    result = reader.finish()
    pieces = "".join(e.text for e in events if e.kind == "arguments")
    return json.loads(pieces), result.calls[0].arguments


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("name", LINED)
@given(value=st.text("ab\r\n ", max_size=8), size=st.integers(1, 9))
@example(value="\r", size=1)
@example(value="\n\n", size=1)
def test_a_value_between_line_ends_is_itself(name: str, end: str, value: str, size: int) -> None:
    text = render([ToolCall("bash", {"command": "VALUE"})], FORMATS[name])
    text = text.replace("\n", end).replace("VALUE", value)
    calls = parse(text, name, TOOLS).calls
    assert [call.arguments for call in calls] == [{"command": value}]
    assert told(text, name, size) == ({"command": value}, {"command": value})
