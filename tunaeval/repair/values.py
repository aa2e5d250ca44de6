"""JSON text to values, with the project's one rule for each thing JSON leaves open.

Integers stay integers of any size up to `MAX_DIGITS` digits. NaN, Infinity and numbers too large
for a float are invalid. Of duplicate keys the last wins, with a note. Lone surrogates and NUL are
kept as they are, with a note. Nesting beyond `MAX_DEPTH` is refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite, isinf
from typing import Any, NamedTuple, TypeAlias

import orjson

from tunaeval.limits import CUT_TOKEN, FIRST_LOOK, MAX_DEPTH, MAX_FAST
from tunaeval.types import JsonObject, JsonValue, Repair

QUOTES = "\"'“”‘’"
"""Characters that begin a string of nearly-JSON."""

_ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


class Note(NamedTuple):
    """Something odd about a value that was read all the same."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Why a text gives no value; `at` is an index into the whole text, `so_far` what was sound.

    `cut`: the text ended before it could be told.
    """

    code: str
    message: str
    at: int = 0
    so_far: str = ""
    cut: bool = False


class Read(NamedTuple):
    """A value and what it took to read it; `truncated` when the text ended inside it."""

    value: JsonValue
    repairs: tuple[Repair, ...] = ()
    notes: tuple[Note, ...] = ()
    truncated: bool = False


class _DuplicateKeyError(Exception):
    pass


def _float(text: str) -> float:
    value = float(text)
    if isinf(value):
        raise ValueError(f"the number {text[:40]} is too large for a float")
    return value


def _constant(text: str) -> float:
    raise ValueError(f"{text} is no JSON value")


def _unique(pairs: list[tuple[str, Any]]) -> JsonObject:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise _DuplicateKeyError
    return value


_raw_decode = json.JSONDecoder(
    object_pairs_hook=_unique, parse_float=_float, parse_constant=_constant
).raw_decode


begins_soundly = re.compile(r'[ \t\r\n]*+\{[ \t\r\n]*+["}]').match
"""Whether an object of JSON may begin behind an index: a cheap look before it is decoded."""


def scan(text: str, start: int) -> tuple[JsonValue, int, tuple[Note, ...]] | Unreadable:
    """Read the sound JSON value that begins at `start`: the value, its end and what is odd.

    An error of the decoder counts the lines before it, so what begins late in a text is looked at
    in a piece of it, which grows as long as the value may go on behind it.
    """
    if start <= FIRST_LOOK:
        return _scan(text, start)
    size = FIRST_LOOK
    while True:
        piece = text[start : start + size]
        found = _scan(piece, 0)
        if start + size >= len(text) or not _may_be_cut(found, piece):
            if isinstance(found, Unreadable):
                return Unreadable(found.code, found.message, start + found.at)
            return found[0], start + found[1], found[2]
        size *= 4


_Scanned: TypeAlias = "tuple[JsonValue, int, tuple[Note, ...]] | Unreadable"


def _may_be_cut(found: _Scanned, piece: str) -> bool:
    """Whether more text could change what a piece of it says."""
    near = len(piece) - CUT_TOKEN
    if isinstance(found, Unreadable):
        return found.at > near or found.message.startswith("Unterminated")
    return found[1] > near and piece[found[1] - 1] not in '}]"'


def _scan(text: str, start: int) -> _Scanned:
    notes: list[Note] = []
    try:
        found = _decoded(text, start)  # whose error would keep the pairs that it was found in
        value, end = found or _noting_decoder(notes).raw_decode(text, start)
    except json.JSONDecodeError as error:
        return Unreadable("invalid-json", error.msg, error.pos)
    except RecursionError:
        return Unreadable("too-deep", f"nested deeper than {MAX_DEPTH}", start)
    except ValueError as error:
        return Unreadable("invalid-number", str(error).partition(";")[0], start)
    if too_deep(text, start, end, value):
        return Unreadable("too-deep", f"nested deeper than {MAX_DEPTH}", start)
    return value, end, (*notes, *_odd_characters(text, start, end, value))


def _decoded(text: str, start: int) -> tuple[JsonValue, int] | None:
    """The value and its end, unless a key is there twice."""
    try:
        value, end = _raw_decode(text, start)
    except _DuplicateKeyError:
        return None
    return value, end


def decode(text: str, *, exact: bool) -> tuple[JsonValue, tuple[Note, ...]] | Unreadable:
    r"""The value of a text that a reader wrote, and what is odd about it.

    `exact`: no number is longer than `EXACT_DIGITS`. The fast decoder hides duplicate keys and
    NUL. A key that was overwritten leaves its quotes behind in the text; an escape spelled
    `\u0022` could make up for them, so that goes the long way, and so does `\u0000`. So does a
    long text, because the fast decoder takes a buffer of twelve times its size.
    """
    fast = exact and len(text) <= MAX_FAST
    if fast and ("\\u00" not in text or ("\\u0000" not in text and "\\u0022" not in text)):
        try:
            value = orjson.loads(text)
        except orjson.JSONDecodeError:
            pass  # half a surrogate pair, or a fault that the other decoder can name
        else:
            if orjson.dumps(value).count(b'"') == text.count('"'):
                return value, ()
    made = scan(text, 0)
    return made if isinstance(made, Unreadable) else (made[0], made[2])


def _noting_decoder(notes: list[Note]) -> json.JSONDecoder:
    def pairs_of(pairs: list[tuple[str, Any]]) -> JsonObject:
        value = dict(pairs)
        if len(value) != len(pairs):
            seen: set[str] = set()
            twice = [key for key, _ in pairs if key in seen or seen.add(key)]  # type: ignore[func-returns-value]  # set.add is the "or" branch
            names = ", ".join(repr(key[:40]) for key in dict.fromkeys(twice))
            notes.append(Note("duplicate-key", f"more than once: {names}; the last one counts"))
        return value

    return json.JSONDecoder(
        object_pairs_hook=pairs_of, parse_float=_float, parse_constant=_constant
    )


def too_deep(text: str, start: int, end: int, value: JsonValue) -> bool:
    """Whether `value`, read from that stretch of text, is nested deeper than `MAX_DEPTH`."""
    if text.count("{", start, end) + text.count("[", start, end) <= MAX_DEPTH:
        return False
    level: list[JsonValue] = [value]
    for _ in range(MAX_DEPTH):
        level = [inner for outer in level for inner in _inside(outer)]
        if not level:
            return False
    return True


def _inside(value: JsonValue) -> list[JsonValue]:
    """The containers right inside a container."""
    return [item for item in _items(value) if isinstance(item, dict | list)]


def _odd_characters(text: str, start: int, end: int, value: JsonValue) -> list[Note]:
    notes = []
    zero = text.find("\\u0000", start, end) >= 0 or text.find("\x00", start, end) >= 0
    if zero and _any_text(value, lambda item: "\x00" in item):
        notes.append(Note("nul", "a string contains the character NUL; it is kept"))
    raw = not text.isascii() and _is_no_unicode(text[start:end])
    escaped = text.find("\\u", start, end) >= 0 and _ESCAPED_SURROGATE.search(text, start, end)
    if raw or (escaped and _any_text(value, _is_no_unicode)):
        notes.append(Note("lone-surrogate", "a string contains half a surrogate pair; it is kept"))
    return notes


def _is_no_unicode(text: str) -> bool:
    """Whether a text holds half a surrogate pair: to encode it is ten times as fast as a search."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def _any_text(value: JsonValue, odd: Callable[[str], bool]) -> bool:
    """Whether this is so of any key or string."""
    todo = [value]
    while todo:
        item = todo.pop()
        if isinstance(item, str):
            if odd(item):
                return True
        elif isinstance(item, dict):
            todo += [*item, *item.values()]
        elif isinstance(item, list):
            todo += item
    return False


def not_json(value: JsonValue) -> str | None:
    """Why a value made by somebody else could not have come from JSON; None if it could."""
    level: list[JsonValue] = [value]
    for _ in range(MAX_DEPTH + 1):
        if any(isinstance(item, float) and not isfinite(item) for item in level):
            return "NaN and Infinity are no JSON values"
        # Each once: what holds itself would be more on every level.
        outer = {id(item): item for item in level if isinstance(item, dict | list)}.values()
        if not outer:
            return None
        level = [inner for item in outer for inner in _items(item)]
    return f"nested deeper than {MAX_DEPTH}"


def _items(value: JsonValue) -> list[JsonValue]:
    return list(value.values() if isinstance(value, dict) else value)
