"""What a marker is that begins or ends no call: quoted, named in a sentence, or a broken attempt.

All of it is decided by what is near, so that a stream decides as a whole text does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

from tunaeval.grammar import (
    Arguments,
    CallObject,
    Elements,
    Literal,
    Many,
    PythonCalls,
    Space,
    Word,
)
from tunaeval.grammar.format import Format
from tunaeval.limits import CALL_AHEAD, KEPT, LIST_BEFORE, WIDEST_GAP
from tunaeval.types.calls import Tools

from .window import Window

if TYPE_CHECKING:
    from .collect import Collector
    from .finder import Token

FENCE = "```"
"""Of Markdown: what is in it may be code."""

LINE_START = re.compile(r"(?:\A|\n)[ \t]*+\Z")
"""What comes next begins its line, but for white space."""

OPENS_FENCE = re.compile(r"(?:\A|\n)```([\w+-]{0,24})[ \t]{0,8}\r?\n[ \t\r\n]{0,40}\Z")
"""The line before is a code fence; its group is the language."""

IN_PROGRAM_STRING = r"[\"']{3}[ \t]{0,8}\n?[ \t]{0,40}"
"""What is before the first line of a string of several lines, in a program."""

_TICK = re.compile(r"(?<!`)``?(?!`)")

_NAMED = re.compile(r"\w \S++ ++[\w-]++ ++\S++\Z").match
"""A word, an opener, one word between blanks, and a closer."""

_BEFORE_WORDS = re.compile(r".?\w\Z|[\w*-] \Z", re.DOTALL).match
"""What is before an opener of words or signs in a sentence, or in an item of a list."""

_in_string = re.compile(rf"\S\s{{0,24}}{IN_PROGRAM_STRING}\Z").search


def in_program(text: str, at: int) -> bool:
    """Whether what begins at an index is the first line of a string in a program."""
    return _in_string(text, max(0, at - LIST_BEFORE), at) is not None


def ends_sentence(window: Window, start: int, name: str | None, tools: Tools | None) -> bool:
    """Whether what begins at offset `start` is behind a word, in the last line of the text.

    So a reply ends: "Here is a Call to Action:", "x>>>1", "- Action: rest". Before the name of a
    tool it is no sentence.
    """
    at = start - window.base
    if tools is not None and name in tools:
        return False
    in_words = _BEFORE_WORDS(window.text[max(0, at - 2) : max(0, at)]) is not None
    return in_words and "\n" not in window.text[at:].rstrip()


def is_named_in_prose(window: Window, start: int, name: str | None, tools: Tools | None) -> bool:
    """Return whether the text from offset `start` on is a word between tags, as in the sentence
    "between <tool_call> and </tool_call>". The name of a tool is no word.
    """
    at = start - window.base
    if at < 2 or (tools is not None and name in tools):
        return False
    return _NAMED(window.text[at - 2 : window.pos]) is not None


def opens_code(line: str, *, whole: bool) -> bool | None:
    """Whether inline code is open at the end of the present line, the last one in `line`.

    None if its beginning is unknown. `whole`: nothing is missing although no line ends in there.
    """
    start = line.rfind("\n")
    if start < 0 and not whole:
        return None
    return len(_TICK.findall(line, start + 1)) % 2 == 1


def in_ticks(line: str) -> bool:
    """Whether the present line has opened inline code; of one too long to remember, not."""
    return opens_code(line, whole=len(line) < KEPT) is True


END_TOKENS = (
    "<|im_end|>", "<|endoftext|>", "<|end_of_text|>", "<|eot_id|>", "<|eom_id|>", "<|end_of_turn|>",
    "<|END_OF_TURN_TOKEN|>", "<｜end▁of▁sentence｜>", "<end_of_turn>", "<eos>", "</s>",
)  # fmt: skip
"""Of chat templates: what a model ends its turn with, and servers mostly leave out."""

_TOKEN = "|".join(map(re.escape, END_TOKENS))
_ENDS = re.compile(rf"(?:(?:{_TOKEN})\s{{0,40}}+){{1,8}}+")
_LAST_ENDS = re.compile(rf"(?:(?:{_TOKEN})\s*+){{1,8}}\Z")


def ends_text(window: Window) -> int | None:
    """How many characters end the text from the token here on; 0: more follows; None to wait."""
    found = _ENDS.match(window.text, window.pos)
    end = found.end() if found else window.pos
    rest = window.text[end : end + max(map(len, END_TOKENS))]
    if not rest and window.final:
        return end - window.pos
    waits = not window.final and any(token.startswith(rest) for token in END_TOKENS)
    return None if waits else 0


def before_end_tokens(text: str) -> int:
    """Where the tokens begin that the text ends with, few of them; its length if there are none."""
    found = _LAST_ENDS.search(text)
    return found.start() if found else len(text)


LINES = (
    "### Instruction", "### Input", "### User", "### Human", "### Question", "### Response",
    "### Assistant", "User:", "Human:", "Assistant:", "Question:", "Output:", "Observation:", '"""',
    "'''",
)  # fmt: skip
"""They begin a later turn at the beginning of a line, as anybody writes a dialogue.

An answer of the model's own is one, too: it has answered already. So is the end of a string that
nothing began: the model goes on with a program that has the answer in a string.
"""

