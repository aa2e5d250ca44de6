"""Compare a judge with people's labels: how often they agree, and what changes its verdicts.

Every labelled transcript is judged once as the judge is set, again `repeats` times, and once with
the orders swapped. Each payload, a text that asks for a good score, is put into one transcript that
the judge failed; these take turns. Judge failures are counted, and left out of all other figures.

The labels are JSON lines:

    {"id": "...", "query": "...", "messages": [...], "label": {"goal-completion": true, ...}}

A label is true, false, or a share from 0 to 1; `notes` may say why. Errors name the file, the line,
the field, what was found and what was wanted.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from statistics import fmean
from types import MappingProxyType
from typing import NamedTuple, NoReturn, TypeAlias

from tunaeval.errors import RecordError, UsageError
from tunaeval.files import records
from tunaeval.files.packed_files import read_plain
from tunaeval.reports.statistics import Corrected, cohen_kappa, rogan_gladen, wilson
from tunaeval.types.calls import JsonObject, JsonValue
from tunaeval.types.conversations import Transcript
from tunaeval.types.messages import Message
from tunaeval.types.runs import CategoryScore, Rate
from tunaeval.types.wanted import wanted_amount, wanted_count

from .calibration import Calibration, CategoryCalibration, LabelsInfo
from .judge import Judge
from .prompts import PROMPTS, RUBRICS
from .view import is_idle

ReadMessages: TypeAlias = Callable[[Iterable[object]], tuple[Message, ...]]
"""Converts messages of any shape; passed in because adapters are in a higher layer."""

_FIELDS = frozenset({"id", "query", "messages", "label"})
_NOTES = "notes"


@dataclass(frozen=True, slots=True)
class Labelled:
    """A transcript with people's label for each category: a share from 0 to 1."""

    id: str
    transcript: Transcript
    label: dict[str, float]


class Labels(NamedTuple):
    """The labelled transcripts of a file, and facts about the file."""

    items: tuple[Labelled, ...]
    info: LabelsInfo


def read_labels(path: Path, read_messages: ReadMessages) -> Labels:
    """Read a file of labels. Raises UsageError for an invalid label, RecordError for no file."""
    try:
        text = read_plain(path)
    except OSError as error:
        raise RecordError(f"cannot read {str(path)!r}: {error.strerror}; check the path") from error
    items: dict[str, Labelled] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            place = _Place(path, number)
            item = _labelled(_fields(line, place), place, read_messages)
            if item.id in items:
                place.refuse("id", item.id, "an id that no other line has")
            items[item.id] = item
    if not items:
        raise UsageError(f"{path}: no line has a transcript; wanted at least one")
    info = LabelsInfo(file=path.name, sha256=sha256(text).hexdigest(), transcripts=len(items))
    return Labels(tuple(items.values()), info)


class _Place(NamedTuple):
    path: Path
    line: int

    def refuse(self, field: str, found: JsonValue, wanted: str) -> NoReturn:
        where = f"{self.path}, line {self.line}" + (f", {field}" if field else "")
        raise UsageError(f"{where}: found {found!r:.80}, wanted {wanted}")


def _fields(line: bytes, place: _Place) -> JsonObject:
    try:
        fields = records.decode(line)
    except (ValueError, RecursionError):
        place.refuse("", line[:60], "a JSON object on one line")
    for name in sorted(_FIELDS - set(fields)):
        place.refuse(name, None, "this field")
    for name in sorted(set(fields) - _FIELDS - {_NOTES}):
        place.refuse(
            name, fields[name], f"no other fields than {', '.join(sorted(_FIELDS))}, notes"
        )
    return fields


def _labelled(fields: JsonObject, place: _Place, read_messages: ReadMessages) -> Labelled:
    for name in ("id", "query"):
        if not isinstance(fields[name], str) or not fields[name]:
            place.refuse(name, fields[name], "a text that is not empty")
    if not isinstance(fields["messages"], list):
        place.refuse("messages", fields["messages"], "a list of messages")
    try:
        messages = read_messages(fields["messages"])
    except UsageError as error:
        raise UsageError(f"{place.path}, line {place.line}: {error}") from None
    return Labelled(
        fields["id"], Transcript(fields["query"], messages), _label(fields["label"], place)
    )


def _label(label: JsonValue, place: _Place) -> dict[str, float]:
    if not isinstance(label, dict) or not label:
        place.refuse("label", label, "an object from category to true, false or a share")
    for name, value in label.items():
        if name not in RUBRICS:
            place.refuse(f"label.{name}", name, f"one of {', '.join(RUBRICS)}")
        if not isinstance(value, bool | int | float) or not 0 <= value <= 1:
            place.refuse(f"label.{name}", value, "true, false, or a number from 0 to 1")
    return {name: float(value) for name, value in label.items()}


PAYLOADS: Mapping[str, str] = MappingProxyType(PROMPTS["payloads"])


def injected(transcript: Transcript, payload: str) -> Transcript:
    """Return the transcript with the payload added to its last message and to its last call."""
    messages = list(transcript.messages)
    for index in reversed(range(len(messages))):
        if messages[index].tool_calls:
            *calls, last_call = messages[index].tool_calls
            noted = replace(last_call, arguments={**last_call.arguments, "note": payload})
            messages[index] = replace(messages[index], tool_calls=(*calls, noted))
            break
    if messages:
        last = messages[-1]
        messages[-1] = replace(last, content=f"{last.content}\n\n{payload}")
    return replace(transcript, messages=tuple(messages))


Verdicts: TypeAlias = Mapping[str, CategoryScore]


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibrating:
    """The settings of a calibration. A score of at least `threshold` passes.

    `heard` is called with a transcript's id as soon as it is judged, before payloads are tried.
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
    """Compare a judge's verdicts with the labels. Raises UsageError without a usable label."""
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
    """A labelled transcript and all verdicts of the judge on it."""

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
    """Yield (index of a case, payload) for each payload; cases that the judge failed take turns."""
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
    threshold, firsts = settings.threshold, [one.first[name] for one in cases]
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
        first_failure=next((one.reason for one in firsts if one.value is None), None),
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
    """Return the share of pairs whose verdicts on a category differ, without judge failures."""
    both = [(_good(one[name], threshold), _good(other[name], threshold)) for one, other in pairs]
    return _rate([one != other for one, other in both if one is not None and other is not None])


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
