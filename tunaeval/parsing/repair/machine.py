r"""A value that is nearly right, read once: one object or array, with every repair named.

`JsonReader` reads from a window, so it works while the text grows. It writes what it understood as
pieces of sound JSON and lets the decoder make the value of them; there is no second builder of
values. Where it has to decide, it decides from a fixed number of characters ahead, and never again,
so that whole texts and streams decide alike. There is no recursion, and nothing is ever evaluated.

It is a machine of steps. A step passes over what it has understood and returns the next step. Where
only more text can decide, it raises `EndError(WAIT)`, and is taken again from the window's position
when more is there. The dialects are subclasses, with tables and steps of their own.

What was written is sound JSON at any moment, once the brackets that are still open are closed: a
comma or a key waits until the value behind it begins. It is never taken back, but for the bracket
of what turns out to be no tuple or no dictionary of Python.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from json.encoder import encode_basestring, encode_basestring_ascii
from typing import ClassVar, NamedTuple, NoReturn, TypeAlias

from tunaeval import limits
from tunaeval.parsing.window import Reading, Window, read_all
from tunaeval.types.calls import ARGUMENTS_KEYS, NAME_KEYS, Span

from . import values
from .values import NUMBER, ODD_SPACES, REPAIRS, SPACES, Read, Unreadable

Step: TypeAlias = Callable[[], "Step"]

WAIT = "wait"

ARITHMETIC = "arithmetic"
"""The diagnosis of a value that would have to be computed from constants."""


class EndError(Exception):
    """Raised where a step cannot go on; never leaves this package.

    The code is `WAIT`; or the repair with which the value is closed, as the text or the frame
    around it ends here ("truncated", "missing-closer"); or says why there is no value.
    """

    def __init__(self, code: str, message: str = "") -> None:
        self.code = code
        super().__init__(message)


CLOSER = {"{": "}", "[": "]", "(": ")", "(,": ")", "{,": "}", "**": "}", "f": ")"}
"""What ends a bracket, by its kind. Only Python has more than two kinds.

A value in parentheses, which a comma makes a tuple; a set; an unpacked dictionary; arguments.
"""
_OPENED = {"{": "{", "[": "[", "(": "[", "**": "", "f": "{"}
_CLOSED = {"{": "}", "[": "]", "(": "]", "(,": "]", "{,": "]", "**": "", "f": "}"}
"""What is written for a bracket of each kind, and for its end."""

KEYED = frozenset({"{", "**", "f"})
"""The kinds of brackets that have keys."""

WORDS = {"true": "true", "false": "false", "null": "null"}
PYTHON_WORDS = {"True": "true", "False": "false", "None": "null"}
NEVER = frozenset({"NaN", "nan", "Infinity", "inf", "undefined"})
"""Words that are values elsewhere and in no dialect of JSON."""

_KEY_WORD = re.compile(r"[A-Za-z_$][\w$-]{0,255}+")
"""A key without quotes; no longer, so that it is known when it ends."""

_CUT_NUMBER = re.compile(r"-?+[0-9]*+\.?+[0-9]*+(?:[eE][+-]?+[0-9]*+)?+\Z")
_UNQUOTED = re.compile(r"[A-Za-z0-9_./*~:@ -]{1,200}+(?=[,}\]\n])")
_ODD_NUMBER = re.compile(
    r"-?(?=\.?\d)(?:0(?![\d_])|[1-9]\d{0,17}(?:_\d{1,18}){0,6})?(?:\.\d{0,17})?"
)
"""One that programs know and JSON does not: .25, 1. and 1_000."""

_PLAIN_WORDS = re.compile(r"[^\W\d][\w .'/-]*+")
_CONSTANTS = re.compile(r"[-+(]{0,8}[\d.]{1,40}[) ]{0,8}(?:\*\*|//|[-*/%+])[ (+-]{0,8}[\d.]")
_DATE = re.compile(r"\d{1,4}[-/]\d{1,2}[-/]\d{1,4}\b")


def refused_value(text: str, otherwise: str) -> str:
    """Return `ARITHMETIC` if a refused value computes constants (no date does), or `otherwise`."""
    constants = _CONSTANTS.match(text) and not _DATE.match(text)
    return ARITHMETIC if constants else otherwise


class Style(NamedTuple):
    """How a string is written: its quotes, and what its characters and escapes mean."""

    quote: str
    """A character, or several."""
    closing: str
    """The characters that may end it."""
    plain: re.Pattern[str]
    """What needs no thought, sound escapes included; it is taken at once."""
    with_controls: re.Pattern[str]
    """What is taken at once behind an odd control character: whoever writes one, writes more."""
    escapes: Mapping[str, str] | None
    """What is written for an escape, by its letter; None where a backslash means nothing."""
    repair: str = ""
    """The repair that its quotes are."""
    encode: Callable[[str], str] | None = None
    """Makes JSON of what is taken at once, where it is not copied as it is."""


_CONTROL = re.compile(r"[\x00-\x1f]")


def _escaped(text: str) -> str:
    """Return a text as it is inside a string of JSON."""
    return encode_basestring(text)[1:-1]


def _controls_escaped(text: str) -> str:
    """Escape the control characters of a JSON string's inside, in one pass for each kind."""
    while control := _CONTROL.search(text):
        text = text.replace(control[0], _escaped(control[0]))
    return text


