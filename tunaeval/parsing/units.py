r"""Calls that are all of a unit: of a whole reply, or of what is in a code fence.

Nothing marks such a call (`f(x=1); g()`, a name and JSON below it, `{"tool_calls": [...]}`), so a
unit is read only if nothing else is in it; else it is read as any text is. Models that write
Markdown escape each underscore (`get\_price`): a unit in which one is escaped is read without the
backslashes, and offsets are those of the text as it is.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from typing import NamedTuple

from tunaeval.grammar import Format
from tunaeval.limits import KEPT, UNIT_AHEAD
from tunaeval.repair import repair_of
from tunaeval.types import Level, Repair, Span, Tools
from tunaeval.window import Reading, Window, read_all

from .block import Begun, Setting
from .collect import Collector
from .objects import Block
from .python_calls import PythonBlock
from .tagged import TaggedBlock

ESCAPED = "\\_"

_NAME = r"[^\W\d](?:[\w.:/-]|\\_){0,200}+"
_QUOTED = r"""[\s\[\]'"`]{0,64}+"""
_LIST = re.compile(rf"\s{{0,64}}+\[\s{{0,64}}+{_NAME}\s{{0,24}}+\(")
"""A plain list of calls, which other formats read."""

_JOINTS = re.compile(r"[\s,;]*+")
_ENDS_OBJECT = re.compile(r"\s*+\}?[\s;]*+\Z")


class Unit(NamedTuple):
    """How the units of one format begin.

    `begins` matches what has to be at the start, with the name of the first tool if that has to be
    a known one; `may_begin` matches a text that ends before that is decided.
    """

    form: Format
    begins: Callable[[str, int], re.Match[str] | None]
    may_begin: Callable[[str, int], re.Match[str] | None]


def unit_of(form: Format) -> Unit:
    """Compile how the units of a format with `whole=True` begin."""
    if form.python:
        head = rf"""{_QUOTED}{_NAME}['"`]?\s{{0,24}}+\("""
        part = rf"""{_QUOTED}(?:{_NAME}(?:\\|['"`]?\s{{0,24}}+))?\Z"""
    elif form.call:
        keys = "|".join(map(re.escape, form.call.inside))
        head = rf"""\s{{0,64}}+\{{\s{{0,64}}+["'](?:{keys})["']\s{{0,24}}+:\s{{0,64}}+(?=[\[{{])"""
        most = max(map(len, form.call.inside))
        key = rf"""["']\w{{0,{most}}}+["']?\s{{0,24}}+:?\s{{0,64}}+"""
        part = rf"\s{{0,64}}+(?:\{{\s{{0,64}}+(?:{key})?)?\Z"
    else:
        head = rf"\s{{0,64}}+(?P<name>{_NAME})[ \t]{{0,8}}\r?\n\s{{0,24}}+(?=\{{)"
        part = rf"\s{{0,64}}+(?:{_NAME}(?:\\|\s{{0,32}}+))?\Z"
    return Unit(form, re.compile(head).match, re.compile(part).match)


def begins_unit(
    units: tuple[Unit, ...], window: Window, at: int, tools: Tools | None, *, fenced: bool
) -> bool | None:
    """Whether a unit may begin at an index of the window's text; None if more text could tell."""
    text = window.text
    for unit in units:
        found = unit.begins(text, at)
        if found is None:
            if not window.final and unit.may_begin(text, at):
                return None
            continue
        name = found.groupdict().get("name")
        if name is not None and tools is not None and name.replace(ESCAPED, "_") not in tools:
            continue
        if fenced or not _LIST.match(text, at) or ESCAPED in text[at : at + UNIT_AHEAD]:
            return True
        if not window.final and len(text) - at < UNIT_AHEAD:
            return None
    return False


def gather(window: Window, end: re.Pattern[str] | None = None) -> Reading[None]:
    """Wait until `end` has arrived, or all of the text; afterwards the window holds all of it.

    Pieces are joined once, as a window that grows piece by piece would be copied for each of them.
    """
    if window.final:
        return
    before = window.text[max(0, window.pos - KEPT) : window.pos]
    start, pieces = window.offset, [window.text[window.pos :]]
    tail = pieces[0]
    # From 1 on, as the first character of what is kept need not begin a line.
    while not ((end and end.search(tail, 1)) or window.final):
        window.pos = len(window.text)
        yield
        pieces.append(window.text[window.pos :])
        tail = tail[-KEPT:] + pieces[-1]
    window.text = before + "".join(pieces)
    window.pos, window.base = len(before), start - len(before)


def read_unit(
    units: tuple[Unit, ...], text: str, base: int, tools: Tools | None, level: Level
) -> tuple[Collector, Unescaped] | None:
    """Read the text of a unit that begins at offset `base`; None if it is not calls alone.

    Where an underscore is escaped, it is read without escapes, and the collector's offsets are
    those of that text. A backslash before an escape is a string's own, so nothing is taken away.
    """
    first, frame, unescaped = text.find(ESCAPED), tuple[Repair, ...](), Unescaped("")
    if first >= 0 and "\\" + ESCAPED not in text:
        message, span = "Markdown's `\\_` for an underscore", Span(base + first, base + first + 2)
        unescaped = Unescaped(text, base)
        text, frame = unescaped.text, (repair_of("markdown-escape", message, span),)
    for unit in units:
        head = unit.begins(text, 0)
        if head is None:
            continue
        collector, window = Collector(listened=False), Window(text, final=True)
        window.base = base
        if not _is_read(Setting(window, collector, tools, level), unit.form, head.end(), frame):
            continue
        if not collector.calls:  # nothing in it frames a call
            collector.uncover(0)
            collector.piece("content", base, base + len(text))
        return collector, unescaped
    return None


def _is_read(setting: Setting, form: Format, head: int, frame: tuple[Repair, ...]) -> bool:
    """Whether the window's whole text is calls of this format; they are in the collector then.

    What it begins with ends at index `head`, and `frame` are repairs of all calls.
    """
    window, collector = setting.window, setting.collector
    if form.call:
        window.pos = head
        collector.piece("markup", window.base, window.offset)
        if not _is_block(Block(setting, form, window.offset, quoted=False), frame):
            return collector.full
        end = _ENDS_OBJECT.match(window.text, window.pos)
        window.pos = end.end() if end else window.pos
    elif form.python:
        block = PythonBlock(setting, form, window.offset, quoted=False, begins_line=True)
        whole = _is_block(block, frame) and window.pos == len(window.text)
        return whole or collector.full
    else:
        while _pass_joints(setting) and not collector.full:
            tagged = TaggedBlock(setting, form, window.offset, quoted=False)
            if not _is_block(tagged, frame):
                return False
    collector.piece("markup", collector.end, window.offset)
    return window.pos == len(window.text) or collector.full


def _pass_joints(setting: Setting) -> bool:
    """Pass over what is between calls; whether another one follows, which may be one too many."""
    window, collector = setting.window, setting.collector
    joint = _JOINTS.match(window.text, window.pos)
    start, window.pos = window.offset, joint.end() if joint else window.pos
    collector.piece("markup", start, window.offset)
    follows = window.pos < len(window.text)
    if follows:
        collector.is_full()
    return follows


def _is_block(block: Begun, frame: tuple[Repair, ...]) -> bool:
    block.frame = frame
    read_all("", block.read())
    return block.had_body and not block.failed


class Unescaped:
    r"""A text without the backslashes of `\_`, and where each character is in the text as it is."""

    def __init__(self, text: str, base: int = 0) -> None:
        self.text = text.replace(ESCAPED, "_")
        self._base = base
        found = re.finditer(re.escape(ESCAPED), text) if len(self.text) != len(text) else ()
        self._removed = [one.start() - index for index, one in enumerate(found)]

    def place(self, offset: int) -> int:
        """Return the offset in the text as it is."""
        if not self._removed:
            return offset
        return offset + bisect_right(self._removed, offset - self._base - 1)
