"""Scenarios that pass in one run and fail in the other, and what was answered in either."""

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

_SAID = 200
"""Characters of a reply that are kept of it."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a run made of a scenario: how often it passed, and one reply that is typical."""

    passed: int
    total: int
    outcome: str
    calls: str
    said: str
    reason: str


@dataclass(frozen=True, slots=True)
class Flip:
    """A scenario that passes in one run and fails in the other: in most of its repeats."""

    scenario: str
    a: Answer
    b: Answer


class Flips(NamedTuple):
    """What the second run lost, and what it gained."""

    lost: tuple[Flip, ...]
    gained: tuple[Flip, ...]


def flips(a: Side, b: Side, *, lost: Sequence[str], gained: Sequence[str]) -> Flips:
    """The scenarios of these ids with what was answered, which takes another look at a few rows."""
    before = _answers(a, passing=lost, failing=gained)
    after = _answers(b, passing=gained, failing=lost)

    def reported(names: Iterable[str]) -> tuple[Flip, ...]:
        return tuple(Flip(name, before[name], after[name]) for name in names)

    return Flips(reported(lost), reported(gained))


def _answers(side: Side, *, passing: Sequence[str], failing: Sequence[str]) -> dict[str, Answer]:
    """A reply to each scenario, one that passed or one that failed."""
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
        calls=calls_words(calls, _SAID),
        said=visible(said, _SAID) if isinstance(said, str) else "",
        reason=visible(_reason(row, level), _SAID),
    )


def _reason(row: JsonObject, level: Level) -> str:
    """The reason that is kept is that of the run's own level; here another one may count."""
    reason: str = row["reason"]
    passed = [name for name in LEVELS if row["levels"][name]["ok"]]
    if not row["ok"] or level in passed or not passed:
        return reason
    repairs = ", ".join(row["repairs"])
    return f"passes at {passed[0]}, not at {level}" + (f" ({repairs})" if repairs else "")
