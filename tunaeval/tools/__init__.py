"""Tools: how each way of describing one becomes a `ToolSpec`, how they are run, and recorded.

Every parse comes by here to read its tools, so whatever else there is waits until it is named.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tunaeval.later import imported_later

from .specs import ToolLike, to_tools, tool_spec

if TYPE_CHECKING:
    # For type checkers; at run time `__getattr__` below imports them one by one.
    from .answering import call_id, call_of
    from .backoff import Backoff
    from .classifying import classifiers
    from .differences import Change
    from .drift import Drift, Mention, compare_tools, find_drift
    from .executor import (
        CATEGORIES,
        TUNACODE_CATEGORIES,
        Category,
        Executor,
        Pace,
        ToolResult,
        execute,
    )
    from .notes import named
    from .recorder import Recorder
    from .routing import Inbox, Router, SessionRecorder
    from .storages import STORAGES, ContextRecorder, ResultRecorder
    from .tool_prompts import ToolPrompt, read_tool_prompt
    from .wrapper import (
        RecordingWrapper,
        check_recorder,
        is_recorded,
        record_runs,
        recorders_of,
        wrap_tool,
    )

_MODULES = {
    "Backoff": "backoff",
    "CATEGORIES": "executor",
    "Category": "executor",
    "Change": "differences",
    "ContextRecorder": "storages",
    "Drift": "drift",
    "Executor": "executor",
    "Inbox": "routing",
    "Mention": "drift",
    "Pace": "executor",
    "Recorder": "recorder",
    "RecordingWrapper": "wrapper",
    "ResultRecorder": "storages",
    "Router": "routing",
    "STORAGES": "storages",
    "SessionRecorder": "routing",
    "TUNACODE_CATEGORIES": "executor",
    "ToolPrompt": "tool_prompts",
    "ToolResult": "executor",
    "call_id": "answering",
    "call_of": "answering",
    "check_recorder": "wrapper",
    "classifiers": "classifying",
    "compare_tools": "drift",
    "execute": "executor",
    "find_drift": "drift",
    "is_recorded": "wrapper",
    "named": "notes",
    "read_tool_prompt": "tool_prompts",
    "record_runs": "wrapper",
    "recorders_of": "wrapper",
    "wrap_tool": "wrapper",
}

__all__ = [
    "CATEGORIES",
    "STORAGES",
    "TUNACODE_CATEGORIES",
    "Backoff",
    "Category",
    "Change",
    "ContextRecorder",
    "Drift",
    "Executor",
    "Inbox",
    "Mention",
    "Pace",
    "Recorder",
    "RecordingWrapper",
    "ResultRecorder",
    "Router",
    "SessionRecorder",
    "ToolLike",
    "ToolPrompt",
    "ToolResult",
    "call_id",
    "call_of",
    "check_recorder",
    "classifiers",
    "compare_tools",
    "execute",
    "find_drift",
    "is_recorded",
    "named",
    "read_tool_prompt",
    "record_runs",
    "recorders_of",
    "to_tools",
    "tool_spec",
    "wrap_tool",
]


__getattr__ = imported_later(__name__, _MODULES)
