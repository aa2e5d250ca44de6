"""A number with the name of what it counts."""

from __future__ import annotations


def number_of(count: int, thing: str, things: str | None = None) -> str:
    """`number_of(1, "row")` is "1 row", `number_of(2000, "row")` "2,000 rows".

    `things` is the plural where it has more than an "s".
    """
    return f"{count:,} {thing if count == 1 else things or f'{thing}s'}"
