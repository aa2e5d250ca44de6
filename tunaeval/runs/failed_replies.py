"""Replies that are not the model's answer, because the server withheld or lost its text."""

from __future__ import annotations

from collections.abc import Callable

from tunaeval.errors import TransportFailure
from tunaeval.types.exchange import Reply, is_blank
from tunaeval.types.parsing import ABSTAINED, Level, ParseResult

_FILTERED = "content_filter"
_CALLED = frozenset({"tool_calls", "function_call"})


def failed_reply(
    reply: Reply, read: Callable[[Reply, Level], ParseResult]
) -> TransportFailure | None:
    """Return the failure of a reply whose finish reason says that the server lost its content.

    The part that a filter left is an answer, if a short one. A reply that ended with calls but
    contains nothing like a call, not even in its text, is neither a call nor an abstention (unlike
    a call of a name that means no call).
    """
    if reply.finish_reason == _FILTERED and is_blank(reply.message):
        return TransportFailure(
            f"the reply is empty and its finish_reason is {_FILTERED!r}", kind="filter"
        )
    if reply.finish_reason not in _CALLED:
        return None
    result = read(reply, "lenient")
    if result.outcome != "no_call" or result.detail == ABSTAINED:
        return None
    return TransportFailure(
        f"the server says finish_reason {reply.finish_reason!r} and sends no call: it lost one",
        kind="lost-call",
    )
