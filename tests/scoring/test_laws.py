"""What holds for every score, whatever the transcript and the categories."""

from __future__ import annotations

import asyncio
import gc
import time
from typing import Any, TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

import tunaeval
from tests.scoring.categories import Fixed
from tests.scoring.made_up import EXECUTIONS, EXTRA, PRESETS, SETTINGS, TEXTS, TRANSCRIPTS
from tunaeval import ScoreSettings
from tunaeval.scoring.assess import weighted_total
from tunaeval.scoring.history import Category, CategoryFinding
from tunaeval.types.calls import ToolCall
from tunaeval.types.messages import Message, ToolExecution
from tunaeval.types.runs import CategoryScore, ScoreResult, WeightedScore

UNIT = st.floats(0, 1)
CATEGORIES = st.lists(
    st.builds(Fixed, st.sampled_from("abcdef"), st.floats(0, 9), st.none() | UNIT),
    max_size=4,
    unique_by=lambda category: category.name,
)


@given(
    messages=TRANSCRIPTS,
    executions=st.lists(EXECUTIONS, max_size=6),
    categories=CATEGORIES,
    preset=PRESETS,
    settings=SETTINGS,
)
def test_a_total_is_the_sum_of_shares_and_shares_are_weights_of_what_applies(
    messages: list[Message],
    executions: list[ToolExecution],
    categories: list[Any],
    preset: str,
    settings: ScoreSettings,
) -> None:
    result = tunaeval.score(
        messages,
        "q",
        executions=executions,
        preset=preset,
        categories=[*categories, *EXTRA],
        settings=settings,
    )
    scores, details = result.categories.values(), result.details
    values = [score.value for score in scores]
    assert all(value is None or 0 <= value <= 1 for value in (*values, result.weighted_total))
    assert (details.outcome == "scored") == (result.weighted_total is not None)
    assert all(score.reason and not score.reason.startswith("it failed") for score in scores)
    if details.outcome == "undecided":
        assert (preset, result.goal_completion) == ("default", None)
        assert all(score.share is None for score in scores)
    else:
        applying = [score for score in scores if score.value is not None]
        assert [score.share for score in scores if score.value is None].count(None) == (
            len(scores) - len(applying)
        )
        total = sum((score.share or 0) * (score.value or 0) for score in applying)
        assert result.weighted_total == pytest.approx(total)
        reached = 1.0 if preset == "evals2" else (result.goal_completion or 0.0)
        weights = sum(score.weight for score in applying)
        for name, score in result.categories.items():
            if score.value is not None:
                counts = 1.0 if name == "goal-completion" else reached
                assert score.share == pytest.approx(counts * score.weight / weights)
    assert 0 <= details.failed_calls + details.dangling_calls <= details.tool_calls
    for score in scores:
        assert all(0 <= index < len(messages) for index in score.evidence)


@given(
    messages=TRANSCRIPTS,
    categories=CATEGORIES,
    preset=PRESETS,
    settings=SETTINGS,
)
def test_a_score_is_what_a_validation_makes_of_it(
    messages: list[Message], categories: list[Any], preset: str, settings: ScoreSettings
) -> None:
    result = tunaeval.score(
        messages, "q", preset=preset, categories=[*categories, *EXTRA], settings=settings
    )
    validated = ScoreResult.model_validate(result.model_dump(), strict=True)
    assert validated == result == result.model_copy(deep=True)
    assert repr(validated.model_dump()) == repr(result.model_dump())  # 1 is no 1.0
    assert ScoreResult.model_validate_json(result.model_dump_json()) == result
    assert result.details.model_fields_set == set(type(result.details).model_fields)


@pytest.mark.parametrize("value", [2.0, -0.1, float("nan"), "much"])
def test_what_is_no_share_is_refused_of_a_formula_too(value: Any) -> None:
    broken: Any = Category("broken", 1.0, lambda _: CategoryFinding(value, "so it is"))
    result = tunaeval.score([], "q", categories=[broken])
    assert result.categories["broken"].value is None
    assert result.categories["broken"].reason.startswith("it failed: ValidationError")
    assert (result.weighted_total, result.details.outcome) == (None, "category_failure")


@given(
    messages=TRANSCRIPTS,
    executions=st.lists(EXECUTIONS, max_size=6),
    preset=PRESETS,
    settings=SETTINGS,
)
def test_scoring_twice_and_either_way_gives_the_same(
    messages: list[Message],
    executions: list[ToolExecution],
    preset: str,
    settings: ScoreSettings,
) -> None:
    more: dict[str, Any] = {
        "executions": executions, "preset": preset, "categories": EXTRA, "settings": settings,
    }  # fmt: skip
    once = tunaeval.score(messages, "q", **more)
    assert tunaeval.score(messages, "q", **more) == once
    assert asyncio.run(tunaeval.ascore(messages, "q", **more)) == once


