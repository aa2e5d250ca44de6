"""The summary of a run's results, computed in one pass.

Only counts and latencies are kept; for repeated or grouped scenarios also counts for each scenario
or group, because dependent results are less certain than their number suggests.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from statistics import median
from typing import Any

from tunaeval.types.calls import JsonObject
from tunaeval.types.exchange import is_blank
from tunaeval.types.parsing import LEVELS
from tunaeval.types.runs import (
    AtK,
    AttemptRecord,
    Rate,
    Repeats,
    ScenarioResult,
    Summary,
    TaskRecord,
    Variance,
)
from tunaeval.types.tables import INFRASTRUCTURE, REACTIONS, expected_tools, source_of_format

from .statistics import (
    Estimate,
    Weighed,
    clustered_rate,
    pass_at_k,
    pass_hat_k,
    variance_split,
    wilson,
)

USED_UP = "length"
"""The finish reason of a reply that used all of its tokens."""


def summarise(results: Iterable[ScenarioResult], *, repeats: int = 1) -> Summary:
    """Return the summary of `results`, in any order, of a suite that was asked `repeats` times.

    A scenario counts once for each tool it expects and once for each of its tags. `repairs`,
    `formats`, `sources` and `failures` count scenarios.
    """
    tally = Tally(repeats)
    for result in results:
        tally.add(result)
    return tally.summary()


def abstention(result: ScenarioResult) -> str:
    """Return how a scenario that expects no call ended: "abstained", "called" and so on."""
    if result.ok:
        return "abstained" if result.first_attempt_ok else "abstained when asked again"
    return "called" if result.outcome == "calls" else f"attempted, {result.outcome}"


MOST_CAUSES = 20
"""How many causes of failures are listed; the others are counted together."""
OTHER_CAUSES = "other causes"

_IDENTIFIER = re.compile(r"\b[A-Za-z]{2,}[-_][\w-]*\d[\w-]*")
_TRIES = re.compile(r" \(after [0-9]+ tries\)$")


def cause_of(outcome: str, error: str | None) -> str:
    """Return why a scenario has no answer, without the number of tries, which varies."""
    return _TRIES.sub("", error) if error else outcome


def by_cause(failures: Mapping[str, int]) -> dict[str, int]:
    """Return the most frequent causes with their counts, and the count of all others.

    Of causes that differ only in identifiers with digits, such as that of a reply, one is shown.
    """
    alike: dict[str, str] = {}
    found = Counter[str]()
    for cause in sorted(failures):
        found[alike.setdefault(_IDENTIFIER.sub("", cause), cause)] += failures[cause]
    every = _sorted(found)
    most = dict(islice(every.items(), MOST_CAUSES))
    rest = sum(every.values()) - sum(most.values())
    return {**most, OTHER_CAUSES: rest} if rest else most


class Passes:
    """Passes and totals by name. Dependent results share a `cluster`; None is independent."""

    def __init__(self) -> None:
        self._lost = Counter[str]()
        self._alone: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0])
        self._together: defaultdict[str, dict[str, list[int]]] = defaultdict(dict)

    def add(self, name: str, ok: bool, cluster: str | None) -> None:
        counted = self._alone[name]
        if cluster is not None:
            counted = self._together[name].setdefault(cluster, [0, 0])
        counted[0] += ok
        counted[1] += 1

    def gather(self, cluster: str) -> None:
        """Make all results so far one cluster."""
        for name, counted in self._alone.items():
            several = [counted, *self._together.pop(name, {}).values()]
            self._together[name] = {cluster: [sum(column) for column in zip(*several, strict=True)]}
            self._alone[name] = [0, 0]

    def lose(self, name: str) -> None:
        """Count a result that got no answer."""
        self._lost[name] += 1

    def unanswered(self) -> dict[str, int]:
        """Return the number of results for each name that has no answer at all."""
        return {name: self._lost[name] for name in sorted(self._lost.keys() - self._alone.keys())}

    def rate(self, name: str) -> Rate:
        passed, total = self._alone.get(name, (0, 0))
        together = self.clusters(name)
        if not together:
            return wilson(passed, total)
        every: Counter[tuple[float, float]] = Counter(
            {(c, n): times for (c, n), times in together.items()}
        )
        every.update({(1, 1): passed, (0, 1): total - passed})
        found = clustered_rate(every)
        passed += sum(c * times for (c, _), times in together.items())
        return _rate(passed, round(found.size), found)

    def clusters(self, name: str) -> Counter[tuple[int, int]]:
        """Return the number of clusters for each (c, n): c of their n results passed."""
        return Counter((c, n) for c, n in self._together.get(name, {}).values())

    def rates(self) -> dict[str, Rate]:
        return {name: self.rate(name) for name in sorted(self._alone)}


_COUNTED = ("outcomes", "repairs", "formats", "sources", "abstentions")
"""Fields of a summary that count results by a name."""
_TOTALS = (
    "scenarios", "attempts", "infrastructure_failures", "leaked_calls", "empty_replies",
    "cut_replies", "broken_constraints", "unmet_faults", "cached_replies",
)  # fmt: skip
"""Fields of a summary that are one number."""


class Tally:
    """Adds up results one by one; `summary` returns the `Summary` of those so far."""

    def __init__(self, repeats: int) -> None:
        self._repeats = repeats
        self._runs, self._levels, self._levels_first = Passes(), Passes(), Passes()
        self._tools, self._tags, self._scenarios = Passes(), Passes(), Passes()
        self._reactions = Passes()
        self._weighed, self._weighed_passed = Weighed(), 0
        self._groups, self._scored = set[str | None](), 0
        self._counts = {name: Counter[str]() for name in _COUNTED}
        self._causes, self._successes = Counter[str](), Counter[str]()
        self._tokens = Counter[str]()
        self._totals = dict.fromkeys(_TOTALS, 0)
        self._latencies = array("d")
        self._oldest_cached: str | None = None

    def add(self, result: ScenarioResult) -> None:
        self._totals["scenarios"] += 1
        self._totals["attempts"] += len(result.attempts)
        self._counts["outcomes"][result.outcome] += 1
        for kind in ("prompt_tokens", "completion_tokens"):
            if (tokens := getattr(result, kind)) is not None:
                self._tokens[kind] += tokens
        for attempt in result.attempts:
            if attempt.cached_at is not None:
                self._count_cached(attempt)
        if result.latency_seconds is not None:
            self._latencies.append(result.latency_seconds)
        if result.outcome in INFRASTRUCTURE:
            self._totals["infrastructure_failures"] += 1
            self._causes[cause_of(result.outcome, result.error)] += 1
            for tool in expected_tools(result.expected):
                self._tools.lose(tool)
            for tag in set(result.tags):
                self._tags.lose(tag)
        else:
            self._score(result)

    def _count_cached(self, attempt: AttemptRecord) -> None:
        self._totals["cached_replies"] += 1
        at = attempt.cached_at or ""
        self._oldest_cached = min(self._oldest_cached or at, at)
        self._tokens["cached_prompt_tokens"] += attempt.prompt_tokens or 0
        self._tokens["cached_completion_tokens"] += attempt.completion_tokens or 0

    def _score(self, result: ScenarioResult) -> None:
        again = result.scenario if self._repeats > 1 else None
        cluster = self._cluster(result.group, again)
        self._scored += 1
        self._runs.add("final", result.ok, cluster)
        self._runs.add("first", result.first_attempt_ok, cluster)
        self._weighed.add(result.ok, result.weight, cluster)
        self._weighed_passed += result.ok and result.weight > 0
        for level, at in result.levels.items():
            self._levels.add(level, at.ok, cluster)
            self._levels_first.add(level, at.first_attempt_ok, cluster)
        tools = expected_tools(result.expected)
        for tool in tools:
            self._tools.add(tool, result.ok, cluster)
        for tag in set(result.tags):
            self._tags.add(tag, result.ok, cluster)
        if again is not None:
            self._scenarios.add("final", result.ok, again)
        if result.ok:
            # An episode of several turns counts as one attempt.
            self._successes[str(len(result.attempts) if result.task is None else 1)] += 1
        if result.task is not None:
            self._react(result.task, cluster)
        if result.expected.none:
            self._counts["abstentions"][abstention(result)] += 1
        self._counts["repairs"].update(set(result.repairs))
        self._totals["leaked_calls"] += result.leaked_calls > 0
        self._totals["empty_replies"] += has_empty_reply(
            (attempt.message, attempt.finish_reason) for attempt in result.attempts
        )
        self._totals["cut_replies"] += result.outcome == "truncated" and any(
            attempt.finish_reason == USED_UP for attempt in result.attempts
        )
        self._totals["broken_constraints"] += any(attempt.breach for attempt in result.attempts)
        if result.format is not None:
            self._counts["formats"][result.format] += 1
            self._counts["sources"][source_of_format(result.format)] += 1

    def _cluster(self, group: str | None, again: str | None) -> str | None:
        """Return the cluster of a result. As long as one group has all, it is no cluster."""
        if len(self._groups) == 1 and group not in self._groups:
            (first,) = self._groups
            passes = self._runs, self._levels, self._levels_first, self._tools, self._tags
            for counts in (*passes, self._reactions, self._weighed):
                if first is not None:
                    counts.gather(first)
        if len(self._groups) < 2:
            self._groups.add(group)
        return again if group is None or len(self._groups) == 1 else group

    def _react(self, task: TaskRecord, cluster: str | None) -> None:
        for name in REACTIONS:
            did: bool | None = getattr(task, name)
            if did is not None:
                self._reactions.add(name, did, cluster)
        self._totals["unmet_faults"] += any(fault.turn is None for fault in task.faults)

    def summary(self) -> Summary:
        sorted_counts = {name: _sorted(found) for name, found in self._counts.items()}
        counted: dict[str, Any] = {**sorted_counts, **self._totals}
        return Summary(
            **counted,
            final=self._runs.rate("final"),
            weighted=self._weighted(),
            first_attempt=self._runs.rate("first"),
            levels={level: self._levels.rate(level) for level in LEVELS},
            levels_first_attempt={level: self._levels_first.rate(level) for level in LEVELS},
            tools=self._tools.rates(),
            tags=self._tags.rates(),
            unanswered_tools=self._tools.unanswered(),
            unanswered_tags=self._tags.unanswered(),
            reactions=self._reactions.rates(),
            sole_group=next(iter(self._groups)) if len(self._groups) == 1 < self._scored else None,
            failures=by_cause(self._causes),
            attempts_to_success=dict(sorted(self._successes.items(), key=lambda at: int(at[0]))),
            repeats=told_of_repeats(self._repeats, self._scenarios.clusters("final")),
            prompt_tokens=self._tokens.get("prompt_tokens"),
            completion_tokens=self._tokens.get("completion_tokens"),
            latency_seconds_median=median(self._latencies) if self._latencies else None,
            oldest_cached=self._oldest_cached,
            cached_prompt_tokens=self._tokens["cached_prompt_tokens"],
            cached_completion_tokens=self._tokens["cached_completion_tokens"],
        )

    def _weighted(self) -> Rate | None:
        if not (self._weighed.differ and self._weighed.scores):
            return None
        found = clustered_rate(self._weighed.clusters())
        return _rate(self._weighed_passed, self._weighed.scores, found)


def _rate(passed: int, total: int, found: Estimate) -> Rate:
    return Rate(passed=passed, total=total, value=found.value, low=found.low, high=found.high)


def has_empty_reply(replies: Iterable[tuple[JsonObject, str | None]]) -> bool:
    """Whether any reply was empty although it had tokens left.

    `replies` are pairs of a message and its finish reason.
    """
    return any(
        reason != USED_UP and not any(map(message.get, _REASONING)) and is_blank(message)
        for message, reason in replies
    )


_REASONING = ("reasoning_content", "reasoning")


def _sorted(counts: Counter[str]) -> dict[str, int]:
    """Return the counts, highest first, then by name: independent of the results' order."""
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


