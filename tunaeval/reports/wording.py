"""The wording of results, the same on every page: rows of rates, calls, gaps between levels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from shlex import quote
from typing import NamedTuple

from tunaeval.files.plain_files import table_of
from tunaeval.showing import counted, visible
from tunaeval.types.parsing import LEVELS
from tunaeval.types.runs import Rate, Repeats, Report, Summary
from tunaeval.types.tables import INFRASTRUCTURE, REACTIONS

from .statistics import wilson

GAP_POINTS = 2.0
"""The smallest difference between two levels that is reported, in percentage points."""


class RateRow(NamedTuple):
    """A row of the table of rates; `first_attempt` is None if the rate has no such part.

    `unanswered` counts the results of a tool or tag if none of them got an answer.
    """

    section: str
    name: str
    rate: Rate
    first_attempt: Rate | None = None
    unanswered: int = 0

    @property
    def cells(self) -> tuple[str, ...]:
        """The texts of the columns: passed, of, rate, 95 % interval, first attempt."""
        first = percent(self.first_attempt) if self.first_attempt else ""
        rate, words = self.rate, percent(self.rate)
        if self.unanswered:
            words = answered_words(0, self.unanswered)
        return str(rate.passed), str(rate.total), words, interval(rate), first


def rows(summary: Summary) -> Iterator[RateRow]:
    """Yield all rates of a summary, section by section."""
    yield RateRow("score", "all", summary.final, summary.first_attempt)
    if summary.weighted is not None:
        yield RateRow("score", "weighted", summary.weighted)
    for level in LEVELS:
        yield RateRow("level", level, summary.levels[level], summary.levels_first_attempt[level])
    for section, rates, lost in (
        ("tool", summary.tools, summary.unanswered_tools),
        ("tag", summary.tags, summary.unanswered_tags),
    ):
        for name in sorted({*rates, *lost}):
            rate = rates.get(name) or wilson(0, 0)
            yield RateRow(section, name, rate, unanswered=lost.get(name, 0))


def reactions(summary: Summary) -> Iterator[RateRow]:
    """Yield the rates of reactions to injected faults; nothing if none were injected."""
    for name, words in REACTIONS.items():
        if name in summary.reactions:
            yield RateRow("faults", words, summary.reactions[name])


def counts(summary: Summary) -> Iterator[tuple[str, Mapping[str, int]]]:
    """Yield a summary's other counts by their name, such as "outcomes", unless they are empty."""
    every = (
        ("outcomes", summary.outcomes),
        ("repairs", summary.repairs),
        ("formats", summary.formats),
        ("calls from", summary.sources),
        ("passed at attempt", summary.attempts_to_success),
        ("where no call was wanted", summary.abstentions),
    )
    return ((name, found) for name, found in every if found)


def remarks(report: Report) -> list[str]:
    """Return lines for a reader of the scores: what is missing, cached or doubtful."""
    summary, lines = report.summary, []
    if report.interrupted:
        lines.append(interruption(report))
    lines += cached(summary)
    for outcome, words in INFRASTRUCTURE.items():
        if lost := summary.outcomes.get(outcome):
            lines.append(f"{lost} of {how_many(summary)} {words} and are not in the score")
    lines += [f"warning: {words}" for words in warnings(summary)]
    lines += of_one_group(summary.sole_group)
    if summary.weighted is not None:
        lines.append(
            "the weighted score counts each scenario by its weight in the suite; all others count "
            "heads"
        )
    if summary.repeats is not None:
        lines += luck(summary.repeats)
        if report.run.temperature == 0:
            lines.append("asked at temperature 0: repeats show the server's own noise alone")
    return [*lines, *gaps(summary)]


def of_one_group(group: str | None) -> Iterator[str]:
    """Yield a line for scenarios that are all of one group."""
    if group is not None:
        yield (
            f"all scenarios are of one group, {visible(repr(group), 60)}: its rows are the sample, "
            "so an interval is that of more such rows, not of other questions"
        )


def cached(*summaries: Summary) -> Iterator[str]:
    """Yield a line on how many of the runs' replies are from a cache, if any are, and how old."""
    if count := sum(one.cached_replies for one in summaries):
        oldest = min(one.oldest_cached for one in summaries if one.oldest_cached)
        replies = counted(sum(one.attempts for one in summaries), "reply", "replies")
        yield (
            f"{count} of {replies} are from the cache, the oldest of {oldest[:10]}; they have no "
            "latency and cost nothing"
        )


_DOUBTS: dict[str, str] = table_of(__package__, "wording.toml")
"""What makes scores doubtful: the count of a summary that says so, and the warning."""


def warnings(summary: Summary) -> list[str]:
    """Return what makes the scores doubtful, such as a server that leaves calls in the text."""
    return doubts({name: getattr(summary, name) for name in _DOUBTS}, how_many(summary))


def doubts(counts: Mapping[str, int], of: str) -> list[str]:
    """Return a warning for each count that is not 0; the keys are fields of a summary."""
    return [
        _DOUBTS[name].format(count=count, of=of, lines=counted(count, "line"))
        for name, count in counts.items()
        if count
    ]


