"""Several runs of the same questions in one order: which differences are real, and which are ties.

A cell is one run: a model with a system prompt. Every pair of cells is tested over the scenarios
that both answered, and the p values are adjusted after Holm over all pairs. Two cells that share a
letter may be equally good.
"""

from __future__ import annotations

import csv
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from io import StringIO
from itertools import combinations, zip_longest
from string import ascii_lowercase
from typing import TextIO

from tunaeval.showing import counted, shows, visible
from tunaeval.types.calls import JsonObject
from tunaeval.types.messages import Prices, Usage
from tunaeval.types.runs import Rate, Report, ScenarioResult, Summary

from .compare import Difference, Differences, adjusted
from .console import TableRow, console_like, draw_table, speaks_unicode
from .markdown import code
from .sides import Question
from .summary import INFRASTRUCTURE, NO_TOOL
from .tables import cell as csv_cell
from .wording import cached, interval, percent, progress

SIGNIFICANCE = 0.05
"""The adjusted p value below which a difference counts as real."""


@dataclass(frozen=True, slots=True)
class CellName:
    """The name of a cell: its number, its model, and its system prompt (None: the suite's)."""

    cell: str
    model: str
    system_prompt: str | None = None

    @property
    def words(self) -> str:
        return self.model if self.system_prompt is None else f"{self.model}, {self.system_prompt}"


@dataclass(frozen=True, slots=True)
class RankedCell:
    """The figures of one run in a ranking.

    `letters` is empty and `score.value` None for a cell without an answer. `cost` is in the
    currency of the prices, None if a price or a count of tokens is unknown. `error` says why a cell
    could not be asked.
    """

    name: CellName
    run_id: str
    directory: str | None
    heading: str | None
    score: Rate
    letters: str
    outcomes: dict[str, int]
    sources: dict[str, int]
    failures: int
    latency_seconds_median: float | None
    prompt_tokens: int | None
    completion_tokens: int | None
    cost: float | None
    confused: dict[str, int]
    """How often a tool was called in place of the expected one, as "expected -> called"."""
    error: str | None


@dataclass(frozen=True, slots=True)
class Pair:
    """Two cells by their numbers, and how far the scores of `b` differ from those of `a`."""

    a: str
    b: str
    difference: Difference

    @property
    def is_real(self) -> bool:
        return self.difference.p_adjusted < SIGNIFICANCE


@shows
@dataclass(frozen=True, slots=True, repr=False)
class Ranking:
    """The cells, best first, and what separates them.

    Examples:
        >>> from tunaeval import ScriptedClient
        >>> matrix = tunaeval.run_matrix(
        ...     "smoke", models=[ScriptedClient([""] * 24), ScriptedClient(["Hi."] * 24)], out=None
        ... )
        >>> [cell.letters for cell in matrix.ranking.cells]
        ['a', 'a']
    """

    cells: tuple[RankedCell, ...]
    pairs: tuple[Pair, ...]
    separating: dict[str, tuple[str, ...]]
    """The numbers of the cells that pass, for each scenario that some pass and others fail."""
    all_pass: tuple[str, ...]
    """The scenarios that every cell answered and passed; `none_pass`: answered and failed."""
    none_pass: tuple[str, ...]
    remarks: tuple[str, ...] = ()
    """What a reader has to know beside the scores: what is missing, or from a cache."""

    def _in_short(self) -> str:
        best = self.cells[0].name.words if self.cells else "nothing"
        return f"Ranking of {counted(len(self.cells), 'cell')}, first {best}"

    def _in_rows(self) -> Iterator[tuple[str, ...]]:
        for cell in self.cells:
            yield cell.name.words, percent(cell.score), interval(cell.score), cell.letters


@dataclass(slots=True)
class _Answers:
    """A cell's answers by scenario: the share of passed repeats, and the group."""

    shares: dict[str, float]
    groups: dict[str, str | None]
    confused: Counter[str]

    @classmethod
    def of(cls, report: Report) -> _Answers:
        """Collect a report's answers; a scenario with an infrastructure failure is left out."""
        counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
        groups, lost, confused = {}, set(), Counter[str]()
        for result in report.results:
            groups[result.scenario] = result.group
            if result.outcome in INFRASTRUCTURE:
                lost.add(result.scenario)
                continue
            counts[result.scenario][0] += result.ok
            counts[result.scenario][1] += 1
            if not result.ok:
                confused.update(_confused(result))
        shares = {name: passed / of for name, (passed, of) in counts.items() if name not in lost}
        return cls(shares, groups, confused)


