"""What holds for every score, whatever the transcript and the categories."""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

import tunaeval
from tests.scoring.made_up import EXECUTIONS, EXTRA, MESSAGES, PRESETS, SETTINGS, TEXTS
from tunaeval import ScoreSettings
from tunaeval.errors import UnknownNameError, UsageError
from tunaeval.extensions import scorers
from tunaeval.scoring import SCORERS, Category, Finding, weighted_total
from tunaeval.types import Message, ToolCall, ToolExecution
from tunaeval.types.roles import Scorer, Transcript
from tunaeval.types.runs import CategoryScore, ScoreResult, WeightedScore

UNIT = st.floats(0, 1)


@dataclass(frozen=True)
class Fixed:
    """A category of somebody else's."""

    name: str
    weight: float
    value: float | None

    async def score(self, transcript: Transcript) -> CategoryScore:
        await asyncio.sleep(0)
        return CategoryScore(value=self.value, reason=transcript.query)


@dataclass
class Doing:
    """One that does what it is told."""

    name: str
    does: Callable[[], Any]
    weight: float = 1.0

    async def score(self, transcript: Transcript) -> CategoryScore:
        del transcript
        verdict: CategoryScore = self.does()
        return verdict


CATEGORIES = st.lists(
    st.builds(Fixed, st.sampled_from("abcdef"), st.floats(0, 9), st.none() | UNIT),
    max_size=4,
    unique_by=lambda category: category.name,
)


def mean(scores: list[WeightedScore]) -> float | None:
    parts = [(score.value, score.weight) for score in scores if score.value is not None]
    weights = sum(weight for _, weight in parts)
    return sum(value * weight for value, weight in parts) / weights if weights else None


@given(
    messages=st.lists(MESSAGES, max_size=8),
    executions=st.lists(EXECUTIONS, max_size=6),
    categories=CATEGORIES,
    preset=PRESETS,
    settings=SETTINGS,
)
def test_a_score_is_the_weighted_mean_of_what_applies(
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
    scores = result.categories.values()
    values = [score.value for score in scores]
    assert all(value is None or 0 <= value <= 1 for value in (*values, result.weighted_total))
    assert result.weighted_total == pytest.approx(mean(list(scores)))
    assert all((score.share is None) == (score.value is None) for score in scores)
    assert sum(score.share or 0 for score in scores) == pytest.approx(1)
    assert all(score.reason and not score.reason.startswith("it failed") for score in scores)
    details = result.details
    assert 0 <= details.failed_calls + details.dangling_calls <= details.tool_calls
    for score in scores:
        assert all(0 <= index < len(messages) for index in score.evidence)


@given(
    messages=st.lists(MESSAGES, max_size=8),
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
    assert repr(validated) == repr(result)  # 1 is no 1.0
    assert ScoreResult.model_validate_json(result.model_dump_json()) == result
    assert result.details.model_fields_set == set(type(result.details).model_fields)


@pytest.mark.parametrize("value", [2.0, -0.1, float("nan"), "much"])
def test_what_is_no_share_is_refused_of_a_formula_too(value: Any) -> None:
    broken: Any = Category("broken", 1.0, lambda _: Finding(value, "so it is"))
    result = tunaeval.score([], "q", categories=[broken])
    assert result.categories["broken"].value is None
    assert result.categories["broken"].reason.startswith("it failed: ValidationError")


@given(
    messages=st.lists(MESSAGES, max_size=8),
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
    messages=st.lists(MESSAGES, max_size=8),
    preset=PRESETS,
    before=st.sampled_from(["system", "user", "assistant"]),
    settings=SETTINGS,
)
def test_what_stands_before_the_task_changes_nothing(
    messages: list[Message], preset: str, before: str, settings: ScoreSettings
) -> None:
    plain = tunaeval.score(messages, "q", preset=preset, categories=EXTRA, settings=settings)
    earlier = [
        Message(before, "Be brief. TUNACODE DONE: never mind", (ToolCall("read", {}, "c1"),))
    ]
    later = tunaeval.score(
        [*earlier, *messages], "q", preset=preset, categories=EXTRA, settings=settings, start=1
    )
    moved = {
        name: score.model_copy(update={"evidence": tuple(at + 1 for at in score.evidence)})
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


def nan_smuggled_in() -> CategoryScore:
    return CategoryScore.model_construct(value=float("nan"), reason="", evidence=())


@pytest.mark.parametrize("does", [lambda: 1 / 0, nan_smuggled_in, lambda: None, lambda: 0.5])
def test_a_category_that_fails_is_left_out_and_named(does: Callable[[], object]) -> None:
    result = tunaeval.score([], "q", categories=[Doing("broken", does)])
    assert result.categories["broken"].value is None
    assert result.categories["broken"].reason.startswith("it failed: ")
    assert result.weighted_total == tunaeval.score([], "q").weighted_total
    assert "broken does not apply" in result.details.reasoning


def test_a_cancelled_scoring_is_cancelled() -> None:
    def cancel() -> None:
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(tunaeval.ascore([], "q", categories=[Doing("a", cancel)]))


async def inside(categories: tuple[Any, ...] = ()) -> ScoreResult:
    return tunaeval.score([], "q", categories=categories)


def test_the_built_in_categories_need_no_loop_of_their_own() -> None:
    assert asyncio.run(inside()) == tunaeval.score([], "q")


def test_others_inside_a_loop_are_sent_to_ascore() -> None:
    with pytest.raises(UsageError, match=r"wait for mine .* await tunaeval\.ascore"):
        asyncio.run(inside((Fixed("mine", 1, 1),)))


@pytest.mark.parametrize("name", sorted(SCORERS))
def test_each_built_in_category_is_registered_under_its_name(name: str) -> None:
    scorer = scorers.get(name)
    assert isinstance(scorer, Scorer)
    assert scorer.name == name
    alone = asyncio.run(scorer.score(Transcript("q", ())))
    assert alone.value == tunaeval.score([], "q", preset="none", categories=[name]).weighted_total


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"preset": "evals3"}, "no preset is called 'evals3'; did you mean 'evals2'"),
        ({"preset": "best"}, "no preset is called 'best'; known: default, evals2, none"),
        ({"categories": ["goal-complete"]}, "did you mean 'goal-completion'"),
        ({"categories": ["goal-completion"]}, "two scoring categories are called"),
        ({"categories": "goal-completion"}, "wanted a list"),
        ({"categories": [3]}, "3 is no scoring category"),
        ({"categories": [Fixed("a", float("nan"), 1)]}, "has the weight nan"),
        ({"categories": [Fixed("a", -1, 1)]}, "has the weight -1"),
        ({"start": 1}, "start is 1, wanted an index of the 0 messages"),
        ({"start": -1}, "start is -1"),
    ],
)
def test_wrong_use_is_told_clearly(more: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        tunaeval.score([], "q", **more)


def test_an_unknown_preset_has_an_error_of_its_own() -> None:
    with pytest.raises(UnknownNameError):
        asyncio.run(tunaeval.ascore([], "q", preset="best"))


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
