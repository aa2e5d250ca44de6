"""Summaries, and the pages made of them: counted right, headed, and safe to look at."""

from __future__ import annotations

import json
import re
import unicodedata
from io import StringIO
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tunaeval.errors import RecordError
from tunaeval.registry import Registry, instance_of
from tunaeval.reports import WRITERS, Live, show, summarise, summary_object, visible
from tunaeval.reports.json import json_text
from tunaeval.reports.markdown import code
from tunaeval.types import LEVELS, Level
from tunaeval.types.roles import Writer
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
writers = Registry[Writer](
    "tunaeval.writers", "writer", builtins=WRITERS, check=instance_of(Writer)
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
    )


def report(*results: ScenarioResult, heading: str | None = HEADING) -> Report:
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
    )
    return Report(run=run, summary=summarise(results), results=results)


def calls(*texts: str) -> tuple[CallRecord, ...]:
    return tuple(CallRecord(name=text, arguments={text: text}) for text in texts)


def drawn() -> st.SearchStrategy[ScenarioResult]:
    flags = st.booleans()
    return st.builds(
        result,
        scenario=st.sampled_from(["a", "b"]),
        ok=flags,
        levels=st.fixed_dictionaries(dict.fromkeys(LEVELS, flags)),
        outcome=st.sampled_from(get_args(RunOutcome)),
        repairs=st.lists(st.sampled_from(["quotes", "comma"])).map(tuple),
        tags=st.lists(st.sampled_from(["paths", "unicode"])).map(tuple),
        latency=st.none() | st.floats(0, 10),
        tokens=st.none() | st.integers(0, 100),
    )


@given(data=st.data(), results=st.lists(drawn(), max_size=12))
def test_the_order_of_results_does_not_matter(
    data: st.DataObject, results: list[ScenarioResult]
) -> None:
    shuffled = data.draw(st.permutations(results))
    assert summarise(results).model_dump_json() == summarise(shuffled).model_dump_json()


@given(st.lists(drawn(), max_size=12))
def test_every_scenario_is_either_scored_or_an_infrastructure_failure(
    results: list[ScenarioResult],
) -> None:
    summary = summarise(results)
    assert summary.final.total + summary.infrastructure_failures == len(results)
    assert sum(summary.outcomes.values()) == summary.scenarios == len(results)
    assert {rate.total for rate in summary.levels.values()} == {summary.final.total}


def test_results_are_read_once() -> None:
    assert summarise(result(ok=True) for _ in range(3)).final.passed == 3


def test_infrastructure_failures_leave_the_denominator_and_are_shown() -> None:
    lost = result(outcome="transport_failure", error="connection refused")
    summary = summarise([result(ok=True), lost, result(outcome="judge_failure")])
    assert (summary.final.passed, summary.final.total) == (1, 1)
    assert summary.tools["bash"].total == 1
    assert "2 of 3 scenarios got no answer" in shown(report(result(ok=True), lost, lost))


def test_malformed_is_counted_as_malformed() -> None:
    summary = summarise([result(outcome="malformed"), result(outcome="no_call")])
    assert summary.outcomes == {"malformed": 1, "no_call": 1}


def test_first_attempt_stands_beside_final() -> None:
    summary = summarise([result(ok=True, first=False), result(ok=True)])
    assert (summary.final.passed, summary.first_attempt.passed) == (2, 1)
    assert summary.levels_first_attempt["strict"].passed == 1
    assert summary.attempts == 3


@pytest.mark.parametrize(
    ("expected", "names"),
    [
        (Expectation(none=True), ["none"]),
        (Expectation(tools=("grep", "glob", "grep")), ["glob", "grep"]),
        (Expectation(calls=(ExpectedCall(name="b"), ExpectedCall(name="a"))), ["a", "b"]),
        (Expectation(forbid=("bash",)), ["any"]),
    ],
)
def test_a_scenario_counts_for_each_tool_it_expects(
    expected: Expectation, names: list[str]
) -> None:
    assert list(summarise([result(expected=expected)]).tools) == names


def test_unknown_tokens_and_latency_stay_unknown() -> None:
    summary = summarise([result(latency=None)])
    assert (summary.prompt_tokens, summary.latency_seconds_median) == (None, None)
    known = summarise([result(latency=1), result(latency=3, tokens=5), result(latency=None)])
    assert (known.prompt_tokens, known.latency_seconds_median) == (5, 2)


def test_a_gap_between_levels_is_pointed_out() -> None:
    generous: dict[Level, bool] = {"strict": False, "standard": False, "lenient": True}
    page = shown(report(*[result(levels=generous)] * 5, *[result(ok=True)] * 95))
    assert "lenient reads 5.0 points more than standard" in page
    assert "standard reads" not in page


def shown(made: Report) -> str:
    stream = StringIO()
    show(made, stream)
    return stream.getvalue()


def written(name: str, made: Report, directory: Path) -> str:
    path = directory / "deep" / f"report.{name}"
    writers.get(name).write(made, path)
    return path.read_text(encoding="utf-8")


def test_the_heading_stands_directly_over_the_score_on_the_console() -> None:
    lines = [line.strip() for line in shown(report(result(ok=True))).splitlines() if line.strip()]
    under = lines[lines.index(HEADING) + 1 :]
    assert under[0].startswith("passed")
    assert under[2].startswith("score")
    assert "%" not in "".join(lines[: lines.index(HEADING)])


