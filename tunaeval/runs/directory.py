"""The directory of a run: `run.json` describes the run, `results.jsonl` has its results.

`run.json` is written before the first request, so that a directory without write access fails
before anything is spent; each result is appended as soon as it arrives. A result on disk costs
eight bytes of memory, for its byte offset; each access reads it again. An interrupted run is
continued in its directory, once it is checked that its options and files have not changed.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from os import fstat
from pathlib import Path
from typing import overload

from pydantic import ValidationError

from tunaeval.errors import RecordError
from tunaeval.files.keys import COVER, of_environment, without
from tunaeval.files.locks import DirectoryLock
from tunaeval.files.plain_files import (
    entries,
    is_absent,
    is_directory,
    is_there,
    make_directory,
    nearest,
    seen_at,
)
from tunaeval.files.records import (
    RecordWriter,
    opened,
    read_at,
    read_document,
    replace_document,
    write_document,
)
from tunaeval.files.results import RESULTS_FILE, CountedResults, counted_results, state_of
from tunaeval.reports.sides import RunSource
from tunaeval.reports.summary import Tally, summarise
from tunaeval.types.calls import JsonObject
from tunaeval.types.roles import Client
from tunaeval.types.runs import SCHEMA_VERSION, Report, RunInfo, ScenarioResult, Suite, Summary
from tunaeval.types.tables import INFRASTRUCTURE
from tunaeval.types.wanted import wanted_path

from .contact import HOPELESS
from .options import model_of

RUN_FILE = "run.json"
MATRIX_FILE = "matrix.json"


class RunDirectory:
    """A run's directory, open for results; a new run is refused if the directory is not empty.

    With `begun`, the directory of that interrupted run is opened, and a last result that is
    incomplete is removed. The directory is locked until it is closed; `note` says whose lock was
    taken over, if any. If the run was continued by another process, the directory is unchanged.
    """

    def __init__(
        self,
        path: Path,
        info: RunInfo,
        begun: InterruptedRun | None = None,
        *,
        take_over: bool = False,
    ) -> None:
        self.path = path
        self._secrets = of_environment()
        if begun is None:
            self._make(info)
        self._lock = DirectoryLock(path, take_over=take_over)
        self.note = self._lock.note
        try:
            if begun is not None:
                begun.check_unchanged(path)
            self._results = RecordWriter(path / RESULTS_FILE)
            self._end = (path / RESULTS_FILE).stat().st_size
        except BaseException:
            self._lock.release()
            raise

    def _make(self, info: RunInfo) -> None:
        path = self.path
        try:
            make_directory(path)
            occupied = next(path.iterdir(), None)
        except OSError as error:
            raise RecordError(
                f"cannot make the run directory {str(path)!r}: {error.strerror or error}; "
                "choose a place that can be written to, or keep no run directory"
            ) from error
        if occupied is not None:
            raise RecordError(
                f"the run directory {str(path)!r} is not empty (there is {occupied.name!r}); "
                "choose another name for the run, or move the directory away"
            )
        # Of two runs that start in one directory, the second fails here.
        write_document(path / RUN_FILE, self._document(info))

    def append(self, result: ScenarioResult) -> int:
        """Append a result, which the caller has freed from secrets; return its byte offset."""
        start = self._end
        self._end += self._results.append(result.model_dump())
        return start

    def update(self, info: RunInfo) -> RunInfo:
        """Write `run.json` again if its content has changed; return it with the results' state."""
        info = info.model_copy(update={"results_file": state_of(self.path / RESULTS_FILE)})
        document = self._document(info)
        if document != read_document(self.path / RUN_FILE):
            replace_document(self.path / RUN_FILE, document)
        return info

    def _document(self, info: RunInfo) -> JsonObject:
        document: JsonObject = without(info.model_dump(), self._secrets)
        return document

    def close(self, info: RunInfo) -> RunInfo:
        """Write to `run.json` what the replies have shown, and release the directory."""
        try:
            return self.update(info)
        finally:
            self.abandon()

    def abandon(self) -> None:
        """Release the lock, and leave everything in the directory as it is."""
        self._results.close()
        self._lock.release()


def run_source(directory: Path | str) -> RunSource:
    """Return a kept run as a source for comparisons; its results are streamed and not validated.

    The directory is that of a run, or contains one run.
    """
    path = found_run(directory)
    info = read_info(path)
    found = found_results(path, info)
    return RunSource(info, found.rows, str(path), found.doubled)


