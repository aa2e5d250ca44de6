"""Results as rows of a table, with the same columns in CSV and Parquet."""

from __future__ import annotations

from collections.abc import Iterable

from tunaeval.types.calls import JsonObject
from tunaeval.types.exchange import text_of
from tunaeval.types.runs import Report, RunInfo, ScenarioResult

from .summary import INFRASTRUCTURE, REACTIONS, expected_tools, source_of_format
from .wording import expected_words, got_words

COLUMNS = (
    "run_id", "suite", "model", "scenario", "repeat", "verdict", "ok", "first_attempt_ok",
    "ok_strict", "ok_standard", "ok_lenient", "outcome", "reason", "error", "format", "source",
    "repairs", "leaked_calls", "attempts", "latency_seconds", "prompt_tokens",
    "completion_tokens", "weight", "group", "tags", "tools", "prompt", "expected", "got", "reply",
)  # fmt: skip
"""The columns, in their order."""

REACTION_COLUMNS = tuple(REACTIONS)
"""Further columns, in tables of runs that have any of these reactions."""

LISTS = frozenset({"repairs", "tags", "tools"})
NUMBERS = frozenset({"latency_seconds", "weight"})
WHOLE_NUMBERS = frozenset({
    "repeat", "leaked_calls", "attempts", "prompt_tokens", "completion_tokens",
})  # fmt: skip
TRUTHS = frozenset({
    "ok", "first_attempt_ok", "ok_strict", "ok_standard", "ok_lenient", *REACTION_COLUMNS,
})  # fmt: skip


def columns_of(reports: Iterable[Report]) -> tuple[str, ...]:
    """Return the columns of a table of these runs."""
    decided = {name for report in reports for name in report.summary.reactions}
    return (*COLUMNS, *(name for name in REACTION_COLUMNS if name in decided))


def verdict_of(result: ScenarioResult) -> str:
    """Return "PASS", "FAIL", or "ERROR" if there was no answer or judgement to score."""
    if result.outcome in INFRASTRUCTURE:
        return "ERROR"
    return "PASS" if result.ok else "FAIL"


def row_of(run: RunInfo, result: ScenarioResult) -> JsonObject:
    """Return the values by column; unknown values are None."""
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
    reported = {name: getattr(result.task, name, None) for name in REACTION_COLUMNS}
    return dict(zip(COLUMNS, values, strict=True)) | reported


def _reply(result: ScenarioResult) -> str | None:
    """Return the text of the last reply, or None if there is none."""
    return text_of(result.attempts[-1].message.get("content")) if result.attempts else None
