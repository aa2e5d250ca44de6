"""The results in a run's directory, read as a stream: which count, and where each begins."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import overload

from pydantic import ValidationError

from tunaeval.errors import RecordError
from tunaeval.keys import without
from tunaeval.records import opened, placed, read_at
from tunaeval.reports import INFRASTRUCTURE
from tunaeval.types import JsonObject
from tunaeval.types.runs import RunInfo, ScenarioResult

RESULTS_FILE = "results.jsonl"


def without_secrets(result: ScenarioResult, secrets: frozenset[str]) -> ScenarioResult:
    """The result as it may be kept and shown: without what is a key, or looks like one."""
    document = result.model_dump()
    covered = without(document, secrets)
    return result if covered == document else ScenarioResult.model_validate(covered)


class KeptResults(Sequence[ScenarioResult]):
    """Results in a run's directory, read when they are looked at; equal to a tuple of the same.

    Each costs eight bytes of memory: `offsets` says where it begins.
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
        return results_at(self._directory, self._offsets)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, KeptResults | tuple | list):
            return False
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment] # what is on disk may change

    def __repr__(self) -> str:
        return f"<{len(self)} results in {str(self._directory / RESULTS_FILE)!r}>"


def read_results(path: Path, info: RunInfo) -> Iterator[ScenarioResult]:
    """The results in a run's directory that count, one at a time, in constant memory.

    Of a scenario that was asked again after a failure, the last result counts.
    """
    return (result for _, result in placed_results(path, info))


def placed_results(path: Path, info: RunInfo) -> Iterator[tuple[int, ScenarioResult]]:
    """As `read_results`, each with the number of the byte at which it begins."""
    if not (path / RESULTS_FILE).exists():
        return
    for number, (start, record) in enumerate(counted(path, info), 1):
        yield start, _checked(record, path, f"record {number}")


def results_at(path: Path, offsets: Iterable[int]) -> Iterator[ScenarioResult]:
    """The results that begin at these bytes, in this order."""
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


def counted(path: Path, info: RunInfo) -> Iterator[tuple[int, JsonObject]]:
    """The records that count. Only failures have a later one, so only they are kept in mind."""
    source = path / RESULTS_FILE
    replaced: set[int] = set()
    failed: dict[tuple[object, object], int] = {}
    for start, record in placed(source) if info.retried_at else ():
        place = (record.get("scenario"), record.get("repeat"))
        if (before := failed.pop(place, None)) is not None:
            replaced.add(before)
        if record.get("outcome") in INFRASTRUCTURE:
            failed[place] = start
    return ((start, record) for start, record in placed(source) if start not in replaced)
