"""Several runs of the same questions in one order: which differences are real, and which are ties.

A cell is one run: a model with a system prompt. A cell that left too much unanswered is not ranked.
All figures that are compared are over the common scenarios: those that every ranked cell answered
in all repeats. Every pair of ranked cells is tested, and the p values are adjusted after Holm over
all pairs. Two cells that share a letter may be equally good.
"""

from __future__ import annotations

import csv
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from io import StringIO
from itertools import combinations, zip_longest
from string import ascii_lowercase
from typing import ClassVar, TextIO, TypeAlias

from tunaeval.matching.assignment import NO_OTHERS
from tunaeval.showing import counted, shows, visible
from tunaeval.types.calls import JsonObject
from tunaeval.types.error_budget import ErrorBudget
from tunaeval.types.messages import Prices, Usage
from tunaeval.types.runs import Rate, Report, ScenarioResult, Summary
from tunaeval.types.tables import INFRASTRUCTURE

from .compare import Difference, Differences, adjusted
from .console import PLAIN_WIDTH, TableRow, draw_table, page_on, print_lines
from .markdown import code
from .sides import Question, ScenarioCounts, sole_group
from .summary import Passes
from .tables import cell as csv_cell
from .wording import answered_words, cached, interval, of_one_group, percent, progress

SIGNIFICANCE = 0.05
"""The adjusted p value below which a difference counts as real."""
MAX_ERRORS = ErrorBudget(5, is_percentage=True)
"""How many results of a cell that is ranked may lack an answer, unless a budget is given."""


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
class Confusion:
    """How often one tool was called where another was expected; None is no call."""

    expected: str | None
    called: str | None
    times: int

    @property
    def words(self) -> str:
        called = "no call" if self.called is None else f"called {self.called}"
        return f"expected {self.expected or 'no call'}, {called}: {self.times}"


@dataclass(frozen=True, slots=True)
class RankedCell:
    """The figures of one run in a ranking.

    `score` and `confused` are over the common scenarios. `passed`, `of` and `no_answer` count
    results (scenarios times repeats): `passed` of `of` is the score, and `no_answer` counts what
    the whole run lacks. For a cell that is not ranked, `not_ranked` says why, `ties` is empty,
    `score.value` is None, and `of` counts all that was asked. `cost` is in the currency of the
    prices, None if a price or a count of tokens is unknown. `error` says why a cell could not be
    asked.
    """

    name: CellName
    run_id: str
    directory: str | None
    heading: str | None
    score: Rate
    passed: int
    of: int
    no_answer: int
    not_ranked: str | None
    ties: str
    outcomes: dict[str, int]
    sources: dict[str, int]
    latency_seconds_median: float | None
    prompt_tokens: int | None
    completion_tokens: int | None
    cost: float | None
    confused: tuple[Confusion, ...]
    """Which tools were called where others were expected, the most frequent first."""
    error: str | None

    @property
    def title(self) -> str:
        return f"{self.name.cell} ({self.name.words})"


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
    """The cells, best first and those that are not ranked last, and what separates them.

    Examples:
        >>> from tunaeval import ScriptedClient
        >>> matrix = tunaeval.run_matrix(
        ...     "smoke", models=[ScriptedClient([""] * 24), ScriptedClient(["Hi."] * 24)], out=None
        ... )
        >>> [cell.ties for cell in matrix.ranking.cells]
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
        best = f"first {self.cells[0].name.words}" if self.ranks else "none is ranked"
        return f"Ranking of {counted(len(self.cells), 'cell')}, {best}"

    _HEADS: ClassVar[tuple[str, ...]] = ("cell", "score", "passed", "of", "ties", "interval")

    def _in_rows(self) -> Iterator[tuple[str, ...]]:
        for cell in self.cells:
            counts, name = (str(cell.passed), str(cell.of)), f"{cell.name.cell} {cell.name.words}"
            yield name, _score(cell), *counts, cell.ties, interval(cell.score)

    @property
    def ranks(self) -> bool:
        """Whether any cell is ranked."""
        return any(cell.not_ranked is None for cell in self.cells)


_Pairing: TypeAlias = tuple[str | None, str | None]
"""The tool that was expected, and the one that was called; None is no call."""


@dataclass(frozen=True, slots=True, eq=False)
class _Answers:
    """A cell's results. `of` counts what was asked, or what is planned if nothing was."""

    name: CellName
    report: Report
    error: str | None
    asked: Mapping[str, ScenarioCounts]
    whole: frozenset[str]
    """The scenarios that were answered whenever they were asked."""
    confused: Mapping[str, Counter[_Pairing]]
    passed: int
    answered: int
    no_answer: int
    of: int

    @classmethod
    def from_report(cls, name: CellName, report: Report, error: str | None) -> _Answers:
        """Count a report's results. If an `error` ended the run, what it lacks got no answer."""
        asked: dict[str, ScenarioCounts] = {}
        lost, confused = Counter[str](), defaultdict[str, Counter[_Pairing]](Counter)
        for number, result in enumerate(report.results, start=1):
            if result.outcome in INFRASTRUCTURE:
                lost[result.scenario] += 1
                continue
            if result.scenario not in asked:
                question = Question("", result.group, (), (), 1.0)
                asked[result.scenario] = ScenarioCounts(question)
            asked[result.scenario].add(number, result.ok)
            confused[result.scenario].update(_confused(result))
        passed = sum(one.passed for one in asked.values())
        answered = sum(one.total for one in asked.values())
        planned = report.run.scenarios * report.run.repeats
        no_answer = planned - answered if error else lost.total()
        whole, of = frozenset(asked.keys() - lost.keys()), answered + no_answer or planned
        return cls(name, report, error, asked, whole, confused, passed, answered, no_answer, of)

    @property
    def complete(self) -> frozenset[str]:
        """The scenarios that were answered in all repeats."""
        repeats = self.report.run.repeats
        return frozenset(name for name in self.whole if self.asked[name].total >= repeats)

    def score(self, scenarios: Iterable[str]) -> Rate:
        """Return the share of passed results of scenarios that were answered in all repeats."""
        passes, is_repeated = Passes(), self.report.run.repeats > 1
        asked = {name: self.asked[name] for name in scenarios}
        sole = sole_group(one.question for one in asked.values())
        for name, one in asked.items():
            group = one.question.alone(sole).cluster
            for number in range(one.total):
                cluster = name if group is None and is_repeated else group
                passes.add("score", number < one.passed, cluster)
        return passes.rate("score")

    def confusions(self, scenarios: Iterable[str]) -> tuple[Confusion, ...]:
        found = Counter[_Pairing]()
        for name in scenarios:
            found.update(self.confused.get(name, ()))
        every = (Confusion(*pair, times) for pair, times in found.items())
        return tuple(sorted(every, key=lambda one: (-one.times, one.words)))

    def why_not(self, budget: ErrorBudget) -> str:
        """Return why the cell is not ranked, which it is not."""
        words = f"not ranked: {answered_words(self.answered, self.of)}"
        if not budget.allows(self.no_answer, self.of) or not self.answered:
            return words
        return f"{words}, no scenario {'by every cell' if self.complete else 'in all repeats'}"


