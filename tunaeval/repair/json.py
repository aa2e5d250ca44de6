"""Nearly-JSON, read once: one object or array, with every mend named.

`JsonReader` reads from a window, so it works while the text grows. It writes what it understood
as pieces of sound JSON and lets the decoder make the value of them; there is no second builder of
values. Where it has to decide, it decides from the next few characters only, and never again.

It is a machine of steps. A step passes over what it has understood and gives the next step, or
None to wait for more text; it is then taken again, from where the window stands. Whole members
are taken at once by patterns (`members`), which only say sooner what the steps would say.

Mends of level "standard" change no value; those of level "lenient" lose or guess (see `MENDS`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from tunaeval.types import JsonValue, Repair
from tunaeval.window import Reading, Window

from .atoms import read_key_word, read_number, read_word
from .between import Between, first_characters
from .members import (
    BEHIND_ELEMENT,
    BEHIND_MEMBER,
    ELEMENTS_END,
    END,
    FIRST_ELEMENTS,
    FIRST_MEMBER,
    KEY,
    OPENER,
    SOUND,
    elements,
    mended_key,
    mended_value,
)
from .mends import CutError, Draft, UnreadableError
from .strings import QUOTES, StringReader
from .values import EXACT_DIGITS, MAX_DEPTH, Note, Unreadable, decode

_Step: TypeAlias = Callable[[], Any]
"""Gives the step after it, or None to wait (a type that holds itself)."""

_Match: TypeAlias = Callable[[str, int], "re.Match[str] | None"]
_FIRST, _BEHIND = FIRST_MEMBER.match, BEHIND_MEMBER.match


class Read(NamedTuple):
    """A value and what it took to read it; `truncated` when the text ended inside it."""

    value: JsonValue
    repairs: tuple[Repair, ...] = ()
    notes: tuple[Note, ...] = ()
    truncated: bool = False


def _over() -> None:
    """The step behind the last one."""


class JsonReader:
    """Reads the value at the window's position; used once.

    `stops` are texts that end the frame around the value (a closing tag): met outside a string
    they close whatever is still open. `draft` is what has been understood so far.
    """

    _done = False
    _exact = True
    """Whether any decoder reads the numbers so far alike."""
    _bare_key = False
    _between: Between | None = None

    def __init__(self, window: Window, stops: tuple[str, ...] = ()) -> None:
        self.draft = Draft(window)
        self._window = window
        self._stops = stops
        self._stop_starts = first_characters(stops)
        self._step: _Step = self._start

    def read(self) -> Reading[Read | Unreadable]:
        """The value. The window stands behind it, or where it stopped making sense."""
        while (result := self.advance()) is None:
            yield
        return result

    def advance(self) -> Read | Unreadable | None:
        """Go on as far as the text allows; None: the value goes on behind it."""
        draft, step, truncated = self.draft, self._step, False
        self._step = _over  # a step holds the reader, and the reader would hold it for ever
        try:
            if not self._between or self._between.leave_comment():
                while (following := step()) is not None:
                    step = following
            if not self._done:
                self._step = step
                return None
        except UnreadableError as reason:
            so_far = "".join(draft.pieces) + draft.pending
            return Unreadable(reason.code, str(reason), self._window.offset, so_far, reason.cut)
        except CutError as cut:
            draft.close_all()
            draft.mend(cut.mend)
            truncated = cut.mend == "truncated"
        written = "".join(draft.pieces)
        made = decode(written, exact=self._exact)
        if isinstance(made, Unreadable):
            return Unreadable(made.code, made.message, self._window.offset, written)
        return Read(made[0], draft.repairs, made[1], truncated)

    def _next(self) -> str:
        """The next character that belongs to the value; "" to wait."""
        if self._between is None:
            self._between = Between(self._window, self.draft, self._stops)
        return self._between.next()

    # --- values ------------------------------------------------------------------------------

    def _start(self) -> _Step | None:
        window = self._window
        if window.text.startswith("{", window.pos):
            return self._open("{", window.pos)
        return self._begin(self._next(), "value")

    def _value(self) -> _Step | None:
        """A value is due after a colon."""
        return self._begin(self._next(), "value")

    def _begin(self, char: str, role: str) -> _Step | None:
        """The value that begins with `char`."""
        if not char:
            return None
        draft = self.draft
        if char in "{[":
            draft.begin_value()
            return self._open(char, self._window.pos)
        if char in QUOTES:
            draft.begin_value()
            string = StringReader(self._window, draft, draft.pieces, role, self._stops)
            return lambda: self._after if string.advance() else None
        read = read_number if char == "-" or char.isdigit() else read_word
        return self._atom(read)

    def _atom(self, read: Callable[[Window, Draft, tuple[str, ...]], str | None]) -> _Step | None:
        draft = self.draft
        if (atom := read(self._window, draft, self._stops)) is None:
            return None
        self._exact = self._exact and len(atom) <= EXACT_DIGITS
        draft.begin_value()
        draft.pieces.append(atom)
        return self._after

    def _open(self, char: str, at: int) -> _Step:
        """The bracket in the window at `at`, whose value was begun."""
        draft, self._window.pos = self.draft, at
        if len(draft.open) >= MAX_DEPTH:
            raise UnreadableError("too-deep", f"nested deeper than {MAX_DEPTH}")
        self._window.pos += 1
        draft.pieces.append(char)
        draft.open.append(char)
        return self._key if char == "{" else self._element

    def _close(self, char: str, otherwise: _Step) -> _Step:
        """Pass over a closer; `otherwise` is what is due when it closes nothing."""
        closed = self.draft.close(char)
        self._window.pos += 1
        return self._after if closed else otherwise

    def _after(self) -> _Step | None:
        """After a value."""
        opened = self.draft.open
        if not opened:
            self._done = True
            return None
        return self._members(_BEHIND, ",") if opened[-1] == "{" else self._behind_element()

    # --- objects and arrays as they are usually written --------------------------------------

    def _key(self) -> _Step:
        return self._members(_FIRST, "" if self.draft.comma is None else ",")

    def _members(self, match: _Match, comma: str) -> _Step:
        """Members of an object and what opens and closes it, as long as they are ordinary."""
        window, draft = self._window, self.draft
        text, at, pieces, opened = window.text, window.pos, draft.pieces, draft.open
        while found := match(text, at):
            kind = found.lastindex or END
            if kind == END:
                if "}" in self._stop_starts:
                    break
                if found.group(END)[0] == ",":
                    draft.comma = window.base + found.start(END)
                draft.close("}")
                at = found.end()
                if not opened or opened[-1] == "[":
                    window.pos = at
                    return self._after
            else:
                key, value = found.group(KEY, kind)
                pieces.append(f"{comma}{key or mended_key(found, draft, window.base)}:")
                draft.comma = None
                if kind == OPENER:
                    step = self._open(value, found.end() - 1)
                    if value == "[":
                        return step
                    match, comma, at = _FIRST, "", window.pos
                    continue
                at = found.end()
                pieces.append(value if kind == SOUND else mended_value(found, draft, window.base))
            match, comma = _BEHIND, ","
        window.pos = at
        return self._odd_key if match is _FIRST else self._odd_after

    def _element(self) -> _Step | None:
        """A value is due in an array."""
        window, draft = self._window, self.draft
        found = FIRST_ELEMENTS.match(window.text, window.pos)
        if found is None:
            return self._odd_element()
        draft.begin_value()
        draft.pieces.append(elements(found))
        window.pos = found.end()
        return self._after

    def _behind_element(self) -> _Step:
        window, draft = self._window, self.draft
        found = BEHIND_ELEMENT.match(window.text, window.pos)
        ends = found is not None and found.lastindex == ELEMENTS_END
        if found is None or (ends and "]" in self._stop_starts):
            return self._odd_after
        window.pos = found.end()
        if ends:
            draft.close("]")
        else:
            draft.pieces += (",", elements(found))
        return self._after

    # --- and as they are not -----------------------------------------------------------------

    def _odd_element(self) -> _Step | None:
        char = self._next()
        if char and char in "]}":
            return self._close(char, self._element)
        if char == "," and self.draft.comma is not None:
            return self._extra_comma(self._element)
        return self._begin(char, "element")

    def _odd_key(self) -> _Step | None:
        window, draft = self._window, self.draft
        char = self._next()
        if not char:
            return None
        if char in "}]":
            return self._close(char, self._key)
        if char == "," and draft.comma is not None:
            return self._extra_comma(self._key)
        self._bare_key = char not in QUOTES
        if self._bare_key:
            word = read_key_word(window, draft, char)
            return None if word is None else self._hold_key(word)
        pieces: list[str] = []
        string = StringReader(window, draft, pieces, "key", self._stops)
        return lambda: self._hold_key("".join(pieces)) if string.advance() else None

    def _extra_comma(self, step: _Step) -> _Step:
        self.draft.mend("extra-comma")
        self._window.pos += 1
        return step

    def _hold_key(self, key: str) -> _Step:
        self.draft.hold_key(key)
        return self._colon

    def _colon(self) -> _Step | None:
        char = self._next()
        if not char:
            return None
        if char == ":":
            self._window.pos += 1
        elif char == "=":
            return self._separator()
        elif not self._bare_key and (char in QUOTES or char in "{[-" or char.isalnum()):
            self.draft.mend("missing-colon")
        else:
            raise UnreadableError("invalid-json", f"{char!r} where a colon was expected")
        return self._value

    def _separator(self) -> _Step | None:
        """An equals sign, perhaps with an arrow's head."""
        window = self._window
        if window.pos + 1 >= len(window.text) and not window.final:
            return None
        self.draft.mend("separator")
        window.pos += 2 if window.text.startswith("=>", window.pos) else 1
        return self._value

    def _odd_after(self) -> _Step | None:
        """After a value: a comma, a closer, or what should stand behind a comma."""
        draft, at, in_object = self.draft, self._window.offset, self.draft.open[-1] == "{"
        char = self._next()
        if not char:
            return None
        if char in "}]":
            return self._close(char, self._after)
        if char == ",":
            at = self._window.offset
            self._window.pos += 1
        elif in_object and (char in QUOTES or char.isalpha() or char == "_"):
            draft.mend("guessed-comma" if draft.comma_is_elsewhere() else "missing-comma")
        elif not in_object and (char in QUOTES or char in "{["):
            draft.mend("missing-comma" if char in "{[" else "guessed-comma")
        else:
            raise UnreadableError("invalid-json", f"{char!r} after a value")
        draft.comma = at
        return self._key if in_object else self._element
