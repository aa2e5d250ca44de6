"""What the results of a run come to: one pass, and nothing kept but counts and latencies."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable
from statistics import median

from tunaeval.types import LEVELS
from tunaeval.types.runs import Expectation, Rate, ScenarioResult, Summary

from .statistics import wilson

INFRASTRUCTURE = frozenset({"transport_failure", "judge_failure"})
"""Outcomes that say nothing about the model: they are shown, and stand in no denominator."""

NO_TOOL = "none"
"""Where scenarios that want no call are counted among the tools."""
ANY_TOOL = "any"
"""Where scenarios are counted that name no tool, and yet forbid none or not all."""


def summarise(results: Iterable[ScenarioResult]) -> Summary:
    """Count `results`, in any order.

    A scenario counts once for each tool it expects and once for each of its tags. `repairs` and
    `formats` count scenarios.
    """
    tally = _Tally()
    for result in results:
        tally.add(result)
    return tally.summary()


def expected_tools(expected: Expectation) -> tuple[str, ...]:
    """The names of the tools that a scenario wants, each once, in order."""
    if expected.none:
        return (NO_TOOL,)
    named = [call.name for call in expected.calls or ()] or list(expected.tools or ())
    return tuple(dict.fromkeys(named)) or (ANY_TOOL,)


class _Passes:
    """Passes and totals by name."""

    def __init__(self) -> None:
        self._passed: Counter[str] = Counter()
        self._total: Counter[str] = Counter()

    def add(self, name: str, ok: bool) -> None:
        self._passed[name] += ok
        self._total[name] += 1

    def rate(self, name: str) -> Rate:
        return wilson(self._passed[name], self._total[name])

    def rates(self) -> dict[str, Rate]:
        return {name: self.rate(name) for name in sorted(self._total)}


class _Tally:
    def __init__(self) -> None:
        self._runs, self._levels, self._levels_first = _Passes(), _Passes(), _Passes()
        self._tools, self._tags = _Passes(), _Passes()
        self._outcomes: Counter[str] = Counter()
        self._repairs: Counter[str] = Counter()
        self._formats: Counter[str] = Counter()
        self._tokens: Counter[str] = Counter()
        self._latencies = array("d")
        self._scenarios = self._attempts = self._failures = 0

    def add(self, result: ScenarioResult) -> None:
        self._scenarios += 1
        self._attempts += len(result.attempts)
        self._outcomes[result.outcome] += 1
        for kind in ("prompt_tokens", "completion_tokens"):
            if (tokens := getattr(result, kind)) is not None:
                self._tokens[kind] += tokens
        if result.latency_seconds is not None:
            self._latencies.append(result.latency_seconds)
        if result.outcome in INFRASTRUCTURE:
            self._failures += 1
        else:
            self._score(result)

    def _score(self, result: ScenarioResult) -> None:
        self._runs.add("final", result.ok)
        self._runs.add("first", result.first_attempt_ok)
        for level, at in result.levels.items():
            self._levels.add(level, at.ok)
            self._levels_first.add(level, at.first_attempt_ok)
        for tool in expected_tools(result.expected):
            self._tools.add(tool, result.ok)
        for tag in set(result.tags):
            self._tags.add(tag, result.ok)
        self._repairs.update(set(result.repairs))
        if result.format is not None:
            self._formats[result.format] += 1

    def summary(self) -> Summary:
        return Summary(
            final=self._runs.rate("final"),
            first_attempt=self._runs.rate("first"),
            levels={level: self._levels.rate(level) for level in LEVELS},
            levels_first_attempt={level: self._levels_first.rate(level) for level in LEVELS},
            tools=self._tools.rates(),
            tags=self._tags.rates(),
            outcomes=_sorted(self._outcomes),
            repairs=_sorted(self._repairs),
            formats=_sorted(self._formats),
            infrastructure_failures=self._failures,
            scenarios=self._scenarios,
            attempts=self._attempts,
            prompt_tokens=self._tokens.get("prompt_tokens"),
            completion_tokens=self._tokens.get("completion_tokens"),
            latency_seconds_median=median(self._latencies) if self._latencies else None,
        )


def _sorted(counts: Counter[str]) -> dict[str, int]:
    """The most frequent first, then by name: the order of the results leaves no trace."""
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
