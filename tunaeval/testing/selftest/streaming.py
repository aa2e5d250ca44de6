"""Streaming: streams have to give the result of the whole text; the cost of a feed is measured.

A single text can show that a law of `tunaeval.testing.laws` is broken, so the laws are checked by
plain functions that need no test framework.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from statistics import median
from time import process_time

from tunaeval.errors import UsageError
from tunaeval.grammar.format import Format
from tunaeval.parsing.reader import Reader
from tunaeval.parsing.write import render_calls
from tunaeval.testing.streams import stream_of, untiled, wrong_pieces
from tunaeval.types.calls import ToolCall, Tools
from tunaeval.types.parsing import LEVELS, Level

from .measured import USUAL, Extent, Measured, MeasuredFault, Subject
from .texts import TOOLS, TextMaker


def broken_laws(
    reader: Reader,
    text: str,
    cuttings: Iterable[Sequence[str]],
    *,
    tools: Tools | None = None,
    level: Level = "standard",
) -> list[MeasuredFault]:
    """Return the laws that `text` breaks, whole and in each of these cuttings, as faults."""
    faults: list[MeasuredFault] = []
    try:
        for kind, detail in _broken(reader, text, cuttings, tools, level):
            faults.append(MeasuredFault(reader.name, kind, text, detail))
    except Exception as error:  # noqa: BLE001 - raising breaks a law, and is reported as a fault
        faults.append(
            MeasuredFault(reader.name, "raised", text, f"{type(error).__name__}: {error}")
        )
    return faults


def _broken(
    reader: Reader,
    text: str,
    cuttings: Iterable[Sequence[str]],
    tools: Tools | None,
    level: Level,
) -> Iterator[tuple[str, str]]:
    """Yield the kind and the details of each fault."""
    whole = reader.parse(text, tools=tools, level=level)
    unknown = [call.name for call in whole.calls if tools is not None and call.name not in tools]
    if unknown:
        yield "unknown tool called", unknown[0]
    ends = [place for call in whole.calls for place in call.span or ()]
    if ends != sorted(ends) or any(not 0 <= end <= len(text) for end in ends):
        yield "spans out of order", repr(ends)
    results = [reader.parse(text, tools=tools, level=each) for each in LEVELS]
    for lower, higher in pairwise(results):
        if not lower.diagnoses and lower != higher:
            yield "levels differ", f"{lower} but then {higher}"
    for chunks in cuttings:
        result, events = stream_of(reader.stream(tools=tools, level=level), chunks)
        cut = f"{level}, cut into {[len(chunk) for chunk in chunks]}"
        if result != whole:
            yield "stream differs", cut
        if why := untiled(text, result, events):
            yield "events do not tile", f"{cut}: {why}"
        if why := wrong_pieces(events, result):
            yield "argument pieces differ", f"{cut}: {why}"


def steps(text: str, size: int) -> list[str]:
    """Return the text in chunks of `size` characters."""
    return [text[start : start + size] for start in range(0, len(text), size)]


EXAMPLES = 60
"""The default number of texts of each format."""

_SMALL = 120
"""Texts up to this length are cut at every place."""

_CHARACTERS = 32 * 1024
_DELTA = 4
_RUNS = 3


def stream(subjects: Sequence[Subject], extent: Extent = USUAL) -> Measured:
    """Parse texts of each format whole and streamed: sound, damaged, truncated and hostile ones.

    Any difference is a fault. The cost of a feed depends on the machine and is only reported.
    """
    read = [subject for subject in subjects if subject.reader and subject.forms]
    faults: list[MeasuredFault] = []
    texts, count = 0, extent.examples or EXAMPLES
    costs: dict[str, float] = {}
    for subject in read:
        for form, reader in _each(subject):
            try:
                for broken in _judged(TextMaker(form, extent.seed), reader, count):
                    faults += broken
                    texts += 1
            except UsageError as refusal:
                faults.append(MeasuredFault(subject.name, "not written", form.name, str(refusal)))
        costs[subject.name] = max(_microseconds_a_feed(*pair) for pair in _each(subject))
    figures = {
        "formats": len(read),
        "texts": texts,
        "seed": extent.seed,
        "microseconds_a_feed": _summary(costs),
        "not_streamed": [subject.name for subject in subjects if subject not in read],
    }
    return Measured("stream", figures, tuple(faults))


def _each(subject: Subject) -> Iterator[tuple[Format, Reader]]:
    for form in subject.forms:
        if subject.reader is not None:
            yield form, subject.reader


def _judged(maker: TextMaker, reader: Reader, count: int) -> Iterator[list[MeasuredFault]]:
    kinds = (lambda: maker.rendering()[1], maker.damaged, maker.damaged, maker.hostile)
    for number in range(count):
        text = kinds[number % len(kinds)]()
        tools = TOOLS if maker.random.random() < 0.7 else None
        level = LEVELS[number % len(LEVELS)]
        yield broken_laws(reader, text, _cuttings(maker, text), tools=tools, level=level)


def _cuttings(maker: TextMaker, text: str) -> Iterator[list[str]]:
    """Yield the text in steps, cut at random places, and if small, cut in two at every place."""
    yield from (steps(text, size) for size in (1, 4, 7))
    yield from (maker.cutting(text) for _ in range(3))
    if len(text) <= _SMALL:
        yield from ([text[:place], text[place:]] for place in range(1, len(text)))


def _microseconds_a_feed(form: Format, reader: Reader) -> float:
    """Return the microseconds per feed of a long argument in small deltas, the least of 3 runs."""
    line = "for each of the files we look at, print what was found\n"
    call = ToolCall("write_file", {"content": line * (_CHARACTERS // len(line))})
    chunks = steps(render_calls([call], form), _DELTA)
    best = float("inf")
    for _ in range(_RUNS):
        start = process_time()
        stream_of(reader.stream(tools=TOOLS), chunks)
        best = min(best, process_time() - start)
    return best / len(chunks) * 1e6


def _summary(costs: dict[str, float]) -> dict[str, object]:
    if not costs:
        return {}
    worst = max(costs, key=lambda name: costs[name])
    middle = round(median(costs.values()), 2)
    return {"median": middle, "worst": round(costs[worst], 2), "worst_format": worst}
