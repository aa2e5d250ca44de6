"""A report as JSON for machines: always ASCII and valid, whatever a model wrote."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from tunaeval.files.new_files import new_text
from tunaeval.files.records import json_text
from tunaeval.types.calls import JsonObject, JsonValue
from tunaeval.types.runs import Report

from .wording import warnings


def summary_object(report: Report) -> JsonObject:
    """Return a report as a JSON object, without its results; the heading is above the scores."""
    return {
        "heading": report.run.heading,
        "summary": report.summary.model_dump(),
        "warnings": list[JsonValue](warnings(report.summary)),
        "interrupted": report.interrupted,
        "directory": report.directory,
        "run": report.run.model_dump(),
    }


def sound(text: str) -> str:
    """Return a text without lone surrogates, which other readers of JSON refuse."""
    return text.encode("utf-8", "backslashreplace").decode()


def seconds(time: str) -> int:
    """Return a time of ISO 8601 as seconds since the epoch; 0 for what is no time."""
    try:
        return int(datetime.fromisoformat(time).timestamp())
    except ValueError:
        return 0


class JsonWriter:
    """A `Writer` of one JSON object: heading, summary, run, and all results."""

    name = "json"

    def write(self, report: Report, path: Path) -> None:
        head = json_text({**summary_object(report), "results": []})
        with new_text(path) as file:  # one result at a time, as all may be gigabytes
            file.write(head.removesuffix("]}"))
            for number, result in enumerate(report.results):
                file.write(", " * bool(number) + json_text(result.model_dump()))
            file.write("]}\n")


json_writer = JsonWriter()
