"""What providers send and are sent: one file an API, and one assembler of streams.

Nothing here knows a network, a disk or a clock, and no function raises for what a provider sent.
"""

from __future__ import annotations

from collections.abc import Mapping

from tunaeval.types.calls import JsonValue

from .chat import CHAT, is_result
from .converse import CONVERSE
from .gemini import GEMINI
from .messages import MESSAGES
from .requests import put, tool_names
from .responses import RESPONSES, reply_id
from .values import (
    Answer,
    Api,
    ApiName,
    Fragment,
    Kept,
    Message,
    Part,
    Request,
    Result,
    chat_call,
    chat_message,
)
from .volatile import VOLATILE, stable

APIS: Mapping[ApiName, Api] = {
    one.name: one for one in (CHAT, RESPONSES, MESSAGES, GEMINI, CONVERSE)
}
"""Every API by its name."""


def recognised(document: Mapping[str, JsonValue]) -> Api | None:
    """Return the API of a whole answer, or of an event of a streamed one, by its fields; None if
    these are no API's.
    """
    return next((api for api in APIS.values() if api.answers(document)), None)


__all__ = [
    "APIS",
    "VOLATILE",
    "Answer",
    "Api",
    "ApiName",
    "Fragment",
    "Kept",
    "Message",
    "Part",
    "Request",
    "Result",
    "chat_call",
    "chat_message",
    "is_result",
    "put",
    "recognised",
    "reply_id",
    "stable",
    "tool_names",
]  # fmt: skip
