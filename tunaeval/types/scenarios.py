"""Scenarios, and a sequence that keeps many of them in little memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal, TypeAlias, overload

import orjson
from pydantic import ConfigDict, Field

from tunaeval.showing import counted

from .calls import Tools
from .expected import Expectation
from .rates import Data
from .tasks import Task

Difficulty: TypeAlias = Literal["easy", "medium", "hard"]


class Scenario(Data):
    """A question and what is expected of the answer. `expect` is checked when a suite is loaded."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    id: str
    prompt: str
    expect: Expectation
    messages: tuple[dict[str, Any], ...] = ()
    """The messages before the prompt, in the shape of OpenAI's API."""
    tools: Tools | None = None
    """The tools of this scenario; None means those of the suite."""
    abstain: tuple[str, ...] = ()
    """Names whose calls mean no call in this scenario, beside those of the suite."""
    task: Task | None = None
    """Makes the scenario an episode of many turns in a workspace; None is a single question."""
    tags: tuple[str, ...] = ()
    group: str | None = None
    """Scenarios that depend on each other, as from one template: a cluster for intervals."""
    weight: float = Field(default=1.0, ge=0, allow_inf_nan=False)
    """The scenario's weight in the weighted score; all other rates count each scenario once."""
    difficulty: Difficulty | None = None
    sources: tuple[str, ...] = ()
    """Where the scenario comes from: addresses, papers, issues."""
    notes: str = ""
    metadata: dict[str, Any] = Field(default_factory=dict)


class PackedScenarios(Sequence[Scenario]):
    """Scenarios stored as JSON and parsed on access; equal to a tuple of the same scenarios. A
    small scenario takes 3 KB as an object and about 200 bytes here. Scenarios that JSON cannot
    represent exactly, and those with their own tools or task, stay objects.
    """

    __slots__ = ("_kept",)

    def __init__(self, scenarios: Iterable[Scenario]) -> None:
        self._kept = tuple(map(_packed, scenarios))

    def __len__(self) -> int:
        return len(self._kept)

    @overload
    def __getitem__(self, index: int) -> Scenario: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Scenario]: ...
    def __getitem__(self, index: int | slice) -> Scenario | Sequence[Scenario]:
        if isinstance(index, slice):
            part = PackedScenarios(())
            part._kept = self._kept[index]
            return part
        return _unpacked(self._kept[index])

    def __iter__(self) -> Iterator[Scenario]:
        return map(_unpacked, self._kept)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PackedScenarios | tuple | list):
            return False
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    def __hash__(self) -> int:
        return hash(len(self))

    def __repr__(self) -> str:
        return f"<{counted(len(self), 'scenario')}>"


_EXACT = orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_PASSTHROUGH_SUBCLASS
"""Makes orjson refuse values that it would write although they are not plain JSON."""


def _packed(scenario: Scenario) -> Scenario | bytes:
    if scenario.tools is not None or scenario.task is not None:
        return scenario
    try:
        packed = orjson.dumps(scenario.model_dump(exclude_defaults=True), option=_EXACT)
        if _unpacked(packed) != scenario:
            return scenario
        return bytes(memoryview(packed))  # a copy, as orjson's own object keeps its buffer of 4 KB
    except (TypeError, ValueError, RecursionError):
        return scenario


def _unpacked(packed: Scenario | bytes) -> Scenario:
    return Scenario.model_validate_json(packed) if isinstance(packed, bytes) else packed
