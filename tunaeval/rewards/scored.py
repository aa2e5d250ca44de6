"""`reward` and `rewards`: score a completion against its gold by a recipe.

Most completions of a trained model are exactly the wanted calls. A fast comparison of JSON detects
these, and they all get the same reward; `Credit` analyses all others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from math import fsum, log
from typing import Literal, NamedTuple, TypeAlias

from tunaeval.errors import UsageError
from tunaeval.matching.assignment import best_pairs, ordered_pairs
from tunaeval.matching.values import Failure, call_misses, likeness
from tunaeval.parsing.api import parse
from tunaeval.parsing.repair.schema import fits
from tunaeval.types.calls import ToolCall, Tools
from tunaeval.types.parsing import LATER_TURN, ParseResult
from tunaeval.types.wanted import refusal

from .gold import AnyTools, Gold, Wanted, tools_of
from .leftovers import tries_left
from .reading import (
    NO_COMPLETION,
    TOO_LONG,
    Attempts,
    BrokenSpan,
    add_swallowed,
    attempts_of,
    has_others,
    hedged_in,
    is_alone,
    is_hedge,
    of_result,
    structured,
)
from .recipe import Parts, Recipe, recipe_of

_MOST_FAILURES = 8  # in one reward
_LITTLE = 1e-9
"""Breaks ties between pairs that have the same worth in a recipe."""

AttemptKind: TypeAlias = Literal["right", "wrong", "extra", "broken"]

_ALONE = ((0, 0),)
"""The pairs of one wanted call and one made call."""

_HALF = 0.5
"""A broken factor up to a half always costs at least as much as one superfluous call."""


class CallPair(NamedTuple):
    """A wanted call and a made call of the same tool.

    `quality`, from 0 to 1, is lower for a repaired call and for arguments that do not fit the
    schema. `worth` is `quality` times the grade of the arguments; `whole` is true if these are as
    wanted. Calls are paired so that the sum of `pull` is greatest.
    """

    quality: float
    worth: float
    whole: bool
    pull: float


class Credit:
    """The comparison of one completion's calls with one gold."""

    def __init__(self, gold: Gold, attempts: Attempts, tools: Tools | None, recipe: Recipe) -> None:
        self._gold, self._attempts, self._tools, self._recipe = gold, attempts, tools, recipe
        self._known: dict[tuple[int, int], CallPair | None] = {}
        self._soundness = [self._sound(index) for index in range(len(attempts.calls))]
        self.pairs = self._paired() if attempts.calls else ()

    def parts(self) -> Parts:
        """Return what is earned, each part from 0 to 1.

        A broken attempt costs a factor, or counts as a superfluous call, whichever costs more, so
        that breaking an unwanted call never gains anything.
        """
        attempts, factor = self._attempts, self._recipe.broken
        if not attempts.calls:
            return Parts()
        made, broken = len(attempts.calls), attempts.broken
        if not broken:
            return Parts(fsum(self._soundness) / made, *self._earner()(made))
        lost = factor**broken
        written = lost * fsum(self._soundness) / (made + broken)
        earned = self._earner()
        name, arguments = (lost * share for share in earned(made))
        if factor > _HALF and self._recipe.grading != "whole":
            for more in _ways(factor, broken, len(self._gold.calls)):
                less = factor ** (broken - more)
                one, other = earned(made + more)
                name, arguments = min(name, less * one), min(arguments, less * other)
        return Parts(written, name, arguments)

    def failures(self) -> tuple[Failure, ...]:
        """Return the first few reasons why the calls are not the wanted ones."""
        return tuple(islice(self._failures(), _MOST_FAILURES))

    def kinds(self) -> list[AttemptKind]:
        """Return whether each call is right, wrong (in place of a wanted one), or extra."""
        whole = {other: pair.whole for one, other in self.pairs if (pair := self._pair(one, other))}
        missing = len(self._gold.calls) - len(self.pairs)
        kinds: list[AttemptKind] = []
        for index in range(len(self._attempts.calls)):
            if index in whole:
                kinds.append("right" if whole[index] else "wrong")
            else:
                kinds.append("wrong" if missing > 0 else "extra")
                missing -= 1
        return kinds

    # --- pairs -------------------------------------------------------------------------------

    def _paired(self) -> tuple[tuple[int, int], ...]:
        """Return the pairs of indices (wanted, made) with the greatest total pull.

        With "exactly", the place of a call after a broken attempt is unknown, so it has no pair.
        """
        wanted, made = len(self._gold.calls), len(self._attempts.calls)
        if wanted == made == 1 and not self._attempts.broken:
            return _ALONE if self._pair(0, 0) is not None else ()
        if self._gold.match == "exactly":
            placed = made if self._attempts.placed is None else self._attempts.placed
            both = range(min(wanted, placed))
            return tuple((one, one) for one in both if self._pair(one, one) is not None)
        pairing = ordered_pairs if self._gold.match == "in_order" else best_pairs
        return pairing(wanted, made, self._pull)

    def _pull(self, one: int, other: int) -> float:
        pair = self._pair(one, other)
        return 0.0 if pair is None else pair.pull

    def _counted(self, made: int) -> int:
        """Return the number of calls to divide by: wanted ones, and extra ones unless allowed."""
        wanted = len(self._gold.calls)
        return wanted if self._gold.match in {"in_order", "superset"} else max(wanted, made)

    # --- one pair ----------------------------------------------------------------------------

    def _pair(self, one: int, other: int) -> CallPair | None:
        """Return a wanted and a made call, by index, as a pair, or None if their tools differ."""
        key = (one, other)
        if key not in self._known:
            wanted, call = self._gold.calls[one], self._attempts.calls[other]
            same = wanted.name == call.name
            self._known[key] = self._made(wanted, call, self._soundness[other]) if same else None
        return self._known[key]

    def _made(self, wanted: Wanted, call: ToolCall, sound: float) -> CallPair:
        recipe, quality = self._recipe, sound
        whole, grade = (True, 1.0) if wanted.is_met_by(call) else self._graded(wanted, call)
        if not whole and self._tools is not None:
            quality *= 1.0 if fits(call.name, call.arguments, self._tools) else recipe.misfit
        worth = quality * grade
        size = 1 + len(wanted.arguments) if recipe.grading == "toolrl" else 1
        pull = max(recipe.arguments, _LITTLE) * worth * size
        pull += max(recipe.name, _LITTLE) * quality + _LITTLE
        return CallPair(quality, worth, whole, pull)

    def _graded(self, wanted: Wanted, call: ToolCall) -> tuple[bool, float]:
        """Return whether the arguments are exactly the wanted ones, and their grade from 0 to 1."""
        spec = self._tools.get(call.name) if self._tools is not None else None
        literal = self._gold.literal
        right, named, most, every = likeness(
            wanted.arguments, call.arguments, spec, literal=literal
        )
        whole, grading = right == every, self._recipe.grading
        if grading == "whole":
            return whole, float(whole)
        if grading == "arguments":
            return whole, right / every if every else 1.0
        return whole, ((named / every if every else 1.0) + right) / (1 + most)  # r_param, r_value

    def _sound(self, index: int) -> float:
        found = self._attempts
        repaired = found.calls[index].repairs or index in found.fenced or index in found.hedged
        return self._recipe.repaired if repaired else 1.0

    # --- what the pairs earn, by how many calls were made ---------------------------------------

    def _earner(self) -> Callable[[int], tuple[float, float]]:
        """Return a function from a number of calls to the shares earned for names and arguments."""
        pairs = [pair for key in self.pairs if (pair := self._known[key]) is not None]
        if self._recipe.grading == "toolrl":
            return self._toolrl(pairs)
        if self._recipe.grading == "whole":
            whole = self._counted(len(self._attempts.calls)) == len(pairs) > 0
            sound = whole and not self._attempts.broken
            least = min(pair.worth for pair in pairs) if sound else 0.0
            return lambda _: (least, least)
        if len(pairs) == 1:
            name, arguments = pairs[0].quality, pairs[0].worth
        else:
            name, arguments = fsum(one.quality for one in pairs), fsum(one.worth for one in pairs)

        def shares(made: int) -> tuple[float, float]:
            every = self._counted(made) or 1
            return name / every, arguments / every

        return shares

    def _toolrl(self, pairs: Sequence[CallPair]) -> Callable[[int], tuple[float, float]]:
        """Return the function of `_earner` for ToolRL: shares of 1 + wanted calls + arguments."""
        gold, most, both = len(self._gold.calls), self._gold.size, len(pairs)
        named = fsum(pair.quality for pair in pairs)
        matched = fsum(
            pair.worth * (1 + len(self._gold.calls[one].arguments))
            for pair, (one, _) in zip(pairs, self.pairs, strict=True)
        )

        def shares(made: int) -> tuple[float, float]:
            every = self._counted(made)
            either = every + min(gold, made) - both
            return named / either / most, gold / every * matched / most

        return shares

    # --- failures ----------------------------------------------------------------------------

    def _failures(self) -> Iterator[Failure]:
        for note in self._attempts.diagnoses[:_MOST_FAILURES] if self._attempts.broken else ():
            yield Failure(note.code, note.message)
        for index, call in enumerate(self._attempts.calls):
            codes = sorted({repair.code for repair in call.repairs})
            codes += ["in a code fence"] * (index in self._attempts.fenced)
            codes += ["a key twice, two for one thing, or thoughts that begin again and again"] * (
                index in self._attempts.hedged
            )
            if codes:
                yield Failure("repaired", ", ".join(codes), f"calls[{index}]")
        for one, other in self.pairs:
            pair = self._known[one, other]
            if pair is not None and not pair.whole:
                yield from self._misses(self._gold.calls[one], self._attempts.calls[other], other)
        if not len(self.pairs) == len(self._gold.calls) == len(self._attempts.calls):
            yield from self._alone()

    def _alone(self) -> Iterator[Failure]:
        """Yield a failure for each wanted call that was not made and each unwanted one that was."""
        met, used = {one for one, _ in self.pairs}, {other for _, other in self.pairs}
        for one, wanted in enumerate(self._gold.calls):
            if one not in met:
                yield Failure("missing-call", f"no call of {wanted.name!r}", f"expected[{one}]")
        for index, call in enumerate(self._attempts.calls):
            if index not in used and self._gold.match not in {"in_order", "superset"}:
                message = f"the call of {call.name!r:.60} was not expected"
                yield Failure("extra-call", message, f"calls[{index}]")

    def _misses(self, wanted: Wanted, call: ToolCall, index: int) -> Iterator[Failure]:
        spec = self._tools.get(call.name) if self._tools is not None else None
        literal = self._gold.literal
        for miss in call_misses(
            wanted.name, wanted.arguments, call, spec, exact=True, literal=literal
        ):
            failure = miss()
            yield Failure(failure.code, failure.message, f"calls[{index}].{failure.path}")


