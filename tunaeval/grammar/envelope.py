"""Messages whose header says where they go: to a tool, into the reasoning, or to the user."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as OneOf
from typing import TypeAlias

from .words import Literal

Channel: TypeAlias = OneOf["call", "reasoning", "content"]


@dataclass(frozen=True, slots=True)
class Route:
    """One kind of message, recognised by its header.

    `header` is a bounded pattern of what is between the text that opens the message and the
    one that `body` begins with. A group `name` in it is the tool's name. `text` is how a call's
    header is written, with `{name}` where the name goes; without it one message contains all calls.
    """

    channel: Channel
    header: str
    body: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class Envelope:
    """What all messages have in common: what opens and what closes them, and the ways they go.

    Other spellings of `opens` are for a message that begins in the middle of its header, as
    templates write the first part of it; they are part of what `header` describes. The first
    route that fits has the message. A closer may be missing: the next message ends one too.
    """

    opens: Literal
    routes: tuple[Route, ...]
    closes: Literal

    @property
    def call(self) -> Route:
        """How a message to a tool is written."""
        return next(route for route in self.routes if route.channel == "call")

    @property
    def names(self) -> bool:
        """Whether the header of a call has the tool's name."""
        return "(?P<name>" in self.call.header

    @property
    def one_each(self) -> bool:
        """Whether every call is in a message of its own."""
        return "{name}" in self.call.text
