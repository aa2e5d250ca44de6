"""Scoring categories that need only the history, and the counts that they share."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from tunaeval.types.roles import Transcript
from tunaeval.types.runs import CategoryScore

from .history import CallRun, History, history_of


class Finding(NamedTuple):
    """The result of a category: a `CategoryScore` whose values have not been checked yet."""

    value: float | None
    reason: str
    evidence: tuple[int, ...] = ()
    judged: None = None
    failure: str | None = None

    def checked(self) -> CategoryScore:
        """Return the `CategoryScore`. Raises ValidationError for a value outside of 0 to 1."""
        return CategoryScore(
            value=self.value, reason=self.reason, evidence=self.evidence, failure=self.failure
        )


@dataclass(frozen=True, slots=True)
class Category:
    """A `Scorer` that computes its verdict from the history alone."""

    name: str
    weight: float
    verdict: Callable[[History], Finding]

    async def score(self, transcript: Transcript) -> CategoryScore:
        return self.verdict(history_of(transcript)).checked()


class Counts(NamedTuple):
    """The counts of a history's calls; `doubtful` are successes whose text reads like a failure."""

    calls: int
    succeeded: int
    failed: int
    dangling: int
    retries: int
    doubtful: int = 0


def where(runs: Iterable[CallRun]) -> tuple[int, ...]:
    """Return the messages that show these calls: the result's if there is one, else the call's."""
    return tuple(sorted({run.message if run.result is None else run.result for run in runs}))
