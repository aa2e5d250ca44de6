"""Accuracy: rendered calls have to be parsed back, and texts without a call must not give any."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tunaeval.grammar.format import Format
from tunaeval.reports.statistics import wilson
from tunaeval.types.parsing import ParseResult

from .measured import USUAL, Extent, Fault, Measured
from .negatives import negative_texts, own_negatives
from .subjects import Subject
from .texts import TOOLS, TextMaker

EXAMPLES = 10_000
"""The default number of texts without a call; every subject parses each of them."""

_RENDERINGS = 50
"""One rendering of each format per this many texts without a call; at least `_LEAST`."""
_LEAST = 50


def accuracy(subjects: Sequence[Subject], extent: Extent = USUAL) -> Measured:
    """Parse renderings of each format, and texts without a call, with tools given.

    The bar: every rendering is parsed back, and there are no false calls.
    """
    count, seed = extent.examples or EXAMPLES, extent.seed
    renderings = max(_LEAST, count // _RENDERINGS)
    missed, written = [], 0
    for subject in subjects:
        for form in subject.forms:
            written += renderings
            missed += list(_missed(subject, TextMaker(form, seed), renderings))
    false, read = _false(subjects, count, seed)
    figures = {
        "formats": len(subjects),
        "renderings": written,
        "read_back": written - len(missed),
        "negatives": count,
        "readings": read,
        "false_calls": len(false),
        "false_at_most": _at_most(len(false), read),
        "seed": seed,
    }
    return Measured("accuracy", figures, (*missed, *false))


def _missed(subject: Subject, maker: TextMaker, count: int) -> Iterator[Fault]:
    """Yield the renderings that were not parsed back to their calls."""
    for _ in range(count):
        made, text = maker.rendering()
        result = subject.parser.parse(text, tools=TOOLS)
        if _names_and_arguments(result) != [(call.name, call.arguments) for call in made]:
            yield Fault(subject.name, "not read back", text, f"{result.calls} {result.diagnoses}")


def _false(subjects: Sequence[Subject], count: int, seed: int) -> tuple[list[Fault], int]:
    """Return the false calls as faults, and the number of parsed texts."""
    false, read = [], 0
    for kind, text in negative_texts(count, seed):
        read += len(subjects)
        false += [fault for each in subjects if (fault := _false_call(each, kind, text))]
    for subject in subjects:
        for form in subject.forms:
            for kind, text in _own(form, count, seed):
                read += 1
                fault = _false_call(subject, kind, text)
                false += [fault] if fault else []
    return false, read


def _own(form: Format, count: int, seed: int) -> Iterator[tuple[str, str]]:
    maker = TextMaker(form, seed)
    for _ in range(max(10, count // 500)):
        yield from own_negatives(maker)


def _false_call(subject: Subject, kind: str, text: str) -> Fault | None:
    result = subject.parser.parse(text, tools=TOOLS)
    if not result.calls:
        return None
    return Fault(subject.name, f"false call in {kind}", text, repr(_names_and_arguments(result)))


def _names_and_arguments(result: ParseResult) -> list[tuple[str, dict[str, object]]]:
    return [(call.name, call.arguments) for call in result.calls]


def _at_most(false: int, read: int) -> float | None:
    """Return the upper bound of the share of false calls, with 95 % confidence."""
    high = wilson(false, read).high
    return None if high is None else round(high, 6)
