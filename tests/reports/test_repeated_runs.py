"""Runs with repeats and groups: what hangs together is sure of less, and luck has its own lines."""

from __future__ import annotations

import pytest

from tests.reports.results import report, result, shown
from tunaeval.reports.statistics import wilson
from tunaeval.reports.summary import summarise
from tunaeval.types.runs import Expectation, ScenarioResult

NOTHING = Expectation(none=True)


def answers(scenario: str, *oks: bool) -> list[ScenarioResult]:
    return [result(scenario, ok=ok, repeat=number) for number, ok in enumerate(oks, 1)]


MIXED = [*answers("a", True, True, False), *answers("b", False, False, False)]
MIXED += [*answers("c", True, True, True), *answers("d", True, False, True)]


def test_how_often_each_scenario_passed_is_told() -> None:
    told = summarise(MIXED, repeats=3).repeats
    assert told is not None
    assert told.answers == {"3 of 3": 1, "2 of 3": 2, "0 of 3": 1}
    first, _, last = told.at
    assert (first.k, last.k) == (1, 3)
    assert first.any_passes == first.all_pass == pytest.approx(7 / 12)
    assert (last.any_passes, last.all_pass) == (0.75, 0.25)


def test_repeats_of_a_scenario_widen_the_interval() -> None:
    summary = summarise(MIXED, repeats=3)
    naive = wilson(7, 12)
    assert (summary.final.passed, summary.final.total) == (7, 12)
    assert summary.final.low is not None
    assert naive.low is not None
    assert summary.final.low < naive.low
    assert summary.tools["bash"].low == summary.final.low


def test_scenarios_of_a_group_hang_together_without_repeats_too() -> None:
    grouped = summarise([result(str(n), ok=n < 20, group=str(n % 4)) for n in range(40)])
    same = summarise([result(str(n), ok=n < 20, group=str(n // 10)) for n in range(40)])
    assert same.final.value == grouped.final.value == 0.5
    assert same.final.low is not None
    assert grouped.final.low is not None
    assert same.final.low < grouped.final.low


def test_a_scenario_that_was_lost_once_is_out_of_the_highest_k() -> None:
    lost = result("a", outcome="transport_failure", repeat=3)
    told = summarise([*answers("a", True, True), lost, *answers("b", True, True, False)], repeats=3)
    assert told.repeats is not None
    assert [(at.k, at.scenarios) for at in told.repeats.at] == [(1, 2), (2, 2), (3, 1)]


def test_where_no_scenario_has_k_answers_pass_at_k_is_unknown() -> None:
    told = summarise(answers("a", True), repeats=2).repeats
    assert told is not None
    assert told.at[-1].any_passes is None
    assert told.at[-1].all_pass is None
    assert told.variance is None


def test_what_to_buy_more_of_is_said() -> None:
    page = shown(report(*MIXED, repeats=3, temperature=0.8))
    assert "pass@1 58.3 %, pass@3 75.0 %, pass^1 58.3 %, pass^3 25.0 %" in page
    assert "more scenarios would help most" in page
    assert "temperature 0" not in page
    assert "the server's own noise" in shown(report(*MIXED, repeats=3))


@pytest.mark.parametrize("ok", [True, False])
def test_where_all_answers_are_alike_nothing_is_recommended(ok: bool) -> None:
    alike = [*answers("a", ok, ok), *answers("b", ok, ok)]
    page = shown(report(*alike, repeats=2, temperature=0.8))
    assert "every answer was the same, so the variance shows nothing of chance" in page
    assert "would help most" not in page


def test_one_attempt_is_one() -> None:
    assert "\n1 attempt, median" in shown(report(result(ok=True)))


def test_a_run_without_repeats_says_nothing_of_luck() -> None:
    assert summarise([result(ok=True)]).repeats is None


def test_abstaining_calling_and_a_malformed_attempt_are_lines_of_their_own() -> None:
    summary = summarise([
        result("a", ok=True, outcome="no_call", expected=NOTHING),
        result("b", ok=True, first=False, outcome="no_call", expected=NOTHING),
        result("c", outcome="malformed", expected=NOTHING),
        result("d", outcome="calls", expected=NOTHING),
        result("e", outcome="no_call"),
    ])  # fmt: skip
    assert summary.abstentions == {
        "abstained": 1,
        "abstained when asked again": 1,
        "attempted, malformed": 1,
        "called": 1,
    }


def test_attempts_to_success_are_counted() -> None:
    summary = summarise([result("a", ok=True), result("b", ok=True, first=False), result("c")])
    assert summary.attempts_to_success == {"1": 1, "2": 1}
