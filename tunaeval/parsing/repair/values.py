r"""Decodes JSON, with one rule of the project for everything that the JSON standard leaves open.

Integers stay integers of any size up to `MAX_DIGITS` digits. NaN, Infinity and numbers too large
for a float are invalid. Of duplicate keys the last wins, with a note. Lone surrogates and NUL are
kept as they are, with a note. Nesting beyond `MAX_DEPTH` is refused.

There are two decoders. orjson is fast, but silently keeps the last of duplicate keys, turns
integers beyond 64 bits into floats, and accepts NUL and deep nesting. Therefore its value is only
used if `nothing_hidden` excludes all of that; otherwise the standard library's decoder reads the
text again. Duplicate keys are found by counting quotes: each key and string of the value has two in
the text, and one for each quote inside it, so an overwritten key leaves two quotes too many. As the
escape `\u0022` could hide these, a text with quotes inside strings must not contain that escape.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite, isinf
from typing import Any, NamedTuple, TypeAlias

import orjson

from tunaeval.limits import CUT_TOKEN, FIRST_LOOK, MAX_DEPTH, MAX_DIGITS, MAX_FAST
from tunaeval.types.calls import JsonObject, JsonValue, Repair
from tunaeval.types.makers import cheap

SPACES = " \t\r\n"
"""The characters that JSON allows as white space."""

ODD_SPACES = (
    "\v\f\x85\xa0\u1680\u200b\u2028\u2029\u202f\u205f\u2060\u3000"
    "\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
)
"""White space that JSON does not allow; text copied from a page or a document has it."""

QUOTES = "\"'“”‘’"
"""The characters that may begin a string in damaged JSON."""

NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*+)(?P<real>(?:\.[0-9]++)?+(?:[eE][+-]?[0-9]++)?+)")
"""A JSON number; an integer if the group `real` is empty."""

_FLOAT = re.compile(r"([+-]?)([0-9_]*+)\.?([0-9_]*+)([eE][+-]?[0-9]++)?")


def number_as_json(text: str) -> str | None:
    """Convert a number in Python's syntax to JSON's; return None if it is no number.

    Examples:
        >>> number_as_json("1_000"), number_as_json("0x1F"), number_as_json(".5")
        ('1000', '31', '0.5')
    """
    if NUMBER.fullmatch(text):
        return text
    try:
        return str(int(text, 0)) if text.isascii() else None
    except ValueError:
        found = _FLOAT.fullmatch(text)
    if not found or not (found[2] or found[3]) or not ("." in text or found[4]):
        return None
    whole = found[2].replace("_", "").lstrip("0") or "0"
    return f"{found[1].strip('+')}{whole}.{found[3].replace('_', '') or '0'}{found[4] or ''}"


begins_soundly = re.compile(r'[ \t\r\n]*+\{[ \t\r\n]*+["}]').match
"""Match the beginning of a JSON object at an index: a cheap test before decoding."""


class Note(NamedTuple):
    """Something unusual about a value that was read without a repair."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Why a text has no value. `at` is the error's offset in the whole text.

    `so_far` is the JSON read before the error. `cut`: the text ended too early to say more.
    """

    code: str
    message: str
    at: int = 0
    so_far: str = ""
    cut: bool = False


class Read(NamedTuple):
    """A value with its repairs and notes; `truncated` if the text ended inside the value."""

    value: JsonValue
    repairs: tuple[Repair, ...] = ()
    notes: tuple[Note, ...] = ()
    truncated: bool = False


REPAIRS = {
    "single-quotes": ("standard", "a string in single quotes"),
    "smart-quotes": ("standard", "a string in typographic quotes"),
    "python-literal": ("standard", "True, False or None"),
    "bare-key": ("standard", "a key without quotes"),
    "comment": ("standard", "a comment"),
    "trailing-comma": ("standard", "a comma before a closer"),
    "missing-comma": ("standard", "no comma between two members"),
    "extra-comma": ("standard", "a comma too many"),
    "odd-space": ("standard", "white space that JSON does not know, between its parts"),
    "control-character": ("standard", "a raw control character in a string"),
    "leading-zero": ("standard", "a number that begins with a zero"),
    "python-set": ("standard", "a set, which is read as a list"),
    "other-quotes": ("standard", "a text in other quotes than the format's"),
    "one-dictionary": ("standard", "all arguments as one dictionary, whose keys the tool declares"),
    "unmarked-text": ("standard", "words without the format's marks around them"),
    "unknown-escape": ("standard", "a backslash that escapes nothing and is kept, as in Python"),
    "guessed-comma": ("lenient", "no comma between two members, and it could be elsewhere"),
    "missing-colon": ("lenient", "no colon after a key"),
    "separator": ("lenient", "'=' where a colon belongs, or a colon for '='"),
    "invalid-escape": ("lenient", "an escape that JSON does not know"),
    "inner-quote": ("lenient", "a quote inside a string without a backslash"),
    "odd-number": ("lenient", "a number as programs write it, and JSON does not"),
    "unquoted-string": ("lenient", "a string without quotes"),
    "missing-quote": ("lenient", "a text without the mark that should begin it"),
    "positional-arguments": ("lenient", "an argument without a name, named by its place"),
    "missing-closer": ("lenient", "a bracket that was never closed"),
    "extra-closer": ("lenient", "a bracket that closes nothing"),
    "truncated": ("lenient", "the text ends inside the value; what is missing is unknown"),
}
"""Every repair of a value by its code: the level at which it is made, and what was found.

