"""The known shapes of messages, and how the shape of a list is recognized.

Shapes overlap: a user's text looks the same in four of them. So the first message that only one
shape could have written decides; if there is none, the list is read as chat completions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tunaeval.errors import UsageError
from tunaeval.types.conversations import Conversation
from tunaeval.types.messages import Message
from tunaeval.types.wanted import wanted_name

from . import (
    ai_sdk,
    anthropic,
    atif,
    bedrock,
    claude_code,
    gemini,
    inspect_ai,
    langchain,
    openai_chat,
    openai_responses,
    otel,
    pydantic_ai,
    smolagents,
    tau2,
    tinyagent,
)
from .fields import get, shown
from .plain import CHAT, OWN
from .reading import Reading

_WANTED = "a list of messages in one of the shapes that are known"


@dataclass(frozen=True, slots=True)
class Shape:
    """How one framework writes messages: `claims` recognizes its own, and `read` reads one."""

    name: str
    claims: Callable[[object], bool]
    read: Callable[[object, Reading], None]
    kind: str = "role"
    """The field with a message's kind; messages of an unknown kind are read, with a notice."""


SHAPES = {
    shape.name: shape
    for shape in (
        Shape("pydantic-ai", pydantic_ai.claims, pydantic_ai.read, ""),
        Shape("langchain", langchain.claims, langchain.read, ""),
        Shape("openai-responses", openai_responses.claims, openai_responses.read, "type"),
        Shape("smolagents", smolagents.claims, smolagents.read),
        Shape("tinyagent", tinyagent.claims, tinyagent.read),
        Shape("atif", atif.claims, atif.read, "source"),
        Shape("claude-code", claude_code.claims, claude_code.read, "type"),
        Shape("gemini", gemini.claims, gemini.read, ""),
        Shape("bedrock", bedrock.claims, bedrock.read),
        Shape("ai-sdk", ai_sdk.claims, ai_sdk.read),
        Shape("tau2", tau2.claims, tau2.read),
        Shape("anthropic", anthropic.claims, anthropic.read),
        Shape("inspect-ai", inspect_ai.claims, inspect_ai.read),
        Shape("otel", otel.claims, otel.read),
        Shape(CHAT, openai_chat.claims, openai_chat.read),
    )
}
"""The shapes, in the order in which they are asked whether a message is theirs."""


def shape_named(name: str) -> Shape:
    return SHAPES[wanted_name(name, "shape of messages", SHAPES)]


def shape_of(messages: Sequence[object]) -> Shape:
    """Return the shape of a list of messages; chat completions if no shape claims any."""
    for message in messages:
        if message is None or isinstance(message, Message):
            continue
        for shape in SHAPES.values():
            if shape.claims(message):
                return shape
    return SHAPES[CHAT]


def read_messages(
    messages: Sequence[object], shape: Shape | None = None, *, where: str = "messages"
) -> Conversation:
    """Read a list of messages. Raises UsageError, naming the place, for an item that is none."""
    meant = shape or shape_of(messages)
    reading = Reading()
    for reading.source, message in enumerate(messages):
        if isinstance(message, Message):
            reading.add(message)
        elif message is None:
            reading.notice("empty-item", "nothing is here")
        elif read := _reader(message, meant):
            read(message, reading)
        elif isinstance(thought := get(message, "thought"), str):
            reading.begin("assistant")
            reading.thought(thought)
        else:
            raise UsageError(
                f"{where}[{reading.source}] is {shown(message)} and has no role; "
                f"wanted {_WANTED} ({', '.join(SHAPES)})"
            )
    is_own = bool(messages) and all(isinstance(message, Message) for message in messages)
    return reading.conversation(OWN if is_own else meant.name, len(messages))


def _reader(message: object, shape: Shape) -> Callable[[object, Reading], None] | None:
    """Return the reader for a message in a list of this shape, or None if it is no message."""
    if shape.claims(message):
        return shape.read
    kind, role = get(message, shape.kind), get(message, "role")
    if isinstance(kind, str) and kind:
        return shape.read
    # Frameworks put plain messages into lists of other shapes.
    return SHAPES[CHAT].read if isinstance(role, str) and role else None
