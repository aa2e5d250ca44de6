"""Objects with bare keys and texts between a mark of their own: `{city:<escape>Oslo<escape>}`."""

from __future__ import annotations

import re
from functools import lru_cache, partial
from json.encoder import encode_basestring

from tunaeval.limits import UNMARKED_TEXT
from tunaeval.window import Window

from .reader import Dialect, JsonReader, Step, cut_off, read_number, read_word
from .repairs import CutError
from .strings import JSON_ESCAPES, text_style

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
        if not char:
            return None
        begins = self._at_mark() if char == self._mark[0] else False
        if begins:
            self._window.pos += len(self._mark)
        elif char not in "{['\"":
            begins = begins if begins is None else self._lost_its_mark()
            if begins:
                self.draft.repair("missing-quote")
        if not begins:
            return None if begins is None else super()._begin(char, role)
        self.draft.begin_value()
        self.draft.pieces.append('"')
        return lambda: self._marked(self.draft.pieces, self._after)

    def _name(self, char: str) -> Step | None:
        begins = self._at_mark() if char == self._mark[0] else False
        if not begins:
            return None if begins is None else super()._name(char)
        self._window.pos += len(self._mark)
        pieces = ['"']
        return lambda: self._marked(pieces, lambda: self._named("".join(pieces)))

    def _lost_comma(self, char: str) -> str | None:
        if char != self._mark[0]:
            return super()._lost_comma(char)
        begins = self._at_mark()
        return None if begins is None else super()._lost_comma('"') if begins else ""

    def _at_mark(self) -> bool | None:
        """Whether the whole mark is here; None to wait. A mark that is cut off is dropped."""
        window, mark = self._window, self._mark
        rest = window.text[window.pos : window.pos + len(mark)]
        if rest == mark or not mark.startswith(rest):
            return rest == mark
        return cut_off(window) if window.final else None

    def _marked(self, out: list[str], then: Step) -> Step | None:
        """Read everything up to the mark, as it arrives."""
        window, mark = self._window, self._mark
        end = window.text.find(mark, window.pos)
        ended = end >= 0
        if not ended:
            behind_it = 0 if window.final else len(mark) - 1
            end = max(window.pos, len(window.text) - behind_it)
        if end > window.pos:
            out.append(encode_basestring(window.text[window.pos : end])[1:-1])
        window.pos = end
        if not ended and not window.final:
            return None
        out.append('"')
        if not ended:
            raise CutError("truncated")
        window.pos += len(mark)
        return then

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
