"""Readers of two notations that are not JSON: objects with marked strings, and Python arguments.

`BraceReader` reads `{city:<escape>Oslo<escape>}`: keys have no quotes, and a string is any text
between two marks.

`PythonReader` reads the arguments of a call, `(city='Oslo', days=2)`, as an object. Values are
literals: strings (also adjacent, triple-quoted, or with the prefix `r` or `u`), Python's numbers,
lists, tuples and sets (all as arrays), dictionaries, `True`, `False`, `None`, `true`, `false` and
`null`. `**{'a-b': 1}` gives arguments whose names are no Python identifiers. An expression that
would have to be evaluated is refused.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from json.encoder import encode_basestring
from typing import ClassVar

import orjson

from tunaeval import limits
from tunaeval.limits import NEAR_SPACE
from tunaeval.parsing.window import Reading, Window
from tunaeval.types.calls import JsonObject, JsonValue

from . import machine, values
from .machine import EndError, JsonReader, Step, Style, marked_style, text_style
from .values import Read, Unreadable

BRACE_KEY = re.compile(r"[^\W\d][\w$.-]{0,127}+")
"""A key that may be written without marks or quotes around it."""


_BEHIND_TEXT = ",:)]}#'\""


class _TextReader(JsonReader):
    """The base of readers of notations other than JSON; a string may contain any text or tag."""

    closers = "}])"
    comments = ""
    codes = machine.TEXT_CODES
    unknown_escape = "unknown-escape"
    owns_stops = True

    def _ends(self) -> bool:
        """Whether the quote at the position ends its string, judged by the next character."""
        index, char = self._behind_space(self._window.pos + 1, limits.QUOTE_AHEAD)
        stops = self._string_stops
        ends = not char or char in _BEHIND_TEXT or any(stop[0] == char for stop in stops)
        return ends or (char in machine.OPERATORS and self._operates(index))

    def _goes_on(self) -> None:
        """Refuse a string that goes on after a quote if a stop is inside: it was never closed."""
        window = self._window
        first = max(window.pos - limits.MARGIN, self._began - window.base, 0)
        found = [window.text.rfind(stop, first, window.pos) for stop in self._string_stops]
        if (at := max(found, default=-1)) >= 0:
            window.pos = at
            raise EndError("invalid-json", "a text that never ends")


class BraceReader(_TextReader):
    """Reads an object with bare keys and strings between marks: `{city:<escape>Oslo<escape>}`."""

    styles: ClassVar[Mapping[str, Style]] = {
        quote: text_style(quote, machine.JSON_ESCAPES, repair="other-quotes") for quote in "'\""
    }
    bare_key = BRACE_KEY
    bare_key_repair = ""
    python_null = "None"
    bare_words_repair = "unmarked-text"
    signs: ClassVar[Mapping[str, str]] = {":": "", "=": "separator"}

    def __init__(self, window: Window, mark: str, stops: tuple[str, ...] = ()) -> None:
        super().__init__(window, stops)
        self._mark = mark

    def _begin(self, char: str) -> Step:
        known = char in "{['\"" or self._style_of(char)
        if known or not self._lost_its_mark():
            return super()._begin(char)
        self._repair("missing-quote")
        self._begin_value('"')
        self._window.pos -= len(self._mark)  # `_begin_string` skips the mark
        return self._begin_string(marked_style(self._mark))

    def _style_of(self, char: str) -> Style | None:
        if char == self._mark[0] and self._is_mark(self._window.pos):
            return marked_style(self._mark)
        return super()._style_of(char)

    def _is_mark(self, at: int) -> bool:
        """Whether the mark is at index `at` of the window's text; `EndError` if it is cut off."""
        text, mark = self._window.text, self._mark
        if not self._stop_at(at, (mark,)):
            if at < len(text) and mark.startswith(text[at : at + len(mark)]):
                self._cut_off()
            return False
        return True

    def _lost_its_mark(self) -> bool:
        """Whether a string begins here that lacks its opening mark, but soon has a closing mark."""
        window = self._window
        # No character that could end a member, and not the mark's first character.
        unmarked = rf"[^,:{{}}\[\]\n{re.escape(self._mark[0])}]{{1,{limits.UNMARKED_TEXT}}}+"
        run = re.compile(unmarked).match(window.text, window.pos)
        end = run.end() if run else window.pos
        if end == len(window.text) and window.final and " " in window.text[window.pos :]:
            self._cut_off()
        return self._is_mark(end)


