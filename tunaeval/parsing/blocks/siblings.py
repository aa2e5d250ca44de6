"""Arguments whose opener was swallowed by the value before them, because its closer is missing.

That is certain where the tool declares an argument of that name which has not been read yet, and
no closer is in between. Elsewhere the value stays as it is, with the diagnosis `swallowed-markup`.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from typing import NamedTuple

from tunaeval.limits import WIDEST_GAP
from tunaeval.repair import Note
from tunaeval.types import Repair, Span

from ..closings import Closing
from ..swallowed import note_of

_REMAINS = re.compile(r"(?:(?:<|&lt;)/?+[^\s<>/&]{0,20}+(?:>|&gt;)?+|/[^\s<>/&]{1,20}+>)\s*+\Z")


class Piece(NamedTuple):
    """The text of an argument; `key` is its name, `said` an attribute, as they are written."""

    key: str
    said: str | None
    text: str


def pieces_of(
    first: Piece, closing: Closing, known: Container[str], schema: object, *, closed: bool
) -> list[Piece]:
    """The argument, and those behind it that it swallowed. `known` are those read before.

    `closed` is the last of them, the others are not.
    """
    text, sibling = first.text, closing.sibling
    found = [*sibling.finditer(text)] if sibling else []
    closed_before = any(closer in text for closer in closing.closers)
    if closed_before or not _certain(found, known, first.key, schema):
        found = []
    heads = [(first.key, first.said), *map(_head, found)]
    starts = [0, *(match.end() for match in found)]
    stops = [*(match.start() for match in found), len(text)]
    pieces = [
        Piece(*head, text[start:stop])
        for head, start, stop in zip(heads, starts, stops, strict=True)
    ]
    whole = len(pieces) - 1 if closed else len(pieces)
    for at, piece in enumerate(pieces[:whole]):
        pieces[at] = piece._replace(text=piece.text.removesuffix(closing.gap))
    return pieces


def _head(found: re.Match[str]) -> tuple[str, str | None]:
    """An argument's name, and its attribute if the format has one."""
    return found[1], found[2] if found.re.groups > 1 else None


def _certain(
    found: Sequence[re.Match[str]], known: Container[str], first: str, schema: object
) -> bool:
    """Whether all of them are arguments that the tool declares, and none was there before."""
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    keys = [first, *(match[1] for match in found)]
    return (
        isinstance(properties, Mapping)
        and len({*keys}) == len(keys)
        and all(key in properties and key not in known for key in keys[1:])
    )


def never_closed(pieces: Sequence[Piece], start: int) -> Repair:
    """The repair of values whose closer is missing; the first of them begins at an offset."""
    keys = ", ".join(repr(piece.key[:60]) for piece in pieces[: max(1, len(pieces) - 1)][:6])
    return Repair("unclosed", f"the closing tag of {keys} is missing", Span(start, start + 1))


def _has_remains(text: str) -> bool:
    """Whether a value that was never closed ends with what may be left of a closer."""
    return _REMAINS.search(text, max(0, len(text) - WIDEST_GAP)) is not None


def swallowed(pieces: Sequence[Piece], closing: Closing, *, closed: bool) -> Iterator[Note]:
    """What is to be told of values that still hold markup; only the last may be `closed`."""
    for piece in pieces:
        whole = closed and piece is pieces[-1]
        cut = not whole and _has_remains(piece.text)
        if cut or closing.marks.inside(piece.text, closed=whole):
            yield note_of(piece.key)
