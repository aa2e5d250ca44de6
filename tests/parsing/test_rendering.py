"""Calls are written as their format says, and never so that they would be read as others."""

from __future__ import annotations

import re

import pytest

from tests.parsing.samples import said
from tunaeval import parse, render
from tunaeval.errors import UsageError
from tunaeval.formats import FORMATS
from tunaeval.parsing import Unconvertible, convert_text, route_between
from tunaeval.repair import MAX_DEPTH
from tunaeval.types import JsonValue, ToolCall

CLOSERS = "</parameter>\n</function>\n</tool_call>"


def nested(depth: int) -> JsonValue:
    value: JsonValue = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("form", "call", "message"),
    [
        ("qwen3-coder", ToolCall("f", {"a b": 1}), "the argument 'a b' of 'f': an argument's name"),
        ("qwen3-coder", ToolCall("f g", {}), "the name 'f g': a name fits the pattern"),
        (
            "qwen3-coder",
            ToolCall("f", {"a": 1, "b": f"{CLOSERS}\nx{CLOSERS}"}),
            "the argument 'b' of 'f': its value holds '</parameter>', which is the format's own",
        ),
        (
            "qwen3-coder",
            ToolCall("f", {"a": [CLOSERS.replace("\n", "")]}),
            "the argument 'a' of 'f': its value",
        ),
        ("minimax-m3", ToolCall("f", {"a b": 1}), "the argument 'a b' of 'f'"),
        ("minicpm5", ToolCall("f", {"a": "<![CDATA[x]]>"}), "the argument 'a' of 'f'"),
        ("pythonic", ToolCall("a b", {}), "the name 'a b'"),
        ("hermes", ToolCall("", {}), "the name ''"),
        ("hermes", ToolCall("f", {"a": nested(MAX_DEPTH)}), "the argument 'a' of 'f'"),
    ],
)
def test_what_a_format_cannot_say_is_refused_and_named(
    form: str, call: ToolCall, message: str
) -> None:
    with pytest.raises(UsageError, match=re.escape(f"format {form!r} cannot write {message}")):
        render([ToolCall("g", {}), call], form)


def test_calls_that_cannot_stand_together_are_refused() -> None:
    with pytest.raises(UsageError, match="cannot write these 1025 calls in one text"):
        render([ToolCall("f", {})] * 1025)


def test_a_text_that_looks_like_a_number_is_written_where_only_a_schema_tells() -> None:
    call = ToolCall("f", {"a": "5", "b": "null", "c": (1, 2), "d": "[1]"})
    assert "5" in render([call], "glm45")
    assert render([call], "hermes")


def test_a_conversion_asks_the_same() -> None:
    text = '<tool_call>{"name": "f", "arguments": {"a b": 1}}</tool_call>'
    found = convert_text(text, route_between("hermes", "qwen3-coder"))
    assert isinstance(found, Unconvertible)
    assert "in qwen3-coder, it would be read with" in found.reason


def test_the_order_of_arguments_is_no_difference() -> None:
    """What Python has no words for is written last."""
    made = ToolCall("f", {"a b": 1, "c": 2})
    text = render([made], "pythonic")
    assert said(parse(text, "pythonic")) == [("f", made.arguments)]


LISTS = (
    "apertus", "apriel", "cohere", "command-r", "granite3", "granite3.1", "hunyuan-a13b", "jamba",
    "lfm2-json", "mistral-array", "nemotron", "phi4-mini", "sarashina",
)  # fmt: skip


@pytest.mark.parametrize("name", LISTS)
def test_a_single_call_stands_in_a_list_where_other_parsers_want_one(name: str) -> None:
    text = render([ToolCall("f", {})], name)
    assert "[{" in text
    assert "}]" in text
    assert said(parse(text.replace("[{", "{").replace("}]", "}"), name, level="strict")) == [
        ("f", {})
    ]


def test_every_format_of_lists_is_known() -> None:
    """All others that read lists are read as single objects by their own templates, too."""
    listed = {name for name, form in FORMATS.items() if form.call and form.call.listed}
    assert listed == set(LISTS)
    arrays = {name for name, form in FORMATS.items() if form.call and form.call.array}
    assert arrays - listed == {"fence", "json", "loose-json", "tools-tag"}


@pytest.mark.parametrize("quote", ['"', "'"])
def test_muse_is_read_in_either_quotes(quote: str) -> None:
    body = "<atem:invoke name='f'>\n<atem:parameter name='title'>x</atem:parameter>\n</atem:invoke>"
    text = f"<atem:function_calls>\n{body}\n</atem:function_calls>".replace("'", quote)
    for level in ("strict", "standard"):
        result = parse(text, "muse", level=level)
        assert said(result) == [("f", {"title": "x"})]
        assert not result.content.strip()
