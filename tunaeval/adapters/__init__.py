"""Frameworks' messages as the library's own, and their tools recorded, a file per framework.

Shapes are looked at, objects and dumped dictionaries alike, and no framework is imported, so that
a transcript can be read where its framework is not installed.
"""

from tunaeval.types import Message

from .documents import (
    DOCUMENT_SHAPES,
    held_messages,
    read_conversation,
    read_conversations,
    refuse_silence,
)
from .files import read_file
from .reading import NOTICES
from .tools import recorders_of, wrap_tool

__all__ = [
    "DOCUMENT_SHAPES",
    "NOTICES",
    "held_messages",
    "read_conversation",
    "read_conversations",
    "read_file",
    "recorders_of",
    "refuse_silence",
    "to_messages",
    "wrap_tool",
]


def to_messages(messages: object) -> tuple[Message, ...]:
    """The messages of one conversation. Raises UsageError for what is none."""
    return read_conversation(messages).messages
