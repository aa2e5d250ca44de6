"""A row of a data set as a conversation of ours, or the reason why it cannot be read as one."""

from __future__ import annotations

from dataclasses import dataclass, field

from tunaeval.types.calls import JsonValue, Tools
from tunaeval.types.messages import Message
from tunaeval.types.parsing import Diagnosis


@dataclass(frozen=True, slots=True)
class Row:
    """A conversation: messages with their calls as values, and the tools that were offered.

    `number` counts from 1. `shape` says how it was written. `notes` are what was odd about a
    message's calls, with the message's index. `raw` is the row as it was found, `line` its line.
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
    """A row that cannot be read, and why."""

    number: int
    reason: str
    raw: JsonValue = field(default=None, repr=False)
    line: bytes | None = field(default=None, repr=False, compare=False)


class UnreadableRowError(ValueError):
    """Why a row is no conversation; caught where rows are read."""