_EACH_UP_TO = 5
"""Each k up to here is reported, then doubled values, and the number of repeats."""


def told_of_repeats(repeats: int, counts: Mapping[tuple[int, int], int]) -> Repeats | None:
    """Return the figures of a run with repeats, or None if there are none.

    `counts` maps (c, n) to the number of scenarios of which c of n repeats passed.
    """
    if repeats < 2:
        return None
    split = variance_split(counts)
    return Repeats(
        repeats=repeats,
        answers={f"{c} of {n}": counts[c, n] for c, n in sorted(counts, reverse=True)},
        at=tuple(_at(k, counts) for k in _ks(repeats)),
        variance=None if split is None else Variance.model_validate(split, from_attributes=True),
    )


def _ks(repeats: int) -> list[int]:
    doubled = (_EACH_UP_TO * 2**power for power in range(1, repeats.bit_length()))
    ks = {*range(1, _EACH_UP_TO + 1), *doubled, repeats}
    return sorted(k for k in ks if k <= repeats)


def _at(k: int, counts: Mapping[tuple[int, int], int]) -> AtK:
    """Return the mean pass@k and pass^k over the scenarios with k or more answers."""
    enough = {(c, n): times for (c, n), times in counts.items() if n >= k}
    scenarios = sum(enough.values())

    def over(chance: Callable[[int, int, int], float | None]) -> float | None:
        found = sum((chance(n, c, k) or 0.0) * times for (c, n), times in enough.items())
        return found / scenarios if scenarios else None

    return AtK(k=k, scenarios=scenarios, any_passes=over(pass_at_k), all_pass=over(pass_hat_k))
