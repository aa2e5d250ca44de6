"""What is of which JSON schema type, and what can be made so without losing anything."""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import isfinite
from reprlib import Repr

from tunaeval.limits import MAX_DIGITS, SCALAR_TEXT, SHOWN_VALUE
from tunaeval.types import JsonValue

from .values import Read
from .whole import read_json

KINDS = ("null", "boolean", "integer", "number", "array", "object", "string")
"""The types that JSON schema knows."""

_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]{0,400})")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,400})(?:\.[0-9]{1,400})?(?:[eE][+-]?[0-9]{1,3})?")
_WORDS: dict[str, dict[str, JsonValue]] = {
    "boolean": {"true": True, "false": False},
    "null": {"null": None, "none": None},
}


class Unbent:
    """No value: nothing was found that says the same."""


UNBENT = Unbent()


def kind_of(value: JsonValue) -> str:
    """The narrowest type of a value; "" for what is no JSON value."""
    return next((kind for kind in KINDS if is_of(value, kind)), "")


def is_of(value: JsonValue, kind: object) -> bool:
    """Whether a value is of a schema's type. True is no number; 3.0 is no integer as it stands."""
    accepted = _CLASSES.get(kind) if isinstance(kind, str) else None
    if accepted is None:
        return True  # a type that JSON schema does not know asks for nothing
    return isinstance(value, accepted) and not (value.__class__ is bool and kind in _NO_BOOLEANS)


_CLASSES: dict[str, type | tuple[type, ...]] = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "array": list,
    "object": dict,
    "null": type(None),
}
_NO_BOOLEANS = ("integer", "number")


def kinds_named(schema: Mapping[str, object]) -> list[object]:
    """What a schema's `type` names, one or several; some providers write them in capitals."""
    named = schema.get("type")
    if type(named) is str:
        return [named.lower()]
    several = [*named] if isinstance(named, list | tuple) else [] if named is None else [named]
    return [each.lower() if isinstance(each, str) else each for each in several]


def choices_of(schema: Mapping[str, object]) -> list[object] | None:
    """The values that `const` or `enum` leaves; None if there is neither."""
    if "const" in schema:
        return [schema["const"]]
    listed = schema.get("enum")
    return [*listed] if isinstance(listed, list | tuple) else None


def bent(value: JsonValue, kind: object) -> JsonValue | Unbent:
    """`value` as that type, if nothing is lost by it."""
    match kind, value:
        case "null", str() if value.strip().lower() == "none":
            return UNBENT  # a guess: the word may be meant as it stands
        case _, str():
            return of_text(value, kind)
        case "integer", float() if value.is_integer() and abs(value) < 2**53:
            return int(value)
        case "string", bool():
            return UNBENT
        case "string", int() if value.bit_length() <= 3 * MAX_DIGITS:
            return str(value)
    return UNBENT


def of_text(text: str, kind: object) -> JsonValue | Unbent:
    """What a text says when it is a value of that type written out: "3", "true", "[1]"."""
    match kind:
        case "array" | "object":
            inner = read_json(text) if text.lstrip()[:1] in ("[", "{") else None
            sound = isinstance(inner, Read) and not inner.repairs and is_of(inner.value, kind)
            return inner.value if isinstance(inner, Read) and sound else UNBENT
        case "boolean" | "null" | "integer" | "number" if len(text) <= SCALAR_TEXT:
            return _of_word(text.strip(), kind)
    return UNBENT


def _of_word(word: str, kind: str) -> JsonValue | Unbent:
    if kind in _WORDS:
        return _WORDS[kind].get(word.lower(), UNBENT)
    if _INTEGER.fullmatch(word):
        return int(word)
    if kind == "number" and _NUMBER.fullmatch(word):
        number = float(word)
        return number if isfinite(number) else UNBENT
    return UNBENT


_REPR = Repr()
_REPR.maxstring = _REPR.maxlong = _REPR.maxother = SHOWN_VALUE
_REPR.maxlevel = 2
_PLAIN = frozenset({bool, float, type(None)})
_LARGE = 10**18


def shown(value: object) -> str:
    """A value for people: its beginning, at a bounded cost."""
    if _is_short(value):
        text = repr(value)
        if len(text) <= SHOWN_VALUE:
            return text
    try:
        return _cut(_REPR.repr(value))
    except (ValueError, TypeError):  # an integer beyond Python's limit; keys of no order
        return f"a {type(value).__name__}"


def _is_short(value: object) -> bool:
    """Whether all of a value can be shown at no cost, if it has no escapes."""
    if type(value) is str:
        return len(value) <= SHOWN_VALUE
    if type(value) is int:  # Python turns none into text that is beyond its limit
        return -_LARGE < value < _LARGE
    return type(value) in _PLAIN


def _cut(text: str) -> str:
    return text if len(text) <= SHOWN_VALUE else text[: SHOWN_VALUE - 3] + "..."
