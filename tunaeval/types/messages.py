"""Messages of a transcript, and the tool runs that were recorded beside them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from .calls import JsonObject, ToolCall

Prices: TypeAlias = tuple[float | None, float | None]
"""The prices of a million prompt and completion tokens; None where a price is unknown."""


@dataclass(frozen=True, slots=True)
class Usage:
    """The tokens and the cost of a request as the server reported them; None if it did not."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost_usd: float | None = None

    def cost(self, prices: Prices) -> float | None:
        """Return what the tokens cost, in the currency of the prices.

        None if no price is known, or if a count of tokens that has a price is not.
        """
        counts = (self.prompt_tokens, self.completion_tokens)
        parts = [
            None if count is None else count * price / 1e6
            for count, price in zip(counts, prices, strict=True)
            if price is not None
        ]
        known = [part for part in parts if part is not None]
        return sum(known) if parts and len(known) == len(parts) else None


RESULT_ROLES = ("tool", "function", "tool_result", "ipython", "observation")
"""The roles of messages that are tools' results."""

OTHER_ROLES = ("user", "human", "system", "developer", *RESULT_ROLES)
"""The roles of messages that are not the model's, and so make no calls."""


@dataclass(frozen=True, slots=True)
class Message:
    """A message of a transcript. `is_error` is whether a tool's result says that it is an error,
    `usage` the usage of the request behind a reply, and `at` the message's time in seconds since
    the epoch; each is None if it is unknown.
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
        return self.tool_call_id is not None or self.role in RESULT_ROLES


@dataclass(frozen=True, slots=True)
class ToolExecution:
    """A run of a tool, recorded by its wrapper. `started_at` is in seconds since the epoch, for
    people; durations come from a monotonic clock, and are None if unknown, never estimates.
    `queued_seconds` is how long the call waited before it ran.
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
