"""Content that ends in a call all the same: the name of a tool is in it, and arguments.

Then what begins the call was damaged, or its object was, and no closer told of it (see
`lost_openers`). Asked when all of a text was read, of what nothing else was said of.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping

from tunaeval.limits import KEPT, LOST_ENDING
from tunaeval.types import Tools

from .collect import Collector
from .fast import FENCE

_WORDS = re.compile(r"[\w.-]++")
_SPOKEN = re.compile(r"(?<!\S)[^\W\d_]{2,}+[,;.!?]?+(?!\S)|[`*]|(?<!\S)(?:[-|]|\d++[.)])(?!\S)")
"""What stands in sentences, lists and tables: a word of letters alone, a tick, stars, a bullet."""

_MARKED = re.compile(r"""[^\w\s.,()!?'"/=-]""").search
"""What is left of an opener has a sign in it that no word has."""

_KEY = re.compile(r"""["'][ \t]*+:""").match
_ASSIGNED = re.compile(r"""["']?+[ \t]*+[:=>]""").match
_PROGRAM = re.compile(r"`++[ \t]*+[^\W_]*+(?![^\s+#])").match
"""A fence of a program, whose language is a word."""

_NOTHING = re.compile(r"(?:\{[ \t\r\n]*+\}|\([ \t\r\n]*+\))").match


def ends_like_call(text: str) -> bool:
    """Whether the last bracket closes, and at most one more thing without blanks follows it."""
    tail = text[-LOST_ENDING:]
    last = max(tail.rfind("}"), tail.rfind("]"), tail.rfind(")"))
    return last >= 0 and len(tail[last + 1 :].split()) < 2


def tell_lost_calls(collector: Collector, text: str, tools: Tools | None) -> None:
    """Say of each stretch of content that nothing was said of if it ends in a call.

    `text` is the whole one, and all of it was read.
    """
    if tools is None:
        return
    said = sorted(note.span.start for note in collector.diagnoses if note.span)
    for kind, start, end in collector.pieces:
        if kind != "content" or not ends_like_call(text[max(start, end - LOST_ENDING) : end]):
            continue
        if bisect_left(said, start) == bisect_left(said, end):
            _tell(collector, text[start:end], start, tools)


def _tell(collector: Collector, content: str, start: int, tools: Tools) -> None:
    """The same of content that begins at an offset."""
    fences = counted = fence = 0
    for found in _WORDS.finditer(content):
        name, at = found[0], found.start()
        if name not in tools or not _is_called(content, found, tools[name].parameters):
            continue
        fences += content.count(FENCE, counted, at)
        fence, counted = max(fence, content.rfind(FENCE, counted, at)), at
        if fences % 2 and content.startswith("(", found.end()) and _PROGRAM(content, fence):
            continue
        message = f"{name!r} and its arguments, and nothing before them that begins a call"
        collector.diagnose("missing-opener", message, start + at, start + found.end())
        collector.attempt(start + at)
        return


def _is_called(content: str, name: re.Match[str], parameters: Mapping[str, object]) -> bool:
    """Whether a tool's name is in what may be left of a call, and its arguments follow."""
    start, end = name.span()
    line = content[max(0, start - KEPT) : start].rpartition("\n")[2]
    opened = line.rfind("{")
    before = line[opened + 1 :] if opened > line.rfind("}") else line
    ahead = content[end : end + KEPT]
    sign = min((at for at in map(ahead.find, "({") if at >= 0), default=-1)
    if sign < 0 or _KEY(ahead) or _SPOKEN.search(before) or _in_string(before):
        return False
    if len(_SPOKEN.findall(ahead, 0, sign)) > 1 or not _is_marked(line, ahead[: sign + 1]):
        return False
    if _NOTHING(ahead, sign):
        return True
    declared = parameters.get("properties")
    return isinstance(declared, Mapping) and any(_is_assigned(ahead, key) for key in declared)


def _in_string(before: str) -> bool:
    """Whether what follows is in a string, and does not begin it."""
    return before.count('"') % 2 == 1 and before[-1] != '"'


def _is_marked(line: str, between: str) -> bool:
    """Whether there is more than a name and words; or a program's call begins the line."""
    return _MARKED(line) is not None or (between == "(" and not line.strip())


def _is_assigned(text: str, key: str) -> bool:
    """Whether a value belongs to this key where it is first met."""
    at = text.find(key)
    return at >= 0 and _ASSIGNED(text, at + len(key)) is not None
