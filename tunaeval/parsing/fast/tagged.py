"""Blocks whose tool name stands outside of the arguments.

A value ends at its first closer if what the grammar allows next stands behind it, which `bare`
asks too; here all of that is one pattern, which also reads the next key. If it does not match
there, a later closer may end the value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

import orjson

from tunaeval.grammar import (
    Arguments,
    Attribute,
    Format,
    Key,
    Literal,
    Many,
    Maybe,
    Name,
    Space,
    Value,
    Word,
    starts_with_space,
)
from tunaeval.limits import MAX_FAST, WIDE_SPACE
from tunaeval.repair import begins_soundly, nothing_hidden
from tunaeval.types import JsonObject, JsonValue, ToolCall, Tools

from ..fitting import fits, signature_of
from ..marks import Marks
from ..typing import trimmed, undoubled
from .claims import scanned
from .made import call_of
from .patterns import SPACE, row
from .promise import UNSURE, AddressedReader, BlockReader
from .values import ODD, value_of

_SPACES = " \t\r\n"
_OPTIONAL = (Arguments(optional=True),)
"""Where such an object stands, the rest does not match, and the recovering reader reads it."""
_Match: TypeAlias = Callable[[str, int], "re.Match[str] | None"]


def tagged_reader(form: Format) -> BlockReader | None:
    """The reader of a format with a `Name`; None if it has odd words."""
    words = [word for word in form.words[1:] if word not in _OPTIONAL]
    bodies = [i for i, word in enumerate(words) if isinstance(word, Arguments | Many)]
    if len(bodies) != 1:
        return None
    at = bodies[0]
    body = words[at]
    if isinstance(body, Arguments) and body.mark:
        return None
    if isinstance(body, Many):
        if starts_with_space(body):
            return None
        return _pairs_reader(form, words[:at], body, words[at + 1 :])
    return _json_reader(form, words[:at], words[at + 1 :])


# --- arguments as one JSON object ----------------------------------------------------------------


def _json_reader(form: Format, before: Sequence[Word], after: Sequence[Word]) -> BlockReader | None:
    """Name, JSON, and what closes both; without a closer, the next opener may end the JSON."""
    head, tail = _compiled(row(before), 1), _compiled(row(after), 0)
    closer = next((word for word in after if not isinstance(word, Space)), form.opener)
    if head is None or tail is None or not isinstance(closer, Literal):
        return None
    mark, format_name, size = closer.text, form.name, len(closer.text) if after else 0
    spaced = bool(after) and isinstance(after[0], Space)
    last = not after or all(isinstance(word, Space) for word in after[:-1])
    meant = _meaning(before)

    def read(text: str, start: int, body: int, tools: Tools | None, calls: list[ToolCall]) -> int:
        named = head(text, body)
        if named is None:
            return UNSURE
        name, at = meant(named[1], tools), named.end()
        if not begins_soundly(text, at):
            return UNSURE
        stop = _found(text, mark, at)
        piece = text[at:stop]
        try:
            arguments = _decoded(piece)
        except ValueError:
            found = scanned(text, at + len(piece) - len(piece.lstrip(_SPACES)))
            arguments, stop = found or (None, 0)
            end = _end(tail(text, stop))
        else:
            if not spaced and piece[-1] != "}":
                stop -= len(piece) - len(piece.rstrip(_SPACES))
            end = stop + size if last and text.startswith(mark, stop) else _end(tail(text, stop))
            if type(arguments) is dict and not nothing_hidden(arguments, piece, ()):
                return UNSURE
        if not _stands(name, arguments, tools) or end < 0:
            return UNSURE
        calls.append(call_of(name, arguments, format_name, (start, end), None))
        return end

    return read


def _found(text: str, mark: str, at: int) -> int:
    """Where a text comes next; the end if it does not, or far away, where nothing decodes."""
    stop = text.find(mark, at, at + MAX_FAST)
    return stop if stop >= 0 else min(len(text), at + MAX_FAST + 1)


def json_behind_header(form: Format) -> AddressedReader | None:
    """JSON behind a header that has the name, up to what closes the message."""
    words = [word for word in form.words[1:] if not isinstance(word, Space)]
    ends = form.envelope.closes.spellings if form.envelope else ()
    if words != [Arguments()] or not ends:
        return None

    def read(text: str, body: int, name: str, tools: Tools | None) -> tuple[JsonObject, int] | None:
        found = [stop for end in ends if (stop := text.find(end, body)) >= 0]
        piece = text[body : min(found, default=len(text))]
        try:
            arguments = _decoded(piece)
        except ValueError:
            return None
        if not _stands(name, arguments, tools) or not nothing_hidden(arguments, piece, ()):
            return None
        return arguments, body + len(piece.rstrip(_SPACES))

    return read


def _decoded(piece: str) -> JsonValue:
    if len(piece) > MAX_FAST:
        raise ValueError("left to the scanner, which takes less memory")
    return orjson.loads(piece)


def _end(found: re.Match[str] | None) -> int:
    return found.end() if found else UNSURE


def _stands(name: str, arguments: object, tools: Tools | None) -> bool:
    """Whether it is a call with nothing odd about it. "properties" may echo a schema."""
    if type(arguments) is not dict or not name or "properties" in arguments:
        return False
    return tools is None or fits(name, arguments, tools)


# --- arguments one by one ------------------------------------------------------------------------


def _pairs_reader(
    form: Format, before: Sequence[Word], many: Many, after: Sequence[Word]
) -> BlockReader | None:
    """Name, and keys and values in markup."""
    steps = _steps(before, many, after)
    if steps is None:
        return None
    head, step, word, closer, attribute = steps
    meant, format_name = _meaning(before), form.name
    trims = word.trim != "no" or bool(word.quotes[0])
    marks, markup = Marks(form, closer), closer[:1]

    def read(text: str, start: int, body: int, tools: Tools | None, calls: list[ToolCall]) -> int:
        here = head(text, body)
        if here is None:
            return UNSURE
        name, key, arguments = meant(here[1], tools), here[2], JsonObject()
        signature = None if tools is None else signature_of(name, tools)
        if signature is None and tools is not None:
            return UNSURE
        while key is not None:
            said = _said(attribute, here[here.re.groups]) if attribute else None
            at = here.end()
            end = text.find(closer, at)
            here = step(text, end) if end >= 0 else None
            if here is None or not key or key in arguments:
                return UNSURE
            value = text[at:end]
            if markup in value and marks.inside(value):  # perhaps a tag was lost
                return UNSURE
            value = value_of(trimmed(value, word) if trims else value, key, signature, said)
            if value is ODD:
                return UNSURE
            arguments[key], key = value, here[1]
        if not _stands(name, arguments, tools):
            return UNSURE
        calls.append(call_of(name, arguments, format_name, (start, here.end()), None))
        return here.end()

    return read


def _meaning(words: Sequence[Word]) -> Callable[[str, Tools | None], str]:
    """What a name that is written means."""
    doubled = any(isinstance(word, Name) and word.doubled for word in words)
    return undoubled if doubled else _as_written


def _as_written(name: str, _: Tools | None) -> str:
    return name


class _Steps(NamedTuple):
    """From the opener to the first value, and from each value's closer to the next, or the end."""

    head: _Match
    step: _Match
    value: Value
    closer: str
    attribute: Attribute | None


