"""What packages exchange: calls, messages, results, and the protocols that plug-ins implement.

Importing this package does not load pydantic, which a parse never needs; `types.runs` and the other
modules with pydantic models are imported by themselves.
"""

from .calls import JsonObject as JsonObject
from .calls import JsonValue as JsonValue
from .calls import Repair as Repair
from .calls import Source as Source
from .calls import Span as Span
from .calls import ToolCall as ToolCall
from .calls import Tools as Tools
from .calls import ToolSpec as ToolSpec
from .conversations import Conversation as Conversation
from .exchange import AgentRun as AgentRun
from .exchange import AgentTask as AgentTask
from .exchange import Reply as Reply
from .exchange import Request as Request
from .exchange import Streamed as Streamed
from .messages import Message as Message
from .messages import ToolExecution as ToolExecution
from .messages import Usage as Usage
from .parsing import Diagnosis as Diagnosis
from .parsing import Level as Level
from .parsing import Outcome as Outcome
from .parsing import ParseResult as ParseResult
