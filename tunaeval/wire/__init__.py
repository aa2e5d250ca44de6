"""What providers send and are sent: one file an API, and one assembler of streams.

Nothing here knows a network, a disk or a clock, and no function raises for what a provider sent.
"""

from __future__ import annotations

from .apis import APIS, recognised
from .assembler import ODDITIES, Added, Assembler, GrowingCall
from .values import Answer, Api, ApiName, Fragment, Message, Part, Request, chat_call, chat_message

__all__ = [
    "APIS", "ODDITIES", "Added", "Answer", "Api", "ApiName", "Assembler", "Fragment", "GrowingCall",
    "Message", "Part", "Request", "chat_call", "chat_message", "recognised",
]  # fmt: skip
