"""A ranking: letters that say exactly what the tests found, and equal models that stay ties."""

from __future__ import annotations

import math
from itertools import combinations
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from tunaeval.reports.ranking import letters_of
from tunaeval.reports.statistics import holm, mcnemar

CELLS = [str(number) for number in range(7)]
PAIRS = list(combinations(CELLS, 2))


@given(st.sets(st.sampled_from(PAIRS)))
def test_two_cells_share_a_letter_exactly_if_they_are_not_apart(
    apart: set[tuple[str, str]],
) -> None:
    letters = letters_of(CELLS, apart)
    for one, other in PAIRS:
        assert bool(set(letters[one]) & set(letters[other])) is ((one, other) not in apart)
    assert letters[CELLS[0]].startswith("a")


@given(st.sets(st.sampled_from(PAIRS)))
def test_no_letter_says_what_another_says_already(apart: set[tuple[str, str]]) -> None:
    letters = letters_of(CELLS, apart)
    used = sorted(set("".join(letters.values())))
    groups = [{cell for cell in CELLS if letter in letters[cell]} for letter in used]
    assert not any(one <= other for one, other in combinations(groups, 2))
    assert not any(other <= one for one, other in combinations(groups, 2))


def test_equal_models_are_rarely_told_apart() -> None:
    """Four equal models over forty scenarios, by the tests that a ranking makes."""
    draws, wrong = 1000, 0
    chance = Random(29)
    for _ in range(draws):
        passed = [[chance.random() < 0.6 for _ in range(40)] for _ in range(4)]
        found = [
            mcnemar(
                sum(a and not b for a, b in zip(one, other, strict=True)),
                sum(b and not a for a, b in zip(one, other, strict=True)),
            )
            for one, other in combinations(passed, 2)
        ]
        wrong += min(holm(found)) < 0.05
    assert wrong / draws <= 0.055 + 3 * math.sqrt(0.055 * 0.945 / draws)