A repair of level "standard" changes no value; one of level "lenient" may lose or guess something.
"""

repair_of = cheap(Repair)
"""Make a `Repair` in half the time that calling the class takes."""

Decoded: TypeAlias = tuple[JsonValue, int, tuple[Note, ...]]
"""A value, the index of the text after it, and notes on it."""


def read_sound(text: str, start: int = 0, end: int | None = None) -> JsonObject | None:
    """Return the object that `text[start:end]` is, if it is valid JSON and nothing is unusual.

    If the result is None, `decode_at` may still find a value. A piece longer than `MAX_FAST` is not
    decoded, because the fast decoder needs a buffer of twelve times its size.
    """
    piece = text[start:end]
    if len(piece) > MAX_FAST:
        return None
    try:
        value = orjson.loads(piece)
    except orjson.JSONDecodeError:
        return None
    return value if type(value) is dict and nothing_hidden(value, piece, ()) else None


def decode_at(text: str, at: int) -> Decoded | None:
    """Return the valid JSON value at index `at`; None if it is invalid or has too long a number."""
    found = scan(text, at)
    if isinstance(found, Unreadable) or has_long_number(text, at, found[1]):
        return None
    return found


def decode(text: str) -> Decoded | Unreadable:
    """Return the value of JSON that a reader such as `JsonReader` repaired, with notes on it."""
    value = read_sound(text)
    return scan(text, 0) if value is None else (value, len(text), ())


ATOMS = frozenset({int, bool, type(None)})
"""Types whose values are always decoded exactly; orjson makes floats of large integers."""

_LARGE = float(2**63)
_LONG_NUMBER = re.compile(rf"[0-9][0-9.eE+-]{{{MAX_DIGITS}}}")
_STEP = MAX_DIGITS // 2
_RUN = re.compile(rf"[0-9.eE+-]{{{_STEP}}}")


def nothing_hidden(
    arguments: JsonObject | list[JsonValue], piece: str, outer: tuple[str, ...]
) -> bool:
    """Whether orjson lost nothing when it decoded the JSON `piece` to `arguments`.

    `outer` are the keys and strings of `piece` that are not in `arguments`. True is certain; False
    only means that another decoder has to look.
    """
    strings = [*outer]
    if not _gather(arguments, strings):
        return False
    if len(piece) > MAX_DIGITS and has_long_number(piece, 0, len(piece)):
        return False
    inner = piece.count('"') - 2 * len(strings)
    if "\\" not in piece:
        return not inner
    joined = "".join(strings)
    if inner and (inner != joined.count('"') or piece.rfind("\\u0022") >= 0):
        return False
    return "\x00" not in joined


def _gather(arguments: JsonObject | list[JsonValue], strings: list[str]) -> bool:
    """Add all keys and strings in `arguments` to `strings`; return whether orjson can be trusted.

    A float of 2**63 or more, which may have been an integer, and too deep nesting give False.
    """
    level: list[JsonValue] = [arguments]
    for _ in range(MAX_DEPTH - 2):  # two levels are the call object and the array around it
        below: list[JsonValue] = []
        for outer in level:
            if type(outer) is dict:
                strings += outer
            for item in outer.values() if type(outer) is dict else outer:
                kind = type(item)
                if kind is str:
                    strings.append(item)
                elif kind is dict or kind is list:
                    below.append(item)
                elif kind is float and not -_LARGE < item < _LARGE:
                    return False
        if not below:
            return True
        level = below
    return False


def has_long_number(text: str, start: int, end: int) -> bool:
    """Whether `text[start:end]` may have a number longer than `MAX_DIGITS`, perhaps in a string.

    A check at every `_STEP`-th character suffices to exclude one in most texts.
    """
    if end - start <= MAX_DIGITS:
        return False
    looked = range(start, end, _STEP)
    if not any(_RUN.match(text, at, end) for at in looked):
        return False
    return _LONG_NUMBER.search(text, start, end) is not None


def scan(text: str, start: int) -> Decoded | Unreadable:
    """Decode the valid JSON value at index `start`; return the value, its end and notes on it.

    When the decoder fails, it counts all lines before the error. So a value late in a text is
    decoded in a piece of the text, which grows while the value may go on after the piece.
    """
    if start <= FIRST_LOOK:
        return _scan(text, start)
    size = FIRST_LOOK
    while True:
        piece = text[start : start + size]
        found, whole, near = _scan(piece, 0), start + size >= len(text), len(piece) - CUT_TOKEN
        if isinstance(found, Unreadable):  # near the piece's end more text may help
            if whole or not (found.at > near or found.message.startswith("Unterminated")):
                return Unreadable(found.code, found.message, start + found.at)
        elif whole or found[1] <= near or piece[found[1] - 1] in '}]"':
            return found[0], start + found[1], found[2]
        size *= 4


def _scan(text: str, start: int) -> Decoded | Unreadable:
    try:
        value, end = _DECODER.raw_decode(text, start)
    except json.JSONDecodeError as error:
        return Unreadable("invalid-json", error.msg, error.pos)
    except RecursionError:
        return Unreadable("too-deep", f"nested deeper than {MAX_DEPTH}", start)
    except ValueError as error:
        return Unreadable("invalid-number", str(error).partition(";")[0], start)
    piece = text[start:end]
    notes = []
    if not nothing_hidden([value], piece, ()):
        if not_json(value):
            return Unreadable("too-deep", f"nested deeper than {MAX_DEPTH}", start)
        notes = _repeated_keys(piece)
        if any("\x00" in each for each in _texts(value)):
            notes.append(Note("nul", "a string contains the character NUL; it is kept"))
    escaped = _ESCAPED_SURROGATE.search(piece) and any(map(_is_no_unicode, _texts(value)))
    if escaped or (not piece.isascii() and _is_no_unicode(piece)):
        notes.append(Note("lone-surrogate", "a string contains half a surrogate pair; it is kept"))
    return value, end, tuple(notes)


def _float(text: str) -> float:
    value = float(text)
    if isinf(value):
        raise ValueError(f"the number {text[:40]} is too large for a float")
    return value


def _constant(text: str) -> float:
    raise ValueError(f"{text} is no JSON value")


_DECODER = json.JSONDecoder(parse_float=_float, parse_constant=_constant)
_ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def _repeated_keys(text: str) -> list[Note]:
    notes = []

    def look(pairs: list[tuple[str, Any]]) -> None:
        seen: set[str] = set()
        twice = [key for key, _ in pairs if key in seen or seen.add(key)]  # type: ignore[func-returns-value]  # set.add is the "or" branch
        if twice:
            names = ", ".join(repr(key[:40]) for key in dict.fromkeys(twice))
            notes.append(Note("duplicate-key", f"more than once: {names}; the last one counts"))

    json.loads(text, object_pairs_hook=look)
    return notes


def _is_no_unicode(text: str) -> bool:
    """Whether a text has a lone surrogate; encoding is ten times as fast as a search."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def _levels(value: JsonValue) -> Iterator[list[JsonValue]]:
    """Yield the values of each nesting level: the value itself, then its members, and so on."""
    level: list[JsonValue] = [value]
    while level:
        yield level
        # Each object once, as one that contains itself would multiply on every level.
        outer = {id(item): item for item in level if isinstance(item, dict | list)}.values()
        level = [
            inner for item in outer for inner in (item.values() if isinstance(item, dict) else item)
        ]


def _texts(value: JsonValue) -> Iterator[str]:
    """Yield all keys and strings in a value."""
    for level in _levels(value):
        for item in level:
            yield from (item,) if isinstance(item, str) else item if isinstance(item, dict) else ()


def not_json(value: JsonValue) -> str | None:
    """Return why a Python value cannot be written as JSON; None if it can."""
    for depth, level in enumerate(_levels(value)):
        if any(isinstance(item, float) and not isfinite(item) for item in level):
            return "NaN and Infinity are no JSON values"
        if depth == MAX_DEPTH and any(isinstance(item, dict | list) for item in level):
            return f"nested deeper than {MAX_DEPTH}"
    return None
