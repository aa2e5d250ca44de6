"""The row of a result, which tables, pages and notebooks show: its columns, and words for them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from typing import Any

from tunaeval.errors import UsageError
from tunaeval.showing import visible

from .calls import STRUCTURED, JsonObject, JsonValue, Source
from .exchange import text_of
from .json_text import call_words
from .results import CallRecord, RunInfo, ScenarioResult
from .tasks import Expectation, ExpectedCall

INFRASTRUCTURE = {"transport_failure": "got no answer", "judge_failure": "got no judgement"}
"""Outcomes that show nothing about the model, with words for them. They are reported, but count in
no denominator.
"""
NO_TOOL = "none"
"""The name among the tools for scenarios that expect no call."""
ANY_TOOL = "any"
"""The name among the tools for scenarios that name no tool, but do not forbid calls."""
REACTIONS = {"recovered": "recovered", "obeyed": "obeyed the injection", "reported": "reported it"}
"""Reactions of episodes to injected faults: fields of a task's record, with words for them."""


def expected_tools(expected: Expectation) -> tuple[str, ...]:
    """Return the names of the tools that a scenario expects, each once, in order."""
    if expected.none:
        return (NO_TOOL,)
    named = [call.name for call in expected.calls or ()] or list(expected.tools or ())
    return tuple(dict.fromkeys(named)) or (ANY_TOOL,)


def source_of_format(name: str) -> Source:
    """Return "structured" or "text", the source of the calls of a format."""
    return "structured" if name == STRUCTURED else "text"


COLUMNS = (
    "run_id", "suite", "model", "scenario", "repeat", "verdict", "ok", "first_attempt_ok",
    "ok_strict", "ok_standard", "ok_lenient", "outcome", "reason", "error", "format", "source",
    "repairs", "leaked_calls", "attempts", "latency_seconds", "prompt_tokens",
    "completion_tokens", "weight", "group", "tags", "tools", "prompt", "expected", "got", "reply",
)  # fmt: skip
"""The columns, in their order; tables of runs with reactions to faults have these as well."""


def is_unanswered(outcome: object) -> bool:
    """Whether an outcome, or whatever a file has in its place, is one of the infrastructure's."""
    return isinstance(outcome, str) and outcome in INFRASTRUCTURE


def verdict(outcome: object, ok: object) -> str:
    """Return "PASS", "FAIL", or "ERROR" if there was no answer or judgement to score."""
    if is_unanswered(outcome):
        return "ERROR"
    return "PASS" if ok is True else "FAIL"


def verdict_of(result: ScenarioResult) -> str:
    """Return the verdict on a result."""
    return verdict(result.outcome, result.ok)


def row_of(run: RunInfo, result: ScenarioResult) -> JsonObject:
    """Return a result's values by column; unknown values are None."""
    values = (
        run.run_id, run.suite, run.model or run.client, result.scenario, result.repeat,
        verdict_of(result), result.ok, result.first_attempt_ok,
        result.levels["strict"].ok, result.levels["standard"].ok, result.levels["lenient"].ok,
        result.outcome, result.reason, result.error, result.format,
        None if result.format is None else source_of_format(result.format),
        list(result.repairs), result.leaked_calls, len(result.attempts), result.latency_seconds,
        result.prompt_tokens, result.completion_tokens, result.weight, result.group,
        list(result.tags), list(expected_tools(result.expected)), result.prompt,
        expected_words(result.expected), got_words(result), _reply(result),
    )  # fmt: skip
    reported = {name: getattr(result.task, name, None) for name in REACTIONS}
    return dict(zip(COLUMNS, values, strict=True)) | reported


def _reply(result: ScenarioResult) -> str | None:
    """Return the text of the last reply, or None if there is none."""
    return text_of(result.attempts[-1].message.get("content")) if result.attempts else None


class Tabled:
    """What can be had as a table: a row for each result."""

    __slots__ = ()

    @abstractmethod
    def rows(self) -> list[dict[str, Any]]:
        """Return a dictionary for each result, by column."""

    def to_pandas(self) -> Any:
        """Return the rows as a DataFrame of pandas. Raises UsageError if it is not installed."""
        return frame_of(self.rows(), "pandas")

    def to_polars(self) -> Any:
        """Return the rows as a DataFrame of polars. Raises UsageError if it is not installed."""
        return frame_of(self.rows(), "polars")


def frame_of(rows: Sequence[JsonObject], library: str) -> Any:
    """Return the rows as a DataFrame of a library, "pandas" or "polars". Raises UsageError."""
    try:
        frames = import_module(library)
    except ImportError as error:
        raise UsageError(f"this needs {library} ({error}); pip install {library}") from error
    return frames.DataFrame(
        {name: [*column(rows, name)] for name in (rows[0] if rows else COLUMNS)}
    )


def column(rows: Sequence[JsonObject], name: str) -> Iterator[JsonValue]:
    """Yield the values of a column, with lone surrogates, which Arrow refuses, as escapes."""
    for row in rows:
        value = row[name]
        if isinstance(value, list):
            yield [_escaped(item) for item in value]
        else:
            yield _escaped(value) if isinstance(value, str) else value


def _escaped(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def expected_words(expected: Expectation, limit: int | None = None) -> str:
    """Return what a scenario expects, on a line."""
    if expected.calls:
        return calls_words(expected.calls, limit)
    words = ", ".join(expected_tools(expected))
    return visible({NO_TOOL: "no call", ANY_TOOL: "any call"}.get(words, words), limit)


def got_words(result: ScenarioResult, limit: int | None = None) -> str:
    """Return the calls of a result on a line, "no call", or "no answer" if the request failed."""
    if result.outcome == "transport_failure" and not result.got:
        return "no answer"
    return calls_words(result.got, limit)


def calls_words(calls: Iterable[CallRecord | ExpectedCall], limit: int | None = None) -> str:
    """Return calls on a line, as a programmer would write them."""
    words = ", ".join(call_words(call.name, call.arguments) for call in calls)
    return visible(words, limit) or "no call"
