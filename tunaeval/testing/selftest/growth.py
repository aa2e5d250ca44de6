"""Law 5: twice the text takes about twice the time, whole or streamed, whatever the text.

Floods are texts that make a careless reader slow, one short piece repeated after a beginning. JSON
readers and tool-call patterns in use are known to be quadratic on the general floods. Each format
adds floods of its own fixed texts, and beginnings that end in the middle of a call.

Every flood is first measured at two small sizes. The ones that grew most, took longest or needed
most memory are then measured up to the largest size, where the last two doublings count. Growth
beyond the bar has to recur in every repetition, because a busy machine can double a time. The
parser of most formats also parses combinations of pieces. The slowest of them are repeated in texts
of 1 and 4 MiB, whose time is given in multiples of a busy loop of three million steps.
"""

from __future__ import annotations

import random
import sys
import tracemalloc
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import nlargest
from math import log2
from operator import attrgetter
from time import process_time
from typing import NamedTuple, TypeAlias

from tunaeval.grammar.format import Format
from tunaeval.parsing.write import render_calls
from tunaeval.types.calls import JsonObject, ToolCall

from .measured import USUAL, Extent, Measured, MeasuredFault, Subject
from .texts import TABLE, TOOLS, fixed_texts

FLOODS: tuple[str, ...] = tuple(TABLE["floods"])
"""Openers, closers, quotes, escapes, comments, numbers, white space, near-markers, small calls."""

_COMBINED = 240
"""The number of combinations of each of the two kinds."""

_PLACE = "PLACE"
_CALL = ToolCall("bash", {"command": _PLACE})


