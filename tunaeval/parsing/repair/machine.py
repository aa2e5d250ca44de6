r"""Reads one object or array of damaged JSON in a single pass, and names every repair.

`JsonReader` reads from a window, so the text may still be arriving. The reader translates the text
into pieces of valid JSON, and the JSON decoder makes the value of these pieces. Each decision looks
a fixed number of characters ahead and is final, so that a whole text and a stream give the same
value. There is no recursion, and nothing is ever evaluated.

The reader is a state machine: a step (a method) moves the window's position over what it has read
and returns the next step. A step that needs more text to decide raises `EndError(WAIT)` and is
called again at the same position when more text is there. The dialects are subclasses.

The pieces are valid JSON at any moment, once the open brackets are closed: a comma or a key is only
written when the value after it begins. A written piece is never changed, with two exceptions:
a Python bracket that turns out to open no tuple or no dictionary, and the end of a string that ran
over the end of its frame.
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
from .values import NUMBER, ODD_SPACES, QUOTES, REPAIRS, SPACES, Read, Unreadable

Step: TypeAlias = Callable[[], "Step"]

WAIT = "wait"

ARITHMETIC = "arithmetic"
"""The code of the diagnosis of a value that is an expression of constants, such as `2 * 3`."""


class EndError(Exception):
    """Raised by a step that cannot go on; never leaves this package.

    `code` is `WAIT` if more text is needed; "truncated" or "missing-closer", a repair, if the text
    or the frame around the value ends here; or else the code of the error that refuses the value.
    """

    @property
    def code(self) -> str:
        return str(self.args[0])

    @property
    def message(self) -> str:
        return str(self.args[1]) if len(self.args) > 1 else ""


CLOSER = {"{": "}", "[": "]", "(": ")", "(,": ")", "{,": "}", "**": "}", "f": ")"}
"""The closing bracket of each kind of bracket. JSON has two kinds, `{` and `[`.

