"""How a value is shown to people: in a line, in a notebook, in messages.

What a model wrote may be in any of it. So a line is of printable characters alone, and the one
function that makes markup escapes every text that it is given.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from reprlib import Repr
from typing import Protocol, TypeVar

T = TypeVar("T")

_LINE = 300
"""Characters of a repr."""
_CELL = 200
"""Characters of a cell of a table."""
_ROWS = 10
"""Rows of a table."""


class _Shown(Protocol):
    def _in_short(self) -> str: ...
    def _in_rows(self) -> Iterable[Sequence[str]]: ...


def shows(kind: type[T]) -> type[T]:
    """Give a class a short repr, and a small table for a notebook.

    The class says what they are of: `_in_short` a line, `_in_rows` the cells of each row. No class
    to inherit from, so that the layout of a slotted class stays its own.
    """
    for name in ("__repr__", "__str__"):
        setattr(kind, name, _line)
    return shows_table(kind)


def shows_table(kind: type[T]) -> type[T]:
    """The table alone, for a class whose repr tells one value from another in full."""
    kind._repr_html_ = _table  # type: ignore[attr-defined] # what notebooks ask for
    return kind


def _line(self: _Shown) -> str:
    return f"<{visible(self._in_short(), _LINE)}>"


def _table(self: _Shown) -> str:
    return table_html(self._in_short(), self._in_rows())


def table_html(title: str, rows: Iterable[Sequence[str]]) -> str:
    """A caption, and the first rows, of text alone; what is left out is said."""
    remaining = iter(rows)
    body = [_row(row) for row in islice(remaining, _ROWS)]
    more = sum(1 for _ in remaining)
    body += [_row(("…", f"and {more} more"))] if more else []
    return f"<table><caption>{_text(title, _LINE)}</caption>{''.join(body)}</table>"


def _row(cells: Sequence[str]) -> str:
    return f"<tr>{''.join(f'<td>{_text(cell, _CELL)}</td>' for cell in cells)}</tr>"


def _text(text: str, limit: int) -> str:
    from html import escape  # noqa: PLC0415 - a parse shows no table

    return escape(visible(text, limit))


def visible(text: str, limit: int | None = None) -> str:
    r"""`text` on one line, with everything unprintable written as an escape (\n, \x1b, \u202e).

    That takes in control characters, ANSI sequences, bidirectional marks, line separators,
    zero-width characters and lone surrogates. So is a colon that would begin a command to GitHub's
    runner (`::error::`), which obeys such lines of a log. Past `limit` characters the rest is an
    ellipsis; what is far beyond the limit is not looked at.
    """
    cut = limit is not None and len(text) > limit
    if limit is not None:
        text = text[: limit + 1]
    if not text.isprintable():
        text = "".join(c if c.isprintable() else _escaped(c) for c in text)
    if text.lstrip(" ").startswith("::"):
        text = text.replace(":", r"\x3a", 1)
    if limit is not None and (cut or len(text) > limit):
        text = f"{text[: max(limit - 1, 0)]}…"
    return text


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


class _Short(Repr):
    """Short, and safe for whatever a model writes: any depth, any length, any integer."""

    def __init__(self) -> None:
        super().__init__()
        self.maxstring = self.maxother = 60

    def repr_int(self, x: int, level: int) -> str:
        del level
        return repr(x) if x.bit_length() <= 256 else f"(an integer of {x.bit_length()} bits)"


def shown(value: object) -> str:
    """A value for people, in at most about 60 characters a part."""
    return _SHORT.repr(value)


_SHORT = _Short()


def brief(value: object, limit: int = 60) -> str:
    """The beginning of a value's repr, and something in its place where there is none: of what is
    nested too deeply, of an integer of too many digits, of an object whose repr fails.
    """
    try:
        return repr(value)[:limit]
    except Exception:  # noqa: BLE001 - whatever the value's own code raises
        return shown(value)[:limit]


def short_call(name: str, arguments: Mapping[str, object]) -> str:
    """A call as it would be typed, in short."""
    return f"{name}({', '.join(f'{key}={shown(value)}' for key, value in arguments.items())})"


def counted(number: int, noun: str, nouns: str | None = None) -> str:
    """So many of them: "1 call", "2 calls"; `nouns` where an s alone makes no plural."""
    return f"{number:,} {noun if number == 1 else nouns or f'{noun}s'}"
