"""Tools: how each way of describing one becomes a `ToolSpec`, how they are run, and recorded."""

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
from .recorder import Recorder
from .specs import ToolLike, to_tools
from .tool_prompts import ToolPrompt, read_tool_prompt
from .wrapper import RecordingWrapper, wrap_tool

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
