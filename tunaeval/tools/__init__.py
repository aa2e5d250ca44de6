"""Tools: how each way of describing one becomes a `ToolSpec`, how they are run, and recorded.

Every parse comes by here to read its tools, so whatever else there is waits until it is named.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from .answering import call_id, call_of
from .classifiers import classifiers
from .notes import named
from .recorder import Recorder
from .specs import ToolLike, to_tools
from .storages import STORAGES, ContextRecorder, ResultRecorder
from .wrapper import RecordingWrapper, is_recorded, record_runs, wrap_tool

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
    "STORAGES",
    "TUNACODE_CATEGORIES",
    "Backoff",
    "Category",
    "ContextRecorder",
    "Drift",
    "Executor",
    "Mention",
    "Pace",
    "Recorder",
    "RecordingWrapper",
    "ResultRecorder",
    "ToolLike",
    "ToolPrompt",
    "ToolResult",
    "call_id",
    "call_of",
    "classifiers",
    "execute",
    "find_drift",
    "is_recorded",
    "named",
    "read_tool_prompt",
    "record_runs",
    "to_tools",
    "wrap_tool",
]


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found: object = getattr(import_module(f".{_MODULES[name]}", __name__), name)
    globals()[name] = found
    return found
