"""Find the calls of a text that are in a code fence, and so perhaps only shown, not made."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from tunaeval.types.calls import Span, ToolCall

_FENCES = ("```", "~~~")
OF_A_FENCE = frozenset({"fence", "tool-code"})
"""Formats that are a code fence themselves, which costs nothing if the recipe asks for them."""

WITH_MARKS = OF_A_FENCE | {"command-r", "deepseek-v3"}
"""Formats that write fence marks around a call, which are no fence for anything else."""

_BEFORE = 64
"""The most characters between such a mark and its call."""

_behind = re.compile(r"[\s\])},;]{0,64}```").match


def has_fences(text: str) -> bool:
    """Whether the text may have a code fence."""
    return "```" in text or "~~~" in text


def fenced(text: str, calls: Sequence[ToolCall], reader: str) -> Iterator[int]:
    """Yield the indices of the calls that are in a code fence, or are one."""
    spans = [_block(text, call, call.span) for call in calls if call.span]
    marked = [_fences(text, mark, spans) for mark in _FENCES if mark in text]
    for index, call in enumerate(calls):
        if call.span is None or (call.format == reader and reader in OF_A_FENCE):
            continue
        if call.format in OF_A_FENCE or any(_is_in(call.span, each) for each in marked):
            yield index


def _block(text: str, call: ToolCall, span: Span) -> Span:
    """Return the span of a call, including the fence marks that its format writes around it."""
    if call.format not in WITH_MARKS:
        return span
    before = text.rfind(_FENCES[0], max(0, span.start - _BEFORE), span.start)
    behind = _behind(text, span.end)
    return Span(span.start if before < 0 else before, behind.end() if behind else span.end)


def _is_in(span: Span, fences: Sequence[Span]) -> bool:
    at = bisect_left(fences, span) - 1
    return at >= 0 and fences[at].start < span.start < fences[at].end


def _fences(text: str, mark: str, calls: Sequence[Span]) -> list[Span]:
    """Return the code fences: each from a line that begins with the mark to the next such line.

    If one is left open, it is unknown which, so the fence is from the first mark to the end.
    """
    found: list[Span] = []
    first = start = -1
    at = call = 0
    inside = sorted(calls)
    while (mark_at := text.find(mark, at)) >= 0:
        at = mark_at + len(mark)
        while call < len(inside) and inside[call].end <= mark_at:
            call += 1
        if call < len(inside) and inside[call].start <= mark_at:
            continue
        first = first if first >= 0 else mark_at
        if text[text.rfind("\n", 0, mark_at) + 1 : mark_at].strip(" \t>"):
            continue
        if start < 0:
            start = mark_at
        else:
            found.append(Span(start, mark_at))
            start = -1
    return found if start < 0 else [Span(first, len(text))]