TOKENS = (
    "<|im_start|>user", "<|im_start|>tool", "<|start_header_id|>user", "<|start_header_id|>ipython",
    "<|start_header_id|>tool", "<|start|>user", "<|start|>functions.", "<|user|>",
    "<|observation|>", "<|USER|>", "<|User|>", "<｜User｜>", "<start_of_turn>user", "[INST]",
    "[TOOL_RESULTS]", "<tool_response>",
)  # fmt: skip
"""Of chat templates: what a user's or a tool's turn begins with."""

TURNS = frozenset((*LINES, *TOKENS))

_LINE = rf"(?m:^)[ \t]*+(?:{'|'.join(map(re.escape, LINES))})"
begins_turn = re.compile(rf"{_LINE}|{'|'.join(map(re.escape, TOKENS))}").search
"""Search the first later turn."""

ELLIPSES = ("...", "…")

_BODY = re.compile(r"""[{}\[\]("'=\n<]""")
"""Prose between two tags that it names has none of these."""

_BEGINNINGS = ("<", "{", "[", "(")
"""What a call, its tag or a list of calls begins with."""


@dataclass(slots=True)
class Unread:
    """A marker that no call followed: an opener, or one that is around calls.

    It begins at offset `start`, and means nothing unless what is `behind` it, up to its closer,
    looks as if a call was meant. `form` is the format whose opener it is, None around calls.
    `likely`: it begins its line, and a tag is right behind it if it is an opener. `inline`: it is
    in a sentence, which may name its closer, too. `quote` is the sign that it is behind, which then
    ends a quote of it.
    """

    start: int
    token: Token
    form: Format | None
    likely: bool
    inline: bool
    quote: str = ""
    behind: str = ""

    def add(self, text: str) -> None:
        """Append text that follows the marker, up to the most that is looked at for a call."""
        if len(self.behind) < CALL_AHEAD:
            self.behind += text[:CALL_AHEAD]

    def closed(self, collector: Collector, closer: Token, end: int, tools: Tools | None) -> None:
        """Report an attempt if what its closer ends at `end` looks like one."""
        text = self.behind.replace(self.quote, "") if self.quote else self.behind
        named = bool(text.strip()) or self.inline
        if self.likely or _BODY.search(text) or ends_in_tool(text, tools) or not named:
            self._report(collector, f"between {self.token.text!r} and {closer.text!r}", end)

    def unclosed(self, collector: Collector, end: int) -> None:
        """Report an attempt if nothing closes it up to `end`, and anything but words is behind."""
        if self.behind.lstrip().startswith(_BEGINNINGS):
            self._report(collector, f"behind {self.token.text!r}", end)

    def interrupted(self, collector: Collector, token: Token, window: Window) -> None:
        """Report an attempt if another opener of its format is here, but not right behind it."""
        between = window.offset - self.start - len(self.token.text)
        twice = between <= WIDEST_GAP and not window.text[window.pos - between : window.pos].strip()
        own = (self.form,) if self.form else ()
        if self.likely and not twice and _names(token.formats) & _names(own):
            where = f"between {self.token.text!r} and {token.text!r}"
            self._report(collector, where, window.offset)
            self.likely = False

    def _report(self, collector: Collector, where: str, end: int) -> None:
        """Report that nothing could be read; around calls only if nothing else is known there."""
        known = collector.has_call if self.form else collector.has_said
        if collector.last == "content" and not known(self.start):
            collector.diagnose("invalid-json", f"nothing readable {where}", self.start, end)
            collector.attempt(self.start)


