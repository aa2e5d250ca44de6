"""Copies of values that are handed to code of others, which may change whatever it gets.

A tool, a check, a judge, a client or a callback is given a copy, so that what it does to lists and
objects changes no call, no transcript, no verdict and no later request.
"""

from __future__ import annotations

from copy import copy
from functools import lru_cache
from operator import is_
from typing import Any, TypeVar

from .calls import Tools

T = TypeVar("T")

FLAT: frozenset[type] = frozenset({str, int, float, bool, type(None), bytes, complex})
"""Types of values that nobody can change."""


def copied(value: T) -> T:
    """Return a copy that shares no list, dict, set or bytearray with `value`, at any depth.

    Tuples and values of this package's own classes are copied only if they contain one of these.
    Other objects are shared, because nobody knows how to copy them. An object that occurs twice is
    copied once, and its copy occurs twice; so a cycle stays a cycle.
    """
    if type(value) in FLAT:
        return value
    top = [value]
    waiting: list[Any] = [top]
    known: dict[int, tuple[object, object]] = {}  # with the original, which has to keep its id
    while waiting:
        inside = waiting.pop()
        for place, one in inside.items() if type(inside) is dict else enumerate(inside):
            if type(one) in FLAT:
                continue
            found = known.get(id(one))
            if found is None:
                found = known[id(one)] = one, _outer(one)
                if isinstance(one, dict | list):
                    waiting.append(found[1])
            inside[place] = found[1]
    return top[0]


def _outer(value: object) -> object:
    """Return a copy of a list or dict with the same items, and a whole copy of anything else."""
    if isinstance(value, dict):
        return dict(dict.items(value))  # past what a subclass may do
    if isinstance(value, list):
        return list.copy(value)
    if isinstance(value, set | bytearray):
        return set(value) if isinstance(value, set) else bytearray(value)
    if isinstance(value, tuple):
        try:
            parts = tuple(map(copied, value))
        except RecursionError:  # hundreds of tuples inside each other
            return value
        return value if all(map(is_, parts, value)) else tuple.__new__(type(value), parts)
    if type(value) is Tools:
        return Tools(map(copied, value.values()))
    return _of_ours(value)


def _of_ours(value: object) -> object:
    """Return a value of a class of this package, with its fields copied where they can change."""
    kind: Any = type(value)
    fields = [(name, getattr(value, name, None)) for name in _fields(kind)]
    changed = [(name, new) for name, old in fields if (new := copied(old)) is not old]
    if changed:
        value = copy(value)
        for name, new in changed:
            object.__setattr__(value, name, new)  # the classes are frozen
    return value


@lru_cache(maxsize=512)
def _fields(kind: type) -> tuple[str, ...]:
    """Return the fields of a dataclass or model of this package; none for any other class."""
    for layer in kind.__mro__:
        if str(layer.__module__).startswith("tunaeval."):
            if fields := getattr(kind, "__pydantic_fields__", None):
                return (*fields, "__pydantic_extra__")
            return tuple(getattr(kind, "__dataclass_fields__", ()))
    return ()
