"""Results as OpenTelemetry's events `gen_ai.evaluation.result`, in lines of OTLP's JSON.

Format: https://opentelemetry.io/docs/specs/otel/protocol/file-exporter and
https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-events
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tunaeval.files.new_files import new_text
from tunaeval.files.records import json_text
from tunaeval.types.calls import JsonObject, JsonValue
from tunaeval.types.runs import Report, ScenarioResult
from tunaeval.types.tables import INFRASTRUCTURE

from .json import seconds, sound
from .tables import RunsWriter

_NAME = "gen_ai.evaluation"


def _write(reports: Sequence[Report], path: Path) -> None:
    with new_text(path) as file:
        for report in reports:
            for result in report.results:
                file.write(json_text(_otel_line(report, result)) + "\n")


otel_writer = RunsWriter("otel", _write)


def _otel_line(report: Report, result: ScenarioResult) -> JsonObject:
    run, is_lost = report.run, result.outcome in INFRASTRUCTURE
    reply = result.attempts[-1].message if result.attempts else {}
    about: JsonObject = {f"{_NAME}.name": run.suite, f"{_NAME}.explanation": result.reason}
    if is_lost:
        about |= {"error.type": result.outcome}
        about[f"{_NAME}.explanation"] = result.error or result.reason
    else:
        about[f"{_NAME}.score.value"] = float(result.ok)
        about[f"{_NAME}.score.label"] = "pass" if result.ok else "fail"
    about |= {
        "gen_ai.response.id": reply.get("id"), "gen_ai.request.model": run.model,
        "tunaeval.run": run.run_id, "tunaeval.scenario": result.scenario,
        "tunaeval.repeat": result.repeat, "tunaeval.outcome": result.outcome,
    }  # fmt: skip
    record: JsonObject = {"eventName": f"{_NAME}.result", "attributes": _pairs(about)}
    record |= {"timeUnixNano": f"{seconds(run.started_at)}000000000"}
    record |= {"severityNumber": 17 if is_lost else 9}
    scope = {"name": "tunaeval", "version": run.versions.get("tunaeval", "")}
    logs = [{"scope": scope, "logRecords": [record]}]
    resource = {"attributes": _pairs({"service.name": "tunaeval"})}
    return {"resourceLogs": [{"resource": resource, "scopeLogs": logs}]}


def _pairs(values: JsonObject) -> list[JsonValue]:
    """Return attributes as OTLP has them, without those that are no text and no number."""
    found: list[JsonValue] = []
    for name, value in values.items():
        match value:
            case float():
                found.append({"key": name, "value": {"doubleValue": value}})
            case int():
                found.append({"key": name, "value": {"intValue": str(value)}})
            case str() if value:
                found.append({"key": name, "value": {"stringValue": sound(value)}})
    return found
