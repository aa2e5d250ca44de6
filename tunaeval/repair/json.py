"""Nearly-JSON, read once: one object or array, with every mend named.

`JsonReader` reads from a window, so it works while the text grows. It writes what it understood
as pieces of sound JSON and lets the decoder make the value of them; there is no second builder of
values. Where it has to decide, it decides from the next few characters only, and never again.

Mends of level "standard" change no value; those of level "lenient" lose or guess (see `MENDS`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, TypeAlias

from tunaeval.types import JsonValue, Repair
from tunaeval.window import Reading, Window, read_all

from .atoms import QUOTES, char_at, read_key_word, read_number, read_string, read_word
from .mends import CLOSER, CutError, Draft, UnreadableError
from .values import LONG_NUMBER, MAX_DEPTH, Note, Unreadable, scan

_SPACE = re.compile(r"[ \t\r\n]*+")

_Step: TypeAlias = Callable[[str], Generator[None, None, Any]]
"""What to do with the next character; returns the step after it (a type that holds itself)."""


@dataclass(frozen=True, slots=True)
class Read:
    """A value and what it took to read it; `truncated` when the text ended inside it."""

    value: JsonValue
    repairs: tuple[Repair, ...] = ()
    notes: tuple[Note, ...] = ()
    truncated: bool = False


def read_json(text: str) -> Read | Unreadable:
    """Read a text that is one object or array, white space around it apart."""
    window = Window(text, final=True)
    window.pos = len(text) - len(text.lstrip())
    result = read_all(text, JsonReader(window).read())
    rest = text[window.pos :].strip()
    if isinstance(result, Read) and rest:
        return Unreadable("invalid-json", f"{rest[:40]!r} stands after the value", window.pos)
    return result


class JsonReader:
    """Reads the value at the window's position; used once.

    `stops` are texts that end the frame around the value (a closing tag): met outside a string
    they close whatever is still open.
    """

    def __init__(self, window: Window, stops: tuple[str, ...] = ()) -> None:
        self._window = window
        self._stops = stops
        self.draft = Draft(window)

    def read(self) -> Reading[Read | Unreadable]:
        """The value. The window stands behind it, or where it stopped making sense."""
        sound = self._sound()
        if sound:
            return sound
        window, draft, truncated = self._window, self.draft, False
        try:
            yield from self._value()
        except UnreadableError as reason:
            so_far = "".join(draft.pieces)
            return Unreadable(reason.code, str(reason), window.offset, so_far, reason.cut)
        except CutError as cut:
            truncated = cut.mend == "truncated"
            draft.close_all()
            draft.mend(cut.mend)
        written = "".join(draft.pieces)
        made = scan(written, 0)
        if isinstance(made, Unreadable):
            return Unreadable(made.code, made.message, window.offset, written)
        return Read(made[0], tuple(draft.repairs), made[2], truncated)

    def _sound(self) -> Read | None:
        """The value at once, if the text is complete and right."""
        window = self._window
        if not window.final:
            return None
        sound = scan(window.text, window.pos)
        if isinstance(sound, Unreadable):
            return None
        value, end, notes = sound
        if LONG_NUMBER.search(window.text, window.pos, end):
            return None
        window.pos = end
        return Read(value, notes=notes)

    # --- the value, token by token -----------------------------------------------------------

    def _value(self) -> Reading[None]:
        step: _Step = self._element
        while True:
            char = yield from self._next()
            step = yield from step(char)
            if not self.draft.open:
                return

    def _element(self, char: str) -> Generator[None, None, _Step]:
        """A value is due: after a colon, in an array, or at the start."""
        window, draft = self._window, self.draft
        in_array = bool(draft.open) and draft.open[-1] == "["
        if in_array and char in "]}":
            return self._close(char)
        if in_array and char == "," and draft.comma is not None:
            draft.mend("extra-comma")
            window.pos += 1
            return self._element
        draft.begin_value()
        if char in "{[":
            return self._open(char)
        if char in QUOTES:
            role = "element" if in_array else "value"
            yield from read_string(window, draft, char, role, self._stops)
        elif char == "-" or char.isdigit():
            yield from read_number(window, draft, self._stops)
        else:
            yield from read_word(window, draft, self._stops)
        draft.end_value()
        return self._after

    def _open(self, char: str) -> _Step:
        draft = self.draft
        if len(draft.open) >= MAX_DEPTH:
            raise UnreadableError("too-deep", f"nested deeper than {MAX_DEPTH}")
        self._window.pos += 1
        draft.pieces.append(char)
        draft.open.append(char)
        draft.end_value()
        return self._key if char == "{" else self._element

    def _close(self, char: str) -> _Step:
        """A closer: of what is open, or of something around it, or of nothing."""
        draft = self.draft
        if draft.comma is not None:
            draft.mend("trailing-comma", draft.comma)
            draft.comma = None
        if char not in [CLOSER[opener] for opener in draft.open]:
            draft.mend("extra-closer")
            self._window.pos += 1
            return self._after
        while CLOSER[draft.open[-1]] != char:
            draft.mend("missing-closer")
            draft.close()
        self._window.pos += 1
        draft.close()
        return self._after

    def _key(self, char: str) -> Generator[None, None, _Step]:
        window, draft = self._window, self.draft
        if char in "}]":
            return self._close(char)
        if char == "," and draft.comma is not None:
            draft.mend("extra-comma")
            window.pos += 1
            return self._key
        draft.bare_key = char not in QUOTES
        if draft.bare_key:
            key = yield from read_key_word(window, draft, char)
        else:
            key = yield from self._quoted_key(char)
        draft.pending = ("" if draft.comma is None else ",") + key + ":"
        draft.comma = None
        return self._colon

    def _quoted_key(self, char: str) -> Generator[None, None, str]:
        """A key, kept apart from the draft until its value begins."""
        draft = self.draft
        pieces, draft.pieces = draft.pieces, []
        try:
            yield from read_string(self._window, draft, char, "key", self._stops)
            return "".join(draft.pieces)
        finally:
            draft.pieces = pieces

    def _colon(self, char: str) -> Generator[None, None, _Step]:
        window, draft = self._window, self.draft
        if char == ":":
            window.pos += 1
        elif char == "=":
            draft.mend("separator")
            window.pos += 1
            if (yield from char_at(window, 0)) == ">":
                window.pos += 1
        elif not draft.bare_key and (char in QUOTES or char in "{[-" or char.isalnum()):
            draft.mend("missing-colon")
        else:
            raise UnreadableError("invalid-json", f"{char!r} where a colon was expected")
        return self._element

    def _after(self, char: str) -> Generator[None, None, _Step]:
        """After a value: a comma, a closer, or the next member without its comma."""
        draft, at = self.draft, self._window.offset
        in_object = draft.open[-1] == "{"
        if char in "}]":
            return self._close(char)
        if char == ",":
            self._window.pos += 1
        elif in_object and (char in QUOTES or char.isalpha() or char == "_"):
            draft.mend("missing-comma")
        elif not in_object and (char in QUOTES or char in "{["):
            draft.mend("missing-comma" if char in "{[" else "guessed-comma")
        else:
            raise UnreadableError("invalid-json", f"{char!r} after a value")
        draft.comma = at
        return self._key if in_object else self._element
        yield  # a step is a generator, even one that never waits

    # --- between the tokens ------------------------------------------------------------------

    def _next(self) -> Generator[None, None, str]:
        """The next character that is neither white space nor part of a comment."""
        window = self._window
        while True:
            space = _SPACE.match(window.text, window.pos)
            window.pos = space.end() if space else window.pos
            if window.pos < len(window.text):
                char = window.text[window.pos]
                if char in "/#" and (yield from self._comment(char)):
                    continue
                if self._stops and (yield from self._at_stop(char)):
                    raise CutError("missing-closer")
                return char
            if window.final:
                raise CutError("truncated")
            yield

    def _comment(self, char: str) -> Generator[None, None, bool]:
        """Whether a comment stands here; if so it is passed over, as it arrives."""
        window, start, closer = self._window, self._window.offset, "\n"
        if char == "/":
            second = yield from char_at(window, 1)
            if second not in ("/", "*"):
                return False
            window.pos += 1
            closer = "*/" if second == "*" else "\n"
        window.pos += 1
        ends = (closer, *self._stops)
        held = max(map(len, ends)) - 1
        while (at := _first(window, ends)) < 0:
            if window.final:
                window.pos = len(window.text)
                raise CutError("truncated")
            window.pos = max(window.pos, len(window.text) - held)
            yield
        window.pos = at
        if not window.text.startswith(closer, at):
            raise UnreadableError("invalid-json", "a comment that never ends")
        window.pos += len(closer)
        self.draft.mend("comment", start)
        return True

    def _at_stop(self, char: str) -> Generator[None, None, bool]:
        window = self._window
        while True:
            near = False
            for stop in self._stops:
                if stop[0] != char:
                    continue
                if window.text.startswith(stop, window.pos):
                    return True
                near = near or stop.startswith(window.text[window.pos :])
            if not near or window.final:
                return False
            yield


def _first(window: Window, texts: tuple[str, ...]) -> int:
    """Where the first of `texts` stands in the window; -1 if none does."""
    found = [window.text.find(text, window.pos) for text in texts]
    return min((at for at in found if at >= 0), default=-1)
