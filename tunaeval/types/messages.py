"""Messages of a transcript, and the runs of tools beside them."""

from __future__ import annotations

from dataclasses import dataclass

from .calls import JsonObject, ToolCall


@dataclass(frozen=True, slots=True)
class Usage:
    """What a request cost, as the server reported it; None where it did not say."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost_usd: float | None = None


_RESULT_ROLES = frozenset({"tool", "function", "tool_result"})


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a transcript.

    `is_error` is what a tool's result declares, `usage` what the request behind a reply cost, `at`
    when the message was made, in seconds since the epoch: each is None where nothing was said.
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
        """Whether it is what a tool gave back, be it known for which call or not."""
        return self.tool_call_id is not None or self.role in _RESULT_ROLES


@dataclass(frozen=True, slots=True)
class ToolExecution:
    """One run of a tool, as a wrapper saw it. Unknown durations are None, never a guess.

    `started_at` is seconds since the epoch (for people), `duration_seconds` is monotonic.
    `queued_seconds` is how long the call waited before it ran, None where nobody measured that.
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