PYTHON_NAME = re.compile(r"[^\W\d][\w-]{0,127}+")
"""The name of an argument. Python allows no hyphens in names, but models write them."""

_WORD = re.compile(r"[^\W\d]\w{0,199}+")
_NUMBER = re.compile(rf"[+-]?[\w.]{{0,{limits.MAX_DIGITS + 1}}}+(?:(?<=[eE])[+-][0-9]{{0,99}}+)?+")
_ZEROS = re.compile(r"([+-]?)0++([1-9][0-9]*+)")
_NEVER = machine.NEVER | {"lambda", "not", "await"}


_BEHIND_QUOTE = re.compile(rf"[ \t\r\n]{{1,24}}+{PYTHON_NAME.pattern}(?P<sign>=?+)(?P<more>=?+)")
_STYLES = {
    (quote, raw): text_style(quote, None if raw else machine.PYTHON_ESCAPES)
    for raw in (False, True)
    for quote in ("'", '"', "'''", '"""')
}
_KEYWORD = re.compile(rf"(?P<name>{PYTHON_NAME.pattern}){NEAR_SPACE}(?P<sign>[=:]?+)(?P<more>=?+)")
_ATOM_IN_BRACES = re.compile(rf"(?:[+-]?[\w.]{{1,200}}+{NEAR_SPACE})?+")
_EMPTY = re.compile(rf"\{{{NEAR_SPACE}\}}?+")
_FIRST_KEY = re.compile(rf"""\{{{NEAR_SPACE}(?:["'](?:\w{{1,128}}+(?:["']{NEAR_SPACE}:?)?+)?+)?+""")
_RESTART = re.compile(
    rf"[,)\n][,; \t\r\n]{{0,24}}[^\W\d][\w.]{{0,127}}\({NEAR_SPACE}"
    rf"{PYTHON_NAME.pattern}{NEAR_SPACE}={NEAR_SPACE}\Z"
).search
"""The text of a string before a quote, if another call with its first argument begins there."""
_RAW_PREFIXES = {"r": True, "u": False}
_OTHER_PREFIXES = frozenset({"f", "b", "t", "fr", "rf", "br", "rb", "tr", "rt"})


