"""Mark the findings in a text: cut it into pieces, each with the marks that it belongs to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tunaeval.types.calls import Span
from tunaeval.types.parsing import ParseResult

CALL, REPAIR, DIAGNOSIS = "call", "repair", "diagnosis"


@dataclass(frozen=True, slots=True)
class Mark:
    """A call, a repair or a diagnosis; `number`, from 1, is used to refer to it.

    `span` is None if it has no place in the text. Only repairs have a level.
    """

    number: int
    kind: str
    code: str
    words: str
    span: Span | None
    level: str = ""


@dataclass(frozen=True, slots=True)
class Piece:
    """Characters of the text with the same marks; `ends` are the numbers of marks that end here."""

    text: str
    kinds: frozenset[str] = frozenset()
    ends: tuple[int, ...] = ()


def marks_of(result: ParseResult) -> tuple[Mark, ...]:
    """Return everything that was found in a reply, in the order of the text."""
    found = [(CALL, call.format or "structured", call.name, call.span, "") for call in result.calls]
    found += [
        (REPAIR, repair.code, repair.message, repair.span, repair.level)
        for call in result.calls
        for repair in call.repairs
    ]
    found += [(DIAGNOSIS, one.code, one.message, one.span, "") for one in result.diagnoses]
    found.sort(key=lambda mark: (mark[3] is None, mark[3] or (0, 0)))
    return tuple(Mark(number, *mark) for number, mark in enumerate(found, 1))


def pieces_of(text: str, marks: Sequence[Mark]) -> tuple[Piece, ...]:
    """Cut all of `text` wherever a mark begins or ends, in linear time apart from sorting.

    A mark without characters (something is missing here) ends where it begins.
    """
    placed = [(mark, _within(mark.span, len(text))) for mark in marks if mark.span is not None]
    cuts = sorted({0, len(text), *(at for _, span in placed for at in span)})
    opened: dict[int, list[Mark]] = {}
    closed: dict[int, list[Mark]] = {}
    for mark, (start, end) in placed:
        opened.setdefault(start, []).append(mark)
        closed.setdefault(end, []).append(mark)
    pieces: list[Piece] = []
    depth = dict.fromkeys((CALL, REPAIR, DIAGNOSIS), 0)
    for at, cut in enumerate(cuts):
        for mark in closed.get(cut, ()):
            depth[mark.kind] -= 1
        for mark in opened.get(cut, ()):
            depth[mark.kind] += 1
        numbers = tuple(mark.number for mark in closed.get(cut, ()) if mark.kind != CALL)
        if numbers:
            before = pieces.pop() if pieces else Piece("")
            pieces.append(Piece(before.text, before.kinds, before.ends + numbers))
        if at + 1 < len(cuts):
            kinds = frozenset(kind for kind, open_ones in depth.items() if open_ones)
            pieces.append(Piece(text[cut : cuts[at + 1]], kinds))
    return tuple(pieces)


def _within(span: Span, length: int) -> tuple[int, int]:
    start = min(max(span.start, 0), length)
    return start, min(max(span.end, start), length)
