"""What a dialect of nearly-JSON says: how its brackets, keys, strings and atoms are written."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from tunaeval.window import Window

from .members import Elements, Members
from .repairs import Draft
from .strings import Style

Atom: TypeAlias = Callable[[Window, Draft, tuple[str, ...]], str | None]
"""Passes over a number or a word and returns it as JSON, or None to wait."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """The rules of `Reader` are the same for all; a dialect says for which characters they hold."""

    brackets: Mapping[str, str]
    """The kind of bracket (see `repairs.CLOSER`) that a character opens."""
    closers: str
    styles: Mapping[str, Style]
    """How a string is written, by the character that begins it."""
    bare_key: re.Pattern[str]
    bare_key_repair: str
    """What a key without quotes costs."""
    signs: Mapping[str, str]
    """What is between a key and its value, and the repair of that."""
    signs_may_lack: bool
    numbers: str
    """What begins a number, besides digits."""
    number: Atom
    word: Atom
    members: Mapping[str, Members]
    """Of the kinds of brackets that have keys."""
    elements: Elements
    scalar: Callable[[str], str] | None = None
    """Makes JSON of a sound text or atom; none where it is JSON."""
    comments: str = ""
    """What begins a comment."""
    outer: str = ""
    """A closer of what is around the value: it closes whatever is still open."""
    trailing_comma: str = "trailing-comma"
    """The repair of a comma before a closer."""
