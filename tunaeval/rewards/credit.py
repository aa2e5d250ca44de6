"""Score calls against the wanted ones: the parts of a reward, by the grading of its recipe."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from math import fsum, log
from typing import NamedTuple

from tunaeval.matching.failures import Failure
from tunaeval.matching.values import call_misses, likeness
from tunaeval.matching.weighted import best_pairs, ordered_pairs
from tunaeval.parsing.repair.schema import fits
from tunaeval.types.calls import ToolCall, Tools

from .attempts import Attempts
from .gold import Gold, Wanted
from .recipe import Parts, Recipe

_MOST_FAILURES = 8  # in one reward
_LITTLE = 1e-9
"""Breaks ties between pairs that have the same worth in a recipe."""

_ALONE = ((0, 0),)
"""The pairs of one wanted call and one made call."""

_HALF = 0.5
"""A broken factor up to a half always costs at least as much as one superfluous call."""


class Pair(NamedTuple):
    """A wanted call and a made call of the same tool.

    `quality` is the call's factor for repairs and for misfits of its schema. `worth` is what its
    arguments earn, `pull` is the weight of the pair in the assignment.
    """

    quality: float
    worth: float
    whole: bool
    pull: float


class Credit:
    """The comparison of one completion's calls with one gold."""

    def __init__(self, gold: Gold, attempts: Attempts, tools: Tools | None, recipe: Recipe) -> None:
        self._gold, self._attempts, self._tools, self._recipe = gold, attempts, tools, recipe
        self._known: dict[tuple[int, int], Pair | None] = {}
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
        """Return why the calls are not the wanted ones: the first few reasons."""
        return tuple(islice(self._failures(), _MOST_FAILURES))

    # --- pairs -------------------------------------------------------------------------------

    def _paired(self) -> tuple[tuple[int, int], ...]:
        """Return the pairs of wanted and made calls with the greatest total pull.

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
        """Return the number of calls to divide by: the wanted and, if counted, superfluous ones."""
        wanted = len(self._gold.calls)
        return wanted if self._gold.match in {"in_order", "superset"} else max(wanted, made)

    # --- one pair ----------------------------------------------------------------------------

    def _pair(self, one: int, other: int) -> Pair | None:
        """Return two calls as a pair, or None if they are of different tools."""
        key = (one, other)
        if key not in self._known:
            wanted, call = self._gold.calls[one], self._attempts.calls[other]
            same = wanted.name == call.name
            self._known[key] = self._made(wanted, call, self._soundness[other]) if same else None
        return self._known[key]

    def _made(self, wanted: Wanted, call: ToolCall, sound: float) -> Pair:
        recipe, quality = self._recipe, sound
        whole, grade = (True, 1.0) if wanted.is_met_by(call) else self._graded(wanted, call)
        if not whole and self._tools is not None:
            quality *= 1.0 if fits(call.name, call.arguments, self._tools) else recipe.misfit
        worth = quality * grade
        size = 1 + len(wanted.arguments) if recipe.grading == "toolrl" else 1
        pull = (recipe.arguments or _LITTLE) * worth * size
        pull += (recipe.name or _LITTLE) * quality + _LITTLE
        return Pair(quality, worth, whole, pull)

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
        """Return a function from the number of calls to the shares of names and of arguments."""
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

    def _toolrl(self, pairs: Sequence[Pair]) -> Callable[[int], tuple[float, float]]:
        """Return the shares of names and arguments in S = 1 + |G| + all wanted arguments."""
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
            codes += ["a key twice, or two for one thing"] * (index in self._attempts.hedged)
            if codes:
                yield Failure("repaired", ", ".join(codes), f"calls[{index}]")
        for one, other in self.pairs:
            pair = self._known[one, other]
            if pair is not None and not pair.whole:
                yield from self._misses(self._gold.calls[one], self._attempts.calls[other], other)
        if not len(self.pairs) == len(self._gold.calls) == len(self._attempts.calls):
            yield from self._alone()

    def _alone(self) -> Iterator[Failure]:
        """Yield a failure for each wanted call that is missing, and each superfluous call."""
        met, used = {one for one, _ in self.pairs}, {other for _, other in self.pairs}
        for one, wanted in enumerate(self._gold.calls):
            if one not in met:
                yield Failure("missing-call", f"no call of {wanted.name!r}", f"expected[{one}]")
        for index, call in enumerate(self._attempts.calls):
            if index not in used and self._gold.match not in {"in_order", "superset"}:
                message = f"nobody asked for the call of {call.name!r:.60}"
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
    """Return the numbers of broken attempts to try as superfluous calls, to find the worst.

    `factor**(broken - more) / (made + more)` only grows beyond `-1 / log(factor)`.
    """
    if factor == 1.0:
        return (broken,)
    return range(1, min(broken, int(-1 / log(factor)) + 1 + wanted) + 1)


def unwanted(attempts: Attempts) -> tuple[Failure, ...]:
    """Return why a completion is wrong if no call is wanted."""
    notes = attempts.diagnoses[:_MOST_FAILURES] if attempts.broken else ()
    made = [Failure(note.code, note.message) for note in notes]
    for index, call in enumerate(attempts.calls[:_MOST_FAILURES]):
        message = f"wanted no call, got {call.name!r:.60}"
        made.append(Failure("unexpected-call", message, f"calls[{index}]"))
    if not made:
        made.append(Failure("no-words", "wanted an answer in words, and there is none"))
    return tuple(made[:_MOST_FAILURES])
