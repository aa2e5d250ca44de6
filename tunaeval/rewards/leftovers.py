"""Openers of calls that gave none: the parser leaves them in what the model says, as words.

For a reader of texts `<tool_call>I cannot say.</tool_call>` is prose; for a reward it is a try.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from tunaeval.grammar import Format
from tunaeval.parsing import Reader, parser_for
from tunaeval.types import Span, Tools

_MAY_BE_ONE = re.compile("[<\\[\u273f]")
_OF_A_TURN = frozenset({"<|message|>", "<|recipient|>"})
"""These open an answer in words, too."""


_NEAR = 16
"""White space of so many characters may be between an opener and its call."""


def openers_left(content: str, reader: str, tools: Tools | None) -> list[Span]:
    """Where openers of the reader's formats are in a text that has no call any more.

    One that is quoted, in `code` of a line or in a fence, is a mention of it.
    """
    if "<" not in content and "[" not in content and "\u273f" not in content:
        return []
    pattern = _pattern(reader)
    return [] if pattern is None else [*_unquoted(pattern, content, tools)]


def openers_apart(text: str, left: Sequence[Span], others: Sequence[Span]) -> list[Span]:
    """The openers of a text that lie outside of calls and of what is known broken."""
    known = sorted(others)
    if not known:
        return [*left]
    at = 0
    found: list[Span] = []
    for span in left:
        while at < len(known) and known[at].end <= span.start:
            at += 1
        gap = known[at].start - span.end if at < len(known) else _NEAR + 1
        near = gap <= _NEAR and not text[span.end : span.end + max(gap, 0)].strip()
        if not near:
            found.append(span)
    return found


@lru_cache(maxsize=64)
def _pattern(reader: str) -> re.Pattern[str] | None:
    """What finds openers; None for a reader that has none which are marked as such."""
    parser = parser_for(reader)
    formats = parser.formats if isinstance(parser, Reader) else (parser,)
    forms = [form for form in formats if isinstance(form, Format)]
    texts = {form.opener.text for form in forms if form.opener is not None} - _OF_A_TURN
    marked = sorted(filter(_MAY_BE_ONE.match, texts), key=len, reverse=True)
    ways = [*map(re.escape, marked)]
    if any(form.opener is None and form.python is not None for form in forms):
        ways.append(r"\[[ ]?(?P<name>[A-Za-z_][\w.-]{0,63})\(")
    if not ways:
        return None
    return re.compile("|".join([_FENCE, "(?P<tick>`)", r"(?P<line>\n)", *ways]), re.MULTILINE)


_FENCE = r"(?P<fence>^[ \t>]*(?:```|~~~))"


def _unquoted(pattern: re.Pattern[str], text: str, tools: Tools | None) -> Iterator[Span]:
    in_fence = in_ticks = False
    doubtful: list[Span] = []
    for match in pattern.finditer(text):
        kind = match.lastgroup
        if kind == "fence":
            in_fence = not in_fence
        elif kind == "line":
            yield from doubtful
            doubtful, in_ticks = [], False
        elif kind == "tick":
            doubtful, in_ticks = [], not in_ticks
        elif kind == "name" and (tools is None or match["name"] not in tools):
            continue
        elif not in_fence and in_ticks:
            doubtful.append(Span(*match.span()))
        elif not in_fence:
            yield Span(*match.span())
    yield from doubtful
