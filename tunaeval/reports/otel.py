"""Results as OpenTelemetry's events `gen_ai.evaluation.result`, in lines of OTLP's JSON.

Format: https://opentelemetry.io/docs/specs/otel/protocol/file-exporter and
https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-events
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path

from tunaeval.types.calls import JsonObject, JsonValue
from tunaeval.types.runs import Report, ScenarioResult

from .files import RunsWriter, new_text
from .json import json_text, sound
from .summary import INFRASTRUCTURE

_EVENT = "gen_ai.evaluation.result"
_INFO, _ERROR = 9, 17
"""Severities: OTLP has numbers for them."""


def _write(reports: Sequence[Report], path: Path) -> None:
    with new_text(path) as file:
        for report in reports:
            for result in report.results:
                file.write(json_text(_line(report, result)) + "\n")


otel_writer = RunsWriter("otel", _write)


def _line(report: Report, result: ScenarioResult) -> JsonObject:
    run, is_lost = report.run, result.outcome in INFRASTRUCTURE
    version = run.versions.get("tunaeval", "")
    record: JsonObject = {
        "timeUnixNano": _nanoseconds(run.started_at),
        "severityNumber": _ERROR if is_lost else _INFO,
        "eventName": _EVENT,
        "attributes": _pairs(dict(_about(report, result, is_lost=is_lost))),
    }
    return {
        "resourceLogs": [
            {
                "resource": {"attributes": _pairs({"service.name": "tunaeval"})},
                "scopeLogs": [
                    {"scope": {"name": "tunaeval", "version": version}, "logRecords": [record]}
                ],
            }
        ]
    }


def _about(
    report: Report, result: ScenarioResult, *, is_lost: bool
) -> Iterator[tuple[str, JsonValue]]:
    """Yield the attributes; a result without an answer has no score."""
    yield "gen_ai.evaluation.name", report.run.suite
    if is_lost:
        yield "error.type", result.outcome
        yield "gen_ai.evaluation.explanation", result.error or result.reason
    else:
        yield "gen_ai.evaluation.score.value", float(result.ok)
        yield "gen_ai.evaluation.score.label", "pass" if result.ok else "fail"
        yield "gen_ai.evaluation.explanation", result.reason
    for attempt in result.attempts[-1:]:
        yield "gen_ai.response.id", attempt.message.get("id")
    yield "gen_ai.request.model", report.run.model
    yield "tunaeval.run", report.run.run_id
    yield "tunaeval.scenario", result.scenario
    yield "tunaeval.repeat", result.repeat
    yield "tunaeval.outcome", result.outcome


def _pairs(values: JsonObject) -> list[JsonValue]:
    """Return attributes as OTLP has them, without those that are no text and no number."""
    found: list[JsonValue] = []
    for name, value in values.items():
        if isinstance(value, float):
            found.append({"key": name, "value": {"doubleValue": value}})
        elif isinstance(value, int):
            found.append({"key": name, "value": {"intValue": str(value)}})
        elif isinstance(value, str) and value:
            found.append({"key": name, "value": {"stringValue": sound(value)}})
    return found


def _nanoseconds(text: str) -> str:
    try:
        return str(int(datetime.fromisoformat(text).timestamp()) * 10**9)
    except ValueError:
        return "0"
