"""Messages of a transcript, and the tool runs that were recorded beside them."""

from __future__ import annotations

from dataclasses import dataclass

from .calls import JsonObject, ToolCall


@dataclass(frozen=True, slots=True)
class Usage:
    """The tokens and the cost of a request as the server reported them; None if it did not."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost_usd: float | None = None


_RESULT_ROLES = frozenset({"tool", "function", "tool_result"})


@dataclass(frozen=True, slots=True)
class Message:
    """A message of a transcript. `is_error` is what a tool's result declares, `usage` the usage of
    the request behind a reply, and `at` the message's time in seconds since the epoch; each is None
    if it is unknown.
    """

    role: str
    content: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    reasoning: str | None = None
    is_error: bool | None = None
    usage: Usage | None = None
    at: float | None = None

    @property
    def is_result(self) -> bool:
        """Whether the message is a tool's result, even if its call is unknown."""
        return self.tool_call_id is not None or self.role in _RESULT_ROLES


@dataclass(frozen=True, slots=True)
class ToolExecution:
    """A run of a tool, recorded by its wrapper. Unknown durations are None, never estimates.
    `started_at` is in seconds since the epoch (for people), `duration_seconds` is monotonic.
    `queued_seconds` is how long the call waited before it ran, or None if that was not measured.
    """

    tool: str
    call_id: str | None
    arguments: JsonObject
    started_at: float
    duration_seconds: float | None
    ok: bool
    ok_reason: str
    error: str | None = None
    queued_seconds: float | None = None