def _confused(result: ScenarioResult) -> Iterator[_Pairing]:
    """Yield what a failed result confused: not what its mode of matching allows, and nothing if the
    reply was malformed or cut off, since that chooses no tool.
    """
    expected, mode = result.expected, result.expected.match
    names = expected.tools if expected.calls is None else [one.name for one in expected.calls]
    if result.ok or result.outcome not in _CHOICES or (names is None and not expected.none):
        return
    wanted, got = Counter(names or ()), Counter(call.name for call in result.got)
    missed, extra = [*(wanted - got).elements()], [*(got - wanted).elements()]
    if mode not in NO_OTHERS:
        del extra[len(missed) :]
    elif mode == "subset":
        del missed[max(len(extra), not got) :]
    yield from zip_longest(missed, extra)


_CHOICES = ("calls", "no_call")
"""Outcomes that show which tool the model chose."""


def rank(
    reports: Sequence[Report],
    names: Sequence[CellName],
    *,
    prices: Sequence[Prices] = (),
    errors: Sequence[str | None] = (),
    missing: Sequence[CellName] = (),
    directory: str | None = None,
    max_errors: ErrorBudget = MAX_ERRORS,
) -> Ranking:
    """Return the ranking of runs that were asked the same scenarios, perhaps with other prompts.

    `prices` are those of a million prompt and completion tokens, `errors` say why a cell could not
    be asked; both are by cell, and unknown where they are missing. `missing` are cells without a
    run, and `directory` is where the matrix is kept. A cell of which more results got no answer
    than `max_errors` allows is not ranked.
    """
    answers = [
        _Answers.from_report(name, report, error)
        for name, report, error in zip_longest(names, reports, errors)
    ]
    able = [one for one in answers if one.complete and max_errors.allows(one.no_answer, one.of)]
    common = sorted(frozenset.intersection(*(one.complete for one in able))) if able else []
    ranked = able if common else []
    pairs = _pairs(ranked, common)
    cells = [
        _ranked_cell(
            one, common, None if one in ranked else one.why_not(max_errors), price or (None, None)
        )
        for one, price in zip_longest(answers, prices)
    ]
    # The best score is first; cells without a score are last.
    cells.sort(key=lambda cell: 1.0 if cell.score.value is None else -cell.score.value)
    judged = [cell.name.cell for cell in cells if cell.not_ranked is None]
    letters = letters_of(judged, {(pair.a, pair.b) for pair in pairs if pair.is_real})
    passing = _passing(answers)
    every = len(names) + len(missing)
    remarks = [*_about_common(answers, able, common, max_errors)]
    if ranked:
        remarks += of_one_group(sole_group(ranked[0].asked[name].question for name in common))
    remarks += _remarks([one.report for one in answers if not one.error], missing, directory)
    return Ranking(
        cells=tuple(replace(cell, ties=letters.get(cell.name.cell, "")) for cell in cells),
        pairs=pairs,
        separating={name: cells for name, (cells, of) in passing.items() if 0 < len(cells) < of},
        all_pass=tuple(name for name, (cells, _) in passing.items() if len(cells) == every),
        none_pass=tuple(name for name, (cells, of) in passing.items() if not cells and of == every),
        remarks=tuple(remarks),
    )


