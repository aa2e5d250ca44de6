"""Tools: how each way of describing one becomes a `ToolSpec`, and how runs of one are recorded."""

from .answering import call_id, call_of
from .classifiers import classifiers
from .notes import named
from .recorder import Recorder
from .specs import ToolLike, to_tools
from .storages import STORAGES, ContextRecorder, ResultRecorder
from .wrapper import RecordingWrapper, is_recorded, record_runs, wrap_tool

__all__ = [
    "STORAGES",
    "ContextRecorder",
    "Recorder",
    "RecordingWrapper",
    "ResultRecorder",
    "ToolLike",
    "call_id",
    "call_of",
    "classifiers",
    "is_recorded",
    "named",
    "record_runs",
    "to_tools",
    "wrap_tool",
]
