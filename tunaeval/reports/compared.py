"""Reports of a comparison: on the console, as Markdown for a pull request, as JSON.

Text of a suite, a server or a model is quoted for each kind of page.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from typing import TextIO

from tunaeval.showing import counted, visible
from tunaeval.types.calls import JsonObject

from .compare import Comparison, Difference, Flip, RunAnswer, Unanswered, in_order
from .console import TableRow, draw_table, page_on, print_lines
from .markdown import code
from .sides import RunFigures
from .wording import share

FLIPS_SHOWN = 20
"""How many scenarios of each kind of flip are listed; all are counted."""

Quote = Callable[[str], str]


def _columns(comparison: Comparison) -> tuple[str, ...]:
    b = comparison.letter
    return ("scenarios", "A", b, f"{b} - A", "95 % interval", "p", "p, Holm")


def show_comparison(
    comparison: Comparison, stream: TextIO, *, margin: float | None = None, shown: int = FLIPS_SHOWN
) -> None:
    """Print a comparison: the runs, the table, the power of the test, the flips."""
    below = (
        *_below(comparison, margin), *_flips(comparison, visible, shown),
        *_failures(comparison, visible),
    )  # fmt: skip
    with page_on(stream) as page:
        print_lines(page, [*_over(comparison, visible), ""], style="bold")
        draw_table(page, ("", *_columns(comparison)), [*_rows(comparison)])
        print_lines(page, below)


def comparison_markdown(
    comparison: Comparison, *, margin: float | None = None, shown: int = FLIPS_SHOWN
) -> str:
    """Return a comparison as GitHub's Markdown."""
    lines = [f"- {line}" for line in _over(comparison, code)]
    columns = _columns(comparison)
    lines += ["", f"| | | {' | '.join(columns)} |", f"|---|---|{'---:|' * len(columns)}"]
    lines += [
        f"| {row.section} | {code(row.name)} | {' | '.join(row.cells)} |"
        for row in _rows(comparison)
    ]
    lines += ["", *(f"- {line}" for line in _below(comparison, margin))]
    for line in (*_flips(comparison, code, shown), *_failures(comparison, code)):
        # Indented lines belong to the line above; Markdown keeps that as a nested list.
        lines.append(f"{' ' * (len(line) - len(line.lstrip()))}- {line.lstrip()}")
    return "\n".join(["## Comparison", "", *lines]) + "\n"


def comparison_object(comparison: Comparison, *, margin: float | None = None) -> JsonObject:
    """Return a comparison as a JSON object, in which the runs' headings are above the scores."""
    verdict = None if margin is None else comparison.overall.clears(margin)
    reported = _fields(comparison)
    for one in ("a", "b", "overall", "weighted"):
        reported[one] = None if reported[one] is None else _fields(reported[one])
    reported["parts"] = [_fields(part) for part in comparison.parts]
    reported["unanswered"] = [_fields(one) for one in comparison.unanswered]
    for flipped in ("lost", "gained"):
        reported[flipped] = [
            {"scenario": flip.scenario, "a": _fields(flip.a), "b": _fields(flip.b)}
            for flip in reported[flipped]
        ]
    headings = [comparison.a.heading, comparison.b.heading]
    return {"headings": headings, **reported, "margin": margin, "clears_margin": verdict}


def _fields(value: Comparison | RunFigures | Difference | Unanswered | RunAnswer) -> JsonObject:
    """Return an object's fields without copies; `asdict` would copy 100,000 flips deeply."""
    return {field.name: getattr(value, field.name) for field in fields(value)}


def _rows(comparison: Comparison) -> Iterator[TableRow]:
    parts: list[Difference | Unanswered] = [*comparison.parts, *comparison.unanswered]
    parts.sort(key=lambda row: in_order((row.section, row.name)))
    for row in (comparison.overall, comparison.weighted, *parts):
        if row is not None:
            yield TableRow(row.section, row.name, _cells(row))


def _cells(row: Difference | Unanswered) -> Sequence[str]:
    if isinstance(row, Unanswered):
        return ("0", *row.words, "", "", "", "")
    return (
        str(row.scenarios),
        share(row.a),
        share(row.b),
        _points(row.value),
        f"{_points(row.low)} to {_points(row.high)}",
        _p(row.p),
        _p(row.p_adjusted),
    )


def _points(value: float) -> str:
    return f"{100 * value:+.1f}"


