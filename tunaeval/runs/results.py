"""Read the results in a run's directory as a stream: which count, and where each begins."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import overload

from pydantic import ValidationError

from tunaeval.errors import RecordError
from tunaeval.files.keys import without
from tunaeval.files.records import opened, read_at
from tunaeval.files.results import RESULTS_FILE, CountedResults, counted_results
from tunaeval.types.calls import JsonObject
from tunaeval.types.runs import RunInfo, ScenarioResult


def without_secrets(result: ScenarioResult, secrets: frozenset[str]) -> ScenarioResult:
    """Return the result as it may be kept and shown: without keys or anything like one."""
    document = result.model_dump()
    covered = without(document, secrets)
    return result if covered == document else ScenarioResult.model_validate(covered)


class KeptResults(Sequence[ScenarioResult]):
    """Results in a run's directory that are read on access; equal to a tuple of the same results.

    Each costs eight bytes of memory: `offsets` has the bytes at which they begin.
    """

    def __init__(self, directory: Path, offsets: array[int]) -> None:
        self._directory = directory
        self._offsets = offsets

    def __len__(self) -> int:
        return len(self._offsets)

    @overload
    def __getitem__(self, index: int) -> ScenarioResult: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[ScenarioResult]: ...
    def __getitem__(self, index: int | slice) -> ScenarioResult | Sequence[ScenarioResult]:
        if isinstance(index, slice):
            return KeptResults(self._directory, self._offsets[index])
        return next(results_at(self._directory, [self._offsets[index]]))

    def __iter__(self) -> Iterator[ScenarioResult]:
        return results_at(self._directory, self._offsets) if self._offsets else iter(())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, KeptResults | tuple | list):
            return False
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment] # the results on disk may change

    def __repr__(self) -> str:
        return f"<{len(self)} results in {str(self._directory / RESULTS_FILE)!r}>"


def placed_results(path: Path, found: CountedResults) -> Iterator[tuple[int, ScenarioResult]]:
    """Yield the results that count, each with the byte at which it begins."""
    for number, (start, row) in enumerate(zip(found.offsets, found.rows(), strict=True), 1):
        yield start, _checked(row, path, f"result {number}")


def found_results(path: Path, info: RunInfo) -> CountedResults:
    """Return which results of the run in a directory count."""
    return counted_results(path, retried=bool(info.retried_at))


def results_at(path: Path, offsets: Iterable[int]) -> Iterator[ScenarioResult]:
    """Yield the results that begin at these bytes, in this order."""
    source = path / RESULTS_FILE
    with opened(source) as file:
        for offset in offsets:
            yield _checked(read_at(file, source, offset), path, f"byte {offset}")


def _checked(record: JsonObject, path: Path, where: str) -> ScenarioResult:
    try:
        return ScenarioResult.model_validate(record)
    except ValidationError as error:
        raise RecordError(
            f"{path}: this is no run of tunaeval: {where} of {RESULTS_FILE}: {error}"
        ) from error
