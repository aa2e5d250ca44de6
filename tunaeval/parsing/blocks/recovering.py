"""What all recovering readers share: what holds for a text, and a block that has begun."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tunaeval.grammar import Format
from tunaeval.types import JsonValue, Level, Repair, Tools
from tunaeval.window import Window

from ..collect import Collector
from ..known import Objects
from .ledger import Ledger


@dataclass(frozen=True, slots=True)
class Setting:
    """What holds for every block of a text. `known` is for texts that are read more than once."""

    window: Window
    collector: Collector
    tools: Tools | None
    level: Level
    known: Objects | None = None

    def parameters(self, name: str | None) -> Mapping[str, JsonValue]:
        """The schema of a tool's arguments; an empty one where the tools say nothing."""
        if self.tools is None or name is None or name not in self.tools:
            return {}
        return self.tools[name].parameters


class Begun:
    """A block of `form` that begins at offset `start`; used once.

    `quoted`: it is in inline code, so its calls are only quoted. After `read` the window
    is where the block ended. `had_body` tells whether anything like a call was there at all,
    `failed` that an object could not be read, so that what follows is the inside of it, `closed`
    that the closer was read, or that the text ended before it. `doubtful`: a name alone is no call.
    """

    def __init__(self, setting: Setting, form: Format, start: int, *, quoted: bool) -> None:
        self.had_body = False
        self.failed = False
        self.closed = False
        self.doubtful = False
        self.frame: tuple[Repair, ...] = ()
        """Repairs of what is around the calls, which count for each of them."""
        self._setting = setting
        self._window = setting.window
        self._form = form
        self._start = start
        self._quoted = quoted
        self._ledger = Ledger(setting.window, setting.collector, start, setting.level)
