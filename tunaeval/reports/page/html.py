"""Write runs as one HTML page, a single file that opens without a network, part by part.

jinja2 escapes every text. The page's policy (Content-Security-Policy) allows only the page's own
script and style, by their SHA-256, and no other source of anything.

Results are in blocks. Their rows are read when the page opens, so they are short: texts are cut,
names are numbers into `names`. Their details are read when one is opened, so they are compressed
(zlib, as base64).

Charts are positions on an axis, in percent of its length; their marks are in the template. A
charting library could not follow the page's light and dark colours under a policy that forbids
inline styles.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from tunaeval.errors import ComparisonError
from tunaeval.files.new_files import new_text
from tunaeval.reports.compare import compare_runs, letter_of
from tunaeval.reports.compared import power_words
from tunaeval.reports.ranking import (
    COLUMNS,
    TIES_WORDS,
    CellName,
    RankedCell,
    Ranking,
    lines_below,
    table_rows,
)
from tunaeval.reports.sides import source_of
from tunaeval.reports.tables import RunsWriter
from tunaeval.reports.wording import answered_words, asked_with, reactions, remarks, share
from tunaeval.showing import counted, visible
from tunaeval.types.calls import JsonObject, JsonValue
from tunaeval.types.parsing import LEVELS
from tunaeval.types.runs import Rate, Report
from tunaeval.types.tables import (
    expected_tools,
    expected_words,
    got_words,
    source_of_format,
    verdict_of,
)

from .scenario import WENT_WRONG, AttemptView, MarkedPiece, ScenarioView, Viewer, hidden

if TYPE_CHECKING:
    from jinja2 import Template

_SQUARES = 3000
"""How many squares the grid of a matrix has at most, apart from its first scenarios."""
_TINTS = 4
"""How many runs have a colour each; more have none, nor have a matrix's cells."""


def write_page(reports: Sequence[Report], path: Path, ranking: Ranking | None = None) -> None:
    """Write an HTML page that shows one run, or several runs side by side.

    Several runs are compared with the first of them. If a `ranking` of the runs is given, as a
    matrix has one, the page begins with the ranking and has no such comparisons.
    """
    with new_text(path) as file:
        for part in page_parts(reports, ranking):
            file.write(part)


def page_parts(
    reports: Sequence[Report], ranking: Ranking | None = None, *, is_live: bool = False
) -> Iterator[str]:
    """Yield the text of a page. A live one loads itself again when its server sends events."""
    names: dict[str, int] = {}
    cells = {cell.run_id: cell.name for cell in ranking.cells} if ranking else {}
    yield from _template("page.html").generate(
        style=_asset("page.css"),
        script=_asset("page.js"),
        policy=page_policy(is_live=is_live),
        is_live=is_live,
        title=", ".join(dict.fromkeys(visible(one.run.suite, 60) for one in reports)),
        is_tinted=ranking is None and len(reports) <= _TINTS,
        runs=[
            _run(number, report, cells.get(report.run.run_id))
            for number, report in enumerate(reports)
        ],
        tables=[*_tables(reports, ranking)],
        comparisons=[] if ranking else [*_comparisons(reports)],
        ranked=_ranked(reports, ranking) if ranking else None,
        blocks=blocks_of(reports, names),
        names=lambda: list(names),  # complete only once the blocks are written
    )


def page_policy(*, is_live: bool = False) -> str:
    """Return the policy of a page: its own style and script; a live one may also ask its server."""
    policy = (
        f"default-src 'none'; style-src '{_digest(_asset('page.css'))}'; "
        f"script-src '{_digest(_asset('page.js'))}'; base-uri 'none'; form-action 'none'"
    )
    return policy + "; connect-src 'self'" * is_live


def list_parts(rows: Sequence[JsonObject]) -> Iterator[str]:
    """Yield the text of a page that lists kept runs, each with the path of its own page."""
    yield from _template("list.html").generate(
        style=_asset("page.css"), policy=page_policy(is_live=True), rows=rows
    )


page_writer = RunsWriter("html", write_page)


@cache
def _template(name: str) -> Template:
    from jinja2 import Environment, StrictUndefined  # noqa: PLC0415 - for a page alone

    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"visible": _safe, "share": share}
    environment.globals |= {
        "counted": counted,
        "ranking_columns": COLUMNS[_FACTS:],
        "levels": LEVELS,
    }
    return environment.from_string(_asset(name))


def _asset(name: str) -> str:
    return files(__package__).joinpath("page", name).read_text("utf-8")