def test_the_heading_stands_directly_over_every_table_in_markdown(tmp_path: Path) -> None:
    lines = written("markdown", report(result(ok=True, tags=("x",))), tmp_path).splitlines()
    tables = [i for i, line in enumerate(lines) if "| passed |" in line]
    assert len(tables) == 4
    assert all(HEADING in lines[i - 2] for i in tables)


def test_the_heading_comes_before_the_score_in_json(tmp_path: Path) -> None:
    assert list(summary_object(report(result())))[:2] == ["heading", "summary"]
    assert list(json.loads(written("json", report(result()), tmp_path)))[:2] == [
        "heading",
        "summary",
    ]


def test_the_json_report_holds_every_result(tmp_path: Path) -> None:
    made = report(result(HOSTILE, got=calls(HOSTILE)), result(ok=True))
    read = json.loads(written("json", made, tmp_path))
    assert read["summary"]["final"] == made.summary.final.model_dump()
    assert read["results"][0]["scenario"] == HOSTILE
    assert read["results"][0]["attempts"][0]["message"]["content"] == HOSTILE


def test_markdown_lists_what_did_not_pass(tmp_path: Path) -> None:
    page = written(
        "markdown", report(result("bad", got=calls("ls")), result("good", ok=True)), tmp_path
    )
    missed = page.split("## What did not pass")[1]
    assert "`bad` calls: `as it is`; expected `bash()`, got `ls(ls='ls')`" in missed
    assert "good" not in missed


def test_a_page_that_cannot_be_written_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "deep").write_text("a file")
    with pytest.raises(RecordError, match=r"cannot be written to .*report\.json"):
        written("json", report(result()), tmp_path)


def test_all_built_in_writers_work() -> None:
    assert [entry.status for entry in writers.entries()] == ["ok"] * len(WRITERS)


def harmless(text: str) -> bool:
    """No character but newlines that a terminal acts upon or that turns text around."""
    return all(
        character == "\n" or unicodedata.category(character) not in {"Cc", "Cf", "Cs", "Zl", "Zp"}
        for character in text
    )


anything = st.text(st.characters(), max_size=40) | st.just(HOSTILE)


@settings(max_examples=40)
@given(text=anything)
def test_no_control_character_of_a_model_reaches_the_terminal(text: str) -> None:
    lost = result(text, outcome="transport_failure", error=text)
    made = report(result(text, got=calls(text), tags=(text,), repairs=(text,)), lost, heading=text)
    stream = StringIO()
    tell = Live(stream)
    with tell.progress(2, heading=text):
        for one in made.results:
            tell(one)
    assert harmless(stream.getvalue())
    assert len(stream.getvalue().splitlines()) == 2 + bool(text)
    assert harmless(shown(made))
    assert harmless(json_text(summary_object(made)))


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def test_on_a_terminal_model_text_is_escaped_too() -> None:
    stream = Terminal()
    tell = Live(stream)
    with tell.progress(1, heading=HEADING):
        tell(result(HOSTILE, got=calls(HOSTILE)))
    page = stream.getvalue()
    assert HEADING in page
    assert r"\x1b[31mred" in page
    assert "\x1b]8" not in page
    assert "\u202e" not in page


def test_numbers_and_nests_that_python_cannot_show_are_shown() -> None:
    deep: list[object] = []
    for _ in range(5000):
        deep = [deep]
    wild = CallRecord(name="bash", arguments={"n": 10**5000, "nan": float("nan"), "deep": deep})
    stream = StringIO()
    tell = Live(stream)
    with tell.progress(1, heading=None):
        tell(result(got=(wild,)))
    assert "bash(n='0x" in stream.getvalue()


def test_markup_of_a_model_is_not_obeyed() -> None:
    page = shown(report(result(tags=("[bold]x[/bold] :smile:",))))
    assert "[bold]x[/bold] :smile:" in page


def test_a_line_says_what_was_wanted_and_what_came() -> None:
    stream = StringIO()
    tell = Live(stream)
    with tell.progress(1, heading=None):
        tell(result("a", ok=True, first=False, got=calls("bash")))
        tell(result("b", outcome="no_call"))
        tell(result("c", outcome="transport_failure", error="refused"))
    assert stream.getvalue().splitlines() == [
        "PASS  a  bash() -> bash(bash='bash')  2 attempts  calls",
        "FAIL  b  bash() -> no call  1 attempt  no_call",
        "ERROR  c  bash() -> refused  1 attempt  transport_failure",
    ]


@given(anything, st.none() | st.integers(1, 20))
def test_visible_text_is_one_printable_line_within_its_limit(text: str, limit: int | None) -> None:
    seen = visible(text, limit)
    assert seen.isprintable()
    assert limit is None or len(seen) <= limit
    assert text.isprintable() is False or limit is not None or seen == text


@given(anything)
def test_nothing_ends_a_code_span_or_a_cell(text: str) -> None:
    span = code(text)
    fence = re.match("`+", span)
    assert fence
    inner = span[len(fence[0]) : -len(fence[0])]
    assert fence[0] not in re.findall("`+", inner)
    assert "|" not in span
    assert not inner.startswith("`")
    assert not inner.endswith("`")
