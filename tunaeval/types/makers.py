"""A cheaper constructor for the frozen values of which a parse makes many."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field, fields, make_dataclass
from typing import Any, ParamSpec, TypeVar

T = TypeVar("T")
P = ParamSpec("P")


def cheap(cls: Callable[P, T]) -> Callable[P, T]:
    """Return a function that makes instances of `cls`, a frozen dataclass with slots, in less time.

    The constructor of a frozen dataclass calls `object.__setattr__` for each field; for a short
    call that takes as long as finding and decoding it. A twin class that is not frozen has the same
    slots, so its instances can become instances of `cls`.
    """
    given: Any = cls
    rows = [
        (each.name, each.type, field(default=each.default, default_factory=each.default_factory))
        for each in fields(given)
    ]

    def become(made: Any) -> None:
        made.__class__ = given

    space = {"__post_init__": become}
    twin: Any = make_dataclass(given.__name__, rows, slots=True, namespace=space)
    return twin  # type: ignore[no-any-return]  # its instances become instances of `cls`
