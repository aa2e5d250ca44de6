"""What two rooms exchange, and nothing else.

Light types come at once; `runs` (pydantic) is imported from its own module by those who need it,
so that a parse never loads pydantic.
"""

from .calls import (
    ARGUMENTS_KEYS,
    INVALID_ARGUMENTS,
    LEAKED_CALL,
    NAME_KEYS,
    STRUCTURED,
    JsonObject,
    JsonValue,
    Message,
    Repair,
    Source,
    Span,
    ToolCall,
    ToolExecution,
    Tools,
    ToolSpec,
    Usage,
)
from .conversations import Checked, Conversation, Notice, Results, asked, results_of
from .deadlines import Deadline
from .exchange import AgentRun, AgentTask, Reply, Request, Streamed, is_blank, text_of
from .parsing import LEVELS, NOT_TEXT, UNKNOWN_TOOL, Diagnosis, Level, Outcome, ParseResult

__all__ = [
    "ARGUMENTS_KEYS",
    "INVALID_ARGUMENTS",
    "LEAKED_CALL",
    "LEVELS",
    "NAME_KEYS",
    "NOT_TEXT",
    "STRUCTURED",
    "UNKNOWN_TOOL",
    "AgentRun",
    "AgentTask",
    "Checked",
    "Conversation",
    "Deadline",
    "Diagnosis",
    "JsonObject",
    "JsonValue",
    "Level",
    "Message",
    "Notice",
    "Outcome",
    "ParseResult",
    "Repair",
    "Reply",
    "Request",
    "Results",
    "Source",
    "Span",
    "Streamed",
    "ToolCall",
    "ToolExecution",
    "ToolSpec",
    "Tools",
    "Usage",
    "asked",
    "is_blank",
    "results_of",
    "text_of",
]
