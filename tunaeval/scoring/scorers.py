"""What can be a scoring category: an object with a name and a weight, or a function.

A function gets the history and returns a bool, a number from 0 to 1, a `CategoryScore`, or None
where the category does not apply. It may be a coroutine function, and so may an object's `score`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import update_wrapper
from typing import Any, TypeAlias

from pydantic import ValidationError

from tunaeval.errors import UsageError
from tunaeval.registry import Registry, who, words_with_place
from tunaeval.showing import brief
from tunaeval.types.copies import copied
from tunaeval.types.history import History
from tunaeval.types.roles import Scorer
from tunaeval.types.runs import CategoryScore, WeightedScore
from tunaeval.types.shapes import instance_of, is_async

from . import SCORERS
from .history import CategoryFinding

ScoringFunction: TypeAlias = Callable[[History], object]

KIND = "scoring category"
_no_scorer = instance_of(Scorer, either=("score",))


class FunctionScorer:
    """A scorer made of a function, which can still be called."""

    def __init__(self, function: ScoringFunction, name: str, weight: float = 1.0) -> None:
        self.name, self.weight, self.function = name, weight, function
        update_wrapper(self, function)

    def __call__(self, history: History) -> Any:
        return self.function(history)

    def score(self, history: History) -> Any:
        return self.function(history)

    def __repr__(self) -> str:
        return f"<scoring category {self.name!r}>"


def scorer(name: str, *, weight: float = 1.0) -> Callable[[ScoringFunction], FunctionScorer]:
    """Make a function a scoring category of this name and weight; it can still be called.

    The function gets a `History` and returns True or False, a number from 0 to 1, a `CategoryScore`
    (with reason and evidence), or None if the category does not apply. It may be a coroutine
    function. Raises UsageError for a wrong name or weight, or for what is no function.

    Examples:
        >>> @tunaeval.scorer("short", weight=0.2)
        ... def short(history):
        ...     return len(history.calls) <= 5
        ...
        >>> short(tunaeval.history([{"role": "assistant", "content": "Done."}]))
        True
    """
    given: object = name
    if not isinstance(given, str) or not given:
        raise UsageError(f"a scoring category is called {name!r}; wanted a text")
    if not is_weight(weight):
        raise UsageError(f"{KIND} {name!r} has the weight {weight!r}; wanted a number from 0 up")

    def made(function: ScoringFunction) -> FunctionScorer:
        if isinstance(function, type) or not callable(function):
            raise UsageError(f"{function!r:.60} is no function of a history")
        return FunctionScorer(function, name, weight)

    return made


def scorer_of(thing: object, name: str | None = None) -> Scorer | None:
    """Return a thing as a scorer: itself, or one made of a function; None if it is neither. Its
    name is `name`, or else the function's, with `-` for `_`.
    """
    if isinstance(thing, Scorer) and not isinstance(thing, type):
        return thing
    if not inspect.isroutine(thing):
        return None
    return FunctionScorer(thing, name or thing.__name__.strip("_").replace("_", "-"))


def is_weight(weight: Any) -> bool:
    """Whether a category can have this weight: a finite number that is at least 0."""
    try:
        return bool(0 <= weight < float("inf"))
    except (TypeError, ValueError, OverflowError):  # not a number
        return False


def _fault_of(thing: Any) -> str | None:
    """Return what is wrong with a scorer's shape, else with its weight, else None."""
    if fault := _no_scorer(thing):
        return fault
    weight = thing.weight
    return None if is_weight(weight) else f"its weight is {weight!r:.60}; wanted a number from 0 up"


class _Scorers(Registry[Scorer]):
    def _shaped(self, thing: object, what: str, name: str) -> Scorer:
        made = FunctionScorer(thing, name) if inspect.isroutine(thing) else thing
        return super()._shaped(made, what, name)


scorers: Registry[Scorer] = _Scorers("tunaeval.scorers", KIND, builtins=SCORERS, check=_fault_of)


def waits(one: Scorer) -> bool:
    """Whether a scorer has to be awaited."""
    return is_async(one.function if isinstance(one, FunctionScorer) else one.score)


async def verdict_of(one: Scorer, history: History) -> CategoryFinding | CategoryScore:
    """Return a scorer's verdict. If it raises or returns something else, that is its failure."""
    this = f"the {who(one, KIND)}"
    try:
        given: Any = one.score(copied(history))
        given = await given if inspect.isawaitable(given) else given
        score = _score(given)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a failed category is a result
        return failed(f"{this} raised {_error_words(error)}")
    if score is None:
        return failed(
            f"{this} returned {brief(given)}; wanted a bool, a number from 0 to 1, None, or a "
            'CategoryScore(value=0.5, reason="why")'
        )
    count = len(history.messages)
    for index in score.evidence:
        if not 0 <= index < count:
            return failed(
                f"{this} gave the evidence {index}; wanted indices of the {count} messages"
            )
    return score


def failed(why: str) -> CategoryFinding:
    """Return the finding of a category that failed."""
    return CategoryFinding(None, f"it failed: {why}", failure=why)


def _score(given: object) -> CategoryScore | None:
    """Return what a scorer returned as a score, or None if it is none. Raises ValidationError."""
    if given is None:
        return CategoryScore(value=None, reason="it does not apply")
    if isinstance(given, bool | int | float):
        return CategoryScore(value=float(given), reason=f"it returned {given!r}")
    if not isinstance(given, CategoryScore | WeightedScore | CategoryFinding):
        return None
    return CategoryScore(  # rebuilt, because a plug-in may have bypassed the checks of its numbers
        value=given.value,
        reason=given.reason,
        evidence=given.evidence,
        judged=given.judged,
        failure=given.failure or (given.judged.failure if given.judged else None),
    )


def _error_words(error: BaseException) -> str:
    """Describe an exception in one line; if a score is invalid, by the field and its value."""
    if not isinstance(error, ValidationError):
        return words_with_place(error)
    first = error.errors()[0]
    place = ", ".join([error.title, *map(str, first["loc"])])
    return f"ValidationError: {place}: found {brief(first['input'])}; {first['msg']}"
