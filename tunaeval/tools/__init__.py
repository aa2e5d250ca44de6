"""Tools: how each way of describing one becomes a `ToolSpec`, and how runs of one are recorded."""

from .drift import Drift, Mention, find_drift
from .recorder import Recorder
from .specs import ToolLike, to_tools
from .tool_prompts import ToolPrompt, read_tool_prompt
from .wrapper import RecordingWrapper, wrap_tool

__all__ = [
    "Drift",
    "Mention",
    "Recorder",
    "RecordingWrapper",
    "ToolLike",
    "ToolPrompt",
    "find_drift",
    "read_tool_prompt",
    "to_tools",
    "wrap_tool",
]
