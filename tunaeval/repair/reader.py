"""A value that is nearly right, read once: one object or array, with every repair named.

`JsonReader` reads from a window, so it works while the text grows. It writes what it understood as
pieces of sound JSON and lets the decoder make the value of them; there is no second builder of
values. Where it has to decide, it decides from the next few characters only, and never again.
There is no recursion, and nothing is ever evaluated.

It is a machine of steps. A step passes over what it has understood and returns the next step, or
None to wait for more text; it is then taken again, from the window's position. What differs from
one notation to another is in its `Dialect`; Python's calls and braces with marks around texts have
a few steps of their own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NoReturn, TypeAlias

from tunaeval.limits import ARITHMETIC_AHEAD, MARGIN, MAX_DEPTH, MAX_DIGITS
from tunaeval.window import Reading, Window

from .repairs import OPENED, CutError, Draft, UnreadableError
from .strings import JSON_STYLES, StringReader, Style, longest, quote_ends
from .values import NUMBER, ODD_SPACES, SPACES, Read, Unreadable, decode, decode_at, read_sound

Step: TypeAlias = Callable[[], Any]
"""Returns the step after it, or None to wait (a type that contains itself)."""

Atom: TypeAlias = Callable[[Window, Draft, tuple[str, ...]], str | None]
"""Passes over a number or a word and returns it as JSON, or None to wait."""


# --- numbers and words ---------------------------------------------------------------------------

WORDS = {"true": "true", "false": "false", "null": "null"}
PYTHON_WORDS = {"True": "true", "False": "false", "None": "null"}
NEVER = frozenset({"NaN", "nan", "Infinity", "inf", "undefined"})
"""Words that are values elsewhere and in no dialect of JSON."""

ARITHMETIC = "arithmetic"
"""The diagnosis of a value that would have to be computed from constants."""

KEY_WORD = re.compile(r"[A-Za-z_$][\w$-]{0,255}+")
"""A key without quotes; no longer, so that it is known when it ends."""

_CUT_NUMBER = re.compile(r"-?+[0-9]*+\.?+[0-9]*+(?:[eE][+-]?+[0-9]*+)?+\Z")
_UNQUOTED = re.compile(r"[A-Za-z0-9_./*~:@ -]{1,200}+(?=[,}\]\n])")
_ODD_NUMBER = re.compile(
    r"(?P<sign>-?)(?=\.?\d)(?P<whole>(?:0(?![\d_])|[1-9]\d{0,17}(?:_\d{1,18}){0,6})?)"
    r"(?:\.(?P<part>\d{0,17}))?"
)
"""One that programs know and JSON does not: .25, 1. and 1_000."""

_ENDS_ATOM = frozenset(f"{SPACES},}}]/#{ODD_SPACES}")
_PLAIN_WORDS = re.compile(r"[^\W\d][\w .'/-]*+")
_CONSTANTS = re.compile(r"[-+(]{0,8}[\d.]{1,40}[) ]{0,8}(?:\*\*|//|[-*/%+])[ (+-]{0,8}[\d.]")
_DATE = re.compile(r"\d{1,4}[-/]\d{1,2}[-/]\d{1,4}\b")


def read_number(window: Window, draft: Draft, stops: tuple[str, ...]) -> str | None:
    """Read a number, or something that begins like one."""
    number = longest(window, NUMBER)
    if number is not None and len(number) > MAX_DIGITS:
        raise UnreadableError("too-many-digits", f"a number of more than {MAX_DIGITS} digits")
    after = None if number is None else behind(window, len(number))
    if number and after is not None and _ends_atom(after, stops):
        window.pos += len(number)
        return number
    known = len(window.text) - window.pos
    cut = _CUT_NUMBER.match(window.text, window.pos)
    if number is None or after is None or (cut and not window.final and known <= MAX_DIGITS):
        return None
    if cut or not after:
        cut_off(window)
    return _unquoted(window, draft, "unquoted-string")


def read_word(
    window: Window, draft: Draft, stops: tuple[str, ...], *, words: str = "unquoted-string"
) -> str | None:
    """Read true, false, null, their Python forms, or a string that lost its quotes.

    `words` is the repair of such a string if it is nothing but words.
    """
    word = longest(window, KEY_WORD)
    after = None if word is None else behind(window, len(word))
    if word is None or after is None:
        return None
    known = WORDS.get(word) or PYTHON_WORDS.get(word)
    if not known and words == "unquoted-string":
        known = WORDS.get(word.lower())
    if known and _ends_atom(after, stops):
        if word not in WORDS:
            draft.repair("python-literal")
        window.pos += len(word)
        return known
    if word and not after:
        cut_off(window)
    return _unquoted(window, draft, words)


def _unquoted(window: Window, draft: Draft, words: str) -> str | None:
    """Read plain characters up to the end of the member."""
    run = _UNQUOTED.match(window.text, window.pos)
    if run is None:
        if window.final or len(window.text) - window.pos > 200:
            found = window.text[window.pos : window.pos + 20]
            raise UnreadableError("invalid-json", f"{found!r} is no JSON value")
        return None
    text = run.group().rstrip()
    number = _ODD_NUMBER.fullmatch(text)
    if number:
        draft.repair("odd-number")
        window.pos += len(text)
        whole, part = number["whole"].replace("_", ""), number["part"]
        return f"{number['sign']}{whole or 0}{f'.{part or 0}' if part is not None else ''}"
    if text.lstrip("-") in NEVER or text[:1] in "-.0123456789":
        code = refused_value(text, "invalid-json")
        raise UnreadableError(code, f"{text[:40]!r} is no JSON value")
    draft.repair(words if _PLAIN_WORDS.fullmatch(text) else "unquoted-string")
    window.pos += len(text)
    return f'"{text}"'


def refused_value(text: str, otherwise: str) -> str:
    """Return the code of a value that is refused: `ARITHMETIC` where constants are computed.

    Nothing is evaluated, at any level. A date such as 2024-05-01 is no arithmetic.
    """
    constants = _CONSTANTS.match(text) and not _DATE.match(text)
    return ARITHMETIC if constants else otherwise


def cut_off(window: Window) -> NoReturn:
    """Drop the word or number that the text ends in."""
    window.pos = len(window.text)
    raise CutError("truncated")


def behind(window: Window, length: int) -> str | None:
    """Return the character so far behind the position, "" at the end of the text."""
    index = window.pos + length
    return window.text[index : index + 1] if index < len(window.text) or window.final else None


def _ends_atom(after: str, stops: tuple[str, ...]) -> bool:
    return not after or after in _ENDS_ATOM or any(stop.startswith(after) for stop in stops)


# --- dialects ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a dialect of nearly-JSON writes its brackets, keys, strings and atoms."""

    brackets: Mapping[str, str]
    """The kind of bracket (see `repairs.CLOSER`) that a character opens."""
    closers: str
    keyed: frozenset[str]
    """The kinds of brackets that have keys."""
    styles: Mapping[str, Style]
    """How a string is written, by the character that begins it."""
    bare_key: re.Pattern[str]
    bare_key_repair: str
    """The repair of a key without quotes."""
    signs: Mapping[str, str]
    """What is between a key and its value, and the repair of that."""
    signs_may_lack: bool
    numbers: str
    """What begins a number, besides digits."""
    number: Atom
    word: Atom
    comments: str = ""
    """What begins a comment."""
    outer: str = ""
    """A closer of what is around the value: it closes whatever is still open."""
    trailing_comma: str = "trailing-comma"
    """The repair of a comma before a closer."""


