"""Whether the parts of a format are what they have to be: tuples, texts, words of the grammar.

A format is a value: it is hashed and compared, so nothing in it may change.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from typing import get_args

from .words import Literal, Trim, Word

WORDS = get_args(Word)


def shape_fault(parts: Mapping[str, object]) -> str | None:
    """Why one of the named parts is not of its kind, if so; `words` are words of the grammar."""
    for name, part in parts.items():
        if fault := _tuple_fault(name, part) or _items_fault(name, part):
            return fault
    return None


def _tuple_fault(where: str, part: object) -> str | None:
    if isinstance(part, tuple):
        return None
    if isinstance(part, str):
        return f"{where} is the text {part!r}; write a tuple: ({part!r},)"
    kind = type(part).__name__
    advice = "write (..., ...)" if isinstance(part, Iterable) else "write (...,)"
    return f"{where} is {_a(kind)}, and has to be a tuple: {advice}"


def _items_fault(where: str, items: object) -> str | None:
    for index, item in enumerate(items if isinstance(items, tuple) else ()):
        place = f"{where}[{index}]"
        if where.endswith("words") and (fault := _word_fault(place, item)):
            return fault
        if fault := _fields_fault(item, place):
            return fault
    return None


def _word_fault(where: str, item: object) -> str | None:
    if isinstance(item, WORDS):
        return None
    if isinstance(item, str):
        return f"{where} is the text {item!r}; write Literal({item!r})"
    if isinstance(item, type) and issubclass(item, WORDS):
        return f"{where} is the class {item.__name__}; write {item.__name__}(...)"
    return f"{where} is {item!r}, which is no word of the grammar"


def _fields_fault(item: object, where: str) -> str | None:
    """Why a field of a word (or of what else is in a format) is not of its kind, if so."""
    if not is_dataclass(item) or isinstance(item, type):
        return None
    for field in fields(item):
        value, place = getattr(item, field.name), f"{where}.{field.name}"
        if field.type == "str" and not isinstance(value, str):
            return f"{place} is {value!r}, and has to be a text"
        if field.type == "Trim" and value not in get_args(Trim):
            return f"{place} is {value!r}; it is one of {', '.join(map(repr, get_args(Trim)))}"
        if field.type == "Literal" and not isinstance(value, Literal):
            return f"{place} is {value!r}; write Literal({value!r})"
        if str(field.type).startswith("tuple["):
            fault = _tuple_fault(place, value) or _items_fault(place, value)
            if fault := fault or _texts_fault(place, value, str(field.type)):
                return fault
    return None


def _texts_fault(where: str, value: tuple[object, ...], kind: str) -> str | None:
    """Why a tuple of texts, or of rows of texts, contains something else, if so."""
    if not kind.startswith(("tuple[str", "tuple[tuple[str")):
        return None
    for index, item in enumerate(value):
        place = f"{where}[{index}]"
        if kind.startswith("tuple[tuple"):
            if fault := _tuple_fault(place, item) or _texts_fault(place, item, "tuple[str"):  # type: ignore[arg-type]  # a tuple, as was just asked
                return fault
        elif not isinstance(item, str):
            return f"{place} is {item!r}, and has to be a text"
    return None


def _a(kind: str) -> str:
    return f"an {kind}" if kind[0] in "aeiouAEIOU" else f"a {kind}"
