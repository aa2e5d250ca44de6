"""Hypothesis strategies: calls, sound, damaged and hostile texts, and ways to cut texts."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TypeVar

from hypothesis import strategies as st

from tunaeval.grammar import Arguments, CallObject, Literal, Many, Maybe, PythonCalls, Word
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
    """Return a strategy for calls that `form` can express: its bare text has no markup inside."""
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
    """Make calls that `form` can express."""
    if tells_types(form):
        return tape.row(any_call, most, least)
    # All calls of a name share one schema, so each name is used once.
    found = {call.name: call for call in tape.row(plain_call(literals(form)), most, least)}
    return list(found.values())


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
    words = _flat((*form.words, *(form.around or ()), *messages))
    return (*(text for word in words for text in word.spellings), *form.dropped)


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


def _flat(words: Sequence[Word]) -> list[Literal]:
    inner = [_flat(word.words) for word in words if isinstance(word, Maybe | Many)]
    own = [word for word in words if isinstance(word, Literal)]
    return [*own, *(word for some in inner for word in some)]


def _holds(value: JsonValue, marks: Sequence[str]) -> bool:
    # Strings are written as they are, other values as JSON.
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return any(mark in text for mark in marks)


def _type(value: JsonValue) -> str:
    names = {str: "string", bool: "boolean", int: "integer", float: "number", dict: "object"}
    return "null" if value is None else names.get(type(value), "array")