class PythonReader(_TextReader):
    """Reads the arguments of a Python call, from its opening parenthesis to the closing one.

    `places` are the tool's parameter names in order; they name the positional arguments.
    """

    brackets = "{[("
    styles: ClassVar[Mapping[str, Style]] = {quote: _STYLES[quote, False] for quote in "'\""}
    bare_key = re.compile(r"[+-]?[\w.]{0,200}+")
    signs: ClassVar[Mapping[str, str]] = {":": ""}
    numbers = "+-."
    trailing_comma = ""

    _placed = 0
    """How many positional arguments were read."""
    named = False
    """Whether any argument has a name."""
    _nameless = ""
    """Why the call is refused: a positional argument that `places` cannot name; "" if none."""
    _opened = 0
    """The offset of the last opening bracket in the whole text."""

    def __init__(
        self, window: Window, places: Sequence[str] = (), stops: tuple[str, ...] = ()
    ) -> None:
        super().__init__(window, stops)
        self._places = places
        self._groups: list[int] = []
        """Indices into `pieces` of open parentheses, which may be tuples or only group a value."""

    def advance(self) -> Read | Unreadable | None:
        """Do what `JsonReader.advance` does, but refuse a whole call with an unnamed argument."""
        read = super().advance()
        if self._nameless and isinstance(read, Read):
            return Unreadable("positional-arguments", self._nameless, self._window.offset)
        return read

    def _value(self) -> Step:
        return super()._value() if self.open else self._open("f")

    def _keyword(self) -> re.Match[str] | None:
        """Match an argument's name at the position, and the `=` or `:` after it, if any."""
        self._longest(_KEYWORD, limits.WORD_AHEAD)
        return _KEYWORD.match(self._window.text, self._window.pos)

    def _name(self, char: str) -> Step:
        if self.open[-1] != "f":
            return self._item if self._begins_set(char) else super()._name(char)
        window, keyword = self._window, self._keyword()
        if keyword and not keyword["sign"] and keyword.end() >= len(window.text):
            self._cut_off()
        if keyword and keyword["sign"] and not keyword["more"]:
            if keyword["sign"] == ":":
                self._repair("separator")
            self.named = True
            window.pos = keyword.end()
            self._begin_member(f'"{keyword["name"]}"')
            return self._value
        if char == "{" and self._places and not (self._placed or self.named):
            first = self._longest(_FIRST_KEY, limits.WORD_AHEAD)
            if first.endswith(":") and first[1:-1].strip().strip("\"'") in self._places:
                self.named = True
                self._repair("one-dictionary")
                return self._open("**")
        if char == "{" and not self._places and self.pieces[-1] == "{" and self._is_nothing():
            self._repair("one-dictionary")
            window.pos += len(self._longest(_EMPTY))
            return self._after
        return self._unpacked() if char == "*" else self._place(char)

    def _is_nothing(self) -> bool:
        """Whether the arguments here are an empty dictionary and nothing else."""
        empty = self._longest(_EMPTY)
        end = self._window.pos + len(empty)
        return empty[-1:] == "}" and self._behind_space(end, limits.SPACE_AHEAD)[1] == ")"

    def _place(self, char: str) -> Step:
        """Read a positional argument; before any named one, `places` gives its name."""
        name = str(self._placed)
        if not self.named and self._placed < len(self._places):
            self._repair("positional-arguments")
            name = self._places[self._placed]
        elif not self._nameless:
            self._nameless = f"an argument without a name, at {char!r}"
        self._placed += 1
        self._begin_member(encode_basestring(name))
        return self._value

    def _unpacked(self) -> Step:
        """Read `**{...}`: the members of a dictionary literal are arguments too."""
        if self._char(1) != "*":
            raise EndError("needs-evaluation", "an argument list that is unpacked")
        self._window.pos += 2
        return self._unpacked_from

    def _unpacked_from(self) -> Step:
        if self._next() != "{":
            raise EndError("needs-evaluation", "arguments that are unpacked from elsewhere")
        empty = self._longest(_EMPTY)
        self.named = True
        if empty[-1] != "}":
            return self._open("**")
        self._window.pos += len(empty)
        return self._behind_nothing

    def _behind_nothing(self) -> Step:
        """Continue after an empty `**{}`: a comma after it separates nothing and is skipped."""
        if self._next() != ",":
            return self._after
        self._window.pos += 1
        return self._item

    def _lost_comma(self, char: str) -> str:
        if self.open[-1] != "f":
            return "missing-comma" if self.open[-1] in machine.KEYED and char in self.styles else ""
        found = self._keyword()
        return "missing-comma" if found and found["sign"] == "=" and not found["more"] else ""

    def _open(self, kind: str) -> Step:
        self._opened = self._window.offset
        if kind == "(":
            self._groups.append(len(self.pieces))
        return super()._open(kind)

    def _close(self, char: str, otherwise: Step) -> Step:
        if char == "]" and "[" not in self.open:  # it ends the list of calls
            raise EndError("missing-closer")
        return super()._close(char, otherwise)

    def _close_innermost(self, kind: str) -> None:
        at = self._groups.pop() if kind[0] == "(" else 0
        if kind == "(" and len(self.pieces) > at + 1:
            self.pieces[at] = ""  # a value in parentheses is no tuple
        else:
            super()._close_innermost(kind)

    def _is_first(self) -> bool:
        """Whether the innermost braces are still empty, so that they may be those of a set."""
        return self.open[-1] == "{" == self.pieces[-1] and self._comma is None

    def _become_set(self) -> None:
        self._repair("python-set", self._opened)
        self.open[-1], self.pieces[-1] = "{,", "["

    def _begins_set(self, char: str) -> bool:
        """Whether a number or word here is a set's first item; if so, make the braces a set."""
        if char in self.styles or not self._is_first():
            return False
        atom = self._longest(_ATOM_IN_BRACES, limits.WORD_AHEAD)
        after = self._char(len(atom))
        if not atom or not after or after not in ",}":
            return False
        self._become_set()
        return True

    def _sign(self) -> Step:
        char = self._next()
        if char not in ",}" or self._bare_key or not self._is_first():
            return super()._sign()
        self._become_set()
        self.pieces.append(self._pending.removesuffix(":"))
        self._pending = ""
        return self._after

    def _number(self) -> str:
        window, text = self._window, self._longest(_NUMBER, limits.MAX_DIGITS + 1)
        if len(text) > limits.MAX_DIGITS:
            raise EndError("too-many-digits", f"a number of more than {limits.MAX_DIGITS} digits")
        number = values.number_as_json(text)
        if number is None and (found := _ZEROS.fullmatch(text)):
            self._repair("leading-zero")
            number = found[1].strip("+") + found[2]
        if number is None:
            if window.pos + len(text) >= len(window.text):
                self._cut_off()
            code = machine.refused_value(text, "needs-evaluation")
            raise EndError(code, f"{text[:40]!r} is no literal")
        window.pos += len(text)
        return number

    def _word(self) -> str:
        word = self._longest(_WORD, limits.WORD_AHEAD)
        after = self._char(len(word))
        if not word:
            char = self._window.text[self._window.pos]
            raise EndError("invalid-json", f"{char!r} where a value was expected")
        value = machine.PYTHON_WORDS.get(word) or machine.WORDS.get(word)
        if not value:
            if not after:
                self._cut_off()
            if after not in ",)]}" or word in _NEVER:
                raise EndError("needs-evaluation", f"{word[:40]!r} would have to be evaluated")
            self._repair("unquoted-string")
            value = f'"{word}"'
        self._window.pos += len(word)
        return value

    def _begin(self, char: str) -> Step:
        if not (char.isalpha() or char == "_"):
            return super()._begin(char)
        word = self._longest(_WORD, limits.WORD_AHEAD)
        after, prefix = self._char(len(word)), word.lower()
        if not after or after not in self.styles:
            return super()._begin(char)
        if prefix not in _RAW_PREFIXES:
            code = "needs-evaluation" if prefix in _OTHER_PREFIXES else "invalid-json"
            raise EndError(code, f"{word[:40]!r} before a text")
        style = self._quoted(after, len(word), raw=_RAW_PREFIXES[prefix])
        self._window.pos += len(word)
        self._begin_value('"')
        return self._begin_string(style)

    def _style_of(self, char: str) -> Style | None:
        return self._quoted(char) if char in self.styles else None

    def _quoted(self, char: str, ahead: int = 0, *, raw: bool = False) -> Style:
        """Return the style of a string whose one or three quotes are `ahead` characters ahead."""
        triple = self._stop_at(self._window.pos + ahead, (char * 3,))
        return _STYLES[char * 3 if triple else char, raw]

    def _ends(self) -> bool:
        """Whether the quote here ends its string; the comma after it may be missing."""
        if super()._ends():
            return True
        window = self._window
        found = _BEHIND_QUOTE.match(window.text, window.pos + 1)
        if found and found.end() >= len(window.text) and not window.final:
            raise EndError(machine.WAIT)
        return bool(found and found["sign"] and not found["more"])

    def _goes_on(self) -> None:
        """Refuse a string in which another call begins: it was never closed."""
        super()._goes_on()
        window = self._window
        first = max(window.pos - limits.MARGIN, self._began - window.base, 0)
        if _RESTART(window.text[first : window.pos]):
            raise EndError("invalid-json", "a text that never ends")

    def _behind_string(self) -> Step:
        """Continue after a string: Python joins strings that are next to each other."""
        if not (style := self._style_of(self._next())):
            return self._after
        self.pieces.pop()  # the closing quote of the string before
        return self._begin_string(style)

    def skip(self, *, lines: bool) -> Reading[None]:
        """Skip to the end of a call that cannot be read, and set `whole` if the end is near.

        A stop ends the search. So does a newline, but with `lines` only one inside a string.
        """
        window, closers, quote = self._window, [machine.CLOSER[kind] for kind in self.open], ""
        ahead = max(map(len, self._stops), default=1) + 1
        for _ in range(limits.SKIPPED):
            while len(window.text) < window.pos + ahead and not window.final:
                yield
            char = window.text[window.pos : window.pos + 1]
            if not char or window.text.startswith(self._stops, window.pos):
                return
            escaped = char == "\\" and window.pos + 1 < len(window.text)
            window.pos += 2 if escaped else 1
            if char == "\n" and (quote or not lines):
                return
            if quote:
                quote = "" if char == quote else quote
            elif char in "'\"":
                quote = char
            elif char in self.brackets:
                closers.append(machine.CLOSER[char])
            elif char == closers[-1]:
                closers.pop()
                if not closers:
                    self.whole = True
                    return