JSON_ESCAPES = {**{char: "\\" + char for char in '"\\bfnrt'}, "/": "/", "'": "'"}
PYTHON_ESCAPES = {**JSON_ESCAPES, "a": "\\u0007", "v": "\\u000b", "\n": ""}
del PYTHON_ESCAPES["/"]

_DOUBTFUL = {"b": "\b", "f": "\f"}
r"""What \b and \f are kept back as: raw control characters, which no other piece contains."""

_CODE = re.compile(
    r"\\(?:x[0-9a-fA-F]{0,2}+|u[0-9a-fA-F]{0,4}+|U[0-9a-fA-F]{0,8}+|[0-7]{1,3}+"
    rf"|N(?:\{{[A-Za-z0-9 ()-]{{0,{limits.UNICODE_NAME}}}+\}}?+)?+)"
)
"""An escape by a character's number or name, or the beginning of one."""
TEXT_CODES = "xuUN01234567"


def _json_style(quote: str, closing: str, repair: str) -> Style:
    r"""A string of JSON. \b and \f are not taken at once, for they may be meant as written."""

    def run(odd: str) -> re.Pattern[str]:
        char = rf"[^{odd}\\]"
        return re.compile(rf'{char}*+(?:\\(?:["\\/nrt]|u[0-9a-fA-F]{{4}}){char}*+)*+')

    odd = closing + '"'
    escapes = _DOUBTFUL if quote == '"' else {**_DOUBTFUL, "'": "'"}
    return Style(quote, closing, run(odd + r"\x00-\x1f"), run(odd), escapes, repair)


_JSON_STYLES = {
    quote: _json_style(quote, closing, repair)
    for quotes, closing, repair in (
        ('"', '"', ""),
        ("'", "'", "single-quotes"),
        ("“”", '“”"', "smart-quotes"),
        ("‘’", "‘’'", "smart-quotes"),
    )
    for quote in quotes
}
"""By the character that begins a string."""


def text_style(quote: str, escapes: Mapping[str, str] | None, *, repair: str = "") -> Style:
    """A text of Python or one of its relatives; without `escapes` a raw one."""
    char = rf"[^{quote[0]}\"\\]"
    sound = "" if escapes is None else rf"""(?:\\["\\nrt]{char}*+)*+"""
    any_char = re.compile(rf"{char}*+{sound}")
    plain = re.compile(any_char.pattern.replace("[^", r"[^\n")) if len(quote) == 1 else any_char
    return Style(quote, quote[0], plain, any_char, escapes, repair, _controls_escaped)


@lru_cache(maxsize=64)
def marked_style(mark: str) -> Style:
    """A text between two marks, where no character but the mark means anything."""
    plain = re.compile(rf"[^{re.escape(mark[0])}]*+")
    return Style(mark, mark[0], plain, plain, None, "", _escaped)


_ANY_SPACE = SPACES + ODD_SPACES
_SPACES_BEHIND = re.compile(rf"[{_ANY_SPACE}]*+")
_SHORT, _LONG = f"{{0,{limits.KEY_AHEAD}}}+", f"{{{limits.KEY_AHEAD + 1}}}"
_KEY = re.compile(
    rf"""(?:"(?:[^"\\\n]|\\.){_SHORT}"|'(?:[^'\\\n]|\\.){_SHORT}'|“[^”\n]{_SHORT}”|‘[^’\n]{_SHORT}’"""
    rf"""|[A-Za-z_$][\w$-]{_SHORT})"""
    rf"(?:[{_ANY_SPACE}]{{0,{limits.SPACE_AHEAD}}}+[:=]|[{_ANY_SPACE}]{{{limits.SPACE_AHEAD + 1}}})"
    rf"""|(?:"(?:[^"\\\n]|\\.){_LONG}|['“‘](?:[^"'“”‘’\\\n]|\\.){_LONG})|//|/\*|\#"""
)
"""A key and its sign, or one too long to be seen whole; or a comment."""

