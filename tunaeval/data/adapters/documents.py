"""The kinds of documents that contain transcripts, and how each becomes conversations.

A document is a list of messages, a list of documents, or an object of a kind in `_DOCUMENTS`. A
document may contain several conversations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from tunaeval.errors import UsageError
from tunaeval.parsing.sse import choice_order
from tunaeval.types.conversations import Conversation
from tunaeval.types.messages import Message
from tunaeval.types.wanted import wanted_name

from .atif import is_trajectory
from .fields import first, get, listed, shown, word
from .gemini import contents_of, is_request
from .inspect_ai import is_sample, read_sample
from .otel import read_spans
from .plain import read_plain
from .shapes import SHAPES, Shape, read_messages, shape_named
from .smolagents import steps_of
from .spans import holds_spans, is_span
from .tunacode import is_session, read_session

_WANTED = "a list of messages (dicts or objects) or a document that contains one: {shapes}"
_QUERIES = ("query", "prompt", "task", "question")
_MAX_DEPTH = 4


class _Document(NamedTuple):
    """A kind of document: how it is recognized, and how its conversations are read."""

    shape: str
    fits: Callable[[object], bool]
    read: Callable[[object], Iterable[Conversation]]


def _is_log(thing: object) -> bool:
    samples = listed(get(thing, "samples"))
    return bool(samples) and all(map(is_sample, samples))


def tells_spans(thing: object) -> bool:
    """Whether `thing` is a span, an export of spans, or a list of either."""
    items = thing if isinstance(thing, list | tuple) else [thing]
    return any(holds_spans(item) or is_span(item) for item in items)


_DOCUMENTS = (
    _Document("tunacode", is_session, lambda thing: (read_session(thing),)),
    _Document("inspect-ai", _is_log, lambda thing: map(read_sample, listed(get(thing, "samples")))),
    _Document("inspect-ai", is_sample, lambda thing: (read_sample(thing),)),
    _Document("otel", tells_spans, read_spans),
)

DOCUMENT_SHAPES = tuple(sorted({*SHAPES, *(row.shape for row in _DOCUMENTS)}))
"""The names of all shapes that can be requested."""


def read_conversation(messages: object, *, shape: str | None = None) -> Conversation:
    """Read one conversation. Raises UsageError for a document that contains none or several.

    `messages` are a known framework's, as objects or dictionaries, or a document that contains
    them; `shape` names their shape where it would be guessed wrongly.

    Examples:
        >>> asked = [{"role": "user", "content": [{"type": "text", "text": "Hello"}]}]
        >>> tunaeval.read_conversation(asked).messages[0].content
        'Hello'
    """
    if isinstance(messages, Conversation):
        return messages
    found = read_conversations(messages, shape=shape)
    if len(found) != 1:
        raise UsageError(
            f"messages contains {len(found)} conversations, wanted one; "
            "read them with tunaeval.read_conversations and take one"
        )
    return found[0]


def read_conversations(document: object, *, shape: str | None = None) -> tuple[Conversation, ...]:
    """Read all conversations of a document. Raises UsageError if it is no document.

    Examples:
        >>> document = [{"messages": [{"role": "user", "content": "Hello"}]}]
        >>> len(tunaeval.read_conversations(document))
        1
    """
    if shape is not None:
        wanted_name(shape, "shape of messages", DOCUMENT_SHAPES)
    found = tuple(_read(document, shape, "messages", 0))
    for index, conversation in enumerate(found):
        if any(notice.code == "unread-message" for notice in conversation.warnings):
            where = f"conversation {index + 1} of {len(found)}" if len(found) > 1 else "messages"
            refuse_silence(conversation, where)
    return found


_SILENT = (
    "{where}: {length} messages were taken for {shape} and have neither a word nor a call, so they "
    "are of another shape or empty; wanted messages in a shape that is known (say which with shape="
    ", --shape on the command line), or messages of OpenAI's chat completions made of yours"
)


def refuse_silence(conversation: Conversation, where: str = "messages") -> None:
    """Raise UsageError if a transcript has messages, but no text and no call was read from them.
    A run that ended in an error is accepted: it may have ended before the first text.
    """
    says_something = any(
        message.tool_calls or message.content.strip() or (message.reasoning or "").strip()
        for message in conversation.messages
    )
    if conversation.length and not says_something and conversation.failure is None:
        raise UsageError(
            _SILENT.format(where=where, length=conversation.length, shape=conversation.shape)
        )


def _read(thing: object, shape: str | None, where: str, depth: int) -> Iterator[Conversation]:
    conversation = thing if isinstance(thing, Conversation) else read_plain(thing, shape)
    if conversation is not None:
        yield conversation
        return
    for row in _DOCUMENTS:
        if shape in {None, row.shape} and row.fits(thing):
            yield from row.read(thing)
            return
    meant = _message_shape(shape, thing, where)
    if _is_list(thing):
        items: list[object] = list(thing)  # type: ignore[call-overload]  # `_is_list` has checked
        if items and depth < _MAX_DEPTH and all(map(holds_transcript, items)):
            for index, item in enumerate(items):
                yield from _read(item, shape, f"{where}[{index}]", depth + 1)
            return
        yield read_messages(items, meant, where=where)
        return
    yield _read_holder(thing, meant, where)


def _message_shape(shape: str | None, thing: object, where: str) -> Shape | None:
    if shape is None:
        return None
    if shape not in SHAPES:
        raise UsageError(f"{where} is {shown(thing)}, which is no {shape} document")
    return shape_named(shape)


def _is_list(thing: object) -> bool:
    """Whether `thing` is a list of messages, and no pydantic model, which is iterable as well."""
    listed = isinstance(thing, Iterable) and not isinstance(thing, str | bytes | Mapping)
    return listed and held_messages(thing) is None


def holds_transcript(item: object) -> bool:
    """Whether `item` is a transcript, or contains some, rather than a message."""
    if isinstance(item, Message) or item is None:
        return False
    return (
        isinstance(item, list | tuple | Conversation)
        or held_messages(item) is not None
        or any(row.fits(item) for row in _DOCUMENTS)
    )


def held_messages(thing: object) -> list[object] | None:
    """Return the messages in an object, under one of the names in use; None if there are none."""
    if is_trajectory(thing):
        return listed(get(thing, "steps"))
    if (steps := steps_of(thing)) is not None:  # an agent of smolagents
        return steps
    messages = get(thing, "messages")
    if isinstance(messages, list | tuple):
        return list(messages)
    get_messages = get(thing, "all_messages")  # the result of a pydantic-ai run
    if callable(get_messages):
        return listed(get_messages())
    output = get(thing, "output")
    if isinstance(output, list):  # a response of OpenAI's Responses API
        return [*_input_items(get(thing, "input")), *output]
    if is_request(thing):
        return contents_of(thing)
    choices = sorted(listed(get(thing, "choices")), key=lambda one: choice_order(get(one, "index")))
    reply = get(choices[0], "message") if choices else None
    return None if reply is None else [reply]


def _input_items(given: object) -> Sequence[object]:
    return [{"role": "user", "content": given}] if isinstance(given, str) else listed(given)


def _read_holder(thing: object, shape: Shape | None, where: str) -> Conversation:
    messages = held_messages(thing)
    if messages is None:
        known = ", ".join(DOCUMENT_SHAPES)
        raise UsageError(f"{where} is {shown(thing)}, wanted {_WANTED.format(shapes=known)}")
    conversation = read_messages(messages, shape, where=f"{where}.messages")
    query = first(thing, _QUERIES)
    text = query if isinstance(query, str) and query else conversation.query
    return replace(conversation, query=text, name=word(first(thing, ("name", "id"))))
