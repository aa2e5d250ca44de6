"""The data for the page's script: a short row for each result, and its details in a block.

Rows are read when the page opens, so they are short: texts are cut, names are numbers into `names`.
Blocks are read when a detail is opened, so they are compressed (zlib, as base64).
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from tunaeval.reports.summary import expected_tools, source_of_format
from tunaeval.reports.tables import verdict_of
from tunaeval.reports.wording import expected_words, got_words
from tunaeval.showing import visible
from tunaeval.types.calls import JsonValue
from tunaeval.types.parsing import LEVELS
from tunaeval.types.runs import Report

from .marks import Mark, Piece
from .scenario import WENT_WRONG, AttemptView, ScenarioView, Viewer
from .secrets import hidden

BLOCK = 64
"""The number of results whose details are opened together."""
CALL_CHARACTERS = 110
PROMPT_CHARACTERS = 120
"""The most characters of a text in a row, which is shown and searched."""
TEXT_CHARACTERS = 20_000
"""The most characters of a text in the details; the run's directory has all of it."""

_VERDICTS = {"PASS": "p", "FAIL": "f", "ERROR": "e"}


@dataclass(slots=True)
class Names:
    """Numbers for names, in the order in which the names first come."""

    numbers: dict[str, int] = field(default_factory=dict)

    def of(self, name: str) -> int:
        return self.numbers.setdefault(name, len(self.numbers))


@dataclass(frozen=True, slots=True)
class Block:
    """Some results: their rows, and their details in compressed form."""

    number: int
    rows: list[JsonValue]
    details: str


def blocks_of(reports: Sequence[Report], names: Names) -> Iterator[Block]:
    """Yield the results of all runs in blocks; `names` is complete once all blocks are made."""
    results = (
        (number, viewer, result)
        for number, report in enumerate(reports)
        for viewer in [Viewer.of(report)]
        for result in report.results
    )
    count = 0
    while some := list(islice(results, BLOCK)):
        views = [(number, viewer.look(result)) for number, viewer, result in some]
        rows: list[JsonValue] = [_row(number, view, names) for number, view in views]
        yield Block(count, rows, packed([_details(view) for _, view in views]))
        count += 1


def packed(value: JsonValue) -> str:
    """Return the value as compressed ASCII JSON; half of the plain text is keys and blanks."""
    text = json.dumps(value, separators=(",", ":"))
    return base64.b64encode(zlib.compress(text.encode("ascii"), 6)).decode("ascii")


def _row(run: int, view: ScenarioView, names: Names) -> list[JsonValue]:
    """Return a result's row, in the order that `page.js` reads (`ROW`)."""
    result = view.result
    return [
        run,
        visible(result.scenario, PROMPT_CHARACTERS),
        result.repeat,
        _VERDICTS[verdict_of(result)],
        "".join("01"[result.levels[level].ok] for level in LEVELS),
        names.of(result.outcome),
        names.of(source_of_format(result.format) if result.format else "none"),
        [names.of(visible(tool)) for tool in expected_tools(result.expected)],
        [names.of(visible(tag)) for tag in result.tags],
        len(result.attempts),
        None if result.latency_seconds is None else round(result.latency_seconds, 3),
        result.completion_tokens,
        visible(view.prompt, PROMPT_CHARACTERS),
        visible(hidden(expected_words(result.expected)), CALL_CHARACTERS),
        visible(hidden(got_words(result)), CALL_CHARACTERS),
        len(result.repairs),
    ]


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
        "marks": [_mark(mark) for mark in view.marks],
        "reasoning": readable(view.reasoning),
        "calls": [readable(call) for call in view.structured],
        "note": readable(view.note),
        "user": readable(view.user),
        "results": [[readable(tool), readable(words)] for tool, words in view.results],
        "wrong": WENT_WRONG if view.is_wrong else "",
    }


def _pieces(pieces: Sequence[Piece]) -> Iterator[JsonValue]:
    """Yield each piece: text, first letters of its marks' kinds, numbers of marks that end here."""
    remaining = TEXT_CHARACTERS
    for piece in pieces:
        if remaining <= 0:
            yield [f"… (cut after {TEXT_CHARACTERS:,} characters)", "", []]
            return
        kinds = "".join(sorted(kind[0] for kind in piece.kinds))
        yield [readable(piece.text, remaining), kinds, [*piece.ends]]
        remaining -= len(piece.text)


def _mark(mark: Mark) -> JsonValue:
    return [mark.number, mark.kind, readable(mark.code), readable(mark.words), mark.level]


def readable(text: str, limit: int = TEXT_CHARACTERS) -> str:
    """Return the text with line breaks and tabs, and other invisible characters as escapes."""
    if len(text) > limit:
        text = f"{text[:limit]}…"
    lines = ("\t".join(map(visible, line.split("\t"))) for line in text.split("\n"))
    return "\n".join(lines)
