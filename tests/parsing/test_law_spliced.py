"""A call that is cut anywhere and goes on with a piece of itself: the same whole and arriving.

So a marker is there twice, or where another belongs, and what was tried in vain is elsewhere.
"""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tunaeval import ToolCall, parse, render, stream
from tunaeval.grammar.formats import FORMATS
from tunaeval.types.parsing import LEVELS, Level, ParseResult

CALLS = [
    ToolCall("get_weather", {"city": "Paris", "n": 3}),
    ToolCall("f", {}),
    ToolCall("g", {"a": "x\n<b>", "l": [1, {"z": None}]}),
]


def streamed(text: str, name: str, level: Level, size: int) -> ParseResult:
    reading = stream(name, level=level)
    for start in range(0, len(text), size):
        reading.feed(text[start : start + size])
    return reading.finish()


def assert_the_same(text: str, name: str, level: Level = "standard") -> None:
    whole = parse(text, name, level=level)
    for size in (len(text), 1, 5):
        assert streamed(text, name, level, size) == whole, size


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=settings().max_examples // 4)
@given(data=st.data())
def test_whole_and_stream_agree_on_a_spliced_call(name: str, data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 3) if FORMATS[name].call else st.just(1))
    text = render(CALLS[:count] if count > 1 else [data.draw(st.sampled_from(CALLS))], name)
    pieces = sorted({*re.findall(r"\w+|[^\w\s]+|\s+", text)})
    cut = data.draw(st.integers(1, len(text)))
    again = data.draw(st.sampled_from([*pieces, text[max(0, cut - 9) : cut]]))
    rest = data.draw(st.sampled_from(["", "", text[cut:], text[cut + 4 :]]))
    assert_the_same(text[:cut] + again + rest, name, data.draw(st.sampled_from(LEVELS)))


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("gemma4", "<|tool_call>call::"),  # the colon was tried before "call:", not behind it
        ("granite3.1", '<tool_call>[{"name": "g", "": "g", "arguments": {}}]'),
    ],
)
def test_spliced_calls_that_once_differed(name: str, text: str, level: Level) -> None:
    assert_the_same(text, name, level)
