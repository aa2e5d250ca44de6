"""What two packages exchange, and nothing else.

Light types come at once; `runs` (pydantic) is imported from its own module by those who need it,
so that a parse never loads pydantic.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tunaeval.later import imported_later

if TYPE_CHECKING:
    # For type checkers; at run time each is imported when it is asked for.
    from .calls import (
        ARGUMENTS_KEYS,
        INVALID_ARGUMENTS,
        LEAKED_CALL,
        NAME_KEYS,
        STRUCTURED,
        JsonObject,
        JsonValue,
        Repair,
        Source,
        Span,
        ToolCall,
        Tools,
        ToolSpec,
    )
    from .conversations import Checked, Conversation, Notice, Results, asked, results_of
    from .deadlines import Deadline
    from .exchange import (
        AgentRun,
        AgentTask,
        Reply,
        Request,
        Streamed,
        foreign_calls,
        is_blank,
        text_of,
    )
    from .makers import cheap
    from .messages import Message, ToolExecution, Usage
    from .parsing import (
        ABSTAINED,
        LEVELS,
        NOT_TEXT,
        REMARKS,
        UNKNOWN_TOOL,
        Diagnosis,
        Level,
        Outcome,
        ParseResult,
        outcome_of,
    )

_HOMES = {
    "ABSTAINED": "parsing",
    "ARGUMENTS_KEYS": "calls",
    "AgentRun": "exchange",
    "AgentTask": "exchange",
    "Checked": "conversations",
    "Conversation": "conversations",
    "Deadline": "deadlines",
    "Diagnosis": "parsing",
    "INVALID_ARGUMENTS": "calls",
    "JsonObject": "calls",
    "JsonValue": "calls",
    "LEAKED_CALL": "calls",
    "LEVELS": "parsing",
    "Level": "parsing",
    "Message": "messages",
    "NAME_KEYS": "calls",
    "NOT_TEXT": "parsing",
    "Notice": "conversations",
    "Outcome": "parsing",
    "ParseResult": "parsing",
    "REMARKS": "parsing",
    "Repair": "calls",
    "Reply": "exchange",
    "Request": "exchange",
    "Results": "conversations",
    "STRUCTURED": "calls",
    "Source": "calls",
    "Span": "calls",
    "Streamed": "exchange",
    "ToolCall": "calls",
    "ToolExecution": "messages",
    "ToolSpec": "calls",
    "Tools": "calls",
    "UNKNOWN_TOOL": "parsing",
    "Usage": "messages",
    "asked": "conversations",
    "cheap": "makers",
    "is_blank": "exchange",
    "outcome_of": "parsing",
    "results_of": "conversations",
    "foreign_calls": "exchange",
    "text_of": "exchange",
}

__all__ = [
    "ABSTAINED",
    "ARGUMENTS_KEYS",
    "INVALID_ARGUMENTS",
    "LEAKED_CALL",
    "LEVELS",
    "NAME_KEYS",
    "NOT_TEXT",
    "REMARKS",
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
    "cheap",
    "foreign_calls",
    "is_blank",
    "outcome_of",
    "results_of",
    "text_of",
]

__getattr__ = imported_later(__name__, _HOMES)
