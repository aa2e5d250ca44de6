"""What calls are worth beside those wanted: the parts of a reward, by the grading of its recipe."""

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

_MOST_FAILURES = 8
_LITTLE = 1e-9
"""What decides between pairs that a recipe makes worth the same."""

_ALONE = ((0, 0),)
"""The pairs of one call and one that is wanted."""

_HALF = 0.5
"""A factor of up to a half never costs less than one more call among those made."""


class Pair(NamedTuple):
    """A wanted call and one that was made of the same tool.

    `quality` are the factors of the call: it was repaired, or does not fit its schema. `worth` is
    what its arguments earn, `pull` what the pair is worth to the assignment.
    """

    quality: float
    worth: float
    whole: bool
    pull: float


class Credit:
    """One completion's calls beside one gold."""

    def __init__(self, gold: Gold, tried: Attempts, tools: Tools | None, recipe: Recipe) -> None:
        self._gold, self._tried, self._tools, self._recipe = gold, tried, tools, recipe
        self._known: dict[tuple[int, int], Pair | None] = {}
        self._soundness = [self._sound(index) for index in range(len(tried.calls))]
        self.pairs = self._paired() if tried.calls else ()

    def parts(self) -> Parts:
        """What is earned, from 0 to 1 each.

        A broken attempt costs a factor, or counts as a call too many: what costs more, so that
        nothing is gained by breaking a call that nobody wanted.
        """
        tried, factor = self._tried, self._recipe.broken
        if not tried.calls:
            return Parts()
        made, broken = len(tried.calls), tried.broken
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
        """Why the calls are not those wanted, the first few."""
        return tuple(islice(self._failures(), _MOST_FAILURES))

    # --- pairs -------------------------------------------------------------------------------

    def _paired(self) -> tuple[tuple[int, int], ...]:
        """The pairs of wanted and made calls that are worth most in all.

        Where each has its place, nobody knows the place of a call behind a broken one.
        """
        wanted, made = len(self._gold.calls), len(self._tried.calls)
        if wanted == made == 1 and not self._tried.broken:
            return _ALONE if self._pair(0, 0) is not None else ()
        if self._gold.match == "exactly":
            placed = made if self._tried.placed is None else self._tried.placed
            both = range(min(wanted, placed))
            return tuple((one, one) for one in both if self._pair(one, one) is not None)
        pairing = ordered_pairs if self._gold.match == "in_order" else best_pairs
        return pairing(wanted, made, self._pull)

    def _pull(self, one: int, other: int) -> float:
        pair = self._pair(one, other)
        return 0.0 if pair is None else pair.pull

    def _counted(self, made: int) -> int:
        """How many calls a share is of: those wanted, and those that nobody wanted."""
        wanted = len(self._gold.calls)
        return wanted if self._gold.match in {"in_order", "superset"} else max(wanted, made)

    # --- one pair ----------------------------------------------------------------------------

    def _pair(self, one: int, other: int) -> Pair | None:
        """How two calls go together; None where they are of different tools."""
        key = (one, other)
        if key not in self._known:
            wanted, call = self._gold.calls[one], self._tried.calls[other]
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
        """Whether the arguments are those wanted, and what they are worth by the grading."""
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
        tried = self._tried
        repaired = tried.calls[index].repairs or index in tried.fenced or index in tried.hedged
        return self._recipe.repaired if repaired else 1.0

    # --- what the pairs earn, by how many calls were made ---------------------------------------

    def _earner(self) -> Callable[[int], tuple[float, float]]:
        """The shares of names and of arguments."""
        pairs = [pair for key in self.pairs if (pair := self._known[key]) is not None]
        if self._recipe.grading == "toolrl":
            return self._toolrl(pairs)
        if self._recipe.grading == "whole":
            whole = self._counted(len(self._tried.calls)) == len(pairs) > 0
            sound = whole and not self._tried.broken
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
        """Names, and arguments, as shares of S = 1 + |G| + all wanted arguments."""
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
        for note in self._tried.diagnoses[:_MOST_FAILURES] if self._tried.broken else ():
            yield Failure(note.code, note.message)
        for index, call in enumerate(self._tried.calls):
            codes = sorted({repair.code for repair in call.repairs})
            codes += ["in a code fence"] * (index in self._tried.fenced)
            codes += ["a key twice, or two for one thing"] * (index in self._tried.hedged)
            if codes:
                yield Failure("repaired", ", ".join(codes), f"calls[{index}]")
        for one, other in self.pairs:
            pair = self._known[one, other]
            if pair is not None and not pair.whole:
                yield from self._misses(self._gold.calls[one], self._tried.calls[other], other)
        if not len(self.pairs) == len(self._gold.calls) == len(self._tried.calls):
            yield from self._alone()

    def _alone(self) -> Iterator[Failure]:
        """Calls that are wanted and not made, and made and not wanted."""
        met, used = {one for one, _ in self.pairs}, {other for _, other in self.pairs}
        for one, wanted in enumerate(self._gold.calls):
            if one not in met:
                yield Failure("missing-call", f"no call of {wanted.name!r}", f"expected[{one}]")
        for index, call in enumerate(self._tried.calls):
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
    """How many of the broken attempts may count as calls where that costs most.

    What is left, `factor**(broken - more) / (made + more)`, only grows from `-1 / log(factor)` on.
    """
    if factor == 1.0:
        return (broken,)
    return range(1, min(broken, int(-1 / log(factor)) + 1 + wanted) + 1)


def unwanted(tried: Attempts) -> tuple[Failure, ...]:
    """Why a completion is wrong where no call is wanted."""
    notes = tried.diagnoses[:_MOST_FAILURES] if tried.broken else ()
    made = [Failure(note.code, note.message) for note in notes]
    for index, call in enumerate(tried.calls[:_MOST_FAILURES]):
        message = f"wanted no call, got {call.name!r:.60}"
        made.append(Failure("unexpected-call", message, f"calls[{index}]"))
    if not made:
        made.append(Failure("no-words", "wanted an answer in words, and there is none"))
    return tuple(made[:_MOST_FAILURES])