def _p(value: float) -> str:
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def _over(comparison: Comparison, quote: Quote) -> Iterator[str]:
    """Yield the lines above the scores: the runs with their headings, and what was paired."""
    for letter, run in (("A", comparison.a), (comparison.letter, comparison.b)):
        words = f"{letter}: {quote(run.name)}, run {quote(run.run_id)}"
        yield f"{words}; {quote(run.heading)}" if run.heading else words
    overall = comparison.overall
    paired = f"{counted(overall.scenarios, 'scenario')} paired at level {comparison.level}"
    if overall.clusters < overall.scenarios:
        paired += f", in {counted(overall.clusters, 'cluster')}"
    left = (f"{count} {why}" for why, count in comparison.left_out.items())
    yield "; left out: ".join(filter(None, (paired, ", ".join(left))))
    for name, (one, other) in comparison.settings.items():
        yield f"{name}: {quote(str(one))} in A, {quote(str(other))} in {comparison.letter}"
    yield from (f"mind: {note}" for note in comparison.notes)


def _below(comparison: Comparison, margin: float | None) -> Iterator[str]:
    overall = comparison.overall
    yield (
        f"{overall.test} p = {_p(overall.p)}; {power_words(overall)}; "
        f"to find one of 2 points, ask {counted(overall.needed(0.02), 'scenario')} like these"
    )
    if (weighted := comparison.weighted) is not None:
        yield (
            f"weighted: each scenario counts by its weight in the suite of A, and {weighted.test} "
            f"gives p = {_p(weighted.p)}; all other rows count heads"
        )
    for what, words in _beside(comparison.a, comparison.b):
        yield f"{what}: {words}"
    if margin is not None:
        clears = "is surely not worse" if overall.clears(margin) else "may be worse"
        yield (
            f"{comparison.letter} {clears} than A by {100 * margin:g} points: the interval begins "
            f"at {_points(overall.low)}"
        )


def power_words(found: Difference) -> str:
    """Return a sentence on how large a difference has to be for these scenarios to find it."""
    if found.detectable is None:
        return "scenarios like these are too few to find any difference with a probability of 80 %"
    return (
        f"a true difference of {100 * found.detectable:.1f} points would be found with a "
        "probability of 80 %"
    )


def _beside(a: RunFigures, b: RunFigures) -> Iterator[tuple[str, str]]:
    """Yield speed, tokens and outcomes as (name, "old -> new"), unless unknown in both runs."""
    kinds: tuple[tuple[str, str, Callable[[float], str]], ...] = (
        ("first attempts", "first_attempt", share),
        ("median latency", "latency_seconds_median", lambda seconds: f"{seconds:.2f} s"),
        ("tokens in, per answer", "prompt_tokens_mean", lambda tokens: f"{tokens:,.0f}"),
        ("tokens out, per answer", "completion_tokens_mean", lambda tokens: f"{tokens:,.0f}"),
    )
    for what, field, say in kinds:
        one, other = getattr(a, field), getattr(b, field)
        if one is not None or other is not None:
            reported = ("unknown" if value is None else say(value) for value in (one, other))
            yield what, " -> ".join(reported)
    for outcome in sorted({*a.outcomes, *b.outcomes}):
        yield outcome, f"{a.outcomes.get(outcome, 0)} -> {b.outcomes.get(outcome, 0)}"
    for what, field in (("calls from", "sources"), ("formats", "formats")):
        one, other = getattr(a, field), getattr(b, field)
        if one.keys() != other.keys():
            yield what, f"{_counted(one)} -> {_counted(other)}"
    if a.leaked_calls or b.leaked_calls:
        yield "answers with leaked calls", f"{a.leaked_calls} -> {b.leaked_calls}"
    if a.empty_replies or b.empty_replies:
        yield "answers with an empty reply", f"{a.empty_replies} -> {b.empty_replies}"


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items()) or "none"


def _failures(comparison: Comparison, quote: Quote) -> Iterator[str]:
    """Yield lines about the failures of infrastructure in each run, by cause."""
    for letter, run in (("A", comparison.a), (comparison.letter, comparison.b)):
        if run.causes:
            yield f"not answered in {letter}: {run.failures}"
            yield from (f"  {count} x {quote(cause)}" for cause, count in run.causes.items())


def _flips(comparison: Comparison, quote: Quote, shown: int) -> Iterator[str]:
    for what, found in (("lost", comparison.lost), ("gained", comparison.gained)):
        yield f"{what} {len(found)}" + (f", of which {shown}:" if len(found) > shown else "")
        yield from (f"  {_flip(flip, quote)}" for flip in found[:shown])


def _flip(flip: Flip, quote: Quote) -> str:
    before, after = _answer_words(flip.a, quote), _answer_words(flip.b, quote)
    failed = min(flip.a, flip.b, key=lambda answer: answer.passed / answer.total)
    return f"{quote(flip.scenario)}: {before} -> {after}; {quote(failed.reason)}"


def _answer_words(answer: RunAnswer, quote: Quote) -> str:
    text = answer.calls if answer.outcome == "calls" else f"{answer.outcome} {answer.words}"
    often = f" ({answer.passed} of {answer.total})" if answer.total > 1 else ""
    return quote(text) + often