_ATOM = r"(?:-?(?:0|[1-9][0-9]{0,15}+)(?:\.[0-9]{1,15}+)?+|True|False|None)(?=[\s,)\]])"
_TEXT = r"""(?:'[^'\\\n\x00\ud800-\udfff]*+'|"[^"\\\n\x00\ud800-\udfff]*+")"""
_SCALAR = rf"(?:{_TEXT}|{_ATOM})"
_LIST = rf"\[{NEAR_SPACE}(?:{_SCALAR}{NEAR_SPACE}(?:,{NEAR_SPACE}{_SCALAR}{NEAR_SPACE})*+)?+\]"
_ARGUMENT = rf"({PYTHON_NAME.pattern}){NEAR_SPACE}={NEAR_SPACE}({_SCALAR}|{_LIST})"
_ARGUMENTS = (
    rf"\({NEAR_SPACE}(?:{_ARGUMENT}{NEAR_SPACE}(?:,{NEAR_SPACE}{_ARGUMENT}{NEAR_SPACE})*+)?+\)"
)


@cache
def _plain_patterns() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """The patterns of plain arguments, of one of them, and of an item; few texts need them."""
    return re.compile(_ARGUMENTS), re.compile(_ARGUMENT), re.compile(_SCALAR)


def plain_arguments(text: str, at: int) -> tuple[JsonObject, int] | None:
    """Return the arguments whose `(` is at index `at`, and the index after `)`; None if not plain.

    Arguments are plain if each has a name of its own and its value is a string without escapes, a
    short number, `True`, `False`, `None`, or a list of these. `PythonReader` gives the same result.
    """
    whole, each, _ = _plain_patterns()
    found = whole.match(text, at)
    if found is None:
        return None
    rows = each.findall(found[0])
    arguments = {name: _plain_value(value) for name, value in rows}
    return (arguments, found.end()) if len(arguments) == len(rows) else None


def _plain_value(written: str) -> JsonValue:
    if written[0] in "'\"":
        return written[1:-1]
    if written[0] == "[":
        return [_plain_value(item) for item in _plain_patterns()[2].findall(written)]
    value: JsonValue = orjson.loads(machine.PYTHON_WORDS.get(written, written))
    return value