def _confused(result: ScenarioResult) -> Iterator[str]:
    """Yield "expected -> called" for expected tools that were not called, and for extra calls."""
    if result.expected.calls is None:
        return
    wanted = Counter(call.name for call in result.expected.calls)
    got = Counter(call.name for call in result.got)
    for missed, extra in zip_longest(
        (wanted - got).elements(), (got - wanted).elements(), fillvalue=NO_TOOL
    ):
        yield f"{missed} -> {extra}"


def rank(
    reports: Sequence[Report],
    names: Sequence[CellName],
    *,
    prices: Sequence[Prices] = (),
    errors: Sequence[str | None] = (),
    missing: Sequence[CellName] = (),
    directory: str | None = None,
) -> Ranking:
    """Return the ranking of runs that were asked the same scenarios, perhaps with other prompts.

    `prices` are those of a million prompt and completion tokens, `errors` say why a cell could not
    be asked; both are by cell, and unknown where they are missing. `missing` are cells without a
    run, and `directory` is where the matrix is kept.
    """
    answers = [_Answers.of(report) for report in reports]
    pairs = _pairs(answers, names)
    # The best score is first; cells without a score are last.
    scores = [-1.0 if (value := one.summary.final.value) is None else value for one in reports]
    order = sorted(range(len(reports)), key=lambda cell: -scores[cell])
    judged = [names[cell].cell for cell in order if answers[cell].shares]
    letters = letters_of(judged, {(pair.a, pair.b) for pair in pairs if pair.is_real})
    ranked = []
    for cell in order:
        report, name = reports[cell], names[cell]
        summary = report.summary
        price = prices[cell] if cell < len(prices) else (None, None)
        ranked.append(
            RankedCell(
                name=name,
                run_id=report.run.run_id,
                directory=report.directory,
                heading=report.run.heading,
                score=summary.final,
                letters=letters.get(name.cell, ""),
                outcomes=summary.outcomes,
                sources=summary.sources,
                failures=summary.infrastructure_failures,
                latency_seconds_median=summary.latency_seconds_median,
                prompt_tokens=summary.prompt_tokens,
                completion_tokens=summary.completion_tokens,
                cost=cost_of(summary, price),
                confused=dict(answers[cell].confused.most_common()),
                error=errors[cell] if cell < len(errors) else None,
            )
        )
    passing = _passing(answers, names)
    every = len(names) + len(missing)
    asked = [report for report, error in zip_longest(reports, errors) if not error]
    return Ranking(
        cells=tuple(ranked),
        pairs=pairs,
        separating={name: cells for name, (cells, of) in passing.items() if 0 < len(cells) < of},
        all_pass=tuple(name for name, (cells, _) in passing.items() if len(cells) == every),
        none_pass=tuple(name for name, (cells, of) in passing.items() if not cells and of == every),
        remarks=tuple(_remarks(asked, missing, directory)),
    )


def _pairs(answers: Sequence[_Answers], names: Sequence[CellName]) -> tuple[Pair, ...]:
    """Compare each two cells that answered a common scenario; p values are adjusted after Holm."""
    tested = [
        differences.difference(names[a].cell, names[b].cell)
        for a, b in combinations(range(len(answers)), 2)
        if (differences := _differences(answers[a], answers[b])).scenarios
    ]
    return tuple(Pair(one.section, one.name, one) for one in adjusted(tested))


def _remarks(
    asked: Sequence[Report], missing: Sequence[CellName], directory: str | None
) -> Iterator[str]:
    """Yield lines on missing cells, on how far the others came, and on cached replies."""
    for name in missing:
        yield f"cell {name.cell} ({name.words}) was not begun or its run.json is missing"
    if any(one.interrupted for one in asked):
        spent = any(one.run.budget_reached for one in asked)
        why = "the budget is spent" if spent else "interrupted"
        yield f"{why}, {progress(*asked)}; tunaeval run --resume {directory or 'RUN'} finishes it"
    yield from cached(*(one.summary for one in asked))


