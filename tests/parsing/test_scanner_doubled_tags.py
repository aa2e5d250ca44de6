"""An opener that is there twice: the call behind it is read, whosever the opener is."""

from __future__ import annotations

import pytest

from tests.formats.reading import read
from tests.parsing.samples import said
from tunaeval import parse, render, stream
from tunaeval.grammar import CallObject, Literal, Space
from tunaeval.grammar.format import Format
from tunaeval.grammar.formats import AUTO, FORMATS
from tunaeval.types.calls import ToolCall

DOUBLED = [
    name for name, form in FORMATS.items() if form.marked and form.opener and not form.addressed
    and not form.by_tool and name != "react"
]  # fmt: skip
"""A header's body that is there twice is diagnosed; what `Action:` begins is a line of prose."""


@pytest.mark.parametrize("between", ["", "\n", " " * 200])
@pytest.mark.parametrize("name", DOUBLED)
def test_an_opener_that_is_there_twice_loses_no_call(name: str, between: str) -> None:
    """By name, and in `auto`, where the first may look like that of another format."""
    form = FORMATS[name]
    assert form.opener is not None
    opener, call = form.opener.text, ToolCall("f", {"a": "x"})
    for times in (2, 3):
        text = render([call], form).replace(opener, between.join([opener] * times), 1)
        for reader in (name, "auto") if form in AUTO else (name,):
            assert said(read(text, reader)) == [("f", {"a": "x"})]


@pytest.mark.parametrize("opener", ["{call}", "[[call]]", '{"call"}'])
@pytest.mark.parametrize("between", ["", "\n"])
def test_an_opener_like_json_may_be_there_twice(opener: str, between: str) -> None:
    """The reader of whole texts took the second for an object."""
    words = (
        Literal(opener),
        Space("\n"),
        CallObject(array=True),
        Space("\n"),
        Literal("[[/call]]"),
    )
    form = Format("like-json", words, summary="an opener like JSON")
    text = f'{opener}{between}{opener}\n[{{"name": "f", "arguments": {{}}}}]\n[[/call]]'
    result = parse(text, form)
    assert [(call.name, [r.code for r in call.repairs]) for call in result.calls] == [
        ("f", ["doubled-tag"])
    ]
    reader = stream(form)
    for char in text:
        reader.feed(char)
    assert reader.finish() == result
