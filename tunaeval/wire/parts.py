"""Reads the parts of messages by tables: what each kind of part is, and which fields it has.

An API or a framework whose messages consist of parts is described by `Kinds`, from a part's kind to
a word such as `Text` or `CallFields`; `parts_of` reads its messages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

from tunaeval.showing import brief
from tunaeval.types.calls import JsonValue

from .fields import first, get, json_words, listed, word
from .values import Part, PartKind


class Text(NamedTuple):
    """Text, reasoning or a refusal, in the first of `fields` that is there; `role` overrides the
    role of the message.
    """

    fields: tuple[str, ...]
    role: str | None = None
    kind: PartKind = "text"


class CallFields(NamedTuple):
    """A call; the values are the names of the fields for its name, arguments and id."""

    name: str
    arguments: str
    id: str
    hosted: bool = False


class ResultFields(NamedTuple):
    """A result; `id` and `content` name the part's fields, and `is_error` overrides the part's."""

    id: str
    content: tuple[str, ...]
    is_error: bool | None = None


class Media(NamedTuple):
    """Media, of which the message contains only the kind, in brackets."""


class Silent(NamedTuple):
    """A part that adds nothing to the message."""


Word: TypeAlias = Text | CallFields | ResultFields | Media | Silent
Kinds: TypeAlias = Mapping[str, Word]
Wanted: TypeAlias = Mapping[str, Mapping[str, Any]]
"""For each type of part, the classes of the fields that parts of this type have."""

_WORDS: Mapping[str, Callable[..., Word]] = {
    "text": lambda *fields: Text(fields),
    "thought": lambda *fields: Text(fields, kind="thought"),
    "refusal": lambda *fields: Text(fields, kind="refusal"),
    "call": CallFields,
    "hosted": lambda name, arguments, id_: CallFields(name, arguments, id_, hosted=True),
    "result": lambda id_, *content: ResultFields(id_, content),
    "media": Media,
    "silent": Silent,
}


def kinds_of(table: Mapping[str, Any]) -> Kinds:
    """Return the words of parts by kind, from a table that has the kinds of each word."""
    return {
        kind: _WORDS[word](*(kinds[kind] if isinstance(kinds, Mapping) else ()))
        for word, kinds in table.items()
        for kind in kinds
    }


KIND_KEYS = ("type", "part_kind", "kind", "block_type")
"""The fields that may contain a part's kind."""


def parts_of(
    content: JsonValue, kinds: Kinds, path: str = "", wanted: Wanted | None = None
) -> Iterator[Part]:
    """Yield the parts of a content: a text, a list of parts, or any other value as JSON. `path` is
    the content's JSON Pointer.
    """
    if isinstance(content, str):
        yield Part("text", content, given=content, path=path)
    elif isinstance(content, list | tuple):
        for index, part in enumerate(content):
            here = f"{path}/{index}"
            if isinstance(part, str):
                yield Part("text", part, given=part, path=here)
            elif part is None:
                yield Part("silent", path=here)
            else:
                kind = word(first(part, KIND_KEYS))
                yield part_of(part, kind, kinds.get(kind), kinds, path=here, wanted=wanted)
    elif content is not None:
        yield Part("text", json_words(content), given=content, path=path)


def part_of(
    part: object,
    kind: str,
    meant: Word | None,
    kinds: Kinds,
    *,
    path: str = "",
    wanted: Wanted | None = None,
) -> Part:
    """Return one part; `meant` is its word in the table, None if its kind is unknown."""
    if kind == "compaction":
        text = words_of(first(part, ("content", "summary")), kinds)
        return Part("summary", text, type=kind, given=part, path=path)
    lacks = missing(part, wanted[kind]) if wanted and kind in wanted else ()
    match meant:
        case Text(fields, role, what):
            text = words_of(first(part, fields), kinds)
            return Part(what, text, type=kind, given=part, path=path, missing=lacks, role=role)
        case CallFields(name, arguments, call_id, hosted):
            return Part(
                "call", "", get(part, name), get(part, arguments), get(part, call_id),
                type=kind, given=part, path=path, missing=lacks, hosted=hosted,
            )  # fmt: skip
        case ResultFields(call_id, content, is_error):
            return result_of(
                part, get(part, call_id), first(part, content), kinds,
                is_error=declared(part) if is_error is None else is_error,
                type_=kind, path=path, missing_=lacks,
            )  # fmt: skip
        case Media():
            return Part("media", f"[{kind}]", type=kind, given=part, path=path, missing=lacks)
        case Silent():
            return Part("silent", type=kind, given=part, path=path)
    text = get(part, "text")
    if not kind and isinstance(text, str):
        return Part("text", text, given=part, path=path)
    words = text if isinstance(text, str) else json_words(part)
    return Part("unknown", words, type=kind, given=part, path=path)


def result_of(
    part: object,
    call_id: JsonValue,
    content: JsonValue,
    kinds: Kinds,
    *,
    is_error: bool | None,
    type_: str = "",
    path: str = "",
    missing_: tuple[str, ...] = (),
) -> Part:
    """Return a tool's result as a part."""
    return Part(
        "result", result_words(content, kinds), id=call_id, is_error=is_error, content=content,
        type=type_, given=part, path=path, missing=missing_,
    )  # fmt: skip


def unknown_words(part: Part) -> str:
    """Return what a notice says of a part whose kind is unknown."""
    return f"of kind {brief(part.type)}" if part.type else brief(part.given)


def missing(thing: object, wanted: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of fields that are not there, or of another class than the wanted one."""
    return tuple(name for name, kind in wanted.items() if not isinstance(get(thing, name), kind))


def words_of(value: JsonValue, kinds: Kinds) -> str:
    """Return a value as text: the texts of its parts, or JSON if it has no parts."""
    if value is None or isinstance(value, str):
        return value or ""
    texts = [_text_of(part, kinds) for part in listed(value)]
    if isinstance(value, list | tuple) and None not in texts:
        return "".join(text for text in texts if text)
    return json_words(value)


def result_words(value: JsonValue, kinds: Kinds) -> str:
    """Return a tool's result as text; a list with strings is its value as JSON, not its parts."""
    if any(isinstance(item, str) for item in listed(value)):
        return json_words(value)
    return words_of(value, kinds)


def _text_of(part: object, kinds: Kinds) -> str | None:
    """Return the text of a part, or None if the part is not text."""
    if isinstance(part, str):
        return part
    kind = word(first(part, KIND_KEYS))
    match kinds.get(kind):
        case Text(fields, kind="text" | "refusal"):
            text = first(part, fields)
            return text if isinstance(text, str) else None
        case Media():
            return f"[{kind}]"
    return None


_FAILED = frozenset({
    "error", "failed", "failure", "denied", "declined", "retried", "interrupted", "cancelled",
    "incomplete",
})  # fmt: skip
_FINE = frozenset({"success", "completed", "ok"})
"""Values of a result's `status` or `outcome`."""


def declared(result: object) -> bool | None:
    """Return whether a result declares itself an error; None if it declares nothing."""
    for key in ("is_error", "isError"):
        value = get(result, key)
        if isinstance(value, bool):
            return value
    for key in ("status", "outcome"):
        value = word(get(result, key)).lower()
        if value in _FAILED or value in _FINE:
            return value in _FAILED
    return True if get(result, "error") else None
