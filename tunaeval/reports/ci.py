"""Reports for CI servers: JUnit's XML, which all of them show, and annotations of GitHub Actions.

In the XML a run is a suite and a result is a test case. Its schema is the one that Jenkins's xUnit
plug-in and Ant's task share. A scenario that failed is a `failure`; one without an answer is an
`error`, because it shows nothing about the model.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import XMLGenerator
from xml.sax.xmlreader import AttributesImpl

from tunaeval.files.new_files import new_file, write_text
from tunaeval.showing import visible
from tunaeval.types.exchange import text_of
from tunaeval.types.runs import Report, ScenarioResult
from tunaeval.types.tables import calls_words, expected_words, got_words, verdict_of

from .tables import RunsWriter
from .wording import interruption, interval, percent, reactions, remarks, warnings

_LONG = 2000
"""Characters of the longest text: CI servers keep all reports."""

_ELEMENTS = {"FAIL": "failure", "ERROR": "error"}


class Case(NamedTuple):
    """A test case: its class and name. Unless it passed, `tag` is its element (failure, error or
    skipped) with a message, a kind and a text.
    """

    about: str
    name: str
    seconds: float = 0.0
    tag: str = ""
    message: str = ""
    kind: str = ""
    text: str = ""


class CaseSuite(NamedTuple):
    """A suite of test cases. They are made twice, as their counts are attributes and come first."""

    name: str
    started_at: str
    cases: Callable[[], Iterable[Case]]
    properties: Iterable[tuple[str, str]] = ()


def write_suites(path: Path, suites: Iterable[CaseSuite]) -> None:
    """Write suites as JUnit's XML."""
    with new_file(path) as made, made.open("wb") as file:
        # `visible` escapes lone surrogates and controls, which XML 1.0 does not allow.
        xml = XMLGenerator(file, encoding="utf-8", short_empty_elements=True)
        xml.startDocument()
        with _element(xml, "testsuites", name="tunaeval"):
            for suite in suites:
                _suite(xml, suite)
        xml.endDocument()


junit_writer = RunsWriter("junit", lambda reports, path: write_suites(path, map(_of_run, reports)))


@contextmanager
def _element(xml: XMLGenerator, tag: str, **attributes: str) -> Iterator[None]:
    """Write an element on a line of its own; what the block writes is its content."""
    xml.characters("\n")
    xml.startElement(tag, AttributesImpl(attributes))
    yield
    xml.endElement(tag)


def _suite(xml: XMLGenerator, suite: CaseSuite) -> None:
    tags, seconds = Counter[str](), 0.0
    for case in suite.cases():
        tags[case.tag] += 1
        seconds += case.seconds
    attributes = {
        "name": visible(suite.name, _LONG),
        "tests": str(tags.total()),
        "failures": str(tags["failure"]),
        "errors": str(tags["error"]),
        "skipped": str(tags["skipped"]),
        "time": f"{seconds:.3f}",
    }
    if timestamp := _local_time(suite.started_at):
        attributes["timestamp"] = timestamp
    with _element(xml, "testsuite", **attributes):
        with _element(xml, "properties"):
            for name, value in suite.properties:
                with _element(xml, "property", name=name, value=visible(value, _LONG)):
                    pass
        for case in suite.cases():
            _case(xml, case)


def _case(xml: XMLGenerator, case: Case) -> None:
    about, name = visible(case.about, _LONG), visible(case.name, _LONG)
    with _element(xml, "testcase", classname=about, name=name, time=f"{case.seconds:.3f}"):
        if case.tag:
            message = visible(case.message, _LONG)
            with _element(xml, case.tag, message=message, type=case.kind):
                xml.characters(case.text)


def _of_run(report: Report) -> CaseSuite:
    run = report.run
    name = f"{run.suite}: {run.model or run.client}"
    return CaseSuite(name, run.started_at, lambda: _cases(report), _properties(report))


def _cases(report: Report) -> Iterator[Case]:
    """Yield a case for each result, and an error for an interrupted run, to turn the CI red."""
    suite = report.run.suite
    for result in report.results:
        again = f" #{result.repeat}" if result.repeat > 1 else ""
        case = Case(suite, result.scenario + again, result.latency_seconds or 0.0)
        if tag := _ELEMENTS.get(verdict_of(result), ""):
            words, message = "\n".join(_result_lines(result)), result.error or result.reason
            case = case._replace(tag=tag, message=message, kind=result.outcome, text=words)
        yield case
    if report.interrupted:
        words = "tunaeval run --resume DIR finishes it"
        yield Case(suite, "the whole run", 0.0, "error", interruption(report), "interrupted", words)


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


def _result_lines(result: ScenarioResult) -> list[str]:
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


def _local_time(text: str) -> str:
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
    write_text(path, "".join(f"{line}\n" for report in reports for line in _summary_lines(report)))


github_writer = RunsWriter("github", _write_annotations)


def _summary_lines(report: Report) -> Iterable[str]:
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
