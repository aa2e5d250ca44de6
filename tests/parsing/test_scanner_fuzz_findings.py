"""What fuzzing has found: texts that were read otherwise whole than in pieces, or for ever."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from tunaeval import parse, stream
from tunaeval.grammar.formats import FORMATS
from tunaeval.types.parsing import LEVELS, Level, ParseResult

_M3 = "]<]minimax[>["
_PLAMO = "<|plamo:begin_tool_request:plamo|><|plamo:begin_tool_name:plamo|>"
_PLAMO_ARGUMENTS = "<|plamo:end_tool_name:plamo|><|plamo:begin_tool_arguments:plamo|"
_PLAMO_END = "<|plamo:end_tool_arguments:plamo|><|plamo:end_tool_"


class Found(NamedTuple):
    """A text, the format that it was found in, and what it says."""

    format: str
    text: str
    outcome: str
    calls: tuple[str, ...] = ()


FOUND = {
    "a comment up to a closer that has the comment's own end in it": Found(
        "deepseek-v3",
        '<｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n```json\n{"a": 1 #```\n<｜tool▁call▁end｜>',
        "malformed",
    ),
    "an opener again and again, whose first begins the line": Found(
        "auto", "[TOOL_CALLS]f#" * 30, "malformed"
    ),
    "an opener of two formats, cut where it may be either's": Found(
        "auto", "<｜tool_call_begin｜>function<｜tool_sep｜>{", "truncated"
    ),
    "a blank before the language of a fence": Found(
        "auto", '``` json\n{"name": "f", "arguments": {}}\n```', "calls", ("f",)
    ),
    "a text that is cut behind a code fence in a string": Found(
        "fence", '```json\n{"name": "f", "arguments": {"a": "x\\n```', "truncated"
    ),
    "an opener behind a broken block that began long ago": Found(
        "plamo3",
        f"{_PLAMO}a{_PLAMO_ARGUMENTS}><|plamo:constrain|>json<|plamo:msg|>"
        '{"": {"aa": {"aaaaa": "<|plamo:end_tool_requests:plamo|>}, "aaaaaaaa": false}, " "a'
        f'aaaa\\u0001"}} yes {_PLAMO_END[2:]}request:plamo|>{_PLAMO}get_weather{_PLAMO_ARGUMENTS}'
        f"<|plamo:begin_tool_request:plamo|>|plamo:constrain|>json<|plamo:msg|>{{}}{_PLAMO_END}",
        "malformed",
    ),
    "an opener within an opener, in reasoning that is never closed": Found(
        "auto", f'<think>\n{_M3}<invoke name="f">{_M3}</invoke>', "calls", ("f",)
    ),
    "an element closed by another's closer at the end of the text": Found(
        "minimax-m3", f'{_M3}<invoke name="h">{_M3}<a>{_M3}</t>', "malformed"
    ),
    "a list of Python calls without a brace, cut in a text": Found(
        "pythonic", "[glob(pattern='$H", "truncated"
    ),
    "a brace in a text of a Python call": Found(
        "pythonic", """[f(p='N\\'(s){"a": [1]}')]""", "calls", ("f",)
    ),
    "a Python call with an odd text beside a sound one with braces": Found(
        "pythonic", "[write(e={}), nope(l=1, e=''3')]", "calls", ("write",)
    ),
    "a list that is never closed, with what ends its frame arriving bit by bit": Found(
        "pythonic",
        f"[t(ur' {'long ' * 30}', 'name': 'it'), glob(pattern='a-b', depth=0), <|python_end|>",
        "calls",
        ("glob",),
    ),
    "a closer of one format that stands around the calls of another": Found(
        "auto", "a</tool_calls>", "no_call"
    ),
    "a closer of reasoning behind an object that could not be read": Found(
        "json",
        '{"name": 1 2}</think> {"name": "u", "arguments": {}}',
        "calls",
        ("u",),
    ),
    "a mark that is cut off behind a key inside an object": Found(
        "gemma4", '<|tool_call>call:w{s:-2,h:{d:<|"|', "truncated"
    ),
    "a quote behind a call without a closer": Found(
        "mistral", '[TOOL_CALLS] {"name": "r", "arguments": {}}\n”a/b', "malformed"
    ),
    "a single digit behind an opener": Found("mistral-array", "a [TOOL_CALLS]2", "no_call"),
    "a number too large at the very end": Found(
        "functionary-v3.2", '>>>bash\n{"a": 9e999}', "malformed"
    ),
}

TAILS = (
    *("", "2", '"', "[", "{", "}", "]", "[]", "{}", "[{", "}]", "null", "[1]", '"a"', "[2"),
    *(" 2", "\n2", "[[", "]]", '{"', " ", "-", "1e9", "true", "é"),
)
"""The shortest things that can stand behind an opener."""


def in_pieces(found: Found, size: int, level: Level) -> ParseResult:
    """The text, fed in pieces of that size."""
    reading = stream(found.format, level=level)
    for start in range(0, len(found.text), size):
        reading.feed(found.text[start : start + size])
    return reading.finish()


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", FOUND)
def test_a_text_says_the_same_whole_and_in_pieces(name: str, level: Level) -> None:
    found = FOUND[name]
    whole = parse(found.text, found.format, level=level)
    assert all(in_pieces(found, size, level) == whole for size in (1, 2, 3, 5, 17))


@pytest.mark.parametrize("name", FOUND)
def test_it_says_what_it_should(name: str) -> None:
    found = FOUND[name]
    result = parse(found.text, found.format)
    assert (result.outcome, tuple(call.name for call in result.calls)) == (
        found.outcome,
        found.calls,
    )


@pytest.mark.parametrize("name", FORMATS)
def test_an_opener_may_be_followed_by_anything(name: str) -> None:
    opener = FORMATS[name].opener
    for tail in TAILS if opener else ():
        found = Found(name, f"a {opener.text}{tail}" if opener else "", "no_call")
        assert in_pieces(found, 1, "standard") == parse(found.text, name)
        assert in_pieces(found._replace(format="auto"), 1, "standard") == parse(found.text)
