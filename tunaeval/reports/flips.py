"""Scenarios that pass in one run and fail in the other, with the answers of both runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tunaeval.showing import visible
from tunaeval.types.calls import JsonObject
from tunaeval.types.parsing import LEVELS, Level
from tunaeval.types.runs import ExpectedCall

from .sides import NO_RESULT, Side, no_result
from .wording import calls_words

_LIMIT = 200
"""Characters of a reply that are kept."""


@dataclass(frozen=True, slots=True)
class Answer:
    """How a run answered a scenario: how often it passed, and a typical reply."""

    passed: int
    total: int
    outcome: str
    calls: str
    said: str
    reason: str


@dataclass(frozen=True, slots=True)
class Flip:
    """A scenario that passes in most repeats of one run, and fails in most of the other's."""

    scenario: str
    a: Answer
    b: Answer


class Flips(NamedTuple):
    """The scenarios that the second run lost, and those that it gained."""

    lost: tuple[Flip, ...]
    gained: tuple[Flip, ...]


def flips(a: Side, b: Side, *, lost: Sequence[str], gained: Sequence[str]) -> Flips:
    """Return the flips with both runs' answers, which are read from the rows a second time."""
    before = _answers(a, passing=lost, failing=gained)
    after = _answers(b, passing=gained, failing=lost)

    def reported(names: Iterable[str]) -> tuple[Flip, ...]:
        return tuple(Flip(name, before[name], after[name]) for name in names)

    return Flips(reported(lost), reported(gained))


def _answers(side: Side, *, passing: Sequence[str], failing: Sequence[str]) -> dict[str, Answer]:
    """Return replies by scenario: passed ones for `passing`, failed ones for `failing`."""
    numbers = {side.asked[name].passing for name in passing}
    numbers |= {side.asked[name].failing for name in failing}
    found = {}
    for number, row in zip(sorted(numbers), side.source.rows(numbers), strict=True):
        try:
            asked = side.asked[row["scenario"]]
            found[row["scenario"]] = _answer(row, asked.passed, asked.total, side.level)
        except NO_RESULT as error:
            raise no_result(side.source, number, error) from error
    return found


def _answer(row: JsonObject, passed: int, total: int, level: Level) -> Answer:
    calls = (
        ExpectedCall.model_construct(name=call["name"], arguments=call["arguments"])
        for call in row["got"]
    )
    said = row["attempts"][-1]["message"].get("content") if row["attempts"] else None
    return Answer(
        passed=passed,
        total=total,
        outcome=row["outcome"],
        calls=calls_words(calls, _LIMIT),
        said=visible(said, _LIMIT) if isinstance(said, str) else "",
        reason=visible(_reason(row, level), _LIMIT),
    )


def _reason(row: JsonObject, level: Level) -> str:
    """Return the reason; a row keeps that of the run's own level, but `level` may be another."""
    reason: str = row["reason"]
    passed = [name for name in LEVELS if row["levels"][name]["ok"]]
    if not row["ok"] or level in passed or not passed:
        return reason
    repairs = ", ".join(row["repairs"])
    return f"passes at {passed[0]}, not at {level}" + (f" ({repairs})" if repairs else "")
