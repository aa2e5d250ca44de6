"""The text between blocks, gone through hit by hit, as far as nothing unusual is met.

It keeps what the engine's scanner keeps, told in offsets: since where the text is content
(`gap`), what is none behind a bare call (`joints`), since where the present line counts (`line`),
whether a code fence is open, whether white space still belongs to the reasoning before it
(`thought`), whether an opener was only `mentioned`, and whether we may be inside an object that was
`refused`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias

from tunaeval.grammar import Format
from tunaeval.types import NAME_KEYS, ParseResult, ToolCall, Tools

from ..collect import JOINTS, MAX_CALLS
from ..finder import FENCE, LEAST_CUT, Finder, Token
from .blocks import block_reader
from .claims import passed_over
from .made import result_of
from .promise import BlockReader

Action: TypeAlias = "Callable[[Passage, int, int], bool]"
"""What to do at a hit, from its start to its end; false if only the engine can tell."""

Chooser: TypeAlias = Callable[[str, int], BlockReader | None]
"""Whose block it is, by what stands behind its opener; None if it is no block's."""

_LINE = 240
"""As much of the last line as the scanner remembers."""


class Passage:
    """One text on its way through a set of formats; used once."""

    __slots__ = ("announced", "at", "calls", "gap", "in_code", "joints", "line", "mentioned",
                 "refused", "said", "text", "thought", "thoughts", "tools")  # fmt: skip

    def __init__(self, text: str, tools: Tools | None, calls: list[ToolCall], start: int) -> None:
        self.text = text
        self.tools = tools
        self.calls = calls
        self.at = self.gap = self.line = start
        self.said: list[str] = []
        self.thoughts: list[str] | None = None
        self.in_code = False
        self.thought = False
        self.mentioned = False
        self.refused = False
        self.announced = False
        self.joints: str | None = None

    def pause(self, start: int, end: int) -> None:
        """What stands before `start` was content, if it is more than white space; then markup."""
        gap = self.text[self.gap : start]
        if self.thought:
            gap = gap.lstrip()
            self.thought = not gap
        if gap.strip(self.joints):
            self.said.append(gap)
        self.at = self.gap = self.line = end
        self.joints = None

    def content_so_far(self, start: int) -> bool:
        """Whether content stands right before `start`, or nothing at all."""
        return not self.gap or bool(self.text[self.gap : start].strip(self.joints))

    def quoted(self, start: int) -> bool:
        """Whether a backtick stands right before."""
        return start > 0 and self.text[start - 1] == "`"

    def ticked(self, start: int) -> bool:
        """Whether a backtick stands before in the same line."""
        text = self.text
        return "`" in text[max(self.line, text.rfind("\n", 0, start) + 1, start - _LINE) : start]

    def result(self, finder: Finder) -> ParseResult | None:
        """The whole, once nothing more is found; None if its end is unusual."""
        text, size = self.text, len(self.text)
        line = text[max(self.line, size - _LINE) :]
        odd = self.in_code or self.announced or len(self.calls) > MAX_CALLS
        if odd or (line and ends_oddly(line, finder)):
            return None
        if self.gap == 0:
            return result_of(tuple(self.calls), text, None)
        self.pause(size, size)
        reasoning = None if self.thoughts is None else "".join(self.thoughts)
        return result_of(tuple(self.calls), "".join(self.said), reasoning)


def ends_oddly(line: str, finder: Finder) -> bool:
    """Whether a last line ends in an ellipsis, or perhaps in the middle of an opener."""
    return line.rstrip().endswith(("...", "…")) or line[-LEAST_CUT:] in finder.cut_ends


def action_of(token: Token) -> Action:
    """What to do at such a token."""
    return _ACTIONS[token.kind](token)