def _ways(factor: float, broken: int, wanted: int) -> Iterable[int]:
    """Return how many broken attempts to try as superfluous calls, to find the costliest way.

    Beyond `-1 / log(factor)` the reward `factor**(broken - more) / (made + more)` only grows.
    """
    if factor == 1.0:
        return (broken,)
    return range(1, min(broken, int(-1 / log(factor)) + 1 + wanted) + 1)


def unwanted(attempts: Attempts) -> tuple[Failure, ...]:
    """Return the mistakes of a completion whose gold wants no call."""
    notes = attempts.diagnoses[:_MOST_FAILURES] if attempts.broken else ()
    made = [Failure(note.code, note.message) for note in notes]
    for index, call in enumerate(attempts.calls[:_MOST_FAILURES]):
        message = f"wanted no call, got {call.name!r:.60}"
        made.append(Failure("unexpected-call", message, f"calls[{index}]"))
    if not made:
        made.append(Failure("no-words", "wanted an answer in words, and there is none"))
    return tuple(made[:_MOST_FAILURES])


_DEFAULT = Recipe()


@dataclass(frozen=True, slots=True)
class Reward:
    """The worth of a completion, and the reasons.

    `value` is `recipe.base` plus the recipe's weights times `parts`, each from 0 to 1. `outcome` is
    that of a parse ("calls", "no_call", "malformed", "truncated"), "no_completion" or "too_long".
    `attempts` counts calls and broken attempts, `broken` only the latter; `broken_spans` are their
    spans in a text, for a trainer that masks their loss. `failures` say why it is not worth more.
    `recipe` is the digest of the recipe.
    """

    value: float
    parts: Parts
    outcome: str
    failures: tuple[Failure, ...] = ()
    attempts: int = 0
    broken: int = 0
    broken_spans: tuple[BrokenSpan, ...] = ()
    recipe: str = ""

    def __float__(self) -> float:
        return self.value


