"""Results and reports made for the tests, and how a report is shown."""

from __future__ import annotations

from io import StringIO
from typing import Any

from tunaeval.reports.console import show
from tunaeval.reports.summary import summarise
from tunaeval.types.parsing import LEVELS, Level
from tunaeval.types.runs import (
    AttemptRecord,
    CallRecord,
    Expectation,
    ExpectedCall,
    LevelResult,
    Report,
    RunInfo,
    RunOutcome,
    ScenarioResult,
)

HEADING = "recorded outputs of SomeModel, 2026-01-02; no model was run"
HOSTILE = (
    "\x1b[31mred\x1b]8;;http://x\x07link\x9b2J\r\n\x00\x7f\u202eabc\u2066\u2028\ud800"
    "[bold]markup[/bold] :smile: <script>alert(1)</script> `tick` ``` | \\| **x** [a](javascript:b)"
)


def result(
    scenario: str = "one",
    *,
    ok: bool = False,
    first: bool | None = None,
    levels: dict[Level, bool] | None = None,
    outcome: RunOutcome = "calls",
    expected: Expectation | None = None,
    got: tuple[CallRecord, ...] = (),
    repairs: tuple[str, ...] = (),
    tags: tuple[str, ...] = (),
    latency: float | None = 1.0,
    tokens: int | None = None,
    error: str | None = None,
    **more: Any,
) -> ScenarioResult:
    first = ok if first is None else first
    attempt = AttemptRecord(message={"content": HOSTILE}, outcome=outcome)
    return ScenarioResult(
        scenario=scenario,
        prompt="do it",
        expected=expected or Expectation(calls=(ExpectedCall(name="bash"),)),
        got=got,
        ok=ok,
        first_attempt_ok=first,
        reason="as it is",
        outcome=outcome,
        format="hermes",
        repairs=repairs,
        levels={
            level: LevelResult(ok=good, first_attempt_ok=good and first)
            for level, good in (levels or dict.fromkeys(LEVELS, ok)).items()
        },
        attempts=(attempt,) if first or not ok else (attempt, attempt),
        latency_seconds=latency,
        prompt_tokens=tokens,
        completion_tokens=tokens,
        error=error,
        tags=tags,
    ).model_copy(update=more)


def report(*results: ScenarioResult, heading: str | None = HEADING, **info: Any) -> Report:
    run = RunInfo(
        run_id="r1",
        started_at="2026-01-02T03:04:05Z",
        suite="smoke",
        suite_digest="0",
        scenarios=len(results),
        client="replay",
        model="SomeModel",
        heading=heading,
        format="auto",
        level="standard",
        profile="tunacode",
        ask="prompt",
        repeats=1,
        attempts=2,
        max_tokens=300,
        temperature=0.0,
        seed=None,
        concurrency=1,
        deadline_seconds=30,
        prompt_digest="0",
        versions={},
    ).model_copy(update=info)
    return Report(run=run, summary=summarise(results, repeats=run.repeats), results=results)


def calls(*texts: str) -> tuple[CallRecord, ...]:
    return tuple(CallRecord(name=text, arguments={text: text}) for text in texts)


def shown(made: Report) -> str:
    stream = StringIO()
    show(made, stream)
    return stream.getvalue()