def chooser_of(token: Token) -> Chooser:
    """Who reads the blocks that begin with this opener, as the engine chooses; made when needed."""
    if len(token.formats) == 1 and not token.around:
        reader = block_reader(token.formats[0])
        return lambda *_: reader
    probes = [(re.compile(probe).match, index) for index, probe in enumerate(token.probes)]
    readers: list[BlockReader | None] = [None] * len(probes)

    def reader_at(index: int) -> BlockReader:
        made = readers[index] = block_reader(token.formats[index])
        return made

    def choose(text: str, at: int) -> BlockReader | None:
        for fits, index in probes:
            if fits(text, at):
                return readers[index] or reader_at(index)
        return None if token.around else reader_at(0)

    return choose


# --- what to do at a token -----------------------------------------------------------------------


def _opened(token: Token) -> Action:
    choose, fence, bare = chooser_of(token), token.text == FENCE, token.kind == "bare"
    mark, objects = _around(token), bare and all(map(_has_usual_keys, token.formats))

    def act(passage: Passage, start: int, end: int) -> bool:
        text, calls = passage.text, passage.calls
        if passage.in_code and fence:
            passage.in_code, passage.at = False, end
            return True
        if bare and (passage.in_code or (passage.refused and text[start - 1] != "\n")):
            passage.at = start + 1
            return True
        body = start if bare else end
        reader = None if passage.quoted(start) else choose(text, body)
        if reader is None:
            return token.around and mark(passage, start, end)
        if bare and passage.ticked(start):
            return False
        count = len(calls)
        after = reader(text, start, body, passage.tools, calls)
        passage.refused = False
        if after < 0 and objects and len(calls) == count:
            after, passage.refused = passed_over(text, start)
        if after < 0 or count >= MAX_CALLS:
            return False
        passage.announced = False
        if len(calls) > count:
            passage.pause(start, after)
            passage.joints = JOINTS if bare else None
            return True
        # What is no attempt is content, as it stands.
        if passage.thought and not passage.content_so_far(start):
            return False
        passage.in_code = passage.in_code or fence
        passage.mentioned = passage.mentioned or not (fence or bare)
        passage.at = passage.line = after
        return True

    return act


def _bare(token: Token) -> Action:
    return _unusual(token) if token.formats[0].python else _opened(token)


def _has_usual_keys(form: Format) -> bool:
    return form.call is not None and form.call.name in NAME_KEYS


def _around(token: Token) -> Action:
    def act(passage: Passage, start: int, end: int) -> bool:
        if passage.quoted(start):
            return False
        passage.pause(start, end)
        passage.announced = token.announces
        return True

    return act


def _unusual(_: Token) -> Action:
    """What only the engine can tell: a message's header or end, a list of Python calls."""
    return lambda *_: False


def _closed(token: Token) -> Action:
    mark = _around(token)

    def act(passage: Passage, start: int, end: int) -> bool:
        if token.around:
            framed = passage.refused or passage.mentioned
            return not framed and mark(passage, start, end)
        passage.at, passage.refused = end, False
        return passage.content_so_far(start) and not passage.mentioned

    return act


def _thinking(token: Token) -> Action:
    closer = token.reasoning.close if token.reasoning else ""

    def act(passage: Passage, start: int, end: int) -> bool:
        text = passage.text
        begun = start == passage.line or text[start - 1] == "\n"
        close = text.find(closer, end)
        if passage.in_code or not begun or close < 0 or passage.quoted(start):
            return False
        passage.pause(start, close + len(closer))
        passage.thoughts = [*(passage.thoughts or ()), text[end:close]]
        passage.thought = True
        return True

    return act


def _thought(_: Token) -> Action:
    def act(passage: Passage, start: int, end: int) -> bool:
        if passage.gap or passage.thoughts is not None or passage.quoted(start):
            return False
        passage.thoughts = [passage.text[:start]]
        passage.at = passage.gap = passage.line = end
        passage.in_code = passage.refused = False
        passage.thought = True
        return True

    return act


_ACTIONS: dict[str, Callable[[Token], Action]] = {
    "open": _opened,
    "bare": _bare,
    "close": _closed,
    "around": _around,
    "reasoning": _thinking,
    "end_reasoning": _thought,
    "message": _unusual,
    "end": _unusual,
}
