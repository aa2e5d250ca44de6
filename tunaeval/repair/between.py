"""What is between the tokens of a value: white space, comments, the end of the frame."""

from __future__ import annotations

import re
from functools import lru_cache

from tunaeval.window import Window

from .repairs import CutError, Draft, UnreadableError

_SPACE = re.compile(r"[ \t\r\n]*+")

ODD_SPACES = (
    "\v\f\x85\xa0\u1680\u200b\u2028\u2029\u202f\u205f\u2060\u3000"
    "\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
)
"""White space that JSON does not know: text that was copied from a page or a document has it."""


@lru_cache
def first_characters(stops: tuple[str, ...]) -> frozenset[str]:
    """What stops begin with."""
    return frozenset(stop[0] for stop in stops)


class Between:
    """Finds the next character that belongs to the value.

    `stops` are texts that end the frame around it; `comments` begin comments.
    """

    __slots__ = ("_closer", "_comments", "_draft", "_first", "_started", "_stops", "_window")

    def __init__(self, window: Window, draft: Draft, stops: tuple[str, ...], comments: str) -> None:
        self._window = window
        self._draft = draft
        self._stops = stops
        self._comments = comments
        self._first = first_characters(stops)
        self._closer = ""
        """What ends the comment that the position is in; "" outside of comments."""
        self._started = 0

    def next(self) -> str:
        """The next character that is neither white space nor part of a comment; "" to wait."""
        window = self._window
        while True:
            space = _SPACE.match(window.text, window.pos)
            window.pos = space.end() if space else window.pos
            if window.pos == len(window.text):
                if window.final:
                    raise CutError("truncated")
                return ""
            char = window.text[window.pos]
            if char in ODD_SPACES:
                self._draft.repair("odd-space")
                window.pos += 1
                continue
            begins = char in self._comments and self._begin_comment(char)
            if begins is None or (begins and not self._pass_comment()):
                return ""
            if not begins:
                return "" if char in self._first and self._meets_stop(char) is None else char

    def leave_comment(self) -> bool:
        """Pass over the comment that the position is in, if it does; false to wait."""
        return not self._closer or self._pass_comment()

    def _begin_comment(self, char: str) -> bool | None:
        """Whether a comment begins here; if so its first characters are passed over."""
        window, size = self._window, 1
        closer = "\n"
        if char == "/":
            second = window.text[window.pos + 1 : window.pos + 2]
            if not second and not window.final:
                return None
            if second not in ("/", "*"):
                return False
            closer, size = "*/" if second == "*" else "\n", 2
        self._closer, self._started = closer, window.offset
        window.pos += size
        return True

    def _pass_comment(self) -> bool:
        """Pass over the rest of the comment, as it arrives; false to wait."""
        window = self._window
        ends = (self._closer, *self._stops)
        found = [window.text.find(end, window.pos) for end in ends]
        at = min((at for at in found if at >= 0), default=-1)
        if at < 0:
            if window.final:
                window.pos = len(window.text)
                raise CutError("truncated")
            held = max(map(len, ends)) - 1
            window.pos = max(window.pos, len(window.text) - held)
            return False
        window.pos = at
        if not window.text.startswith(self._closer, at):
            raise UnreadableError("invalid-json", "a comment that never ends")
        window.pos += len(self._closer)
        self._closer = ""
        self._draft.repair("comment", self._started)
        return True

    def _meets_stop(self, char: str) -> bool | None:
        """False if no stop is here, None to wait; a stop cuts the value off."""
        window, near = self._window, False
        for stop in self._stops:
            if stop[0] != char:
                continue
            if window.text.startswith(stop, window.pos):
                raise CutError("missing-closer")
            near = near or stop.startswith(window.text[window.pos : window.pos + len(stop)])
        return None if near and not window.final else False
