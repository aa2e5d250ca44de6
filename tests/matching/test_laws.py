"""What holds for every expectation that has an answer: it is met by that, and by little else."""

from __future__ import annotations

from typing import Any, NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from tunaeval.matching.calls import match
from tunaeval.types.calls import ToolCall, Tools, ToolSpec

SCHEMAS: dict[str, Any] = {"x": {"type": "integer", "default": 7}, "y": {}, "z": {"default": "."}}
TOOLS = Tools([ToolSpec(name, "", {"type": "object", "properties": SCHEMAS}) for name in "ab"])
MODES = ("exactly", "in_order", "any_order", "subset", "superset")


class Answered(NamedTuple):
    """An expected value, and one that meets it."""

    want: Any
    have: Any


def same(value: Any) -> Answered:
    return Answered(value, value)


def both_lists(items: list[Answered]) -> Answered:
    return Answered([item.want for item in items], [item.have for item in items])


def both_objects(items: dict[str, Answered]) -> Answered:
    return Answered(
        {key: item.want for key, item in items.items()},
        {key: item.have for key, item in items.items()},
    )


def any_of(one: Answered, others: list[Answered]) -> Answered:
    return Answered({"$any_of": [*(other.want for other in others), one.want]}, one.have)


def set_of(items: list[Answered]) -> Answered:
    turned = [item.have for item in reversed(items)]
    return Answered({"$set": [item.want for item in items]}, turned + turned[:1])


plain = st.sampled_from([None, True, 0, 1, 2.5, "", "src", "a b", 10**30])
leaves = st.one_of(
    plain.map(same),
    plain.map(lambda value: Answered({"$ignore": True}, value)),
    st.tuples(st.integers(-9, 9), st.integers(0, 5)).map(
        lambda at: Answered({"$approx": at[0], "tolerance": at[1]}, at[0] + at[1])
    ),
    st.sampled_from(["src", "./src/", "src//"]).map(lambda p: Answered({"$path": "src/"}, p)),
    st.sampled_from(["ab", "xaby"]).map(lambda text: Answered({"$regex": "a(b|c)+"}, text)),
    st.sampled_from(["ab", ["ab", "c"]]).map(lambda have: Answered({"$contains": "ab"}, have)),
)
answered = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.lists(inner, max_size=2).map(both_lists),
        st.dictionaries(st.sampled_from("ab"), inner, max_size=2).map(both_objects),
        st.builds(any_of, inner, st.lists(inner, max_size=2)),
        st.lists(inner, max_size=3).map(set_of),
    ),
    max_leaves=5,
)
wanted_calls = st.lists(
    st.tuples(
        st.sampled_from("ab"),
        st.dictionaries(st.sampled_from("xyz"), answered, max_size=3).map(both_objects),
    ),
    min_size=1,
    max_size=4,
)


def made_of(wanted: list[tuple[str, Answered]], mode: str) -> tuple[dict[str, Any], list[ToolCall]]:
    expect = {
        "calls": [{"name": name, "arguments": both.want} for name, both in wanted],
        "match": mode,
    }
    return expect, [ToolCall(name, both.have) for name, both in wanted]


@given(wanted=wanted_calls, mode=st.sampled_from(MODES))
def test_an_expectation_is_met_by_its_own_answer(
    wanted: list[tuple[str, Answered]], mode: str
) -> None:
    expect, calls = made_of(wanted, mode)
    for profile in ("strict", "tunacode"):
        verdict = match(expect, calls, profile=profile, tools=TOOLS)
        assert verdict.ok, verdict.reason
        assert len(verdict.pairs) == len(calls)


@given(wanted=wanted_calls, dice=st.randoms(use_true_random=False))
def test_the_answer_may_come_in_any_order_where_order_is_free(
    wanted: list[tuple[str, Answered]], dice: Any
) -> None:
    for mode in ("any_order", "subset", "superset"):
        expect, calls = made_of(wanted, mode)
        assert match(expect, dice.sample(calls, len(calls)), tools=TOOLS).ok


@given(wanted=wanted_calls, mode=st.sampled_from(MODES))
def test_a_spelled_out_default_does_no_harm_and_an_extra_does(
    wanted: list[tuple[str, Answered]], mode: str
) -> None:
    expect, (first, *others) = made_of(wanted, mode)
    if "x" not in expect["calls"][0]["arguments"]:
        harmless = ToolCall(first.name, {**first.arguments, "x": 7})
        assert match(expect, [harmless, *others], tools=TOOLS).ok
    harmful = ToolCall(first.name, {**first.arguments, "delete": True})
    assert not match(expect, [harmful, *others], tools=TOOLS).ok
    assert match(expect, [harmful, *others], tools=TOOLS, profile="tunacode").ok


@given(wanted=wanted_calls, mode=st.sampled_from(("exactly", "in_order", "any_order", "superset")))
def test_a_call_too_few_is_missed(wanted: list[tuple[str, Answered]], mode: str) -> None:
    expect, calls = made_of(wanted, mode)
    assert not match(expect, calls[1:], tools=TOOLS).ok


def test_hundreds_of_calls_move_on_for_one_that_has_no_choice() -> None:
    """Each wish but the last could take either of two calls; the last wants what the first took."""
    wishes: list[Any] = [{"$any_of": [number, number + 1]} for number in range(500)] + [0]
    expect = {
        "calls": [{"name": "a", "arguments": {"y": wish}} for wish in wishes],
        "match": "any_order",
    }
    calls = [ToolCall("a", {"y": number}) for number in range(501)]
    assert match(expect, calls, tools=TOOLS).ok
    assert not match(expect, [*calls[:-1], ToolCall("a", {"y": 900})], tools=TOOLS).ok
