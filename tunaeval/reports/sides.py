"""One run in a comparison: read as a stream, and kept as a few counts for each scenario."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import PurePath
from statistics import median
from typing import NamedTuple, get_args

from tunaeval.errors import ComparisonError, RecordError
from tunaeval.types.calls import JsonObject
from tunaeval.types.parsing import Level
from tunaeval.types.runs import Expectation, Report, RunInfo, RunOutcome
from tunaeval.types.tables import INFRASTRUCTURE, REACTIONS, expected_tools, source_of_format

from .summary import by_cause, cause_of, has_empty_reply
from .wording import doubts

NO_RESULT = (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError)
"""Exceptions for a row that a run did not write; rows are not validated, for speed."""

ALONE, GROUPS, TAGS = "scenario", "group", "tag:"
"""How scenarios form clusters: not at all, by group, or by the first tag with a given prefix."""


@dataclass(frozen=True, slots=True)
class RunSource:
    """A run whose results can be read repeatedly, as rows of `results.jsonl`.

    `rows(None)` yields all rows, perhaps without the replies; `rows(numbers)` yields the complete
    rows with these numbers, counted from 1.
    """

    info: RunInfo
    rows: Callable[[Container[int] | None], Iterator[JsonObject]]
    directory: str | None = None
    doubled: int = 0
    """The number of results that were in the file more than once; each counts once."""


def source_of(report: Report) -> RunSource:
    """Return a `RunSource` that reads from a report in memory."""

    def rows(only: Container[int] | None) -> Iterator[JsonObject]:
        for number, result in enumerate(report.results, start=1):
            if only is None:
                replies = ((one.message, one.finish_reason) for one in result.attempts)
                row = result.model_dump(exclude={"attempts", "got"})
                yield {**row, "empty": has_empty_reply(replies)}
            elif number in only:
                yield result.model_dump()

    return RunSource(report.run, rows, report.directory, report.summary.doubled_results)


class Question(NamedTuple):
    """What a scenario asks and expects, as one text, and how its results are grouped and weighed.

    `asks` is empty if all compared runs have the same suite, so that the questions are equal.
    """

    asks: str
    cluster: str | None
    tools: tuple[str, ...]
    tags: tuple[str, ...]
    weight: float

    @property
    def parts(self) -> Iterator[tuple[str, str]]:
        """The sections and names of its rows in a comparison."""
        yield from (("tool", name) for name in dict.fromkeys(self.tools))
        yield from (("tag", name) for name in dict.fromkeys(self.tags))

    def alone(self, sole: str | None) -> Question:
        """Return the question without its cluster, if the `sole` one has all scenarios."""
        return self if sole is None else self._replace(cluster=None)


def sole_group(questions: Iterable[Question]) -> str | None:
    """Return the group that all the scenarios are of, which are the sample then, or None."""
    groups = {one.cluster for one in questions}
    return groups.pop() if len(groups) == 1 else None


@dataclass(slots=True)
class ScenarioCounts:
    """A scenario in a run: how many answers it had, and how many passed.

    `passing` and `failing` are the numbers of the first rows that passed and failed, 0 if none did.
    """

    question: Question
    passed: int = 0
    total: int = 0
    passing: int = 0
    failing: int = 0

    def add(self, number: int, ok: bool) -> None:
        self.total += 1
        self.passed += ok
        if ok:
            self.passing = self.passing or number
        else:
            self.failing = self.failing or number

    @property
    def rate(self) -> float:
        return self.passed / self.total


@dataclass(slots=True)
class Side:
    """All counts of one run that a comparison needs, with the verdicts at `level`."""

    source: RunSource
    level: Level
    asked: dict[str, ScenarioCounts] = field(default_factory=dict)
    outcomes: Counter[str] = field(default_factory=Counter)
    tokens: Counter[str] = field(default_factory=Counter)
    latencies: array[float] = field(default_factory=lambda: array("d"))
    lost: dict[str, str] = field(default_factory=dict)
    """The scenarios without an answer to score in at least one repeat, and why."""
    unanswered: dict[str, ScenarioCounts] = field(default_factory=dict)
    """The results of these scenarios that are no answers."""
    causes: Counter[str] = field(default_factory=Counter)
    formats: Counter[str] = field(default_factory=Counter)
    reactions: dict[str, dict[str, list[int]]] = field(default_factory=dict)
    """By reaction and scenario: how often it occurred, and how often it could be decided."""
    leaked: int = 0
    empty: int = 0
    answers: int = 0
    first_attempts: int = 0

    @property
    def missing(self) -> int:
        """The number of results that an interrupted run lacks."""
        info = self.source.info
        return max(0, info.scenarios * info.repeats - sum(self.outcomes.values()))

    def figures(self) -> RunFigures:
        info, answers = self.source.info, self.answers
        means = {kind: total / answers for kind, total in self.tokens.items() if answers}
        doubtful = {
            "doubled_results": self.source.doubled,
            "leaked_calls": self.leaked,
            "empty_replies": self.empty,
        }
        return RunFigures(
            run_id=info.run_id,
            name=_name(info),
            format=info.format,
            heading=info.heading,
            directory=self.source.directory,
            answers=answers,
            failures=sum(self.outcomes[outcome] for outcome in INFRASTRUCTURE),
            causes=by_cause(self.causes),
            missing=self.missing,
            warnings=tuple(doubts(doubtful, f"{answers} answers")),
            formats=dict(sorted(self.formats.items())),
            sources=_sources(self.formats),
            leaked_calls=self.leaked,
            empty_replies=self.empty,
            first_attempt=self.first_attempts / answers if answers else None,
            outcomes=dict(sorted(self.outcomes.items())),
            latency_seconds_median=median(self.latencies) if self.latencies else None,
            prompt_tokens_mean=means.get("prompt_tokens"),
            completion_tokens_mean=means.get("completion_tokens"),
        )


@dataclass(frozen=True, slots=True)
class RunFigures:
    """Figures of a compared run over all of its answers; None is unknown."""

    run_id: str
    name: str
    format: str
    heading: str | None
    directory: str | None
    answers: int
    failures: int
    causes: dict[str, int]
    """The number of failures of infrastructure, by cause."""
    missing: int
    """The number of results that the run lacks because it was interrupted."""
    warnings: tuple[str, ...]
    """What makes the answers doubtful, such as calls left in the text, or empty replies."""
    formats: dict[str, int]
    sources: dict[str, int]
    """The number of answers with structured calls, and with calls in the text."""
    leaked_calls: int
    """The number of answers with a call that the server left in the text, scored or not."""
    empty_replies: int
    """The number of answers with an empty reply."""
    first_attempt: float | None
    """The share of answers that passed without a retry."""
    outcomes: dict[str, int]
    latency_seconds_median: float | None
    prompt_tokens_mean: float | None
    completion_tokens_mean: float | None


def _name(info: RunInfo) -> str:
    """Return the model of a run, with the file of its system prompt if it was given one."""
    model, file = info.model or info.client, info.options.get("system_prompt")
    return f"{model}, {PurePath(file).stem}" if isinstance(file, str) else model


def _sources(formats: Counter[str]) -> dict[str, int]:
    found: Counter[str] = Counter()
    for name, count in formats.items():
        found[source_of_format(name)] += count
    return dict(sorted(found.items()))


def read_side(
    source: RunSource, *, level: Level, cluster: str, alike: bool, known: Side | None = None
) -> Side:
    """Count a run's results in one pass, with the verdicts at `level`.

    If all compared runs have the same suite (`alike`), questions are taken from the run `known`, if
    given. Raises ComparisonError for an unknown `cluster`, RecordError for a row that is no result.
    """
    if cluster not in (ALONE, GROUPS) and not cluster.startswith(TAGS):
        raise ComparisonError(
            f"scenarios cannot be clustered by {cluster!r}; wanted {ALONE!r}, {GROUPS!r} or "
            f"'{TAGS}PREFIX', the beginning of a tag"
        )
    side, questions = Side(source, level), _Questions(cluster, alike=alike)
    if alike and known is not None:
        questions.update((name, asked.question) for name, asked in known.asked.items())
    for number, row in enumerate(source.rows(None), start=1):
        try:
            _add(side, row, number, questions)
        except NO_RESULT as error:
            raise no_result(source, number, error) from error
    return side


def no_result(source: RunSource, number: int, error: Exception) -> RecordError:
    """Return the error to raise for a row that is no result, as the `error` of reading it shows."""
    return RecordError(
        f"run {source.info.run_id!r}, result {number}: this is no result of tunaeval: "
        f"{type(error).__name__}: {error}"
    )


_OUTCOMES = frozenset(get_args(RunOutcome))


def _add(side: Side, row: JsonObject, number: int, questions: _Questions) -> None:
    scenario, outcome = row["scenario"], _outcome_of(row)
    side.outcomes[outcome] += 1
    is_lost = outcome in INFRASTRUCTURE
    verdict = {} if is_lost else row["levels"][side.level]
    scenarios = side.unanswered if is_lost else side.asked
    asked = scenarios.get(scenario)
    if asked is None:
        asked = scenarios[scenario] = ScenarioCounts(questions.of(row))
    if is_lost:
        asked.total += 1
        side.lost[scenario] = INFRASTRUCTURE[outcome]
        side.causes[cause_of(outcome, row.get("error"))] += 1
        return
    asked.add(number, verdict["ok"])
    side.answers += 1
    if row["format"] is not None:
        side.formats[str(row["format"])] += 1
    side.leaked += row["leaked_calls"] > 0
    if "empty" in row:
        side.empty += row["empty"]
    else:
        replies = ((one["message"], one.get("finish_reason")) for one in row["attempts"])
        side.empty += has_empty_reply(replies)
    side.first_attempts += verdict["first_attempt_ok"]
    for name in REACTIONS if row.get("task") else ():
        if (did := row["task"].get(name)) is not None:
            counted = side.reactions.setdefault(name, {}).setdefault(scenario, [0, 0])
            counted[0] += did
            counted[1] += 1
    if row["latency_seconds"] is not None:
        side.latencies.append(row["latency_seconds"])
    for kind in ("prompt_tokens", "completion_tokens"):
        if row[kind] is not None:
            side.tokens[kind] += int(float(row[kind]))  # OverflowError makes the row no result


def _outcome_of(row: JsonObject) -> str:
    for one in (row["outcome"], *(attempt["outcome"] for attempt in row.get("attempts", ()))):
        if not isinstance(one, str) or one not in _OUTCOMES:
            raise ValueError(f"an outcome is {one!r:.40}")
    return str(row["outcome"])


class _Questions(dict[str, Question]):
    """Questions by scenario; equal tuples of tools or tags are stored once to save memory."""

    def __init__(self, cluster: str, *, alike: bool) -> None:
        super().__init__()
        self._cluster = cluster
        self._alike = alike
        self._names: dict[tuple[str, ...], tuple[str, ...]] = {}

    def of(self, row: JsonObject) -> Question:
        known = self.get(row["scenario"])
        if known is not None:
            return known
        expected = Expectation.model_validate(row["expected"])
        tools, tags = expected_tools(expected), tuple(map(str, row["tags"]))
        return Question(
            asks="" if self._alike else repr((row["prompt"], expected.model_dump())),
            cluster=_cluster(self._cluster, row.get("group"), tags),
            tools=self._names.setdefault(tools, tools),
            tags=self._names.setdefault(tags, tags),
            weight=row["weight"],
        )


def _cluster(by: str, group: str | None, tags: tuple[str, ...]) -> str | None:
    if by == ALONE:
        return None
    if by == GROUPS:
        return group
    prefix = by.removeprefix(TAGS)
    return next((tag for tag in tags if tag.startswith(prefix)), None)