@dataclass(frozen=True, slots=True)
class Flood:
    """A family of texts: `start`, followed by `piece` many times."""

    start: str
    piece: str

    @property
    def name(self) -> str:
        behind = f" behind {self.start!r}" if self.start else ""
        return f"{self.piece!r}{behind}"

    def text(self, size: int) -> str:
        """Return the text of this family with about `size` characters."""
        return self.start + self.piece * max(1, (size - len(self.start)) // len(self.piece))


def floods_of(forms: tuple[Format, ...]) -> tuple[Flood, ...]:
    """Return the floods for a reader of these formats, each once."""
    found = [Flood("", piece) for piece in FLOODS]
    for form in forms:
        found += _own_floods(form)
    return tuple(dict.fromkeys(found))


def combinations_of(forms: tuple[Format, ...], seed: int) -> tuple[Flood, ...]:
    """Return random floods: two pieces repeated together, and one piece repeated after another."""
    chance = random.Random(seed)
    pieces = list(dict.fromkeys([*FLOODS, *(text for form in forms for text in fixed_texts(form))]))
    pairs = [(chance.choice(pieces), chance.choice(pieces)) for _ in range(2 * _COMBINED)]
    side_by_side = [Flood("", first + second) for first, second in pairs[:_COMBINED]]
    behind = [Flood(first, second) for first, second in pairs[_COMBINED:]]
    return tuple(dict.fromkeys((*side_by_side, *behind)))


def _own_floods(form: Format) -> Iterator[Flood]:
    """Yield floods in the middle of a call, of fixed texts, and of whole and cut calls."""
    whole = render_calls([_CALL], form)  # whether it is read back does not matter here
    inside = whole.partition(_PLACE)[0]
    for piece in (*FLOODS, *fixed_texts(form)):
        yield Flood(inside, piece)
    for text in fixed_texts(form):
        yield from (Flood("", text), Flood("", f"{text}\n"), Flood("", f"{text}{{"))
        yield Flood("", text[:-1] or text)
    for piece in (whole, whole + form.separator, inside, whole[:-1]):
        yield Flood("", piece)
    for start in {whole.find(text) + len(text) for text in fixed_texts(form) if text in whole}:
        yield from (Flood(whole[:start], piece) for piece in (whole[:start], " ", "a", "<"))


GROWTH, SECONDS, MEMORY, UNITS = 2.3, 10.0, 12.0, 20.0
"""The bars: factor per doubling, seconds at the largest size, bytes for each byte of the text, and
units for each MiB of a long text.

The memory excludes that of the result.
"""

_CHUNK = 4
_FIRST_LOOK = (64, 8)
"""The sizes of the first measurement, as fractions of the largest."""
_LEAST_FOR_MEMORY = 65536
"""The shortest text on which memory is measured: structures with a cap outweigh shorter ones."""
_FIRST_READ = 2048
"""Characters of the text that is parsed before memory is measured."""
_FIRST_LONG, _WORST_LONG = 8192, 8
"""Characters of the first measurement for long texts, and the number of families that go on."""
_WORST = 4
"""How many of the fastest growing, the slowest and the hungriest go on to the largest size."""
_REPEATS = 4
_STEPS = 3_000_000
"""Steps of the busy loop that is a unit."""
_MIB = 2**20
_LONG = (_MIB, 4 * _MIB)
"""Characters of the long texts."""
_PIECE = 64
"""Characters of each piece in which long texts arrive."""
_FLOOR_SECONDS = 0.0005
"""Times below this are noise, and harmless."""

Read: TypeAlias = Callable[[str], object]


class Case(NamedTuple):
    """A measurement: a parser, a family of texts, and whether `read` is whole or streamed."""

    subject: Subject
    flood: Flood
    way: str
    read: Read

    def row(self, **figures: float) -> JsonObject:
        head = {"format": self.subject.name, "reading": self.way, "family": self.flood.name}
        return {**head, **{key: round(value, 3) for key, value in figures.items()}}

    def fault(self, kind: str, detail: str) -> MeasuredFault:
        return MeasuredFault(self.subject.name, kind, f"{self.way}, {self.flood.name}", detail)


@dataclass(frozen=True, slots=True)
class Growth:
    """The costs of a case: the factor per doubling, and the seconds at the larger size."""

    case: Case
    growth: float
    seconds: float

    def row(self) -> JsonObject:
        return self.case.row(growth=self.growth, seconds=self.seconds)


def linear(subjects: Sequence[Subject], extent: Extent = USUAL) -> Measured:
    """Measure how the time of reading grows with the length of hostile texts, for each parser.

    The texts that need most memory are read once more, and their memory is measured.
    """
    largest = extent.largest
    finals: list[Growth] = []
    memory: list[tuple[float, Case]] = []
    families = 0
    most = max(subjects, key=lambda subject: len(subject.forms), default=None)
    long = most is not None and len(most.forms) > 1 and largest >= USUAL.largest
    units = _long_texts(most, extent.seed) if most and long else []
    for subject in subjects:
        cases = list(_cases(subject))
        families += len(cases)
        finals += _worst_growths(cases, largest)
        memory += _hungriest([case for case in cases if case.way == "whole"], largest)
    figures = {
        "formats": len(subjects),
        "families": families,
        "largest": largest,
        "bars": {"growth": GROWTH, "seconds": SECONDS, "memory": MEMORY, "units": UNITS},
        "worst_growth": [one.row() for one in nlargest(5, finals, key=attrgetter("growth"))],
        "slowest": [one.row() for one in nlargest(3, finals, key=attrgetter("seconds"))],
        "hungriest": [
            case.row(memory=times) for times, case in nlargest(3, memory, key=lambda pair: pair[0])
        ],
        "slowest_long_texts": [
            case.row(units=found, mib=size // _MIB)
            for found, size, case in nlargest(3, units, key=lambda row: row[0])
        ],
    }
    return Measured("linear", figures, tuple(_faults(finals, memory, units)))


def _long_texts(subject: Subject, seed: int) -> list[tuple[float, int, Case]]:
    """Return units per MiB, size and case for the slowest floods and combinations."""
    floods = (*floods_of(subject.forms), *combinations_of(subject.forms, seed))
    cases = list(_cases(subject, floods, chunk=_PIECE))
    first = [(_seconds(case.read, case.flood.text(_FIRST_LONG), 1), case) for case in cases]
    slowest = [case for _, case in nlargest(_WORST_LONG, first, key=lambda pair: pair[0])]
    unit = min(_seconds(_busy, "", 1) for _ in range(3))
    return [
        (_seconds(case.read, case.flood.text(size), 1) / unit / (size / _MIB), size, case)
        for case in slowest
        for size in _LONG
    ]


def _busy(_: str) -> None:
    step = 0
    while step < _STEPS:
        step += 1


def _cases(
    subject: Subject, floods: Iterable[Flood] = (), *, chunk: int = _CHUNK
) -> Iterator[Case]:
    """Yield a case for each flood, or each given one: parsed whole and, if possible, streamed."""
    parser, reader = subject.parser, subject.reader

    def whole(text: str) -> object:
        return parser.parse(text, tools=TOOLS, level="lenient")

    def streamed(text: str) -> object:
        if reader is None:
            return None
        stream = reader.stream(tools=TOOLS, level="lenient")
        for start in range(0, len(text), chunk):
            stream.feed(text[start : start + chunk])
        return stream.finish()

    for flood in floods or floods_of(subject.forms):
        yield Case(subject, flood, "whole", whole)
        if reader is not None:
            yield Case(subject, flood, "streamed", streamed)


def _worst_growths(cases: Sequence[Case], largest: int) -> list[Growth]:
    """Measure the last doublings of the cases that were worst at small sizes."""
    first = [_growth(case, *(max(64, largest // part) for part in _FIRST_LOOK)) for case in cases]
    worst = {id(look.case): look.case for look in nlargest(_WORST, first, attrgetter("growth"))}
    slowest = nlargest(_WORST, first, attrgetter("seconds"))
    worst |= {id(look.case): look.case for look in slowest}
    return [_confirmed(case, largest) for case in worst.values()]


def _confirmed(case: Case, largest: int) -> Growth:
    """Measure the last doublings; if they exceed the bar, repeat and return the least."""
    found = _growth(case, largest // 4, largest)
    for _ in range(_REPEATS):
        if found.growth > GROWTH:
            again = _growth(case, largest // 4, largest, runs=2)
            found = min(found, again, key=attrgetter("growth"))
    return found


def _growth(case: Case, small: int, large: int, *, runs: int = 1) -> Growth:
    less = _seconds(case.read, case.flood.text(small), runs)
    more = _seconds(case.read, case.flood.text(large), runs)
    ratio = max(more, _FLOOR_SECONDS) / max(less, _FLOOR_SECONDS)
    return Growth(case, ratio ** (1 / log2(large / small)), more)


def _seconds(read: Read, text: str, runs: int) -> float:
    best = float("inf")
    for _ in range(runs):
        start = process_time()
        read(text)
        best = min(best, process_time() - start)
    return best


def _hungriest(cases: Sequence[Case], largest: int) -> list[tuple[float, Case]]:
    """Return memory and case at the largest size, for the hungriest cases at a small size."""
    largest = max(largest, _LEAST_FOR_MEMORY)
    small = largest // 16
    first = [(_memory(case, small), case) for case in cases]
    taken = nlargest(_WORST, first, key=lambda pair: pair[0])
    return [(_memory(case, largest), case) for _, case in taken]


def _memory(case: Case, size: int) -> float:
    return memory_beside_result(case.read, case.flood.text(size), case.flood.text(_FIRST_READ))


def memory_beside_result(read: Read, text: str, first: str) -> float:
    """Return the peak memory of parsing a text, without the result's, per byte of the text.

    The result may be large for its text: a call of thirty characters takes 800 bytes. `first` is
    parsed before, because what a reader caches for all texts does not count.
    """
    read(first)
    tracemalloc.start()
    try:
        result = read(text)
        left, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    del result
    return (peak - left) / sys.getsizeof(text)


def _faults(
    finals: Iterable[Growth],
    memory: Iterable[tuple[float, Case]],
    units: Iterable[tuple[float, int, Case]],
) -> Iterator[MeasuredFault]:
    """Yield a fault for each figure above its bar."""
    for one in finals:
        if one.growth > GROWTH:
            words = f"{one.growth:.2f} a doubling, {one.seconds:.3f} s"
            yield one.case.fault("growth", words)
        if one.seconds > SECONDS:
            yield one.case.fault("seconds", f"{one.seconds:.1f} s")
    for times, case in memory:
        if times > MEMORY:
            yield case.fault("memory", f"{times:.1f} times the text")
    for found, size, case in units:
        if found > UNITS:
            yield case.fault("units", f"{found:.1f} a MiB at {size // _MIB} MiB")
