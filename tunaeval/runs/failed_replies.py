"""Replies that are no answer of the model's, because the server kept or lost what it wrote."""

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
    """The failure of a reply whose own finish reason says that the model's words are unknown.

    What a filter left is an answer, if a short one. A reply that ended with calls and contains
    nothing like one, in its text either, is neither a call nor an abstention (a call of a name that
    means no call is one).
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