def _steps(before: Sequence[Word], many: Many, after: Sequence[Word]) -> _Steps | None:
    words = many.words
    places = [i for i, word in enumerate(words) if isinstance(word, Value)]
    if len(places) != 1 or [
        word.escaped for word in words[: places[0]] if isinstance(word, Key)
    ] != [False]:
        return None
    at = places[0]
    value, closer = words[at], words[at + 1]
    attribute = _attribute(words[:at])
    first, item, rest = row(words[:1]), row(words[:at]), row(words[at + 2 :], space=WIDE_SPACE)
    head, tail = row(before), row(after, space=WIDE_SPACE)
    whole = None not in (first, item, rest, head, tail)
    if not (whole and isinstance(value, Value) and isinstance(closer, Literal)):
        return None
    onward = f"(?:{item}|(?!{first}){tail})"
    groups = 1 + (attribute is not None)
    start = _compiled(f"{head}{SPACE}{onward}", groups + 1)
    step = _compiled(f"{re.escape(closer.text)}{rest}{WIDE_SPACE}{onward}", groups)
    return _Steps(start, step, value, closer.text, attribute) if start and step else None


def _attribute(words: Sequence[Word]) -> Attribute | None:
    """The attribute among the words, which may be missing in a text."""
    inner = [each for word in words for each in (word.words if isinstance(word, Maybe) else [word])]
    return next((word for word in inner if isinstance(word, Attribute)), None)


def _said(word: Attribute, text: str | None) -> str | None:
    return "text" if text in word.text else "json" if text in word.json else None


def _compiled(pattern: str | None, groups: int) -> _Match | None:
    """What matches the pattern, if a word's own pattern has not brought groups into it."""
    if pattern is None:
        return None
    made = re.compile(pattern)
    return made.match if made.groups == groups else None
