"""What two packages exchange, and nothing else.

Light types come at once; `runs` (pydantic) is imported from its own module by those who need it,
so that a parse never loads pydantic.
"""

from __future__ import annotations

from .calls import ARGUMENTS_KEYS as ARGUMENTS_KEYS
from .calls import INVALID_ARGUMENTS as INVALID_ARGUMENTS
from .calls import LEAKED_CALL as LEAKED_CALL
from .calls import NAME_KEYS as NAME_KEYS
from .calls import STRUCTURED as STRUCTURED
from .calls import JsonObject as JsonObject
from .calls import JsonValue as JsonValue
from .calls import Repair as Repair
from .calls import Source as Source
from .calls import Span as Span
from .calls import ToolCall as ToolCall
from .calls import Tools as Tools
from .calls import ToolSpec as ToolSpec
from .conversations import Checked as Checked
from .conversations import Conversation as Conversation
from .conversations import Notice as Notice
from .conversations import Results as Results
from .conversations import asked as asked
from .conversations import results_of as results_of
from .deadlines import Deadline as Deadline
from .exchange import AgentRun as AgentRun
from .exchange import AgentTask as AgentTask
from .exchange import Reply as Reply
from .exchange import Request as Request
from .exchange import Streamed as Streamed
from .exchange import foreign_calls as foreign_calls
from .exchange import is_blank as is_blank
from .exchange import text_of as text_of
from .makers import cheap as cheap
from .messages import Message as Message
from .messages import ToolExecution as ToolExecution
from .messages import Usage as Usage
from .parsing import ABSTAINED as ABSTAINED
from .parsing import LEVELS as LEVELS
from .parsing import NOT_TEXT as NOT_TEXT
from .parsing import REMARKS as REMARKS
from .parsing import UNKNOWN_TOOL as UNKNOWN_TOOL
from .parsing import Diagnosis as Diagnosis
from .parsing import Level as Level
from .parsing import Outcome as Outcome
from .parsing import ParseResult as ParseResult
from .parsing import outcome_of as outcome_of
