"""Moves over a text, and says of each piece that is passed what it is: content, markup, reasoning.

The scanner decides what comes next; what the passed text says about the next marker (its line,
inline code, a marker without a call so far) is kept here, and whether it was a broken call.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from tunaeval import limits
from tunaeval.grammar import (
    Arguments,
    CallObject,
    Elements,
    Literal,
    Many,
    Maybe,
    PythonCalls,
    Space,
)
from tunaeval.grammar.format import Format
from tunaeval.types.calls import Tools

from .block import Setting
from .collect import Collector
from .finder import Token, in_ticks
from .window import Window

LINE_START = re.compile(r"(?:\A|\n)[ \t]*+\Z")
"""Matches a text after which only white space precedes the next character in its line."""

OPENS_FENCE = re.compile(r"(?:\A|\n)```([\w+-]{0,24})[ \t]{0,8}\r?\n[ \t\r\n]{0,40}\Z")
"""Matches a text whose last line is the start of a code fence; the group is the language."""


_BODY = re.compile(r"""[{}\[\]("'=\n<]""")
"""Characters of a call. Prose between two tags that a sentence names has none of them."""

_BEGINNINGS = ("<", "{", "[", "(")
"""The first characters of a call, its tag or a list of calls."""


@dataclass(slots=True)
class Unread:
    """A marker without a call after it so far: an opener, or a marker around all calls.

    The marker is ignored unless the text between it and its closer looks like an attempted call.

    Attributes:
        start: Where the marker begins, as an offset into the whole text.
        token: The marker.
        form: The format whose opener the marker is; None for a marker around all calls.
        likely: Whether the marker begins its line and, if it is an opener, a tag is next to it.
        inline: Whether the marker may be part of a sentence, which may name its closer, too.
        quote: The quotation mark directly before the marker, or "".
        behind: The beginning of the text after the marker.
    """

    start: int
    token: Token
    form: Format | None
    likely: bool
    inline: bool
    quote: str = ""
    behind: str = ""


class Passing:
    """Passes text, and keeps what it says about the marker that follows.

    Attributes:
        _region: The opening marker around all calls of a format, until its closer is read.
        _mention: The last opener that nothing like a call followed.
        _in_code: Whether a code fence is open.
        _quote_open: Whether inline code is open that began directly before a marker.
        _after_reasoning: Whether white space that follows still belongs to the reasoning before.
        _line_at: The offset from which text counts as part of the current line.
    """

    window: Window
    collector: Collector
    _setting: Setting
    _region: Unread | None = None
    _mention: Unread | None = None
    _quote_open = False
    _after_reasoning = False
    _in_code = False
    _line_at = 0

    def _pass_text(self, end: int) -> None:
        """Add the text up to index `end` as content (white space after reasoning as markup)."""
        window, collector = self.window, self.collector
        start = window.pos
        if start >= end:
            return
        offset, window.pos = window.base + start, end
        text = window.text[start:end]
        if self._after_reasoning:  # white space after reasoning is markup
            blank = len(text) - len(text.lstrip())
            collector.piece("markup", offset, offset + blank)
            self._after_reasoning = blank == len(text)
            offset += blank
        if self._mention or self._region:
            for unread in (self._mention, self._region):
                if unread and len(unread.behind) < limits.CALL_AHEAD:
                    unread.behind += text[: limits.CALL_AHEAD]
        if self._quote_open:
            self._quote_open = "`" not in text and "\n" not in text
        collector.text(text, offset, window.base + end)

    def _pass_as_text(self, text: str) -> None:
        """Add a marker that has no meaning here as content, and skip it."""
        self._pass_text(self.window.pos + len(text))

    def _pass_markup(self, size: int) -> None:
        """Add a marker of `size` characters as markup and skip it; a new line begins after it."""
        start = self.window.offset
        self.window.pos += size
        self._line_at = start + size
        self.collector.piece("markup", start, self._line_at)
        self.collector.bare = False

    @property
    def _line(self) -> str:
        """The text from `_line_at` to the position, or its last `KEPT` characters."""
        return self.window.since(self._line_at)

    @property
    def _last_piece(self) -> str:
        """The last piece up to the position, or only its last `KEPT` characters."""
        return self.window.since(self.collector.last_start)

    def _is_quoted(self) -> bool:
        """Whether the position is in inline code that began directly before a marker."""
        window = self.window
        if self._quote_open or window.text[max(0, window.pos - 1) : window.pos] != "`":
            return self._quote_open
        if window.preceding(window.pos) != "``":
            self._quote_open = in_ticks(self._line, behind=self._line_at > 0, unknown=True)
        return self._quote_open

    def _is_behind_fence(self) -> bool:
        """Whether the previous line opens a code fence that has a language or begins the text."""
        line = self._line
        fence = OPENS_FENCE.search(line)
        begun = fence is not None and self.window.offset - len(line) + fence.start() == 0
        return fence is not None and (begun or bool(fence[1]))

    def _pass_reasoning(self, end: int) -> None:
        """Add the window's text from its position up to index `end` as reasoning, and skip it."""
        self.collector.piece("reasoning", self.window.offset, self.window.base + end)
        self.window.pos = end

    def _interrupt_mention(self, mention: Unread, token: Token) -> None:
        """Report an opener without a call, if one was likely, when its format's next one comes."""
        window = self.window
        if mention.form is None or not mention.likely:
            return
        between = window.offset - mention.start - len(mention.token.text)
        behind = window.text[window.pos - between : window.pos]
        twice = between <= limits.WIDEST_GAP and not behind.strip()
        if not twice and _names(token.formats) & _names((mention.form,)):
            where = f"between {mention.token.text!r} and {token.text!r}"
            self._report_unread(mention, where, window.offset)
            mention.likely = False

    def _close_unread(self, unread: Unread, closer: Token) -> None:
        """Report the text between a marker and its closer here, if it looks like a broken call."""
        text = unread.behind.replace(unread.quote, "") if unread.quote else unread.behind
        named, tools = bool(text.strip()) or unread.inline, self._setting.tools
        if unread.likely or _BODY.search(text) or ends_in_tool(text, tools) or not named:
            where = f"between {unread.token.text!r} and {closer.text!r}"
            self._report_unread(unread, where, self.window.offset + len(closer.text))

    def _leave_region(self) -> None:
        """Report an unclosed marker around calls if what follows it begins like a call."""
        region = self._region
        if region and region.behind.lstrip().startswith(_BEGINNINGS):
            self._report_unread(region, f"behind {region.token.text!r}", self.window.offset)

    def _report_unread(self, unread: Unread, where: str, end: int) -> None:
        """Report a marker without a readable call, unless its text has a call or is reported."""
        collector = self.collector
        known = collector.has_call if unread.form else collector.has_said
        if collector.last == "content" and not known(unread.start):
            collector.refuse("invalid-json", f"nothing readable {where}", unread.start, end)

    def _ends_broken(self, token: Token) -> bool:
        """Whether a closer ends text that looks like a call without an opener; if so, report it."""
        collector, tools = self.collector, self._setting.tools
        if collector.last != "content" or not ends_call(token, self._last_piece, tools):
            return False
        quoted = self._in_code or in_ticks(self._line) or self._is_quoted()
        region = self._region  # a region is reported when it ends
        if region and not collector.has_said(region.start):
            return False
        if quoted or collector.has_said(collector.last_start):
            return False
        self._diagnose_stray(token)
        collector.attempt(self.window.offset)
        return True

    def _diagnose_stray(self, token: Token) -> None:
        """Report a closer without an opener."""
        start, message = self.window.offset, f"{token.text!r} closes nothing"
        self.collector.diagnose("stray-closer", message, start, start + len(token.text))

    def _tag_follows(self, at: int, opener: str) -> bool:
        """Whether an opener at index `at` begins a line or follows a tag, and precedes a tag."""
        window = self.window
        if not opener:  # the prompt ended with the opener
            return False
        before = window.text[max(0, at - 1) : at]
        if window.pos - at > limits.MARGIN or before not in ("", "\n", ">"):
            return False
        inside = window.text[at + len(opener) : window.pos].rstrip()
        follows = window.text[at + len(opener) : window.pos + 1].lstrip()[:1] == opener[0]
        return follows or inside.endswith(">")


IN_OBJECT = re.compile(r"""["']\s*+[:,}\]]|[{,]\s*+\w++\s*+:""")
IN_CALL = re.compile(r"""\w\(\s*+(?:\w++\s*+=|["')])|,\s*+\w++\s*+=""")
_Ending: TypeAlias = tuple[tuple[str, ...], re.Pattern[str]]
"""The possible ends of a call before its closer, and a pattern that matches inside the call."""


@lru_cache(maxsize=512)
def ending_of(form: Format) -> _Ending:
    """Return the texts that may end a call before its closer, and a pattern of its inside."""
    words = [
        word for word in form.words if not isinstance(word, Space | Maybe) and word != form.closer
    ]
    last, inside = words[-1], IN_OBJECT
    if row := next((word for word in words if isinstance(word, Many)), None):
        fixed = [word for word in row.words if isinstance(word, Literal)]
        inside = re.compile(re.escape(fixed[0].text))
        last = fixed[-1] if last is row else last
    match last:
        case Literal():
            return tuple(filter(None, map(str.rstrip, last.spellings))), inside
        case CallObject() | Arguments():
            return ("}", "]"), IN_OBJECT
        case PythonCalls():
            return (")", "]"), IN_CALL
        case Elements():
            return (">",), re.compile(r"<\w")
    return (), inside


_NAMES_IN = re.compile(r"[\w.-]++")
_KEYS = [re.compile(rf"""["'](?:{key})["']\s*+:""") for key in ("name", "arguments|parameters")]
"""Patterns of the name key and of the arguments key of a call that is written as JSON."""


def ends_call(token: Token, before: str, tools: Tools | None) -> bool:
    """Whether `before`, up to `KEPT` characters, ends like a call of a format with this closer.

    A tool's name alone counts, too. A closer without letters proves nothing: False.
    """
    if token.kind not in ("close", "end") or not any(map(str.isalpha, token.text)):
        return False
    body, endings = before.rstrip(), [ending_of(form) for form in token.formats]
    return any(
        ends_in_tool(body, tools) or (body.endswith(texts) and _is_in(body, inside, token, tools))
        for texts, inside in endings
    )


def ends_in_tool(text: str, tools: Tools | None) -> bool:
    """Whether the last word of `text` is the name of a tool."""
    return _any_tool(_NAMES_IN.findall(text)[-1:], tools)


def _any_tool(words: Iterable[str], tools: Tools | None) -> bool:
    return tools is not None and any(word in tools for word in words)


def _is_in(body: str, inside: re.Pattern[str], token: Token, tools: Tools | None) -> bool:
    """Whether `body` seems to have a call: an object with keys, named arguments, or their tags.

    If `inside` matches a tag, which may be farther back than `KEPT`, a long body counts, too. An
    object inside quotes (an odd number of them in the last line) does not. If the closer's own
    element is opened in `body`, it must also name a tool or have the keys of a call.
    """
    found, whole = inside.search(body) is not None, len(body) < limits.KEPT
    if inside not in (IN_OBJECT, IN_CALL):
        return found or not whole
    _, lines, line = body.rpartition("\n")
    if not found or ((whole or lines) and line.count('"') % 2):
        return False
    element = f"<{token.text[2:-1]}" if token.text.startswith("</") else "\0"
    if f"{element} " not in body and f"{element}>" not in body:
        return True
    return all(key.search(body) for key in _KEYS) or _any_tool(_NAMES_IN.findall(body), tools)


def _names(forms: Iterable[Format]) -> set[str]:
    """Return the names of formats, and of the formats that are read together with them."""
    return {each.name for form in forms for each in (form, *form.also)}
