"""Objects with bare keys and texts between a mark of their own: `{city:<escape>Oslo<escape>}`."""

from __future__ import annotations

import re
from functools import lru_cache, partial

from tunaeval.limits import UNMARKED_TEXT
from tunaeval.window import Window

from .reader import Dialect, JsonReader, Step, cut_off, read_number, read_word
from .strings import JSON_ESCAPES, Style, marked_style, text_style

BRACE_KEY = re.compile(r"[^\W\d][\w$.-]{0,127}+")
"""A key that needs no mark around it."""


def object_reader(window: Window, mark: str = "", stops: tuple[str, ...] = ()) -> JsonReader:
    """Return a reader of one object: of JSON, or with a mark around its texts."""
    return BraceReader(window, mark, stops) if mark else JsonReader(window, stops)


class BraceReader(JsonReader):
    """Reads from one brace to the other. Between two marks is any text."""

    dialect = Dialect(
        brackets={"{": "{", "[": "["},
        closers="}])",
        keyed=frozenset("{"),
        styles={quote: text_style(quote, JSON_ESCAPES, repair="other-quotes") for quote in "'\""},
        bare_key=BRACE_KEY,
        bare_key_repair="",
        signs={":": "", "=": "separator"},
        signs_may_lack=False,
        numbers="-",
        number=read_number,
        word=partial(read_word, words="unmarked-text"),
    )

    def __init__(self, window: Window, mark: str, stops: tuple[str, ...] = ()) -> None:
        super().__init__(window, stops)
        self._mark = mark

    def _begin(self, char: str, role: str) -> Step | None:
        if not char or char in "{['\"" or self._style(char) is not False:
            return super()._begin(char, role)
        lost = self._lost_its_mark()
        if not lost:
            return None if lost is None else super()._begin(char, role)
        self.draft.repair("missing-quote")
        self.draft.begin_value('"')
        self._window.pos -= len(self._mark)  # as if it were there
        style = marked_style(self._mark)
        return self._begin_string(style, role, self.draft.pieces, self._behind_string)

    def _style(self, char: str) -> Style | bool | None:
        begins = self._at_mark() if char == self._mark[0] else False
        if begins:
            return marked_style(self._mark)
        return None if begins is None else super()._style(char)

    def _at_mark(self) -> bool | None:
        """Whether the whole mark is here; None to wait. A mark that is cut off is dropped."""
        window, mark = self._window, self._mark
        rest = window.text[window.pos : window.pos + len(mark)]
        if rest == mark or not mark.startswith(rest):
            return rest == mark
        return cut_off(window) if window.final else None

    def _lost_its_mark(self) -> bool | None:
        """Whether a text without the mark begins here that a mark ends soon; None to wait."""
        window, mark = self._window, self._mark
        run = _unmarked(mark).match(window.text, window.pos)
        end = run.end() if run else window.pos
        rest = window.text[end : end + len(mark)]
        if rest == mark or not mark.startswith(rest):
            return rest == mark
        if not window.final:
            return None
        if rest or (run and " " in run.group()):
            cut_off(window)
        return False


@lru_cache(maxsize=64)
def _unmarked(mark: str) -> re.Pattern[str]:
    """Text without anything that could end a member, nor the mark's first character."""
    return re.compile(rf"[^,:{{}}\[\]\n{re.escape(mark[0])}]{{1,{UNMARKED_TEXT}}}+")