Python adds: "(" parentheses, "(," a tuple, "{," a set, "**" an unpacked dictionary, "f" arguments.
"""
_OPENED = {"{": "{", "[": "[", "(": "[", "**": "", "f": "{"}
_CLOSED = {"{": "}", "[": "]", "(": "]", "(,": "]", "{,": "]", "**": "", "f": "}"}
"""The JSON that is written for the opening and the closing bracket of each kind."""

KEYED = frozenset({"{", "**", "f"})
"""The kinds of brackets whose members have keys."""

WORDS = {"true": "true", "false": "false", "null": "null"}
PYTHON_WORDS = {"True": "true", "False": "false", "None": "null"}
NEVER = frozenset({"NaN", "nan", "Infinity", "inf", "undefined"})
"""Words that are values in programming languages and are refused in every dialect."""

_KEY_WORD = re.compile(r"[A-Za-z_$][\w$-]{0,255}+")
"""A key without quotes. Its length is bounded, so that a stream need not wait for its end."""

_CUT_NUMBER = re.compile(r"-?+[0-9]*+\.?+[0-9]*+(?:[eE][+-]?+[0-9]*+)?+\Z")
_UNQUOTED = re.compile(r"[A-Za-z0-9_./*~:@ -]{1,200}+(?=[,}\]\n])")
_ODD_NUMBER = re.compile(
    r"-?(?=\.?\d)(?:0(?![\d_])|[1-9]\d{0,17}(?:_\d{1,18}){0,6})?(?:\.\d{0,17})?"
)
"""A number as programming languages allow and JSON does not: .25, 1. and 1_000."""

_PLAIN_WORDS = re.compile(r"[^\W\d][\w .'/-]*+")
_CONSTANTS = re.compile(r"[-+(]{0,8}[\d.]{1,40}[) ]{0,8}(?:\*\*|//|[-*/%+])[ (+-]{0,8}[\d.]")
_DATE = re.compile(r"\d{1,4}[-/]\d{1,2}[-/]\d{1,4}\b")


def refused_value(text: str, otherwise: str) -> str:
    """Return `ARITHMETIC` if `text` begins with a calculation (a date is none), or `otherwise`."""
    constants = _CONSTANTS.match(text) and not _DATE.match(text)
    return ARITHMETIC if constants else otherwise


class Style(NamedTuple):
    """One way of writing strings: the quotes, and what characters and escapes mean."""

    quote: str
    """The opening quote: one character or several."""
    closing: str
    """The characters that may end the string."""
    plain: re.Pattern[str]
    """A run of ordinary characters and valid escapes, which is read in one go."""
    with_controls: re.Pattern[str]
    """Replaces `plain` after the first raw control character, as more are likely to follow."""
    escapes: Mapping[str, str] | None
    """The JSON written for an escape, by its letter; None where a backslash escapes nothing."""
    repair: str = ""
    """The code of the repair that these quotes need; "" if none."""
    encode: Callable[[str], str] | None = None
    """Turns a run of `plain` into JSON; None if runs are copied unchanged."""


_CONTROL = re.compile(r"[\x00-\x1f]")


def _escaped(text: str) -> str:
    """Return a text as the inside of a JSON string, without the quotes."""
    return encode_basestring(text)[1:-1]


def _controls_escaped(text: str) -> str:
    """Escape the raw control characters in the inside of a JSON string."""
    while control := _CONTROL.search(text):
        text = text.replace(control[0], _escaped(control[0]))
    return text


JSON_ESCAPES = {**{char: "\\" + char for char in '"\\bfnrt'}, "/": "/", "'": "'"}
PYTHON_ESCAPES = {**JSON_ESCAPES, "a": "\\u0007", "v": "\\u000b", "\n": ""}
del PYTHON_ESCAPES["/"]

_DOUBTFUL = {"b": "\b", "f": "\f"}
r"""\b and \f as they are kept back: as raw control characters, which no other piece contains."""

_CODE = re.compile(
    r"\\(?:x[0-9a-fA-F]{0,2}+|u[0-9a-fA-F]{0,4}+|U[0-9a-fA-F]{0,8}+|[0-7]{1,3}+"
    rf"|N(?:\{{[A-Za-z0-9 ()-]{{0,{limits.UNICODE_NAME}}}+\}}?+)?+)"
)
"""An escape by code point or name (`\\x41`, `\\N{BULLET}`), or the beginning of such an escape."""
TEXT_CODES = "xuUN01234567"


def _json_style(quote: str, closing: str, repair: str) -> Style:
    r"""Return the style of a JSON string. \b and \f are read alone: they may be meant literally."""

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
"""The styles of JSON strings, by the opening quote."""


def text_style(quote: str, escapes: Mapping[str, str] | None, *, repair: str = "") -> Style:
    """Return the style of a string in Python or a similar notation; raw if `escapes` is None."""
    char = rf"[^{quote[0]}\"\\]"
    sound = "" if escapes is None else rf"""(?:\\["\\nrt]{char}*+)*+"""
    any_char = re.compile(rf"{char}*+{sound}")
    plain = re.compile(any_char.pattern.replace("[^", r"[^\n")) if len(quote) == 1 else any_char
    return Style(quote, quote[0], plain, any_char, escapes, repair, _controls_escaped)


@lru_cache(maxsize=64)
def marked_style(mark: str) -> Style:
    """Return the style of a string between two marks, in which nothing is escaped."""
    plain = re.compile(rf"[^{re.escape(mark[0])}]*+")
    return Style(mark, mark[0], plain, plain, None, "", _escaped)


_ANY_SPACE = SPACES + ODD_SPACES
_FEW = f"{{0,{limits.SPACE_AHEAD - 1}}}+"
_SPACES_BEHIND = re.compile(rf"[{_ANY_SPACE}]*+")
_SHORT, _LONG = f"{{0,{limits.KEY_AHEAD}}}+", f"{{{limits.KEY_AHEAD + 1}}}"
_KEY = re.compile(
    rf"""(?:"(?:[^"\\\n]|\\.){_SHORT}"|'(?:[^'\\\n]|\\.){_SHORT}'|“[^”\n]{_SHORT}”|‘[^’\n]{_SHORT}’"""
    rf"""|[A-Za-z_$][\w$-]{_SHORT})"""
    rf"(?:[{_ANY_SPACE}]{{0,{limits.SPACE_AHEAD}}}+[:=]|[{_ANY_SPACE}]{{{limits.SPACE_AHEAD + 1}}})"
    rf"""|(?:"(?:[^"\\\n]|\\.){_LONG}|['“‘](?:[^"'“”‘’\\\n]|\\.){_LONG})|//|/\*|\#"""
)
"""A key with its colon or `=`; a key that is longer than the lookahead; or a comment."""

_CUT_KEY = re.compile(r"""["'“‘]?[^"'“”‘’\n:}\]]{0,70}+\Z""")
_NEXT_KEY = re.compile(r"""["'“‘][\w .-]{1,64}["'”’][ \t]{0,8}:[ \t\r\n]{0,8}["'“‘{\[\w-]""")
"""A key with its colon and the beginning of its value, where a string was thought to go on."""

OPERATORS = "+*%."
_OPERATION = re.compile(r"""(?:[+*%][ \t\r\n]{0,8}["'\w(]|\.\w{1,24}\()""")
"""What makes a string part of an expression: an operator with its operand, or a method's call."""
_ELEMENT = re.compile(r"""["'“‘{\[\]0-9-]|(?:true|false|null|True|False|None)\b|//|/\*|#""")

_RESTART = re.compile(
    r"(?:\n[ \t]*+|</[\w:|-]{1,40}>|```|[}\]][ \t]{0,8}[,;])[ \t\r\n]{0,24}"
    r"(?:<[\w:|-]{1,40}>|```[\w+-]{0,24})?[ \t\r\n]{0,24}\[?[ \t\r\n]{0,24}\{[ \t\r\n]{0,24}\Z"
)
"""The text before a call's first key: a new line, a closing tag or the end of an object, perhaps an
opening tag, and `{`.

If this text is inside a string, and a key of a call follows, then the string was never closed
and another call has begun.
"""
_FIRST_KEY = re.compile(rf"\"(?:{'|'.join((*NAME_KEYS, *ARGUMENTS_KEYS))})\"")
_CLOSER_TAG = re.compile(r"</[\w:|-]{1,40}>|```")


_SPACE = re.compile(rf"[{SPACES}]++")
_STRING = f'"{_JSON_STYLES[chr(34)].plain.pattern}"'
_SURE_END = rf"[{SPACES}]{_FEW}(?:\}}|,[{SPACES}]{_FEW}\"[^\"\\\n]{_SHORT}\"[{SPACES}]{_FEW}:)"
"""What is behind the quote that surely ends a string: the object's end, or another key."""

_SOUND_MEMBER = re.compile(
    rf"[{SPACES}]*+(?P<key>{_STRING})[{SPACES}]*+:[{SPACES}]*+"
    rf"(?:(?P<text>{_STRING})(?P<sure>(?={_SURE_END}))?|(?P<atom>{NUMBER.pattern}|{'|'.join(WORDS)}))(?=[{SPACES}]*+[,}}])"
)


class JsonReader:
    r"""Reads the value at the window's position. A reader is used for one value.

    `stops` are texts that end the frame around the value, such as a closing tag. A stop outside a
    string closes all open brackets; a stop inside a string without a proper end closes the string,
    too. `whole` is true once the last closing bracket was read, even if the value is refused.

    In a JSON string with unknown escapes, \b and \f are taken literally, or else the regular
    expression `\bclass\s` would become a backspace and text. Therefore the string from the first
    \b or \f on is kept back until an unknown escape or the string's end decides.
    """

    brackets = "{["
    closers = "}]"
    styles: ClassVar[Mapping[str, Style]] = _JSON_STYLES
    """The styles of strings, by their first character."""
    bare_key = _KEY_WORD
    bare_key_repair = "bare-key"
    python_null = ""
    """`None` where a model's own template writes it, so that it is no repair."""
    bare_words_repair = "unquoted-string"
    """The codes of the repairs of a key and of a string without quotes; "" if none is needed."""
    signs: ClassVar[Mapping[str, str]] = {":": "", "=": "separator", "": "missing-colon"}
    """The separators allowed between a key and its value, each with the code of its repair."""
    numbers = "-"
    """The characters besides digits that may begin a number."""
    comments = "/#"
    """The characters that may begin a comment."""
    trailing_comma = "trailing-comma"
    """The code of the repair of a comma before a closing bracket; "" if it is allowed."""
    codes = "u"
    """The letters after a backslash that begin an escape by code point or name."""
    unknown_escape = "invalid-escape"
    """The code of the repair of any other escape that is unknown."""
    owns_stops = False
    """Whether a stop inside a string may be part of it, even if the string is never closed."""

    whole = False
    _step: Step | None = None
    _bare_key = False
    _comment = ""
    """The text that ends the comment at the position; "" outside of comments."""
    _comment_began = 0
    _pending = ""
    """A key with its colon, written when its value begins."""
    _comma: int | None = None
    """The offset of a comma that is written once a value follows; None if there is none."""
    _lost_at = 0
    """The number of pieces right after a closing bracket whose trailing comma was dropped."""

    _in_key = False
    _released: list[str] | None = None
    """The list that gets the kept-back part of a string (see the class); None if none is kept."""

    def __init__(self, window: Window, stops: tuple[str, ...] = ()) -> None:
        self.pieces: list[str] = []
        """What has been read, as pieces of valid JSON."""
        self.open: list[str] = []
        """The kinds of brackets that are open; see `CLOSER`."""
        self._window = window
        self._string_stops = stops
        # Outside of strings a bracket belongs to the value, even if a stop begins with one.
        self._stops = stops = tuple([stop for stop in stops if stop[0] not in "[{"])
        self._special = _ANY_SPACE + self.comments + "".join([stop[0] for stop in stops])
        """The characters that may begin white space, a comment or a stop between tokens."""
        self._out = self.pieces
        """The list to which the current string is written."""
        self._noted: list[tuple[str, int]] = []
        self._levels: set[str] = set()
        """The levels of the repairs in `_noted`."""

    def read(self) -> Reading[Read | Unreadable]:
        """Read the value, and leave the window's position after it, or at the error."""
        while (result := self.advance()) is None:
            yield
        return result

    def advance(self) -> Read | Unreadable | None:
        """Read on in the text so far; return the result, or None if more text is needed."""
        truncated = False
        step = self._step or self._value
        self._step = None  # a bound method kept here would be a reference cycle
        try:
            while not self.whole:
                step = step()
        except EndError as end:
            if end.code == WAIT:
                self._step = step
                return None
            if end.code not in REPAIRS:
                so_far = "".join(self.pieces) + self._pending
                return Unreadable(end.code, end.message, self._window.offset, so_far)
            self.pieces += [_CLOSED[kind] for kind in reversed(self.open)]
            # If the text ends with a stop, the value is not cut off, only not closed. Stops without
            # letters, such as a code fence, do not count: a string that is cut off may contain one.
            stops = tuple(stop for stop in self._stops if any(map(str.isalpha, stop)))
            ended = self._window.text[-limits.MARGIN :].rstrip().endswith(stops)
            truncated = end.code == "truncated" and not ended
            self._repair("truncated" if truncated else "missing-closer")
        written = "".join(self.pieces)
        # Pieces take far more memory than the text; only the bracket and the first key are kept.
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
        """Note a repair at `at`, an offset in the whole text; by default the position's.

        Beyond `MAX_REPAIRS` only the first repair of a level that has none yet is noted.
        """
        level = REPAIRS[code][0]
        if len(self._noted) < limits.MAX_REPAIRS or level not in self._levels:
            self._noted.append((code, self._window.offset if at is None else at))
            self._levels.add(level)

    def _begin_value(self, written: str = "") -> None:
        """Write the pending key or comma, and then `written`, the value's beginning as JSON."""
        if self._pending:
            self.pieces.append(self._pending)
            self._pending = ""
        elif self._comma is not None:
            self.pieces.append(",")
        self._comma = None
        if written:
            self.pieces.append(written)

    def _begin_member(self, key: str) -> None:
        """Keep `key`, a JSON string, to be written when its value begins."""
        self._pending = f"{key}:" if self._comma is None else f",{key}:"
        self._comma = None

    def _open(self, kind: str) -> Step:
        """Read an opening bracket; the caller has called `_begin_value`."""
        if len(self.open) >= limits.MAX_DEPTH:
            raise EndError("too-deep", f"nested deeper than {limits.MAX_DEPTH}")
        self._window.pos += 1
        self.pieces.append(_OPENED[kind])
        self.open.append(kind)
        return self._item

    def _close(self, char: str, otherwise: Step) -> Step:
        """Read the closing bracket `char`; if it closes nothing, `otherwise` is the next step."""
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
        """Return the character `ahead` places after the position; "" after the end of the text."""
        window, index = self._window, self._window.pos + ahead
        if index < len(window.text):
            return window.text[index]
        if not window.final:
            raise EndError(WAIT)
        return ""

    def _longest(self, pattern: re.Pattern[str], most: int = 2 * limits.MAX_DIGITS) -> str:
        """Return the match of `pattern` here; wait while more text could extend it up to `most`."""
        window, start = self._window, self._window.pos
        found = pattern.match(window.text, start)
        end = found.end() if found else start
        if end == len(window.text) and not window.final and end - start < most:
            raise EndError(WAIT)
        return window.text[start:end]

    def _behind_space(self, index: int, most: int) -> tuple[int, str]:
        """Skip white space from `index`; return the index and the character after it.

        The character is "" at the end of the text, and where `most` characters were skipped.
        """
        window = self._window
        char = window.text[index : index + 1]
        if char and char not in _ANY_SPACE:
            return index, char
        space = _SPACES_BEHIND.match(window.text, index, index + most)
        end = space.end() if space else index
        if end - index >= most:
            return end, ""
        if end == len(window.text) and not window.final:
            raise EndError(WAIT)
        return end, window.text[end : end + 1]

    def _stop_at(self, index: int, stops: tuple[str, ...]) -> bool:
        """Whether one of `stops` is at `index` of the window's text."""
        text, near = self._window.text, False
        for stop in stops:
            if text.startswith(stop, index):
                return True
            near = near or stop.startswith(text[index : index + len(stop)])
        if near and not self._window.final:
            raise EndError(WAIT)
        return False

    def _cut_off(self) -> NoReturn:
        """Drop the unfinished word or number at the end of the text, as truncated."""
        self._window.pos = len(self._window.text)
        raise EndError("truncated")

    def _next(self) -> str:
        """Skip white space and comments; return the next character without reading it."""
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
        """Whether a comment begins here; if so, skip the characters that open it."""
        opener = char if char == "#" else char + self._char(1)
        if opener not in ("#", "//", "/*"):
            return False
        self._comment = "*/" if opener == "/*" else "\n"
        self._comment_began = self._window.offset
        self._window.pos += len(opener)
        return True

    def _pass_comment(self) -> None:
        """Skip the rest of the comment, or as much of it as has arrived."""
        window = self._window
        ends = (self._comment, *self._stops)
        found = [window.text.find(end, window.pos) for end in ends]
        at = min((at for at in found if at >= 0), default=-1)
        if at < 0 and window.final:
            self._cut_off()
        settled = len(window.text) - max(map(len, ends)) + 1
        if not window.final and not 0 <= at <= settled:  # a longer end may begin before this one
            window.pos = max(window.pos, settled)
            raise EndError(WAIT)
        window.pos = at
        if not window.text.startswith(self._comment, at):
            raise EndError("invalid-json", "a comment that never ends")
        window.pos += len(self._comment)
        self._comment = ""
        self._repair("comment", self._comment_began)

    def _value(self) -> Step:
        """Read a value: the outermost one, or one after a key and its separator."""
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
        """Return the style of the string that begins with `char`; None if no string begins here."""
        return self.styles.get(char)

    def _item(self) -> Step:
        """Read a member of an object or an element of an array."""
        window = self._window
        if self.styles is _JSON_STYLES and self.open[-1] == "{" and not self._comment:
            while self._sound_member():
                if not window.text.startswith(",", window.pos):
                    return self._after
                self._comma = window.offset
                window.pos += 1
        char = self._next()
        if char in self.closers:
            return self._close(char, self._item)
        if char == "," and self._comma is not None:
            self._repair("extra-comma")
            self._window.pos += 1
            return self._item
        return self._name(char) if self.open[-1] in KEYED else self._begin(char)

    def _sound_member(self) -> bool:
        """Read a key and its value at once if both are valid JSON; return whether they are.

        This is a shortcut for most members: the other steps take three times as long.
        """
        window, at = self._window, self._window.pos
        found = _SOUND_MEMBER.match(window.text, at)
        if not found or found.end() - at > limits.MAX_DIGITS:
            return False
        key, text, sure, atom = found.group("key", "text", "sure", "atom")
        if text is not None and sure is None:
            window.pos = found.end() - 1
            try:
                ends = self._ends()
            except EndError:  # the other steps raise it again
                ends = False
            if not ends:
                window.pos = at
                return False
        window.pos = found.end()
        self.pieces += (f"{key}:" if self._comma is None else f",{key}:", text or atom)
        self._comma = None
        return True

    def _after(self) -> Step:
        """Read what follows a value: a comma, a closing bracket, or a member without its comma."""
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
        """Refuse the text, since `char` cannot follow a value; the reason may be arithmetic."""
        window = self._window
        before = window.text[max(0, window.pos - 40) : window.pos].rstrip()
        code = "invalid-json"
        if char in "*/%+-" and before[-1:].isdigit():
            ahead = window.text[window.pos : window.pos + limits.ARITHMETIC_AHEAD]
            if len(ahead) < limits.ARITHMETIC_AHEAD and not window.final:
                raise EndError(WAIT)
            code = refused_value(f"{before[-1]}{ahead}", code)
        elif char in OPERATORS and before[-1:] in QUOTES and self._operates(window.pos):
            code = ARITHMETIC
        raise EndError(code, f"{char!r} after a value")

    def _lost_comma(self, char: str) -> str:
        """Return the repair's code if a member begins here without a comma before it, or ""."""
        quoted = self._style_of(char)
        if self.open[-1] not in KEYED:
            return "missing-comma" if char in "{[" else "guessed-comma" if quoted else ""
        if not (quoted or char.isalpha() or char == "_"):
            return ""
        # A comma inside the end of the last value may be the missing one, in the wrong place.
        elsewhere = self._lost_at == len(self.pieces) or "".join(self.pieces[-2:]).endswith(',"')
        return "guessed-comma" if elsewhere else "missing-comma"

    def _number(self) -> str:
        """Read a number, or a value that begins like a number; return it as JSON."""
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
        """Read true, false, null, their Python forms, or an unquoted string; return it as JSON."""
        word = self._longest(_KEY_WORD)
        after = self._char(len(word))
        known = WORDS.get(word) or PYTHON_WORDS.get(word)
        if not known and self.bare_words_repair == "unquoted-string":
            known = WORDS.get(word.lower())
        if known and self._ends_atom(after):
            if word not in WORDS and word != self.python_null:
                self._repair("python-literal")
            self._window.pos += len(word)
            return known
        if word and not after:
            self._cut_off()
        return self._unquoted()

    def _unquoted(self) -> str:
        """Read an unquoted string or an odd number up to the member's end; return it as JSON."""
        window = self._window
        run = _UNQUOTED.match(window.text, window.pos)
        if run is None:
            if window.final or len(window.text) - window.pos > 200:
                found = window.text[window.pos : window.pos + 20]
                raise EndError("invalid-json", f"{found!r} is no JSON value")
            raise EndError(WAIT)
        text = run.group().rstrip()
        number = values.number_as_json(text) if _ODD_NUMBER.fullmatch(text) else None
        if number is None and (text.lstrip("-") in NEVER or not self._is_text(text)):
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

    def _is_text(self, text: str) -> bool:
        """Whether an unquoted text that is no number may be a string: a date or a version is."""
        if text[:1] in "-." or text.replace("_", "").isdigit():
            return False
        return not _CONSTANTS.match(text) or _DATE.match(text) is not None

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
        """Read the separator between a key and its value."""
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
        """Read the opening quote at the position; the caller has written it already."""
        self._style, self._plain, self._encode = style, style.plain, style.encode
        self._first = len(self._out)
        self._owns_stops, self._literal = self.owns_stops, False
        if style.repair:
            self._repair(style.repair)
        self._window.pos += len(style.quote)
        self._began = self._window.offset
        return self._string

    def _string(self) -> Step:
        """Read a string up to its closing quote, or as much of it as has arrived."""
        window, style = self._window, self._style
        closing, single = style.closing, len(style.quote) == 1
        self._seen = len(self._out)  # callers know the pieces so far; later ones may be joined
        while True:
            text, at = window.text, window.pos
            run = self._plain.match(text, at)
            if run and (end := run.end()) > at:
                taken = run.group()
                self._out.append(self._encode(taken) if self._encode else taken)
                window.pos = at = end
            char = text[at : at + 1] or self._cut_string()
            if char in closing:
                if self._ends() if single else self._stop_at(at, (style.quote,)):
                    self._end()
                    window.pos += len(style.quote)
                    return self._named if self._in_key else self._behind_string
                if single:
                    self._goes_on()
                    self._repair("inner-quote")
            elif char == "\\":
                self._escape()
                continue
            elif char < " ":
                self._repair("control-character")
                self._plain, self._encode = style.with_controls, _controls_escaped
                continue
            self._write('\\"' if char == '"' else char)
            window.pos += 1

    def _named(self) -> Step:
        """Continue after a quoted key."""
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
        """At the end of the text: wait for more, or close the string as truncated."""
        window = self._window
        if not window.final:
            raise EndError(WAIT)
        window.pos = len(window.text)
        self._end_at_stop(behind_bracket=True)
        self._end()
        raise EndError("truncated")

    def _escape(self) -> None:
        """Read a backslash and what it escapes."""
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
        """Return an escape's JSON, its length in the text, and the code of its repair or ""."""
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
        """Return the JSON for an escape by code point or name, and its length; None if invalid."""
        code = self._longest(_CODE)
        try:
            octal = code[1:].isdigit()
            char = chr(int(code[1:], 8)) if octal else code.encode().decode("unicode_escape")
        except UnicodeDecodeError:
            if code != r"\N" and self._window.pos + len(code) == len(self._window.text):
                self._cut_string()
            return None
        # In JSON two escapes may form one character (a surrogate pair), in Python not.
        python = self._style.escapes is PYTHON_ESCAPES
        return (encode_basestring if python else encode_basestring_ascii)(char)[1:-1], len(code)

    def _release(self, *, literal: bool) -> None:
        r"""Write the kept-back part of the string, with \b and \f as plain text if `literal`."""
        if self._released is None:
            return
        kept, self._out, self._released = "".join(self._out), self._released, None
        self._seen = len(self._out)
        for char, raw in _DOUBTFUL.items():
            kept = kept.replace(raw, ("\\\\" if literal else "\\") + char)
        self._out.append(kept)

    def _ends(self) -> bool:
        """Whether the quote at the position ends its string.

        A key ends at its first quote. A value in an object ends if a closing bracket follows, or a
        comma and what looks like a key; in an array, if a closing bracket follows, or a comma and
        the start of a value. A comma or a closing bracket may be missing. Any other quote is one
        that the writer forgot to escape.
        """
        if self._in_key:
            return True
        index, char = self._behind_space(self._window.pos + 1, limits.SPACE_AHEAD)
        if comma := char == ",":
            index, char = self._behind_space(index + 1, limits.SPACE_AHEAD)
        if not char or (comma and char == ","):  # an extra comma
            return True
        if not comma and (char in OPERATORS or char == "，"):
            behind = self._behind_space(index + 1, limits.SPACE_AHEAD)
            # Neither is read: an expression, and a comma that is no comma of JSON before a key.
            return self._operates(index) if char != "，" else self._is_key(behind[0])
        in_array = bool(self.open) and self.open[-1] == "["
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

    def _operates(self, index: int) -> bool:
        """Whether an operation on the string before it is at `index`: nothing is evaluated."""
        if not self._window.final and len(self._window.text) - index < limits.ARITHMETIC_AHEAD:
            raise EndError(WAIT)
        return _OPERATION.match(self._window.text, index) is not None

    def _is_key(self, index: int) -> bool:
        """Whether a key and its colon, a key beyond the lookahead, or a comment is at `index`."""
        text = self._window.text
        if _KEY.match(text, index):
            return True
        if len(text) - index >= 2 * limits.KEY_AHEAD + limits.SPACE_AHEAD + 30:
            return False
        if not (text[index] in "\"'“‘/_$" or text[index].isalpha()):
            return False
        if not self._window.final:
            raise EndError(WAIT)
        return bool(_CUT_KEY.match(text, index))

    def _is_element(self, index: int) -> bool:
        """Whether an element of an array or a comment may begin at `index` of the window's text."""
        text, char = self._window.text, self._window.text[index]
        if not self._window.final and len(text) - index < 6 and (char.isalpha() or char == "/"):
            raise EndError(WAIT)
        return _ELEMENT.match(text, index) is not None

    def _goes_on(self) -> None:
        """Refuse a string that was never closed, as a stop or another call is inside it."""
        if not self._owns_stops:
            self._end_at_stop()
            self._owns_stops = True
        window, text = self._window, self._window.text
        if text[window.pos - 1] not in "{, \t\r\n":
            return
        before = text[max(0, window.pos - limits.MARGIN, self._began - window.base) : window.pos]
        if before.rstrip()[-1:] == "," and "{" not in before:
            if len(text) - window.pos < limits.MEMBER_AHEAD and not window.final:
                raise EndError(WAIT)
            if _NEXT_KEY.match(text, window.pos) and not _FIRST_KEY.match(text, window.pos):
                raise EndError("invalid-json", "a string that never ends")
        restart = _RESTART.search(before) if before.rstrip()[-1:] == "{" else None
        # An object that ends inside the string has to be one that began before it.
        inside = restart and before[restart.start()] in "}]"
        if restart is None or (inside and before.count("}") < before.count("{")):
            return
        if len(text) - window.pos <= limits.CALL_KEY_AHEAD and not window.final:
            raise EndError(WAIT)
        if _FIRST_KEY.match(text, window.pos):
            closer = _CLOSER_TAG.search(before)
            ended = min(restart.start(), closer.start() if closer else len(before))
            window.pos -= len(before) - ended
            raise EndError("invalid-json", "a string that never ends")

    def _end_at_stop(self, *, behind_bracket: bool = False) -> None:
        """End the string at a stop inside it, a text at which the call ends: no quote closed it.

        Closing brackets right before the stop are removed from the string; with `behind_bracket`
        nothing is done unless there is such a bracket. If the stop is too far back, the text is
        refused.
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
        closers = rf"(?:[}}\]](?:\s|\\[nrt])*+){{0,{len(self.open)}}}+\Z"
        empty = [""] * (len(self._out) - self._first - 1)  # others count the pieces
        self._out[self._first :] = [re.sub(closers, "", kept, count=1), *empty]
        self._end()
        raise EndError("missing-closer")


def read_json(text: str) -> Read | Unreadable:
    """Read a text that is one object or array, apart from white space around it.

    Closing brackets and quotes too many are a repair: two servers write `{}""` for no arguments.
    """
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
        if not rest.strip('"]} \t\r\n'):
            span = Span(window.pos, len(text))
            extra = values.repair_of("extra-closer", f"{rest!r} closes nothing", span, "standard")
            return result._replace(repairs=(*result.repairs, extra))
        return Unreadable("invalid-json", f"{rest[:40]!r} comes after the value", window.pos)
    return result