def reward(
    completion: object, gold: object, tools: AnyTools = None, *, recipe: Recipe | str = _DEFAULT
) -> Reward:
    """Return the worth of a completion, compared with the wanted calls.

    `completion` is a text, a message, messages (only the model's turns count), a result of
    `renderers` or `tunaeval.parse`, or None. `gold` is a `Gold`, or what `Gold.of` reads; compile
    it once for several completions. `tools` default to those of the gold.

    Examples:
        >>> found = reward('<tool_call>{"name": "ls", "arguments": {}}</tool_call>',
        ...                [{"name": "ls", "arguments": {}}])
        >>> found.value, found.outcome
        (1.0, 'calls')

    Deterministic and thread-safe. Never raises on a completion; raises `UsageError` for a gold and
    `ToolsError` for tools that cannot be understood.
    """
    if type(recipe) is not Recipe:
        recipe = recipe_of(recipe)
    if tools is not None and type(tools) is not Tools:
        tools = tools_of(tools)
    if type(gold) is not Gold:
        gold = Gold.of(gold, tools)
    known = gold.tools if tools is None else tools
    text, message = _text_alone(completion)
    alone = None if text is None else is_alone(text)
    if (
        text is not None
        and recipe.engine is None
        and len(text) <= recipe.max_characters
        and (alone or not has_others(text, recipe))
    ):  # it is read once, as it is
        result = parse(text, recipe.reader, known, recipe.level, abstain=recipe.abstain)
        if _is_sound(result, len(result.calls)) and gold.is_met_by(result.calls):
            content = result.content
            if not (
                (content and tries_left(content, recipe.reader, known, quotes=False))
                or (not alone and hedged_in(text, result.calls))
            ):
                return _whole(recipe, len(result.calls), _size(gold, recipe))
        if not any(note.code == LATER_TURN for note in result.diagnoses):
            attempts = of_result(result, recipe, text, known, message=message)
            return _taken_apart(attempts, gold, known, recipe)
    if text is None and message is not None and recipe.max_characters >= _FEW * _SHORT:
        items = completion[0]["tool_calls"]  # type: ignore[index]  # as `_text_alone` has found it
        result, *_ = structured(items, known, recipe)
        if _is_sound(result, len(items)) and gold.is_met_by(result.calls):
            return _whole(recipe, len(result.calls), _size(gold, recipe))
    return _taken_apart(attempts_of(completion, known, recipe), gold, known, recipe)


