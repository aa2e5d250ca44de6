"""A report or a suite in a line, for a prompt and for logs, and as a small table for a notebook."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from .rates import Rate

_ROWS = 10
"""Scenarios of a suite that a notebook shows."""


def rate_words(rate: Rate) -> str:
    """Passed, of how many, and how sure that is."""
    words = f"{rate.passed} of {rate.total} passed"
    if rate.value is None or rate.low is None or rate.high is None:
        return words
    return f"{words}, {100 * rate.value:.1f} % ({100 * rate.low:.1f} to {100 * rate.high:.1f})"


def rates_html(title: str, rates: Iterable[tuple[str, Rate]]) -> str:
    """Rates by name as a table; every text is escaped."""
    return _table(title, ((name, rate_words(rate)) for name, rate in rates))


def rows_html(title: str, rows: Sequence[tuple[str, str]]) -> str:
    """The first rows of many as a table; every text is escaped."""
    more = len(rows) - _ROWS
    left = [("…", f"and {more} more")] if more > 0 else []
    return _table(title, (*rows[:_ROWS], *left))


def _table(title: str, rows: Iterable[tuple[str, str]]) -> str:
    body = "".join(f"<tr><td>{escape(one)}</td><td>{escape(two)}</td></tr>" for one, two in rows)
    return f"<table><caption>{escape(title)}</caption>{body}</table>"
