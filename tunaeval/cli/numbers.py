"""Parsers of numbers in options, which check bounds and explain a refusal."""

from __future__ import annotations

import math
from argparse import ArgumentTypeError
from collections.abc import Callable


def whole_number(least: int, most: int | None = None) -> Callable[[str], int]:
    """Return a function that reads a whole number within these bounds."""
    bounds = f"{least} or more" if most is None else f"{least} to {most}"

    def read(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            number = least - 1
        if number < least or (most is not None and number > most):
            raise ArgumentTypeError(f"found {text!r}; wanted a whole number, {bounds}")
        return number

    return read


POSITIVE = whole_number(1)


def any_whole_number(text: str) -> int:
    """Read a whole number of either sign."""
    try:
        return int(text)
    except ValueError:
        raise ArgumentTypeError(f"found {text!r}; wanted a whole number") from None


def seconds(text: str) -> float:
    """Read a time in seconds above 0; infinity is allowed."""
    number = _number(text)
    if not number > 0:  # true for NaN, too
        raise ArgumentTypeError(f"found {text!r}; wanted seconds above 0")
    return number


def above_zero(text: str) -> float:
    """Read a finite number above 0."""
    number = _number(text)
    if not 0 < number < math.inf:
        raise ArgumentTypeError(f"found {text!r}; wanted a number above 0")
    return number


def amount(text: str) -> float:
    """Read a finite number of 0 or more."""
    number = _number(text)
    if not 0 <= number < math.inf:
        raise ArgumentTypeError(f"found {text!r}; wanted a number, 0 or more")
    return number


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def percentage(text: str) -> float:
    """Read "70" or "70%" as 70.0. Below one percent, "%" is required, as 0.7 could be a share."""
    digits = text.removesuffix("%")
    try:
        number = float(digits)
    except ValueError:
        number = -1.0
    if not 0 <= number <= 100:
        raise ArgumentTypeError(f"found {text!r}; wanted a percentage from 0 to 100, as 70 or 70%")
    if 0 < number < 1 and digits == text:
        raise ArgumentTypeError(
            f"found {text!r}, which may be a share; write {100 * number:g}% for it, or {text}% for "
            "less than one percent"
        )
    return number


def share(text: str) -> float:
    """Read a percentage as a share: "2%" is 0.02."""
    return percentage(text) / 100
