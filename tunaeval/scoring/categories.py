"""What a scoring category is that needs only the history, and what categories count in one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from tunaeval.types.roles import Transcript
from tunaeval.types.runs import CategoryScore

from .history import CallRun, History, history_of


class Finding(NamedTuple):
    """What a category finds in a history: a `CategoryScore` that nobody has checked yet."""

    value: float | None
    reason: str
    evidence: tuple[int, ...] = ()
    judged: None = None
    failure: str | None = None

    def checked(self) -> CategoryScore:
        """Raises ValidationError for a value that is no share."""
        return CategoryScore(
            value=self.value, reason=self.reason, evidence=self.evidence, failure=self.failure
        )


@dataclass(frozen=True, slots=True)
class Category:
    """A `Scorer` that needs nothing but the history: `verdict` waits for nothing."""

    name: str
    weight: float
    verdict: Callable[[History], Finding]

    async def score(self, transcript: Transcript) -> CategoryScore:
        return self.verdict(history_of(transcript)).checked()


class Counts(NamedTuple):
    """The calls of a history, counted; `doubtful` are successes whose text reads like a failure."""

    calls: int
    succeeded: int
    failed: int
    dangling: int
    retries: int
    doubtful: int = 0


def where(runs: Iterable[CallRun]) -> tuple[int, ...]:
    """The messages that show these runs: the result where there is one, else the call."""
    return tuple(sorted({run.message if run.result is None else run.result for run in runs}))
