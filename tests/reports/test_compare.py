"""Two runs compared: what is paired, what is said of it, what is refused."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from io import StringIO
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reports.results import HOSTILE, calls, report, result
from tests.reports.test_pages import harmless
from tunaeval import compare
from tunaeval.errors import ComparisonError, RecordError
from tunaeval.files.records import json_text
from tunaeval.reports.compare import Comparison, Unanswered, compare_runs
from tunaeval.reports.compared import comparison_markdown, comparison_object, show_comparison
from tunaeval.reports.sides import RunSource, source_of
from tunaeval.reports.statistics import mcnemar, sign_flip
from tunaeval.types.calls import JsonObject
from tunaeval.types.parsing import Level
from tunaeval.types.runs import Expectation, ExpectedCall, Report, RunOutcome

verdicts = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=30)


def run(*oks: bool, **info: Any) -> Report:
    return report(*(result(f"s{n}", ok=ok) for n, ok in enumerate(oks)), **info)


def page(comparison: Comparison, **more: Any) -> str:
    stream = StringIO()
    show_comparison(comparison, stream, **more)
    return stream.getvalue()


@given(verdicts)
def test_verdicts_are_paired_and_tested_after_mcnemar(pairs: list[tuple[bool, bool]]) -> None:
    found = compare(run(*(a for a, _ in pairs)), run(*(b for _, b in pairs)))
    lost = [f"s{n}" for n, (a, b) in enumerate(pairs) if a and not b]
    gained = [f"s{n}" for n, (a, b) in enumerate(pairs) if b and not a]
    assert [flip.scenario for flip in found.lost] == lost
    assert [flip.scenario for flip in found.gained] == gained
    assert found.overall.value == pytest.approx((len(gained) - len(lost)) / len(pairs))
    assert found.overall.test == "McNemar"
    assert found.overall.p == mcnemar(len(lost), len(gained))
    assert found.overall.low <= found.overall.value <= found.overall.high


@given(verdicts)
def test_swapping_the_runs_turns_everything_around(pairs: list[tuple[bool, bool]]) -> None:
    a, b = run(*(one for one, _ in pairs)), run(*(other for _, other in pairs))
    there, back = compare(a, b), compare(b, a)
    assert back.overall.value == pytest.approx(-there.overall.value)
    assert back.overall.low == pytest.approx(-there.overall.high)
    assert back.overall.p == pytest.approx(there.overall.p)
    assert [f.scenario for f in back.lost] == [f.scenario for f in there.gained]


@given(data=st.data(), pairs=verdicts)
def test_the_order_of_results_does_not_matter(
    data: st.DataObject, pairs: list[tuple[bool, bool]]
) -> None:
    a, b = run(*(one for one, _ in pairs)), run(*(other for _, other in pairs))
    shuffled = data.draw(st.permutations(b.results))
    assert compare(a, report(*shuffled)).overall == compare(a, b).overall


def test_scenarios_without_an_answer_are_left_out_and_said() -> None:
    lost = result("s1", outcome="transport_failure", error="refused")
    found = compare(run(True, True), report(result("s0", ok=True), lost))
    assert (found.overall.scenarios, found.left_out) == (1, {"got no answer": 1})
    assert found.b.failures == 1
    assert "left out: 1 got no answer" in page(found)


@pytest.mark.parametrize("silent", ["a", "b", "both"])
def test_a_tool_and_a_tag_without_an_answer_keep_their_rows(silent: str) -> None:
    search = Expectation(calls=(ExpectedCall(name="search"),))
    good = result("s0", ok=True)
    found = result("s1", ok=True, expected=search, tags=("web",))
    lost = found.model_copy(update={"ok": False, "outcome": "transport_failure"})
    a, b = ([good, lost if silent in (side, "both") else found] for side in "ab")
    answered = {side: int(silent not in (side, "both")) for side in "ab"}
    comparison = compare(report(*a), report(*b))
    assert comparison.unanswered == tuple(
        Unanswered(*key, answered["a"], 1, answered["b"], 1)
        for key in (("tool", "search"), ("tag", "web"))
    )
    words = [f"{answered[side]} of 1 answered" for side in "ab"]
    lines = [" ".join(line.split()) for line in page(comparison).splitlines()]
    assert f"search 0 {' '.join(words)}" in lines
    assert f"tag web 0 {' '.join(words)}" in lines
    assert lines.index(f"search 0 {' '.join(words)}") < lines.index(f"tag web 0 {' '.join(words)}")
    row = f"| tool | `search` | 0 | {' | '.join(words)} |"
    assert row in comparison_markdown(comparison)
    assert "0 of 1 answered" in comparison._repr_html_()  # type: ignore[attr-defined] # for notebooks
    assert comparison_object(comparison)["unanswered"][0] == {
        "section": "tool",
        "name": "search",
        "answered_a": answered["a"],
        "asked_a": 1,
        "answered_b": answered["b"],
        "asked_b": 1,
    }


@given(st.lists(st.tuples(*[st.sampled_from("+x ")] * 2, st.sampled_from("pq")), max_size=8))
def test_no_tool_that_got_no_answer_is_without_a_row(rows: list[tuple[str, str, str]]) -> None:
    def side(which: int) -> Report:
        outcomes: dict[str, RunOutcome] = {"+": "calls", "x": "transport_failure"}
        some = [
            result(f"s{n}", outcome=outcomes[row[which]], expected=Expectation(tools=(row[2],)))
            for n, row in enumerate(rows)
            if row[which] in outcomes
        ]
        return report(result("paired", ok=True), *some)

    found = compare(side(0), side(1))
    named = {one.name for one in found.parts} | {one.name for one in found.unanswered}
    lost = {tool for *signs, tool in rows if "x" in signs}
    assert len(named) == len(found.parts) + len(found.unanswered)
    assert named == {"bash"} | lost | {tool for *signs, tool in rows if signs == ["+", "+"]}


def test_repeats_are_averaged_and_a_flip_is_that_of_most() -> None:
    def repeated(*oks: bool) -> Report:
        rows = [result("s0", ok=ok, repeat=n) for n, ok in enumerate(oks, 1)]
        rows += [result("s1", ok=True, repeat=n) for n in range(1, len(oks) + 1)]
        return report(*rows, repeats=len(oks))

    found = compare(repeated(True, True, False), repeated(False, True, False))
    assert found.overall.value == pytest.approx(-1 / 6)
    assert found.overall.test == "sign flip"
    (flip,) = found.lost
    assert (flip.a.passed, flip.b.passed, flip.b.total) == (2, 1, 3)


def test_groups_widen_the_interval_and_tags_can_be_groups() -> None:
    def grouped(ok: Callable[[int], bool]) -> Report:
        made = (
            result(f"s{n}", ok=ok(n), group=str(n % 5), tags=(f"t:{n % 5}", "x")) for n in range(30)
        )
        return report(*made)

    a, b = grouped(lambda n: n % 5 > 1), grouped(lambda n: n % 5 > 2)
    alone, together = compare(a, b, cluster="scenario"), compare(a, b)
    assert (alone.overall.clusters, together.overall.clusters) == (30, 5)
    assert together.overall.low < alone.overall.low
    assert compare(a, b, cluster="tag:t:").overall == together.overall
    with pytest.raises(ComparisonError, match="wanted 'scenario', 'group' or 'tag:PREFIX'"):
        compare(a, b, cluster="colour")


@given(
    st.lists(
        st.tuples(st.booleans(), st.booleans(), st.sampled_from([0.0, 0.5, 1.0, 3.0])),
        min_size=2,
        max_size=10,
    )
)
def test_the_weighted_difference_is_the_mean_by_weights(
    rows: list[tuple[bool, bool, float]],
) -> None:
    before, after, weights = zip(*rows, strict=True)

    def weighed(oks: tuple[bool, ...]) -> Report:
        made = zip(oks, weights, strict=True)
        return report(*(result(f"s{n}", ok=ok, weight=w) for n, (ok, w) in enumerate(made)))

    found = compare(weighed(before), weighed(after))
    assert replace(found, weighted=None) == compare(run(*before), run(*after))
    if found.weighted is None:
        assert len(set(weights)) == 1
        return
    total = sum(weights)
    assert found.weighted.value == pytest.approx(sum(w * (y - x) for x, y, w in rows) / total)
    assert found.weighted.b - found.weighted.a == pytest.approx(found.weighted.value)
    assert found.weighted.scenarios == sum(w > 0 for w in weights)
    flipped = Counter[float]()
    flipped.update(w * (y - x) for x, y, w in rows)
    assert found.weighted.p == pytest.approx(sign_flip(flipped))


def test_only_weights_beside_each_other_matter() -> None:
    def weighed(times: float, *oks: bool) -> Report:
        return report(*(result(f"s{n}", ok=ok, weight=times * (n + 1)) for n, ok in enumerate(oks)))

    some, others = (True, False, False, False), (False, True, True, False)
    one = compare(weighed(1, *some), weighed(1, *others))
    many = compare(weighed(64, *some), weighed(64, *others))
    assert one.weighted is not None
    assert one.weighted == many.weighted
    assert one.weighted.value == pytest.approx(0.4)  # 2 + 3 gained, 1 lost, of 10
    for said in (page(one), comparison_markdown(one)):
        assert "weighted" in said
        assert "each scenario counts by its weight in the suite of A, and sign flip" in said
    assert comparison_object(one)["weighted"]["test"] == "sign flip"


def test_equal_weights_are_not_told() -> None:
    found = compare(*(report(result("s0", ok=ok, weight=2.0)) for ok in (True, False)))
    assert found.weighted is None
    assert "weight" not in page(found)


def test_a_scenario_that_no_judge_judged_is_left_out_and_said() -> None:
    lost = result("s1", outcome="judge_failure", error="judge: no JSON")
    found = compare(run(True, True), report(result("s0", ok=True), lost))
    assert (found.overall.scenarios, found.left_out) == (1, {"got no judgement": 1})
    assert found.b.failures == 1


def test_parts_are_adjusted_among_each_other() -> None:
    made = [result(f"s{n}", tags=("x", "y")[: 1 + n % 2], ok=True) for n in range(12)]
    worse = [one.model_copy(update={"levels": result().levels}) for one in made]
    found = compare(report(*made), report(*worse))
    assert [(part.section, part.name) for part in found.parts] == [
        ("tool", "bash"),
        ("tag", "x"),
        ("tag", "y"),
    ]
    assert all(part.p_adjusted > part.p for part in found.parts[:2])


def test_among_several_runs_p_is_adjusted() -> None:
    good, bad = run(*[True] * 8), run(*[False] * 8, run_id="r2")
    one, other = compare_runs([source_of(each) for each in (good, bad, bad)])
    assert (one.overall.p_adjusted, other.overall.p_adjusted) == (one.overall.p * 2,) * 2
    with pytest.raises(ComparisonError, match="wanted two or more"):
        compare_runs([source_of(good)])


@pytest.mark.parametrize(
    ("field", "words"),
    [
        ("suite_digest", "another suite"),
        ("profile", "another profile"),
        ("level", "another level"),
    ],
)
def test_runs_that_were_asked_otherwise_are_refused(field: str, words: str) -> None:
    other = run(True, **{field: "strict" if field == "level" else "9"})
    with pytest.raises(ComparisonError, match=words):
        compare(run(True), other)
    found = compare(run(True), other, intersect=True)
    assert words in found.notes[0]
    assert f"mind: {found.notes[0]}" in page(found)


def test_pairs_under_different_prompts_are_wanted_by_an_option_of_their_own() -> None:
    other = run(True, prompt_digest="9")
    with pytest.raises(ComparisonError, match=r"other prompts or tools .* --different-prompts$"):
        compare(run(True), other, intersect=True)
    assert "other prompts" in compare(run(True), other, different_prompts=True).notes[0]
    with pytest.raises(ComparisonError, match=r"give --intersect .* and --different-prompts$"):
        compare(run(True), run(True, prompt_digest="9", suite_digest="9"))


def test_another_system_prompt_of_the_same_scenarios_is_no_other_suite() -> None:
    one = run(True, scenarios_digest="s")
    other = run(True, prompt_digest="9", suite_digest="9", scenarios_digest="s")
    with pytest.raises(ComparisonError, match=r"has other prompts .* give --different-prompts$"):
        compare(one, other)
    assert compare(one, other, different_prompts=True).overall.scenarios


def test_levels_are_compared_at_one_that_is_named() -> None:
    repaired = result("s0", ok=True, levels={"strict": False, "standard": True, "lenient": True})
    a, b = report(repaired), report(repaired, level="lenient")
    assert compare(a, b, level="strict").overall.a == 0
    assert compare(a, b, level="lenient").overall.a == 1
    assert compare(a, b, intersect=True).level == "standard"


def test_what_fails_at_the_level_alone_says_so() -> None:
    """The reason of a result is that of the level at which its run counted."""
    levels: dict[Level, bool] = {"strict": False, "standard": True, "lenient": True}
    repaired = result("s0", ok=True, levels=levels, repairs=("leaked-call", "type"))
    found = compare(report(result("s0", ok=True)), report(repaired), level="strict")
    [flip] = found.lost
    assert flip.b.reason == "passes at standard, not at strict (leaked-call, type)"
    assert flip.a.reason == "as it is"
    failed = compare(report(result("s0", ok=True)), report(result("s0")), level="strict")
    assert failed.lost[0].b.reason == "as it is"


def test_only_what_both_were_asked_alike_is_intersected() -> None:
    asked = result("s1", ok=True)
    other = asked.model_copy(update={"expected": Expectation(none=True)})
    a = report(result("s0", ok=True), asked, result("s2"), suite_digest="1")
    b = report(result("s0", ok=True), other, result("s3"), suite_digest="2")
    found = compare(a, b, intersect=True)
    assert found.overall.scenarios == 1
    assert found.left_out == {
        "asked differently": 1,
        "only in the first run": 1,
        "only in the second run": 1,
    }


def test_an_empty_intersection_is_refused() -> None:
    b = report(result("other"), suite_digest="1")
    with pytest.raises(ComparisonError, match="no scenario in common that both answered"):
        compare(run(True), b, intersect=True)


def test_an_interrupted_run_is_said() -> None:
    b = report(result("s0", ok=True), scenarios=2, run_id="r2")
    assert "run r2 was interrupted: it has 1 of 2 results" in page(compare(run(True, True), b))


def test_a_margin_is_cleared_by_the_lower_bound() -> None:
    same = compare(run(*[True] * 300), run(*[True] * 300))
    few = compare(run(*[True] * 20), run(*[True] * 20))
    assert same.overall.clears(0.02)
    assert not few.overall.clears(0.02)
    assert "surely not worse" in page(same, margin=0.02)
    assert "may be worse" in page(few, margin=0.02)


def test_headings_stand_over_every_score() -> None:
    found = compare(run(True), run(True, heading="constrained decoding"))
    for text in (page(found), comparison_markdown(found)):
        assert text.index("constrained decoding") < text.index("score")
    assert next(iter(comparison_object(found))) == "headings"


def hostile(text: str) -> Comparison:
    a = report(result(text, ok=True, tags=(text,), got=calls(text)), model=text, run_id=text)
    b = report(result(text, tags=(text,), got=calls(text, text)), heading=text)
    return compare(a, b)


@given(st.text(st.characters(), min_size=1, max_size=30) | st.just(HOSTILE))
def test_nothing_that_a_model_wrote_is_obeyed(text: str) -> None:
    found = hostile(text)
    assert harmless(page(found))
    assert harmless(comparison_markdown(found))
    assert harmless(json_text(comparison_object(found)))


def test_the_object_is_json_and_whole() -> None:
    found = comparison_object(hostile(HOSTILE), margin=0.02)
    read = json.loads(json_text(found))
    assert read["lost"][0]["a"]["total"] == 1
    assert read["clears_margin"] is False
    assert read["overall"]["test"] == "McNemar"


def test_of_many_flips_some_are_shown() -> None:
    found = compare(run(*[True] * 9), run(*[False] * 9))
    assert "lost 9, of which 2:" in page(found, shown=2)
    assert comparison_markdown(found, shown=2).count("`s") == 2


def test_a_row_that_is_no_result_is_named() -> None:
    def broken(only: object) -> Any:
        del only
        rows: list[JsonObject] = [{"scenario": "s0", "outcome": "calls"}]
        return iter(rows)

    source = RunSource(run(True).run, broken)
    with pytest.raises(RecordError, match=r"result 1: this is no result.*'levels'"):
        compare_runs([source, source])


def test_a_flipped_row_without_its_replies_is_named() -> None:
    whole = source_of(run(True, True, False))
    rows = [{**row, "got": None} for row in whole.rows({1, 2, 3})]
    stripped = RunSource(
        whole.info,
        lambda only: (row for at, row in enumerate(rows, 1) if only is None or at in only),
    )
    with pytest.raises(RecordError, match="result 3: this is no result of tunaeval: TypeError"):
        compare_runs([source_of(run(True, True, True)), stripped])
