"""What is new in a report of the doctor: its findings against those of an earlier one.

A report is the JSON object of an examination. A file of known findings is a shorter report.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tunaeval.errors import RecordError
from tunaeval.files.records import read_document
from tunaeval.types.calls import JsonObject, JsonValue

from .values import listed

SCHEMA = 1
"""The number of the shape of a report; it changes when an earlier reader would misread it."""


@dataclass(frozen=True, slots=True)
class News:
    """The ids of the server's faults: new ones, known ones, cured ones, and known ones whose checks
    could not be judged or were not made this time.
    """

    new: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    cured: tuple[str, ...] = ()
    unjudged: tuple[str, ...] = ()


def read_report(path: str | Path) -> JsonObject:
    """Return a report that `--json`, `--report` or `--write-known` wrote. Raises RecordError."""
    found = read_document(Path(path))
    if "schema" in found and found["schema"] != SCHEMA:
        raise RecordError(
            f"{path}: its schema is {found['schema']!r:.40}, and this tunaeval reads {SCHEMA}; "
            "write it again with this version (--write-known or --report)"
        )
    rows = found.get("findings")
    if "schema" not in found or not isinstance(rows, list) or not all(map(_is_finding, rows)):
        raise RecordError(
            f"{path}: this is no report of the doctor: wanted an object with 'schema' and a list "
            "'findings' of objects with id, check and verdict; write one with `tunaeval doctor "
            "--report FILE.json`, or --write-known FILE"
        )
    return found


def _is_finding(row: object) -> bool:
    keys = ("id", "check", "verdict")
    return isinstance(row, dict) and all(isinstance(row.get(key), str) for key in keys)


def news(before: JsonObject, now: JsonObject) -> News:
    """Return what the report `now` has that `before` lacks, and the other way round.

    A known fault is cured if its check passed, or reports other faults in its place, and if the
    request that showed it was made and judged again.
    """
    old, new = _faults(before), _faults(now)
    asked = now.get("asked")
    judged = asked if isinstance(asked, dict) else {}
    gone = [id_ for id_ in old if id_ not in new]
    cured = [id_ for id_ in gone if _is_asked(old[id_], listed(judged.get(old[id_]["check"])))]
    return News(
        new=tuple(id_ for id_ in new if id_ not in old),
        known=tuple(id_ for id_ in new if id_ in old),
        cured=tuple(cured),
        unjudged=tuple(id_ for id_ in gone if id_ not in cured),
    )


def _is_asked(row: JsonObject, asked: Sequence[JsonValue]) -> bool:
    """Whether the request that showed a fault is among those that were judged.

    A file of known faults may name no request; then all that was asked in its mode counts.
    """
    *_, mode, _ = f"/{row['id']}".split("/")
    modes = ("whole", "streamed") if mode == "both" else (mode,)
    ends = [f"{_evidence(row)['ask'] or ''}, {one}" for one in modes]
    return all(any(str(key).endswith(end) for key in asked) for end in ends)


def too_little(found: News, now: JsonObject) -> bool:
    """Whether the report `now` has no verdict, or none on any of the faults that were known."""
    verdicts = {row["verdict"] for row in now["findings"]} - {"not tested"}
    no_news = found.unjudged and not (found.new or found.known or found.cured)
    return bool(no_news or not (verdicts or now.get("passed")))


def _faults(report: JsonObject) -> dict[str, JsonObject]:
    return {row["id"]: row for row in report["findings"] if row["verdict"] == "server"}


def known_findings(report: JsonObject, before: JsonObject | None = None) -> JsonObject:
    """Return the report that `--write-known` writes: the faults of `report` alone, sorted, and of
    those in `before` the ones that this time were not judged.
    """
    kept = news(before, report).unjudged if before else ()
    rows = {id_: row for id_, row in _faults(before or report).items() if id_ in kept}
    listed: list[JsonObject] = [
        {**{key: row[key] for key in ("id", "check", "verdict")}, "evidence": _evidence(row)}
        for _, row in sorted((rows | _faults(report)).items())
    ]
    return {"schema": SCHEMA, "findings": listed}


def _evidence(row: JsonObject) -> JsonObject:
    """Return what was found, and the request that showed it."""
    found = row["evidence"] if isinstance(row.get("evidence"), dict) else {}
    return {key: found.get(key) for key in ("summary", "ask", "mode")}