def _ranked_cell(
    answers: _Answers, common: Sequence[str], why_not: str | None, price: Prices
) -> RankedCell:
    run, summary = answers.report.run, answers.report.summary
    score = answers.score(() if why_not else common)
    return RankedCell(
        name=answers.name,
        run_id=run.run_id,
        directory=answers.report.directory,
        heading=run.heading,
        score=score,
        passed=answers.passed if why_not else score.passed,
        of=answers.of if why_not else score.total,
        no_answer=answers.no_answer,
        not_ranked=why_not,
        ties="",
        outcomes=summary.outcomes,
        sources=summary.sources,
        latency_seconds_median=summary.latency_seconds_median,
        prompt_tokens=summary.prompt_tokens,
        completion_tokens=summary.completion_tokens,
        cost=cost_of(summary, price),
        confused=answers.confusions(common),
        error=answers.error,
    )


def _pairs(ranked: Sequence[_Answers], common: Sequence[str]) -> tuple[Pair, ...]:
    """Compare each two ranked cells over the common scenarios; p values are adjusted after Holm."""
    tested = []
    for a, b in combinations(ranked, 2):
        differences = Differences()
        sole = sole_group(a.asked[scenario].question for scenario in common)
        for scenario in common:
            one, other = a.asked[scenario], b.asked[scenario]
            differences.add(one.question.alone(sole), one.rate, other.rate)
        tested.append(differences.difference(a.name.cell, b.name.cell))
    return tuple(Pair(one.section, one.name, one) for one in adjusted(tested))


def _about_common(
    answers: Sequence[_Answers], able: Sequence[_Answers], common: Sequence[str], most: ErrorBudget
) -> Iterator[str]:
    """Yield a line if no cell is ranked, or if the scores are not over all scenarios."""
    every = max((one.report.run.scenarios for one in answers), default=0)
    if not able:
        yield f"no cell is ranked: none has enough answers (--max-errors {most})"
    elif not common:
        yield "no cell is ranked: no scenario was answered by every cell in all repeats"
    elif len(common) < every:
        yield (
            f"the scores are over {len(common)} of {counted(every, 'scenario')}, which every "
            "ranked cell answered in all repeats"
        )


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


def _passing(answers: Sequence[_Answers]) -> dict[str, tuple[tuple[str, ...], int]]:
    """Return for each scenario the cells that pass it in half of the repeats or more, and the
    number of cells that answered it.
    """
    found = {}
    for scenario in sorted(frozenset[str]().union(*(one.whole for one in answers))):
        rates = {
            one.name.cell: one.asked[scenario].rate for one in answers if scenario in one.whole
        }
        found[scenario] = (tuple(cell for cell in rates if rates[cell] >= 0.5), len(rates))
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
    return {
        "remarks": list(ranking.remarks),
        "cells": [_cell_object(cell) for cell in ranking.cells],
        "pairs": [_pair_object(pair) for pair in ranking.pairs],
        "separating": {name: list(cells) for name, cells in ranking.separating.items()},
        "all_pass": list(ranking.all_pass),
        "none_pass": list(ranking.none_pass),
    }


def _cell_object(cell: RankedCell) -> JsonObject:
    confused = [asdict(one) for one in cell.confused]
    fields = {**asdict(cell), "score": cell.score.model_dump(), "confused": confused}
    return {**fields.pop("name"), "heading": fields.pop("heading"), **fields}


def _pair_object(pair: Pair) -> JsonObject:
    fields = asdict(pair.difference)
    named = {"a": fields.pop("section"), "b": fields.pop("name")}
    rates = {"rate_a": fields.pop("a"), "rate_b": fields.pop("b")}
    return {**named, **rates, **fields, "real": pair.is_real}


