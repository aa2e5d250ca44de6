"""Runs as one page: a file of its own that opens without a network, written as it is read.

jinja2 escapes every text by construction. The page's policy (Content-Security-Policy) allows the
one script and the one style that it carries, by their SHA-256, and no other source of anything.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from tunaeval.errors import ComparisonError
from tunaeval.reports.compare import Comparison, compare_runs
from tunaeval.reports.compared import power_words
from tunaeval.reports.files import new_text
from tunaeval.reports.sides import source_of
from tunaeval.reports.summary import INFRASTRUCTURE, expected_tools
from tunaeval.reports.wording import reactions, remarks
from tunaeval.showing import counted, visible
from tunaeval.types.parsing import LEVELS
from tunaeval.types.runs import Rate, Report

from .charts import Between, Histogram, Slice, Whisker, between, histogram, slices, whisker
from .page_data import Names, blocks_of
from .secrets import hidden

if TYPE_CHECKING:
    from jinja2 import Template
    from markupsafe import Markup

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
FLIPS_SHOWN = 200
"""Of scenarios that flipped one way; the table has all."""


class PageWriter:
    """Writes one HTML page of one run, or of several beside each other."""

    name = "html"

    def write(self, report: Report, path: Path) -> None:
        self.write_runs([report], path)

    def write_runs(self, reports: Sequence[Report], path: Path) -> None:
        style, script = _asset("page.css"), _asset("page.js")
        names = Names()
        with new_text(path) as file:
            for part in _template().generate(
                style=_as_it_is(style),
                script=_as_it_is(script),
                policy=_policy(style, script),
                title=_title(reports),
                runs=[_run(number, report) for number, report in enumerate(reports)],
                tables=[*_tables(reports)],
                comparisons=[*_comparisons(reports)],
                blocks=blocks_of(reports, names),
                names=lambda: list(names.numbers),  # known when the blocks are written
                letters=[LETTERS[number % len(LETTERS)] for number in range(len(reports))],
            ):
                file.write(part)


page_writer = PageWriter()


@cache
def _template() -> Template:
    from jinja2 import Environment, StrictUndefined  # noqa: PLC0415 - for a page alone

    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["visible"] = _said
    environment.globals["counted"] = counted
    return environment.from_string(_asset("page.html"))


def _asset(name: str) -> str:
    return files(__package__).joinpath("page", name).read_text("utf-8")


def _as_it_is(text: str) -> Markup:
    """A file of ours, which the page's policy knows by its digest."""
    from markupsafe import Markup  # noqa: PLC0415 - for a page alone

    return Markup(text)  # noqa: S704 - the package's own file


