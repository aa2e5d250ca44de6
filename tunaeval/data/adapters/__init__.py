"""Adapters that read frameworks' messages, and the documents that contain them.

Frameworks are recognized by the shape of their objects and dumped dictionaries and never imported,
so that a transcript can be read where its framework is not installed.
"""

from tunaeval.types import Message

from .documents import DOCUMENT_SHAPES as DOCUMENT_SHAPES
from .documents import held_messages as held_messages
from .documents import read_conversation as read_conversation
from .documents import read_conversations as read_conversations
from .documents import read_file as read_file
from .documents import refuse_silence as refuse_silence
from .reading import NOTICES as NOTICES


def to_messages(messages: object) -> tuple[Message, ...]:
    """Return the messages of one conversation, in any known shape; raises UsageError otherwise."""
    return read_conversation(messages).messages
