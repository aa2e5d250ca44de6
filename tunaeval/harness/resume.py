"""A run that was cut off and is to go on: what has to be the same, and what is finished already."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from tunaeval.errors import RecordError
from tunaeval.types.roles import Client
from tunaeval.types.runs import SCHEMA_VERSION, RunInfo, ScenarioResult, Suite

from .directory import read_info, read_results
from .options import model_of

Place = tuple[int, int]
"""Where a result belongs: the index of its scenario in the suite, and the repeat."""

_SAME = (
    "suite", "suite_digest", "client", "format", "level", "profile", "calls", "ask",
    "prompt_digest", "repeats", "attempts", "max_tokens", "temperature", "seed", "deadline_seconds",
)  # fmt: skip
"""What decides the results. How many are asked at once does not."""


@dataclass(frozen=True, slots=True)
class Begun:
    """A run as its directory has it: how it was made, and the results by their places."""

    info: RunInfo
    results: Mapping[Place, ScenarioResult] = field(default_factory=dict)

    def check_model(self, client: Client) -> None:
        """Raise `RecordError` when the client turns out to ask another model than before."""
        model, _ = model_of(client)
        if None not in (model, self.info.model) and model != self.info.model:
            raise RecordError(
                f"run {self.info.run_id!r} cannot be continued: the model was "
                f"{self.info.model!r} and is {model!r} now; ask the same, or begin another run"
            )


def begun(directory: Path, info: RunInfo, suite: Suite) -> Begun:
    """The run in a directory, to be continued as `info` would make it anew.

    Raises `RecordError` that names what differs, or what cannot be read.
    """
    old = read_info(directory)
    if old.rescored is not None:
        raise RecordError(
            f"{directory}: this run read the replies of {old.rescored.run_id!r} again and asked "
            "nobody, so there is nothing to continue; rescore that run once more"
        )
    if differ := [*_differences(old, info)]:
        raise RecordError(
            f"run {old.run_id!r} cannot be continued, because it was made otherwise: "
            f"{'; '.join(differ)}; give the options of then, or begin another run"
        )
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return Begun(
        old.model_copy(
            update={"resumed_at": [*old.resumed_at, now], "schema_version": SCHEMA_VERSION}
        ),
        dict(_placed(directory, suite)),
    )


def _differences(old: RunInfo, new: RunInfo) -> Iterator[str]:
    for name in _SAME:
        before, now = getattr(old, name), getattr(new, name)
        if before != now:
            yield f"{name} was {before!r:.80}, is {now!r:.80}"
    if None not in (old.model, new.model) and old.model != new.model:
        yield f"model was {old.model!r:.80}, is {new.model!r:.80}"
    before, now = (info.versions.get("tunaeval") for info in (old, new))
    if before != now:
        yield f"tunaeval was {before}, is {now}"


def _placed(directory: Path, suite: Suite) -> Iterator[tuple[Place, ScenarioResult]]:
    index = {scenario.id: at for at, scenario in enumerate(suite.scenarios)}
    for result in read_results(directory):
        if result.scenario not in index:
            raise RecordError(
                f"{directory}: there is a result of scenario {result.scenario!r}, which the suite "
                f"{suite.name!r} does not have; begin another run"
            )
        yield (index[result.scenario], result.repeat), result
