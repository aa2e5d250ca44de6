"""The directory of a run: `run.json` says how it was made, `results.jsonl` what came of it.

`run.json` is written before the first request, so that a directory that cannot be written to
fails before anything is spent; each result is appended as soon as it is there.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from pathlib import Path

from pydantic import ValidationError

from tunaeval.errors import RecordError
from tunaeval.records import (
    RecordWriter,
    read,
    read_document,
    replace_document,
    write_document,
)
from tunaeval.reports import RunSource, summarise
from tunaeval.types import JsonObject
from tunaeval.types.runs import READABLE_VERSIONS, Report, RunInfo, ScenarioResult
from tunaeval.wanted import wanted_path

RUN_FILE = "run.json"
RESULTS_FILE = "results.jsonl"

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


class RunDirectory:
    """A run's directory, open for results. A new one is refused when something is in it already.

    `resumed` opens that of a run that was cut off: a torn last result is taken off.
    """

    def __init__(self, path: Path, info: RunInfo, *, resumed: bool = False) -> None:
        self.path = path
        if not resumed:
            self._make(info)
        self._results = RecordWriter(path / RESULTS_FILE)

    def _make(self, info: RunInfo) -> None:
        path = self.path
        try:
            path.mkdir(parents=True, exist_ok=True)
            occupied = next(path.iterdir(), None)
        except OSError as error:
            raise RecordError(
                f"cannot make the run directory {str(path)!r}: {error.strerror or error}; "
                "choose a place that can be written to, or keep nothing"
            ) from error
        if occupied is not None:
            raise RecordError(
                f"the run directory {str(path)!r} is not empty (there is {occupied.name!r}); "
                "choose another name for the run, or move it away"
            )
        # Of two runs that start in one directory, the second fails here.
        write_document(path / RUN_FILE, info.model_dump())

    def append(self, result: ScenarioResult) -> None:
        self._results.append(result.model_dump())

    def close(self, info: RunInfo) -> None:
        """End the run; what was only learned from the replies is added to `run.json`."""
        self._results.close()
        document = info.model_dump()
        if document != read_document(self.path / RUN_FILE):
            replace_document(self.path / RUN_FILE, document)


def run_source(directory: Path | str) -> RunSource:
    """A kept run, to be compared: its results are read as a stream, and not checked."""
    path = wanted_path(directory, "directory")

    def rows(only: Container[int] | None) -> Iterator[JsonObject]:
        source = path / RESULTS_FILE
        return read(source, only=only) if source.exists() else iter(())

    return RunSource(read_info(path), rows, str(path))


def load_report(directory: Path | str) -> Report:
    """The report of a run from its directory, whole or as far as it came."""
    path = wanted_path(directory, "directory")
    info = read_info(path)
    results = tuple(read_results(path))
    return Report(
        run=info,
        summary=summarise(results, repeats=info.repeats),
        results=results,
        interrupted=len(results) < info.scenarios * info.repeats,
        directory=str(path),
    )


def read_info(path: Path) -> RunInfo:
    """How the run in a directory was made. Raises `RecordError`, for another version's, too."""
    if path.is_file():
        raise RecordError(f"{path} is a file; wanted the directory of a run")
    document = read_document(path / RUN_FILE)
    version = document.get("schema_version")
    if version not in READABLE_VERSIONS:
        raise RecordError(
            f"{path / RUN_FILE}: schema_version is {version!r}, this tunaeval reads "
            f"{' and '.join(map(str, READABLE_VERSIONS))}; use the version that wrote it"
        )
    try:
        return RunInfo.model_validate(document)
    except ValidationError as error:
        raise RecordError(f"{path}: this is no run of tunaeval: {error}") from error


def read_results(path: Path) -> Iterator[ScenarioResult]:
    """The results in a run's directory, one at a time, in constant memory."""
    source = path / RESULTS_FILE
    if not source.exists():
        return
    for number, record in enumerate(read(source), 1):
        try:
            yield ScenarioResult.model_validate(record)
        except ValidationError as error:
            raise RecordError(
                f"{path}: this is no run of tunaeval: record {number} of {RESULTS_FILE}: {error}"
            ) from error


def safe_name(text: str) -> str:
    """A part of a file name, whatever the text."""
    return _UNSAFE.sub("-", text)[:40].strip("-.") or "run"
