"""Rows of calls as Python writes them, and what may be around a row without markers."""

from __future__ import annotations

import re

from tunaeval.grammar import Format
from tunaeval.limits import KEPT, LIST_AHEAD, LIST_BEFORE, NEAR_SPACE
from tunaeval.repair import PythonReader
from tunaeval.types import ToolCall, Tools
from tunaeval.window import Window

from ..patterns import SPACE
from ..quoting import IN_PROGRAM_STRING
from .made import call_of
from .promise import UNSURE, BlockReader
from .rows import behind_space
from .sound import holds, sound

NAME = re.compile(r"[^\W\d][\w.:-]{0,127}+")

HEAD_NEAR = re.compile(rf"({NAME.pattern}){NEAR_SPACE}")
"""In a row that nothing closes, what is before the parenthesis of another call; else it is text."""

_CODE_BEFORE = re.compile(
    r"(?:[\w)\]]|[+*{\[][ \t]{0,8}|[=(,]\s{0,24}|(?:\breturn|\byield|==)[ \t]{1,8}|\S\s{0,24}"
    + IN_PROGRAM_STRING
    + r")\Z"
)
"""What is before a list in a program: a name, an assignment, an argument, a string's quotes."""

_head = re.compile(rf"{SPACE}({NAME.pattern}){SPACE}(?=\()").match
_next_head = re.compile(rf"{SPACE}{HEAD_NEAR.pattern}(?=\()").match
_IN_CALL = re.compile(r"""[][(){}:,"'=*#\w+-]""").match
_next = re.compile(rf"{SPACE}(?:(,)|\])").match


def python_reader(form: Format) -> BlockReader:
    """The reader of a format whose calls are written as Python does."""
    stops, bare, format_name = python_stops(form), form.opener is None, form.name
    closers = "|".join(map(re.escape, form.closer.spellings)) if form.closer else ""
    never_closed = not (closers or bare)
    behind_row = rf"{SPACE}(?!,)" if never_closed else rf"{SPACE}(?:{closers})" if closers else ""
    tail, next_head = re.compile(behind_row).match, _next_head if never_closed else _head

    def read(text: str, start: int, body: int, tools: Tools | None, calls: list[ToolCall]) -> int:
        if bare and (in_code(text, start) or not (tools or _begins_line(text, start))):
            return UNSURE
        at = behind_space(text, body)
        listed = text.startswith("[", at)
        window = Window(text, final=True)
        window.pos = at + listed
        head = _head
        while named := head(text, window.pos):
            window.pos, name = named.end(), named[1]
            arguments = sound(PythonReader(window, (), stops))
            if not holds(arguments, name, tools):
                return UNSURE
            calls.append(call_of(name, arguments, format_name, (named.start(1), window.pos), None))
            if listed:
                behind = _next(text, window.pos)
                if behind is None:
                    return UNSURE
                window.pos = behind.end()
                if behind[1] is None:
                    break
            else:
                head = next_head
        else:
            if listed:
                return UNSURE
        end = tail(text, window.pos)
        if end is None or not calls or (bare and not ends_line(text, window.pos)):
            return UNSURE
        return end.end()

    return read


def python_stops(form: Format) -> tuple[str, ...]:
    """The texts behind calls, which no call goes beyond; none that begins as something in one."""
    closers = (form.closer, (form.around or (None, None))[1])
    texts = (text for word in closers for text in (word.spellings if word else ()) if text)
    return tuple(text for text in texts if not _IN_CALL(text))


def in_code(text: str, start: int) -> bool:
    """Whether a list that begins there is part of a program."""
    return _CODE_BEFORE.search(text, max(0, start - LIST_BEFORE), start) is not None


def ends_line(text: str, end: int) -> bool:
    """Whether nothing is behind a list in its line, as far as the text goes."""
    rest = text[end : end + LIST_AHEAD].lstrip(" \t")
    return not rest or rest.startswith(("\r", "\n", "<|"))


def _begins_line(text: str, start: int) -> bool:
    """Whether nothing is before a list in its line; where markup is, this does not see it."""
    before = text[max(0, start - KEPT) : start]
    return not before[before.rfind("\n") + 1 :].strip(" \t")
