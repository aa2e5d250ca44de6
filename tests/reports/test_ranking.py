"""A ranking: letters that say exactly what the tests found, and equal models that stay ties."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Sequence
from io import StringIO
from itertools import combinations
from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.reports.results import report, result
from tunaeval.reports.ranking import (
    MAX_ERRORS,
    CellName,
    Confusion,
    Ranking,
    letters_of,
    rank,
    ranking_csv,
    ranking_markdown,
    ranking_object,
    show_ranking,
)
from tunaeval.types.error_budget import ErrorBudget
from tunaeval.types.runs import (
    CallRecord,
    Expectation,
    ExpectedCall,
    MatchMode,
    Report,
    RunOutcome,
    ScenarioResult,
)

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
        len({cell.ties for cell in ranking.cells}) > 1
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
    assert [cell.ties for cell in ranking.cells] == ["a", "b"]


# --- what is ranked ------------------------------------------------------------------------------

Marks = Sequence[Sequence[str]]
"""A cell's results: a text for each scenario, with a sign for each repeat."""


def cell(marks: Marks, repeats: int = 1) -> Report:
    """A run: + passed, - failed, x got no answer, ? got no judgement, and a blank was not asked."""
    outcomes: dict[str, RunOutcome] = {"x": "transport_failure", "?": "judge_failure"}
    results = [
        result(f"n{number}", ok=mark == "+", outcome=outcomes.get(mark, "calls"), repeat=repeat)
        for number, row in enumerate(marks)
        for repeat, mark in enumerate(row, 1)
        if mark != " "
    ]
    left = len(marks) * repeats > len(results)
    made = report(*results, scenarios=len(marks), repeats=repeats, heading=None)
    return made.model_copy(update={"interrupted": left})


def ranking(*cells: Marks, repeats: int = 1, budget: ErrorBudget = MAX_ERRORS) -> Ranking:
    reports = [cell(one, repeats) for one in cells]
    names = [CellName(f"{number:02}", f"m{number}") for number in range(1, len(cells) + 1)]
    return rank(reports, names, max_errors=budget)


@st.composite
def matrices(draw: st.DrawFn) -> tuple[list[list[str]], int]:
    repeats, scenarios = draw(st.integers(1, 3)), draw(st.integers(1, 6))
    row = st.text(st.sampled_from("++++--x? "), min_size=repeats, max_size=repeats)
    cells = st.lists(st.lists(row, min_size=scenarios, max_size=scenarios), min_size=1, max_size=4)
    return draw(cells), repeats


@given(matrices(), st.sampled_from(["0", "1", "5%", "30%", "100%"]))
@example(([["+", "x"]], 1), "5%")
@example(([["++", "+ "], ["++", "+-"]], 2), "0")
def test_every_figure_is_over_what_all_ranked_cells_answered_in_all_repeats(
    made: tuple[list[list[str]], int], most: str
) -> None:
    cells, repeats = made
    budget = ErrorBudget.read(most)
    found = ranking(*cells, repeats=repeats, budget=budget)
    whole = [{n for n, row in enumerate(one) if not {*row} & {*"x? "}} for one in cells]
    signs = ["".join(one) for one in cells]
    lost = [one.count("x") + one.count("?") for one in signs]
    asked = [len(one) - one.count(" ") for one in signs]
    able = [n for n in range(len(cells)) if whole[n] and budget.allows(lost[n], asked[n])]
    common = set.intersection(*(whole[n] for n in able)) if able else set()
    ranked = {f"{n + 1:02}" for n in able if common}
    assert {one.name.cell for one in found.cells if one.not_ranked is None} == ranked
    assert [one.not_ranked is None for one in found.cells] == sorted(
        (one.not_ranked is None for one in found.cells), reverse=True
    )
    assert found.ranks == bool(ranked)
    for one in found.cells:
        number = int(one.name.cell) - 1
        assert one.no_answer == lost[number]
        assert bool(one.ties) == (one.name.cell in ranked)
        if one.name.cell in ranked:
            passed = sum(cells[number][n].count("+") for n in common)
            assert (one.passed, one.of) == (passed, len(common) * repeats)
            assert (one.score.passed, one.score.total) == (one.passed, one.of)
            assert one.score.value == pytest.approx(one.passed / one.of)
        else:
            assert one.score.value is None
            assert (one.passed, one.of) == (
                signs[number].count("+"),
                asked[number] or len(signs[0]),
            )
            answered = asked[number] - lost[number]
            assert one.not_ranked is not None
            assert re.match(rf"not ranked: {answered} of {one.of} answered\b", one.not_ranked)
    assert {(pair.a, pair.b) for pair in found.pairs} == set(combinations(sorted(ranked), 2))
    shares = {f"{n + 1:02}": [one[i].count("+") / repeats for i in common]
              for n, one in enumerate(cells)}  # fmt: skip
    for pair in ranking_object(found)["pairs"]:
        for side in "ab":
            assert pair[f"rate_{side}"] == pytest.approx(sum(shares[pair[side]]) / len(common))