@given(
    messages=TRANSCRIPTS,
    preset=PRESETS,
    before=st.sampled_from(["system", "user", "assistant"]),
    settings=SETTINGS,
)
def test_what_stands_before_the_task_changes_nothing(
    messages: list[Message], preset: str, before: str, settings: ScoreSettings
) -> None:
    plain = tunaeval.score(messages, "q", preset=preset, categories=EXTRA, settings=settings)
    earlier = [
        Message(before, "Be brief. TUNACODE DONE: never mind", (ToolCall("read", {}, "c0"),)),
        Message("tool", "a text", tool_call_id="c0"),  # a later result without an id is not its
    ]
    later = tunaeval.score(
        [*earlier, *messages], "q", preset=preset, categories=EXTRA, settings=settings, start=2
    )
    moved = {
        name: score.model_copy(update={"evidence": tuple(at + 2 for at in score.evidence)})
        for name, score in plain.categories.items()
    }
    assert later == plain.model_copy(update={"categories": moved})


@given(data=st.data(), settings=SETTINGS)
def test_the_order_of_parallel_calls_changes_nothing(
    data: st.DataObject, settings: ScoreSettings
) -> None:
    """Nor does the order of their results. What is expected here says no order either."""
    steps = data.draw(st.lists(st.lists(st.tuples(CALLED, TEXTS), min_size=1), max_size=4))
    mixed = [data.draw(st.permutations(list(enumerate(step)))) for step in steps]
    answered = [data.draw(st.permutations(step)) for step in mixed]
    plain = [list(enumerate(step)) for step in steps]
    one, other = (
        tunaeval.score(made, "q", categories=EXTRA, settings=settings)
        for made in (in_batches(plain, plain), in_batches(mixed, answered))
    )
    for name, score in one.categories.items():
        assert other.categories[name].value == score.value
    assert other.weighted_total == one.weighted_total
    assert other.details == one.details


CALLED = st.tuples(st.sampled_from(["read", "bash", "planner"]), st.sampled_from("ab"))
Called: TypeAlias = list[tuple[int, tuple[tuple[str, str], str]]]


def in_batches(calls: list[Called], results: list[Called]) -> list[Message]:
    """A message of calls a step, then their results; each call has an id of its own."""
    messages = []
    for at, (called, answered) in enumerate(zip(calls, results, strict=True)):
        made = [ToolCall(tool, {"path": path}, f"{at}.{n}") for n, ((tool, path), _) in called]
        messages.append(Message("assistant", "", tuple(made)))
        messages += [Message("tool", text, tool_call_id=f"{at}.{n}") for n, (_, text) in answered]
    return messages


@given(
    scores=st.lists(
        st.builds(
            WeightedScore, value=st.none() | UNIT, weight=st.floats(0, 1e308), reason=st.just("")
        ),
        max_size=5,
    )
)
def test_a_total_lies_between_the_lowest_and_the_highest(scores: list[WeightedScore]) -> None:
    weighed = [s.value for s in scores if s.value is not None and s.weight > 0]
    total = weighted_total(scores)
    assert (total is None) == (not weighed)
    if total is not None:
        assert min(weighed) - 1e-9 <= total <= min(1.0, max(weighed) + 1e-9)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -0.1, 1.1])
def test_what_is_no_share_is_refused(value: float) -> None:
    with pytest.raises(ValidationError):
        CategoryScore(value=value, reason="")


def test_twice_the_messages_take_about_twice_the_time() -> None:
    def seconds(number: int) -> float:
        # One id for all, every second result missing: the worst for an index.
        messages = [
            Message("assistant", "", (ToolCall("a", {}, "c"), ToolCall("b", {}, f"c{index}")))
            if index % 2
            else Message("tool", "{}", tool_call_id="c")
            for index in range(number)
        ]
        return min(timed(messages) for _ in range(4))

    def timed(messages: list[Message]) -> float:
        begun = time.process_time()
        tunaeval.score(messages, "q", categories=EXTRA, settings=settings)
        return time.process_time() - begun

    settings = ScoreSettings(
        expect={"tools": ["a", "b"], "match": "in_order"}, tools=tunaeval.to_tools([])
    )
    gc.collect()
    gc.disable()  # its passes grow with all that lives, which is not ours
    try:
        assert seconds(16_000) < 9 * seconds(4_000)  # 4 times as many; a square would be 16
    finally:
        gc.enable()
