"""Tests of hypotheses, power, repeats and agreement: published figures, and their laws."""

from __future__ import annotations

from collections import Counter
from itertools import product
from math import comb, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tunaeval.reports.statistics import (
    benjamini_hochberg,
    cohen_kappa,
    detectable_effect,
    holm,
    interval,
    krippendorff_alpha,
    mcnemar,
    needed_scenarios,
    pass_at_k,
    pass_hat_k,
    rogan_gladen,
    sign_flip,
    variance_split,
)

ps = st.lists(st.floats(0, 1), max_size=12)


@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemar_is_the_binomial_test(lost: int, gained: int) -> None:
    n, fewer = lost + gained, min(lost, gained)
    exact = min(1.0, 2 * sum(comb(n, k) for k in range(fewer + 1)) / 2**n)
    assert mcnemar(lost, gained) == pytest.approx(exact, abs=1e-12)


@given(st.integers(0, 30), st.integers(0, 30), st.integers(0, 30))
def test_flipped_signs_of_verdicts_are_mcnemar(lost: int, gained: int, same: int) -> None:
    differences = Counter({-1.0: lost, 1.0: gained, 0.0: same})
    assert sign_flip(differences) == pytest.approx(mcnemar(lost, gained), abs=1e-9)


@given(st.lists(st.sampled_from([-1.0, -2 / 3, -1 / 3, 1 / 3, 2 / 3, 1.0]), max_size=9))
def test_flipped_signs_are_all_looked_at_where_they_are_few(values: list[float]) -> None:
    seen = abs(sum(values)) - 1e-9
    ways = list(product((1, -1), repeat=len(values)))
    reached = sum(abs(sum(s * v for s, v in zip(way, values, strict=True))) >= seen for way in ways)
    assert sign_flip(Counter(values)) == pytest.approx(reached / len(ways))


def test_many_differences_are_drawn_and_very_many_are_normal() -> None:
    drawn = sign_flip({0.01 * n: 1 for n in range(1, 40)} | {-0.013 * n: 1 for n in range(1, 30)})
    assert 0 < drawn < 1
    even = {0.0001 * n * (-1) ** n: 1 for n in range(1, 1201)}
    assert sign_flip(even) == pytest.approx(0.98, abs=0.05)


def test_published_adjustments_are_met() -> None:
    # statsmodels 0.14, multipletests
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    adjusted = benjamini_hochberg([0.01, 0.04, 0.03, 0.005])
    assert adjusted == pytest.approx([0.02, 0.04, 0.04, 0.02])


@given(ps)
def test_adjusting_only_raises_and_keeps_the_order(values: list[float]) -> None:
    for adjusted in (holm(values), benjamini_hochberg(values)):
        assert all(p - 1e-12 <= q <= 1 for p, q in zip(values, adjusted, strict=True))
        ranked = [adjusted[at] for at in sorted(range(len(values)), key=values.__getitem__)]
        assert ranked == sorted(ranked)
    for strict, mild in zip(holm(values), benjamini_hochberg(values), strict=True):
        assert mild <= strict + 1e-12


@pytest.mark.parametrize(("n", "points"), [(200, 6.3), (500, 4.0), (1000, 2.8), (2000, 2.0)])
def test_what_can_be_found_with_a_tenth_of_the_pairs_discordant(n: int, points: float) -> None:
    effect = detectable_effect(sqrt(0.1 / n))
    assert 100 * effect == pytest.approx(points, abs=0.05)
    assert needed_scenarios(effect, between=0.1) == pytest.approx(n, abs=1)


@pytest.mark.parametrize(
    ("freedom", "quantiles"), [(11, 2.200985 + 0.875530), (29, 2.045230 + 0.854192)]
)
def test_what_few_scenarios_can_find_takes_students_quantiles(
    freedom: int, quantiles: float
) -> None:
    """scipy 1.17: t.ppf(0.975, freedom) and t.ppf(0.8, freedom)."""
    assert detectable_effect(0.1, freedom) == pytest.approx(0.1 * quantiles, abs=1e-6)


