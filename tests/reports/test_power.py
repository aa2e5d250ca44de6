"""What a comparison says it could have found is no more than there can be."""

from __future__ import annotations

from math import sqrt
from statistics import stdev

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reports.results import report, result
from tests.reports.test_compare import page, run
from tunaeval import compare
from tunaeval.reports.statistics import student_quantile
from tunaeval.types.runs import Report

verdicts = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=30)


@given(verdicts)
def test_no_difference_is_said_that_there_cannot_be(pairs: list[tuple[bool, bool]]) -> None:
    found = compare(run(*(a for a, _ in pairs)), run(*(b for _, b in pairs)))
    overall = found.overall
    said = " ".join(page(found).split())
    assert -1 <= overall.low <= overall.high <= 1
    if overall.detectable is None:
        assert "too few to find any difference with a probability of 80 %" in said
    else:
        assert 0 < overall.detectable <= 1
        assert f"difference of {100 * overall.detectable:.1f} points would be found" in said


def test_a_handful_of_scenarios_finds_nothing() -> None:
    a, b = run(True, False, True, False), run(False, True, True, False)
    assert compare(a, b).overall.detectable is None


def repeated(passed: list[int], repeats: int) -> Report:
    return report(
        *(
            result(f"s{number}", ok=repeat < count, repeat=repeat + 1)
            for number, count in enumerate(passed)
            for repeat in range(repeats)
        ),
        repeats=repeats,
    )


def test_with_repeats_the_power_is_that_of_students_interval() -> None:
    found = compare(repeated([1, 2, 3, 4, 0], 4), repeated([2, 2, 4, 3, 2], 4)).overall
    differences = [0.25, 0.0, 0.25, -0.25, 0.5]
    error = stdev(differences) / sqrt(5)
    reach = student_quantile(0.975, 4)
    assert found.standard_error == pytest.approx(error)
    assert found.high - found.value == pytest.approx(reach * error)
    assert found.detectable == pytest.approx((reach + student_quantile(0.8, 4)) * error)


def test_repeats_that_all_agree_are_as_sure_as_single_verdicts() -> None:
    a, b = [True, False, True, True, False], [False, False, True, True, True]
    single = compare(run(*a), run(*b)).overall
    many = compare(repeated([3 * one for one in a], 3), repeated([3 * one for one in b], 3)).overall
    assert (many.low, many.high, many.detectable) == (single.low, single.high, single.detectable)
