"""`match` for users: tools may be told in any shape that `to_tools` knows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tunaeval import matching
from tunaeval.matching import Verdict
from tunaeval.tools import ToolLike, to_tools
from tunaeval.types import ToolCall, Tools
from tunaeval.types.runs import Expectation


def match(
    expect: Expectation | Mapping[str, Any],
    calls: Sequence[ToolCall],
    *,
    profile: str = "strict",
    tools: Tools | Iterable[ToolLike] | None = None,
) -> Verdict:
    """Whether `calls` are what `expect` wants. Never raises on any calls.

    `tools` gives the schemas (defaults, number types) and the arguments that are paths; whoever
    matches often should hand in `Tools`, and an `Expectation` that was read once.
    An unknown profile raises `UnknownNameError`, an impossible expectation `ExpectationError`,
    tools that cannot be understood `ToolsError`.
    """
    return matching.match(expect, calls, profile=profile, tools=to_tools(tools))
