"""How many results may lack an answer before a run is not judged, or not ranked."""

from __future__ import annotations

import math
from typing import NamedTuple

from .wanted import refusal


class ErrorBudget(NamedTuple):
    """The most failures that are tolerated: a number, or a percentage of all results."""

    most: float = 0
    is_percentage: bool = False

    @classmethod
    def read(cls, value: object) -> ErrorBudget:
        """Return the budget that "3", 3 or "5%" means. Raises UsageError."""
        try:
            text = str(value).strip()
            number = float(text.removesuffix("%"))
        except ValueError:
            text, number = "", -1.0
        is_percentage = text.endswith("%")
        top = 100.0 if is_percentage else math.inf
        if not 0 <= number <= top or not (is_percentage or number.is_integer()):
            raise refusal(
                "the error budget",
                value,
                "the most failures that are allowed: a whole number such as 3, or a percentage "
                "such as '5%'",
            )
        return cls(number, is_percentage)

    def allows(self, failed: int, of: int) -> bool:
        """Whether `failed` failures in `of` results are within the budget."""
        return failed * 100 <= self.most * of if self.is_percentage else failed <= self.most

    def __str__(self) -> str:
        return f"{self.most:.15g}{'%' if self.is_percentage else ''}"
