"""Checks of a caller's arguments, which raise UsageError with one sentence.

Each function takes the value and the parameter's name, and returns the value in the shape that the
code works with.
"""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Iterable, Mapping
from types import UnionType
from typing import TYPE_CHECKING, TypeGuard, TypeVar

from tunaeval.errors import UnknownNameError, UsageError
from tunaeval.showing import brief

if TYPE_CHECKING:
    from pathlib import Path

T = TypeVar("T")


def wanted_path(value: object, name: str) -> Path:
    """Return a string or path-like object as a Path. Raise UsageError for anything else."""
    path = any_path(value, name)
    if "\0" in str(path):
        raise refusal(name, str(path), "a path without NUL, which no file has in its name")
    return path


def any_path(value: object, name: str) -> Path:
    """Like `wanted_path`, but accept a name with NUL; writing to that path reports the fault."""
    from pathlib import Path  # noqa: PLC0415 - a parse needs no paths

    if isinstance(value, str | os.PathLike):
        return Path(os.fsdecode(value))
    raise refusal(name, value, "a path, as a string or a Path")


def wanted_items(
    values: Iterable[T], name: str, kind: type | UnionType, items: str
) -> tuple[T, ...]:
    """Return the items of an iterable, all of them of `kind`; the error calls them `items`. Raise
    UsageError for other values, and for a single string or a mapping, though these can be iterated.
    """
    wanted = f"{items}, in a list"
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        hint = f"; write [{brief(values)}]" if isinstance(values, kind) else ""
        raise refusal(name, values, wanted + hint)
    found = tuple(values)
    for index, one in enumerate(found):
        if not isinstance(one, kind):
            raise refusal(f"{name}[{index}]", one, wanted)
    return found


def wanted_count(value: object, name: str, least: int = 1) -> int:
    """Return the value, a whole number of `least` or more. Raise UsageError for any other."""
    if type(value) is not int or value < least:
        raise refusal(name, value, f"a whole number, {least} or more")
    return value


def wanted_seconds(value: object, name: str) -> float:
    """Return the value, seconds above 0, also infinity. Raise UsageError for any other."""
    if not _is_number(value) or not value > 0:
        raise refusal(name, value, "seconds above 0")
    return value


def wanted_amount(value: object, name: str) -> float:
    """Return the value, a finite number of 0 or more. Raise UsageError for any other."""
    if not _is_number(value) or not 0 <= value < math.inf:
        raise refusal(name, value, "a number from 0 up")
    return value


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def wanted_name(value: object, kind: str, known: Collection[str]) -> str:
    """Return the value, one of the known names. Raise UnknownNameError for any other."""
    if not isinstance(value, str) or value not in known:
        raise UnknownNameError(kind, value, known)
    return value


def refusal(name: str, value: object, what: str) -> UsageError:
    """Return the error to raise for a parameter's value: "NAME is VALUE; wanted WHAT"."""
    return UsageError(f"{name} is {brief(value)}; wanted {what}")