def _text_alone(completion: object) -> tuple[str | None, int | None]:
    """Return the text of a completion that has nothing else, and its message's index, if any.

    An index without a text means a message with nothing but structured calls. Most completions are
    one of these; all others take the slow path, with the same result.
    """
    if type(completion) is str:
        return completion, None
    if type(completion) is not list or len(completion) != 1 or type(completion[0]) is not dict:
        return None, None
    message = completion[0]
    content, items = message.get("content"), message.get("tool_calls")
    if message.get("role") != "assistant" or any(map(message.get, _ON_THE_SLOW_PATH)):
        return None, None
    if type(content) is str and not items:
        return content, 0
    return None, 0 if not content and type(items) is list and _are_short(items) else None


def _are_short(items: list[object]) -> bool:
    """Whether structured calls are few, and none has a long text as its arguments."""
    if len(items) > _FEW:
        return False
    for item in items:
        inner = item.get("function") if type(item) is dict else None
        if type(inner) is not dict or is_hedge(inner):
            return False
        arguments = inner.get("arguments")
        if type(arguments) is not dict and not (
            type(arguments) is str and len(arguments) <= _SHORT
        ):
            return False
    return True


_FEW, _SHORT = 16, 4096
_ON_THE_SLOW_PATH = ("function_call", "refusal", "type")


def _size(gold: Gold, recipe: Recipe) -> int:
    """Return the gold's size if the parts of a correct completion depend on it, else 0."""
    return gold.size if recipe.grading == "toolrl" else 0


def _is_sound(result: ParseResult, attempts: int) -> bool:
    if result.diagnoses or not attempts or len(result.calls) != attempts:
        return False
    for call in result.calls:  # noqa: SIM110 - `all` with a generator takes twice as long
        if call.repairs:
            return False
    return True


