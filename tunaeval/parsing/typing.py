"""Bare text to a value, by the tool's schema, an attribute or what it looks like; and back.

Where a format's values are bare text, typing them is reading, not repairing. Only the text itself
is read here; whether the value fits the schema, and what has to be changed in it, is decided once
the call is whole, with the path from its top.
"""

from __future__ import annotations

import json

from tunaeval.errors import UsageError
from tunaeval.grammar import Value
from tunaeval.repair import ANY, UNBENT, Read, admitted, kind_of, of_text, read_json, scan
from tunaeval.types import JsonValue, Tools

_ENTITIES = {
    "&quot;": '"',
    "&#34;": '"',
    "&apos;": "'",
    "&#39;": "'",
    "&lt;": "<",
    "&gt;": ">",
    "&amp;": "&",
}
"""The character of each entity; `&` is last, as it may begin another that is meant literally."""

_WORDS = ("null", "boolean", "number", "integer")
_NESTED = ("array", "object")


def typed(text: str, schema: object, kind: str | None, root: object = None) -> Read:
    """Return the value of `text`, read like a JSON value with its repairs and notes.

    `kind` is "text" or "json" where the format says which it is, `schema` is the argument's schema,
    and `root` the schema that its references lead into. A text stays one where the schema admits no
    other type. Where it admits others beside it, it stays one unless all of it is a value of such a
    type, spelled exactly: 7, true, null, [1]. Without a schema, a number, true, false, null, an
    object or an array is what it looks like, and anything else is a text.
    """
    if kind == "text":
        return Read(text)
    wanted = ANY if kind == "json" else admitted(schema, schema if root is None else root)
    if wanted == ANY:
        return _as_it_looks(text)
    if "string" not in wanted:
        return _written(text, wanted)
    return _spelled(text, wanted) if len(wanted) > 1 and text == text.strip() else Read(text)


def _written(text: str, wanted: frozenset[str]) -> Read:
    """Return the value where the schema admits no text, so that what looks like a value is one."""
    for word in _WORDS:
        if word in wanted and (value := of_text(text, word)) is not UNBENT:
            return Read(value)
    if not wanted.isdisjoint(_NESTED) and text.lstrip()[:1] in ("{", "["):
        inner = read_json(text)
        if isinstance(inner, Read):
            return inner
    return _as_it_looks(text)


def stays_text(schema: object, kind: str | None, root: object) -> bool:
    """Return whether `typed` returns any text as it is."""
    return kind == "text" or (kind is None and admitted(schema, root) == {"string"})


def _spelled(text: str, wanted: frozenset[str]) -> Read:
    """Return a value of another type than text if the text is exactly that."""
    looks = _as_it_looks(_PYTHON.get(text, text))
    return looks if kind_of(looks.value) in wanted else Read(text)


_PYTHON = {"None": "null", "True": "true", "False": "false"}


def trimmed(text: str, word: Value) -> str:
    """Return a value's text without the white space and quotes that are only around it."""
    if word.trim == "space":
        text = text.strip()
    elif word.trim != "no":
        text = _unlined(text, both=word.trim == "newlines")
    opener, closer = word.quotes
    if opener and text.startswith(opener) and text.endswith(closer):
        text = text[len(opener) : -len(closer)]
    return text


def _unlined(text: str, *, both: bool) -> str:
    """Remove the line's end on each side; if `both`, only if it is there on both."""
    end = line_end(text)
    if both and (len(text) < 2 * len(end) or not text.startswith(end) or not text.endswith(end)):
        return text
    return text.removeprefix(end).removesuffix(end)


def line_end(text: str) -> str:
    """Return how the lines around a value end, by what the value begins with."""
    return "\r\n" if text.startswith("\r\n") else "\n"


def unescaped(key: str) -> str:
    """Return a key as it is meant; `&` and `"` are written as entities, and others may be."""
    for entity, char in _ENTITIES.items():
        key = key.replace(entity, char)
    return key


def undoubled(name: str, tools: Tools | None) -> str:
    """Return `f` for a name `f.f`, if that is no tool."""
    half = name[: len(name) // 2]
    return half if name == f"{half}.{half}" and not (tools and name in tools) else name


def as_json(value: JsonValue, what: str) -> str:
    """Return the value as JSON text; raise UsageError with its name, `what`, if JSON has none."""
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(f"the value of {what!r} cannot be written as JSON: {error}") from None


def escaped(key: str) -> str:
    """Return a key with `&` and `"` as entities."""
    return key.replace("&", "&amp;").replace('"', "&quot;")


def _as_it_looks(text: str) -> Read:
    bare = text.strip()
    if not bare or bare[0] == '"':
        return Read(text)
    sound = scan(bare, 0)
    if not isinstance(sound, tuple) or sound[1] != len(bare):
        return Read(text)
    return Read(sound[0], (), sound[2])
