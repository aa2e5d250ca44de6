"""The data that is written to files: the records of a run, and its report.

Other modules import all types of such data from here, also those of suites, rates and scores.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar, NoReturn

from pydantic import Field

from tunaeval.showing import shows

from .calls import JsonObject
from .calls import Source as CallSource
from .figures import (
    SCORES_VERSION,
    AtK,
    CategoryScore,
    Data,
    JudgeOrder,
    JudgeRecord,
    JudgeVote,
    Rate,
    Repeats,
    ScoreDetails,
    ScoreOutcome,
    ScoreRecord,
    ScoreResult,
    Variance,
    WeightedScore,
    rate_words,
)
from .parsing import Level
from .results import (
    SCHEMA_VERSION,
    AttemptRecord,
    CallRecord,
    CountedCalls,
    LevelResult,
    RunInfo,
    RunOutcome,
    ScenarioResult,
    Source,
    Summary,
)
from .suites import Difficulty, Episode, PackedScenarios, Scenario, Suite, Unreadable
from .tables import COLUMNS, REACTIONS, Tabled, expected_words, got_words, row_of
from .tasks import CheckRecord, Expectation, ExpectedCall, MatchMode, ResultRecord, Task, TaskRecord

__all__ = [
    "SCHEMA_VERSION", "SCORES_VERSION", "AtK", "AttemptRecord", "CallRecord", "CallSource",
    "CategoryScore", "CheckRecord", "CountedCalls", "Data", "Difficulty", "Episode",
    "Expectation", "ExpectedCall", "JudgeOrder", "JudgeRecord", "JudgeVote", "LevelResult",
    "MatchMode", "PackedScenarios", "Rate", "Repeats", "Report", "ResultRecord",
    "RunInfo", "RunOutcome", "Scenario", "ScenarioResult", "ScoreDetails", "ScoreOutcome",
    "ScoreRecord", "ScoreResult", "Source", "Suite", "Summary", "Task", "TaskRecord", "Unreadable",
    "Variance", "WeightedScore",
]  # fmt: skip


@shows
class Report(Data, Tabled):
    """A finished run, or the finished part of an interrupted one."""

    run: RunInfo
    summary: Summary
    results: Sequence[ScenarioResult] = Field(repr=False)  # asyncio.run writes its result's repr
    """The results; those of a stored run stay on disk and are read when they are accessed."""
    interrupted: bool = False
    directory: str | None = None

    def __bool__(self) -> NoReturn:
        """Raise TypeError, as it would be unclear whether true means finished or good."""
        raise TypeError(
            "a Report has no truth value: compare report.passed with report.total, or use the "
            "gate of the command line (tunaeval run --fail-under PERCENT --max-errors N)"
        )

    def _in_short(self) -> str:
        run, words = self.run, rate_words(self.summary.final)
        place = f", in {self.directory}" if self.directory else ""
        return f"Report of {run.suite!r} by {run.model or run.client!r}: {words}{place}"

    _HEADS: ClassVar[tuple[str, ...]] = ("did not pass", "expected", "got")

    def _in_rows(self) -> Iterator[tuple[str, ...]]:
        missed = (one for one in self.results if not one.ok)
        return ((one.scenario, expected_words(one.expected), got_words(one)) for one in missed)

    def rows(self) -> list[dict[str, Any]]:
        """Return a dictionary for each result, with the columns of the report in CSV."""
        return rows_of([self])

    @property
    def passed(self) -> int:
        return self.summary.final.passed

    @property
    def total(self) -> int:
        return self.summary.final.total

    @property
    def levels(self) -> dict[Level, Rate]:
        return self.summary.levels


def rows_of(reports: Sequence[Report]) -> list[JsonObject]:
    """Return a row for each result of the runs, with the columns of their table."""
    names = columns_of(reports)
    every = (row_of(one.run, result) for one in reports for result in one.results)
    return [{name: row[name] for name in names} for row in every]


def columns_of(reports: Iterable[Report]) -> tuple[str, ...]:
    """Return the columns of a table of these runs, with the reactions to faults that any has."""
    decided = {name for report in reports for name in report.summary.reactions}
    return (*COLUMNS, *(name for name in REACTIONS if name in decided))
