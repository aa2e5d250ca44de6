"""Prose and blocks of sound JSON or markup in turn: all of most texts, the beginning of many more.

As long as nothing else is met, there is nothing to remember from one marker to the next, so a pass
needs no scanner. What it cannot be sure of it leaves to one, from where it stopped.
"""

from __future__ import annotations

from tunaeval.limits import JUDGED_AT_ONCE, KEPT, MAX_CALLS, SHORTEST_CUT
from tunaeval.types import Level, ParseResult, ToolCall, Tools
from tunaeval.window import Window

from .collect import Collector
from .ending import ELLIPSES
from .fast import FENCE
from .fast.made import result_of
from .finder import Finder
from .judged import Ended, Given, Judged, Objects, judged_result
from .routing import addressed_call, header_at
from .tokens import Token, chosen


class Plain:
    """What was read up to `at`: content, and the blocks between, each with what was found in it."""

    __slots__ = (
        "_gaps", "_refused", "at", "blocks", "calls", "ended", "in_message", "judged", "known",
        "text", "unsure",
    )  # fmt: skip

    def __init__(self, text: str, known: Objects | None = None) -> None:
        self.text = text
        self.known = known
        self.at = 0
        self.unsure = -1
        """Where an opener is whose block is left to a scanner, if fast readers were asked of it."""
        self.ended: Ended | None = None
        """What they said of it."""
        self.calls: list[ToolCall] = []
        self.blocks: list[tuple[int, int, list[ToolCall], list[Judged]]] = []
        self.judged: list[Judged] = []
        self.in_message = False
        """Whether the last block is a call in a message whose end was not met."""
        self._gaps: list[str] = []
        self._refused = False
        """Whether the last block gave no call, and so is content."""

    def read(self, finder: Finder, tools: Tools | None, level: Level) -> bool:
        """Go on to the first marker that is anything but the opener of such a block.

        Whether there was none.
        """
        text, known = self.text, finder.tokens.get
        given = _new_tuple(Given, (text, 0, tools, level, self.known))
        search = finder.search_of(text).search
        while hit := search(text, self.at):
            start, body = hit.span()
            token = known(hit.group())
            if token is None or token.text == FENCE:
                return False
            if token.kind != "open":
                if not self._message(token, start, body, tools):
                    return False
                continue
            choice = chosen(token, text, body)
            if choice is None or (start and text[start - 1] == "`"):
                return False
            found: list[ToolCall] = []
            judged: list[Judged] = []
            end = choice.fast(text, start, body, tools, found)
            if end < 0:
                self.unsure = start
                ended = self.ended = choice.judged(given, body)
                if ended is None or ended.failed:
                    return False
                judged, end = ended.found, ended.end
                found = [each.verdict.call for each in judged if each.verdict.call]
            if not self._holds(found, judged):
                return False
            if choice.wordy and tools is None and not found[0].arguments:
                return False  # perhaps the name is only a word
            self._keep(start, end, found, judged)
        return True

    def _keep(self, start: int, end: int, found: list[ToolCall], judged: list[Judged]) -> None:
        """Add a block; one without calls is content."""
        self._add(self.text[self.at : start], content=self._refused or not found)
        if not found:
            self._gaps.append(self.text[start:end])
        self._refused = not found
        self.calls += found
        self.judged += judged
        self.blocks.append((start, end, found, judged))
        self.at = end

    def _message(self, token: Token, start: int, body: int, tools: Tools | None) -> bool:
        """Pass over a message that is a call, from its header on, or over the end of one."""
        text = self.text
        calls: list[ToolCall] = []
        if start and text[start - 1] == "`":
            return False
        if token.addressed:
            window = Window(text, final=True)
            window.pos = start
            header, _ = header_at(window, token)
            opens = header is not None and header.opens_call
            call = addressed_call(text, start, header, tools) if header and opens else None
            if call is None or call.span is None or len(self.calls) >= MAX_CALLS:
                return False
            calls.append(call)
            body = call.span.end
        elif token.kind != "end":
            return False
        self.in_message = bool(calls)
        self._add(text[self.at : start], content=self._refused)
        self._refused = False
        self.calls += calls
        self.blocks.append((start, body, calls, []))
        self.at = body
        return True

    def _holds(self, found: list[ToolCall], judged: list[Judged]) -> bool:
        """Whether a block may be added: one with calls alone, or none, and not too many of all."""
        if judged and (len(found) not in (0, len(judged)) or len(self.judged) > JUDGED_AT_ONCE):
            return False
        return bool(found or judged) and len(self.calls) + len(found) <= MAX_CALLS

    def _add(self, gap: str, *, content: bool) -> None:
        """What is between blocks; white space between calls is no content."""
        if gap and (content or not gap.isspace()):
            self._gaps.append(gap)

    def result(self, finder: Finder) -> ParseResult | None:
        """The whole, where nothing but content follows, unless something was cut off."""
        text, at = self.text, self.at
        rest = text[at:] if at else text
        line = rest[-KEPT:]
        if line.rstrip().endswith(ELLIPSES) or line[-SHORTEST_CUT:] in finder.cut_ends:
            return None
        if not at:
            return result_of((), text, None)
        self._add(rest, content=self._refused)
        content, calls = "".join(self._gaps), tuple(self.calls)
        if not self.judged:
            return result_of(calls, content, None)
        return judged_result(calls, content, self.judged)

    def hand_to(self, collector: Collector) -> None:
        """Give a collector all that was read."""
        at = 0
        for start, end, calls, judged in self.blocks:
            if collector.may_be_blank(self.text[at:start]):
                collector.blank(at, start)
            else:
                collector.piece("content", at, start)
            if judged:
                collector.judged(start, end, judged)
            else:
                collector.block(start, end, calls)
            at = end


_new_tuple = tuple.__new__
