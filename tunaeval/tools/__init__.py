"""Tools: how each way of describing one becomes a `ToolSpec`, how they are run, and recorded.

Every parse comes by here to read its tools, so whatever else there is waits until it is named.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from .recorder import Recorder
from .specs import ToolLike, to_tools
from .wrapper import RecordingWrapper, wrap_tool

if TYPE_CHECKING:
    # For type checkers; at run time `__getattr__` below imports them one by one.
    from .backoff import Backoff
    from .drift import Drift, Mention, find_drift
    from .executor import (
        CATEGORIES,
        TUNACODE_CATEGORIES,
        Category,
        Executor,
        Pace,
        ToolResult,
        execute,
    )
    from .tool_prompts import ToolPrompt, read_tool_prompt

_MODULES = {
    "Backoff": "backoff",
    "CATEGORIES": "executor",
    "Category": "executor",
    "Drift": "drift",
    "Executor": "executor",
    "Mention": "drift",
    "Pace": "executor",
    "TUNACODE_CATEGORIES": "executor",
    "ToolPrompt": "tool_prompts",
    "ToolResult": "executor",
    "execute": "executor",
    "find_drift": "drift",
    "read_tool_prompt": "tool_prompts",
}

__all__ = [
    "CATEGORIES",
    "TUNACODE_CATEGORIES",
    "Backoff",
    "Category",
    "Drift",
    "Executor",
    "Mention",
    "Pace",
    "Recorder",
    "RecordingWrapper",
    "ToolLike",
    "ToolPrompt",
    "ToolResult",
    "execute",
    "find_drift",
    "read_tool_prompt",
    "to_tools",
    "wrap_tool",
]


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found: object = getattr(import_module(f".{_MODULES[name]}", __name__), name)
    globals()[name] = found
    return found