def rewards(
    completions: Sequence[object],
    golds: Sequence[object] | Gold,
    tools: Sequence[AnyTools] | Tools | None = None,
    *,
    recipe: Recipe | str = _DEFAULT,
) -> list[Reward]:
    """Return a reward for each completion, in order.

    `golds` has one for each completion, or is a `Gold` for all; `tools` has a value for each (a
    list, its JSON text, None), or is `Tools` for all. Equal golds and tools are compiled once.
    Raises as `reward` does, and `UsageError` if the lengths differ.
    """
    several: Mapping[str, object] = {"completions": completions, "golds": golds, "tools": tools}
    for name, value in several.items():
        if not isinstance(value, Sized | Gold) and (name != "tools" or value is not None):
            raise refusal(name, value, "a list, with one for each completion")
    wanted = [golds] * len(completions) if isinstance(golds, Gold) else golds
    given = [tools] * len(completions) if tools is None or isinstance(tools, Tools) else tools
    for name, rows in (("golds", wanted), ("tools", given)):
        if len(rows) != len(completions):
            raise UsageError(
                f"{len(completions)} completions, but {len(rows)} {name}; wanted one for each"
            )
    compiled = golds_of(wanted, given)
    return [
        reward(one, gold, recipe=recipe) for one, gold in zip(completions, compiled, strict=True)
    ]


_gold_of_text = lru_cache(maxsize=4096)(Gold.of)


def gold_of(gold: object, tools: AnyTools) -> Gold:
    """Return the compiled gold of a row; equal texts of gold and tools are compiled once."""
    if isinstance(gold, Gold):
        return gold.with_tools(tools)
    if isinstance(gold, str | None) and isinstance(tools, str | None):
        return _gold_of_text(gold, tools)
    return Gold.of(gold, tools)


def golds_of(golds: Sequence[object], tools: Sequence[AnyTools]) -> Iterator[Gold]:
    """Yield the compiled golds. Raises as `Gold.of` does, with the index of the gold."""
    compiled = Golds()
    for index, (gold, known) in enumerate(zip(golds, map(tools_of, tools), strict=True)):
        try:
            yield compiled(gold, known)
        except UsageError as error:
            raise UsageError(f"golds[{index}]: {error}") from error


class Golds:
    """A cache of the golds in a batch: equal texts with the same tools are compiled once."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[dict[str | bytes | None, Gold], AnyTools]] = {}
        self._tools: AnyTools = None
        self._golds: dict[str | bytes | None, Gold] = {}

    def __call__(self, gold: object, tools: AnyTools) -> Gold:
        """Return the compiled gold of a row. Raises as `Gold.of` does."""
        if tools is self._tools and type(gold) is str and (made := self._golds.get(gold)):
            return made
        if not isinstance(gold, str | Gold | None) or not isinstance(tools, Tools):
            return gold_of(gold, tools)
        if tools is not self._tools:  # the dict keeps them alive, so that their id stays unique
            self._golds, self._tools = self._known.setdefault(id(tools), ({}, tools))
        text = gold.key if isinstance(gold, Gold) else gold
        if text not in self._golds:
            self._golds[text] = gold_of(gold, tools)
        return self._golds[text]


@lru_cache(maxsize=1024)
def _whole(recipe: Recipe, calls: int, size: int) -> Reward:
    """Return the reward of exactly the wanted calls; `size` is the gold's, for ToolRL's shares."""
    parts = Parts(1.0, 1.0, 1.0)
    if recipe.grading == "toolrl":
        parts = Parts(1.0, 1 / size, (size - 1) / size)
    return Reward(recipe.value_of(parts), parts, "calls", attempts=calls, recipe=recipe.digest)


def _taken_apart(attempts: Attempts, gold: Gold, tools: Tools | None, recipe: Recipe) -> Reward:
    failures: tuple[Failure, ...] = ()
    if attempts.calls:
        add_swallowed(attempts, gold, recipe.reader, tools)
    if attempts.outcome in {NO_COMPLETION, TOO_LONG}:
        parts, failures = Parts(), (_NOTHING[attempts.outcome],)
    elif gold.wants_none:
        right = attempts.outcome == "no_call" and attempts.speaks and not attempts.broken
        parts = Parts(abstention=float(right))
        failures = () if right else unwanted(attempts)
    else:
        credit = Credit(gold, attempts, tools, recipe)
        parts, failures = credit.parts(), credit.failures()
    return Reward(
        recipe.value_of(parts),
        parts,
        attempts.outcome,
        failures,
        len(attempts.calls) + attempts.broken,
        attempts.broken,
        attempts.spans,
        recipe.digest,
    )


_NOTHING = {
    NO_COMPLETION: Failure("no-completion", "there is no text and no message of the model"),
    TOO_LONG: Failure("too-long", "longer than the recipe's max_characters, so it was not read"),
}