def load_report(directory: Path | str) -> Report:
    """Return the report of a complete or interrupted run from its directory, or from one that
    contains a single run. Raises RecordError.

    Its results stay on disk and are read when they are used.

    Examples:
        >>> kept = tunaeval.run(
        ...     tunaeval.load_suite("smoke"), client=tunaeval.ScriptedClient([""] * 48), out="runs"
        ... )
        >>> report = tunaeval.load_report(kept.directory)
        >>> report.passed, report.total
        (2, 12)
    """
    path = found_run(directory)
    info = read_info(path)
    found = found_results(path, info)
    results = KeptResults(path, found.in_order_of_suite())
    summary = summarise(results, repeats=info.repeats)
    summary = summary.model_copy(update={"doubled_results": found.doubled})
    return report_of(info, summary, results, info.scenarios * info.repeats - len(results), path)


def report_of(
    info: RunInfo,
    summary: Summary,
    results: Sequence[ScenarioResult],
    left: int,
    directory: Path | None,
) -> Report:
    """Return the report of a run with `left` results still to come; of those, the ones that a spent
    budget left out have the outcome "not_asked".
    """
    if info.budget_reached and left > 0:
        outcomes = {**summary.outcomes, "not_asked": left}
        summary = summary.model_copy(update={"outcomes": outcomes})
    place = None if directory is None else str(directory)
    return Report.model_construct(
        run=info, summary=summary, results=results, interrupted=left > 0, directory=place
    )


def read_info(path: Path) -> RunInfo:
    """Return the `run.json` of a directory. Raises `RecordError`, also for an unknown version."""
    if is_absent(path / RUN_FILE):
        raise RecordError(no_run(path))
    document = versioned(path / RUN_FILE, SCHEMA_VERSION)
    try:
        return RunInfo.model_validate(document)
    except ValidationError as error:
        raise RecordError(f"{path}: this is no run of tunaeval: {error}") from error


def versioned(path: Path, wanted: int) -> JsonObject:
    """Return the document in a file. Raises `RecordError` if it has another version."""
    document = read_document(path)
    version = document.get("schema_version")
    if version != wanted:
        raise RecordError(
            f"{path}: schema_version is {version!r}, this tunaeval reads {wanted}; make the run "
            "again, or read it with the version that wrote it"
        )
    return document


def found_run(directory: Path | str, *, latest: bool = False) -> Path:
    """Return the directory itself, or the only run or matrix directly in it, or with `latest` the
    one that was begun last. Raises RecordError if there are several, without `latest`.
    """
    path = wanted_path(directory, "directory")
    inside = [] if _is_kept(path) else sorted(filter(_is_kept, entries(path)), key=_began)
    if not inside:
        return path
    if len(inside) > 1 and not latest:
        raise RecordError(
            f"{path} contains {len(inside)} runs, and one is wanted; name it, or give --latest for "
            f"{inside[-1]}"
        )
    return inside[-1]


def runs_below(place: Path) -> list[Path]:
    """Return the runs and matrices in a directory and in those in it, the last begun last."""
    found, folders = list[Path](), [place]
    for _ in range(_DEPTH):
        inside = [path for folder in folders for path in entries(folder)]
        found += filter(_is_kept, inside)
        folders = [path for path in inside if is_directory(path) and not _is_kept(path)]
    return sorted(found, key=_began)


_DEPTH = 3
"""How many levels are searched: runs/RUN, and runs with an --out below runs."""


def _is_kept(path: Path) -> bool:
    return is_there(path / RUN_FILE) or is_there(path / MATRIX_FILE)


def _began(path: Path) -> tuple[str, int]:
    """Return a sort key: when a run was begun, then its file's time in nanoseconds. A damaged run
    is older than all others.
    """
    file = path / (RUN_FILE if is_there(path / RUN_FILE) else MATRIX_FILE)
    try:
        began = read_document(file).get("started_at")
        return began if isinstance(began, str) else "", file.stat().st_mtime_ns
    except (OSError, RecordError):
        return "", 0


def no_run(path: Path) -> str:
    """Return an error message for a path that is not a run, with a hint where runs are."""
    if not is_directory(path):
        if is_there(path):
            return f"{path} is {seen_at(path)}; wanted the directory of a run"
        others = runs_below(path.parent if path.parent.name else Path("runs"))
        near = nearest(path) or next(reversed(others), None)
        wanted = "wanted that of a run, as `tunaeval run` names it"
        return f"there is no directory {path}; {f'did you mean {near}?' if near else wanted}"
    if is_there(path / MATRIX_FILE):
        return (
            f"{path} is a matrix of several runs; rank them by `tunaeval show {path}`, or name one "
            f"of those in {path / 'cells'}"
        )
    runs = [found.parent for found in entries(path, f"*/{RUN_FILE}")]
    if runs:
        return f"{path} is no run, but contains {len(runs)} of them; name one, such as {runs[-1]}"
    return (
        f"{path} is no run: there is no {RUN_FILE} in it; `tunaeval run` keeps each run in a "
        "directory of its own below runs"
    )


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
    """Yield (byte offset, result) for the results of a run that count."""
    for number, (start, row) in enumerate(zip(found.offsets, found.rows(), strict=True), 1):
        yield start, _checked(row, path, f"result {number}")


