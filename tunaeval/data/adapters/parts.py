"""The words that say what the parts of a message are, and the reader of any message made of parts.

A shape whose messages have lists of parts is a table from a part's kind to one of these words; who
knows the table can read the message.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple, TypeAlias

from tunaeval.showing import brief
from tunaeval.types.calls import JsonValue

from .fields import declared, first, get, identifier, json_words, listed, shown, word
from .reading import Reading


class Text(NamedTuple):
    """Text, in the first of these fields that is there; said by `role` if not by the message's."""

    fields: tuple[str, ...]
    role: str | None = None


class Thought(NamedTuple):
    """Reasoning, likewise."""

    fields: tuple[str, ...]


class Call(NamedTuple):
    """A call: the fields of its name, arguments and id."""

    name: str
    arguments: str
    id: str


class Result(NamedTuple):
    """A result: the fields of the call's id and of its content; always an error if so."""

    id: str
    content: tuple[str, ...]
    is_error: bool | None = None


class Media(NamedTuple):
    """What is no text; its kind stands for it, in brackets."""


class Silent(NamedTuple):
    """Nothing that is not said elsewhere."""


Word: TypeAlias = Text | Thought | Call | Result | Media | Silent
Kinds: TypeAlias = Mapping[str, Word]

KIND_KEYS = ("type", "part_kind", "kind")
"""Where a part says what it is."""


def read_content(content: JsonValue, kinds: Kinds, reading: Reading) -> None:
    """Put a message's content into it: text, a list of parts, or a result left undecoded."""
    if isinstance(content, str):
        reading.text(content)
    elif isinstance(content, list | tuple):
        read_parts(content, kinds, reading)
    elif content is not None:
        reading.text(json_words(content))


def read_parts(parts: Iterable[object], kinds: Kinds, reading: Reading) -> None:
    """Put parts into the open message, in order."""
    for part in parts:
        if isinstance(part, str):
            reading.text(part)
        elif part is not None:
            kind = word(first(part, KIND_KEYS))
            read_part(part, kind, kinds.get(kind), kinds, reading)


def read_part(part: object, kind: str, meant: Word | None, kinds: Kinds, reading: Reading) -> None:
    """Put one part into the open message."""
    match meant:
        case Text(fields, role):
            reading.text(words_of(first(part, fields), kinds), role)
        case Thought(fields):
            reading.thought(words_of(first(part, fields), kinds))
        case Call(name, arguments, call_id):
            reading.call(get(part, name), get(part, arguments), get(part, call_id))
        case Result(call_id, content, is_error):
            said = declared(part) if is_error is None else is_error
            text = result_words(first(part, content), kinds)
            reading.result(identifier(get(part, call_id)), text, said)
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
    """What a value says as text: parts by their texts, anything else as JSON."""
    if value is None or isinstance(value, str):
        return value or ""
    texts = [_text_of(part, kinds) for part in listed(value)]
    if isinstance(value, list | tuple) and None not in texts:
        return "".join(text for text in texts if text)
    return json_words(value)


def result_words(value: JsonValue, kinds: Kinds) -> str:
    """What a result says as text; a list of bare strings is a value that a tool gave back."""
    if any(isinstance(item, str) for item in listed(value)):
        return json_words(value)
    return words_of(value, kinds)


def _text_of(part: object, kinds: Kinds) -> str | None:
    """The text of a part; None when it is no part of a text."""
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