@given(
    st.lists(
        st.tuples(
            st.sampled_from([None, "g", "h"]), st.lists(st.booleans(), min_size=2, max_size=2)
        ),
        min_size=1,
    ),
    st.integers(1, 2),
)
def test_the_score_of_a_whole_run_is_that_of_its_report(
    rows: list[tuple[str | None, list[bool]]], repeats: int
) -> None:
    results = [
        result(f"n{number:02}", ok=ok, repeat=repeat, group=group)
        for number, (group, oks) in enumerate(rows)
        for repeat, ok in enumerate(oks[:repeats], 1)
    ]
    made = report(*results, scenarios=len(rows), repeats=repeats)
    (only,) = rank([made], [CellName("01", "m")]).cells
    score, final = only.score.model_dump(), made.summary.final.model_dump()
    assert score == pytest.approx(final)


def test_a_cell_that_hardly_answered_is_not_ranked() -> None:
    found = ranking(["+", *"x" * 9], [*"+" * 9, "-"])
    solid, flaky = found.cells
    assert (solid.name.words, solid.passed, solid.of, solid.no_answer) == ("m2", 9, 10, 0)
    assert (solid.ties, solid.not_ranked) == ("a", None)
    assert (flaky.passed, flaky.of, flaky.no_answer, flaky.ties) == (1, 10, 9, "")
    assert flaky.not_ranked == "not ranked: 1 of 10 answered"
    assert found.pairs == ()


def test_of_twenty_cells_that_each_lack_another_answer_none_is_ranked() -> None:
    cells = [["x" if n == lost else "+" for n in range(20)] for lost in range(20)]
    assert ranking(*cells[:19]).ranks
    found = ranking(*cells)
    assert not found.ranks
    assert all(one.not_ranked and "19 of 20 answered" in one.not_ranked for one in found.cells)
    assert found.remarks[0].startswith("no cell is ranked: no scenario was answered by every cell")
    assert repr(found) == "<Ranking of 20 cells, none is ranked>"


def test_what_was_never_asked_is_no_failure_and_not_common() -> None:
    found = ranking("++++", "+-  ", "    ")
    assert [one.of for one in found.cells] == [2, 2, 4]
    assert [one.no_answer for one in found.cells] == [0, 0, 0]
    assert found.cells[2].not_ranked == "not ranked: 0 of 4 answered"
    assert found.remarks[0].startswith("the scores are over 2 of 4 scenarios")


def test_repeats_are_counted_each() -> None:
    found = ranking(["+-", "++", "+x"], ["++", "++", "++"], repeats=2, budget=ErrorBudget(1))
    assert [(one.passed, one.of, one.no_answer) for one in found.cells] == [(4, 4, 0), (3, 4, 1)]


# --- confusion -----------------------------------------------------------------------------------


def wrong(
    expected: Expectation, *got: str, outcome: RunOutcome = "calls", ok: bool = False
) -> ScenarioResult:
    calls = tuple(CallRecord(name=name, arguments={}) for name in got)
    return result("n0", ok=ok, outcome=outcome, expected=expected, got=calls)


def wanted(*names: str, match: MatchMode = "exactly") -> Expectation:
    return Expectation(calls=tuple(ExpectedCall(name=name) for name in names), match=match)


