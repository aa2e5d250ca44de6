"""How values are shown to people: in a line, in a notebook, in messages.

Any value may contain text that a model wrote. So a line consists of printable characters alone, and
the one function that makes markup escapes every text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from itertools import islice
from reprlib import Repr
from typing import Protocol, TypeVar

T = TypeVar("T")

_LINE = 300
"""The most characters of a repr."""
_CELL = 200
"""The most characters of a table's cell."""
_ROWS = 10
"""The most rows of a table."""


class _Shown(Protocol):
    def _in_short(self) -> str: ...
    def _in_rows(self) -> Iterable[Sequence[str]]: ...


def shows(kind: type[T]) -> type[T]:
    """Give a class a short repr, and a small table for notebooks. The class provides `_in_short`, a
    line, and `_in_rows`, the cells of each row. This is a decorator, as a base class would change
    the layout of a class with slots.
    """
    for name in ("__repr__", "__str__"):
        setattr(kind, name, _line)
    return shows_table(kind)


def shows_table(kind: type[T]) -> type[T]:
    """Give a class only the table of `shows`, for classes whose repr must distinguish values."""
    kind._repr_html_ = _table  # type: ignore[attr-defined] # notebooks look for this name
    return kind


def _line(self: _Shown) -> str:
    return f"<{visible(self._in_short(), _LINE)}>"


def _table(self: _Shown) -> str:
    return table_html(self._in_short(), self._in_rows(), getattr(self, "_HEADS", ()))


def shows_keywords(
    function: Callable[..., object],
    kinds: Mapping[str, object],
    usual: Mapping[str, object],
    *,
    more: bool = False,
) -> None:
    """Let `help` show keywords that a function takes as `**` of a typed dictionary, with their
    annotations (`kinds`) and their values if they are not given; with `more` it takes others, too.
    """
    from inspect import Parameter, signature  # noqa: PLC0415 - a parse needs no signature

    *own, rest = (found := signature(function)).parameters.values()
    named = [Parameter(name, Parameter.KEYWORD_ONLY, default=usual[name], annotation=kind)
             for name, kind in kinds.items()]  # fmt: skip
    shown = found.replace(parameters=[*own, *named, *([rest] if more else [])])
    function.__signature__ = shown  # type: ignore[attr-defined]  # `inspect` looks for this name


def table_html(title: str, rows: Iterable[Sequence[str]], heads: Sequence[str] = ()) -> str:
    """Return an HTML table with a caption and the first ten rows; a last row counts the others."""
    remaining = iter(rows)
    body = [_row(row) for row in islice(remaining, _ROWS)]
    if body and heads:
        body.insert(0, _row(heads).replace("td>", "th>"))
    more = sum(1 for _ in remaining)
    body += [_row(("…", f"and {more} more"))] if more else []
    return f"<table><caption>{_text(title, _LINE)}</caption>{''.join(body)}</table>"


def _row(cells: Sequence[str]) -> str:
    return f"<tr>{''.join(f'<td>{_text(cell, _CELL)}</td>' for cell in cells)}</tr>"


def _text(text: str, limit: int) -> str:
    from html import escape  # noqa: PLC0415 - a parse shows no table

    return escape(visible(text, limit))


def visible(text: str, limit: int | None = None) -> str:
    r"""Return `text` on one line, with everything unprintable written as an escape (\n, \x1b,
    \u202e).

    That includes control characters, ANSI sequences, bidirectional marks, line separators,
    zero-width characters and lone surrogates. A colon that begins a command for GitHub's runner
    (`::error::`), which obeys such lines of a log, is escaped, too. Past `limit` characters the
    text ends in an ellipsis, and what is far beyond is not looked at.
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
    """Short reprs of values of any depth and length, with integers of any size."""

    def __init__(self, maxstring: int) -> None:
        super().__init__()
        self.maxstring, self.maxlevel, self.maxlong = maxstring, 3, _TEXT

    def repr_int(self, x: int, level: int) -> str:
        bits = x.bit_length()
        return super().repr_int(x, level) if bits <= _BITS else f"(an integer of {bits} bits)"

    def repr_instance(self, x: object, level: int) -> str:
        """Return the repr, and raise what it raises: `Repr` would show the object's address."""
        del level
        return repr(x)

    def repr_dict(self, x: dict[object, object], level: int) -> str:
        """Return the first keys in their own order: `Repr` would sort all of them."""
        few = {} if level <= 0 else dict(islice(x.items(), self.maxdict))
        pairs = [f"{self.repr1(key, level - 1)}: {self.repr1(few[key], level - 1)}" for key in few]
        return f"{{{', '.join([*pairs, *['...'] * (len(few) < len(x))])}}}"


_short = cache(_Short)


_BITS = 14_000
"""More are over 4,300 digits, which Python does not write."""
_TEXT = 60
"""The most characters of a text within a value; of a longer one, the middle is left out."""


def brief(value: object, limit: int = _TEXT) -> str:
    """Return the repr of a value for a message: at most `limit` characters on one line, with
    everything unprintable escaped, and "..." where something is left out.

    The cost is bounded whatever the size and depth of the value, and nothing is raised: not for
    cycles, for integers of many digits, or by a class whose repr fails.
    """
    try:
        text = visible(_short(limit if isinstance(value, str) else _TEXT).repr(value))
    except Exception:  # noqa: BLE001 - the value's own code may raise anything
        text = f"a {type(value).__name__}"
    return text if len(text) <= limit else f"{text[: limit - 3]}..."


def short_call(name: str, arguments: Mapping[str, object]) -> str:
    """Return a call as it would be typed, with its arguments shortened."""
    return f"{name}({', '.join(f'{key}={brief(value)}' for key, value in arguments.items())})"


def counted(number: int, noun: str, nouns: str | None = None) -> str:
    """Return a number with its noun: "1 call", "2 calls"; `nouns` is an irregular plural."""
    return f"{number:,} {noun if number == 1 else nouns or f'{noun}s'}"


def similar(name: str, names: Sequence[str]) -> list[str]:
    """Return names that may have been meant: those with this prefix, else those spelled alike."""
    begun = [one for one in names if len(name) >= _TELLING and one.startswith(name)]
    from difflib import get_close_matches  # noqa: PLC0415 - most runs make no such error

    return begun[:_MOST_NEAR] or get_close_matches(name, names, n=_MOST_NEAR, cutoff=_NEAR)


_NEAR = 0.61
"""The least similarity of a name that is suggested: `nope` and `openai` have 0.6."""
_TELLING = 3
"""The least length of a prefix that is completed to a suggestion."""
_MOST_NEAR = 3
