"""A judge in the place of formulas: scoring categories whose verdicts it gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tunaeval.errors import UsageError
from tunaeval.types.roles import Scorer, Transcript
from tunaeval.types.runs import CategoryScore

from .judge import Judge


class Sitting:
    """A judge's verdicts on one transcript: all are asked for at once, when the first is wanted."""

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
    """A `Scorer` that reads its verdict from a sitting."""

    name: str
    weight: float
    sitting: Sitting

    async def score(self, transcript: Transcript) -> CategoryScore:
        return await self.sitting.verdict(self.name, transcript)


def judged(
    scorers: Sequence[Scorer], judge: Judge, *, but: frozenset[str] = frozenset()
) -> tuple[Scorer, ...]:
    """The same categories, those of the judge with its verdict and their old weight.

    `but` are categories that the judge is not asked about, because something else decides them.
    For one transcript. Raises UsageError when none of them is called as the judge's category.
    """
    names = [scorer.name for scorer in scorers]
    for name in judge.categories:
        if name not in names:
            raise UsageError(
                f"the judge judges {name!r}, which is none of the categories: {', '.join(names)}; "
                "name others with Judge(categories=...)"
            )
    asked = frozenset(judge.categories) - but
    sitting = Sitting(judge, asked)
    return tuple(
        Judged(scorer.name, scorer.weight, sitting) if scorer.name in asked else scorer
        for scorer in scorers
    )