_CUT_KEY = re.compile(r"""["'“‘]?[^"'“”‘’\n:]{0,70}+\Z""")
_ELEMENT = re.compile(r"""["'“‘{\[\]0-9-]|(?:true|false|null|True|False|None)\b|//|/\*|#""")

_RESTART = re.compile(
    r"(?:\n[ \t]*+|</[\w:|-]{1,40}>|```)[ \t\r\n]{0,24}(?:<[\w:|-]{1,40}>|```[\w+-]{0,24})?"
    r"[ \t\r\n]{0,24}\[?[ \t\r\n]{0,24}\{[ \t\r\n]{0,24}\Z"
)
"""A new line or a closer, perhaps an opener, and a bracket: what is before a call's first key.

Before a quote that cannot end the string, with a key of calls behind it, they show that the
string ended long ago.
"""
_FIRST_KEY = re.compile(rf"\"(?:{'|'.join((*NAME_KEYS, *ARGUMENTS_KEYS))})\"")
_CLOSER_TAG = re.compile(r"</[\w:|-]{1,40}>|```")


def _without_brackets(text: str, most: int) -> str:
    """Return the inside of a string, as JSON, without the last brackets, at most so many."""
    closers = rf"(?:[}}\]](?:\s|\\[nrt])*+){{0,{most}}}+\Z"
    return re.sub(closers, "", text, count=1)


_SPACE = re.compile(rf"[{SPACES}]++")
_STRING = f'"{_JSON_STYLES[chr(34)].plain.pattern}"'
_SOUND_MEMBER = re.compile(
    rf"[{SPACES}]*+(?P<key>{_STRING})[{SPACES}]*+:[{SPACES}]*+"
    rf"(?:(?P<text>{_STRING})|(?P<atom>{NUMBER.pattern}|{'|'.join(WORDS)}))(?=[{SPACES}]*+[,}}])"
)


