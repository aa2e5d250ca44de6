"""Frameworks' messages as the library's own, and their tools recorded, a file per framework.

Shapes are looked at, objects and dumped dictionaries alike, and no framework is imported, so that
a transcript can be read where its framework is not installed.
"""

from tunaeval.types import Message

from .documents import DOCUMENT_SHAPES as DOCUMENT_SHAPES
from .documents import held_messages as held_messages
from .documents import read_conversation as read_conversation
from .documents import read_conversations as read_conversations
from .documents import refuse_silence as refuse_silence
from .files import read_file as read_file
from .reading import NOTICES as NOTICES
from .tools import recorders_of as recorders_of
from .tools import wrap_tool as wrap_tool


def to_messages(messages: object) -> tuple[Message, ...]:
    """The messages of one conversation. Raises UsageError for what is none."""
    return read_conversation(messages).messages
