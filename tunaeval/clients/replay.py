"""Recordings: the replies of a run in one file, and a client that answers from them.

A recording is a file of JSON lines. The first is a header: `recording` (the version, 2), `model`,
`date` (YYYY-MM-DD), `suite_digests` (by suite name) and `run` (its `run.json`). Each other line is
one reply, without its request: `scenario`, `repeat`, `attempt` (from 1), `message` as the server
gave it, `finish_reason`, `prompt_tokens`, `completion_tokens`, `latency_seconds` and `source` (as
in `Reply`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from tunaeval.errors import ClientSetupError, RecordError, TransportFailure
from tunaeval.files import records
from tunaeval.files.kept_replies import KeptReply, checked
from tunaeval.files.keys import of_environment, without
from tunaeval.files.plain_files import is_directory, is_there
from tunaeval.files.results import counted_results
from tunaeval.types.calls import JsonObject
from tunaeval.types.exchange import Reply, Request
from tunaeval.types.runs import RunInfo, ScenarioResult
from tunaeval.types.wanted import wanted_path


class ReplayClient:
    """Answers each request with the reply that a run recorded for its scenario, repeat and attempt.

    `path` is a run directory or a file of `write_recording`. A request without a recorded reply is
    a TransportFailure of the kind "replay". The recorded run's heading, if it has one, is repeated
    in the heading of the replay.

    Examples:
        >>> report = tunaeval.run(
        ...     tunaeval.load_suite("smoke"), client=tunaeval.ScriptedClient([""] * 48), out="runs"
        ... )
        >>> tunaeval.ReplayClient(path=report.directory).name
        'replay'
    """

    name: str = "replay"

    def __init__(self, *, path: str | Path | None = None) -> None:
        if path is None:
            raise ClientSetupError(
                "the client 'replay' needs the option 'path': a run directory, or a file that "
                "'tunaeval run --record FILE' wrote"
            )
        self._path = wanted_path(path, "path")
        self._recording = read_recording(self._path)

    @property
    def model(self) -> str | None:
        """The model that gave the recorded replies."""
        return self._recording.model

    @property
    def suite_digests(self) -> dict[str, str]:
        """The digest of each recorded suite by name, to see if the suite has changed since."""
        return self._recording.suite_digests

    @property
    def heading(self) -> str:
        recorded = self._recording
        words = f"recorded outputs of {recorded.model}, {recorded.date}; no model was run"
        return f"{words}; {recorded.run.heading}" if recorded.run.heading else words

    @property
    def details(self) -> JsonObject:
        recorded = self._recording
        return {
            **recorded.run.model_details,
            "model": recorded.model,
            "recorded": recorded.date,
            "recording": self._path.name,
            "replies": len(recorded.replies),
        }

    async def complete(self, request: Request) -> Reply:
        place = (request.scenario, request.repeat, request.attempt)
        reply = self._recording.replies.get(place)
        if reply is None:
            raise TransportFailure(
                f"{self._path.name}: no reply was recorded for scenario {request.scenario!r}, "
                f"repeat {request.repeat}, attempt {request.attempt}; the replies are to the suite "
                f"{self._recording.run.suite!r}",
                kind="replay",
            )
        return reply

    async def close(self) -> None:
        """Do nothing: a recording keeps no file open."""

    def __repr__(self) -> str:
        return f"ReplayClient(path={str(self._path)!r})"


Place: TypeAlias = tuple[str, int, int]
"""Scenario, repeat and attempt."""

_AGAIN = "make it again with this version of 'tunaeval run'"


class Recording(BaseModel):
    """How a run was made (the file's header), and its replies by scenario, repeat and attempt."""

    model_config = ConfigDict(frozen=True, arbitrary_types_allowed=True, defer_build=True)

    recording: Literal[2]
    model: str | None
    date: str = Field(pattern=r"^\d{4}-\d\d-\d\d$")
    suite_digests: dict[str, str]
    run: RunInfo
    replies: dict[Place, Reply] = Field(default_factory=dict, exclude=True)

    @classmethod
    def of(cls, run: RunInfo) -> Self:
        """Return a recording of `run` with no replies in it yet."""
        digests = {run.suite: run.suite_digest}
        date = run.started_at[:10]
        return cls(recording=2, model=run.model, date=date, suite_digests=digests, run=run)


class _Line(KeptReply):
    scenario: str
    repeat: int = Field(ge=1)
    attempt: int = Field(ge=1)
    latency_seconds: float | None = None


def write_recording(path: Path, run: RunInfo, results: Iterable[ScenarioResult]) -> int:
    """Write the replies of a run to a new file; return their number. Raises RecordError."""
    _check_first_hand(run, str(path))
    if is_there(path):
        raise RecordError(f"{str(path)!r} exists already; choose another path, or remove it")
    count, secrets = 0, of_environment()
    with records.RecordWriter(path, mode=0o600) as writer:
        writer.append(without(Recording.of(run).model_dump(mode="json"), secrets))
        for result in results:
            for line in _reply_lines(result):
                writer.append(without(line.as_record(), secrets))
                count += 1
    return count


def read_recording(path: Path) -> Recording:
    """Read a recording file, or a run directory with `run.json` and `results.jsonl`.

    Raises RecordError, which names the file, the line, what was found and what was wanted.
    """
    if is_directory(path):
        return _read_run(path)
    rows = records.read(path)
    first = next(rows, None)
    if first is None:
        raise RecordError(f"{path}: the file is empty; wanted a recording, or a run directory")
    recording = checked(Recording, first, f"{path}, record 1", _AGAIN)
    _check_first_hand(recording.run, str(path))
    for number, row in enumerate(rows, start=2):
        where = f"{path}, record {number}"
        line = checked(_Line, row, where, _AGAIN)
        recording.replies[line.scenario, line.repeat, line.attempt] = line.as_reply(where)
    return recording


def _read_run(directory: Path) -> Recording:
    document = directory / "run.json"
    run = checked(RunInfo, records.read_document(document), str(document), _AGAIN)
    _check_first_hand(run, str(directory))
    found = counted_results(directory, retried=bool(run.retried_at), noted=run.results_file)
    recording = Recording.of(run)
    for number, row in enumerate(found.rows(), start=1):
        where = f"{found.path}, result {number}"
        result = checked(ScenarioResult, row, where, _AGAIN)
        for line in _reply_lines(result):
            recording.replies[line.scenario, line.repeat, line.attempt] = line.as_reply(where)
    return recording


def _reply_lines(result: ScenarioResult) -> Iterator[_Line]:
    """Yield a line for each attempt that got a reply, leaving out transport failures."""
    for number, attempt in enumerate(result.attempts, start=1):
        if attempt.outcome != "transport_failure":
            yield _Line(
                scenario=result.scenario,
                repeat=result.repeat,
                attempt=number,
                **attempt.model_dump(include={*_Line.model_fields}),
            )


def _check_first_hand(run: RunInfo, where: str) -> None:
    if run.client == "replay":
        raise RecordError(
            f"{where}: the run {run.run_id!r} is itself a replay, so its date is not that of the "
            "replies; use the recording that it replayed"
        )
