"""An opener that is there twice: the call behind it is read, whosever the opener is."""

from __future__ import annotations

import pytest

from tests.formats.reading import read
from tests.parsing.samples import said
from tunaeval import render
from tunaeval.formats import AUTO, FORMATS
from tunaeval.types import ToolCall

DOUBLED = [
    name for name, form in FORMATS.items() if form.marked and form.opener and not form.addressed
    and name != "react"
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
