"""Reads a unit: a text that is calls and nothing else, such as a whole reply or a code fence."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable

from tunaeval import limits
from tunaeval.grammar.format import Format
from tunaeval.types.calls import Repair, Span, Tools
from tunaeval.types.parsing import Level

from .block import Block, ObjectBlock, PythonBlock, Setting
from .collect import Collector, unmoved
from .finder import ESCAPED, MESSAGE_MEMBER, unit_starts
from .repair.values import repair_of
from .tagged import TaggedBlock
from .window import Reading, Window, read_all

_JOINTS = re.compile(r"[\s,;]*+")
"""What separates the calls of a unit; it matches nothing, too."""

_ENDS_OBJECT = re.compile(rf"\s*+(?:,?\s*+{MESSAGE_MEMBER})*+\}}?[\s;]*+\Z")


def gather(window: Window, end: re.Pattern[str] | None = None) -> Reading[None]:
    """Wait until a match of `end`, or all of the text, has arrived, and keep it in the window.

    Pieces are joined once at the end: a growing window would be copied for each new piece.
    """
    if window.final:
        return
    before = window.text[max(0, window.pos - limits.KEPT) : window.pos]
    start, pieces = window.offset, [window.text[window.pos :]]
    tail = pieces[0]
    # Not from 0, because the first character of `tail` need not begin a line.
    while not ((end and end.search(tail, 1)) or window.final):
        window.pos = len(window.text)
        yield
        pieces.append(window.text[window.pos :])
        tail = tail[-limits.KEPT :] + pieces[-1]
    window.text = before + "".join(pieces)
    window.pos, window.base = len(before), start - len(before)


def read_unit(
    forms: tuple[Format, ...], text: str, base: int, tools: Tools | None, level: Level
) -> tuple[Collector, Callable[[int], int]] | None:
    r"""Read a text that begins at offset `base` if it is a unit, calls alone; else return None.

    Returns a collector and a function that maps the collector's offsets to those of the original
    text. They differ if the text has escaped underscores, as it is then read without the escapes.
    If `\\_` occurs, the backslashes may belong to a string, and the text is read unchanged.
    """
    first, frame = text.find(ESCAPED), tuple[Repair, ...]()
    place: Callable[[int], int] = unmoved
    if first >= 0 and "\\" + ESCAPED not in text:
        # One character, because the span is in the text without escapes; `place` makes it two.
        message, span = "Markdown's `\\_` for an underscore", Span(base + first, base + first + 1)
        frame = (repair_of("markdown-escape", message, span),)
        text, place = unescaped(text, base)
    elif outer := _quoted_calls(text):
        text, place = unescaped(text, base, re.compile(rf"\\([\\{outer[1]}])"))
    for form in forms:
        head = unit_starts(form)[0].match(text)
        if head is None:
            continue
        collector = Collector(listened=False)
        setting = Setting(Window(text, base=base, final=True), collector, tools, level)
        if not _is_read(setting, form, head.end(), frame):
            continue
        if not collector.calls:  # without a call nothing is markup
            collector.uncover(0)
            collector.piece("content", base, base + len(text))
        return collector, place
    return None


def _is_read(setting: Setting, form: Format, head: int, frame: tuple[Repair, ...]) -> bool:
    """Whether the window's whole text is calls of this format; if so, collect them.

    `head` is the index where the start that `unit_starts` matched ends; `frame` are repairs that
    are added to each call.
    """
    window, collector = setting.window, setting.collector
    if form.call:
        window.pos = head
        collector.piece("markup", window.base, window.offset)
        if not _is_block(ObjectBlock(setting, form, window.offset, quoted=False), frame):
            return collector.full
        end = _ENDS_OBJECT.match(window.text, window.pos)
        window.pos = end.end() if end else window.pos
    elif form.python:
        block = PythonBlock(setting, form, window.offset, quoted=False, begins_line=True)
        whole = _is_block(block, frame) and window.pos == len(window.text)
        return whole or collector.full
    else:
        while joint := _JOINTS.match(window.text, window.pos):
            start, window.pos = window.offset, joint.end()
            collector.piece("markup", start, window.offset)
            if window.pos == len(window.text) or collector.note_full():
                break
            if not _is_block(TaggedBlock(setting, form, window.offset, quoted=False), frame):
                return False
    collector.piece("markup", collector.end, window.offset)
    return window.pos == len(window.text) or collector.full


def _is_block(block: Block, frame: tuple[Repair, ...]) -> bool:
    """Read a block of a complete text; return whether it has a body and nothing unreadable."""
    block.frame = frame
    read_all("", block.read())
    return block.had_body and not block.failed


_quoted_calls = re.compile(r"""[\s\[]{0,64}+(["'])[^\W\d][\w.]{0,127}+\([^\\]*+\\[\\"']""").match
"""Match a list of calls whose first escape is one of a text's own; the group is their quote."""

_UNDERSCORES = re.compile(r"\\(_)")


def unescaped(
    text: str, base: int = 0, escapes: re.Pattern[str] = _UNDERSCORES
) -> tuple[str, Callable[[int], int]]:
    r"""Return a text without one level of `escapes`, by default `_` for each `\_`, and a function
    from its offsets to the original's.
    """
    if escapes is _UNDERSCORES and ESCAPED not in text:
        return text, unmoved
    removed = [one.start() - index for index, one in enumerate(escapes.finditer(text))]

    def place(offset: int) -> int:
        return offset + bisect_right(removed, offset - base - 1)

    # `sub` keeps each piece, of which a text may have very many.
    plain = text.replace(ESCAPED, "_") if escapes is _UNDERSCORES else escapes.sub(r"\1", text)
    return plain, place
