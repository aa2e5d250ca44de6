"""Where a session's task begins in a conversation that may be compacted while the task runs.

A host that runs out of context replaces earlier messages with a summary, after which an index from
the start is wrong. So the last message before the task is remembered and searched for: the task
begins after it. If that message is gone, all messages that are left belong to the task.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Beginning:
    """The index `start` where a task begins, and the message before it, or None if unknown."""

    start: int
    before: object = None

    def found_in(self, messages: object) -> tuple[int, str | None]:
        """Return the task's present index, with a note if the conversation was compacted."""
        items = _items(messages)
        if self.before is None or items is None:
            length = length_of(messages)
            return (self.start, None) if length >= self.start else (0, _all_of(length))
        index = self._place_in(items)
        if index is None:
            return 0, _all_of(len(items))
        if index + 1 == self.start:
            return self.start, None
        return index + 1, f"{_COMPACTED}; the task begins at message {index + 1} now"

    def _place_in(self, items: Sequence[object]) -> int | None:
        """Return the index of the message before the task: the same object, else an equal message.
        Its old index is tried first.
        """
        where = list(range(len(items)))
        if self.start <= len(items):
            where.insert(0, self.start - 1)
        for is_it in (operator.is_, _alike):
            for index in where:
                if is_it(items[index], self.before):
                    return index
        return None


def beginning_of(messages: object, start: int | None = None) -> Beginning | None:
    """Return the beginning of a task at `start`, or at the next message if `start` is None. Return
    None if `messages` cannot be indexed or `start` is out of range; then `start` is used as is.
    """
    items = _items(messages)
    if start is None:
        start = length_of(messages) if items is None else len(items)
    elif items is None or not 0 <= start <= len(items):
        return None
    return Beginning(start, items[start - 1] if items and start else None)


def length_of(messages: object) -> int:
    """Return the number of messages; 0 for an iterator, which counting would use up."""
    if isinstance(messages, Iterator):
        return 0
    if isinstance(messages, Sized) and not isinstance(messages, Mapping):
        return len(messages)
    from tunaeval.data.adapters.documents import read_conversation  # noqa: PLC0415 - only sessions that are on

    return read_conversation(messages).length


_COMPACTED = "the conversation was compacted while the task ran"


def _all_of(length: int) -> str:
    return (
        f"{_COMPACTED} and the last message from before it is gone; "
        f"all {length} messages that are left were scored"
    )


def _items(messages: object) -> Sequence[object] | None:
    """Return the messages as a sequence if that is possible without parsing them, else None."""
    if isinstance(messages, Sequence) and not isinstance(messages, str | bytes):
        return messages
    if isinstance(messages, Iterator):
        return None
    from tunaeval.data.adapters.documents import held_messages  # noqa: PLC0415 - as above

    items = held_messages(messages)
    return items if items is not None and len(items) == length_of(messages) else None


def _alike(one: object, other: object) -> bool:
    """Whether two messages are equal, or are read alike, as an object and its dump are."""
    from tunaeval.data.adapters import to_messages  # noqa: PLC0415 - as above

    try:
        if one == other or _fields(one) == _fields(other):
            return True
        return to_messages([one]) == to_messages([other])
    except Exception:  # noqa: BLE001 - messages of others may raise anything when compared
        return False


def _fields(message: object) -> object:
    """Return a message's fields, to compare messages without text, which cannot be read alone."""
    return message if isinstance(message, Mapping) else getattr(message, "__dict__", message)
