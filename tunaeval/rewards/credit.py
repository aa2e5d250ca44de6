"""What calls are worth beside those wanted: the parts of a reward, by the grading of its recipe."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from math import fsum

from tunaeval.matching import (
    Failure,
    Likeness,
    best_pairs,
    call_misses,
    likeness,
    ordered_pairs,
)
from tunaeval.parsing import fits
from tunaeval.types import ToolCall, Tools

from .gold import Gold, Wanted
from .reading import Attempts
from .recipe import Parts, Recipe

_SAME = Likeness(0, 0, 0, 0)
_MOST_FAILURES = 8
_LITTLE = 1e-9
"""What decides between pairs that a recipe makes worth the same."""

_HALF = 0.5
"""A factor of up to a half never costs less than one more call among those made."""


class Credit:
    """One completion's calls beside one gold."""

    def __init__(self, gold: Gold, tried: Attempts, tools: Tools | None, recipe: Recipe) -> None:
        self._gold, self._tried, self._tools, self._recipe = gold, tried, tools, recipe
        self._likenesses: dict[tuple[int, int], Likeness | None] = {}
        self._soundness = [self._sound(index) for index in range(len(tried.calls))]
        grade = {"arguments": self._share, "whole": self._whole, "toolrl": self._counts}
        self._grade: Callable[[int, int], float] = grade[recipe.grading]
        self.pairs = self._paired()

    def parts(self) -> Parts:
        """What is earned, from 0 to 1 each.

        A broken attempt costs a factor, or counts as a call too many: what costs more, so that
        nothing is gained by breaking a call that nobody wanted.
        """
        tried, factor = self._tried, self._recipe.broken
        if not tried.calls:
            return Parts()
        made, broken = len(tried.calls), tried.broken
        lost = factor**broken
        written = lost * fsum(self._soundness) / (made + broken)
        earned = self._earner()
        name, arguments = (lost * share for share in earned(made))
        if factor > _HALF and self._recipe.grading != "whole":
            for more in range(1, broken + 1):
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
        if self._gold.match == "exactly":
            placed = made if self._tried.placed is None else self._tried.placed
            both = range(min(wanted, placed))
            return tuple((one, one) for one in both if self._likeness(one, one) is not None)
        pairing = ordered_pairs if self._gold.match == "in_order" else best_pairs
        return pairing(wanted, made, self._pull)

    def _pull(self, one: int, other: int) -> float:
        """What a pair is worth to the assignment; a pair of one name is worth something."""
        if self._likeness(one, other) is None:
            return 0.0
        recipe = self._recipe
        size = 1 + len(self._gold.calls[one].arguments) if recipe.grading == "toolrl" else 1
        worth = (recipe.arguments or _LITTLE) * self._worth(one, other) * size
        return worth + (recipe.name or _LITTLE) * self._quality(one, other) + _LITTLE

    def _counted(self, made: int) -> int:
        """How many calls a share is of: those wanted, and those that nobody wanted."""
        wanted = len(self._gold.calls)
        return wanted if self._gold.match in {"in_order", "superset"} else max(wanted, made)

    # --- one pair ----------------------------------------------------------------------------

    def _likeness(self, one: int, other: int) -> Likeness | None:
        """How alike two calls are; None where they are of different tools."""
        key = (one, other)
        if key not in self._likenesses:
            wanted, call = self._gold.calls[one], self._tried.calls[other]
            found = None
            if wanted.name == call.name:
                spec = self._tools.get(call.name) if self._tools is not None else None
                literal = self._gold.literal
                found = likeness(wanted.arguments, call.arguments, spec, literal=literal)
            self._likenesses[key] = found
        return self._likenesses[key]

    def _worth(self, one: int, other: int) -> float:
        return self._quality(one, other) * self._grade(one, other)

    def _share(self, one: int, other: int) -> float:
        """The share of arguments that are right, of all that are wanted or there."""
        right, _, _, every = self._likeness(one, other) or _SAME
        return right / every if every else 1.0

    def _whole(self, one: int, other: int) -> float:
        return float(self._share(one, other) == 1.0)

    def _counts(self, one: int, other: int) -> float:
        """ToolRL's r_param and r_value of a pair, as a share of the most that they can be."""
        right, named, wanted, every = self._likeness(one, other) or _SAME
        return ((named / every if every else 1.0) + right) / (1 + wanted)

    def _quality(self, one: int, other: int) -> float:
        """The factors of a call: it was repaired, or does not fit its schema."""
        sound = self._soundness[other]
        if self._tools is None or self._whole(one, other):
            return sound
        call = self._tried.calls[other]
        fitting = fits(call.name, call.arguments, self._tools)
        return sound if fitting else sound * self._recipe.misfit

    def _sound(self, index: int) -> float:
        tried = self._tried
        repaired = tried.calls[index].repairs or index in tried.fenced or index in tried.hedged
        return self._recipe.repaired if repaired else 1.0

    # --- what the pairs earn, by how many calls were made ---------------------------------------

    def _earner(self) -> Callable[[int], tuple[float, float]]:
        """The shares of names and of arguments."""
        if self._recipe.grading == "toolrl":
            return self._toolrl()
        worths = [self._worth(*pair) for pair in self.pairs]
        if self._recipe.grading == "whole":
            whole = self._counted(len(self._tried.calls)) == len(self.pairs) > 0
            least = min(worths) if whole and not self._tried.broken else 0.0
            return lambda _: (least, least)
        name, arguments = fsum(self._quality(*pair) for pair in self.pairs), fsum(worths)

        def shares(made: int) -> tuple[float, float]:
            every = self._counted(made) or 1
            return name / every, arguments / every

        return shares

    def _toolrl(self) -> Callable[[int], tuple[float, float]]:
        """Names, and arguments, as shares of S = 1 + |G| + all wanted arguments."""
        gold, most, both = len(self._gold.calls), self._gold.size, len(self.pairs)
        named = fsum(self._quality(*pair) for pair in self.pairs)
        matched = fsum(
            self._worth(one, other) * (1 + len(self._gold.calls[one].arguments))
            for one, other in self.pairs
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
            codes += ["a key twice"] * (index in self._tried.hedged)
            if codes:
                yield Failure("repaired", ", ".join(codes), f"calls[{index}]")
        for one, other in self.pairs:
            if not self._whole(one, other):
                yield from self._misses(self._gold.calls[one], self._tried.calls[other], other)
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
