"""Whatever format is accepted when it is built is written, read and streamed, and all agree."""

from __future__ import annotations

import os
from dataclasses import dataclass

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fuzz.random_formats import random_format, random_formats
from tunaeval.errors import FormatError, UsageError
from tunaeval.grammar.format import Format
from tunaeval.parsing.api import render
from tunaeval.parsing.reader import reader_of
from tunaeval.testing import tape as made
from tunaeval.testing.laws import names_and_arguments
from tunaeval.testing.strategies import (
    any_call,
    literals,
    plain_call,
    taped,
    tells_types,
    tools_for,
)
from tunaeval.testing.streams import stream_of
from tunaeval.testing.tape import Tape
from tunaeval.types.calls import ToolCall, Tools
from tunaeval.types.parsing import LEVELS, Level, ParseResult


@dataclass(frozen=True, slots=True)
class Example:
    """A format, calls, prose around them, where the text is cut and what is damaged."""

    form: Format
    calls: list[ToolCall]
    before: str
    after: str
    tape: Tape


def example(tape: Tape) -> Example | None:
    form = random_format(tape)
    if isinstance(form, FormatError):
        return None
    made_call = any_call if tells_types(form) else plain_call(literals(form))
    found = {call.name: call for call in tape.row(made_call, 2, 1)}
    return Example(form, [*found.values()], made.prose(tape), made.prose(tape), tape)


examples = taped(example, 320).filter(bool)
CALM = settings(
    deadline=None,
    suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow],
)


def check(of: Example) -> None:
    """All that is asked of an accepted format."""
    form, reader = of.form, reader_of(of.form)
    tools = None if tells_types(form) else tools_for(of.calls)
    try:
        text = render(of.calls, form)
    except UsageError:
        return  # what it cannot say, it says
    around = f"{of.before}\n{text}\n{of.after}"
    if form.prompted and form.opener:  # what such a text begins with is a call, if it can be one
        around = text.removeprefix(form.opener.text)
    for each in (text, around):
        agree(of, each, tools)
        found = reader.parse(each, tools=tools)
        assert names_and_arguments(found.calls) == names_and_arguments(of.calls), (
            f"{form}: {each!r} is read as {found}"
        )
    agree(of, made.damage(of.tape, text, literals(form), 3), tools)


def agree(of: Example, text: str, tools: Tools | None) -> None:
    """The whole text, cut at any point, and its characters one by one: the same result."""
    reader, level = reader_of(of.form), of.tape.pick(LEVELS)
    whole = reader.parse(text, tools=tools, level=level)
    for chunks in (list(text), made.chunks(of.tape, text)):
        cut = streamed(of.form, chunks, tools, level)
        assert cut == whole, f"{cut}\nand whole\n{whole}\n{chunks} at {level} in {of.form}"


def streamed(form: Format, chunks: list[str], tools: Tools | None, level: Level) -> ParseResult:
    return stream_of(reader_of(form).stream(tools=tools, level=level), chunks)[0]


@settings(CALM, max_examples=300)
@given(of=examples)
def test_what_is_accepted_is_read_streamed_and_written(of: Example) -> None:
    check(of)


@pytest.mark.slow
@settings(CALM, max_examples=int(os.environ.get("TUNAEVAL_FORMATS", "10000")))
@given(of=examples)
def test_what_is_accepted_is_read_streamed_and_written_at_length(of: Example) -> None:
    check(of)


@settings(CALM, max_examples=300)
@given(form=random_formats())
def test_what_is_accepted_can_say_a_plain_call(form: Format) -> None:
    """A format that can say nothing should have been refused."""
    for call in (ToolCall("f", {}), ToolCall("f", {"a": "x", "b": 1})):
        assert call.name in render([call], form)


@given(data=st.data())
def test_a_refusal_says_why(data: st.DataObject) -> None:
    found = data.draw(taped(random_format, 64))
    if isinstance(found, FormatError):
        message = str(found)
        assert message.startswith("format 'random': ")
        assert len(message) > len("format 'random': ") + 20