def _differences(a: _Answers, b: _Answers) -> Differences:
    differences = Differences()
    for scenario in a.shares.keys() & b.shares.keys():
        question = Question("", a.groups[scenario], (), (), 1.0)
        differences.add(question, a.shares[scenario], b.shares[scenario])
    return differences


def _passing(
    answers: Sequence[_Answers], names: Sequence[CellName]
) -> dict[str, tuple[tuple[str, ...], int]]:
    """Return for each scenario the cells that pass it in half of the repeats or more, and the
    number of cells that answered it.
    """
    found = {}
    for scenario in sorted({name for one in answers for name in one.shares}):
        shares = {
            name.cell: one.shares[scenario]
            for one, name in zip(answers, names, strict=True)
            if scenario in one.shares
        }
        found[scenario] = (tuple(cell for cell in shares if shares[cell] >= 0.5), len(shares))
    return found


def letters_of(cells: Sequence[str], apart: set[tuple[str, str]]) -> dict[str, str]:
    """Return letters by cell, so that two cells share a letter unless their pair is in `apart`.

    The groups are made by insertion and absorption, see Piepho, "An algorithm for a letter-based
    representation of all-pairwise comparisons" (2004). The first cell's first letter is "a".

    Examples:
        >>> from tunaeval.reports.ranking import letters_of
        >>> letters_of(["1", "2", "3"], {("1", "3")})
        {'1': 'a', '2': 'ab', '3': 'b'}
    """
    groups = [frozenset(cells)]
    for one, other in sorted(apart):
        for group in [group for group in groups if one in group and other in group]:
            groups.remove(group)
            for kept in (group - {one}, group - {other}):
                if not any(kept <= known for known in groups):
                    groups = [known for known in groups if not known < kept] + [kept]
    groups.sort(key=lambda group: [cell not in group for cell in cells])
    return {
        cell: "".join(_letter(number) for number, group in enumerate(groups) if cell in group)
        for cell in cells
    }


def _letter(number: int) -> str:
    """Return a, b, ..., z, then a2, b2, and so on."""
    again, place = divmod(number, len(ascii_lowercase))
    return ascii_lowercase[place] + (str(again + 1) if again else "")


def cost_of(summary: Summary, prices: Prices) -> float | None:
    """Return a run's cost, None if prices or counts are missing. Cached replies cost nothing."""
    asked = Usage(
        _less(summary.prompt_tokens, summary.cached_prompt_tokens),
        _less(summary.completion_tokens, summary.cached_completion_tokens),
    )
    return asked.cost(prices)


def _less(tokens: int | None, cached: int) -> int | None:
    return None if tokens is None else tokens - cached


def ranking_object(ranking: Ranking) -> JsonObject:
    """Return a ranking as a JSON object, with the headings of cells above their scores."""
    pairs = [
        {"a": pair.a, "b": pair.b, **asdict(pair.difference), "real": pair.is_real}
        for pair in ranking.pairs
    ]
    return {
        "remarks": list(ranking.remarks),
        "cells": [_cell_object(cell) for cell in ranking.cells],
        "pairs": pairs,
        "separating": {name: list(cells) for name, cells in ranking.separating.items()},
        "all_pass": list(ranking.all_pass),
        "none_pass": list(ranking.none_pass),
    }


def _cell_object(cell: RankedCell) -> JsonObject:
    fields = {**asdict(cell), "score": cell.score.model_dump()}
    return {**fields.pop("name"), "heading": fields.pop("heading"), **fields}


def show_ranking(ranking: Ranking, stream: TextIO) -> None:
    """Print a ranking: the table, and below it what separates the cells."""
    page = StringIO()
    console = console_like(stream, page)
    rows = [
        TableRow("", f"{cell.name.cell} {cell.name.words}", row[3:])
        for cell, row in zip(ranking.cells, table_rows(ranking), strict=True)
    ]
    draw_table(console, COLUMNS[3:], rows, plain=not speaks_unicode(stream))
    for line in lines_below(ranking):
        console.print(visible(line), soft_wrap=True)
    stream.write(page.getvalue())


