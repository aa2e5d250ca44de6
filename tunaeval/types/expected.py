"""What a scenario expects of a model's calls."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from pydantic import Field

from .rates import Data

MatchMode: TypeAlias = Literal["exactly", "in_order", "any_order", "subset", "superset"]


class ExpectedCall(Data):
    """A call that is wanted: a tool and the arguments that matter."""

    name: str
    arguments: dict[str, Any] = Field(default_factory=dict)


class Expectation(Data):
    """What a scenario wants: calls, or a sequence of tool names, or no call at all. It is checked
    and compared by `tunaeval.matching`, which also has the matchers for arguments.
    """

    calls: tuple[ExpectedCall, ...] | None = None
    match: MatchMode = "exactly"
    tools: tuple[str, ...] | None = None
    none: bool = False
    forbid: tuple[str, ...] = ()
    min_calls: int | None = None
    max_calls: int | None = None