def found_results(path: Path, info: RunInfo) -> CountedResults:
    """Find the results in a run's directory; of repeated ones, only one counts."""
    return counted_results(path, retried=bool(info.retried_at), noted=info.results_file)


def results_at(path: Path, offsets: Iterable[int]) -> Iterator[ScenarioResult]:
    """Yield the results at these byte offsets of a run's results file, in the given order."""
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


_NOWHERE = -1


class Journal:
    """The results of one run by place: the scenario's index * repeats + repeat - 1.

    `begun` has the results from before, and `files` is where results are kept, None for nowhere. A
    place in `again` counts as open, and has its old result until there is a new one.
    """

    def __init__(
        self,
        begun: InterruptedRun,
        files: RunDirectory | None = None,
        again: frozenset[int] = frozenset(),
    ) -> None:
        self._begun, self._files = begun, files
        places, repeats = begun.info.scenarios * begun.info.repeats, begun.info.repeats
        self._done = bytearray(places)
        self._offsets = array("q", [_NOWHERE]) * places
        self._in_memory: dict[int, ScenarioResult] = {}
        # A tally has not counted earlier results.
        self._tally = None if begun.results else Tally(repeats)
        for place, offset in begun.results.items():
            self._offsets[place] = offset
            self._done[place] = place not in again

    def put(self, place: int, result: ScenarioResult) -> None:
        """Keep a result; after this returns, the result survives the end of the process."""
        is_first = place not in self._in_memory and self._offsets[place] == _NOWHERE
        if self._files is None:
            self._in_memory[place] = result
        else:
            self._offsets[place] = self._files.append(result)
        self._done[place] = True
        if not is_first:
            self._tally = None  # it has counted the old result
        elif self._tally is not None:
            self._tally.add(result)

    def is_done(self, place: int) -> bool:
        return bool(self._done[place])

    @property
    def left(self) -> int:
        """The number of results still to come."""
        return self._done.count(0)

    def result(self, place: int) -> ScenarioResult:
        """Return the result of one place. Raises KeyError if there is none."""
        if self._files is None:
            return self._in_memory[place]
        if self._offsets[place] == _NOWHERE:
            raise KeyError(place)
        return KeptResults(self._files.path, self._offsets[place : place + 1])[0]

    def results(self) -> Sequence[ScenarioResult]:
        """Return all results, in the order of their places."""
        if self._files is None:
            return tuple(result for _, result in sorted(self._in_memory.items()))
        there = array("q", (offset for offset in self._offsets if offset != _NOWHERE))
        return KeptResults(self._files.path, there)

    def summary(self) -> Summary:
        """Return the summary of all results, from the running tally if it has seen all of them."""
        if self._tally is None:
            found = summarise(self.results(), repeats=self._begun.info.repeats)
            return found.model_copy(update={"doubled_results": self._begun.doubled})
        return self._tally.summary()


_SAME = (
    "suite", "suite_digest", "scenarios", "client", "format", "level", "profile", "calls",
    "abstain", "ask", "constrain", "prompt_digest", "repeats", "attempts", "max_tokens",
    "temperature", "seed", "deadline_seconds", "sandbox",
)  # fmt: skip
"""Options that affect the results; `concurrency` does not."""

_DIGESTS = {
    "suite_digest": "the suite has other scenarios, tools or system prompt",
    "prompt_digest": "the model is given other words beside the questions",
}
"""The messages for digests that differ, because a digest itself says nothing to a reader."""
_DECIDING = {"ask", "constrain", "suite_digest"}
"""Options from whose change that of a digest follows."""


