"""A ranking: letters that say exactly what the tests found, and equal models that stay ties."""

from __future__ import annotations

import math
from itertools import combinations
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reports.results import report, result
from tunaeval.reports.ranking import CellName, letters_of, rank
from tunaeval.types.runs import Expectation

FIRST = report(result("n0", ok=True))
ANSWERED = [
    [result(f"n{number}", ok=ok, expected=Expectation(none=True)) for number in range(100)]
    for ok in (False, True)
]
"""A failed and a passed result of each scenario."""
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


def is_told_apart(cells: int, scenarios: int, repeats: int, chance: Random) -> bool:
    """Whether a ranking of equal models finds a difference. The scenarios are of any difficulty,
    from those that all pass to those that none does.
    """
    easiness = [chance.random() for _ in range(scenarios)]
    reports = [
        FIRST.model_copy(
            update={
                "results": [
                    ANSWERED[chance.random() < easy][number]
                    for number, easy in enumerate(easiness)
                    for _ in range(repeats)
                ]
            }
        )
        for _ in range(cells)
    ]
    ranking = rank(reports, [CellName(str(number), "m") for number in range(cells)])
    assert any(pair.is_real for pair in ranking.pairs) == (
        len({cell.letters for cell in ranking.cells}) > 1
    )
    return any(pair.is_real for pair in ranking.pairs)


@pytest.mark.parametrize(
    "draws", [100, pytest.param(10_000, marks=pytest.mark.slow)], ids="{} draws".format
)
@pytest.mark.parametrize(
    ("cells", "scenarios", "repeats"), [(2, 100, 1), (4, 40, 1), (6, 25, 1), (3, 40, 3)]
)
def test_equal_models_are_rarely_told_apart(
    cells: int, scenarios: int, repeats: int, draws: int
) -> None:
    """At least one false separation in at most 5.5 % of the rankings, and what chance may add."""
    chance = Random(29)
    wrong = sum(is_told_apart(cells, scenarios, repeats, chance) for _ in range(draws))
    print(f"{wrong} of {draws} rankings of {cells} cells, {scenarios} scenarios, {repeats} repeats")
    # A thorough run has to keep the bound as it is; a short one cannot know it so exactly.
    margin = 0 if draws >= 10_000 else 3 * math.sqrt(0.055 * 0.945 / draws)
    assert wrong / draws <= 0.055 + margin


def test_different_models_are_told_apart() -> None:
    """Else a ranking that finds nothing would pass the test above."""
    reports = [
        FIRST.model_copy(update={"results": [ANSWERED[ok][number] for number in range(40)]})
        for ok in (True, False)
    ]
    ranking = rank(reports, [CellName("0", "good"), CellName("1", "poor")])
    assert [cell.letters for cell in ranking.cells] == ["a", "b"]
