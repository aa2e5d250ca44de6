"""Prose, blocks that are sound, and what is around them: all of most texts, the beginning of more.

As long as nothing else is met, there is little to remember from one marker to the next, so a pass
needs no scanner. What it cannot be sure of it leaves to one, from where it stopped.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from heapq import merge
from operator import itemgetter
from typing import TypeAlias

from tunaeval.grammar import Channel
from tunaeval.limits import JUDGED_AT_ONCE, KEPT, MAX_CALLS, SHORTEST_CUT
from tunaeval.types import Level, ParseResult, ToolCall, Tools

from .collect import JOINTS, Collector
from .ending import ELLIPSES, trailing_ellipsis
from .fast import FENCE, REFUSED
from .fast.made import result_of
from .finder import Finder
from .judged import Ended, Given, Judged, Objects, judged_result
from .lost_calls import ends_like_call
from .lost_openers import ends_call
from .mention import Region
from .quoting import LINE_START
from .routing import addressed_call, header_in
from .tokens import Choice, Token, chosen

_OPENERS = frozenset({"open", "bare"})
_AROUND = frozenset({"around", "end"})

_Block: TypeAlias = "tuple[int, int, Sequence[ToolCall], Sequence[Judged], bool]"


class Plain:
    """What was read up to `at`: content, and the blocks between, each with what was found in it."""

    __slots__ = (
        "_bare", "_gaps", "_marks", "_refused", "_regions", "announced", "at", "blocks", "calls",
        "channel", "ended", "judged", "known", "lost", "region", "text", "unsure",
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
        self.blocks: list[_Block] = []
        """Each with its start and end, its calls and objects, and whether it has no markers."""
        self.judged: list[Judged] = []
        self.lost = False
        """Whether some of the content may end in a call."""
        self.channel: Channel | None = None
        self.announced: int | None = None
        self.region: Region | None = None
        """As a scanner has them; see `passage.Passage`."""
        self._gaps: list[str] = []
        self._marks: array[int] | None = None
        """Where the markup around blocks begins and ends: there may be one mark for every sign."""
        self._regions: dict[str, set[str]] = {}
        self._refused = self._bare = False
        """Whether the last block gave no call, and so is content; whether it has no markers."""

    def read(self, finder: Finder, tools: Tools | None, level: Level) -> bool:
        """Go on to the first marker that is anything but part of such a block, or around one.

        Whether there was none.
        """
        text, known, self._regions = self.text, finder.tokens.get, finder.regions
        given = _new_tuple(Given, (text, 0, tools, level, self.known))
        search = finder.search_of(text).search
        while hit := search(text, self.at):
            start, body = hit.span()
            token = known(hit.group()) or finder.token(hit)
            kind = token.kind
            if start and text[start - 1] == "`":
                return False
            if kind in _OPENERS:
                if not self._block(token, start, body, given):
                    return False
            elif kind == "message":
                if not self._message(token, start, tools):
                    return False
            elif token.around or kind in _AROUND:
                if not self._mark(token, start, body, given.tools):
                    return False
            else:
                return False
        return True

    def _block(self, token: Token, start: int, body: int, given: Given) -> bool:
        """Read the block of an opener; whether that could be done here."""
        text, bare = self.text, token.kind == "bare"
        choice = chosen(token, text, body)
        if choice is None or token.text == FENCE:
            if choice is None and token.around:
                return self._mark(token, start, body, given.tools)
            return False
        if choice.excludes and self.channel not in (None, "call"):
            return False
        if bare and (choice.form.python is None or "`" in text[max(0, start - KEPT) : start]):
            return False
        return self._read(choice, start, start if bare else body, given)

    def _read(self, choice: Choice, start: int, body: int, given: Given) -> bool:
        """Read a block of that format, and keep it; whether that could be done here."""
        found: list[ToolCall] = []
        judged: list[Judged] = []
        end = choice.fast(self.text, start, body, given.tools, found)
        if end < 0:
            self.unsure = start
            ended = self.ended = choice.judged(given, body, end == REFUSED)
            if ended is None or ended.failed:
                return False
            judged, end = ended.found, ended.end
            found = [each.verdict.call for each in judged if each.verdict.call]
        if judged and (len(found) not in (0, len(judged)) or len(self.judged) > JUDGED_AT_ONCE):
            return False  # a block is added that has calls alone, or none
        if not (found or judged) or len(self.calls) + len(found) > MAX_CALLS:
            return False
        in_doubt = (choice.wordy or choice.alone) and given.tools is None
        if in_doubt and found and not found[0].arguments:
            return False  # perhaps the name is only a word
        self._keep(start, end, found, judged, bare=choice.bare)
        return True

    def _keep(
        self, start: int, end: int, found: list[ToolCall], judged: list[Judged], *, bare: bool
    ) -> None:
        """Add a block; one without calls is content."""
        self._add(self.text[self.at : start], content=self._refused or not found)
        if not found:
            self._gaps.append(self.text[start:end])
        self._refused, self._bare, self.announced = not found, bare, None
        self.calls += found
        self.judged += judged
        self.blocks.append((start, end, found, judged, bare))
        self.at = end

    def _ends_region(self, token: Token) -> bool:
        """Whether what is around calls ends here, or begins again, and none was in it."""
        region, regions = self.region, self._regions
        ends = region and (token.text in regions or token.text in regions[region.text])
        return bool(ends) and self._in_empty_region()

    def _in_empty_region(self) -> bool:
        """Whether something is around calls, and none is in it so far."""
        last = self.calls[-1].span if self.calls else None
        return self.region is not None and (last is None or last.start < self.region.start)

    def _mark(self, token: Token, start: int, end: int, tools: Tools | None) -> bool:
        """Pass over what is around blocks, or ends a message; whether that could be done here."""
        before = self.text[max(self.at, start - KEPT) : start]
        if self._ends_region(token) or (before and ends_call(token, before, tools)):
            return False
        if token.kind == "end":
            self.channel = None
        lined = LINE_START.search(before)
        self._around(start, end)
        if token.text in self._regions:
            self.region = Region(start, token.text, body=bool(lined))
        self.announced = start if token.announces else None
        return True

    def _around(self, start: int, end: int) -> None:
        """Pass over markup that holds no call; what follows more of it is one with that."""
        gap, marks = self.text[self.at : start], self._marks
        if gap:
            self._add(gap, content=self._refused)
        self._refused = self._bare = False
        if marks is None:
            self._marks = array("q", (start, end))
        elif marks[-1] == self.at and (not gap or gap.isspace()):
            marks[-1] = end
        else:
            marks.extend((start, end))
        self.at = end

    def _message(self, token: Token, start: int, tools: Tools | None) -> bool:
        """Pass over a header, and the call behind it if it has the name of one."""
        header, _ = header_in(self.text, start, token)
        if header is None or header.route.channel == "reasoning":
            return False
        if not header.opens_call:
            self._around(start, start + header.length)
            self.announced = start if header.route.channel == "call" else None
        else:
            call = addressed_call(self.text, start, header, tools)
            if call is None or call.span is None or len(self.calls) >= MAX_CALLS:
                return False
            self._keep(start, call.span.end, [call], [], bare=False)
        self.channel, self.region = header.route.channel, None
        return True

    def _add(self, gap: str, *, content: bool) -> None:
        """What is between blocks; white space between calls is no content."""
        if self.region:
            self.region.hear(gap)
        blank = not content and (gap.isspace() or (self._bare and JOINTS.fullmatch(gap)))
        if gap and not blank:
            self._gaps.append(gap)
            self.lost = self.lost or ends_like_call(gap)

    def result(self, finder: Finder) -> ParseResult | None:
        """The whole, where nothing but content follows, unless something was cut off."""
        text, at = self.text, self.at
        rest = text[at:] if at else text
        line = rest[-KEPT:]
        if self.announced is not None or line[-SHORTEST_CUT:] in finder.cut_ends:
            return None
        if self._in_empty_region():
            return None
        trails_off = line.rstrip().endswith(ELLIPSES)
        ending = (trailing_ellipsis(len(text)),) if trails_off else ()
        if not at:
            self.lost = ends_like_call(line)
            return result_of((), text, None, ending, truncated=trails_off)
        self._add(rest, content=self._refused)
        content, calls = "".join(self._gaps), tuple(self.calls)
        if not self.judged:
            return result_of(calls, content, None, ending, truncated=trails_off)
        return judged_result(calls, content, self.judged, ending)

    def _in_order(self) -> Iterator[_Block]:
        """The blocks, and the markup around them as blocks without anything in them."""
        if self._marks is None:
            return iter(self.blocks)
        ends = iter(self._marks)
        marks = ((start, end, (), (), False) for start, end in zip(ends, ends, strict=True))
        return merge(self.blocks, marks, key=itemgetter(0))

    def hand_to(self, collector: Collector) -> None:
        """Give a collector all that was read."""
        at = 0
        for start, end, calls, judged, bare in self._in_order():
            if collector.may_be_blank(self.text[at:start]):
                collector.blank(at, start)
            else:
                collector.piece("content", at, start)
            if judged:
                collector.judged(start, end, judged)
            else:
                collector.block(start, end, calls)
            collector.bare = bare
            at = end


_new_tuple = tuple.__new__
