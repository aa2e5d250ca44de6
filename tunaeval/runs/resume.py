"""Continue an interrupted run: what must be unchanged, and what is finished already."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from tunaeval.errors import RecordError
from tunaeval.files.results import RESULTS_FILE, CountedResults
from tunaeval.reports.summary import INFRASTRUCTURE
from tunaeval.types.roles import Client
from tunaeval.types.runs import SCHEMA_VERSION, RunInfo, ScenarioResult, Suite

from .contact import HOPELESS
from .directory import found_results, placed_results, read_info
from .options import model_of

_SAME = (
    "suite", "suite_digest", "client", "format", "level", "profile", "calls", "abstain",
    "ask", "prompt_digest", "repeats", "attempts", "max_tokens", "temperature", "seed",
    "deadline_seconds",
)  # fmt: skip
"""Options that affect the results; `concurrency` does not."""

_DIGESTS = {
    "suite_digest": "the suite has other scenarios, tools or system prompt",
    "prompt_digest": "the model is given other words beside the questions",
}
"""The messages for digests that differ, because a digest itself says nothing to a reader."""


@dataclass(frozen=True, slots=True)
class Begun:
    """An interrupted run as found in its directory; `results` has the byte offset by place.

    `failed` are the places of infrastructure failures; `was_answered` says whether any request
    succeeded before; `size` is the size of the results file in bytes, and `doubled` the number of
    results that were there more than once.
    """

    info: RunInfo
    results: Mapping[int, int] = field(default_factory=dict)
    failed: frozenset[int] = frozenset()
    was_answered: bool = False
    size: int = 0
    doubled: int = 0

    def check_unchanged(self, directory: Path) -> None:
        """Raise `RecordError` if the results file has changed since it was read."""
        if _size(directory) != self.size:
            raise RecordError(
                f"run {self.info.run_id!r} was written by another process meanwhile; "
                "see whether it still goes on, and continue it then"
            )

    def check_model(self, client: Client) -> None:
        """Raise `RecordError` if the client turns out to use another model than before."""
        model, _ = model_of(client)
        if None not in (model, self.info.model) and model != self.info.model:
            raise RecordError(
                f"run {self.info.run_id!r} cannot be continued: the model was "
                f"{self.info.model!r} and is {model!r} now; ask the same, or begin another run"
            )


def begun(directory: Path, info: RunInfo, suite: Suite, *, retry: bool = False) -> Begun:
    """Return the run in a directory, to be continued; `info` is how it would be made anew.

    `retry` repeats infrastructure failures. Raises `RecordError`, naming what differs or cannot be
    read.
    """
    old = read_info(directory)
    if old.rescored is not None:
        raise RecordError(
            f"{directory}: this run read the replies of {old.rescored.run_id!r} again and asked "
            "nobody, so there is nothing to continue; rescore that run once more"
        )
    if differ := [*_differences(old, info)]:
        raise RecordError(
            f"run {old.run_id!r} cannot be continued, because it was made with other options: "
            f"{'; '.join(differ)}; give the options that it was begun with, or begin another run"
        )
    now = datetime.now(UTC).isoformat(timespec="seconds")
    size = _size(directory)
    places: dict[int, int] = {}
    failed: set[int] = set()
    was_answered = False
    found = found_results(directory, old)
    for place, offset, result in _found(directory, found, old, suite):
        places[place] = offset
        if result.outcome in INFRASTRUCTURE:
            failed.add(place)
        kind = None if result.error is None else result.error.partition(":")[0]
        was_answered = was_answered or kind not in HOPELESS
    changed = {"resumed_at": [*old.resumed_at, now], "schema_version": SCHEMA_VERSION}
    if retry and failed:
        changed["retried_at"] = [*old.retried_at, now]
    info = old.model_copy(update=changed)
    return Begun(info, places, frozenset(failed), was_answered, size, found.doubled)


def _size(directory: Path) -> int:
    try:
        return (directory / RESULTS_FILE).stat().st_size
    except FileNotFoundError:
        return 0


def _differences(old: RunInfo, new: RunInfo) -> Iterator[str]:
    if old.suite != new.suite:  # all else that a suite decides would differ, too
        yield f"suite was {old.suite!r:.80}, is {new.suite!r:.80}"
        return
    found = [name for name in _SAME if getattr(old, name) != getattr(new, name)]
    for name in found:
        before, now = getattr(old, name), getattr(new, name)
        if name not in _DIGESTS:
            yield f"{name} was {before!r:.80}, is {now!r:.80}"
        elif not {"ask", "suite_digest"} & set(found) - {name}:  # from which its change follows
            yield f"{_DIGESTS[name]} now"
    if None not in (old.model, new.model) and old.model != new.model:
        yield f"model was {old.model!r:.80}, is {new.model!r:.80}"
    before, now = (info.versions.get("tunaeval") for info in (old, new))
    if before != now:
        yield f"tunaeval was {before}, is {now}"


def _found(
    directory: Path, found: CountedResults, info: RunInfo, suite: Suite
) -> Iterator[tuple[int, int, ScenarioResult]]:
    """Yield each result that counts, with its place and the byte at which it begins."""
    index = {scenario.id: at for at, scenario in enumerate(suite.scenarios)}
    for offset, result in placed_results(directory, found):
        if result.scenario not in index:
            raise RecordError(
                f"{directory}: there is a result of scenario {result.scenario!r}, which the suite "
                f"{suite.name!r} does not have; begin another run"
            )
        if not 1 <= result.repeat <= info.repeats:
            raise RecordError(
                f"{directory}: there is a result of repeat {result.repeat}, and the run has "
                f"{info.repeats}; begin another run"
            )
        yield index[result.scenario] * info.repeats + result.repeat - 1, offset, result