def ranking_markdown(ranking: Ranking) -> str:
    """Return a ranking as GitHub's Markdown."""
    lines = [f"| {' | '.join(COLUMNS)} |", f"|{'---|' * len(COLUMNS)}"]
    rows = ([code(text) if text else "" for text in row] for row in table_rows(ranking))
    lines += [f"| {' | '.join(row)} |" for row in rows]
    lines += ["", *(f"- {code(line, _LINE)}" for line in lines_below(ranking))]
    return "\n".join(["## Ranking", "", *lines]) + "\n"


def ranking_csv(ranking: Ranking) -> str:
    """Return the table as CSV (RFC 4180), with texts escaped that a spreadsheet would run."""
    page = StringIO()
    table = csv.writer(page)
    table.writerow(COLUMNS)
    table.writerows([csv_cell(text) for text in row] for row in table_rows(ranking))
    return page.getvalue()


_LINE = 1000
"""The most characters of a line below the table in Markdown."""

COLUMNS = (
    "cell", "model", "system prompt", "score", "95 % interval", "letters", "outcomes", "calls from",
    "latency", "tokens in", "tokens out", "cost",
)  # fmt: skip
"""The columns of the table that is on the terminal, in Markdown and in CSV."""


def table_rows(ranking: Ranking) -> Iterator[tuple[str, ...]]:
    """Yield a row of texts for each cell, best first; an unknown value is an empty text."""
    for cell in ranking.cells:
        latency, cost = cell.latency_seconds_median, cell.cost
        yield (
            cell.name.cell,
            cell.name.model,
            cell.name.system_prompt or "",
            "no answer" if cell.score.value is None else percent(cell.score),
            "" if cell.score.value is None else interval(cell.score),
            cell.letters,
            _counts(cell.outcomes),
            _counts(cell.sources),
            "" if latency is None else f"{latency:.2f} s",
            "" if cell.prompt_tokens is None else str(cell.prompt_tokens),
            "" if cell.completion_tokens is None else str(cell.completion_tokens),
            "" if cost is None else f"{cost:.4f}",
        )


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items())


_SHOWN = 12
"""How many scenarios are named in a line of `lines_below`."""


def lines_below(ranking: Ranking) -> Iterator[str]:
    """Yield the lines below the table: remarks, and what separates the cells."""
    yield from ranking.remarks
    yield from _about_cells(ranking.cells)
    if ranking.pairs:
        yield (
            "cells that share a letter may be equally good (exact tests of all pairs, Holm, 5 %)"
        )
    words = {cell.name.cell: cell.name.words for cell in ranking.cells}
    yield from (_difference(pair, words) for pair in ranking.pairs if pair.is_real)
    for what, names in (
        ("scenarios that separate the cells", [*ranking.separating]),
        ("passed by all", ranking.all_pass),
        ("passed by none", ranking.none_pass),
    ):
        if names:
            more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
            yield f"{what}: {len(names)} ({', '.join(names[:_SHOWN])}{more})"
    for cell in ranking.cells:
        if cell.confused:
            some = list(cell.confused.items())[:_SHOWN]
            pairs = ", ".join(f"{words} {count}" for words, count in some)
            yield f"called in place of the expected tool, {cell.name.words}: {pairs}"


def _about_cells(cells: Sequence[RankedCell]) -> Iterator[str]:
    for cell in cells:
        name = f"{cell.name.cell} ({cell.name.words})"
        if cell.error:
            yield f"{name} could not be asked: {cell.error}"
        elif cell.failures:
            yield f"{name}: {counted(cell.failures, 'result')} without an answer"
        if cell.heading:
            yield f"{name}: {cell.heading}"


def _difference(pair: Pair, words: Mapping[str, str]) -> str:
    better, worse = (pair.b, pair.a) if pair.difference.value > 0 else (pair.a, pair.b)
    p = pair.difference.p_adjusted
    return (
        f"{words[better]} is better than {words[worse]}: "
        f"{abs(100 * pair.difference.value):.1f} points, "
        f"adjusted p {'< 0.001' if p < 0.001 else f'= {p:.3f}'}"
    )
