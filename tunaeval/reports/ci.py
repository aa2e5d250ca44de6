"""Reports for CI servers: JUnit's XML, which all of them show, and annotations of GitHub Actions.

In the XML a run is a suite and a result is a test case. Its schema is the one that Jenkins's xUnit
plug-in and Ant's task share. A scenario that failed is a `failure`; one without an answer is an
`error`, because it shows nothing about the model.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from xml.sax.saxutils import XMLGenerator
from xml.sax.xmlreader import AttributesImpl

from tunaeval.showing import visible
from tunaeval.types.exchange import text_of
from tunaeval.types.runs import Report, ScenarioResult

from .files import RunsWriter, new_file, write_text
from .tables import verdict_of
from .wording import (
    calls_words,
    expected_words,
    got_words,
    interruption,
    interval,
    percent,
    reactions,
    remarks,
    warnings,
)

_LONG = 2000
"""Characters of the longest text: CI servers keep all reports."""

_ELEMENTS = {"FAIL": "failure", "ERROR": "error"}


def _write_junit(reports: Sequence[Report], path: Path) -> None:
    """Write the runs as JUnit's XML: `testsuites` with one suite for each run."""
    with new_file(path) as made, made.open("wb") as file:
        # `visible` escapes lone surrogates and controls, which XML 1.0 does not allow.
        xml = XMLGenerator(file, encoding="utf-8", short_empty_elements=True)
        xml.startDocument()
        with element(xml, "testsuites", name="tunaeval"):
            for report in reports:
                _suite(xml, report)
        xml.endDocument()


junit_writer = RunsWriter("junit", _write_junit)


@contextmanager
def element(xml: XMLGenerator, tag: str, **attributes: str) -> Iterator[None]:
    """Write an element on a line of its own; what the block writes is its content."""
    xml.characters("\n")
    xml.startElement(tag, AttributesImpl(attributes))
    yield
    xml.endElement(tag)


def _suite(xml: XMLGenerator, report: Report) -> None:
    run, verdicts, seconds = report.run, Counter[str](), 0.0
    for result in report.results:  # the counts are attributes, so they come before the cases
        verdicts[verdict_of(result)] += 1
        seconds += result.latency_seconds or 0.0
    verdicts["ERROR"] += report.interrupted
    attributes = {
        "name": visible(f"{run.suite}: {run.model or run.client}", _LONG),
        "tests": str(verdicts.total()),
        "failures": str(verdicts["FAIL"]),
        "errors": str(verdicts["ERROR"]),
        "skipped": "0",
        "time": f"{seconds:.3f}",
    }
    if timestamp := local_time(run.started_at):
        attributes["timestamp"] = timestamp
    with element(xml, "testsuite", **attributes):
        with element(xml, "properties"):
            for name, value in _properties(report):
                with element(xml, "property", name=name, value=visible(value, _LONG)):
                    pass
        for result in report.results:
            _case(xml, visible(run.suite, _LONG), result)
        if report.interrupted:
            _interrupted(xml, report)


def _interrupted(xml: XMLGenerator, report: Report) -> None:
    """Write an error for an interrupted run, so that missing results turn the CI red."""
    suite = visible(report.run.suite, _LONG)
    with (
        element(xml, "testcase", classname=suite, name="the whole run", time="0.000"),
        element(xml, "error", message=interruption(report), type="interrupted"),
    ):
        xml.characters("tunaeval run --resume DIR finishes it")


_OF_THE_RUN = ("run_id", "format", "level", "profile", "heading")


def _properties(report: Report) -> Iterator[tuple[str, str]]:
    """Yield names and texts: how the run was asked, and what makes its scores doubtful."""
    for name in _OF_THE_RUN:
        if value := getattr(report.run, name):
            yield name, str(value)
    for row in reactions(report.summary):
        yield row.name, f"{row.rate.passed} of {row.rate.total}"
    for words in warnings(report.summary):
        yield "warning", words


def _case(xml: XMLGenerator, suite: str, result: ScenarioResult) -> None:
    again = f" #{result.repeat}" if result.repeat > 1 else ""
    name, seconds = (
        visible(result.scenario, _LONG) + again,
        f"{result.latency_seconds or 0.0:.3f}",
    )
    with element(xml, "testcase", classname=suite, name=name, time=seconds):
        tag = _ELEMENTS.get(verdict_of(result))
        if tag:
            message = visible(result.error or result.reason, _LONG)
            with element(xml, tag, message=message, type=result.outcome):
                xml.characters("\n".join(_words(result)))


def _words(result: ScenarioResult) -> list[str]:
    lines = [
        f"prompt: {visible(result.prompt, _LONG)}",
        f"expected: {expected_words(result.expected, _LONG)}",
        f"got: {got_words(result, _LONG)}",
    ]
    if result.attempts:
        lines.append(
            f"reply: {visible(text_of(result.attempts[-1].message.get('content')), _LONG)}"
        )
    return lines


def local_time(text: str) -> str:
    """Return a time without its zone, which the schema does not allow; "" if it is no time."""
    try:
        return datetime.fromisoformat(text).replace(tzinfo=None).isoformat(timespec="seconds")
    except ValueError:
        return ""


SHOWN = 10
"""How many annotations of one kind GitHub shows for a step."""
_SHORT = 300
"""Characters of the longest text in an annotation."""

_COMMANDS = {"FAIL": "error", "ERROR": "warning"}


def _write_annotations(reports: Sequence[Report], path: Path) -> None:
    """Write a notice for each run, and an annotation for each result that did not pass."""
    write_text(path, "".join(f"{line}\n" for report in reports for line in _lines(report)))


github_writer = RunsWriter("github", _write_annotations)


def _lines(report: Report) -> Iterable[str]:
    run, rate = report.run, report.summary.final
    title = f"{run.suite}: {run.model or run.client}"
    over = [run.heading] if run.heading else []
    score = f"{rate.passed} of {rate.total} passed, {percent(rate)}"
    if interval(rate):
        score += f" (95 % interval {interval(rate)})"
    yield command("notice", title, "; ".join([*over, score, *remarks(report)]))
    left = dict.fromkeys(_COMMANDS.values(), SHOWN - 1)  # the last one counts the rest
    for result in report.results:
        kind = _COMMANDS.get(verdict_of(result))
        if kind is None:
            continue
        left[kind] -= 1
        if left[kind] >= 0:
            yield _annotation(kind, result)
    for kind, room in left.items():
        if room < 0:
            yield command(kind, title, f"and {-room} more of this kind")


def _annotation(kind: str, result: ScenarioResult) -> str:
    if kind == "warning":
        return command(kind, result.scenario, result.error or result.reason)
    again = f" #{result.repeat}" if result.repeat > 1 else ""
    words = (
        f"{result.outcome}: {visible(result.reason, _SHORT)}; "
        f"expected {expected_words(result.expected, _SHORT)}, got {calls_words(result.got, _SHORT)}"
    )
    return command(kind, result.scenario + again, words)


def command(kind: str, title: str, words: str) -> str:
    """Return a command of GitHub Actions on one line, with all that could end its texts escaped."""
    name = visible(title, _SHORT).replace("%", "%25").replace(":", "%3A").replace(",", "%2C")
    return f"::{kind} title={name}::{visible(words, 3 * _SHORT).replace('%', '%25')}"
