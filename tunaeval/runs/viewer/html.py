"""Write runs as one HTML page, a single file that opens without a network, part by part.

jinja2 escapes every text. The page's policy (Content-Security-Policy) allows only the page's own
script and style, by their SHA-256, and no other source of anything.
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
"""The most scenarios shown that flipped one way; the table has all of them."""


class PageWriter:
    """A `Writer` of one HTML page for one run, or for several side by side."""

    name = "html"

    def write(self, report: Report, path: Path) -> None:
        self.write_runs([report], path)

    def write_runs(self, reports: Sequence[Report], path: Path) -> None:
        """Write several runs side by side into a new file; the first is the baseline."""
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
                names=lambda: list(names.numbers),  # complete only once the blocks are written
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
    environment.filters["visible"] = _safe
    environment.globals["counted"] = counted
    return environment.from_string(_asset("page.html"))


def _asset(name: str) -> str:
    return files(__package__).joinpath("page", name).read_text("utf-8")


def _as_it_is(text: str) -> Markup:
    """Mark the package's own file as safe; the page's policy has its digest."""
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
    """A run's figures in the form that the template shows."""

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
    """Rates by name, one for each run: a text if nothing was answered, None if not asked."""

    title: str
    rows: tuple[tuple[str, tuple[Whisker | str | None, ...]], ...]


@dataclass(frozen=True, slots=True)
class ComparisonOnPage:
    """A run compared with the first; `refused` says why they cannot be compared, if so."""

    letter: str
    found: Comparison | None
    axis: Between | None
    refused: str = ""

    @property
    def power(self) -> str:
        """A sentence on how large a difference the run's scenarios can detect."""
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
        name=_safe(run.model or run.client),
        suite=_safe(run.suite),
        heading=_safe(run.heading or ""),
        run_id=_safe(run.run_id),
        started=_safe(run.started_at[:16].replace("T", " ")),
        facts=tuple(_facts(report)),
        remarks=tuple(_safe(one) for one in remarks(report)),
        score=whisker(summary.final),
        levels=tuple(
            (level, whisker(summary.levels[level]), whisker(summary.levels_first_attempt[level]))
            for level in LEVELS
        ),
        outcomes=slices(_safe_names(summary.outcomes)),
        sources=slices({**_safe_names(summary.sources), **_without_call(report)}),
        repairs=tuple(_safe_names(summary.repairs).items()),
        failures=tuple(_safe_names(summary.failures).items()),
        latency=histogram(latencies, "s"),
        tokens=histogram(tokens, "tokens"),
    )


def _without_call(report: Report) -> dict[str, int]:
    summary = report.summary
    left = summary.scenarios - summary.infrastructure_failures - sum(summary.sources.values())
    return {"no call": left} if left else {}


def _facts(report: Report) -> Iterator[tuple[str, str]]:
    run, summary = report.run, report.summary
    yield "format", _safe(run.format)
    yield "level", run.level
    yield "profile", _safe(run.profile)
    yield "asked by", _safe(run.ask)
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
    """Return the expected tools and the tags of scenarios that infrastructure failed."""
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
    """Yield the rows of a table, the names with the most results first."""
    names = sorted(
        {name for one in rates for name in one},
        key=lambda name: (-max(one[name].total for one in rates if name in one), name),
    )
    for name in names:
        yield (
            _safe(name),
            tuple(
                whisker(one[name]) if name in one else "no answer" if name in failed else None
                for one, failed in zip(rates, lost, strict=True)
            ),
        )


def _comparisons(reports: Sequence[Report]) -> Iterator[ComparisonOnPage]:
    """Compare each further run with the first; one without a common scenario is refused."""
    for number, other in enumerate(reports[1:], 1):
        letter = LETTERS[number % len(LETTERS)]
        try:
            (found,) = compare_runs([source_of(reports[0]), source_of(other)])
        except ComparisonError as error:
            yield ComparisonOnPage(letter, None, None, _safe(str(error)))
            continue
        overall = found.overall
        yield ComparisonOnPage(
            letter, found, between(100 * overall.value, 100 * overall.low, 100 * overall.high)
        )


def _safe_names(counts: Mapping[str, int]) -> dict[str, int]:
    return {_safe(name): count for name, count in counts.items()}


def _safe(text: str) -> str:
    """Return a text from outside on one line, without secrets."""
    return visible(hidden(text), 400)
