"""One group that has all scenarios: its rows are the sample, and every report says so."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from tests.reports.results import report, result
from tunaeval.reports.compare import compare_runs
from tunaeval.reports.ranking import CellName, rank
from tunaeval.reports.sides import source_of
from tunaeval.reports.summary import summarise
from tunaeval.reports.wording import remarks
from tunaeval.types.runs import Report, ScenarioResult

rows = st.lists(
    st.tuples(st.booleans(), st.sampled_from([None, "g", "h"]), st.sampled_from([1.0, 2.0])),
    min_size=2,
    max_size=12,
)


def results(rows: Sequence[tuple[bool, str | None, float]]) -> list[ScenarioResult]:
    return [
        result(str(n), ok=ok, group=group, weight=weight, tags=("t",) * (n % 2))
        for n, (ok, group, weight) in enumerate(rows)
    ]


@given(rows, st.randoms(use_true_random=False))
def test_the_order_of_results_changes_no_interval(
    rows: Sequence[tuple[bool, str | None, float]], random: Random
) -> None:
    made = results(rows)
    again = [*made]
    random.shuffle(again)
    one, other = summarise(made), summarise(again)
    assert one.model_copy(update={"attempts": 0}) == other.model_copy(update={"attempts": 0})


@given(st.lists(st.tuples(st.booleans(), st.just("g"), st.sampled_from([1.0, 2.0])), min_size=2))
def test_rows_of_one_group_are_as_sure_as_independent_ones(
    rows: list[tuple[bool, str, float]],
) -> None:
    grouped, alone = (
        summarise(results(rows)),
        summarise(results([(a, None, c) for a, _, c in rows])),
    )
    assert grouped.sole_group == "g"
    assert grouped == alone.model_copy(update={"sole_group": "g"})


def test_two_groups_are_two_clusters() -> None:
    both = summarise(results([(n < 5, "gh"[n // 5], 1.0) for n in range(10)]))
    one = summarise(results([(n < 5, "g", 1.0) for n in range(10)]))
    assert both.sole_group is None
    assert both.final.low is not None
    assert one.final.low is not None
    assert both.final.low < one.final.low


def of_one_group(ok: str, group: str | None = "weather") -> Report:
    return report(*(result(str(n), ok=one == "+", group=group) for n, one in enumerate(ok)))


def test_a_remark_says_so() -> None:
    words = "all scenarios are of one group, 'weather'"
    reports = [of_one_group("++++---+++"), of_one_group("+--+----++")]
    assert any(words in line for line in remarks(reports[0]))
    (compared,) = compare_runs([source_of(one) for one in reports])
    assert any(words in line for line in compared.notes)
    ranking = rank(reports, [CellName("01", "a"), CellName("02", "b")])
    assert any(words in line for line in ranking.remarks)
    alone = [of_one_group("++++---+++", None), of_one_group("+--+----++", None)]
    (plain,) = compare_runs([source_of(one) for one in alone])
    assert compared.overall == plain.overall
    assert ranking.pairs == rank(alone, [CellName("01", "a"), CellName("02", "b")]).pairs
    assert not any("one group" in line for line in remarks(alone[0]))
