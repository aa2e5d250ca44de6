"""Values in notations other than JSON's, read once: what those notations share.

Like `json.JsonReader`, a reader works on a window, decides from a few characters, writes what it
understood as pieces of sound JSON, and lets the decoder make the value of them. No recursion, and
nothing is ever evaluated.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, ClassVar, NoReturn, TypeAlias

from tunaeval.window import Reading, Window

from .json import Read
from .mends import CutError, Draft, UnreadableError
from .values import MAX_DEPTH, Unreadable, scan

OPENERS = {"(": ")", "[": "]", "{": "}"}
CLOSERS = frozenset(OPENERS.values())

Step: TypeAlias = Callable[[str], Generator[None, None, Any]]
"""What to do with the next character; returns the step after it (a type that holds itself)."""

_SPACE = re.compile(r"[ \t\r\n]*+")
_LOOKED_AT = 256


@dataclass(slots=True)
class Frame:
    """A bracket that is open: what ends it, what is written for that, and its members so far."""

    closer: str
    written: str
    keyed: bool
    at: int = 0
    """Which piece its opener is."""
    count: int = 0
    comma: bool = False
    """Whether a comma stands behind the last member."""


class LiteralReader(ABC):
    """Reads the bracket at the window's position, up to its closer; used once.

    `stops` are texts that end the frame around the value: met outside of texts they close what is
    still open. After `read`, `whole` tells whether the closer was reached, even by a value that
    cannot stand.
    """

    outer: ClassVar[str] = ""
    """A closer of what stands around the value: it closes whatever is still open."""
    commas_may_trail: ClassVar[bool] = False

    def __init__(self, window: Window, stops: tuple[str, ...] = ()) -> None:
        self.whole = False
        self.window = window
        self.draft = Draft(window)
        self.frames: list[Frame] = []
        self.stops = stops
        self._member_at = 0

    def read(self) -> Reading[Read | Unreadable]:
        """The value. The window stands behind it, or where it stopped making sense."""
        window, draft, truncated = self.window, self.draft, False
        try:
            yield from self._run()
        except UnreadableError as reason:
            so_far = "".join(draft.pieces)
            return Unreadable(reason.code, str(reason), window.offset, so_far, reason.cut)
        except CutError as cut:
            truncated = cut.mend == "truncated"
            draft.pieces += [frame.written for frame in reversed(self.frames)]
            draft.mend(cut.mend)
        written = "".join(draft.pieces)
        made = scan(written, 0)
        if isinstance(made, Unreadable):
            return Unreadable(made.code, made.message, window.offset, written)
        return Read(made[0], draft.repairs, made[2], truncated)

    def _run(self) -> Reading[None]:
        step = self.open("{", OPENERS[self.window.text[self.window.pos]], keyed=True)
        while self.frames:
            char = yield from self.next()
            step = yield from step(char)
        self.whole = True

    # --- what a notation has to say ----------------------------------------------------------

    @abstractmethod
    def key(self, char: str) -> Generator[None, None, Step]:
        """Read a key and what separates it from its value; returns `element`, as a rule."""

    @abstractmethod
    def value(self, char: str) -> Reading[None]:
        """Read a value that is no bracket; the draft is told when it is certain that one begins."""

    def bracket(self, char: str) -> Step:
        """Open a bracket inside of another."""
        return self.open(char, OPENERS[char], keyed=char == "{")

    # --- steps -------------------------------------------------------------------------------

    def member(self, char: str) -> Generator[None, None, Step]:
        """A member is due, or the closer."""
        frame = self.frames[-1]
        if char in CLOSERS:
            return self._close(char)
        if char == "," and frame.comma:
            self.draft.mend("extra-comma")
            self.window.pos += 1
            return self.member
        return (yield from (self.key if frame.keyed else self.element)(char))

    def element(self, char: str) -> Generator[None, None, Step]:
        """A value is due; its key, if it has one, was given to `name_next`."""
        if not self.frames[-1].keyed:
            self.name_next("")
        self._member_at = len(self.draft.pieces)
        if char in OPENERS:
            self.draft.begin_value()
            return self.bracket(char)
        yield from self.value(char)
        return self.after

    def drop_value(self) -> NoReturn:
        """The text ends inside a word or number: take back its key, and stop."""
        del self.draft.pieces[self._member_at :]
        self.window.pos = len(self.window.text)
        raise CutError("truncated")

    def after(self, char: str) -> Generator[None, None, Step]:
        """After a value: a comma, a closer, or the next member without its comma."""
        frame = self.frames[-1]
        if char in CLOSERS:
            return self._close(char)
        if char == ",":
            frame.comma = True
            self.window.pos += 1
            return self.member
        if frame.keyed and (yield from self.begins_member(char)):
            self.draft.mend("missing-comma")
            return self.member
        raise UnreadableError("invalid-json", f"{char!r} after a value")

    def begins_member(self, char: str) -> Generator[None, None, bool]:
        """Whether the next member begins here, without a comma before it."""
        return char.isalpha() or char in "_'\""
        yield  # a notation may have to look further

    # --- brackets and members ----------------------------------------------------------------

    def name_next(self, key: str) -> None:
        """The next member has this key, as JSON; "" in a list."""
        frame = self.frames[-1]
        self.draft.pending = ("," if frame.count else "") + (key and f"{key}:")
        frame.count += 1
        frame.comma = False

    def open(self, written: str, closer: str, *, keyed: bool, count: int = 0) -> Step:
        """Pass over the opener; `written` is what opens in JSON, "" for nothing."""
        if len(self.frames) >= MAX_DEPTH:
            raise UnreadableError("too-deep", f"nested deeper than {MAX_DEPTH}")
        self.window.pos += 1
        ends = OPENERS[written] if written else ""
        self.frames.append(Frame(closer, ends, keyed, len(self.draft.pieces), count))
        self.draft.pieces.append(written)
        return self.member

    def _close(self, char: str) -> Step:
        """A closer: of what is open, or of something around it, or of nothing."""
        if self.frames[-1].comma and not self.commas_may_trail:
            self.draft.mend("trailing-comma")
        if char not in [frame.closer for frame in self.frames]:
            if char == self.outer:
                raise CutError("missing-closer")
            self.draft.mend("extra-closer")
            self.window.pos += 1
            return self.after
        while self.frames[-1].closer != char:
            self.draft.mend("missing-closer")
            self.end()
        self.window.pos += 1
        self.end()
        return self.after

    def end(self) -> None:
        """The innermost bracket is closed."""
        self.draft.pieces.append(self.frames.pop().written)

    # --- characters --------------------------------------------------------------------------

    def next(self) -> Generator[None, None, str]:
        """The next character that is no white space."""
        window = self.window
        while True:
            space = _SPACE.match(window.text, window.pos)
            window.pos = space.end() if space else window.pos
            if window.pos < len(window.text):
                if self.stops and (yield from self.at_stop()):
                    raise CutError("missing-closer")
                return window.text[window.pos]
            if window.final:
                raise CutError("truncated")
            yield

    def at_stop(self) -> Generator[None, None, bool]:
        """Whether one of the stops stands here."""
        window = self.window
        while True:
            rest = window.text[window.pos : window.pos + max(map(len, self.stops), default=0)]
            if any(rest.startswith(stop) for stop in self.stops):
                return True
            if window.final or not any(stop.startswith(rest) for stop in self.stops):
                return False
            yield

    def match(
        self, pattern: re.Pattern[str], most: int = _LOOKED_AT
    ) -> Generator[None, None, re.Match[str] | None]:
        """What `pattern` matches here, when more text could not make it longer.

        It has to match every beginning of what it matches; it is not passed over.
        """
        window = self.window
        while True:
            found = pattern.match(window.text, window.pos)
            end = found.end() if found else window.pos
            if end < len(window.text) or window.final or end - window.pos > most:
                return found
            yield


def char_at(window: Window, ahead: int) -> Generator[None, None, str]:
    """The character `ahead` of the position, "" at the end of the text."""
    while window.pos + ahead >= len(window.text):
        if window.final:
            return ""
        yield
    return window.text[window.pos + ahead]


def quoted(text: str) -> str:
    """A text as JSON; half surrogate pairs stay as they are."""
    return json.dumps(text, ensure_ascii=False)
