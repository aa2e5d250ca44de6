"""Objects with bare keys and texts between a mark of their own: `{city:<escape>Oslo<escape>}`."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator
from functools import lru_cache

from tunaeval.window import Reading, Window

from .atoms import read_number, read_word
from .json import JsonReader
from .literal_texts import JSON_ESCAPES, Quoting, read_text
from .literals import LiteralReader, Step, quoted
from .mends import CutError, Draft, UnreadableError

BRACE_KEY = re.compile(r"[^\W\d][\w$.-]{0,127}+")
"""A key that needs no mark around it."""

_MOST_UNMARKED = 200


def object_reader(
    window: Window, mark: str = "", stops: tuple[str, ...] = ()
) -> JsonReader | BraceReader:
    """A reader of one object: of JSON, or with a mark around its texts."""
    return BraceReader(window, mark, stops) if mark else JsonReader(window, stops)


class BraceReader(LiteralReader):
    """Reads from one brace to the other; see `LiteralReader`. Between two marks stands any text."""

    def __init__(self, window: Window, mark: str, stops: tuple[str, ...] = ()) -> None:
        super().__init__(window, stops)
        self._mark = mark
        self._quoting = {
            quote: Quoting(quote, stops=stops, escapes=JSON_ESCAPES) for quote in "'\""
        }

    def key(self, char: str) -> Generator[None, None, Step]:
        pieces: list[str] = []
        if (yield from self._text(char, pieces)):
            key = "".join(pieces)
        else:
            word = yield from self.match(BRACE_KEY)
            if not word:
                raise UnreadableError("invalid-json", f"{char!r} where a key was expected")
            self.window.pos = word.end()
            key = quoted(word.group())
        sign = yield from self.next()
        if sign not in (":", "="):
            raise UnreadableError("invalid-json", f"{sign!r} where a colon was expected")
        if sign == "=":
            self.draft.mend("separator")
        self.window.pos += 1
        self.name_next(key)
        return self.element

    def value(self, char: str) -> Reading[None]:
        if (yield from self._text(char, self.draft.pieces)):
            return
        if (yield from self._lost_its_mark()):
            self.draft.mend("missing-quote")
            self.draft.begin_value()
            self.draft.pieces.append('"')
            yield from self._marked(self.draft.pieces)
        elif char == "-" or char.isdigit():
            yield from self._atom(read_number)
        else:
            yield from self._atom(read_word)

    def _atom(self, read: Callable[[Window, Draft, tuple[str, ...]], str | None]) -> Reading[None]:
        """A number or a word, as JSON readers read them; one that is cut off is dropped."""
        try:
            while (atom := read(self.window, self.draft, self.stops)) is None:
                yield
        except CutError:
            self.drop_value()
        self.draft.begin_value()
        self.draft.pieces.append(atom)

    def begins_member(self, char: str) -> Generator[None, None, bool]:
        if char == self._mark[0]:
            return (yield from self._at_mark())
        return char.isalpha() or char in "_'\""

    # --- texts -------------------------------------------------------------------------------

    def _text(self, char: str, pieces: list[str]) -> Generator[None, None, bool]:
        """A text between marks, or between other quotes; whether there was one."""
        if char == self._mark[0] and (yield from self._at_mark()):
            self.window.pos += len(self._mark)
            self._begin(pieces)
            yield from self._marked(pieces)
        elif char in self._quoting:
            self.draft.mend("other-quotes")
            self.window.pos += 1
            self._begin(pieces)
            yield from read_text(self.window, self.draft, pieces, self._quoting[char])
            pieces.append('"')
        else:
            return False
        return True

    def _begin(self, pieces: list[str]) -> None:
        """A text begins in `pieces`: a value, or a key."""
        if pieces is self.draft.pieces:
            self.draft.begin_value()
        pieces.append('"')

    def _at_mark(self) -> Generator[None, None, bool]:
        """Whether the whole mark stands here."""
        window, mark = self.window, self._mark
        while True:
            rest = window.text[window.pos : window.pos + len(mark)]
            if rest == mark or not mark.startswith(rest):
                return rest == mark
            if window.final:
                self.drop_value()
            yield

    def _marked(self, pieces: list[str]) -> Reading[None]:
        """Everything up to the mark, as it arrives."""
        window, mark = self.window, self._mark
        while (end := window.text.find(mark, window.pos)) < 0:
            held = 0 if window.final else len(mark) - 1
            end = max(window.pos, len(window.text) - held)
            pieces.append(quoted(window.text[window.pos : end])[1:-1])
            window.pos = end
            if window.final:
                pieces.append('"')
                raise CutError("truncated")
            yield
        pieces += (quoted(window.text[window.pos : end])[1:-1], '"')
        window.pos = end + len(mark)

    def _lost_its_mark(self) -> Generator[None, None, bool]:
        """Whether a text begins here without the mark that ends it soon. Cut off it is dropped."""
        window = self.window
        while True:
            run = _unmarked(self._mark).match(window.text, window.pos)
            end = run.end() if run else window.pos
            rest = window.text[end : end + len(self._mark)]
            if rest == self._mark or not self._mark.startswith(rest):
                return rest == self._mark
            if window.final:
                if rest or (run and " " in run.group()):
                    self.drop_value()
                return False
            yield


@lru_cache(maxsize=64)
def _unmarked(mark: str) -> re.Pattern[str]:
    """Text without anything that could end a member, nor the mark's first character."""
    return re.compile(rf"[^,:{{}}\[\]\n{re.escape(mark[0])}]{{1,{_MOST_UNMARKED}}}+")
