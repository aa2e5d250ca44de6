"""The vocabulary for the parts of a message, and the reader of messages made of parts.

A framework whose messages consist of parts is described by a table, `Kinds`, from a part's kind to
one of these words; `read_content` reads its messages.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple, TypeAlias

from tunaeval.showing import brief
from tunaeval.types.calls import JsonValue

from .fields import declared, first, get, identifier, json_words, listed, shown, word
from .reading import Reading


class Text(NamedTuple):
    """Text, in the first of `fields` that is there; `role` overrides the role of the message."""

    fields: tuple[str, ...]
    role: str | None = None


class Thought(NamedTuple):
    """Reasoning, in the first of `fields` that is there."""

    fields: tuple[str, ...]


class Call(NamedTuple):
    """A call; the values are the names of the fields for its name, arguments and id."""

    name: str
    arguments: str
    id: str


class Result(NamedTuple):
    """A result; `id` and `content` name the part's fields, and `is_error` overrides the part's."""

    id: str
    content: tuple[str, ...]
    is_error: bool | None = None


class Media(NamedTuple):
    """Media, of which the message contains only the kind, in brackets."""


class Silent(NamedTuple):
    """A part that adds nothing to the message."""


Word: TypeAlias = Text | Thought | Call | Result | Media | Silent
Kinds: TypeAlias = Mapping[str, Word]

KIND_KEYS = ("type", "part_kind", "kind")
"""The fields that may contain a part's kind."""


def read_content(content: JsonValue, kinds: Kinds, reading: Reading) -> None:
    """Add content to the open message: text, a list of parts, or any other value as JSON."""
    if isinstance(content, str):
        reading.text(content)
    elif isinstance(content, list | tuple):
        read_parts(content, kinds, reading)
    elif content is not None:
        reading.text(json_words(content))


def read_parts(parts: Iterable[object], kinds: Kinds, reading: Reading) -> None:
    """Add parts to the open message, in order."""
    for part in parts:
        if isinstance(part, str):
            reading.text(part)
        elif part is not None:
            kind = word(first(part, KIND_KEYS))
            read_part(part, kind, kinds.get(kind), kinds, reading)


def read_part(part: object, kind: str, meant: Word | None, kinds: Kinds, reading: Reading) -> None:
    """Add one part to the open message; `meant` is its word in the table, None if unknown."""
    match meant:
        case Text(fields, role):
            reading.text(words_of(first(part, fields), kinds), role)
        case Thought(fields):
            reading.thought(words_of(first(part, fields), kinds))
        case Call(name, arguments, call_id):
            reading.call(get(part, name), get(part, arguments), get(part, call_id))
        case Result(call_id, content, is_error):
            failed = declared(part) if is_error is None else is_error
            text = result_words(first(part, content), kinds)
            reading.result(identifier(get(part, call_id)), text, failed)
        case Media():
            reading.text(f"[{kind}]")
        case None:
            _read_unknown(part, kind, reading)


def _read_unknown(part: object, kind: str, reading: Reading) -> None:
    text = get(part, "text")
    if kind or not isinstance(text, str):
        named = f"of kind {brief(kind)}" if kind else shown(part)
        reading.notice("unknown-part", f"a part {named} is kept as content")
    reading.text(text if isinstance(text, str) else json_words(part))


def words_of(value: JsonValue, kinds: Kinds) -> str:
    """Return a value as text: the texts of its parts, or JSON if it has no parts."""
    if value is None or isinstance(value, str):
        return value or ""
    texts = [_text_of(part, kinds) for part in listed(value)]
    if isinstance(value, list | tuple) and None not in texts:
        return "".join(text for text in texts if text)
    return json_words(value)


def result_words(value: JsonValue, kinds: Kinds) -> str:
    """Return a result as text; a list of bare strings is a returned value, not parts."""
    if any(isinstance(item, str) for item in listed(value)):
        return json_words(value)
    return words_of(value, kinds)


def _text_of(part: object, kinds: Kinds) -> str | None:
    """Return the text of a part, or None if the part is not text."""
    if isinstance(part, str):
        return part
    kind = word(first(part, KIND_KEYS))
    match kinds.get(kind):
        case Text(fields):
            text = first(part, fields)
            return text if isinstance(text, str) else None
        case Media():
            return f"[{kind}]"
    return None