@pytest.mark.parametrize(
    ("one", "lines"),
    [
        (wrong(wanted("search"), "find"), ["expected search, called find"]),
        (wrong(Expectation(tools=("search",)), "find"), ["expected search, called find"]),
        (wrong(Expectation(none=True), "find"), ["expected no call, called find"]),
        (wrong(wanted("search"), outcome="no_call"), ["expected search, no call"]),
        (wrong(wanted("search"), "search", "find"), ["expected no call, called find"]),
        (wrong(wanted("search", "read"), "read"), ["expected search, no call"]),
        (wrong(wanted("search", "search"), "search"), ["expected search, no call"]),
        (wrong(wanted("a", match="superset"), "b", "c"), ["expected a, called b"]),
        (wrong(wanted("a", "b", match="subset"), "c"), ["expected a, called c"]),
        (wrong(wanted("a", "b", match="subset"), outcome="no_call"), ["expected a, no call"]),
        (wrong(wanted("search"), "search"), []),  # with other arguments
        (wrong(wanted("search"), "find", ok=True), []),
        (wrong(wanted("search"), outcome="malformed"), []),
        (wrong(wanted("search"), outcome="truncated"), []),
        (wrong(Expectation(forbid=("find",)), "find"), []),
        (wrong(wanted("none"), "null"), ["expected none, called null"]),
    ],
)
def test_confusion_is_said_as_it_happened(one: ScenarioResult, lines: list[str]) -> None:
    found = rank([report(one)], [CellName("01", "m")])
    assert [each.words for each in found.cells[0].confused] == [f"{line}: 1" for line in lines]


def test_every_page_has_a_line_for_each_confusion_under_its_cell() -> None:
    greeting = [result(f"h{n}", outcome="calls", expected=Expectation(none=True),
                       got=(CallRecord(name="find", arguments={}),)) for n in range(3)]  # fmt: skip
    poor = report(wrong(wanted("search"), "find"), *greeting, heading=None)
    good = report(*(one.model_copy(update={"ok": True}) for one in poor.results), heading=None)
    found = rank([good, poor], [CellName("01", "good"), CellName("02", "poor")])
    lines = ["expected no call, called find: 3", "expected search, called find: 1"]
    stream = StringIO()
    show_ranking(found, stream)
    assert "\n".join(["02 (poor):", *(f"  {line}" for line in lines)]) in stream.getvalue()
    listed = "\n".join(["- `02 (poor):`", *(f"  - `{line}`" for line in lines)])
    assert listed in ranking_markdown(found)
    assert [one["confused"] for one in ranking_object(found)["cells"]] == [
        [],
        [
            {"expected": None, "called": "find", "times": 3},
            {"expected": "search", "called": "find", "times": 1},
        ],
    ]
    assert found.cells[1].confused[0] == Confusion(None, "find", 3)


def test_the_most_frequent_confusion_is_first_whatever_the_order_of_results() -> None:
    got = [("n0", "alpha"), ("n1", "zeta"), ("n2", "beta"), ("n3", "zeta")]
    rows = [wrong(wanted("search"), name).model_copy(update={"scenario": scenario})
            for scenario, name in got]  # fmt: skip
    names = [CellName("01", "m")]
    there, back = (rank([report(*some)], names) for some in (rows, rows[::-1]))
    assert [one.called for one in there.cells[0].confused] == ["zeta", "alpha", "beta"]
    assert ranking_object(there) == ranking_object(back)


def test_confusion_is_over_the_common_scenarios() -> None:
    asked = [wrong(wanted("search"), "find").model_copy(update={"scenario": f"n{n}"})
             for n in range(2)]  # fmt: skip
    lost = asked[0].model_copy(update={"outcome": "transport_failure", "got": ()})
    names, budget = [CellName("01", "a"), CellName("02", "b")], ErrorBudget(1)
    found = rank([report(*asked), report(lost, asked[1])], names, max_errors=budget)
    assert [one.confused[0].times for one in found.cells] == [1, 1]


# --- how it is shown -----------------------------------------------------------------------------


def test_tables_have_what_passed_of_how_many_and_what_got_no_answer() -> None:
    found = ranking(["+", *"x" * 9], [*"+" * 9, "-"])
    rows = list(csv.DictReader(ranking_csv(found).splitlines()))
    assert [(row["passed"], row["of"], row["no answer"]) for row in rows] == [
        ("9", "10", "0"),
        ("1", "10", "9"),
    ]
    assert [row["score"] for row in rows] == ["90.0 %", "not ranked: 1 of 10 answered"]
    assert "| passed | of | ties | interval | no answer |" in ranking_markdown(found)
    one, other = ranking_object(found)["cells"]
    assert (one["passed"], one["of"], one["no_answer"], one["not_ranked"]) == (9, 10, 0, None)
    assert other["not_ranked"] == "not ranked: 1 of 10 answered"


def test_pairs_name_cells_by_number_and_have_their_rates() -> None:
    (pair,) = ranking_object(ranking("++++", "+---"))["pairs"]
    assert (pair["a"], pair["b"], pair["rate_a"], pair["rate_b"]) == ("01", "02", 1.0, 0.25)
    assert not {"section", "name"} & pair.keys()
