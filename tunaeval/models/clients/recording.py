"""Recordings: the replies of a run in one file, without which questions they answered.

A file of JSON lines. The first is a header: `recording` (the version, 2), `model`, `date`
(YYYY-MM-DD), `suite_digests` (by suite name) and `run` (its `run.json`). Each other line is one
reply: `scenario`, `repeat`, `attempt` (from 1), `message` as the server gave it, `finish_reason`,
`prompt_tokens`, `completion_tokens`, `latency_seconds`, `source` (where its calls belong, as
`Reply.source` says; version 1 has none).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tunaeval.errors import RecordError
from tunaeval.files import records
from tunaeval.files.keys import of_environment, without
from tunaeval.files.results import counted_results
from tunaeval.types.calls import JsonObject, Source
from tunaeval.types.exchange import Reply
from tunaeval.types.messages import Usage
from tunaeval.types.runs import RunInfo, ScenarioResult

Place: TypeAlias = tuple[str, int, int]
"""Scenario, repeat and attempt."""

_Model = TypeVar("_Model", bound=BaseModel)


class _Header(BaseModel):
    model_config = ConfigDict(frozen=True)

    recording: Literal[1, 2]
    model: str | None
    date: str = Field(pattern=r"^\d{4}-\d\d-\d\d$")
    suite_digests: dict[str, str]
    run: RunInfo


class _Line(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    scenario: str
    repeat: int = Field(ge=1)
    attempt: int = Field(ge=1)
    message: JsonObject
    finish_reason: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    latency_seconds: float | None = None
    source: Source | None = None

    def as_reply(self) -> Reply:
        """Return the reply without its latency, since nobody waited for it now."""
        return Reply(
            message=self.message,
            finish_reason=self.finish_reason,
            usage=Usage(self.prompt_tokens, self.completion_tokens),
            source=self.source,
        )


class Recording(BaseModel):
    """A recording that was read: how the run was made, and its replies by their places."""

    model_config = ConfigDict(frozen=True, arbitrary_types_allowed=True)

    model: str | None
    date: str
    suite_digests: dict[str, str]
    run: RunInfo
    replies: dict[Place, Reply]


def write_recording(path: Path, run: RunInfo, results: Iterable[ScenarioResult]) -> int:
    """Write a recording to a new file and return the number of its replies."""
    _check_first_hand(run, str(path))
    header = _Header(
        recording=2,
        model=run.model,
        date=run.started_at[:10],
        suite_digests={run.suite: run.suite_digest},
        run=run,
    )
    if path.exists():
        raise RecordError(f"{str(path)!r} is there already; choose another path, or remove it")
    count, secrets = 0, of_environment()
    with records.RecordWriter(path) as writer:
        writer.append(without(header.model_dump(mode="json"), secrets))
        for result in results:
            for line in _lines(result):
                writer.append(without(line.model_dump(), secrets))
                count += 1
    return count


def read_recording(path: Path) -> Recording:
    """Read a recording file, or a run directory with `run.json` and `results.jsonl`.

    Raises RecordError that names file, line, what was found and what was wanted.
    """
    if path.is_dir():
        return _read_run(path)
    rows = records.read(path)
    first = next(rows, None)
    if first is None:
        raise RecordError(f"{path}: the file is empty; wanted a recording, or a run directory")
    header = _checked(_Header, first, f"{path}, record 1")
    _check_first_hand(header.run, str(path))
    replies = {}
    for number, row in enumerate(rows, start=2):
        line = _checked(_Line, row, f"{path}, record {number}")
        replies[line.scenario, line.repeat, line.attempt] = line.as_reply()
    return Recording(
        model=header.model,
        date=header.date,
        suite_digests=header.suite_digests,
        run=header.run,
        replies=replies,
    )


def _read_run(directory: Path) -> Recording:
    document = directory / "run.json"
    run = _checked(RunInfo, records.read_document(document), str(document))
    _check_first_hand(run, str(directory))
    found = counted_results(directory, retried=bool(run.retried_at))
    replies = {}
    for number, row in enumerate(found.rows(), start=1):
        result = _checked(ScenarioResult, row, f"{found.path}, result {number}")
        for line in _lines(result):
            replies[line.scenario, line.repeat, line.attempt] = line.as_reply()
    return Recording(
        model=run.model,
        date=run.started_at[:10],
        suite_digests={run.suite: run.suite_digest},
        run=run,
        replies=replies,
    )


def _lines(result: ScenarioResult) -> Iterator[_Line]:
    """Yield the replies of a result; an attempt that failed for the infrastructure has none."""
    for number, attempt in enumerate(result.attempts, start=1):
        if attempt.outcome != "transport_failure":
            yield _Line(
                scenario=result.scenario,
                repeat=result.repeat,
                attempt=number,
                message=attempt.message,
                finish_reason=attempt.finish_reason,
                prompt_tokens=attempt.prompt_tokens,
                completion_tokens=attempt.completion_tokens,
                latency_seconds=attempt.latency_seconds,
                source=attempt.source,
            )


def _check_first_hand(run: RunInfo, where: str) -> None:
    if run.client == "replay":
        raise RecordError(
            f"{where}: the run {run.run_id!r} is itself a replay, so its date is not that of the "
            "replies; take the recording that it replayed"
        )


def _checked(model: type[_Model], row: JsonObject, where: str) -> _Model:
    try:
        return model.model_validate(row)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join(map(str, first["loc"])) or "the whole"
        raise RecordError(
            f"{where}: {field!r} is {first['input']!r:.60}; {first['msg'].lower()}; "
            "was it written by 'tunaeval run'?"
        ) from None
