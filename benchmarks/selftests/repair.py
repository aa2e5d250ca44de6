"""Repair measured: damaged calls come out right, are refused, or are flagged; cut ones never pass.

A value that is wrong counts as flagged when a repair of level "lenient" is listed: those lose or
guess, and say so. With none but repairs of level "standard" it is wrong without a flag.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Literal, TypeAlias

from tunaeval.grammar.format import Format
from tunaeval.parsing.api import render
from tunaeval.testing.selftest.measured import USUAL, Extent, Measured, MeasuredFault, Subject
from tunaeval.types.calls import JsonObject, ToolCall
from tunaeval.types.parsing import Level, ParseResult

from .mutations import Damaged, cut_calls, damaged_calls

Outcome: TypeAlias = Literal["exact", "refused", "flagged", "wrong"]

EXAMPLES = 2000
"""Damaged calls for each format, where none is given; and half as many that were cut."""

MOST_WRONG = 0.015
"""The bar: the share of damaged calls whose values are wrong without a flag."""

_LEVELS: tuple[Level, ...] = ("standard", "lenient")
_PROBE = ToolCall("probe", {})


def repair(subjects: Sequence[Subject], extent: Extent = USUAL) -> Measured:
    """Read damaged and cut calls in each format that has a JSON object with name and arguments.

    The bars: at most `MOST_WRONG` of the damaged ones are wrong without a flag, and no call is made
    of a cut one that is not reported as truncated.
    """
    count = extent.examples or EXAMPLES
    hurt = list(damaged_calls(count, extent.seed))
    cut = list(cut_calls(max(1, count // 2), extent.seed))
    faults: list[MeasuredFault] = []
    shares: dict[str, JsonObject] = {}
    for subject, form in _framed(subjects):
        for level in _LEVELS:
            reported, wrong = _repaired(subject, form, level, hurt)
            shares.setdefault(level, {})[form.name] = reported
            if reported["wrong"] > MOST_WRONG:
                faults += wrong
            faults += _unflagged(subject, form, level, cut)
    read = sorted({name for reported in shares.values() for name in reported})
    figures = {
        "formats": len(read),
        "damaged": len(hurt),
        "cut": len(cut),
        "seed": extent.seed,
        "bars": {"wrong": MOST_WRONG, "cut_without_a_flag": 0},
        "worst": {level: _worst(reported) for level, reported in shares.items()},
        "cut_without_a_flag": sum(fault.kind == "cut without a flag" for fault in faults),
        "without_json_calls": [subject.name for subject in subjects if not _forms(subject)],
    }
    return Measured("repair", figures, tuple(faults))


def outcome_of(sample: Damaged, result: ParseResult) -> Outcome:
    """What became of a damaged call."""
    if not result.calls:
        return "refused"
    said = [{"name": call.name, "arguments": call.arguments} for call in result.calls]
    if said == [sample.meant]:
        return "exact"
    guessed = any(repair.level == "lenient" for call in result.calls for repair in call.repairs)
    return "flagged" if guessed or result.truncated else "wrong"


def _framed(subjects: Sequence[Subject]) -> Iterator[tuple[Subject, Format]]:
    for subject in subjects:
        yield from ((subject, form) for form in _forms(subject))


def _forms(subject: Subject) -> list[Format]:
    """The formats of a subject in which a whole call is one JSON object."""
    return [form for form in subject.forms if _written() in render([_PROBE], form)]


def _written() -> str:
    return json.dumps({"name": _PROBE.name, "arguments": _PROBE.arguments})


def _repaired(
    subject: Subject, form: Format, level: Level, samples: Sequence[Damaged]
) -> tuple[dict[str, float], list[MeasuredFault]]:
    """The share of each outcome, and those that were wrong without a flag."""
    before, _, after = render([_PROBE], form).partition(_written())
    counts: Counter[Outcome] = Counter()
    wrong = []
    for sample in samples:
        text = before + sample.text + after
        result = subject.parser.parse(text, level=level)
        outcome = outcome_of(sample, result)
        counts[outcome] += 1
        if outcome == "wrong":
            kind = f"wrong without a flag at {level}"
            wrong.append(MeasuredFault(subject.name, kind, text, f"{sample.kinds} {result.calls}"))
    outcomes: tuple[Outcome, ...] = ("exact", "refused", "flagged", "wrong")
    return {each: round(counts[each] / len(samples), 4) for each in outcomes}, wrong


def _unflagged(
    subject: Subject, form: Format, level: Level, samples: Sequence[Damaged]
) -> Iterator[MeasuredFault]:
    """Calls that were made of what the end of the text cut off, and nothing says so.

    What is refused makes no call, whether its damage or its end was the reason.
    """
    before = render([_PROBE], form).partition(_written())[0]
    for sample in samples:
        text = before + sample.text
        result = subject.parser.parse(text, level=level)
        if result.calls and not result.truncated:
            yield MeasuredFault(subject.name, "cut without a flag", text, f"{level} {sample.kinds}")


def _worst(reported: JsonObject) -> JsonObject:
    """The figures of the format that was most often wrong."""
    name = max(reported, key=lambda each: reported[each]["wrong"])
    return {"format": name, **reported[name]}
