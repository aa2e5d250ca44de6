"""One block of calls as Python writes them: `[f(a=1), g()]`, or one on each line.

Between markers a call that cannot be read is refused alone, if its end can be found. A list
without markers is held to its end, for only one that is well-formed up to there is a list of calls:
comprehensions, links and indices begin like it. It also has to end its line, as words behind it
speak of it, and if none of its names is known to be a tool it has to have its lines for itself:
attributes, logs and list items begin like it too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import TypeAlias

from tunaeval.grammar import spellings
from tunaeval.grammar.format import Format
from tunaeval.limits import COMMENT_AHEAD, LIST_AHEAD, LIST_BEFORE, NEAR_SPACE
from tunaeval.types.calls import Repair, Span

from .block import Begun, Setting, bounded, literal, next_char, peek
from .quoting import IN_PROGRAM_STRING
from .repair.dialects import PythonReader, plain_arguments
from .repair.values import Read, Unreadable
from .window import Reading

_Found: TypeAlias = tuple[str, Span, Read | Unreadable, tuple[Repair, ...]]
"""A call: its name, where it is, what could be read of it, and repairs of what is around it."""

_BEHIND = re.compile(r"[ \t]*+(?:<?\Z|(?=[\r\n]|<\|))")
_TRAIL = re.compile(r"(?:\(\))?+[.,;]?+[ \t]{0,16}+(?:\Z|(?=[\r\n#]))")
"""Signs behind a list that begins its line: of a sentence, or of a call of what it returns."""

NAME = re.compile(r"[^\W\d][\w.:-]{0,127}+")

_HEAD = re.compile(rf"{NAME.pattern}{NEAR_SPACE}\(?")
"""In a row that nothing closes, what another call begins with; without a parenthesis it is text."""

_CODE_BEFORE = re.compile(
    r"(?:[\w)\]]|[+*{\[][ \t]{0,8}|[=(,]\s{0,24}|(?:\breturn|\byield|==)[ \t]{1,8}|\S\s{0,24}"
    + IN_PROGRAM_STRING
    + r")\Z"
)
"""What is before a list in a program: a name, an assignment, an argument, a string's quotes."""

_IN_CALL = re.compile(r"""[][(){}:,"'=*#\w+-]""").match

QUOTING = ("'", '"', "`")
_QUOTE = re.compile("['\"`]?+")
_LOOSE = re.compile(r"""[\s,;\[\]'"`]*+""")
"""Between calls that are all of a reply: lists in lists, quotes, commas, semicolons, new lines."""


