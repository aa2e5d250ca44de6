"""A check of what an episode left behind: no tool was called twice with the same arguments."""

from __future__ import annotations

from collections.abc import Sequence

import tunaeval


def no_call_twice(state: tunaeval.FinalState, spared: Sequence[str] = ()) -> tuple[bool, str]:
    """Whether all calls differ; tools that are `spared` may be called again."""
    seen: list[tunaeval.ToolCall] = []
    for call in state.calls:
        if call.name in spared:
            continue
        if any((call.name, call.arguments) == (one.name, one.arguments) for one in seen):
            return False, f"{call.name!r} was called twice with the same arguments"
        seen.append(call)
    return True, f"{len(seen)} calls, all different"
