"""A kept run as a report whose results are read from disk each time they are looked at.

Whoever goes through them has one in memory at a time, however many there are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from pydantic import ValidationError

from tunaeval.errors import RecordError
from tunaeval.types.runs import Report, ScenarioResult

from .sides import RunSource
from .summary import summarise


class StoredResults(Collection[ScenarioResult]):
    """The results of a run, in the order in which they ended."""

    def __init__(self, source: RunSource, length: int) -> None:
        self._source = source
        self._length = length

    def __iter__(self) -> Iterator[ScenarioResult]:
        return _results(self._source)

    def __len__(self) -> int:
        return self._length

    def __contains__(self, result: object) -> bool:
        return any(one == result for one in self)

    def __repr__(self) -> str:
        return f"StoredResults({self._length} in {self._source.directory!r})"


def stored_report(source: RunSource) -> Report:
    """The report of a run whose results stay where they are. Raises RecordError.

    Reads them once, for the summary; `report.results` can be gone through again and again.
    """
    info = source.info
    summary = summarise(_results(source), repeats=info.repeats)
    return Report.model_construct(  # the results are no tuple: that would have them all in memory
        run=info,
        summary=summary,
        results=StoredResults(source, summary.scenarios),
        interrupted=summary.scenarios < info.scenarios * info.repeats,
        directory=source.directory,
    )


def _results(source: RunSource) -> Iterator[ScenarioResult]:
    for number, row in enumerate(source.rows(None), start=1):
        try:
            yield ScenarioResult.model_validate(row)
        except ValidationError as error:
            raise RecordError(
                f"run {source.info.run_id!r}, result {number}: this is no result of tunaeval: "
                f"{error}"
            ) from error