class PythonBlock(Begun):
    """Reads a block of Python calls; see `block.Begun`.

    `begins_line`: nothing but white space or markup stands before it in its line.
    """

    def __init__(
        self, setting: Setting, form: Format, start: int, *, quoted: bool, begins_line: bool
    ) -> None:
        super().__init__(setting, form, start, quoted=quoted)
        self._bare = form.opener is None
        ends = (form.closer, (form.around or (None, None))[1])
        texts = (text for word in ends for text in spellings(word) if text)
        self._stops = tuple(text for text in texts if not _IN_CALL(text))
        """The texts behind calls, which no call goes beyond; none begins as a part of one."""
        self._found: list[_Found] = []
        self._likely = not self._bare
        self._known = False
        self._alone = begins_line or quoted or not self._bare
        self._begins_line = begins_line
        self._broken = False
        self._apart = False

    def read(self) -> Reading[None]:
        """Read it. Without a body nothing is handed on but what was cut off."""
        window = self._window
        if self._form.whole:
            yield from self._read_unit()
            return
        if self._bare:
            yield from self._read_bare()
            return
        char = yield from next_char(window)
        if not char:
            self._fail("truncated", "the text ends behind the opener", cut=True)
            return
        self._apart = window.preceding(window.pos).endswith(" ")
        listed = char == "["
        commented = char == "#" and (yield from self._passes_joint())
        if not (listed or commented or _begins_name(char)):
            return
        window.pos += listed
        self.had_body = listed or commented
        ended = yield from self._row(listed=listed)
        if not self.had_body:
            return
        self.failed = not ended
        if ended and not self._setting.collector.full:
            if self._form.closer:
                yield from self._pass_closer(self._form.closer)
            else:
                yield from next_char(window)
        self._close_at(window.offset)

    def _read_bare(self) -> Reading[None]:
        """Read a list without markers: all of it is calls, or all of it is text."""
        window, self.had_body = self._window, True
        start = max(0, window.pos - LIST_BEFORE)
        code = _CODE_BEFORE.search(window.text, start, window.pos)
        window.pos += 1
        if not code:
            ended = yield from self._row(listed=True)
            if ended and self._convinces() and (yield from self._stands_alone()):
                self._hand_on()
            elif self._broken:
                self._refuse_found(*self._found[-1][1:3])
        self._close_at(window.offset)

    def _read_unit(self) -> Reading[None]:
        """Read all of the text as calls, one of which has to name a tool."""
        window = self._window
        depth = yield from self._loose_row()
        self.had_body = depth is not None and (self._known or self._setting.tools is None)
        if depth is None or not self.had_body:
            return
        self._likely = True
        self._hand_on()
        if depth:
            code, what = ("unclosed", "never closed") if depth > 0 else ("extra-closer", "no list")
            self._repair_last(code, f"a bracket around calls: {what}")
        self._close_at(window.offset)

    def _loose_row(self) -> Reading[int | None]:
        """Hold all calls; return how many lists are open at the end, or None at anything else."""
        window, depth = self._window, 0
        while True:
            joint = yield from bounded(window, _LOOSE)
            depth += joint.count("[") - joint.count("]")
            if window.pos == len(window.text):
                break
            quoted = joint[-1:] in QUOTING and joint != ""
            at, before, start = window.offset, len(self._found), window.pos
            if self._is_full():
                break
            if not _begins_name(window.text[window.pos]):
                return None
            note = Repair("quoted-call", "a call in quotes", Span(at - 1, at))
            whole = yield from self._call((note,) if quoted else ())
            if joint.isspace() and "\n" not in joint and "(" not in window.text[start:]:
                return None  # a word behind calls
            if not whole:
                last = self._found[-1][2] if len(self._found) > before else None
                if not (isinstance(last, Unreadable) and last.cut):
                    return None
                window.pos = len(window.text)
                break
        return depth if self._found else None

    def _convinces(self) -> bool:
        """Whether the list is taken for calls: by a known tool, a named argument, or as `[f()]`."""
        reads = [read for _, _, read, _ in self._found]
        sound = all(isinstance(read, Read) and not read.repairs for read in reads)
        return self._likely or (self._alone and sound)

    def _stands_alone(self) -> Reading[bool]:
        """Return whether nothing, or signs if the list begins its line and calls a known tool, is
        behind the list in its line.
        """
        window, signs = self._window, self._known and self._begins_line
        while True:
            text, end = window.text, window.pos + LIST_AHEAD
            found = _BEHIND.match(text, window.pos, end)
            if not found and signs:
                found = _TRAIL.match(text, window.pos, end)
            if window.final or not found or found.end() < len(text) or len(text) >= end:
                alone = found is not None and not found[0].endswith("<")  # which begins no marker
                return alone or self._quoted or self._setting.collector.full
            yield

    def _row(self, *, listed: bool) -> Reading[bool]:
        """Read calls up to the end of their row; return whether all could be separated."""
        window, count, comma = self._window, 0, True
        while True:
            char = yield from next_char(window)
            if _begins_name(char) and (comma or not self._bare):
                if self._is_full() or (count and not listed and (yield from self._is_text())):
                    return True
                if listed and not comma:
                    self._repair_last("missing-comma", "no comma between two calls")
                if not (yield from self._call()):
                    return False
                count, comma = count + 1, not listed
            elif char == "," and count and (not comma or not listed):
                comma = True
                window.pos += 1
            elif not listed and (count or char != ";") and (yield from self._passes_joint()):
                comma = True
            elif char == "]" and listed:
                window.pos += 1
                if not (count or self._bare):
                    self._fail("invalid-json", "a list without calls")
                return count > 0
            else:
                return (yield from self._ended(char, count, listed=listed))

    def _passes_joint(self) -> Reading[bool]:
        """Whether a comment or a semicolon is here, between calls on lines; it is passed over."""
        return bool((yield from bounded(self._window, _between_lines(self._form))))

    def _is_text(self) -> Reading[bool]:
        """Whether a word behind calls that nothing closes begins none; it is not passed over."""
        if self._bare or self._form.closer is not None:
            return False
        return not (yield from peek(self._window, bounded(self._window, _HEAD))).endswith("(")

    def _ended(self, char: str, count: int, *, listed: bool) -> Reading[bool]:
        """Report what follows in place of a call; return whether the calls so far count."""
        if not count:
            if char and not self._bare:
                self._fail("invalid-json", f"{char!r} where a call was expected")
            elif not self._bare:
                self._fail("truncated", "the text ends before a call", cut=True)
            return False
        if char and self._bare:
            over = yield from peek(self._window, literal(self._window, self._stops))
            if not over:
                return False
        if not self._convinces():
            return False
        if listed:
            self._hand_on()
            self._repair_last("unclosed", "a list of calls that was never closed")
        return True

    def _call(self, frame: tuple[Repair, ...] = ()) -> Reading[bool]:
        """Read one call; return False when what follows cannot be separated from it."""
        window, start = self._window, self._window.offset
        name = yield from bounded(window, NAME)
        if self._form.whole:
            yield from bounded(window, _QUOTE)
        char = yield from next_char(window)
        if char != "(":
            return self._no_call(name, start, char)
        self.had_body, broken = True, False
        plain = plain_arguments(window.text, window.pos)
        if plain:
            read: Read | Unreadable = Read(plain[0])
            window.pos, named = plain[1], bool(plain[0])
        else:
            reader = PythonReader(window, self._places(name), self._stops)
            read = yield from reader.read()
            broken, named = isinstance(read, Unreadable) and not reader.whole, reader.named
            if broken:
                yield from reader.skip(lines=not self._bare)
                broken = not reader.whole
        tools = self._setting.tools
        self._known = self._known or (tools is not None and name in tools)
        self._likely = self._likely or self._known or (named and self._alone)
        self._found.append((name, Span(start, window.offset), read, frame))
        if not self._bare:
            self._hand_on()
        self._broken = broken
        return not broken

    def _no_call(self, name: str, start: int, char: str) -> bool:
        """Report a name without a parenthesis; return whether the text ends behind it."""
        cut = not char
        self.had_body = self.had_body or (cut and not self._apart)
        if self.had_body:
            message = f"the text ends behind {name[:60]!r}" if cut else f"{char!r} behind a name"
            why = Unreadable("truncated" if cut else "invalid-json", message, cut=cut)
            self._found.append((name, Span(start, self._window.offset), why, ()))
            if not self._bare:
                self._hand_on()
        return cut

    def _is_full(self) -> bool:
        return self._setting.collector.is_full(self._count + len(self._found))

    def _places(self, name: str) -> tuple[str, ...]:
        """Return the parameters of the tool in their order."""
        properties = self._setting.parameters(name).get("properties")
        return tuple(properties) if isinstance(properties, Mapping) else ()

    def _hand_on(self) -> None:
        """Judge what was held, in order."""
        found, self._found = self._found, []
        for name, span, read, frame in found:
            self._settle()
            if self._quoted:
                self._refuse_quoted(span)
                self._content_to(span.end)
            elif isinstance(read, Unreadable):
                self._refuse_found(span, read)
            else:
                verdict = self._judge(read, span, name, frame=frame)
                if verdict.call or self._likely:
                    self._take(verdict, span)
                if not verdict.call:
                    self._content_to(span.end)

    def _refuse_found(self, span: Span, why: Read | Unreadable) -> None:
        """Report a call that could not be read; without markers only if it looked like one."""
        if isinstance(why, Unreadable) and self._likely and not self._quoted:
            self._refuse(why.code, why.message, span, cut=why.cut)
        self._content_to(span.end)


def _begins_name(char: str) -> bool:
    return char.isalpha() or char == "_"


@lru_cache(maxsize=64)
def _between_lines(form: Format) -> re.Pattern[str]:
    """A semicolon, or a comment, which ends at the closer; what the closer begins with is neither.

    Only where calls are written on lines, and something closes them.
    """
    if form.python is None or form.python.listed or form.closer is None:
        return re.compile(r"(?!)")
    ends = [text.lstrip() for text in form.closer.spellings]
    comment = rf"#(?:(?!{'|'.join(map(re.escape, ends))})[^\n]){{0,{COMMENT_AHEAD}}}+"
    signs = {";": ";", "#": comment}
    return re.compile("|".join(signs[sign] for sign in signs if sign not in {e[:1] for e in ends}))
