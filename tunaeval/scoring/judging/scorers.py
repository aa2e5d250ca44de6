"""Scoring categories whose verdicts come from a judge in place of formulas."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tunaeval.errors import UsageError
from tunaeval.types.roles import Scorer, Transcript
from tunaeval.types.runs import CategoryScore

from .judge import Judge


class Sitting:
    """A judge's verdicts on one transcript; the first access asks for all of them at once."""

    def __init__(self, judge: Judge, names: frozenset[str]) -> None:
        self._judge = judge
        self._names = names
        self._verdicts: dict[str, CategoryScore] | None = None

    async def verdict(self, name: str, transcript: Transcript) -> CategoryScore:
        if self._verdicts is None:
            self._verdicts = await self._judge.judge(transcript, names=self._names)
        return self._verdicts[name]


@dataclass
class Judged:
    """A `Scorer` whose verdict comes from a sitting."""

    name: str
    weight: float
    sitting: Sitting

    async def score(self, transcript: Transcript) -> CategoryScore:
        return await self.sitting.verdict(self.name, transcript)


def judged(
    scorers: Sequence[Scorer], judge: Judge, *, but: frozenset[str] = frozenset()
) -> tuple[Scorer, ...]:
    """Return the categories, with the judge's verdicts in place of formulas and the same weights.

    `but` are categories that something else decides, so that the judge is not asked about them.
    Valid for one transcript. Raises UsageError if a category of the judge is not among them.
    """
    names = [scorer.name for scorer in scorers]
    for name in judge.categories:
        if name not in names:
            raise UsageError(
                f"the judge judges {name!r}, which is none of the categories: {', '.join(names)}; "
                "name others with Judge(categories=...)"
            )
    chosen = frozenset(judge.categories) - but
    sitting = Sitting(judge, chosen)
    return tuple(
        Judged(scorer.name, scorer.weight, sitting) if scorer.name in chosen else scorer
        for scorer in scorers
    )
