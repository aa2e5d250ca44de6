"""Prose and well-formed blocks in turn: all of most texts, and the beginning of many others.

As long as nothing else is met, there is nothing to remember from one marker to the next, so a pass
needs no scanner. What it cannot be sure of it leaves to one, from where it stopped.
"""

from __future__ import annotations

from tunaeval.types import ParseResult, ToolCall, Tools
from tunaeval.window import KEPT

from .collect import MAX_CALLS, Collector
from .ending import ELLIPSES
from .fast import FENCE
from .fast.made import result_of
from .finder import LEAST_CUT, Finder
from .tokens import chosen


class Plain:
    """What was read up to `at`: where content is, and the blocks between with their calls."""

    __slots__ = ("at", "blocks", "calls", "gaps", "text", "unsure")

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.unsure = -1
        """Where an opener is whose fast reader was not certain of its block."""
        self.calls: list[ToolCall] = []
        self.gaps: list[str] = []
        self.blocks: list[tuple[int, int, list[ToolCall]]] = []

    def read(self, finder: Finder, tools: Tools | None) -> bool:
        """Go on to the first marker that is anything but a well-formed block's opener.

        Whether there was none.
        """
        text, known, blocks = self.text, finder.tokens.get, self.blocks
        search = finder.search_of(text).search
        while hit := search(text, self.at):
            start, body = hit.span()
            token = known(hit.group())
            if token is None or token.kind != "open" or token.text == FENCE:
                return False
            choice = chosen(token, text, body)
            if choice is None or (start and text[start - 1] == "`"):
                return False
            found: list[ToolCall] = []
            end = choice.fast(text, start, body, tools, found)
            if end < 0 or not found or len(self.calls) + len(found) > MAX_CALLS:
                self.unsure = start if end < 0 else -1
                return False
            if choice.wordy and tools is None and not found[0].arguments:
                return False  # perhaps the name is only a word
            gap = text[self.at : start]
            if gap and not gap.isspace():
                self.gaps.append(gap)
            self.calls += found
            blocks.append((start, end, found))
            self.at = end
        return True

    def result(self, finder: Finder) -> ParseResult | None:
        """The whole, where nothing but content follows, unless something was cut off."""
        text, at = self.text, self.at
        rest = text[at:] if at else text
        line = rest[-KEPT:]
        if line.rstrip().endswith(ELLIPSES) or line[-LEAST_CUT:] in finder.cut_ends:
            return None
        if not at:
            return result_of((), text, None)
        if rest and not rest.isspace():
            self.gaps.append(rest)
        return result_of(tuple(self.calls), "".join(self.gaps), None)

    def hand_to(self, collector: Collector) -> None:
        """Tell a collector of all that was read."""
        at = 0
        for start, end, calls in self.blocks:
            gap = self.text[at:start]
            collector.piece("markup" if gap.isspace() else "content", at, start)
            collector.block(start, end, calls)
            at = end
