"""The directory of a run: `run.json` describes the run, `results.jsonl` has its results.

`run.json` is written before the first request, so that a directory without write access fails
before anything is spent; each result is appended as soon as it arrives.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from pydantic import ValidationError

from tunaeval.errors import RecordError
from tunaeval.files.keys import of_environment, without
from tunaeval.files.locks import DirectoryLock
from tunaeval.files.plain_files import is_there, kind_of
from tunaeval.files.records import RecordWriter, read_document, replace_document, write_document
from tunaeval.files.results import RESULTS_FILE
from tunaeval.reports.sides import RunSource
from tunaeval.reports.summary import summarise
from tunaeval.types.calls import JsonObject
from tunaeval.types.runs import READABLE_VERSIONS, Report, RunInfo, ScenarioResult
from tunaeval.types.wanted import wanted_path

from .results import KeptResults, found_results

RUN_FILE = "run.json"

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


class RunDirectory:
    """A run's directory, open for results; a new run is refused if the directory is not empty.

    `resumed` opens the directory of an interrupted run and removes a last result that is
    incomplete. The directory is locked until it is closed; `note` says whose lock was taken over,
    if any. If `check`, which is called under the lock, raises, the directory is unchanged.
    """

    def __init__(
        self,
        path: Path,
        info: RunInfo,
        *,
        resumed: bool = False,
        take_over: bool = False,
        check: Callable[[Path], None] | None = None,
    ) -> None:
        self.path = path
        self._secrets = of_environment()
        if not resumed:
            self._make(info)
        self._lock = DirectoryLock(path, take_over=take_over)
        self.note = self._lock.note
        try:
            if check is not None:
                check(path)
            self._results = RecordWriter(path / RESULTS_FILE)
            self._end = (path / RESULTS_FILE).stat().st_size
        except BaseException:
            self._lock.release()
            raise

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
        write_document(path / RUN_FILE, self._document(info))

    def append(self, result: ScenarioResult) -> int:
        """Append a result that has no secrets, and return the byte at which it begins."""
        start = self._end
        self._end += self._results.append(result.model_dump())
        return start

    def update(self, info: RunInfo) -> None:
        """Write `run.json` again if its content has changed."""
        document = self._document(info)
        if document != read_document(self.path / RUN_FILE):
            replace_document(self.path / RUN_FILE, document)

    def _document(self, info: RunInfo) -> JsonObject:
        document: JsonObject = without(info.model_dump(), self._secrets)
        return document

    def close(self, info: RunInfo) -> None:
        """End the run, and add to `run.json` what was only learned from the replies."""
        try:
            self.update(info)
        finally:
            self.abandon()

    def abandon(self) -> None:
        """Release the lock, and leave everything in the directory as it is."""
        self._results.close()
        self._lock.release()


def run_source(directory: Path | str) -> RunSource:
    """Return a kept run as a source for comparisons; its results are streamed and not validated."""
    path = wanted_path(directory, "directory")
    info = read_info(path)

    found = found_results(path, info)
    return RunSource(info, found.rows, str(path), found.doubled)


def load_report(directory: Path | str) -> Report:
    """Return the report of a complete or interrupted run from its directory.

    Its results stay on disk and are read when they are used.

    Examples:
        >>> kept = tunaeval.run(
        ...     tunaeval.load_suite("smoke"), client=tunaeval.ScriptedClient([""] * 48), out="runs"
        ... )
        >>> report = tunaeval.load_report(kept.directory)
        >>> report.passed, report.total
        (2, 12)
    """
    path = wanted_path(directory, "directory")
    info = read_info(path)
    found = found_results(path, info)
    results = KeptResults(path, found.offsets)
    summary = summarise(results, repeats=info.repeats)
    return Report.model_construct(
        run=info,
        summary=summary.model_copy(update={"doubled_results": found.doubled}),
        results=results,
        interrupted=len(results) < info.scenarios * info.repeats,
        directory=str(path),
    )


def read_info(path: Path) -> RunInfo:
    """Return the `run.json` of a directory. Raises `RecordError`, also for an unknown version."""
    if not (path / RUN_FILE).exists():
        raise RecordError(_no_run(path))
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


def _no_run(path: Path) -> str:
    """Return an error message for a path that is not a run, with a hint where runs are."""
    if not path.is_dir():
        if is_there(path):
            kind = kind_of(path.stat().st_mode) or "a file"
            return f"{path} is {kind}; wanted the directory of a run"
        return f"there is no directory {path}; wanted that of a run, as `tunaeval run` names it"
    runs = sorted(found.parent for found in path.glob(f"*/{RUN_FILE}"))
    if runs:
        return f"{path} is no run, but contains {len(runs)} of them; name one, such as {runs[-1]}"
    return (
        f"{path} is no run: there is no {RUN_FILE} in it; `tunaeval run` keeps each run in a "
        "directory of its own below runs"
    )


def safe_name(text: str) -> str:
    """Return the text as a part of a file name; unsafe characters are replaced."""
    return _UNSAFE.sub("-", text)[:40].strip("-.") or "run"
