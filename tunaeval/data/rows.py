"""The result of reading a row of a data set: a conversation, or why it cannot be read."""

from __future__ import annotations

from dataclasses import dataclass, field

from tunaeval.types.calls import JsonValue, Tools
from tunaeval.types.messages import Message
from tunaeval.types.parsing import Diagnosis


@dataclass(frozen=True, slots=True)
class Row:
    """A conversation: messages with their calls as values, and the tools that were offered.

    `number` counts from 1; `shape` names how the row was written. `notes` are diagnoses of calls,
    each with the index of its message. `raw` is the row as read, `line` its bytes in the file.
    """

    number: int
    shape: str
    messages: tuple[Message, ...]
    tools: Tools | None = None
    notes: tuple[tuple[int, Diagnosis], ...] = ()
    raw: JsonValue = field(default=None, repr=False)
    line: bytes | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Fault:
    """A row that cannot be read, with the reason; the other fields are those of `Row`."""

    number: int
    reason: str
    raw: JsonValue = field(default=None, repr=False)
    line: bytes | None = field(default=None, repr=False, compare=False)


class UnreadableRowError(ValueError):
    """A row that is no conversation; `read_row` catches it and returns a `Fault`."""
