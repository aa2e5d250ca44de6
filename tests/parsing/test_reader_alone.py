"""A block that is the whole text has a reader of its own, which changes nothing."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.parsing.test_law_alike import (
    SOME_LEVELS,
    SOME_TOOLS,
    TOOLS,
    calls,
    check_alike,
    damaged,
    written,
)
from tunaeval.grammar.formats import FORMATS
from tunaeval.types.calls import Tools
from tunaeval.types.parsing import LEVELS, Level


@pytest.mark.parametrize("name", [name for name, form in FORMATS.items() if form.call])
@settings(max_examples=settings().max_examples // 4)
@given(data=st.data(), tools=SOME_TOOLS, level=SOME_LEVELS)
def test_a_block_alone_is_read_alike(
    name: str, data: st.DataObject, tools: Tools | None, level: Level
) -> None:
    """As it is written, or with one thing wrong, or without its end."""
    form = FORMATS[name]
    text = written([data.draw(calls())], form)
    if data.draw(st.booleans()):
        text = data.draw(damaged(text, form))
    elif form.closer and data.draw(st.booleans()):
        text = text[: -data.draw(st.integers(1, len(form.closer.text) + 3))]
    check_alike(name, text + data.draw(st.sampled_from(["", "", "\n", " "])), tools, level)


_BODY = '{"name": "f", "arguments": {"n": 3, "s": "a b", "b": true}}'
ODD = {
    "types to bend": _BODY.replace("3", '"3"').replace("true", '"true"'),
    "a type that cannot be bent": _BODY.replace("3", '"many"'),
    "an unknown tool": _BODY.replace('"f"', '"unheard"'),
    "an alias": _BODY.replace("arguments", "parameters"),
    "two aliases": _BODY.replace("arguments", "args").replace('"name"', '"tool"'),
    "encoded arguments": '{"name": "f", "arguments": "{\\"n\\": 3, \\"s\\": \\"a\\"}"}',
    "encoded and damaged": '{"name": "f", "arguments": "{\\"n\\": 3,}"}',
    "encoded and cut": '{"name": "f", "arguments": "{\\"n\\": 3"}',
    "a wrapped call": '{"function": {"name": "f", "arguments": {}}}',
    "wrapped arguments": '{"name": "k", "arguments": {"input": {"n": "3"}}}',
    "an id": _BODY.replace("{", '{"id": "x", ', 1),
    "an undeclared argument": _BODY.replace('"s"', '"no"'),
    "no arguments": '{"name": "f"}',
    "no name": '{"arguments": {}}',
    "nothing": "{}",
    "single quotes": _BODY.replace('"', "'"),
    "a trailing comma": _BODY.replace("true}", "true,}"),
    "a missing bracket": _BODY[:-1],
    "two missing brackets": _BODY[:-2],
    "a bracket too many": _BODY + "}",
    "two calls": f"{_BODY}\n{_BODY}",
    "an array": f"[{_BODY}]",
    "the closer in a string": _BODY.replace("a b", "}\\n</tool_call>"),
    "the raw closer in a string": _BODY.replace("a b", "}\n</tool_call>"),
    "a long text": _BODY.replace("a b", "a b" * 2000),
    "a longer text": _BODY.replace("a b", "a b" * 9000),
    "no strings": "{1: 2}",
}  # fmt: skip
"""Sound JSON that is unusual, and what is repaired."""


@pytest.mark.parametrize("body", ODD.values(), ids=ODD)
@pytest.mark.parametrize("end", ["\n</tool_call>", "</tool_call>", "\n", "", "\n</tool", "\n\n "])
def test_an_odd_block_alone_is_read_alike(body: str, end: str) -> None:
    for name in ("hermes", "qwen25", "all"):
        for tools in (None, TOOLS):
            for level in LEVELS:
                check_alike(name, f"<tool_call>\n{body}{end}", tools, level)
