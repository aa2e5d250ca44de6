r"""The engine: one pass over a text, complete or streamed, for any set of formats.

Text between blocks is content. At each hit of the finder, the scanner reads a block, reads
reasoning, or finds that the marker is only mentioned. Each decision is made once, from a bounded
look-ahead (a unit, and reasoning in which a call may be, wait for their end), and is final. One
exception: a reasoning closer without an opener turns the text before it into reasoning, as chat
templates write the opener in the prompt. Whether a marker of no call is quoted, in a sentence, or
part of a broken call is decided from nearby text, so that streams and whole texts agree.

In formats with messages, the header of a message says where the message goes. Before the first
header, any text may have calls; a message that does not go to a tool has none.

A unit is a whole reply, or the text of a code fence, that consists of calls only. Such calls have
no markers (`f(x=1); g()`, a name and JSON below it, `{"tool_calls": [...]}`), so a text that is no
unit is read like any other text. A plain list, `[f(x=1)]`, is a unit only in a fence: elsewhere the
formats of lists read it. Models that write Markdown escape underscores (`get\_price`): a unit with
escaped underscores is read without the backslashes, but its offsets count them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from tunaeval import limits
from tunaeval.grammar import Channel
from tunaeval.grammar.combine import SPACED, Tag
from tunaeval.grammar.format import Format
from tunaeval.grammar.formats import JSON
from tunaeval.types.calls import Repair, Span, ToolCall, Tools
from tunaeval.types.parsing import LATER_TURN, Level

from .block import (
    Block,
    ObjectBlock,
    PythonBlock,
    Setting,
    Sound,
    another,
    in_program,
    sound_block,
    sound_call_of,
)
from .collect import Collector, calls_at_end
from .finder import (
    FENCE,
    Finder,
    Token,
    before_end_tokens,
    closers_of,
    ends_text,
    ends_turn,
    finder_of,
    format_at,
    header_at,
    in_ticks,
    only_ends,
    spaced_token,
    stands_alone,
)
from .judge import Objects
from .passing import LINE_START, Passing, Unread
from .stripped import begins_stripped, read_stripped
from .tagged import TaggedBlock
from .unit import gather, read_unit
from .window import Reading, Window, read_all

_CLOSING, _CLOSING_LINE = re.compile("```"), re.compile(r"^[ \t]{0,40}+```", re.MULTILINE)
"""What ends a code fence: three ticks; only at a line's start if the code begins on a new line.

A string in the code may have ticks elsewhere.
"""

_BARE_FENCE = re.compile(r"^[ \t]{0,40}+```[ \t]{0,40}+(?:\r?\n|\Z)", re.MULTILINE)
_BARE_LINE = re.compile(r"^[ \t]{0,40}+```[ \t]{0,40}+\r?\n", re.MULTILINE)
"""A line that is a fence without a language, so that it closes one and opens none."""

_LANGUAGE = r"[ \t]?[A-Za-z0-9_+-]{0,24}"

_FENCE_LINE = re.compile(rf"```(?:{_LANGUAGE}(?=\s))?\s{{0,64}}+")
"""The opening ticks of a fence with the language and the white space after them."""

_FENCE_CUT = re.compile(rf"```{_LANGUAGE}\Z")
"""Opening ticks at the end of the text so far; more of the language may arrive."""

_HEADER_TEXT = r"(?! (?!t))(?:[ \w./=-]|<\|\w{1,24}\|>){0,160}"
_CUT_MARKER = r"(?:<(?:\|(?:\w{1,24}\|?)?)?)?\Z"
_UNFINISHED = re.compile(f"{_HEADER_TEXT}{_CUT_MARKER}", re.ASCII)
_UNFINISHED_LINE = re.compile(rf"{_HEADER_TEXT}[\r\n]{{0,2}}{_CUT_MARKER}", re.ASCII)
"""What follows a message's opener if the text ends inside the header.

