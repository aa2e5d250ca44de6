"""Every API by its name, and which of them a document is of."""

from __future__ import annotations

from collections.abc import Mapping

from tunaeval.types.calls import JsonValue

from .chat import CHAT
from .converse import CONVERSE
from .gemini import GEMINI
from .messages import MESSAGES
from .responses import RESPONSES
from .values import Api, ApiName

APIS: Mapping[ApiName, Api] = {
    one.name: one for one in (CHAT, RESPONSES, MESSAGES, GEMINI, CONVERSE)
}
"""Every API by its name."""

_EVERY = (*APIS.values(),)


def recognised(document: Mapping[str, JsonValue]) -> Api | None:
    """Return the API of a whole answer, or of an event of a streamed one, by its fields; None if
    these are no API's.
    """
    for api in _EVERY:
        if api.answers(document):
            return api
    return None