def _digest(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")
    return f"sha256-{digest}"


_FACTS = COLUMNS.index("no answer")
"""The first column of the ranking that the page shows as the table has it."""

View: TypeAlias = dict[str, object]
"""What the template shows of one thing, by name."""


def _ranked(reports: Sequence[Report], ranking: Ranking) -> View:
    """Return the ranking, its chart, and a grid of scenarios and cells, in which the scenarios
    that fail are first.

    The grid has for each cell, in the order of the ranking, a verdict, or "" where the cell has no
    result.
    """
    numbers = {report.run.run_id: number for number, report in enumerate(reports)}
    order = [numbers[cell.run_id] for cell in ranking.cells]
    rows = [
        {"run": number, "cell": cell, "facts": row[_FACTS:]}
        for number, cell, row in zip(order, ranking.cells, table_rows(ranking), strict=True)
    ]
    found: dict[str, dict[int, str]] = {}
    for number, report in enumerate(reports):
        for result in report.results:
            verdicts = found.setdefault(result.scenario, {})
            # Of several repeats the worst is shown, as it is the one to look at.
            verdicts[number] = max(
                verdicts.get(number, "PASS"), verdict_of(result), key=_WORSE.index
            )
    grid = [
        (scenario, [verdicts.get(number, "") for number in order])
        for scenario, verdicts in found.items()
    ]
    grid.sort(key=lambda row: row[1].count("PASS"))
    shown = max(20, _SQUARES // max(1, len(order)))
    return {
        "rows": rows,
        "lines": [line for line in lines_below(ranking) if line != TIES_WORDS],
        "ties": TIES_WORDS if ranking.pairs else "",
        "grid": grid[:shown],
        "hidden": len(grid[shown:]),
        "chart": chart(ranking.cells),
    }


_WORSE = ("PASS", "ERROR", "FAIL")


def chart(cells: Sequence[RankedCell]) -> View | None:
    """Return the positions of ranked cells, in percent, by their score against their cost; against
    their latency if a cost is unknown. None without a cell that has both.
    """
    ranked = [cell for cell in cells if cell.not_ranked is None and cell.score.value is not None]
    has_costs = all(cell.cost is not None for cell in ranked)
    placed = [
        (cell, cell.score.value, cell.cost if has_costs else cell.latency_seconds_median)
        for cell in ranked
    ]
    values = [value for _, _, value in placed if value is not None]
    if not values:
        return None
    top, labels = _rounded_up(max(values)), Counter[tuple[int, int]]()
    circles = []
    for cell, score, value in placed:
        if score is None or value is None:
            continue
        x, y = 8 + 82 * value / top, 88 - 78 * score
        near = (round(x / 6), round(y / 8))
        labels[near] += 1  # the labels of circles near each other are below one another
        amount = f"{value:.4f}" if has_costs else f"{value:.2f} s"
        words = f"{cell.title}: {share(score)}, {amount}"
        circles.append((x, y, cell.name.cell, 12 * (labels[near] - 1), words))
    end = _number(top) if top >= 1 else f"{top:.2g}"
    return {
        "what": "cost" if has_costs else "latency",
        "top": end if has_costs else f"{end} s",
        "circles": circles,
    }


def _run(number: int, report: Report, cell: CellName | None) -> View:
    """Return a run's figures in the form that the template shows."""
    summary = report.summary
    latencies, tokens = [], []
    for result in report.results:
        for attempt in result.attempts:
            if attempt.latency_seconds is not None:
                latencies.append(attempt.latency_seconds)
            if attempt.completion_tokens is not None:
                tokens.append(float(attempt.completion_tokens))
    left = summary.scenarios - summary.infrastructure_failures - sum(summary.sources.values())
    without_call = {"no call": left} if left else {}
    return {
        "label": letter_of(number) if cell is None else cell.cell,
        "name": report.run.model or report.run.client if cell is None else cell.words,
        "info": report.run,
        "summary": summary,
        "asked_with": [*asked_with(report.run.system_prompt)],
        "remarks": remarks(report),
        "sources": summary.sources | without_call,
        "latency": histogram(latencies, "s"),
        "tokens": histogram(tokens, "tokens"),
    }


def _tables(reports: Sequence[Report], ranking: Ranking | None) -> Iterator[View]:
    """Yield the tables with a row for each name, those with the most results first. A rate is a
    text if nothing was answered, and None if nothing was asked.
    """
    every = [one.summary for one in reports]
    dead = {cell.run_id for cell in ranking.cells if cell.error} if ranking else set()
    for title, rates, lost in (
        ("By tool", [one.tools for one in every], [one.unanswered_tools for one in every]),
        ("By tag", [one.tags for one in every], [one.unanswered_tags for one in every]),
        ("With faults", [{row.name: row.rate for row in reactions(one)} for one in every], None),
    ):
        asked = Counter[str]()
        columns: list[dict[str, Rate | str]] = []
        for known, unanswered in zip(rates, lost or [{}] * len(every), strict=True):
            asked |= Counter({name: rate.total for name, rate in known.items()} | unanswered)
            columns.append({name: answered_words(0, of) for name, of in unanswered.items()} | known)
        for report, column in zip(reports, columns, strict=True):
            # The cells of a matrix are asked the same, also those whose server is dead.
            for name in asked if report.run.run_id in dead else ():
                column.setdefault(name, answered_words(0, asked[name]))
        rows = [
            (name, [column.get(name) for column in columns])
            for name in sorted(asked, key=lambda name: (-asked[name], name))
        ]
        if rows:
            yield {"title": title, "rows": rows}


def _comparisons(reports: Sequence[Report]) -> Iterator[View]:
    """Compare each further run with the first; `refused` says why that is not possible."""
    for number, other in enumerate(reports[1:], 1):
        letter = letter_of(number)
        try:
            (found,) = compare_runs([source_of(reports[0]), source_of(other)])
        except ComparisonError as error:
            yield {"letter": letter, "found": None, "refused": str(error)}
            continue
        overall = found.overall
        axis = between(100 * overall.value, 100 * overall.low, 100 * overall.high)
        yield {"letter": letter, "found": found, "axis": axis, "power": power_words(overall)}


def _safe(text: str) -> str:
    """Return a text from outside on one line, without secrets."""
    return visible(hidden(text), 400)


BLOCK = 64
"""The number of results whose details are opened together."""
CALL_CHARACTERS = 110
PROMPT_CHARACTERS = 120
ID_CHARACTERS = 400
"""The most characters of a text in a row, which is shown and searched."""
_SEARCHED = 4096
"""The characters of a call that are searched for secrets: more than the longest key."""
PAGE_BYTES = 64 * 1024 * 1024
"""The size of the long results that a page shows in full, so that 20,000 of them take seconds."""
TEXT_CHARACTERS = 20_000
"""The most characters of a text in the details; the run's directory has all of it."""


def blocks_of(reports: Sequence[Report], names: dict[str, int]) -> Iterator[View]:
    """Yield the results of all runs in blocks, with short rows, and details in compressed form.
    `names` gets the names of all rows, numbered from 0 in the order of their first use.
    """
    results = (
        (number, viewer, result)
        for number, report in enumerate(reports)
        for viewer in [Viewer(report, PAGE_BYTES // len(reports))]
        for result in report.results
    )
    count = 0
    while some := list(islice(results, BLOCK)):
        views = [(number, viewer.look(result)) for number, viewer, result in some]
        rows: list[JsonValue] = [_result_row(number, view, names) for number, view in views]
        details = packed([_details(view) for _, view in views])
        yield {"number": count, "rows": rows, "details": details}
        count += 1


def packed(value: JsonValue) -> str:
    """Return a value as JSON that is compressed (zlib) and made ASCII (base64)."""
    text = json.dumps(value, separators=(",", ":"))
    return base64.b64encode(zlib.compress(text.encode("ascii"), 6)).decode("ascii")


def _result_row(run: int, view: ScenarioView, names: dict[str, int]) -> list[JsonValue]:
    """Return a result's row, in the order that `page.js` reads (`ROW`)."""
    result = view.result

    def number(name: str) -> int:
        return names.setdefault(name, len(names))

    return [
        run,
        visible(result.scenario, ID_CHARACTERS),
        result.repeat,
        verdict_of(result),
        "".join("01"[result.levels[level].ok] for level in LEVELS),
        number(result.outcome),
        number(source_of_format(result.format) if result.format else "none"),
        [number(visible(tool)) for tool in expected_tools(result.expected)],
        [number(visible(tag)) for tag in result.tags],
        len(result.attempts),
        None if result.latency_seconds is None else round(result.latency_seconds, 3),
        result.completion_tokens,
        visible(view.prompt, PROMPT_CHARACTERS),
        _call_cell(expected_words(result.expected)),
        _call_cell(got_words(result)),
        len(result.repairs),
        result.index,
    ]


def _call_cell(words: str) -> str:
    return visible(hidden(words[:_SEARCHED]), CALL_CHARACTERS)


def _details(view: ScenarioView) -> JsonValue:
    result = view.result
    return {
        "id": visible(result.scenario),
        "reason": visible(view.reason, TEXT_CHARACTERS),
        "prompt": readable(view.prompt),
        "match": "" if result.expected.match == "exactly" else result.expected.match,
        "checks": [readable(line) for line in view.checks],
        "attempts": [_attempt(one) for one in view.attempts],
        "pairs": [
            [pair.wanted and readable(pair.wanted), pair.got and readable(pair.got), pair.state,
             [[readable(one.name), one.wanted and readable(one.wanted),
               one.got and readable(one.got), one.state, readable(one.words)]
              for one in pair.arguments]]
            for pair in view.pairs
        ],
    }  # fmt: skip


def _attempt(view: AttemptView) -> JsonValue:
    record = view.record
    return {
        "outcome": record.outcome,
        "ended": visible(record.finish_reason or "", 60),
        "latency": record.latency_seconds,
        "in": record.prompt_tokens,
        "out": record.completion_tokens,
        "retries": record.retries,
        "pieces": [*_pieces(view.pieces)],
        "marks": [
            [mark.number, mark.kind, readable(mark.code), readable(mark.words), mark.level]
            for mark in view.marks
        ],
        "reasoning": readable(view.reasoning),
        "calls": [readable(call) for call in view.structured],
        "note": readable(view.note),
        "user": readable(view.user),
        "results": [[readable(tool), readable(words)] for tool, words in view.results],
        "wrong": WENT_WRONG if view.is_wrong else "",
    }


def _pieces(pieces: Sequence[MarkedPiece]) -> Iterator[JsonValue]:
    """Yield each piece: text, first letters of its marks' kinds, numbers of marks that end here."""
    remaining = TEXT_CHARACTERS
    for piece in pieces:
        if remaining <= 0:
            yield [f"… (cut after {TEXT_CHARACTERS:,} characters)", "", []]
            return
        kinds = "".join(sorted(kind[0] for kind in piece.kinds))
        yield [readable(piece.text, remaining), kinds, [*piece.ends]]
        remaining -= len(piece.text)


def readable(text: str, limit: int = TEXT_CHARACTERS) -> str:
    """Return up to `limit` characters, escaped if invisible, except for tabs and line breaks."""
    if len(text) > limit:
        text = f"{text[:limit]}…"
    lines = ("\t".join(map(visible, line.split("\t"))) for line in text.split("\n"))
    return "\n".join(lines)


BINS = 28  # bars of a histogram
_TAIL = 0.995
"""The share of values that determines the axis; values beyond are in the last bar."""


def histogram(values: Sequence[float], unit: str) -> View | None:
    """Return the distribution of values in bins of equal width, with the median and the 95 %
    quantile; the height of a bar is in percent of the tallest. There are no bars if all values are
    the same. None if there are no values.
    """
    if not values:
        return None
    ordered = sorted(values)
    top = _rounded_up(_quantile(ordered, _TAIL))
    counts = [0] * BINS
    for value in ordered:
        counts[min(BINS - 1, int(BINS * value / top))] += 1
    width, most = 100 / BINS, max(counts)
    bars = [
        {
            "start": index * width,
            "width": width * 0.86,
            "height": max(3.0, 100 * count / most),
            "words": f"{_number(top * index / BINS)} to {_number(top * (index + 1) / BINS)} "
            f"{unit}: {count}",
        }
        for index, count in enumerate(counts)
        if count and ordered[0] != ordered[-1]
    ]
    middle, late = _quantile(ordered, 0.5), _quantile(ordered, 0.95)
    return {
        "bars": bars,
        "low": f"0 {unit}",
        "high": f"{_number(top)} {unit}",
        "median": f"{_number(middle)} {unit}",
        "median_at": min(100.0, 100 * middle / top),
        "late": f"{_number(late)} {unit}",
        "late_at": min(100.0, 100 * late / top),
        "count": len(ordered),
    }


def between(value: float, low: float, high: float) -> View:
    """Return a difference and its interval as positions from 0 to 100, with no difference at 50."""
    reach = max(abs(low), abs(high), 0.01)
    at, first, last = (50 + 48 * one / reach for one in (value, low, high))
    return {"at": at, "low": first, "high": last}


def _quantile(ordered: Sequence[float], q: float) -> float:
    """Return a quantile by the nearest rank."""
    return ordered[min(len(ordered) - 1, max(0, math.ceil(q * len(ordered)) - 1))]


def _rounded_up(value: float) -> float:
    """Round up to two digits, for the end of an axis."""
    if value <= 0 or not math.isfinite(value):
        return 1.0
    step = 10.0 ** (math.floor(math.log10(value)) - 1)
    return math.ceil(value / step - 1e-9) * step * (1 + 1e-9)  # so that `value` is below the top


def _number(value: float) -> str:
    if value >= 100 or value == int(value):
        return f"{value:,.0f}"
    return f"{value:.2f}" if value < 10 else f"{value:.1f}"
