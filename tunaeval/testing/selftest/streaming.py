"""Streams measured: that they read what the whole text reads, and what a feed costs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median
from time import process_time

from tunaeval.grammar.format import Format
from tunaeval.parsing.api import render
from tunaeval.parsing.reader import Reader
from tunaeval.types.calls import ToolCall
from tunaeval.types.parsing import LEVELS

from .laws import broken_laws, steps, streamed
from .measured import USUAL, Extent, Fault, Measured
from .subjects import Subject
from .texts import TOOLS, TextMaker

EXAMPLES = 60
"""Texts of each format, where none is given."""

_SMALL = 120
"""Texts up to this long are cut at each place."""

_CHARACTERS = 32 * 1024
_DELTA = 4
_RUNS = 3


def stream(subjects: Sequence[Subject], extent: Extent = USUAL) -> Measured:
    """Read texts of each format whole and streamed: sound, damaged, cut off and hostile ones.

    Any difference is a fault. What a feed costs is only reported: it depends on the machine.
    """
    read = [subject for subject in subjects if subject.reader and subject.forms]
    faults: list[Fault] = []
    texts, count = 0, extent.examples or EXAMPLES
    costs: dict[str, float] = {}
    for subject in read:
        for form, reader in _each(subject):
            for broken in _judged(TextMaker(form, extent.seed), reader, count):
                faults += broken
                texts += 1
        costs[subject.name] = max(_microseconds_a_feed(*pair) for pair in _each(subject))
    figures = {
        "formats": len(read),
        "texts": texts,
        "seed": extent.seed,
        "microseconds_a_feed": _told(costs),
        "not_streamed": [subject.name for subject in subjects if subject not in read],
    }
    return Measured("stream", figures, tuple(faults))


def _each(subject: Subject) -> Iterator[tuple[Format, Reader]]:
    for form in subject.forms:
        if subject.reader is not None:
            yield form, subject.reader


def _judged(maker: TextMaker, reader: Reader, count: int) -> Iterator[list[Fault]]:
    """What was wrong with each text; the kinds of texts take turns."""
    kinds = (lambda: maker.rendering()[1], maker.damaged, maker.damaged, maker.hostile)
    for number in range(count):
        text = kinds[number % len(kinds)]()
        tools = TOOLS if maker.random.random() < 0.7 else None
        level = LEVELS[number % len(LEVELS)]
        yield broken_laws(reader, text, _cuttings(maker, text), tools=tools, level=level)


def _cuttings(maker: TextMaker, text: str) -> Iterator[list[str]]:
    """In steps, at random places, and a small text in two at each place."""
    yield from (steps(text, size) for size in (1, 4, 7))
    yield from (maker.cutting(text) for _ in range(3))
    if len(text) <= _SMALL:
        yield from ([text[:place], text[place:]] for place in range(1, len(text)))


def _microseconds_a_feed(form: Format, reader: Reader) -> float:
    """One call with one long argument in small deltas, events included; the least of some runs."""
    line = "for each of the files we look at, print what was found\n"
    call = ToolCall("write_file", {"content": line * (_CHARACTERS // len(line))})
    chunks = steps(render([call], form), _DELTA)
    best = float("inf")
    for _ in range(_RUNS):
        start = process_time()
        streamed(reader, chunks, tools=TOOLS)
        best = min(best, process_time() - start)
    return best / len(chunks) * 1e6


def _told(costs: dict[str, float]) -> dict[str, object]:
    if not costs:
        return {}
    worst = max(costs, key=lambda name: costs[name])
    middle = round(median(costs.values()), 2)
    return {"median": middle, "worst": round(costs[worst], 2), "worst_format": worst}
