"""Hypothesis strategies: calls, sound, damaged and hostile texts, and ways to cut texts."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import TypeVar

from hypothesis import strategies as st

from tunaeval.grammar import (
    Arguments,
    CallObject,
    Key,
    Name,
    PythonCalls,
    flat,
    literal_texts,
)
from tunaeval.grammar.format import Format
from tunaeval.parsing.write import render_calls
from tunaeval.types.calls import JsonValue, ToolCall, Tools, ToolSpec

from . import tape as made
from .tape import Tape

T = TypeVar("T")


@st.composite
def taped(draw: st.DrawFn, make: Callable[[Tape], T], size: int = 96) -> T:
    """Return a strategy for what `make` returns for a random tape of `size` bytes."""
    return make(Tape(draw(st.binary(min_size=size, max_size=size))))


def json_values(leaves: int = 8) -> st.SearchStrategy[JsonValue]:
    """Return a strategy for JSON values: strings full of markup, any numbers, nested values."""
    return taped(lambda tape: made.value(tape, leaves))


def calls(least: int = 1, most: int = 3) -> st.SearchStrategy[list[ToolCall]]:
    """Return a strategy for lists of calls with arbitrary arguments."""
    return taped(lambda tape: tape.row(any_call, most, least), 192)


def writable(form: Format, least: int = 1, most: int = 3) -> st.SearchStrategy[list[ToolCall]]:
    """Return a strategy for calls that fit `form`: its patterns, and no markup in bare text."""
    return taped(lambda tape: calls_in(tape, form, least, most), 192)


def prose() -> st.SearchStrategy[str]:
    """Return a strategy for sentences in several languages, without any markup."""
    return taped(made.prose, 10)


def fragments(most: int = 16) -> st.SearchStrategy[str]:
    """Return a strategy for hostile texts: pieces of formats in any order."""
    return taped(lambda tape: made.hostile(tape, most))


def damaged(form: Format, most: int = 4) -> st.SearchStrategy[str]:
    """Return a strategy for calls as the format writes them, then damaged."""
    return taped(lambda tape: damaged_calls(tape, form, most)[0], 192)


def chunkings(text: str) -> st.SearchStrategy[list[str]]:
    """Return a strategy for ways to cut a text: characters, equal steps, or random places."""
    return taped(lambda tape: made.chunks(tape, text), 40)


def calls_in(tape: Tape, form: Format, least: int, most: int) -> list[ToolCall]:
    """Make calls for `form`: names and keys fit its patterns, bare text has no markup inside."""
    bare = not tells_types(form)
    make = plain_call(literals(form)) if bare else any_call
    # With bare text all calls of a name share one schema, so each name is used once.
    found = [
        ToolCall(
            _fitted(call.name, Name, form),
            {_fitted(key, Key, form): value for key, value in call.arguments.items()},
        )
        for call in tape.row(make, most, least)
    ]
    return list({call.name: call for call in found}.values()) if bare else found


def _fitted(text: str, kind: type[Name | Key], form: Format) -> str:
    """Return the beginning of a name or key that its pattern accepts, or one character."""
    for word in flat(form.words):
        if isinstance(word, Name | Key) and isinstance(word, kind):
            texts = (text, *map(chr, range(33, 0x250)), "中")
            found = map(re.compile(word.pattern).match, texts)
            text = next((one[0] for one in found if one and one[0]), text)
    return text


def plain_call(marks: Sequence[str]) -> Callable[[Tape], ToolCall]:
    """Return a function that makes calls whose keys are words and whose values contain no marks."""

    def plain(tape: Tape) -> JsonValue:
        value = made.value(tape, 4)
        return made.word(tape) if _holds(value, marks) else value

    return lambda tape: made.call(tape, lambda tape: made.word(tape, 9), plain)


def damaged_calls(tape: Tape, form: Format, most: int) -> tuple[str, list[ToolCall]]:
    """Make a damaged text; return it with the calls from which it was made."""
    meant = calls_in(tape, form, 1, 2)
    sound = made.prose(tape) + render_calls(meant, form) + made.prose(tape)
    return made.damage(tape, sound, literals(form), most), meant


def tells_types(form: Format) -> bool:
    """Whether text in this format distinguishes numbers from strings by itself."""
    return any(
        isinstance(word, CallObject | PythonCalls)
        or (isinstance(word, Arguments) and not word.optional)
        for word in form.words
    )


def literals(form: Format) -> tuple[str, ...]:
    """Return every fixed text of a format."""
    envelope = form.envelope
    messages = (envelope.opens, envelope.closes) if envelope else ()
    return (*literal_texts((*form.words, *(form.around or ()), *messages)), *form.dropped)


def tools_for(calls_: Sequence[ToolCall]) -> Tools:
    """Return tools whose schemas declare the type of each argument in these calls."""
    specs = {}
    for call in calls_:
        properties = {key: {"type": _type(value)} for key, value in call.arguments.items()}
        specs[call.name] = ToolSpec(
            call.name, parameters={"type": "object", "properties": properties}
        )
    return Tools(specs.values())


def any_call(tape: Tape) -> ToolCall:
    """Make a call with any keys and values."""
    return made.call(tape, lambda tape: made.text(tape, 8), lambda tape: made.value(tape, 8))


def _holds(value: JsonValue, marks: Sequence[str]) -> bool:
    # Strings are written as they are, other values as JSON.
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return any(mark in text for mark in marks)


def _type(value: JsonValue) -> str:
    names = {str: "string", bool: "boolean", int: "integer", float: "number", dict: "object"}
    return "null" if value is None else names.get(type(value), "array")
