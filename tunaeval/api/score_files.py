"""Files of scores: a JSON line for each task that a session scored."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from pydantic import ValidationError

from tunaeval.errors import RecordError
from tunaeval.files.keys import of_environment, without
from tunaeval.files.records import append, read
from tunaeval.types.runs import SCORES_VERSION, ScoreRecord, ScoreResult
from tunaeval.types.wanted import wanted_path


def append_score(
    path: Path,
    query: str,
    result: ScoreResult | None,
    *,
    failure: str | None = None,
    ended_by: str | None = None,
) -> None:
    """Append one line: query, score (null if there is none), timestamp, and what failed. Threads
    and processes may append to one file at the same time. A missing directory is created. Raises
    RecordError for a file that cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    record = ScoreRecord(
        schema_version=SCORES_VERSION,
        query=query,
        score=result,
        timestamp=datetime.now(UTC).isoformat(timespec="milliseconds"),
        failure=failure,
        ended_by=ended_by,
    )
    absent = {name for name in ("failure", "ended_by") if getattr(record, name) is None}
    document = record.model_dump(mode="json", exclude=absent)
    append(path, without(document, of_environment()))


def read_scores(path: Path | str) -> tuple[ScoreRecord, ...]:
    """Return the lines of a file of scores in their order, including those of earlier versions.

        totals = [line.score.weighted_total for line in tunaeval.read_scores("scores.jsonl")
                  if line.score is not None]

    An incomplete last line is left out. Raises RecordError for a file that cannot be read, and for
    a line that is no score.

    Examples:
        >>> with tunaeval.scoring_session("Say hello", out="scores.jsonl") as session:
        ...     session.messages = [{"role": "assistant", "content": "Hello."}]
        ...
        >>> [line.query for line in tunaeval.read_scores("scores.jsonl")]
        ['Say hello']
    """
    file = wanted_path(path, "path")
    return tuple(_record(line, f"{file}, score {n}") for n, line in enumerate(read(file), start=1))


def _record(line: dict[str, object], where: str) -> ScoreRecord:
    version = line.get("schema_version", 1)
    if version not in range(1, SCORES_VERSION + 1):
        raise RecordError(
            f"{where}: schema_version is {version!r}, this tunaeval reads 1 to {SCORES_VERSION}; "
            "use the version that wrote it"
        )
    try:
        return ScoreRecord.model_validate(line)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"]))
        raise RecordError(
            f"{where}: {field or 'the line'}: {first['msg']}; wanted a line that a scoring session "
            "wrote"
        ) from error
