"""A cheaper constructor for the frozen values of which a parse makes many."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, fields
from typing import Any, ParamSpec, TypeVar

T = TypeVar("T")
P = ParamSpec("P")


def cheap(cls: Callable[P, T]) -> Callable[P, T]:
    """Return a function that makes instances of `cls`, a frozen dataclass with slots.

    The constructor of a frozen dataclass calls `object.__setattr__` for each field, which for a
    short call would take as long as finding and decoding it. A twin class with the same slots is
    not frozen, and since its slots are the same, its instance may become one of `cls`. As in
    `dataclasses` the function is compiled from the names of the fields, for one that takes any
    arguments would take half as long again.
    """
    given: Any = cls
    rows = fields(given)
    names = [each.name for each in rows]
    defaults = {each.name: each.default for each in rows if each.default is not MISSING}
    head = ", ".join(f"{name}=_of[{name!r}]" if name in defaults else name for name in names)
    body = "; ".join(f"made.{name} = {name}" for name in names)
    code = f"def make({head}):\n made = twin(); {body}; made.__class__ = given\n return made\n"
    twin = type(given.__name__, (), {"__slots__": given.__slots__})
    space: dict[str, Any] = {"twin": twin, "given": given, "_of": defaults}
    exec(code, space)  # noqa: S102 - all of it is made of the names of our own fields
    return space["make"]  # type: ignore[no-any-return]  # what was compiled
