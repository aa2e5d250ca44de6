"""Bare text to a value, by the tool's schema, an attribute or what it looks like; and back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from tunaeval.errors import UsageError
from tunaeval.grammar import Trim
from tunaeval.repair import Note, Read, fit, read_json, scan
from tunaeval.types import JsonValue, Repair


@dataclass(frozen=True, slots=True)
class Typed:
    """A value, and what had to be mended inside its text."""

    value: JsonValue
    repairs: tuple[Repair, ...] = ()
    notes: tuple[Note, ...] = ()


def typed(text: str, schema: object, said: str | None) -> Typed:
    """The value of `text`. `said` is "text" or "json" where the format says which it is.

    Without a schema, a number, true, false, null, an object or an array is what it looks like,
    and anything else is a text.
    """
    if said == "text":
        return Typed(text)
    if said == "json" or not isinstance(schema, Mapping) or not schema:
        return _as_it_looks(text)
    wanted = types_of(schema)
    if "string" in wanted or not wanted:
        null = text.strip() in ("null", "None") and "null" in wanted
        return Typed(None if null else text) if wanted else _as_it_looks(text)
    if "null" in wanted and text.strip() in ("null", "None"):
        return Typed(None)
    if text.strip()[:1] in ("{", "["):
        inner = read_json(text)
        if isinstance(inner, Read):
            fitted = fit(inner.value, schema)
            return Typed(fitted.value, (*inner.repairs, *fitted.repairs), inner.notes)
    return Typed(fit(text, schema).value)


def stays_text(schema: object, said: str | None) -> bool:
    """Whether `typed` gives back any text as it is."""
    if said == "text":
        return True
    return said is None and isinstance(schema, Mapping) and types_of(schema) == {"string"}


def types_of(schema: Mapping[str, object]) -> set[str]:
    """The types that a schema admits, as far as it names them."""
    types = schema.get("type")
    names = {types} if isinstance(types, str) else set(types) if isinstance(types, list) else set()
    if schema.get("nullable") is True:
        names.add("null")
    for keyword in ("anyOf", "oneOf"):
        options = schema.get(keyword)
        for option in options if isinstance(options, list) else ():
            names |= types_of(option) if isinstance(option, Mapping) else set()
    return {name for name in names if isinstance(name, str)}


def trimmed(text: str, trim: Trim) -> str:
    """A value's text without what only stands around it."""
    if trim == "space":
        return text.strip()
    return text.removeprefix("\n").removesuffix("\n") if trim == "newline" else text


def unescaped(key: str) -> str:
    """A key as it is meant, where `&` and `"` are written as entities."""
    return key.replace("&quot;", '"').replace("&amp;", "&")


def as_json(value: JsonValue, what: str) -> str:
    """The value as JSON text; refused with `what` it is where JSON cannot say it."""
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise UsageError(f"the value of {what!r} cannot be written as JSON: {error}") from None


def escaped(key: str) -> str:
    """A key with `&` and `"` as entities."""
    return key.replace("&", "&amp;").replace('"', "&quot;")


def _as_it_looks(text: str) -> Typed:
    bare = text.strip()
    if not bare or bare[0] == '"':
        return Typed(text)
    sound = scan(bare, 0)
    if not isinstance(sound, tuple) or sound[1] != len(bare):
        return Typed(text)
    return Typed(sound[0], (), sound[2])
