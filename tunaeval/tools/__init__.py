"""Tools: how each way of describing one becomes a `ToolSpec`, and how runs of one are recorded."""

from .recorder import Recorder
from .specs import ToolLike, to_tools
from .wrapper import RecordingWrapper, wrap_tool

__all__ = ["Recorder", "RecordingWrapper", "ToolLike", "to_tools", "wrap_tool"]
