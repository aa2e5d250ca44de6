"""What a caller gives, compared with what is wanted: one sentence where it is something else.

Each function takes the value and the name that the caller knows it by, and returns the value in
the shape that work goes on with.
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
    """A path, of a string or of what is one. Raises UsageError."""
    path = any_path(value, name)
    if "\0" in str(path):
        raise refusal(name, str(path), "a path without NUL, which no file has in its name")
    return path


def any_path(value: object, name: str) -> Path:
    """The same, of a name too that no file can have: what writes there says so."""
    from pathlib import Path  # noqa: PLC0415 - a parse asks for no paths

    if isinstance(value, str | os.PathLike):
        return Path(os.fsdecode(value))
    raise refusal(name, value, "a path, as a string or a Path")


def wanted_items(
    values: Iterable[T], name: str, kind: type | UnionType, items: str
) -> tuple[T, ...]:
    """All of an iterable, each of one kind, called `items` in the error. Raises UsageError.

    One string is no list of strings, nor a mapping one of its keys.
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
    """A whole number from `least` up. Raises UsageError."""
    if type(value) is not int or value < least:
        raise refusal(name, value, f"a whole number, {least} or more")
    return value


def wanted_seconds(value: object, name: str) -> float:
    """A time to wait, above 0; infinity is one. Raises UsageError."""
    if not _is_number(value) or not value > 0:
        raise refusal(name, value, "seconds above 0")
    return value


def wanted_amount(value: object, name: str) -> float:
    """A finite number from 0 up. Raises UsageError."""
    if not _is_number(value) or not 0 <= value < math.inf:
        raise refusal(name, value, "a number from 0 up")
    return value


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def wanted_name(value: object, kind: str, known: Collection[str]) -> str:
    """A name among those that are known. Raises UnknownNameError."""
    if not isinstance(value, str) or value not in known:
        raise UnknownNameError(kind, value, known)
    return value


def refusal(name: str, value: object, what: str) -> UsageError:
    """The error that says what was found, and what was wanted."""
    return UsageError(f"{name} is {brief(value)}; wanted {what}")