def _policy(style: str, script: str) -> str:
    return (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")
    return f"sha256-{digest}"


@dataclass(frozen=True, slots=True)
class RunOnPage:
    """A run's figures as the template shows them."""

    letter: str
    name: str
    suite: str
    heading: str
    run_id: str
    started: str
    facts: tuple[tuple[str, str], ...]
    remarks: tuple[str, ...]
    score: Whisker
    levels: tuple[tuple[str, Whisker, Whisker], ...]
    outcomes: tuple[Slice, ...]
    sources: tuple[Slice, ...]
    repairs: tuple[tuple[str, int], ...]
    failures: tuple[tuple[str, int], ...]
    latency: Histogram | None
    tokens: Histogram | None


@dataclass(frozen=True, slots=True)
class RatesTable:
    """Rates by name, one of each run; words where it got no answer, None where it did not ask."""

    title: str
    rows: tuple[tuple[str, tuple[Whisker | str | None, ...]], ...]


@dataclass(frozen=True, slots=True)
class ComparisonOnPage:
    """How a run differs from the first; `refused` says why nobody can say."""

    letter: str
    found: Comparison | None
    axis: Between | None
    refused: str = ""

    @property
    def power(self) -> str:
        """What its scenarios can show."""
        return "" if self.found is None else power_words(self.found.overall)


def _title(reports: Sequence[Report]) -> str:
    suites = dict.fromkeys(visible(report.run.suite, 60) for report in reports)
    return ", ".join(suites)


def _run(number: int, report: Report) -> RunOnPage:
    run, summary = report.run, report.summary
    latencies, tokens = [], []
    for result in report.results:
        for attempt in result.attempts:
            if attempt.latency_seconds is not None:
                latencies.append(attempt.latency_seconds)
            if attempt.completion_tokens is not None:
                tokens.append(float(attempt.completion_tokens))
    return RunOnPage(
        letter=LETTERS[number % len(LETTERS)],
        name=_said(run.model or run.client),
        suite=_said(run.suite),
        heading=_said(run.heading or ""),
        run_id=_said(run.run_id),
        started=_said(run.started_at[:16].replace("T", " ")),
        facts=tuple(_facts(report)),
        remarks=tuple(_said(one) for one in remarks(report)),
        score=whisker(summary.final),
        levels=tuple(
            (level, whisker(summary.levels[level]), whisker(summary.levels_first_attempt[level]))
            for level in LEVELS
        ),
        outcomes=slices(_told(summary.outcomes)),
        sources=slices({**_told(summary.sources), **_without_call(report)}),
        repairs=tuple(_told(summary.repairs).items()),
        failures=tuple(_told(summary.failures).items()),
        latency=histogram(latencies, "s"),
        tokens=histogram(tokens, "tokens"),
    )


def _without_call(report: Report) -> dict[str, int]:
    summary = report.summary
    left = summary.scenarios - summary.infrastructure_failures - sum(summary.sources.values())
    return {"no call": left} if left else {}


def _facts(report: Report) -> Iterator[tuple[str, str]]:
    run, summary = report.run, report.summary
    yield "format", _said(run.format)
    yield "level", run.level
    yield "profile", _said(run.profile)
    yield "asked by", _said(run.ask)
    yield "attempts", f"up to {run.attempts}"
    if run.repeats > 1:
        yield "repeats", str(run.repeats)
    yield "first attempt", whisker(summary.first_attempt).words
    for name, tokens in (
        ("tokens in", summary.prompt_tokens),
        ("tokens out", summary.completion_tokens),
    ):
        if tokens is not None:
            yield name, f"{tokens:,}"


def _tables(reports: Sequence[Report]) -> Iterator[RatesTable]:
    lost = [_unanswered(report) for report in reports]
    for title, rates in (
        ("By tool", [report.summary.tools for report in reports]),
        ("By tag", [report.summary.tags for report in reports]),
        ("With faults", [_reactions(report) for report in reports]),
    ):
        rows = tuple(_rows(rates, [one[title] for one in lost]))
        if rows:
            yield RatesTable(title, rows)


def _reactions(report: Report) -> dict[str, Rate]:
    return {row.name: row.rate for row in reactions(report.summary)}


def _unanswered(report: Report) -> dict[str, set[str]]:
    """The tools and tags of the scenarios that infrastructure failed."""
    found: dict[str, set[str]] = {"By tool": set(), "By tag": set(), "With faults": set()}
    if report.summary.infrastructure_failures:
        for result in report.results:
            if result.outcome in INFRASTRUCTURE:
                found["By tool"].update(expected_tools(result.expected))
                found["By tag"].update(result.tags)
    return found


def _rows(
    rates: Sequence[Mapping[str, Rate]], lost: Sequence[set[str]]
) -> Iterator[tuple[str, tuple[Whisker | str | None, ...]]]:
    """The names with the most results first."""
    names = sorted(
        {name for one in rates for name in one},
        key=lambda name: (-max(one[name].total for one in rates if name in one), name),
    )
    for name in names:
        yield (
            _said(name),
            tuple(
                whisker(one[name]) if name in one else "no answer" if name in failed else None
                for one, failed in zip(rates, lost, strict=True)
            ),
        )


def _comparisons(reports: Sequence[Report]) -> Iterator[ComparisonOnPage]:
    """Each further run against the first; a run of other questions alone is refused."""
    for number, other in enumerate(reports[1:], 1):
        letter = LETTERS[number % len(LETTERS)]
        try:
            (found,) = compare_runs([source_of(reports[0]), source_of(other)])
        except ComparisonError as error:
            yield ComparisonOnPage(letter, None, None, _said(str(error)))
            continue
        overall = found.overall
        yield ComparisonOnPage(
            letter, found, between(100 * overall.value, 100 * overall.low, 100 * overall.high)
        )


def _told(counts: Mapping[str, int]) -> dict[str, int]:
    return {_said(name): count for name, count in counts.items()}


def _said(text: str) -> str:
    """A text of somebody else's, on a line, without secrets."""
    return visible(hidden(text), 400)
