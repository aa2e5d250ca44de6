"""A report as JUnit's XML, which every CI server shows: a run is a suite, a result a test case.

By the schema that Jenkins's xUnit plug-in and Ant's task agree on. A scenario that failed is a
`failure`; one that infrastructure failed is an `error`, as it says nothing about the model.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from xml.sax.saxutils import XMLGenerator
from xml.sax.xmlreader import AttributesImpl

from tunaeval.showing import visible
from tunaeval.types.exchange import text_of
from tunaeval.types.runs import Report, ScenarioResult

from .files import new_file
from .results_as_rows import verdict_of
from .wording import expected_words, got_words, interruption, reactions, warnings

LIMIT = 2000
"""Characters of a text that are shown: CI servers keep every report that they are given."""

_ELEMENTS = {"FAIL": "failure", "ERROR": "error"}


class JunitWriter:
    """Writes `testsuites` with a suite for each run."""

    name = "junit"

    def write(self, report: Report, path: Path) -> None:
        self.write_runs([report], path)

    def write_runs(self, reports: Sequence[Report], path: Path) -> None:
        with new_file(path) as made, made.open("wb") as file:
            # Lone surrogates and controls are made visible before, so this is all of XML 1.0.
            xml = XMLGenerator(file, encoding="utf-8", short_empty_elements=True)
            xml.startDocument()
            with _element(xml, "testsuites", name="tunaeval"):
                for report in reports:
                    _suite(xml, report)
            xml.endDocument()


junit_writer = JunitWriter()


@contextmanager
def _element(xml: XMLGenerator, tag: str, **attributes: str) -> Iterator[None]:
    """An element around what is written within; each is on a line of its own."""
    xml.characters("\n")
    xml.startElement(tag, AttributesImpl(attributes))
    yield
    xml.endElement(tag)


def _suite(xml: XMLGenerator, report: Report) -> None:
    run, verdicts, seconds = report.run, Counter[str](), 0.0
    for result in report.results:  # counts are before what they count
        verdicts[verdict_of(result)] += 1
        seconds += result.latency_seconds or 0.0
    verdicts["ERROR"] += report.interrupted
    attributes = {
        "name": visible(f"{run.suite}: {run.model or run.client}", LIMIT),
        "tests": str(verdicts.total()),
        "failures": str(verdicts["FAIL"]),
        "errors": str(verdicts["ERROR"]),
        "skipped": "0",
        "time": f"{seconds:.3f}",
    }
    if timestamp := _local_time(run.started_at):
        attributes["timestamp"] = timestamp
    with _element(xml, "testsuite", **attributes):
        with _element(xml, "properties"):
            for name, value in _properties(report):
                with _element(xml, "property", name=name, value=visible(value, LIMIT)):
                    pass
        for result in report.results:
            _case(xml, visible(run.suite, LIMIT), result)
        if report.interrupted:
            _interrupted(xml, report)


def _interrupted(xml: XMLGenerator, report: Report) -> None:
    """An error of its own, so that what was never asked keeps a CI server from being green."""
    suite = visible(report.run.suite, LIMIT)
    with (
        _element(xml, "testcase", classname=suite, name="the whole run", time="0.000"),
        _element(xml, "error", message=interruption(report), type="interrupted"),
    ):
        xml.characters("tunaeval run --resume DIR finishes it")


_OF_THE_RUN = ("run_id", "format", "level", "profile", "heading")


def _properties(report: Report) -> Iterator[tuple[str, str]]:
    """How it was asked, and what makes the scores doubtful."""
    for name in _OF_THE_RUN:
        if value := getattr(report.run, name):
            yield name, str(value)
    for row in reactions(report.summary):
        yield row.name, f"{row.rate.passed} of {row.rate.total}"
    for words in warnings(report.summary):
        yield "warning", words


def _case(xml: XMLGenerator, suite: str, result: ScenarioResult) -> None:
    again = f" #{result.repeat}" if result.repeat > 1 else ""
    name, seconds = visible(result.scenario, LIMIT) + again, f"{result.latency_seconds or 0.0:.3f}"
    with _element(xml, "testcase", classname=suite, name=name, time=seconds):
        tag = _ELEMENTS.get(verdict_of(result))
        if tag:
            message = visible(result.error or result.reason, LIMIT)
            with _element(xml, tag, message=message, type=result.outcome):
                xml.characters("\n".join(_words(result)))


def _words(result: ScenarioResult) -> list[str]:
    lines = [
        f"prompt: {visible(result.prompt, LIMIT)}",
        f"expected: {expected_words(result.expected, LIMIT)}",
        f"got: {got_words(result, LIMIT)}",
    ]
    if result.attempts:
        lines.append(
            f"reply: {visible(text_of(result.attempts[-1].message.get('content')), LIMIT)}"
        )
    return lines


def _local_time(text: str) -> str:
    """The schema's times have no zone; "" for what is no time."""
    try:
        return datetime.fromisoformat(text).replace(tzinfo=None).isoformat(timespec="seconds")
    except ValueError:
        return ""