def how_many(summary: Summary) -> str:
    """Return the number of scenarios, or of results if these are repeated: "24 scenarios"."""
    return counted(summary.scenarios, "scenario" if summary.repeats is None else "result")


def interruption(report: Report, matrix: str | None = None) -> str:
    """Return how far a run came that was interrupted or has spent its budget.

    If the run belongs to a matrix, `matrix` is its directory: only the whole matrix can be resumed.
    """
    if report.run.budget_reached == FIRST_FAILURE:
        return (
            f"the run ended at its first failed scenario (-x): {progress(report)}; "
            f"{resumption(matrix or report.directory or 'RUN')} goes on"
        )
    if report.run.budget_reached:
        option = f"--{report.run.budget_reached.replace('_', '-')}"
        return (
            f"the budget is spent ({option}): {report.summary.outcomes.get('not_asked', 0)} of "
            f"{counted(report.run.scenarios * report.run.repeats, 'result')} were not asked; "
            f"{resumption(matrix or report.directory or 'RUN')} goes on, with another budget or "
            "without one"
        )
    return f"the run was interrupted: {progress(report)}"


FIRST_FAILURE = "first_failure"
"""The budget of a run that ends at the first scenario that fails."""
_PROMPT_WORDS = 8


def asked_with(system_prompt: str | None) -> Iterator[str]:
    """Yield the first words of a run's system prompt, or that it has none; nothing if unknown."""
    if system_prompt is not None:
        words = system_prompt.split()
        first = visible(" ".join(words[:_PROMPT_WORDS]), 120) + " …" * (len(words) > _PROMPT_WORDS)
        shown = f'"{first}"' if words else "none"
        yield f"system prompt: {shown}"


def resumption(directory: object) -> str:
    """Return the command that goes on with the run or the matrix in a directory."""
    return f"tunaeval run --resume {quote(str(directory))}"


def progress(*reports: Report) -> str:
    """Return how many of their results the runs have together, such as "3 of 24 results"."""
    wanted = sum(one.run.scenarios * one.run.repeats for one in reports)
    return f"{sum(one.summary.scenarios for one in reports)} of {counted(wanted, 'result')}"


def failures(summary: Summary) -> list[str]:
    """Return lines about the failures of infrastructure by cause, for the end of a page."""
    if not summary.failures:
        return []
    failed = sum(summary.failures.values())
    return [
        f"not answered: {failed} of {how_many(summary)}, and in no score:",
        *(f"  {count} x {cause}" for cause, count in summary.failures.items()),
    ]


def luck(repeats: Repeats) -> Iterator[str]:
    """Yield lines on a repeated run: pass@k, pass^k, and whether repeats or scenarios help more."""
    chances = [
        f"pass{sign}{at.k} {share(chance)}"
        for sign, field in (("@", "any_passes"), ("^", "all_pass"))
        for at in (repeats.at[0], repeats.at[-1])
        if (chance := getattr(at, field)) is not None
    ]
    yield f"asked {repeats.repeats} times: {', '.join(chances) or 'nothing was answered'}"
    split = repeats.variance
    if split is not None and not split.standard_error:
        yield "every answer was the same, so the variance shows nothing of chance"
    elif split is not None:
        yield (
            f"chance between repeats is {share(split.share_within)} of the score's variance; "
            f"standard error {points(split.standard_error)}, with twice the scenarios "
            f"{points(split.with_more_scenarios)}, with twice the repeats "
            f"{points(split.with_more_repeats)}: more {split.buy} would help most"
        )


def gaps(summary: Summary) -> list[str]:
    """Return a line for each level with a notably higher rate than the next stricter level."""
    lines = []
    for lower, higher in pairwise(LEVELS):
        less, more = summary.levels[lower].value, summary.levels[higher].value
        if less is not None and more is not None and (points := 100 * (more - less)) > GAP_POINTS:
            line = f"{points:.1f} points more pass at {higher} than at {lower}"
            made = ", ".join(f"{name} {count}" for name, count in summary.repairs.items())
            # A run at standard has not counted the repairs that only lenient makes.
            lines.append(f"{line} (repairs: {made})" if made and lower == "strict" else line)
    return lines


def effort(summary: Summary) -> str:
    """Return attempts, median latency and tokens in one line, without unknown ones."""
    parts = [counted(summary.attempts, "attempt")]
    if summary.latency_seconds_median is not None:
        parts.append(f"median latency {summary.latency_seconds_median:.2f} s")
    for kind, tokens in (("in", summary.prompt_tokens), ("out", summary.completion_tokens)):
        if tokens is not None:
            parts.append(f"{counted(tokens, 'token')} {kind}")
    return ", ".join(parts)


def percent(rate: Rate) -> str:
    return share(rate.value)


def share(value: float | None) -> str:
    return "n/a" if value is None else f"{100 * value:.1f} %"


def answered_words(answered: int, asked: int) -> str:
    """Return the words for results of which too few got an answer: "0 of 3 answered"."""
    return f"{answered} of {asked} answered"


def points(value: float) -> str:
    return f"{100 * value:.1f} points"


def interval(rate: Rate) -> str:
    if rate.low is None or rate.high is None:
        return ""
    return f"{100 * rate.low:.1f} to {100 * rate.high:.1f}"
