"""A call inside of inline code is quoted, and one right behind it is a call."""

from __future__ import annotations

import pytest

from tests.parsing.samples import LS, TOOLS, codes, said, tagged
from tunaeval import parse, stream
from tunaeval.types.parsing import ParseResult


@pytest.mark.parametrize("before", ["I use `ls`", "`a` `b`", "one\n`ls`", "``"])
def test_a_call_right_behind_inline_code_is_a_call(before: str) -> None:
    text = before + tagged(LS)
    result = parse(text, tools=TOOLS)
    assert said(result) == [("bash", {"command": "ls"})]
    assert result.content == before
    assert streamed(text) == result


@pytest.mark.parametrize("before", ["`", "Use `<tool_call>` and `", "`a` and `"])
def test_a_call_inside_of_inline_code_is_only_quoted(before: str) -> None:
    text = f"{before}{tagged(LS)}`"
    result = parse(text, tools=TOOLS)
    assert codes(result) == ["quoted"]
    assert streamed(text) == result


def streamed(text: str) -> ParseResult:
    """The same, a character at a time."""
    reading = stream(tools=TOOLS)
    for character in text:
        reading.feed(character)
    return reading.finish()
