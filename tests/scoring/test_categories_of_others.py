"""Categories that somebody else wrote: one that fails, one that waits, one asked for wrongly."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tunaeval
from tests.scoring.categories import Doing, Fixed
from tests.scoring.transcripts import yes
from tunaeval.errors import UnknownNameError, UsageError
from tunaeval.scoring import SCORERS
from tunaeval.scoring.history import history_of
from tunaeval.scoring.scorers import scorers
from tunaeval.types.conversations import Transcript
from tunaeval.types.history import History
from tunaeval.types.messages import ToolExecution
from tunaeval.types.roles import Scorer
from tunaeval.types.runs import CategoryScore, ScoreResult

WORDS = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]


def nan_smuggled_in() -> CategoryScore:
    return CategoryScore.model_construct(value=float("nan"), reason="", evidence=())


@pytest.mark.parametrize("preset", ["default", "evals2", "none"])
@pytest.mark.parametrize("does", [lambda: 1 / 0, nan_smuggled_in, lambda: "good", lambda: 1.5])
def test_a_category_that_fails_leaves_no_total_and_the_others_their_verdicts(
    does: Callable[[], object], preset: str
) -> None:
    more: dict[str, Any] = {"preset": preset, "check": None if preset == "evals2" else yes}
    others = tunaeval.score(WORDS, "q", **more).categories
    result = tunaeval.score(WORDS, "q", categories=[Doing("broken", does)], **more)
    assert result.categories["broken"].value is None
    assert result.categories["broken"].reason.startswith("it failed: ")
    assert result.weighted_total is None
    assert result.details.outcome == "category_failure"
    assert result.details.reasoning.startswith("no total: broken has no verdict: ")
    for name, other in others.items():
        assert result.categories[name].value == other.value


@pytest.mark.parametrize("returned", [b"1", [0.5], "good", {"value": 1}])
def test_a_category_that_returns_no_score_is_told_what_is_wanted(returned: object) -> None:
    result = tunaeval.score(WORDS, "q", categories=[Doing("mine", lambda: returned)])
    assert result.categories["mine"].failure == (
        f"the scoring category 'mine' returned {returned!r}; wanted a bool, a "
        'number from 0 to 1, None, or a CategoryScore(value=0.5, reason="why")'
    )


def leave() -> None:
    raise SystemExit(0)


@pytest.mark.parametrize(
    ("does", "failure"),
    [
        (lambda: 1 / 0, "raised ZeroDivisionError: division by zero"),
        (leave, "raised SystemExit: 0"),
        (
            lambda: CategoryScore(value=5, reason="x"),
            "raised ValidationError: CategoryScore, value: found 5; Input should be less than",
        ),
        (
            lambda: CategoryScore(value=1, reason="x", evidence=(0, 2)),
            "gave the evidence 2; wanted indices of the 2 messages",
        ),
        (
            lambda: CategoryScore(value=1, reason="x", evidence=(-1,)),
            "gave the evidence -1; wanted indices of the 2 messages",
        ),
    ],
)
def test_a_category_that_misbehaves_is_named_in_one_sentence(
    does: Callable[[], object], failure: str
) -> None:
    result = tunaeval.score(WORDS, "q", categories=[Doing("mine", does)])
    told = str(result.categories["mine"].failure)
    assert told.startswith(f"the scoring category 'mine' {failure}")
    assert "\n" not in told
    assert result.weighted_total is None


def test_an_interrupt_is_no_failure_of_a_category() -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tunaeval.score(WORDS, "q", categories=[Doing("mine", interrupt)])


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
    alone = scorer.score(history_of(Transcript("q", ())))
    assert alone.value == tunaeval.score([], "q", preset="none", categories=[name]).weighted_total


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"preset": "evals3"}, "no preset is called 'evals3'; did you mean 'evals2'"),
        ({"preset": "best"}, "no preset is called 'best'; known: default, evals2, none"),
        ({"categories": ["goal-complete"]}, "did you mean 'goal-completion'"),
        ({"categories": ["goal-completion"]}, "two scoring categories have the name"),
        ({"categories": "goal-completion"}, "wanted a list"),
        ({"categories": [3]}, "3 is no scoring category"),
        ({"categories": [Fixed("a", float("nan"), 1)]}, "has the weight nan"),
        ({"categories": [Fixed("a", -1, 1)]}, "has the weight -1"),
        ({"categories": [Fixed("a", cast("float", "0.1"), 1)]}, "has the weight '0.1'"),
        ({"categories": [Fixed(cast("str", None), 1, 1)]}, "is called None; wanted a text"),
        ({"start": 1}, "start is 1, wanted the index of one of the 0 messages"),
        ({"start": -1}, "start is -1"),
    ],
)
def test_wrong_use_is_told_clearly(more: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        tunaeval.score([], "q", **more)


def test_an_unknown_preset_has_an_error_of_its_own() -> None:
    with pytest.raises(UnknownNameError):
        asyncio.run(tunaeval.ascore([], "q", preset="best"))


# --- functions ------------------------------------------------------------------------------------

LOOK = {"id": "1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
CALLED = [
    {"role": "assistant", "content": None, "tool_calls": [LOOK]},
    {"role": "tool", "tool_call_id": "1", "content": "a.py"},
]


@pytest.mark.parametrize("is_async", [False, True])
@given(value=st.none() | st.booleans() | st.floats(-1, 2) | st.just(float("nan")) | st.integers())
def test_a_function_is_a_category_whose_value_is_what_it_returns(
    is_async: bool, value: Any
) -> None:
    def as_it_is(history: History) -> Any:
        return value if history.calls else "no call was seen"

    async def later(history: History) -> Any:
        return as_it_is(history)

    result = tunaeval.score(CALLED, "q", categories=[later if is_async else as_it_is])
    found = result.categories["later" if is_async else "as-it-is"]
    assert found.weight == 1.0
    if value is None or 0 <= value <= 1:
        assert (found.value, found.failure) == (value, None)
    else:
        assert (found.value, result.details.outcome) == (None, "category_failure")
        assert "the scoring category" in str(found.failure)


def test_a_function_with_a_name_and_a_weight_can_still_be_called() -> None:
    @tunaeval.scorer("looked", weight=0.2)
    def look(history: History) -> CategoryScore:
        """Whether something was looked at."""
        return CategoryScore(value=float(bool(history.calls)), reason="seen", evidence=(0,))

    assert look(tunaeval.history(CALLED)).value == 1.0
    assert look.__doc__ == "Whether something was looked at."
    found = tunaeval.score(CALLED, "q", categories=[look]).categories["looked"]
    assert (found.value, found.weight, found.reason, found.evidence) == (1.0, 0.2, "seen", (0,))


def test_a_function_that_does_not_wait_works_inside_a_running_loop() -> None:
    def short(history: History) -> bool:
        return len(history.calls) < 5

    assert asyncio.run(inside((short,))).categories["short"].value == 1.0


@pytest.mark.parametrize(
    ("name", "weight", "said"),
    [("", 1, "wanted a text"), (3, 1, "wanted a text"), ("x", -1, "from 0 up"),
     ("x", float("nan"), "from 0 up"), ("x", "1", "from 0 up")],
)  # fmt: skip
def test_a_wrong_name_or_weight_is_refused(name: Any, weight: Any, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        tunaeval.scorer(name, weight=weight)
    with pytest.raises(UsageError, match="no function"):
        tunaeval.scorer("x")(3)  # type: ignore[arg-type]  # it is refused


def test_a_history_has_each_call_in_the_words_of_an_execution() -> None:
    run = ToolExecution("ls", "1", {}, 1.0, 0.5, ok=False, ok_reason="raised", error="gone")
    for runs, ok, reason in (((), True, "assumed"), ((run,), False, "raised")):
        seen = tunaeval.history(CALLED, "q", runs)
        (call,) = seen.calls
        assert (call.tool, call.call_id, call.arguments) == ("ls", "1", {})
        assert (call.ok, call.ok_reason, call.result) == (ok, reason, "a.py")
        assert (call.message, call.result_message, call.batch) == (0, 1, 0)
    (call,) = tunaeval.history(CALLED[:1]).calls
    assert (call.ok, call.ok_reason, call.error, call.result) == (None,) * 4