class JsonReader:
    r"""Reads the value at the window's position; used once.

    `stops` are texts that end the frame around the value (a closing tag): met outside a string
    they close whatever is still open, and a string that was never closed. `whole` is true once the
    last closer was reached, even by a value that is refused.

    In a string of JSON with unknown escapes, \b and \f are meant as written: a regular expression
    like `\bclass\s` would else become half backspace, half text. So what follows the first of them
    is kept back until an unknown escape comes, or the end.
    """

    brackets = "{["
    closers = "}]"
    styles: ClassVar[Mapping[str, Style]] = _JSON_STYLES
    """How a string is written, by the character that begins it."""
    bare_key = _KEY_WORD
    bare_key_repair = "bare-key"
    bare_words_repair = "unquoted-string"
    """The repairs of a key and of words without quotes."""
    signs: ClassVar[Mapping[str, str]] = {":": "", "=": "separator", "": "missing-colon"}
    """What is between a key and its value, perhaps nothing, and the repair of that."""
    numbers = "-"
    """What begins a number, besides digits."""
    comments = "/#"
    """What begins a comment."""
    trailing_comma = "trailing-comma"
    """The repair of a comma before a closer."""
    codes = "u"
    """What begins an escape by a character's number or name."""
    unknown_escape = "invalid-escape"
    """The repair of any other escape that means nothing."""
    owns_stops = False
    """Whether the frame's end inside of a string may be its own, even if it is never closed."""

    whole = False
    _step: Step | None = None
    _bare_key = False
    _comment = ""
    """What ends the comment that the position is in; "" outside of comments."""
    _comment_began = 0
    _pending = ""
    """A key with its colon, written when its value begins."""
    _comma: int | None = None
    """Where a comma was read; it is written when something follows it."""
    _lost_at = 0
    """How many pieces there were right behind a closer that lost the comma before it."""

    _in_key = False
    _released: list[str] | None = None
    """Where the string is written to once what is kept back of it is released."""

    def __init__(self, window: Window, stops: tuple[str, ...] = ()) -> None:
        self.pieces: list[str] = []
        """What has been understood, as pieces of sound JSON."""
        self.open: list[str] = []
        """The kinds of brackets that are open; see `CLOSER`."""
        self._window = window
        self._string_stops = stops
        # Brackets are values outside of strings, whatever begins with them.
        self._stops = stops = tuple([stop for stop in stops if stop[0] not in "[{"])
        self._special = _ANY_SPACE + self.comments + "".join([stop[0] for stop in stops])
        """The characters between tokens that may be no part of the value."""
        self._out = self.pieces
        """Where the string that is read is written to."""
        self._noted: list[tuple[str, int]] = []
        self._levels: set[str] = set()
        """The levels of the repairs that are noted."""

    def read(self) -> Reading[Read | Unreadable]:
        """Read the value. The window's position is then behind it, or where it made no sense."""
        while (result := self.advance()) is None:
            yield
        return result

    def advance(self) -> Read | Unreadable | None:
        """Go on as far as the text allows; return None if the value goes on behind it."""
        truncated = False
        step = self._step or self._value
        self._step = None  # it refers to the reader, which would refer to itself for ever
        try:
            while not self.whole:
                step = step()
        except EndError as end:
            if end.code == WAIT:
                self._step = step
                return None
            if end.code not in REPAIRS:
                so_far = "".join(self.pieces) + self._pending
                return Unreadable(end.code, str(end), self._window.offset, so_far)
            self.pieces += [_CLOSED[kind] for kind in reversed(self.open)]
            # A string that ends with the frame's end was never closed. But a frame's end of signs
            # alone, a code fence, may as well be part of a string that was cut off.
            stops = tuple(stop for stop in self._stops if any(map(str.isalpha, stop)))
            ended = self._window.text[-limits.MARGIN :].rstrip().endswith(stops)
            truncated = end.code == "truncated" and not ended
            self._repair("truncated" if truncated else "missing-closer")
        written = "".join(self.pieces)
        # The pieces may take many times its memory, so all but a bracket and a key are dropped.
        self.pieces = self._out = self.pieces[:2]
        made = values.decode(written)
        if isinstance(made, Unreadable):
            return Unreadable(made.code, made.message, self._window.offset, written)
        repairs = [
            values.repair_of(code, REPAIRS[code][1], Span(at, at + 1), REPAIRS[code][0])
            for code, at in self._noted
        ]
        return Read(made[0], tuple(repairs), made[2], truncated)

    def _repair(self, code: str, at: int | None = None) -> None:
        """Note a repair at the offset `at`, by default the window's.

        Beyond `MAX_REPAIRS` only the first repair of a level that has none yet is noted.
        """
        level = REPAIRS[code][0]
        if len(self._noted) < limits.MAX_REPAIRS or level not in self._levels:
            self._noted.append((code, self._window.offset if at is None else at))
            self._levels.add(level)

    def _begin_value(self, written: str = "") -> None:
        """Write the key or the comma that waited for a value, and the beginning of it."""
        if self._pending:
            self.pieces.append(self._pending)
            self._pending = ""
        elif self._comma is not None:
            self.pieces.append(",")
        self._comma = None
        if written:
            self.pieces.append(written)

    def _begin_member(self, key: str) -> None:
        """Keep a key, written as JSON, until its value begins."""
        self._pending = f"{key}:" if self._comma is None else f",{key}:"
        self._comma = None

    def _open(self, kind: str) -> Step:
        """Step over an opening bracket; the caller has begun its value."""
        if len(self.open) >= limits.MAX_DEPTH:
            raise EndError("too-deep", f"nested deeper than {limits.MAX_DEPTH}")
        self._window.pos += 1
        self.pieces.append(_OPENED[kind])
        self.open.append(kind)
        return self._item

    def _close(self, char: str, otherwise: Step) -> Step:
        """Pass over a closer; `otherwise` is the next step if it closes nothing."""
        opened = self.open
        if char not in [CLOSER[kind] for kind in opened]:
            self._repair("extra-closer")
            self._window.pos += 1
            return otherwise
        if self._comma is not None:
            if self.trailing_comma:
                self._repair(self.trailing_comma, self._comma)
            self._comma = None
            self._lost_at = len(self.pieces) + 1
        while CLOSER[opened[-1]] != char:
            self._repair("missing-closer")
            self._close_innermost(opened.pop())
        self._close_innermost(opened.pop())
        self._window.pos += 1
        return self._after

    def _close_innermost(self, kind: str) -> None:
        self.pieces.append(_CLOSED[kind])

    def _char(self, ahead: int) -> str:
        """Return the character so far behind the position, "" at the end of the text."""
        window, index = self._window, self._window.pos + ahead
        if index < len(window.text):
            return window.text[index]
        if not window.final:
            raise EndError(WAIT)
        return ""

    def _longest(self, pattern: re.Pattern[str], most: int = 2 * limits.MAX_DIGITS) -> str:
        """Return what `pattern`, of `most` characters, matches here when no text can extend it."""
        window, start = self._window, self._window.pos
        found = pattern.match(window.text, start)
        end = found.end() if found else start
        if end == len(window.text) and not window.final and end - start < most:
            raise EndError(WAIT)
        return window.text[start:end]

    def _behind_space(self, index: int, most: int) -> tuple[int, str]:
        """Return the index behind at most so much white space, and the character there, if any."""
        window = self._window
        space = _SPACES_BEHIND.match(window.text, index, index + most)
        end = space.end() if space else index
        if end - index >= most:
            return end, ""
        if end == len(window.text) and not window.final:
            raise EndError(WAIT)
        return end, window.text[end : end + 1]

    def _stop_at(self, index: int, stops: tuple[str, ...]) -> bool:
        """Whether the frame around the value ends at an index."""
        text, near = self._window.text, False
        for stop in stops:
            if text.startswith(stop, index):
                return True
            near = near or stop.startswith(text[index : index + len(stop)])
        if near and not self._window.final:
            raise EndError(WAIT)
        return False

    def _cut_off(self) -> NoReturn:
        """Drop the word or number that the text ends in."""
        self._window.pos = len(self._window.text)
        raise EndError("truncated")

    def _next(self) -> str:
        """Pass over white space and comments; return the next character."""
        window = self._window
        while True:
            if self._comment:
                self._pass_comment()
            text, at = window.text, window.pos
            if at == len(text):
                raise EndError("truncated" if window.final else WAIT)
            char = text[at]
            if char not in self._special:
                return char
            if space := _SPACE.match(text, at):
                window.pos = space.end()
            elif char in ODD_SPACES:
                self._repair("odd-space")
                window.pos += 1
            elif not (char in self.comments and self._begin_comment(char)):
                if self._stop_at(at, self._stops):
                    raise EndError("missing-closer")
                return char

    def _begin_comment(self, char: str) -> bool:
        """Whether a comment begins here; if so pass over its first characters."""
        opener = char if char == "#" else char + self._char(1)
        if opener not in ("#", "//", "/*"):
            return False
        self._comment = "*/" if opener == "/*" else "\n"
        self._comment_began = self._window.offset
        self._window.pos += len(opener)
        return True

    def _pass_comment(self) -> None:
        """Pass over the rest of the comment, as it arrives."""
        window = self._window
        ends = (self._comment, *self._stops)
        found = [window.text.find(end, window.pos) for end in ends]
        at = min((at for at in found if at >= 0), default=-1)
        if at < 0:
            if window.final:
                self._cut_off()
            longest_end = max(map(len, ends))
            window.pos = max(window.pos, len(window.text) - longest_end + 1)
            raise EndError(WAIT)
        window.pos = at
        if not window.text.startswith(self._comment, at):
            raise EndError("invalid-json", "a comment that never ends")
        window.pos += len(self._comment)
        self._comment = ""
        self._repair("comment", self._comment_began)

    def _value(self) -> Step:
        """Read the whole value, or the one behind a key and its sign."""
        return self._begin(self._next())

    def _begin(self, char: str) -> Step:
        """Read the value that begins with `char`."""
        if style := self._style_of(char):
            self._begin_value('"')
            return self._begin_string(style)
        if char in self.brackets:
            self._begin_value()
            return self._open(char)
        number = char in self.numbers or char.isdigit()
        self._begin_value(self._number() if number else self._word())
        return self._after

    def _style_of(self, char: str) -> Style | None:
        """Return how the string that begins with `char` is written; None if none begins here."""
        return self.styles.get(char)

    def _item(self) -> Step:
        """Read a member of an object or an element of an array."""
        sound = self.styles is _JSON_STYLES and self.open[-1] == "{" and not self._comment
        if sound and self._sound_member():
            return self._after
        char = self._next()
        if char in self.closers:
            return self._close(char, self._item)
        if char == "," and self._comma is not None:
            self._repair("extra-comma")
            self._window.pos += 1
            return self._item
        return self._name(char) if self.open[-1] in KEYED else self._begin(char)

    def _sound_member(self) -> bool:
        """Read a whole member that is sound JSON, as most are; return False if none is here.

        The other steps would read it in the same way, and take three times as long.
        """
        window, at = self._window, self._window.pos
        found = _SOUND_MEMBER.match(window.text, at)
        if not found or found.end() - at > limits.MAX_DIGITS:
            return False
        if (text := found["text"]) is not None:
            window.pos = found.end() - 1
            try:
                ends = self._ends()
            except EndError:  # the other steps report what is here
                ends = False
            if not ends:
                window.pos = at
                return False
        window.pos = found.end()
        self._begin_member(found["key"])
        self._begin_value(text or found["atom"])
        return True

    def _after(self) -> Step:
        """Read what is behind a value: a comma, a closer, or what should come behind a comma."""
        if not self.open:
            self.whole = True
            return self._after
        char = self._next()
        if char in self.closers:
            return self._close(char, self._after)
        at = self._window.offset
        if char == ",":
            self._window.pos += 1
            if self.open[-1] == "(":
                self.open[-1] = "(,"
        elif repair := self._lost_comma(char):
            self._repair(repair)
        else:
            self._refuse_after(char)
        self._comma = at
        return self._item

    def _refuse_after(self, char: str) -> NoReturn:
        """Refuse what is behind a value, when it is known whether that computes one."""
        window = self._window
        before = window.text[max(0, window.pos - 40) : window.pos].rstrip()
        code = "invalid-json"
        if char in "*/%+-" and before[-1:].isdigit():
            ahead = window.text[window.pos : window.pos + limits.ARITHMETIC_AHEAD]
            if len(ahead) < limits.ARITHMETIC_AHEAD and not window.final:
                raise EndError(WAIT)
            code = refused_value(f"{before[-1]}{ahead}", code)
        raise EndError(code, f"{char!r} after a value")

    def _lost_comma(self, char: str) -> str:
        """Return the repair if the next member begins here, without its comma."""
        quoted = self._style_of(char)
        if self.open[-1] not in KEYED:
            return "missing-comma" if char in "{[" else "guessed-comma" if quoted else ""
        if not (quoted or char.isalpha() or char == "_"):
            return ""
        # A comma right before the end of the last value may be the one that belongs behind it.
        elsewhere = self._lost_at == len(self.pieces) or "".join(self.pieces[-2:]).endswith(',"')
        return "guessed-comma" if elsewhere else "missing-comma"

    def _number(self) -> str:
        """Read a number, or something that begins like one; return it as JSON."""
        window, number = self._window, self._longest(NUMBER)
        if len(number) > limits.MAX_DIGITS:
            raise EndError("too-many-digits", f"a number of more than {limits.MAX_DIGITS} digits")
        after = self._char(len(number))
        if number and self._ends_atom(after):
            window.pos += len(number)
            return number
        cut = _CUT_NUMBER.match(window.text, window.pos)
        if cut and not window.final and len(window.text) - window.pos <= limits.MAX_DIGITS:
            raise EndError(WAIT)
        if cut or not after:
            self._cut_off()
        return self._unquoted()

    def _word(self) -> str:
        """Read true, false, null, their Python forms, or a string that lost its quotes."""
        word = self._longest(_KEY_WORD)
        after = self._char(len(word))
        known = WORDS.get(word) or PYTHON_WORDS.get(word)
        if not known and self.bare_words_repair == "unquoted-string":
            known = WORDS.get(word.lower())
        if known and self._ends_atom(after):
            if word not in WORDS:
                self._repair("python-literal")
            self._window.pos += len(word)
            return known
        if word and not after:
            self._cut_off()
        return self._unquoted()

    def _unquoted(self) -> str:
        """Read plain characters up to the end of the member."""
        window = self._window
        run = _UNQUOTED.match(window.text, window.pos)
        if run is None:
            if window.final or len(window.text) - window.pos > 200:
                found = window.text[window.pos : window.pos + 20]
                raise EndError("invalid-json", f"{found!r} is no JSON value")
            raise EndError(WAIT)
        text = run.group().rstrip()
        number = values.number_as_json(text) if _ODD_NUMBER.fullmatch(text) else None
        if number is None and (text.lstrip("-") in NEVER or text[:1] in "-.0123456789"):
            code = refused_value(text, "invalid-json")
            raise EndError(code, f"{text[:40]!r} is no JSON value")
        if number is not None:
            repair, value = "odd-number", number
        else:
            plain = _PLAIN_WORDS.fullmatch(text)
            repair, value = self.bare_words_repair if plain else "unquoted-string", f'"{text}"'
        self._repair(repair)
        window.pos += len(text)
        return value

    def _ends_atom(self, after: str) -> bool:
        return after in ",}]/#" or after in self._special

    def _name(self, char: str) -> Step:
        """Read a key, which begins with `char`."""
        style = self._style_of(char)
        self._bare_key = style is None
        if style:
            self._in_key, self._out = True, ['"']
            return self._begin_string(style)
        word = self._longest(self.bare_key)
        if not word:
            raise EndError("invalid-json", f"{char!r} where a key was expected")
        if self.bare_key_repair:
            self._repair(self.bare_key_repair)
        self._window.pos += len(word)
        self._begin_member(f'"{word}"')
        return self._sign

    def _sign(self) -> Step:
        """Read what is between a key and its value."""
        char = self._next()
        begins = char in self.styles or char in "{[-" or char.isalnum()
        sign = "" if begins and not self._bare_key else char
        if sign not in self.signs:
            raise EndError("invalid-json", f"{char!r} where a colon was expected")
        arrow = sign == "=" and self._char(1) == ">"
        if repair := self.signs[sign]:
            self._repair(repair)
        self._window.pos += len(sign) + arrow
        return self._value

    def _begin_string(self, style: Style) -> Step:
        """Pass over the quote at the position; one is already written."""
        self._style, self._plain, self._encode = style, style.plain, style.encode
        self._first = len(self._out)
        self._owns_stops, self._literal = self.owns_stops, False
        if style.repair:
            self._repair(style.repair)
        self._window.pos += len(style.quote)
        self._began = self._window.offset
        return self._string

    def _string(self) -> Step:
        """Read a string up to its end, as it arrives."""
        window, style = self._window, self._style
        self._seen = len(self._out)  # who follows the pieces knows these; later ones may be joined
        while True:
            text, at = window.text, window.pos
            run = self._plain.match(text, at)
            if run and (end := run.end()) > at:
                taken = run.group()
                self._out.append(self._encode(taken) if self._encode else taken)
                window.pos = at = end
            char = text[at : at + 1] or self._cut_string()
            if char in style.closing:
                several = len(style.quote) > 1
                if self._stop_at(at, (style.quote,)) if several else self._ends():
                    self._end()
                    window.pos += len(style.quote)
                    return self._named if self._in_key else self._behind_string
                if len(style.quote) == 1:
                    self._goes_on()
                    self._repair("inner-quote")
            elif char == "\\":
                self._escape()
                continue
            elif char < " ":
                self._repair("control-character")
                self._plain, self._encode = style.with_controls, _controls_escaped
                continue
            self._write(_escaped(char))
            window.pos += 1

    def _named(self) -> Step:
        """Behind a key in quotes."""
        self._begin_member("".join(self._out))
        self._in_key, self._out = False, self.pieces
        return self._sign

    def _behind_string(self) -> Step:
        return self._after

    def _write(self, piece: str) -> None:
        self._out.append(piece)
        if len(self._out) > self._seen + limits.STRING_PIECES:
            self._out[self._seen :] = ["".join(self._out[self._seen :])]
            self._seen += 1

    def _end(self) -> None:
        self._release(literal=False)
        self._out.append('"')

    def _cut_string(self) -> NoReturn:
        """Close a string that the text ends in, when there is no more of it."""
        window = self._window
        if not window.final:
            raise EndError(WAIT)
        window.pos = len(window.text)
        self._end_at_stop(behind_bracket=True)
        self._end()
        raise EndError("truncated")

    def _escape(self) -> None:
        """Pass over a backslash and what it escapes."""
        char = self._char(1) or self._cut_string()
        written, size, repair = self._escape_of(char)
        if written not in ("\b", "\f"):
            if repair:
                self._repair(repair)
            if repair == "invalid-escape":
                self._literal = True
                self._release(literal=True)
            self._write(written)
        elif self._literal:
            self._write("\\\\" + char)
        else:
            if self._released is None:
                self._released, self._out, self._seen = self._out, [], 0
            self._write(written)
        self._window.pos += size

    def _escape_of(self, char: str) -> tuple[str, int, str]:
        """Return what is written for an escape, how many characters it has, and its repair."""
        escapes, repair = self._style.escapes, ""
        if escapes is not None:
            if char in escapes:
                return escapes[char], 2, ""
            if char in self.codes and (found := self._by_code()):
                return (*found, "")
            repair = "invalid-escape" if char in self.codes else self.unknown_escape
            if char == "'":
                return char, 2, repair
        return "\\\\" + _escaped(char), 2, repair

    def _by_code(self) -> tuple[str, int] | None:
        """Read an escape by a character's number or name; None if it means nothing."""
        code = self._longest(_CODE)
        try:
            octal = code[1:].isdigit()
            char = chr(int(code[1:], 8)) if octal else code.encode().decode("unicode_escape")
        except UnicodeDecodeError:
            if code != r"\N" and self._window.pos + len(code) == len(self._window.text):
                self._cut_string()
            return None
        # In JSON two escapes may be one character, in Python not.
        python = self._style.escapes is PYTHON_ESCAPES
        return (encode_basestring if python else encode_basestring_ascii)(char)[1:-1], len(code)

    def _release(self, *, literal: bool) -> None:
        """Write what was kept back of the string."""
        if self._released is None:
            return
        kept, self._out, self._released = "".join(self._out), self._released, None
        self._seen = len(self._out)
        for char, raw in _DOUBTFUL.items():
            kept = kept.replace(raw, ("\\\\" if literal else "\\") + char)
        self._out.append(kept)

    def _ends(self) -> bool:
        """Whether the quote at the position ends its string.

        JSON is damaged most, so this takes the longest look. In an object a value's string is
        followed by a closer, or by a comma and something that looks like a key; in an array by a
        closer, or by a comma and the start of a value. Every other quote is one that the writer
        forgot to escape. A key ends at its first quote.
        """
        if self._in_key:
            return True
        in_array = self.open[-1:] == ["["]
        index, char = self._behind_space(self._window.pos + 1, limits.SPACE_AHEAD)
        comma = char == ","
        if comma:
            index, char = self._behind_space(index + 1, limits.SPACE_AHEAD)
        if not char or (comma and char == ","):  # one comma too many
            return True
        if comma and in_array:
            return self._is_element(index)
        if char in "}]":
            return True
        if char == "/" and not comma:
            return self._char(index + 1 - self._window.pos) in ("/", "*")
        if in_array:
            return char in "\"'“‘{["
        if comma or char in "\"'“‘":
            return self._is_key(index)
        return self._stop_at(index, self._string_stops)

    def _is_key(self, index: int) -> bool:
        """Return whether a key and a colon, a key too long to see, or a comment is at an index."""
        text, char = self._window.text, self._window.text[index]
        if _KEY.match(text, index):
            return True
        if not (char in "\"'“‘/_$" or char.isalpha()):
            return False
        if self._window.final:
            return bool(_CUT_KEY.match(text, index))
        if len(text) - index < 2 * limits.KEY_AHEAD + limits.SPACE_AHEAD + 30:
            raise EndError(WAIT)
        return False

    def _is_element(self, index: int) -> bool:
        """Whether what begins at an index may be an element of an array, or a comment."""
        text, char = self._window.text, self._window.text[index]
        if not self._window.final and len(text) - index < 6 and (char.isalpha() or char == "/"):
            raise EndError(WAIT)
        return _ELEMENT.match(text, index) is not None

    def _goes_on(self) -> None:
        """Refuse a string that ended long ago, as the first key of a call is inside of it."""
        self._end_at_stop()
        self._owns_stops = True
        window, text = self._window, self._window.text
        before = text[max(0, window.pos - limits.MARGIN, self._began - window.base) : window.pos]
        restart = _RESTART.search(before) if before.rstrip()[-1:] == "{" else None
        if restart is None:
            return
        if len(text) - window.pos <= limits.CALL_KEY_AHEAD and not window.final:
            raise EndError(WAIT)
        if _FIRST_KEY.match(text, window.pos):
            closer = _CLOSER_TAG.search(before)
            ended = min(restart.start(), closer.start() if closer else len(before))
            window.pos -= len(before) - ended
            raise EndError("invalid-json", "a string that never ends")

    def _end_at_stop(self, *, behind_bracket: bool = False) -> None:
        """End a string that was never closed where its frame ends, if that is inside of it.

        Brackets before the frame's end are no part of the string; with `behind_bracket` there has
        to be one.
        """
        if self._owns_stops or self._released is not None:
            return
        stops = tuple(stop for stop in self._string_stops if any(map(str.isalpha, stop)))
        text = "".join(self._out[self._first :]) if stops else ""
        if not any(stop in text for stop in stops):
            return
        window = self._window
        start = max(window.pos - limits.MARGIN, self._began - window.base, 0)
        near = window.text[start : window.pos]
        is_near = all(text.count(stop) == near.count(stop) for stop in stops)
        at = min(near.find(stop) for stop in stops if stop in near) if is_near else -1
        if behind_bracket and (at < 0 or near[:at].rstrip()[-1:] not in ("}", "]")):
            return
        if at < 0:
            raise EndError("invalid-json", "a string that never ends")
        window.pos, kept = start + at, text[: min(text.find(s) for s in stops if s in text)]
        self._out[self._first :] = [
            _without_brackets(kept, len(self.open)),
            *[""] * (len(self._out) - self._first - 1),
        ]  # as many pieces as before, for who follows them
        self._end()
        raise EndError("missing-closer")


def read_json(text: str) -> Read | Unreadable:
    """Read a text that is one object or array, white space around it apart."""
    start = len(text) - len(text.lstrip())
    if text.startswith(("{", "["), start):
        if (value := values.read_sound(text)) is not None:
            return Read(value)
        found = values.decode_at(text, start)
        if found and not found[2] and not text[found[1] :].strip():
            return Read(found[0])
    window = Window(text, final=True)
    window.pos = start
    result = read_all(text, JsonReader(window).read())
    rest = text[window.pos :].strip() if window.pos < len(text) else ""
    if rest and isinstance(result, Read):
        return Unreadable("invalid-json", f"{rest[:40]!r} comes after the value", window.pos)
    return result