def test_published_pass_rates_are_met() -> None:
    assert pass_at_k(10, 3, 5) == pytest.approx(0.917, abs=5e-4)
    assert pass_hat_k(8, 6, 4) == pytest.approx(0.214, abs=5e-4)


@pytest.mark.parametrize("passed", [0, 2, 3])
def test_with_fewer_answers_than_k_nothing_is_known(passed: int) -> None:
    assert pass_at_k(3, passed, 4) is None
    assert pass_hat_k(3, passed, 4) is None


@pytest.mark.parametrize(("n", "c", "k"), [(3, 4, 1), (3, -1, 1), (3, 1, 0)])
def test_impossible_counts_are_refused(n: int, c: int, k: int) -> None:
    with pytest.raises(ValueError, match="wanted"):
        pass_at_k(n, c, k)


@given(data=st.data(), n=st.integers(1, 12))
def test_pass_rates_are_what_drawing_answers_gives(data: st.DataObject, n: int) -> None:
    c, k = data.draw(st.integers(0, n)), data.draw(st.integers(1, n))
    at_least_one, every = pass_at_k(n, c, k), pass_hat_k(n, c, k)
    assert at_least_one is not None
    assert every is not None
    assert 0 <= every <= c / n <= at_least_one <= 1


def test_a_coin_is_luck_and_a_fixed_answer_is_none() -> None:
    coin = variance_split({(2, 4): 20, (1, 4): 10, (3, 4): 10})
    fixed = variance_split({(4, 4): 20, (0, 4): 20})
    assert coin is not None
    assert fixed is not None
    assert (coin.between, coin.buy) == (0, "repeats")
    assert (fixed.within, fixed.share_within, fixed.buy) == (0, 0, "scenarios")
    assert coin.with_more_repeats == pytest.approx(coin.standard_error / sqrt(2))
    assert fixed.with_more_repeats == fixed.standard_error
    assert fixed.with_more_scenarios == pytest.approx(fixed.standard_error / sqrt(2))


def test_without_repeats_the_variance_is_not_split() -> None:
    assert variance_split({(1, 1): 30, (0, 1): 10}) is None


def test_kappa_of_a_textbook_table() -> None:
    """Cohen's own example of 50 proposals: 20 and 15 agreed, 5 and 10 not."""
    table = Counter({("yes", "yes"): 20, ("yes", "no"): 5, ("no", "yes"): 10, ("no", "no"): 15})
    kappa = cohen_kappa(table.elements())
    assert kappa.value == pytest.approx(0.4)
    assert kappa.low == pytest.approx(0.1511, abs=1e-4)
    assert kappa.high == pytest.approx(0.6489, abs=1e-4)


def test_judges_who_always_say_the_same_leave_kappa_unknown() -> None:
    assert cohen_kappa([("yes", "yes")] * 9).value is None
    assert cohen_kappa([]).value is None


def test_alpha_of_krippendorffs_own_example() -> None:
    """Four judges, eleven units, some labels missing: alpha is 0.743 nominal, 0.849 interval."""
    judges = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
        [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
    ]
    units = [[label for label in unit if label is not None] for unit in zip(*judges, strict=True)]
    assert krippendorff_alpha(units) == pytest.approx(0.743, abs=5e-4)
    assert krippendorff_alpha(units, interval) == pytest.approx(0.849, abs=5e-4)
    assert krippendorff_alpha([["same", "same"]]) is None


def test_a_faultless_judge_changes_nothing_and_a_bad_one_is_refused() -> None:
    found = rogan_gladen((60, 100), (50, 50), (50, 50))
    assert found.value == pytest.approx(0.6)
    corrected = rogan_gladen((60, 100), (90, 100), (80, 100))
    assert corrected.value == pytest.approx((0.6 + 0.8 - 1) / 0.7)
    assert corrected.low < corrected.value < corrected.high
    with pytest.raises(ValueError, match="says nothing"):
        rogan_gladen((60, 100), (50, 100), (50, 100))