@dataclass(frozen=True, slots=True)
class InterruptedRun:
    """An interrupted run as found in its directory, or one without results that begins now;
    `results` maps places to byte offsets.

    `failed` are the places of infrastructure failures; `was_answered` says whether any request
    succeeded before; `size` is the size of the results file in bytes, and `doubled` the number of
    results that were there more than once.
    """

    info: RunInfo
    results: Mapping[int, int] = field(default_factory=dict)
    failed: frozenset[int] = frozenset()
    was_answered: bool = False
    size: int = 0
    doubled: int = 0

    def check_unchanged(self, directory: Path) -> None:
        """Raise `RecordError` if the results file has changed since it was read."""
        if _size(directory) != self.size:
            raise RecordError(
                f"run {self.info.run_id!r} was written by another process meanwhile; "
                "wait until that process has ended, and then continue the run"
            )

    def check_model(self, client: Client) -> None:
        """Raise `RecordError` if the client turns out to use another model than before."""
        model, _ = model_of(client)
        if None not in (model, self.info.model) and model != self.info.model:
            raise RecordError(
                f"run {self.info.run_id!r} cannot be continued: the model was "
                f"{self.info.model!r} and is {model!r} now; ask the same model, or start a new run"
            )


def begun(directory: Path, info: RunInfo, suite: Suite, *, retry: bool = False) -> InterruptedRun:
    """Read the interrupted run in a directory; `info` describes the run that is asked for now.

    `retry` repeats infrastructure failures. Raises `RecordError`, naming what differs or cannot be
    read.
    """
    old = read_info(directory)
    if old.rescored is not None:
        raise RecordError(
            f"{directory}: this run scored the replies of {old.rescored.run_id!r} again and "
            "asked no model, so there is nothing to continue; rescore that run again"
        )
    if differ := [*_differences(old, info)]:
        raise RecordError(
            f"run {old.run_id!r} cannot be continued, because it was made with other options: "
            f"{'; '.join(differ)}; give the options that it was started with, or start a new run"
        )
    now = datetime.now(UTC).isoformat(timespec="seconds")
    size = _size(directory)
    places: dict[int, int] = {}
    failed: set[int] = set()
    was_answered = False
    found = found_results(directory, old)
    for place, offset, result in _placed(directory, found, old, suite):
        places[place] = offset
        if result.outcome in INFRASTRUCTURE:
            failed.add(place)
        kind = None if result.error is None else result.error.partition(":")[0]
        was_answered = was_answered or kind not in HOPELESS
    changed = {"resumed_at": [*old.resumed_at, now]}
    if retry and failed:
        changed["retried_at"] = [*old.retried_at, now]
    info = old.model_copy(update=changed)
    return InterruptedRun(info, places, frozenset(failed), was_answered, size, found.doubled)


def _size(directory: Path) -> int:
    if is_absent(directory / RESULTS_FILE):
        return 0
    with opened(directory / RESULTS_FILE) as file:
        return fstat(file.fileno()).st_size


def _differences(old: RunInfo, new: RunInfo) -> Iterator[str]:
    if old.suite != new.suite:  # all else that a suite decides would differ, too
        yield f"suite was {old.suite!r:.80}, is {new.suite!r:.80}"
        return
    found = [name for name in _SAME if getattr(old, name) != getattr(new, name)]
    for name in found:
        before, now = getattr(old, name), getattr(new, name)
        if name not in _DIGESTS:
            yield f"{name} was {before!r:.80}, is {now!r:.80}"
        elif not _DECIDING & set(found) - {name}:
            yield f"{_DIGESTS[name]} now"
    if None not in (old.model, new.model) and old.model != new.model:
        yield f"model was {old.model!r:.80}, is {new.model!r:.80}"
    before, now = (info.versions.get("tunaeval") for info in (old, new))
    if before != now:
        yield f"tunaeval was {before}, is {now}"


def _placed(
    directory: Path, found: CountedResults, info: RunInfo, suite: Suite
) -> Iterator[tuple[int, int, ScenarioResult]]:
    """Yield the place, the byte offset and the result itself for each result that counts."""
    # Not the prompts themselves, which may be long and many.
    asked = {one.id: (at, hash(one.prompt)) for at, one in enumerate(suite.scenarios)}
    for offset, result in placed_results(directory, found):
        if result.scenario not in asked:
            raise RecordError(
                f"{directory}: there is a result of scenario {result.scenario!r}, which the suite "
                f"{suite.name!r} does not have; start a new run"
            )
        index, prompt = asked[result.scenario]
        if hash(result.prompt) != prompt and COVER not in result.prompt:
            raise RecordError(
                f"{directory}: the result of scenario {result.scenario!r} is to the question "
                f"{result.prompt!r:.60}, which is not the suite's: the file was changed; repair it"
            )
        if not 1 <= result.repeat <= info.repeats:
            raise RecordError(
                f"{directory}: there is a result of repeat {result.repeat}, and the run has "
                f"{info.repeats}; start a new run"
            )
        yield index * info.repeats + result.repeat - 1, offset, result
