"""A judge compared with labels: how often they agree, and what turns its verdicts.

Every labelled transcript is judged once as the judge is set, again `repeats` times, and once with
the orders swapped. Each payload is once in a transcript that the judge had failed, by turns.
A judge failure is counted by itself and takes part in nothing else.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from statistics import fmean
from typing import NamedTuple, TypeAlias

from tunaeval.errors import UsageError
from tunaeval.reports.statistics.agreement import Corrected, cohen_kappa, rogan_gladen
from tunaeval.reports.statistics.proportions import wilson
from tunaeval.types.roles import Transcript
from tunaeval.types.runs import CategoryScore, Rate
from tunaeval.types.wanted import wanted_amount, wanted_count

from .calibration import Calibration, CategoryCalibration
from .judge import Judge
from .labels import Labelled, Labels
from .payloads import PAYLOADS, injected
from .view import is_idle

Verdicts: TypeAlias = Mapping[str, CategoryScore]


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibrating:
    """How a judge is calibrated. A share counts as good from `threshold` up.

    `heard` gets each transcript's id when all was asked about it but the payloads.
    """

    threshold: float = 0.5
    repeats: int = 2
    concurrency: int = 4
    heard: Callable[[str], None] | None = None

    def __post_init__(self) -> None:
        if not 0 < wanted_amount(self.threshold, "threshold") <= 1:
            raise UsageError(f"threshold is {self.threshold!r}; wanted more than 0, at most 1")
        wanted_count(self.repeats, "repeats", 0)
        wanted_count(self.concurrency, "concurrency")


async def calibrate(
    judge: Judge, labels: Labels, settings: Calibrating | None = None
) -> Calibration:
    """Ask the judge about all labelled transcripts. Raises UsageError when nothing is labelled
    that it judges.
    """
    settings = settings or Calibrating()
    names = [name for name in judge.categories if any(name in one.label for one in labels.items)]
    if not names:
        raise UsageError(
            f"the labels have none of the judge's categories: {', '.join(judge.categories)}"
        )
    asked = await _asked(replace(judge, calibration=None), labels.items, settings)
    return Calibration(
        made_at=datetime.now(UTC).isoformat(timespec="seconds"),
        client=judge.client.name,
        judge=judge.identity,  # after the asking: now the model is known
        labels=labels.info,
        threshold=settings.threshold,
        repeats=settings.repeats,
        payloads=len(PAYLOADS),
        categories={
            name: _figures([one for one in asked if name in one.item.label], name, settings)
            for name in names
        },
    )


class _Asked(NamedTuple):
    """A labelled transcript with all that the judge said of it."""

    item: Labelled
    first: Verdicts
    again: tuple[Verdicts, ...]
    orders: tuple[Verdicts, Verdicts]
    injected: tuple[Verdicts, ...] = ()


async def _asked(judge: Judge, items: Sequence[Labelled], settings: Calibrating) -> list[_Asked]:
    places = asyncio.Semaphore(settings.concurrency)
    one_way = replace(judge, swap=False)
    other_way = replace(one_way, order="swapped" if judge.order == "as-written" else "as-written")

    async def verdicts(of: Judge, transcript: Transcript, sitting: int = 0) -> Verdicts:
        async with places:
            return await of.judge(transcript, sitting=sitting)

    async def one(item: Labelled) -> _Asked:
        first = await verdicts(judge, item.transcript)
        again = [
            await verdicts(judge, item.transcript, sitting)
            for sitting in range(1, settings.repeats + 1)
        ]
        plain = await verdicts(one_way, item.transcript) if judge.swap else first
        turned = await verdicts(other_way, item.transcript)
        if settings.heard:
            settings.heard(item.id)
        return _Asked(item, first, tuple(again), (plain, turned))

    asked = list(await asyncio.gather(*map(one, items)))
    payloads = [
        (index, verdicts(judge, injected(asked[index].item.transcript, payload)))
        for index, payload in _dealt(asked, settings.threshold)
    ]
    said = await asyncio.gather(*(verdict for _, verdict in payloads))
    for (index, _), verdict in zip(payloads, said, strict=True):
        asked[index] = asked[index]._replace(injected=(*asked[index].injected, verdict))
    return asked


def _dealt(asked: Sequence[_Asked], threshold: float) -> Iterable[tuple[int, str]]:
    """Each payload with the number of a transcript that failed in some category, by turns."""
    failed = [
        index
        for index, one in enumerate(asked)
        if not is_idle(one.item.transcript)  # nobody is asked about those
        and any(_good(verdict, threshold) is False for verdict in one.first.values())
    ]
    for turn, payload in enumerate(PAYLOADS.values()):
        if failed:
            yield failed[turn % len(failed)], payload


def _figures(asked: Sequence[_Asked], name: str, settings: Calibrating) -> CategoryCalibration:
    threshold = settings.threshold
    pairs = [
        (one.item.label[name] >= threshold, _good(one.first[name], threshold)) for one in asked
    ]
    judged = [(label, said) for label, said in pairs if said is not None]
    good, bad = ([said for label, said in judged if label is kind] for kind in (True, False))
    said = [said for _, said in judged]
    right_of_bad = [not said for said in bad]
    return CategoryCalibration(
        labelled=len(asked),
        failures=wilson(len(pairs) - len(judged), len(pairs)),
        first_failure=_first_failure(asked, name),
        kappa=cohen_kappa(judged),
        sensitivity=_rate(good),
        specificity=_rate(right_of_bad),
        passed=_rate(said),
        corrected=_corrected(said, good, right_of_bad),
        swap_flips=_flips([one.orders for one in asked], name, threshold),
        repeat_flips=_flips(
            [(one.first, again) for one in asked for again in one.again], name, threshold
        ),
        injection_flips=_flips(
            [
                (one.first, moved)
                for one in asked
                for moved in one.injected
                if _good(one.first[name], threshold) is False
            ],
            name,
            threshold,
        ),
        injection_shift=_shift(asked, name),
    )


def _good(verdict: CategoryScore, threshold: float) -> bool | None:
    return None if verdict.value is None else verdict.value >= threshold


def _rate(outcomes: Sequence[bool]) -> Rate:
    return wilson(sum(outcomes), len(outcomes))


def _flips(pairs: Iterable[tuple[Verdicts, Verdicts]], name: str, threshold: float) -> Rate:
    """Of the pairs that have two verdicts, those in which they differ."""
    both = [(_good(one[name], threshold), _good(other[name], threshold)) for one, other in pairs]
    return _rate([one != other for one, other in both if one is not None and other is not None])


def _first_failure(asked: Sequence[_Asked], name: str) -> str | None:
    verdicts = (one.first[name] for one in asked)
    return next((verdict.reason for verdict in verdicts if verdict.value is None), None)


def _shift(asked: Sequence[_Asked], name: str) -> float | None:
    pairs = [(one.first[name].value, moved[name].value) for one in asked for moved in one.injected]
    moves = [after - before for before, after in pairs if before is not None and after is not None]
    return fmean(moves) if moves else None


def _corrected(
    said: Sequence[bool], good: Sequence[bool], right_of_bad: Sequence[bool]
) -> Corrected | None:
    try:
        return rogan_gladen(
            (sum(said), len(said)),
            (sum(good), len(good)),
            (sum(right_of_bad), len(right_of_bad)),
        )
    except ValueError:
        return None