JSON = Dialect(
    brackets={"{": "{", "[": "["},
    closers="}]",
    keyed=frozenset("{"),
    styles=JSON_STYLES,
    bare_key=KEY_WORD,
    bare_key_repair="bare-key",
    signs={":": "", "=": "separator"},
    signs_may_lack=True,
    numbers="-",
    number=read_number,
    word=read_word,
    comments="/#",
)

_SPACE = re.compile(rf"[{SPACES}]++")
_STRING = f'"{JSON_STYLES[chr(34)].plain.pattern}"'
_SOUND_MEMBER = re.compile(
    rf"[{SPACES}]*+(?P<key>{_STRING})[{SPACES}]*+:[{SPACES}]*+"
    rf"(?:(?P<text>{_STRING})|(?P<atom>{NUMBER.pattern}|{'|'.join(WORDS)}))(?=[{SPACES}]*+[,}}])"
)


@lru_cache(maxsize=64)
def _special(comments: str, stops: str) -> frozenset[str]:
    """The characters between tokens that may be no part of the value."""
    return frozenset(SPACES + ODD_SPACES + comments + stops)


def _over() -> None:
    """The step behind the last one."""


class JsonReader:
    """Reads the value at the window's position; used once.

    `stops` are texts that end the frame around the value (a closing tag): met outside a string
    they close whatever is still open, and a string that was never closed. `draft` is what has been
    understood so far. `whole` is true once the last closer was reached, even by a value that is
    refused.
    """

    dialect = JSON
    whole = False
    _bare_key = False
    _comment = ""
    """What ends the comment that the position is in; "" outside of comments."""
    _comment_began = 0

    def __init__(self, window: Window, stops: tuple[str, ...] = ()) -> None:
        self._dialect = dialect = self.dialect
        self.draft = Draft(window, dialect.outer, dialect.trailing_comma)
        self._window = window
        self._string_stops = stops
        # Brackets are values outside of strings, whatever begins with them.
        self._stops = stops = tuple([stop for stop in stops if stop[0] not in "[{"])
        self._special = _special(dialect.comments, "".join([stop[0] for stop in stops]))
        self._step: Step = self._start

    def read(self) -> Reading[Read | Unreadable]:
        """Read the value. The window's position is then behind it, or where it made no sense."""
        while (result := self.advance()) is None:
            yield
        return result

    def advance(self) -> Read | Unreadable | None:
        """Go on as far as the text allows; return None if the value goes on behind it."""
        draft, truncated = self.draft, False
        try:
            self._go_on()
            if not self.whole:
                return None
        except UnreadableError as reason:
            so_far = "".join(draft.pieces) + draft.pending
            return Unreadable(reason.code, str(reason), self._window.offset, so_far, reason.cut)
        except CutError as cut:
            draft.close_all()
            truncated = cut.repair == "truncated" and not self._ends_with_a_stop()
            draft.repair("truncated" if truncated else "missing-closer")
        written = draft.written()
        made = decode(written)
        if isinstance(made, Unreadable):
            return Unreadable(made.code, made.message, self._window.offset, written)
        return Read(made[0], draft.repairs, made[1], truncated)

    def _go_on(self) -> None:
        """Take one step after the other, until one has to wait.

        The last one is forgotten: it refers to the reader, which would refer to itself for ever.
        """
        step, self._step = self._step, _over
        if not self._comment or self._pass_comment():
            while (following := step()) is not None:
                step = following
        if not self.whole:
            self._step = step

    def _ends_with_a_stop(self) -> bool:
        """Whether the text ends with a frame's end: in a string, which then was never closed.

        One of signs alone, a code fence, may as well be part of a string that was cut off.
        """
        stops = tuple(stop for stop in self._stops if any(map(str.isalpha, stop)))
        return self._window.text[-MARGIN:].rstrip().endswith(stops)

    # --- between tokens ----------------------------------------------------------------------

    def _next(self) -> str:
        """Pass over white space and comments; return the next character, or "" to wait."""
        window = self._window
        while True:
            text, at = window.text, window.pos
            if at == len(text):
                if window.final:
                    raise CutError("truncated")
                return ""
            char = text[at]
            if char not in self._special:
                return char
            if space := _SPACE.match(text, at):
                window.pos = space.end()
                continue
            if char in ODD_SPACES:
                self.draft.repair("odd-space")
                window.pos += 1
                continue
            begins = char in self._dialect.comments and self._begin_comment(char)
            if begins is None or (begins and not self._pass_comment()):
                return ""
            if not begins:
                return "" if self._may_be_stop(char) else char

    def _begin_comment(self, char: str) -> bool | None:
        """Whether a comment begins here; if so pass over its first characters."""
        window, size = self._window, 1
        closer = "\n"
        if char == "/":
            second = window.text[window.pos + 1 : window.pos + 2]
            if not second and not window.final:
                return None
            if second not in ("/", "*"):
                return False
            closer, size = "*/" if second == "*" else "\n", 2
        self._comment, self._comment_began = closer, window.offset
        window.pos += size
        return True

    def _pass_comment(self) -> bool:
        """Pass over the rest of the comment, as it arrives; return False to wait."""
        window = self._window
        ends = (self._comment, *self._stops)
        found = [window.text.find(end, window.pos) for end in ends]
        at = min((at for at in found if at >= 0), default=-1)
        if at < 0:
            if window.final:
                window.pos = len(window.text)
                raise CutError("truncated")
            longest_end = max(map(len, ends))
            window.pos = max(window.pos, len(window.text) - longest_end + 1)
            return False
        window.pos = at
        if not window.text.startswith(self._comment, at):
            raise UnreadableError("invalid-json", "a comment that never ends")
        window.pos += len(self._comment)
        self._comment = ""
        self.draft.repair("comment", self._comment_began)
        return True

    def _may_be_stop(self, char: str) -> bool:
        """Cut the value off at a stop; return whether more text may make one of what is here."""
        window, near = self._window, False
        for stop in self._stops:
            if stop[0] != char:
                continue
            if window.text.startswith(stop, window.pos):
                raise CutError("missing-closer")
            near = near or stop.startswith(window.text[window.pos : window.pos + len(stop)])
        return near and not window.final

    # --- values ------------------------------------------------------------------------------

    def _start(self) -> Step | None:
        """Read the whole value; it may begin with what is also the beginning of a stop."""
        window = self._window
        if window.text.startswith("{", window.pos):
            return self._open("{", window.pos)
        return self._value()

    def _value(self) -> Step | None:
        """Read the value behind a key and its sign."""
        return self._begin(self._next(), "value")

    def _begin(self, char: str, role: str) -> Step | None:
        """Read the value that begins with `char`."""
        dialect = self._dialect
        if not char:
            return None
        if (style := self._style(char)) is None:
            return None
        if isinstance(style, Style):
            self.draft.begin_value('"')
            return self._begin_string(style, role, self.draft.pieces, self._behind_string)
        if char in dialect.brackets:
            self.draft.begin_value()
            return self._open(dialect.brackets[char], self._window.pos)
        number = char in dialect.numbers or char.isdigit()
        return self._atom(dialect.number if number else dialect.word)

    def _style(self, char: str) -> Style | bool | None:
        """Return how the string that begins with `char` is written; False if none begins here,
        None to wait.
        """
        return self._dialect.styles.get(char, False)

    def _begin_string(self, style: Style, role: str, out: list[str], then: Step) -> Step:
        """Read a string into `out`, where the quote before it is already written.

        Return the step that reads on, or `then` behind the end.
        """
        stops = self._string_stops
        string = StringReader(self._window, self.draft, out, style, role=role, stops=stops)
        return then if string.advance() else lambda: then if string.advance() else None

    def _behind_string(self) -> Step | None:
        return self._after()

    def _atom(self, read: Atom) -> Step | None:
        draft = self.draft
        if (atom := read(self._window, draft, self._stops)) is None:
            return None
        draft.begin_value(atom)
        return self._after

    def _open(self, kind: str, at: int) -> Step:
        """Pass over the bracket in the window at `at`, whose value was begun."""
        draft = self.draft
        if len(draft.open) >= MAX_DEPTH:
            self._window.pos = at
            raise UnreadableError("too-deep", f"nested deeper than {MAX_DEPTH}")
        self._window.pos = at + 1
        draft.pieces.append(OPENED[kind])
        draft.open.append(kind)
        return self._item

    def _close(self, char: str, otherwise: Step) -> Step:
        """Pass over a closer; `otherwise` is the next step if it closes nothing."""
        closed = self.draft.close(char)
        self._window.pos += 1
        return self._after if closed else otherwise

    def _item(self) -> Step | None:
        """Read a member of an object or an element of an array."""
        draft, dialect = self.draft, self._dialect
        if dialect is JSON and draft.open[-1] == "{" and self._sound_member():
            return self._after
        char = self._next()
        if not char:
            return None
        if char in dialect.closers:
            return self._close(char, self._item)
        if char == "," and draft.comma is not None:
            draft.repair("extra-comma")
            self._window.pos += 1
            return self._item
        return self._name(char) if draft.open[-1] in dialect.keyed else self._begin(char, "element")

    def _sound_member(self) -> bool:
        """Read a whole member that is sound JSON, as most are; return False if none is here.

        The other steps would read it in the same way, and take three times as long.
        """
        window, draft, at = self._window, self.draft, self._window.pos
        found = _SOUND_MEMBER.match(window.text, at)
        if not found or found.end() - at > MAX_DIGITS:
            return False
        if (text := found["text"]) is not None:
            window.pos = found.end() - 1
            if not quote_ends(window, "value", self._string_stops):
                window.pos = at
                return False
        window.pos = found.end()
        draft.begin_member(found["key"])
        draft.begin_value(text or found["atom"])
        return True

    def _after(self) -> Step | None:
        """Read what is behind a value: a comma, a closer, or what should come behind a comma."""
        draft, window = self.draft, self._window
        if not draft.open:
            self.whole = True
            return None
        at = window.pos
        char = self._next()
        if not char:
            return None
        if char == ",":
            at = window.pos
            window.pos += 1
            if draft.open[-1] == "(":
                draft.open[-1] = "(,"
        elif char in self._dialect.closers:
            return self._close(char, self._after)
        elif (repair := self._lost_comma(char)) is None:
            return None
        elif repair:
            draft.repair(repair)
        else:
            self._refuse_after(char)
            return None
        draft.comma = window.base + at
        return self._item

    def _refuse_after(self, char: str) -> None:
        """Refuse what is behind a value; wait if more text could show that it computes one."""
        window = self._window
        before = window.text[max(0, window.pos - 40) : window.pos].rstrip()
        code = "invalid-json"
        if char in "*/%+-" and before[-1:].isdigit():
            ahead = window.text[window.pos : window.pos + ARITHMETIC_AHEAD]
            if len(ahead) < ARITHMETIC_AHEAD and not window.final:
                return
            code = refused_value(f"{before[-1]}{ahead}", code)
        raise UnreadableError(code, f"{char!r} after a value")

    def _lost_comma(self, char: str) -> str | None:
        """Return the repair if the next member begins here, without its comma; None to wait."""
        if (quoted := self._style(char)) is None:
            return None
        if self.draft.open[-1] not in self._dialect.keyed:
            return "missing-comma" if char in "{[" else "guessed-comma" if quoted else ""
        if not (quoted or char.isalpha() or char == "_"):
            return ""
        return "guessed-comma" if self.draft.comma_is_elsewhere() else "missing-comma"

    # --- keys --------------------------------------------------------------------------------

    def _name(self, char: str) -> Step | None:
        """Read a key, which begins with `char`."""
        style = self._style(char)
        if isinstance(style, Style):
            self._bare_key, pieces = False, ['"']
            return self._begin_string(style, "key", pieces, lambda: self._named("".join(pieces)))
        self._bare_key = True
        word = None if style is None else longest(self._window, self._dialect.bare_key)
        if word is None:
            return None
        if not word:
            raise UnreadableError("invalid-json", f"{char!r} where a key was expected")
        if self._dialect.bare_key_repair:
            self.draft.repair(self._dialect.bare_key_repair)
        self._window.pos += len(word)
        return self._named(f'"{word}"')

    def _named(self, key: str) -> Step:
        self.draft.begin_member(key)
        return self._sign

    def _sign(self) -> Step | None:
        """Read what is between a key and its value."""
        window, dialect = self._window, self._dialect
        char = self._next()
        if not char:
            return None
        if (repair := dialect.signs.get(char)) is not None:
            if char == "=" and window.pos + 1 >= len(window.text) and not window.final:
                return None
            if repair:
                self.draft.repair(repair)
            window.pos += 2 if window.text.startswith("=>", window.pos) else 1
        elif (
            dialect.signs_may_lack and not self._bare_key
            and (char in dialect.styles or char in "{[-" or char.isalnum())
        ):  # fmt: skip
            self.draft.repair("missing-colon")
        else:
            raise UnreadableError("invalid-json", f"{char!r} where a colon was expected")
        return self._value


def read_json(text: str) -> Read | Unreadable:
    """Read a text that is one object or array, white space around it apart."""
    start = len(text) - len(text.lstrip())
    if text.startswith(("{", "["), start):
        if (value := read_sound(text)) is not None:
            return Read(value)
        found = decode_at(text, start)
        if found and not found[2] and not text[found[1] :].strip():
            return Read(found[0])
    window = Window(text, final=True)
    window.pos = start
    result = read_at_once(JsonReader(window))
    rest = text[window.pos :].strip() if window.pos < len(text) else ""
    if rest and isinstance(result, Read):
        return Unreadable("invalid-json", f"{rest[:40]!r} comes after the value", window.pos)
    return result


def read_at_once(reader: JsonReader) -> Read | Unreadable:
    """Read a value in a window to which nothing more comes."""
    result = reader.advance()
    if result is None:
        raise AssertionError("a reader waits for more than the whole text")
    return result