def _names(forms: Iterable[Format]) -> set[str]:
    """The names of formats, and of those that are read together with them."""
    return {each.name for form in forms for each in (form, *form.also)}


_WORDS = re.compile(r"[\w.-]++")
_IN_OBJECT = re.compile(r"""["']\s*+[:,}\]]|[{,]\s*+\w++\s*+:""")
_IN_CALL = re.compile(r"""\w\(\s*+(?:\w++\s*+=|["')])|,\s*+\w++\s*+=""")
_KEYS = [re.compile(rf"""["'](?:{key})["']\s*+:""") for key in ("name", "arguments|parameters")]
"""Match the name key and the arguments key of a call written as JSON."""


_Ending: TypeAlias = tuple[tuple[str, ...], re.Pattern[str]]
"""What calls of a format end with before their closer, and what is somewhere before that."""

_LAST: Mapping[type[Word], _Ending] = {
    CallObject: (("}", "]"), _IN_OBJECT),
    Arguments: (("}", "]"), _IN_OBJECT),
    PythonCalls: ((")", "]"), _IN_CALL),
    Elements: ((">",), re.compile(r"<\w")),
}
"""By the last word in front of the closer; arguments one by one end with their last tag."""


def ends_call(token: Token, before: str, tools: Tools | None) -> bool:
    """Whether `before`, at most `KEPT` characters, ends as a call does that this closer ends.

    The name of a tool alone is a call, too. A closer of signs alone proves nothing.
    """
    closes = token.kind in ("close", "end") and any(map(str.isalpha, token.text))
    endings = [_ending(form) for form in token.formats] if closes else []
    body = before.rstrip()
    if any(
        body.endswith(texts) and _is_in(body, inside, token, tools) for texts, inside in endings
    ):
        return True
    return bool(endings) and ends_in_tool(body, tools)


def ends_in_tool(text: str, tools: Tools | None) -> bool:
    """Whether the last word is the name of a tool."""
    return _any_tool(_WORDS.findall(text)[-1:], tools)


def _any_tool(words: Iterable[str], tools: Tools | None) -> bool:
    return tools is not None and any(word in tools for word in words)


def _is_in(body: str, inside: re.Pattern[str], token: Token, tools: Tools | None) -> bool:
    """Whether a call is in there: an object with keys or strings, or tags of arguments.

    Tags may be farther away than can be seen. An object in quotes is none, which shows in its last
    line; one in an element that has the closer's name is one only if it names a tool or has the
    keys of a call.
    """
    found, whole = inside.search(body) is not None, len(body) < KEPT
    if inside not in (_IN_OBJECT, _IN_CALL):
        return found or not whole
    _, lines, line = body.rpartition("\n")
    if not found or ((whole or lines) and line.count('"') % 2):
        return False
    element = f"<{token.text[2:-1]}" if token.text.startswith("</") else "\0"
    if f"{element} " not in body and f"{element}>" not in body:
        return True
    return all(key.search(body) for key in _KEYS) or _any_tool(_WORDS.findall(body), tools)


@lru_cache(maxsize=512)
def _ending(form: Format) -> _Ending:
    """Return how a call of this format ends: what is right before its closer, and what is in it."""
    words = [word for word in form.words if not isinstance(word, Space) and word != form.closer]
    last, inside = words[-1], _IN_OBJECT
    if row := next((word for word in words if isinstance(word, Many)), None):
        fixed = [word for word in row.words if isinstance(word, Literal)]
        inside = re.compile(re.escape(fixed[0].text))
        last = fixed[-1] if last is row else last
    if isinstance(last, Literal):
        return tuple(filter(None, map(str.rstrip, last.spellings))), inside
    return _LAST.get(type(last), ((), inside))
