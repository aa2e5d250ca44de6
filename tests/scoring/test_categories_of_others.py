"""Categories that somebody else wrote: one that fails, one that waits, one asked for wrongly."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, cast

import pytest

import tunaeval
from tests.scoring.categories import Doing, Fixed
from tests.scoring.transcripts import yes
from tunaeval.errors import UnknownNameError, UsageError
from tunaeval.plugins import scorers
from tunaeval.scoring import SCORERS
from tunaeval.types.roles import Scorer, Transcript
from tunaeval.types.runs import CategoryScore, ScoreResult

WORDS = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]


def nan_smuggled_in() -> CategoryScore:
    return CategoryScore.model_construct(value=float("nan"), reason="", evidence=())


@pytest.mark.parametrize("preset", ["default", "evals2", "none"])
@pytest.mark.parametrize("does", [lambda: 1 / 0, nan_smuggled_in, lambda: None, lambda: 0.5])
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


@pytest.mark.parametrize("returned", [0.5, None, "good", {"value": 1}])
def test_a_category_that_returns_no_score_is_told_what_is_wanted(returned: object) -> None:
    result = tunaeval.score(WORDS, "q", categories=[Doing("mine", lambda: returned)])
    assert result.categories["mine"].failure == (
        f"the scoring category 'mine' returned {returned!r}; wanted a "
        'CategoryScore(value=0.5, reason="why"), whose value is from 0 to 1, or None'
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
    alone = asyncio.run(scorer.score(Transcript("q", ())))
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
