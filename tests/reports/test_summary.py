"""Summaries: every result counted once, and where it belongs."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reports.results import report, result, shown
from tunaeval.reports.json import summary_object
from tunaeval.reports.markdown import markdown_writer
from tunaeval.reports.summary import summarise
from tunaeval.types.parsing import LEVELS, Level
from tunaeval.types.runs import Expectation, ExpectedCall, RunOutcome, ScenarioResult


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


def test_a_tool_and_a_tag_without_any_answer_keep_their_rows(tmp_path: Path) -> None:
    """Of five results three got no answer: all of `search`, and one of two of `bash`."""
    search = Expectation(calls=(ExpectedCall(name="search"),))
    lost = result(outcome="transport_failure", expected=search, tags=("web", "hard"))
    other = result(outcome="judge_failure", tags=("hard",))
    made = report(lost, lost, other, result(ok=True, tags=("hard",)), result(tags=("hard",)))
    assert made.summary.unanswered_tools == {"search": 2}
    assert made.summary.unanswered_tags == {"web": 2}
    assert made.summary.tools.keys() == {"bash"}
    lines = [" ".join(line.split()) for line in shown(made).splitlines()]
    assert "tool bash 1 2 50.0 % 9.5 to 90.5" in lines
    assert {"search 0 0 0 of 2 answered", "web 0 0 0 of 2 answered"} <= {*lines}
    markdown_writer.write(made, tmp_path / "r.md")
    written = (tmp_path / "r.md").read_text()
    assert "| `search` | 0 | 0 | 0 of 2 answered |  |  |" in written
    assert "| `web` | 0 | 0 | 0 of 2 answered |  |  |" in written


def test_causes_that_differ_in_an_identifier_are_one() -> None:
    errors = ["cut: 'chatcmpl-27'", "cut: 'chatcmpl-3f'", "status 500", "status 502"]
    summary = summarise(result(outcome="transport_failure", error=error) for error in errors)
    assert summary.failures == {"cut: 'chatcmpl-27'": 2, "status 500": 1, "status 502": 1}


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        ("transport_failure", "1 of 2 scenarios got no answer and are not in the score"),
        ("judge_failure", "1 of 2 scenarios got no judgement and are not in the score"),
    ],
)
def test_infrastructure_failures_are_said_on_every_page(
    outcome: RunOutcome, words: str, tmp_path: Path
) -> None:
    made = report(result(ok=True), result("two", outcome=outcome, error="kind: it broke"))
    markdown_writer.write(made, tmp_path / "page.md")
    markdown = (tmp_path / "page.md").read_text()
    for page in (shown(made), markdown):
        assert words in page
        assert f"{outcome} 1" in page.replace("`", "")
    assert "it broke" in markdown
    told = summary_object(made)["summary"]
    assert told["infrastructure_failures"] == told["outcomes"][outcome] == 1
    assert all(rate["total"] == 1 for rate in (told["final"], *told["levels"].values()))


def test_weights_are_a_score_beside_the_one_that_counts_heads() -> None:
    made = report(
        *(result(f"s{n}", ok=n > 1, weight=float(n)) for n in range(4)),
        result("lost", outcome="transport_failure", weight=100.0),
    )
    assert made.summary.weighted is not None
    assert made.summary.weighted.value == pytest.approx(5 / 6)
    assert (made.summary.weighted.passed, made.summary.weighted.total) == (2, 3)
    assert (made.summary.final.passed, made.summary.final.total) == (2, 4)
    assert "weighted score counts each scenario by its weight" in shown(made)


@given(st.lists(st.booleans(), min_size=1, max_size=12), st.sampled_from([0.5, 1.0, 3.0]))
def test_equal_weights_are_no_weights(oks: list[bool], weight: float) -> None:
    results = [result(f"s{n}", ok=ok) for n, ok in enumerate(oks)]
    weighed = [one.model_copy(update={"weight": weight}) for one in results]
    assert summarise(weighed) == summarise(results)
    assert summarise(results).weighted is None


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
    assert "5.0 points more pass at lenient than at standard" in page
    assert "standard reads" not in page
