"""Whether the parts of a format are what they have to be: tuples, texts, words of the grammar.

A format is a value: it is hashed and compared, so nothing in it may change. What a part has to be,
its field's annotation says: of the format, of its words, and of what else is in it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import Field, fields
from typing import Any, get_args

from tunaeval.limits import MAX_FIXED

from .words import Channel, Envelope, Literal, Reasoning, Route, Trim, Word

WORDS = get_args(Word)

_KINDS: dict[str, tuple[tuple[type, ...], str]] = {
    "str": ((str,), "a text"),
    "bool": ((bool,), "True or False"),
    "Word": (WORDS, "a word of the grammar, as Literal('<call>') is"),
    "Literal": ((Literal,), "a Literal: Literal('<call>')"),
    "Reasoning": ((Reasoning,), "markers: Reasoning('<think>', '</think>')"),
    "Route": ((Route,), "a Route: Route('call', 'HEADER', 'BODY')"),
    "Envelope": ((Envelope,),
                 "an Envelope: Envelope(Literal('<m>'), (Route(...),), Literal('</m>'))"),
    "Format": ((), "a Format: tunaeval.formats.get('hermes')"),
}  # fmt: skip
"""What the annotations name: the types of it, and how it is said; of a format, the caller knows."""

_CHOICES = {"Trim": get_args(Trim), "Channel": get_args(Channel)}


_FREE = ("name", "summary", "models", "aliases")
_PATTERNS = ("pattern", "after", "header")
"""Texts of any length: what is said of a format, and patterns, which have bounds of their own."""


def shape_fault(form: object, kind: type) -> str | None:
    """Why a field of the format, whose type is `kind`, is not what it has to be, if so."""
    return _fields_fault(form, "", kind)


def _fields_fault(item: object, where: str, form: type) -> str | None:
    """Why a field of a word (or of what else is in a format) is not of its kind, if so."""
    parts: tuple[Field[Any], ...] = fields(item)  # type: ignore[arg-type]  # all kinds but texts and bools are dataclasses
    for field in parts:
        place = f"{where}.{field.name}" if where else field.name
        if fault := _fault(getattr(item, field.name), place, str(field.type), form):
            return fault
    return None


def _fault(value: object, place: str, kind: str, form: type) -> str | None:
    """Why the value is not what an annotation says, if so."""
    if kind.endswith(" | None"):
        kind = kind.removesuffix(" | None")
        return None if value is None else _fault(value, place, kind, form)
    if kind.startswith("tuple["):
        inner = kind[6:-1]
        return _tuple_fault(value, place, inner) or _items_fault(value, place, inner, form)
    if kind in _CHOICES:
        known = ", ".join(map(repr, _CHOICES[kind]))
        return (
            None if value in _CHOICES[kind] else f"{place} is {value!r:.60}; it is one of {known}"
        )
    types, what = _KINDS[kind]
    if not isinstance(value, types or form):
        return _kind_fault(value, place, kind, what)
    if isinstance(value, str):
        return _length_fault(value, place)
    # What is True has no fields, and a format was asked when it was built.
    return None if kind in ("bool", "Format") else _fields_fault(value, place, form)


def _length_fault(text: str, place: str) -> str | None:
    """Why a fixed text is too long to be waited for, if so."""
    free = place.partition("[")[0] in _FREE or place.rpartition(".")[2] in _PATTERNS
    if free or len(text) <= MAX_FIXED:
        return None
    side = "; write several Literals side by side" if place.startswith("words") else ""
    return f"{place} has {len(text)} characters; a fixed text has {MAX_FIXED} at the most{side}"


def _tuple_fault(part: object, where: str, inner: str) -> str | None:
    if isinstance(part, tuple):
        return None
    if isinstance(part, str):
        return f"{where} is the text {part!r:.60}; write a tuple: {_tuple_of(part, inner)}"
    kind = type(part).__name__
    advice = "write (..., ...)" if isinstance(part, Iterable) else "write (...,)"
    return f"{where} is {_a(kind)}, and has to be a tuple: {advice}"


def _tuple_of(text: str, inner: str) -> str:
    """How a text is written in a tuple whose annotation has `inner`."""
    shown, several = f"{text!r:.60}", inner.endswith("...")
    if several and not text:
        return "()"
    match inner.removesuffix(", ..."):
        case "str":
            return f"({shown},)"
        case "str, str":
            return f"({shown}, {shown})"
        case "tuple[str, ...]":
            return f"(({shown},),)"
        case "Reasoning":
            return f"(Reasoning({shown}, {_closing(text)!r:.60}),)"
        case "Literal, Literal":
            return f"(Literal({shown}), Literal({_closing(text)!r:.60}))"
        case "Word":
            return f"(Literal({shown}), ...)"
        case "Format":
            return f"(tunaeval.formats.get({shown}),)"
    return "(Route('call', 'HEADER', 'BODY'),)"


def _closing(opener: str) -> str:
    """What may close what a text opens: `</think>` for `<think>`."""
    signs = opener[: len(opener) - len(opener.lstrip("<[{(|"))]
    return f"{signs}/{opener[len(signs) :]}" if signs else f"/{opener}"


def _items_fault(items: object, where: str, inner: str, form: type) -> str | None:
    """Why a tuple is of another length, or one of its items is not of its kind, if so."""
    values = items if isinstance(items, tuple) else ()
    kind, _, last = inner.rpartition(", ")
    if last != "..." and len(values) != 2:
        return f"{where} is {values!r:.60}, and has to be two: an opener and a closer"
    faults = (_fault(value, f"{where}[{index}]", kind, form) for index, value in enumerate(values))
    return next(filter(None, faults), None)


def _kind_fault(value: object, place: str, kind: str, what: str) -> str:
    if kind in ("Word", "Literal") and isinstance(value, str):
        return f"{place} is the text {value!r:.60}; write Literal({value!r:.60})"
    if kind == "Word" and isinstance(value, type) and issubclass(value, WORDS):
        return f"{place} is the class {value.__name__}; write {value.__name__}(...)"
    return f"{place} is {value!r:.60}, and has to be {what}"


def _a(kind: str) -> str:
    return f"an {kind}" if kind[0] in "aeiouAEIOU" else f"a {kind}"