`_UNFINISHED_LINE`, for openers that end in `>`, allows a line end after the header's text.
"""

_SPACED = re.compile(SPACED)

ELLIPSES = ("...", "…")

_IN_A_SENTENCE, _IN_WORDS = re.compile(r"\w[ \t]*+\Z"), re.compile(r"\w \Z")

_BEFORE_MENTION = re.compile(r"""(?:\w[,;:]?[ \t]++|["'“‘(«])\Z""")
_BEHIND_MENTION = re.compile(r"""[ \t]++\w|["'”’)»,;:.?!]""").match
"""What is directly before and behind a marker of a turn that a sentence names."""

_after_role = re.compile(r"(?:\A|\n)[ \t]*+(?:user|tool|ipython)\s*+\Z").search
"""Matches a line that is only a role: a header decoded without its special tokens."""

_UNSEEN = limits.MAX_FIXED + 64
"""How much of a block may arrive before it is searched for others' turns: less than `KEPT`."""

_NEAR = 3
"""How many characters behind a header may tell that a sentence names it."""


def scanner_of(
    finder: Finder,
    tools: Tools | None,
    level: Level,
    text: str | None = None,
    *,
    objects: Objects | None = None,
    first: tuple[Format, Sound | None] | None = None,
    every: bool = False,
) -> Scanner:
    """Return a scanner of `text`, or, if `text` is None, of a stream that is fed to its window.

    `objects` caches damaged objects, so that reading the text again at another level is faster.
    `first` is as in `Setting`.
    """
    window = Window() if text is None else Window(text[: limits.MAX_TEXT], final=True)
    collector = Collector(listened=text is None)
    tags = tools is not None and JSON in finder.bodies
    setting = Setting(window, collector, tools, level, objects, tags, finder.dialects, first)
    return Scanner(finder.with_tools(tools, text), setting, every=every)


class _Other(NamedTuple):
    """Where another's turn may begin inside of a block; `is_behind_end`: behind a turn's end."""

    start: int
    token: Token
    is_behind_end: bool


class Scanner(Passing):
    """Reads one text with the formats of a finder; used once.

    `inside`: the text is the end of a reasoning block that is never closed. `every`: all turns of
    the model's are read, and not only the first.

    Attributes:
        _channel: The channel of the current message; None outside of messages.
        _announced: The offset of a marker that announces calls, until the first call is read.
        _refused: The opener of a block that could not be read and whose inside now follows.
        _left_open: The format of a block without a closer; the closer may come after other text.
        _closing_at: Where the next line that closes a fence ends, once looked for; -1 if none does.
        _code_thinks: Whether a reasoning opener was read in code.
        _thought: The span of the first reasoning opener that was read as content.
        _turn_at: The offset where the current turn begins; `_calls_before` are the calls before it.
        _is_own: Whether the text cannot have begun in a turn of another.
        _has_thought: Whether reasoning was read in this turn.
        _vain: The number of markers that gave no call.
        _fenced_vain: The number of characters of fences that began like calls and were none.
        _over: Whether the rest of the text is content without further search.
        _tags: The tags around calls whose closers have not come.
        _spaces: The namespaces of tags so far.
    """

    _channel: Channel | None = None
    _announced: int | None = None
    _refused: Token | None = None
    _left_open: Format | None = None
    _thought: Span | None = None
    _closing_at: int | None = None

    def __init__(
        self, finder: Finder, setting: Setting, *, inside: bool = False, every: bool = False
    ) -> None:
        self.window, self.collector = setting.window, setting.collector
        self._finder, self._setting = finder, setting
        self._inside, self._every = inside, every
        self._turn_at = self._calls_before = self._vain = self._fenced_vain = 0
        self._code_thinks = self._over = self._is_own = self._has_thought = False
        self._may_be_unit = bool(finder.wholes) and (
            setting.tools is not None or not finder.wants_tools
        )
        """Whether a format for units is in the set and, if it needs tools, tools are given."""
        self._tags: list[Tag] = []
        self._spaces: set[str] = set()
        self.reading = self._run()

    def collected(self, length: int) -> Collector:
        """Read to the end of a text of `length`; from `MAX_TEXT` on it is content, unread."""
        self.window.final = True
        read_all(self.window.text, self.reading)
        if length > (most := limits.MAX_TEXT):
            message = f"only the first {most} characters were looked at"
            self.collector.diagnose("too-long", message, most, length)
            self.collector.piece("content", most, length)
        return self.collector

    def _run(self) -> Reading[None]:
        """Read the text as it arrives, and put pieces, calls and diagnoses into the collector."""
        window, collector, finder = self.window, self.collector, self._finder
        tools = self._setting.tools
        if not (window.final and finder.begins_plainly(window.text, window.pos, tools)):
            yield from self._first_turn()
            yield from self._prompted()
            yield from self._read_unit()
        search = finder.search_of(window.text) if window.final else finder.search
        while not (collector.full or self._over):
            if collector.calls:
                search = finder.search_on
            hit, end = finder.next_in(window, search)
            self._pass_text(end)
            if hit is None:
                if window.final:
                    break
                yield
                continue
            token, calls, turn = finder.token(hit), len(collector.calls), self._turn_at
            # Each kind of token is read by the method of that name.
            reading: Reading[None] | None = getattr(self, f"_{token.kind}")(token)
            if reading is not None:
                yield from reading
            if len(collector.calls) == calls and self._turn_at == turn:
                self._count_vain()
        if collector.full:
            at = window.offset
            collector.diagnose("too-many-calls", f"more than {limits.MAX_CALLS} calls", at, at)
        while not window.final:  # the rest is content
            self._pass_text(len(window.text))
            yield
        self._pass_text(len(window.text))
        self._finish()

    def _prompted(self) -> Reading[None]:
        """At the start of the text, read the rest of a block whose opener is the prompt's end."""
        window, finder = self.window, self._finder
        if window.offset:
            return
        while (found := finder.prompted(window.text, final=window.final)) is None:
            yield
        if isinstance(found, str):
            if found:
                self._pass_markup(len(found))
        elif (reading := self._begin(found, found.formats[0])) is not None:
            yield from reading

    def _count_vain(self) -> None:
        """Count a marker that gave no call; after `MAX_VAIN` of them, the rest is content."""
        self._vain += 1
        if self._vain == limits.MAX_VAIN and not self._over:
            at, self._over = self.window.offset, True
            message = f"more than {limits.MAX_VAIN} markers gave no call; what follows was not read"
            self.collector.diagnose("too-many-markers", message, at, at)

    def _unit(self) -> Reading[None]:
        """Read the rest of the text if it is a unit, unless one look says that it is none."""
        window, tools = self.window, self._setting.tools
        if not (window.final and self._finder.begins_plainly(window.text, window.pos, tools)):
            yield from self._read_unit()

    def _read_unit(self) -> Reading[None]:
        """Read the rest of the text if it is a unit: calls and nothing else."""
        window, finder, setting = self.window, self._finder, self._setting
        tools, level = setting.tools, setting.level
        while (begins := self._begins_unit()) is None:
            yield
        if not begins:
            return
        yield from gather(window)
        text, start, at = window.text, window.pos, window.offset
        turn = finder.later.search(text, start)
        for end in (*((turn.start(),) if turn else ()), len(text)):
            if self._fenced_vain > limits.MAX_FENCES_IN_VAIN:
                return
            stop = start + before_end_tokens(text[start:end])
            rest = text[start:stop]
            unit = read_unit(finder.wholes, rest, at, tools, level) if self._may_be_unit else None
            if unit is None and tools:
                frames, read = finder.frames, self._with_tokens
                unit = read_stripped(frames, rest, tools, level, base=at, read=read)
            if unit:
                self._adopt(*unit, stop, bare=True)
                return
            self._fenced_vain += (stop - start) * bool(turn)

    def _begins_unit(self) -> bool | None:
        """Whether a unit, or a call without special tokens, may begin here; None if unknown."""
        window, finder, tools = self.window, self._finder, self._setting.tools
        unit: bool | None = False
        stripped: bool | None = False
        if self._may_be_unit:
            unit = finder.begins_unit(window, window.pos, tools, fenced=False)
        if tools and not unit:
            stripped = begins_stripped(finder.frames, window, tools)
        return unit or stripped or (None if None in (unit, stripped) else False)

    def _with_tokens(self, form: Format, text: str) -> Collector:
        """Read a text whose special tokens were put back, in one format."""
        tools, level = self._setting.tools, self._setting.level
        return scanner_of(finder_of((form,)), tools, level, text).collected(len(text))

    def _adopt(
        self, found: Collector, place: Callable[[int], int], stop: int, *, bare: bool
    ) -> None:
        """Add the calls of a unit, which ends at window index `stop`, and continue after them."""
        window, collector = self.window, self.collector
        collector.adopt(found, place)
        window.pos = collector.end - window.base if collector.full else stop
        self._announced = self._refused = self._left_open = None
        self._line_at, collector.bare = window.offset, bare

    def _fence(self, _: Token) -> Reading[None] | None:
        """Read a fence that is no format's opener: its text is a unit, or else code."""
        if self._in_code or self._is_quoted() or not self._may_be_unit:
            self._in_code = not self._in_code
            self._pass_as_text(FENCE)
            return None
        return self._fence_as_unit()

    def _fence_as_unit(self, token: Token | None = None) -> Reading[None]:
        """Read a code fence as a unit, else as a block that `token` opens, else as code."""
        window, finder, tools = self.window, self._finder, self._setting.tools
        body, begins = window.pos, None
        while begins is None and self._fenced_vain <= limits.MAX_FENCES_IN_VAIN:
            behind = _FENCE_LINE.match(window.text, window.pos)
            body = behind.end() if behind else window.pos + len(FENCE)
            near = len(window.text) - body < 2 or _FENCE_CUT.match(window.text, window.pos)
            if window.final or not near:
                begins = finder.begins_unit(window, body, tools, fenced=True)
            if begins is None:
                yield
        if begins:
            size = body - window.pos
            closing = _CLOSING_LINE if "\n" in window.text[window.pos : body] else _CLOSING
            window.pos = body
            yield from gather(window, closing)
            window.pos -= size
            if self._take_fence(size, closing):
                return
        if token is not None:
            yield from self._choose(token)
        else:
            self._in_code = True
            self._pass_as_text(FENCE)

    def _take_fence(self, size: int, closing: re.Pattern[str]) -> bool:
        """Read a fence with an opening of `size` characters if only calls are in it; say if so."""
        window, collector, setting = self.window, self.collector, self._setting
        start, body, wholes = window.offset, window.pos + size, self._finder.wholes
        closer = closing.search(window.text, body)
        stop = closer.end() - len(FENCE) if closer else len(window.text)
        text = window.text[body:stop]
        found = read_unit(wholes, text, start + size, setting.tools, setting.level)
        if found is None:
            self._fenced_vain += stop - body
            return False
        if found[0].repeats(collector):  # as models do that explain their calls
            end = stop + (len(FENCE) if closer else 0)
            message = "these calls were made above; an explanation repeats them"
            collector.diagnose("echo", message, start, window.base + end)
            self._pass_text(end)
            return True
        collector.piece("markup", start, start + size)
        self._adopt(*found, stop, bare=False)
        if not collector.full:  # else the rest of the fence is content
            self._in_code = closer is None
            self._pass_markup(len(FENCE) if closer else 0)
        return True

    def _open(self, token: Token) -> Reading[None] | None:
        """Read the block that an opener begins; a fence may instead end code or a mention."""
        if self.collector.note_full():
            return None
        if token.tag and not token.tag.known and self._setting.tools is None:
            self._pass_as_text(token.text)
            return None
        window, fence = self.window, token.text == FENCE
        if fence and (self._in_code or self._ends_mention(token)):
            self._in_code = False
            self._pass_as_text(FENCE)
            return None
        quoted = not fence and self._is_quoted()
        # An object without markers may be part of inline code that began earlier.
        if token.kind == "bare" and not quoted:
            quoted = in_ticks(self._line)
        if fence and self._may_be_unit and not in_program(window.text, window.pos):
            return self._fence_as_unit(token)
        if window.final:
            at = token.fitting(window.text, window.pos + len(token.text))
            if at >= 0:
                return self._begin(token, token.formats[at], quoted=quoted)
        return self._choose(token, quoted=quoted)

    def _bare(self, token: Token) -> Reading[None] | None:
        """Read an object or list without markers as a call. It is content in two places: in code,
        if no call was announced before, and in a refused block, if that has markers or no line ends
        before this one.
        """
        behind_line = self.window.preceding(self.window.pos).endswith("\n")
        refused = self._refused and not (self._refused.kind == "bare" and behind_line)
        code = self._in_code and self._announced is None
        if (code or refused) and not self.collector.note_full():
            self._pass_as_text("{")
            return None
        return self._open(token)

    def _ends_mention(self, token: Token) -> bool:
        """Whether a fence closes the opener that was last mentioned or refused, and opens none."""
        mention, text = self._mention, token.text
        if mention and text in closers_of(mention.token.formats):
            self._close_unread(mention, token)
            self._mention = None
        elif not (self._refused and text in closers_of(self._refused.formats)):
            return False
        elif self._refused.text == FENCE:
            return False  # the refused opener is a fence, which `_in_code` tracks
        self._refused = None
        return True

    def _choose(self, token: Token, *, quoted: bool = False) -> Reading[None]:
        """Read a block of the format that fits the text after the opener.

        If none fits, the opener is read as a marker around calls if it can be one. Else it is read
        as the nearest format's at a line's start, and as the first format's elsewhere.
        """
        window = self.window
        form = yield from format_at(window, token)
        if form is None:
            if token.around:
                self._around(token)
                return
            if token.tag and (yield from self._encloses(token.tag, quoted=quoted)):
                return
            if token.tag and not token.own:
                self._pass_as_text(token.text)
                return
            begins = LINE_START.search(self._line)
            at = window.pos + len(token.text)
            form = token.nearest(window.text, at) if begins else token.formats[0]
        if (reading := self._begin(token, form, quoted=quoted)) is not None:
            yield from reading

    def _begin(self, token: Token, form: Format, *, quoted: bool = False) -> Reading[None] | None:
        """Read a block of this format; a sound one at once, if the text is whole."""
        window = self.window
        start = window.base + window.pos
        if form.envelope and self._channel not in (None, "call"):
            self._pass_as_text(token.text)
            return None
        if self._mention:
            self._interrupt_mention(self._mention, token)
        sound: Sound | None = None
        # A stream's last block is reported as it is read, unless a closer ends its one object.
        is_whole = self.collector.events is None or (form.closer and not form.several)
        if form.call and window.final and is_whole and not quoted:
            tried, sound = self._setting.first or (None, None)
            if start or tried is not form:
                sound = sound_block(form)(window.text, window.pos)
            call = sound and sound_call_of(form, sound, window.base, self._setting.tools)
            if sound and call:
                self._take_sound(token, form, call, sound[3])
                return None
        doubtful = self._setting.tools is None and self._is_doubtful(token, form)
        window.pos += len(token.text)
        return self._read(token, form, start, quoted=quoted, doubtful=doubtful, sound=sound)

    def _take_sound(self, token: Token, form: Format, call: ToolCall, end: int) -> None:
        """Add the one call of a block that ends at an index, and pass the block."""
        window, collector = self.window, self.collector
        start = window.base + window.pos
        span = call.span or Span(start, start)
        collector.piece("markup", start, span.start)
        collector.call(call)
        window.pos, self._line_at = end, window.base + end
        collector.piece("markup", span.end, self._line_at)
        collector.bare, self._refused, self._announced, self._left_open = False, None, None, None
        if token.tag and form.closer is None:
            self._tags.append(token.tag)

    def _encloses(self, tag: Tag, *, quoted: bool) -> Reading[bool]:
        """Skip a tag as markup if calls with tags of their own follow it; return if they do."""
        window = self.window
        while True:
            at = window.pos + len(tag.opener)
            end = at + limits.OPENER_AHEAD
            if self._finder.in_tag(window.text, at, end):
                break
            if window.final or len(window.text) > end:
                return False
            yield
        if quoted or window.text[at:end].lstrip().startswith(tag.opener):
            return False
        if len(self._tags) < limits.MAX_DEPTH:
            self._tags.append(tag)
        self._announced = window.offset
        self._pass_markup(len(tag.opener))
        return True

    def _ends_tag(self, text: str) -> bool:
        """Skip the closer of a tag around calls as markup; return whether it was one."""
        tags = [at for at, tag in enumerate(self._tags) if text in tag.closers]
        if not tags or self._is_quoted():
            return False
        del self._tags[tags[-1] :]
        self._pass_markup(len(text))
        return True

    def _spaced(self, _: Token) -> Reading[None] | None:
        """Read a tag in a namespace, of which a text may have a few."""
        window = self.window
        found = _SPACED.match(window.text, window.pos)
        text = found[0] if found else "<"
        space = text.strip("</").partition(":")[0]
        if len(self._spaces) < limits.MAX_SPACES:
            self._spaces.add(space)
        if space not in self._spaces:
            self._pass_as_text(text)
            return None
        token = spaced_token(self._finder, text)
        if token.kind == "open":
            return self._open(token)
        self._close_tag(token)
        return None

    def _close_tag(self, token: Token) -> None:
        """Read the closer of a tag; if none of these is open, it is content."""
        if not self._ends_tag(token.text):
            self._pass_as_text(token.text)

    def _is_doubtful(self, token: Token, form: Format) -> bool:
        """Whether a name without arguments may be a word of a sentence, so that it is no call.

        Without tools, this is so in the middle of a line (after an ambiguous opener that
        ends in `=`), or directly after a word (a name between two markers).
        """
        if token.may_be_word(form):
            return not LINE_START.search(self._line)
        return stands_alone(form) and _IN_A_SENTENCE.search(self._line) is not None

    def _read(
        self,
        token: Token,
        form: Format,
        start: int,
        *,
        quoted: bool = False,
        doubtful: bool = False,
        name: str | None = None,
        sound: Sound | None = None,
    ) -> Reading[None]:
        """Read the block whose opener began at `start`, and more calls if its closer is lost."""
        self._refused = self._announced = None
        at, setting, collector = start, self._setting, self.collector
        calls, notes, others = len(collector.calls), len(collector.diagnoses), list[_Other]()
        while True:
            block: Block
            if form.call:
                block = ObjectBlock(setting, form, at, quoted=quoted)
                block.sound, sound = sound, None
            elif form.python:
                begins = bool(LINE_START.search(self._line))
                block = PythonBlock(setting, form, at, quoted=quoted, begins_line=begins)
            else:
                block = TaggedBlock(setting, form, at, quoted=quoted, name=name)
            block.doubtful = doubtful
            seen = yield from self._past_others(block.read(), others)
            if not block.had_body or block.closed or block.failed:
                break
            if not (yield from another(form, self.window)) or self.collector.note_full():
                break
            at, name, doubtful = self.window.offset, None, False
        made = [call.repairs for call in collector.calls[calls:] if call.repairs]
        levels = {one.level for repairs in made for one in repairs} if made else ()
        is_open = bool(form.closer) and not block.closed
        is_odd = is_open or block.failed or len(collector.diagnoses) > notes or "lenient" in levels
        if is_odd or levels:
            self._note_others(seen, self.window.pos, others)
            inside = (one for one in others if one.start < self.window.offset)
            if other := next((one for one in inside if is_odd or one.is_behind_end), None):
                yield from self._fall(start, other)
                return
        self.collector.bare, self._line_at = form.opener is None, self.window.offset
        self._left_open = None
        if block.had_body:
            if token.tag and form.closer is None and self.collector.last in ("call", "markup"):
                self._tags.append(token.tag)
            self._left_open = None if block.closed or block.failed else form
            self._refused = token if block.failed else None
            self._in_code = self._in_code or (token.text == FENCE and not block.closed)
        else:
            self._mentioned(start, token, form, quoted=quoted)

    def _past_others(self, reading: Reading[None], found: list[_Other]) -> Reading[int]:
        """Read a block; note where others' turns may begin in it, up to the offset returned."""
        window, seen = self.window, self.window.offset
        for _ in reading:
            end = window.base + len(window.text)
            if end - seen > _UNSEEN:
                self._note_others(seen, len(window.text), found)
                seen = end - limits.MAX_FIXED
            yield
        return seen

    def _note_others(self, seen: int, end: int, found: list[_Other]) -> None:
        """Note where others' turns may begin in the text from an offset up to an index."""
        text, base = self.window.text, self.window.base
        for hit in self._finder.others.finditer(text, max(0, seen - base), end):
            is_behind_end = bool(ends_turn(text, max(0, hit.start() - limits.MARGIN), hit.start()))
            token = self._finder.tokens[hit[0]]
            is_new = not found or (is_behind_end and not found[-1].is_behind_end)
            if is_new and not token.within:
                found.append(_Other(base + hit.start(), token, is_behind_end))

    def _fall(self, start: int, other: _Other) -> Reading[None]:
        """End the model's turn in a damaged block, where another's begins."""
        collector, at = self.collector, other.start
        calls = (call.span.start for call in collector.calls if call.span and call.span.end > at)
        at = min(at, next(calls, at))
        collector.reclassify(at, kind="content")
        collector.refuse("truncated", "the turn ends inside a call", start, at, cut=True)
        if not self._every:
            self._leave(other.token.text, at)
            return
        self._is_own = True
        yield from self._pass_turn(other.token, 0, at)
        yield from self._unit()

    def _mentioned(self, start: int, token: Token, form: Format, *, quoted: bool) -> None:
        """Add an opener at offset `start` with no call after it as content, and remember it."""
        collector, window = self.collector, self.window
        collector.piece("content", max(start, collector.end), window.offset)
        if token.text == FENCE:
            self._in_code = True
        elif not quoted:
            at = start - window.base
            before = window.text[max(0, at - 2) : max(0, at)]
            inline = bool(_IN_WORDS.match(before)) and "\n" not in window.text[at : window.pos]
            tagged = not (form.call or form.python) and self._tag_follows(at, token.text)
            quote = before[-1:] if before.endswith(("'", '"')) else ""
            self._mention = Unread(start, token, form, likely=tagged, inline=inline, quote=quote)

    def _close(self, token: Token) -> None:
        """Read a closer that is not part of a block, and report the broken call it may end."""
        if self._tags and self._ends_tag(token.text):
            return
        collector, mention, text = self.collector, self._mention, token.text
        framed = (self._refused and text in closers_of(self._refused.formats)) or mention
        if mention and text in closers_of(mention.token.formats) and not self._is_quoted():
            self._close_unread(mention, token)
            self._mention = None
        self._refused = None
        if collector.last == "content" and self._left_open in token.formats:
            self._left_open = None
            self._pass_markup(len(text))
        elif self._ends_broken(token):
            self._pass_as_text(text)
        elif token.around and not framed:
            self._around(token)
        elif collector.last in ("call", "markup") and not framed:
            # The closer is not stray if another format writes the previous call with this closer.
            last = {call.format for call in collector.calls[-1:]}
            outer = (f for f in self._finder.formats if any(bare.name in last for bare in f.also))
            if collector.last == "markup" or text not in closers_of(tuple(outer)):
                self._diagnose_stray(token)
            self._pass_markup(len(text))
        else:
            self._pass_as_text(text)

    def _around(self, token: Token) -> None:
        """Read a marker around all calls of a format; report a region that has a broken call."""
        if self._is_quoted():
            self._pass_as_text(token.text)
            return
        start, region, regions = self.window.offset, self._region, self._finder.regions
        if token.text in regions:
            self._leave_region()
            begins_line = bool(LINE_START.search(self._line))
            self._region = Unread(start, token, None, likely=begins_line, inline=True)
        elif region and token.text in regions[region.token.text]:
            self._close_unread(region, token)
            self._region = None
        self._announced = start if token.announces else None
        self._pass_markup(len(token.text))

    def _dialogue(self, token: Token) -> None:
        """Read what follows as content if a call precedes this line of another's.

        In a fence it is code, unless it follows the ticks, which then closed one without opening.
        """
        is_called = len(self.collector.calls) > self._calls_before
        before = self._last_piece[-limits.MARGIN :].rstrip()
        is_code = (self._in_code and not before.endswith(FENCE)) or self._is_quoted()
        if not is_called or not LINE_START.search(self._line) or is_code:
            self._pass_as_text(token.text)
            return
        self._leave(token.text)
        others, window = self._finder.others, self.window
        if self._every and (later := others.search(window.text, window.pos)):
            self._over, self.collector.answered = False, None
            self._pass_text(later.start())

    def _leave(self, text: str, at: int | None = None) -> None:
        """End the model's turn at a text that begins a later one, which is not read."""
        start, collector = self.window.offset if at is None else at, self.collector
        message = f"{text!r} begins a later turn, which was not read"
        collector.diagnose(LATER_TURN, message, start, start + len(text))
        collector.answered = start
        self._over, self._in_code = True, False

    def _is_code(self) -> bool:
        """Whether a marker of a turn is in a fence (not right behind its ticks and a turn's end)
        or behind a quoted marker.
        """
        before = self._last_piece[-limits.MARGIN :]
        if end := ends_turn(before):
            before = before[: end.start()]
        is_closed = end is not None and before.rstrip().endswith(FENCE)
        return (self._in_code and not is_closed) or self._is_quoted()

    def _is_closed(self) -> Reading[bool]:
        """Return whether the fence that is open here is closed later, as those of mentions are."""
        window = self.window
        if self._closing_at is None or 0 <= self._closing_at < window.offset:
            yield from gather(window, _BARE_LINE)
            closing = _BARE_FENCE.search(window.text, window.pos)
            self._closing_at = window.base + closing.end() if closing else -1
        return self._closing_at >= 0

    def _header(self, token: Token) -> Reading[int]:
        """Return the length of the header of a turn that begins here; 0 if it is only mentioned."""
        window, ticked = self.window, in_ticks(self._line)
        while True:
            at, text = window.pos, window.text
            hit, end = token.header(text, at, at + limits.HEADER_AHEAD), at + limits.HEADER_AHEAD
            line = text.find("\n", hit.end(), end) if hit and ticked else 0
            if (
                hit is None
                or window.final
                or len(text) > end
                or (line >= 0 and hit.end() + _NEAR < len(text))
            ):
                break
            yield
        if hit is None or (hit.lastindex and hit.end() < len(text)):
            return 0
        size, follows = hit.end() - at, text[hit.end() : end]
        if ticked and "`" in (text[hit.end() : line] if line > 0 else follows):
            return 0
        is_more = size > len(token.text)
        if _BEFORE_MENTION.search(self._line) and (is_more or _BEHIND_MENTION(follows)):
            return 0
        if self._is_code() and (self._is_quoted() or (yield from self._is_closed())):
            return 0
        return size

    def _first_turn(self) -> Reading[None]:
        """Pass the rest of a header that the text begins with, and another's turn behind it."""
        window, tools = self.window, self._setting.tools
        if window.offset or self._inside:
            return
        while (found := self._finder.begun(window.text, final=window.final)) is None:
            yield
        if not isinstance(found, tuple) or (tools and found[0].text in tools):
            return
        token, _, size = found
        if token.kind == "turn":
            yield from self._pass_turn(token, size, 0)
        else:
            self._begin_own(size)

    def _turn(self, token: Token) -> Reading[None]:
        """Pass another's turn if the model has said nothing before it; else it is a later one."""
        size = yield from self._header(token)
        is_blank = self._is_blank()
        if not size:
            yield from self._read_less(token)
        elif is_blank or self._every:
            made_up = token.within and not _after_role(self._last_piece)
            start = self._turn_at if is_blank else self.window.offset
            self._is_own = self._is_own or not is_blank
            yield from self._pass_turn(token, size, start, made_up=made_up)
            yield from self._unit()
        else:
            self._leave(token.text)

    def _own_turn(self, token: Token) -> Reading[None]:
        """Pass a header of the model's turn as markup if it has said nothing before."""
        size = yield from self._header(token)
        if not size or not self._is_blank():
            self._is_own = self._is_own or size > 0
            yield from self._read_less(token)
            return
        self._begin_own(size)
        yield from self._unit()

    def _begin_own(self, size: int) -> None:
        """Pass a header of the model's turn, before which nothing was the model's."""
        self._pass_markup(size)
        self._new_turn()
        if not self._is_own:  # so the text began in a turn of another
            self.collector.others = [(span, False) for span, _ in self.collector.others]
        self._is_own = True

    def _turn_end(self, token: Token) -> Reading[None]:
        """At an end that only others have, before any header of the model's, disown all before."""
        size = 0 if self._is_own else (yield from self._header(token))
        if not size:
            self._pass_as_text(token.text)
            return
        self.window.pos += size
        self._pass_others(self._turn_at, token.text)
        yield from self._unit()

    def _read_less(self, token: Token) -> Reading[None]:
        """Read a shorter marker that this one begins with, or pass it as text."""
        shorter = self._finder.shorter(token)
        if shorter is None:
            self._pass_as_text(token.text)
        elif (reading := getattr(self, f"_{shorter.kind}")(shorter)) is not None:
            yield from reading

    def _pass_turn(
        self, token: Token, size: int, start: int, *, made_up: bool = False
    ) -> Reading[None]:
        """Pass another's turn, from an offset on, up to what ends it behind its header."""
        window = self.window
        window.pos += size
        while not (hit := token.turn_ends.search(window.text, window.pos)) and not window.final:
            window.pos = max(window.pos, len(window.text) - limits.HEADER_AHEAD)
            yield
        window.pos = len(window.text) if hit is None else hit.start()
        if hit and hit[0] == token.closer:
            window.pos = hit.end()
        self._pass_others(start, token.text, made_up=made_up)

    def _pass_others(self, start: int, text: str, *, made_up: bool = False) -> None:
        """Make what is before the position another's, from offset `start` on; a turn begins."""
        end = self.window.offset
        self.collector.disown(start, end, made_up=made_up, first=not self._is_own)
        if not self._every:
            message = f"{text!r} is of another's turn, which was not read"
            self.collector.diagnose(LATER_TURN, message, start, end)
        self._new_turn()

    def _new_turn(self) -> None:
        """Forget what was open: the model begins a turn at the position."""
        self._channel = self._announced = self._region = self._mention = self._refused = None
        self._left_open = self._thought = None
        self._in_code = self._code_thinks = self._quote_open = self._has_thought = False
        self._line_at = self._turn_at = self.window.offset
        self._calls_before, self._after_reasoning = len(self.collector.calls), True

    def _is_blank(self) -> bool:
        """Whether the model has said nothing in its turn so far."""
        near = self.window.offset - self._turn_at < limits.KEPT
        return near and only_ends(self.window.since(self._turn_at)) is not None

    def _end_of_text(self, token: Token) -> Reading[None]:
        """Read a token that ends a turn: markup if only such tokens follow it, else content."""
        struck = token.text == "</s>" and "<s>" in self._line
        if not (self._in_code or struck or self._is_quoted()):
            while (size := ends_text(self.window)) is None:
                yield
            if size:
                self._pass_markup(size)
                return
        self._pass_as_text(token.text)

    def _message(self, token: Token) -> Reading[None]:
        """Read a message's header, if one is here; its channel decides how the body is read."""
        if self._is_quoted():
            self._pass_as_text(token.text)
            return
        window, start = self.window, self.window.offset
        if twin := self._finder.tags.get(token.text):
            if form := (yield from format_at(window, twin)):
                if (reading := self._begin(twin, form)) is not None:
                    yield from reading
                return
            if twin.tag and (yield from self._encloses(twin.tag, quoted=False)):
                return
        found = yield from header_at(window, token)
        if found is None:
            cut = self._is_cut_header(token)
            self._pass_text(len(window.text) if cut else window.pos + len(token.text))
            self._line_at = window.offset if cut else self._line_at
            return
        self._mention = self._refused = self._region = None
        self._in_code = False
        header, hit = found
        self._channel, self._is_own = header.channel, True
        if header.opens_call:
            window.pos = hit.end()
            yield from self._read(token, header.form, start, name=hit.groupdict().get("name"))
            return
        self._announced = start if self._channel == "call" else None
        self._pass_markup(len(hit[0]))
        if self._channel == "reasoning":
            yield from self._think_in_message()
            self._line_at, self._after_reasoning = window.offset, True

    def _is_cut_header(self, token: Token) -> bool:
        """Whether the text ends inside a header that begins with this token; if so, report it.

        A token without `<` (`to=`) begins one only at a line's start or if a `<` follows it.
        """
        window, collector = self.window, self.collector
        behind, text = window.pos + len(token.text), window.text
        # This check comes first, because a long text may follow the token.
        if len(text) - behind > limits.HEADER_AHEAD:
            return False
        if not ("<" in token.text or LINE_START.search(self._line) or "<" in text[behind:]):
            return False
        unfinished = _UNFINISHED_LINE if token.text.endswith(">") else _UNFINISHED
        if not unfinished.match(text, behind):
            return False
        start, message = window.offset, "the text ends in the header of a message"
        collector.refuse("truncated", message, start, window.base + len(text), cut=True)
        return True

    def _think_in_message(self) -> Reading[None]:
        """Read the body of a reasoning message, up to the message's end or the next header."""
        window, finder, start = self.window, self._finder, self.window.offset
        self.collector.has_reasoning = self._has_thought = True
        while True:
            hit, end = finder.next_in(window, finder.search)
            self._pass_reasoning(end)
            if hit is None:
                if window.final:
                    self._diagnose_unclosed("no end of this message", start)
                    return
                yield
                continue
            token, size = finder.token(hit), hit.end() - hit.start()
            header = (yield from header_at(window, token)) if token.kind == "message" else None
            turns = token.kind == "turn" and (yield from self._header(token))
            if token.kind == "end" or header or turns:
                return
            self._pass_reasoning(window.pos + size)

    def _end(self, token: Token) -> None:
        """Read the marker of a message's end, which is markup even outside of messages."""
        self._channel, mention = None, self._mention
        if mention and mention.token.kind == "message":
            mention.likely = True
            self._close_unread(mention, token)
            self._mention = None
        self._ends_broken(token)
        self._around(token)

    def _reasoning(self, token: Token) -> Reading[None] | None:
        """Read reasoning if its opener begins a line and is not in code; else add it as content."""
        in_code = self._in_code or self._is_behind_fence()
        if not (in_code or self._is_quoted()) and LINE_START.search(self._line):
            return self._think(token)
        if in_code:
            self._code_thinks = True
        elif not self._is_quoted() and self._thought is None:
            start = self.window.offset
            self._thought = Span(start, start + len(token.text))
        self._pass_as_text(token.text)
        return None

    def _think(self, token: Token) -> Reading[None]:
        """Read reasoning up to its closer.

        If the closer is missing, calls in the reasoning count if they are the end of the text, with
        nothing else between or after them; else all of it is reasoning. This is known only at the
        end. So, from the first text that may begin a call, nothing is reported until the closer
        comes or the text ends.
        """
        window, finder = self.window, self._finder
        start, closer = window.offset, token.closer
        self._pass_markup(len(token.text))
        self.collector.has_reasoning = self._has_thought = True
        while (end := window.text.find(closer, window.pos)) < 0:
            # `held` covers closers, too.
            stop = len(window.text) if window.final else finder.held(window)
            hit = finder.announcing.search(window.text, window.pos)
            if hit and hit.start() < stop:  # else the hit may be part of a longer marker
                self._pass_reasoning(hit.start())
                yield from gather(window, re.compile(re.escape(closer)))
                end = window.text.find(closer, window.pos)
                if end < 0 and self._late_calls(token, start):
                    return
                break
            self._pass_reasoning(stop)
            if window.final:
                break
            yield
        self._pass_reasoning(end if end >= 0 else len(window.text))
        self._line_at = window.offset
        if end < 0:
            self._diagnose_unclosed(f"no {closer!r}", start)
            return
        self._pass_markup(len(closer))
        self._after_reasoning = True
        yield from self._unit()

    def _diagnose_unclosed(self, message: str, start: int) -> None:
        """Report that reasoning which began at offset `start` is still open where the text ends."""
        self.collector.truncated = True
        self.collector.diagnose("unclosed-reasoning", message, start, self.window.offset)

    def _late_calls(self, token: Token, start: int) -> bool:
        """Collect the calls that end the text, and return whether there are any.

        The rest of the text is the end of reasoning that began at offset `start` and is never
        closed. Reasoning nested in it is not examined in the same way, nor is any at "strict".
        """
        if self._inside or self._setting.level == "strict":
            return False
        collector, found, late = self.collector, Collector(listened=False), self.window.offset
        text = self.window.text[self.window.pos :]
        window = Window(text, base=late, final=True)
        setting = replace(self._setting, window=window, collector=found)
        read_all(text, Scanner(self._finder, setting, inside=True).reading)
        tail = calls_at_end(found, text, late)
        first = tail[0][1] if tail else 0
        marked = {form.name for form in self._finder.formats if form.marked and form.opener}
        calls = [call for call in found.calls if call.span and call.span.start >= first]
        notes = [(note, note.span) for note in found.diagnoses if note.span]
        spans = {call.span for call in calls}
        sound = tail and calls and all(call.format in marked for call in calls)
        if not sound or any(span.end > first and span not in spans for _, span in notes):
            return False
        if len(collector.calls) + len(calls) > limits.MAX_CALLS:
            return False
        collector.piece("reasoning", late, first)
        for note, span in notes:  # at another level their texts may be calls
            if span.end <= first:
                collector.note(note)
        opened = Span(start, start + len(token.text))
        repair = Repair("unclosed-reasoning", f"{token.closer!r} is missing before it", opened)
        for kind, begins, ends in tail:
            if kind == "call":
                call = calls.pop(0)
                collector.call(replace(call, repairs=(*call.repairs, repair)))
            else:
                collector.piece("markup", begins, ends)
        for note, span in notes:
            if span in spans:
                collector.note(note)
        collector.truncated = collector.truncated or found.truncated
        self.window.pos += len(text)
        self._line_at = self.window.offset
        return True

    def _end_reasoning(self, token: Token) -> Reading[None] | None:
        """At a closer without an opener, make the text before it reasoning, if none was before."""
        collector = self.collector
        is_text = self._code_thinks or self._is_quoted()
        if is_text or (self._has_thought and self._thought is None):
            if not is_text:
                self._diagnose_stray(token)
            self._code_thinks = False
            self._pass_as_text(token.text)
            return None
        start, end = self._thought or (self._turn_at, self._turn_at)
        collector.reclassify(start, end - start)
        self._has_thought = True
        self._mention = self._refused = self._thought = self._region = None
        self._in_code = False
        self._pass_markup(len(token.text))
        self._after_reasoning = True
        return self._unit()

    def _finish(self) -> None:
        """Report what is incomplete at the text's end: a fence, announced calls, or an opener."""
        collector, finder, end = self.collector, self._finder, self.window.offset
        line = self._line if self._line_at < end else ""
        collector.settle_blank("markup" if collector.last else "content")
        if collector.answered is not None:
            return
        cut = finder.cut(line) if line else ""
        if self._region and collector.last == "content" and not cut:
            cut = finder.cut_around(self._last_piece)
        if self._region and not (self._in_code or cut):
            self._leave_region()
        if self._in_code:
            collector.truncated = True
            collector.diagnose("unclosed-fence", "a code fence was never closed", end, end)
        elif self._announced is not None and collector.last == "markup":
            message = "calls were announced and none came"
            collector.refuse("truncated", message, self._announced, end, cut=True)
        elif cut:
            message = f"the text ends inside {cut!r}"
            collector.refuse("truncated", message, end - len(cut), end, cut=True)
        elif line.rstrip().endswith(ELLIPSES):
            collector.truncated = True
            collector.diagnose("trailing-ellipsis", "the text ends in an ellipsis", end, end)