def show_ranking(ranking: Ranking, stream: TextIO) -> None:
    """Print a ranking: the table, and below it what separates the cells."""
    with page_on(stream) as page:
        # Narrower tables have no room for the reason, which is then below.
        brief = page.width < PLAIN_WIDTH
        rows = [
            TableRow("", f"{one.name.cell} {one.name.words}",
                     ("not ranked" if brief and one.not_ranked else row[3], *row[4:6],
                      visible(row[6], _LETTERS), *row[7:]))
            for one, row in zip(ranking.cells, table_rows(ranking), strict=True)
        ]  # fmt: skip
        draw_table(page, ("cell", *COLUMNS[3:]), rows)
        if brief:
            left_out = [one for one in ranking.cells if one.not_ranked]
            print_lines(page, (f"{one.title} is {one.not_ranked}" for one in left_out))
        print_lines(page, (*lines_below(ranking), *_confusion(ranking.cells)))


_LETTERS = 12
"""The most characters of ties on a terminal: of 200 cells one may be in thousands of groups."""


def ranking_markdown(ranking: Ranking) -> str:
    """Return a ranking as GitHub's Markdown."""
    lines = [f"| {' | '.join(COLUMNS)} |", f"|{'---|' * len(COLUMNS)}"]
    rows = ([code(text) if text else "" for text in row] for row in table_rows(ranking))
    lines += [f"| {' | '.join(row)} |" for row in rows]
    lines += ["", *(f"- {code(line, _LINE)}" for line in lines_below(ranking))]
    for line in _confusion(ranking.cells):
        # Indented lines belong to the line above; Markdown keeps that as a nested list.
        lines.append(f"{' ' * (len(line) - len(line.lstrip()))}- {code(line.lstrip(), _LINE)}")
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
    "cell", "model", "system prompt", "score", "passed", "of", "ties", "interval", "no answer",
    "outcomes", "calls from", "latency", "tokens in", "tokens out", "cost",
)  # fmt: skip
"""The columns in Markdown and in CSV; a terminal has the first three as one."""


def table_rows(ranking: Ranking) -> Iterator[tuple[str, ...]]:
    """Yield a row of texts for each cell, best first; an unknown value is an empty text."""
    for cell in ranking.cells:
        latency, cost = cell.latency_seconds_median, cell.cost
        yield (
            cell.name.cell,
            cell.name.model,
            cell.name.system_prompt or "",
            _score(cell),
            str(cell.passed),
            str(cell.of),
            cell.ties,
            interval(cell.score),
            str(cell.no_answer),
            _counts(cell.outcomes),
            _counts(cell.sources),
            "" if latency is None else f"{latency:.2f} s",
            "" if cell.prompt_tokens is None else str(cell.prompt_tokens),
            "" if cell.completion_tokens is None else str(cell.completion_tokens),
            "" if cost is None else f"{cost:.4f}",
        )


def _score(cell: RankedCell) -> str:
    return cell.not_ranked or percent(cell.score)


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items())


_SHOWN = 12
"""How many scenarios are named in a line of `lines_below`, and how many pairs have one."""


TIES_WORDS = "Same letter in `ties`: these scenarios cannot tell them apart."


def lines_below(ranking: Ranking) -> Iterator[str]:
    """Yield the lines below the table: remarks, and what separates the cells."""
    yield from ranking.remarks
    yield from _about_cells(ranking.cells)
    if ranking.pairs:
        yield TIES_WORDS
    words = {cell.name.cell: cell.name.words for cell in ranking.cells}
    real = [pair for pair in ranking.pairs if pair.is_real]
    yield from (_difference(pair, words) for pair in real[:_SHOWN])
    if len(real) > _SHOWN:
        yield f"{len(real) - _SHOWN:,} more pairs differ"
    for what, names in (
        ("scenarios that separate the cells", [*ranking.separating]),
        ("passed by all", ranking.all_pass),
        ("passed by none", ranking.none_pass),
    ):
        if names:
            more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
            yield f"{what}: {len(names)} ({', '.join(names[:_SHOWN])}{more})"


def _confusion(cells: Sequence[RankedCell]) -> Iterator[str]:
    """Yield for each cell its title and, indented, the lines on the tools that it confused."""
    for cell in cells:
        if cell.confused:
            yield f"{cell.title}:"
            yield from (f"  {one.words}" for one in cell.confused)


def _about_cells(cells: Sequence[RankedCell]) -> Iterator[str]:
    for cell in cells:
        if cell.error:
            yield f"{cell.title} could not be asked: {cell.error}"
        if cell.heading:
            yield f"{cell.title}: {cell.heading}"


def _difference(pair: Pair, words: Mapping[str, str]) -> str:
    better, worse = (pair.b, pair.a) if pair.difference.value > 0 else (pair.a, pair.b)
    p = pair.difference.p_adjusted
    return (
        f"{words[better]} is better than {words[worse]}: "
        f"{abs(100 * pair.difference.value):.1f} points, "
        f"adjusted p {'< 0.001' if p < 0.001 else f'= {p:.3f}'}"
    )
