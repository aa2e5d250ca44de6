"""Objects with bare keys and texts between a mark of their own: `{city:<escape>Oslo<escape>}`."""

from __future__ import annotations

import re
from functools import lru_cache, partial
from json.encoder import encode_basestring

from tunaeval.limits import UNMARKED_TEXT
from tunaeval.window import Window

from .atoms import cut_off, read_number, read_word
from .dialect import Dialect
from .escapes import JSON_ESCAPES
from .json import JsonReader
from .machine import Step
from .members import (
    NUMBER,
    SPACE,
    WORD,
    WORDS,
    elements_of,
    members_of,
)
from .reader import Reader
from .repairs import CutError
from .strings import text_style

BRACE_KEY = re.compile(r"[^\W\d][\w$.-]{0,127}+")
"""A key that needs no mark around it."""

_STYLES = {quote: text_style(quote, JSON_ESCAPES, repair="other-quotes") for quote in "'\""}
_ENDS_ATOM = r"(?=[ \t\r\n]*+[,}\]])"
_ATOM = rf"(?:{NUMBER}|true|false|null){_ENDS_ATOM}"


def object_reader(
    window: Window, mark: str = "", stops: tuple[str, ...] = ()
) -> JsonReader | BraceReader:
    """A reader of one object: of JSON, or with a mark around its texts."""
    return BraceReader(window, mark, stops) if mark else JsonReader(window, stops)


@lru_cache(maxsize=64)
def _dialect_of(mark: str) -> Dialect:
    first, rest, whole = re.escape(mark[0]), re.escape(mark[1:]), re.escape(mark)
    text = rf"{whole}[^{first}]*+(?:{first}(?!{rest})[^{first}]*+)*+{whole}"
    key = BRACE_KEY.pattern
    keys = (rf"({key})(?:()()){{0}}", key, f"({key})")
    scalar = (rf"(?:{text}|{_ATOM})", rf"{text}|[^ \t\r\n,{first}}}\]]++")
    otherwise = rf"([{{\[])|(?:()){{0}}({'|'.join(WORDS)}){_ENDS_ATOM}(?:()){{0}}"
    size = len(mark)
    return Dialect(
        brackets={"{": "{", "[": "["},
        closers="}])",
        styles=_STYLES,
        bare_key=BRACE_KEY,
        bare_key_repair="",
        signs={":": "", "=": "separator"},
        signs_may_lack=False,
        numbers="-",
        number=read_number,
        word=partial(read_word, words="unmarked-text"),
        members={
            "{": members_of(
                keys, f"{SPACE}:{SPACE}", scalar, otherwise, "}", repairs={WORD: "python-literal"}
            )
        },
        elements=elements_of(scalar),
        scalar=lambda value: (
            encode_basestring(value[size:-size]) if value.startswith(mark) else value
        ),
    )


class BraceReader(Reader):
    """Reads from one brace to the other; see `Reader`. Between two marks is any text."""

    def __init__(self, window: Window, mark: str, stops: tuple[str, ...] = ()) -> None:
        self.dialect = _dialect_of(mark)
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
        return lambda: self._marked(pieces, lambda: self._hold_key("".join(pieces)))

    def _lost_comma(self, char: str) -> str | None:
        if char != self._mark[0]:
            return super()._lost_comma(char)
        begins = self._at_mark()
        return None if begins is None else super()._lost_comma('"') if begins else ""

    # --- texts -------------------------------------------------------------------------------

    def _at_mark(self) -> bool | None:
        """Whether the whole mark is here; None to wait. A mark that is cut off is dropped."""
        window, mark = self._window, self._mark
        rest = window.text[window.pos : window.pos + len(mark)]
        if rest == mark or not mark.startswith(rest):
            return rest == mark
        return cut_off(window) if window.final else None

    def _marked(self, out: list[str], then: Step) -> Step | None:
        """Everything up to the mark, as it arrives."""
        window, mark = self._window, self._mark
        end = window.text.find(mark, window.pos)
        ended = end >= 0
        if not ended:
            held = 0 if window.final else len(mark) - 1
            end = max(window.pos, len(window.text) - held)
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
        """Whether a text begins here without the mark that ends it soon. Cut off it is dropped."""
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
