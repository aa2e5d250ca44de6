"""Compare a judge with labels: how often they agree, and what changes its verdicts.

Every labelled transcript is judged once as the judge is set, again `repeats` times, and once with
the orders swapped. Each payload is put into one transcript that the judge failed, in rotation.
Judge failures are counted separately and take part in nothing else.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from statistics import fmean
from typing import NamedTuple, TypeAlias

from tunaeval.errors import UsageError
from tunaeval.reports.statistics import Corrected, cohen_kappa, rogan_gladen, wilson
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
    """How a judge is calibrated; a score passes from `threshold` up.

    `heard` is called with each transcript's id once all but its payloads has been judged.
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
    """Return figures on all labelled transcripts. Raises UsageError without a usable label."""
    settings = settings or Calibrating()
    names = [name for name in judge.categories if any(name in one.label for one in labels.items)]
    if not names:
        raise UsageError(
            f"the labels have none of the judge's categories: {', '.join(judge.categories)}"
        )
    cases = await _cases(replace(judge, calibration=None), labels.items, settings)
    return Calibration(
        made_at=datetime.now(UTC).isoformat(timespec="seconds"),
        client=judge.client.name,
        judge=judge.identity,  # read after the requests, when the model is known
        labels=labels.info,
        threshold=settings.threshold,
        repeats=settings.repeats,
        payloads=len(PAYLOADS),
        categories={
            name: _figures([one for one in cases if name in one.item.label], name, settings)
            for name in names
        },
    )


class _Case(NamedTuple):
    """A labelled transcript with all verdicts of the judge on it."""

    item: Labelled
    first: Verdicts
    again: tuple[Verdicts, ...]
    orders: tuple[Verdicts, Verdicts]
    injected: tuple[Verdicts, ...] = ()


async def _cases(judge: Judge, items: Sequence[Labelled], settings: Calibrating) -> list[_Case]:
    places = asyncio.Semaphore(settings.concurrency)
    one_way = replace(judge, swap=False)
    other_way = replace(one_way, order="swapped" if judge.order == "as-written" else "as-written")

    async def verdicts(of: Judge, transcript: Transcript, sitting: int = 0) -> Verdicts:
        async with places:
            return await of.judge(transcript, sitting=sitting)

    async def one(item: Labelled) -> _Case:
        first = await verdicts(judge, item.transcript)
        again = [
            await verdicts(judge, item.transcript, sitting)
            for sitting in range(1, settings.repeats + 1)
        ]
        plain = await verdicts(one_way, item.transcript) if judge.swap else first
        turned = await verdicts(other_way, item.transcript)
        if settings.heard:
            settings.heard(item.id)
        return _Case(item, first, tuple(again), (plain, turned))

    cases = list(await asyncio.gather(*map(one, items)))
    payloads = [
        (index, verdicts(judge, injected(cases[index].item.transcript, payload)))
        for index, payload in _assigned(cases, settings.threshold)
    ]
    given = await asyncio.gather(*(verdict for _, verdict in payloads))
    for (index, _), verdict in zip(payloads, given, strict=True):
        cases[index] = cases[index]._replace(injected=(*cases[index].injected, verdict))
    return cases


def _assigned(cases: Sequence[_Case], threshold: float) -> Iterable[tuple[int, str]]:
    """Pair each payload, in rotation, with the index of a transcript that failed."""
    failed = [
        index
        for index, one in enumerate(cases)
        if not is_idle(one.item.transcript)  # a judge is not asked about these
        and any(_good(verdict, threshold) is False for verdict in one.first.values())
    ]
    for turn, payload in enumerate(PAYLOADS.values()):
        if failed:
            yield failed[turn % len(failed)], payload


def _figures(cases: Sequence[_Case], name: str, settings: Calibrating) -> CategoryCalibration:
    threshold = settings.threshold
    pairs = [
        (one.item.label[name] >= threshold, _good(one.first[name], threshold)) for one in cases
    ]
    judged = [(label, passes) for label, passes in pairs if passes is not None]
    good, bad = ([passes for label, passes in judged if label is kind] for kind in (True, False))
    passes = [passes for _, passes in judged]
    right_of_bad = [not passes for passes in bad]
    return CategoryCalibration(
        labelled=len(cases),
        failures=wilson(len(pairs) - len(judged), len(pairs)),
        first_failure=_first_failure(cases, name),
        kappa=cohen_kappa(judged),
        sensitivity=_rate(good),
        specificity=_rate(right_of_bad),
        passed=_rate(passes),
        corrected=_corrected(passes, good, right_of_bad),
        swap_flips=_flips([one.orders for one in cases], name, threshold),
        repeat_flips=_flips(
            [(one.first, again) for one in cases for again in one.again], name, threshold
        ),
        injection_flips=_flips(
            [
                (one.first, moved)
                for one in cases
                for moved in one.injected
                if _good(one.first[name], threshold) is False
            ],
            name,
            threshold,
        ),
        injection_shift=_shift(cases, name),
    )


def _good(verdict: CategoryScore, threshold: float) -> bool | None:
    return None if verdict.value is None else verdict.value >= threshold


def _rate(outcomes: Sequence[bool]) -> Rate:
    return wilson(sum(outcomes), len(outcomes))


def _flips(pairs: Iterable[tuple[Verdicts, Verdicts]], name: str, threshold: float) -> Rate:
    """Return the share of pairs that differ, among those with two verdicts."""
    both = [(_good(one[name], threshold), _good(other[name], threshold)) for one, other in pairs]
    return _rate([one != other for one, other in both if one is not None and other is not None])


def _first_failure(cases: Sequence[_Case], name: str) -> str | None:
    verdicts = (one.first[name] for one in cases)
    return next((verdict.reason for verdict in verdicts if verdict.value is None), None)


def _shift(cases: Sequence[_Case], name: str) -> float | None:
    pairs = [(one.first[name].value, moved[name].value) for one in cases for moved in one.injected]
    moves = [after - before for before, after in pairs if before is not None and after is not None]
    return fmean(moves) if moves else None


def _corrected(
    passes: Sequence[bool], good: Sequence[bool], right_of_bad: Sequence[bool]
) -> Corrected | None:
    try:
        return rogan_gladen(
            (sum(passes), len(passes)),
            (sum(good), len(good)),
            (sum(right_of_bad), len(right_of_bad)),
        )
    except ValueError:
        return None
