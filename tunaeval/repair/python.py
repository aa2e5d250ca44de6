"""The arguments of a Python call, `(city='Oslo', days=2)`, read once as an object.

Values are literals: texts with any prefix that needs no evaluation, side by side or triple-quoted
too, numbers in all of Python's spellings, lists, tuples and sets (as arrays), dictionaries, `True`,
`False` and `None`, and JSON's three words beside them. `**{'a-b': 1}` gives arguments whose names
are no words of Python. What would have to be evaluated is refused.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Sequence
from typing import ClassVar

from tunaeval.window import Reading, Window

from .json import Read
from .literal_texts import Quoting, read_text
from .literals import OPENERS, LiteralReader, Step, char_at, quoted
from .mends import CutError, UnreadableError
from .values import MAX_DIGITS, Unreadable

PYTHON_NAME = re.compile(r"[^\W\d][\w-]{0,127}+")
"""What may name an argument. Python knows no hyphens there; models write them."""

_WORD = re.compile(r"[^\W\d]\w{0,199}+")
_KEYWORD = re.compile(
    rf"(?P<name>{PYTHON_NAME.pattern})[ \t\r\n]{{0,24}}+(?P<sign>[=:]?+)(?P<more>=?+)"
)
_MEMBER = re.compile(rf"[ \t\r\n]{{1,24}}+{PYTHON_NAME.pattern}(?P<sign>=?+)(?P<more>=?+)")
_NUMBER = re.compile(rf"[+-]?[\w.]{{0,{MAX_DIGITS + 1}}}+(?:(?<=[eE])[+-][0-9]{{0,99}}+)?+")
_KEY_WORD = re.compile(r"[+-]?[\w.]{0,200}+")
_TWO_DIGITS = re.compile(r"0[0-9]")
"""Of a month, a day or an hour; a longer row of digits that begins so is no number: 02134."""
_JSON_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?+(?:[eE][+-]?[0-9]++)?+")
_FLOAT = re.compile(r"([+-]?)([0-9_]*+)\.?([0-9_]*+)([eE][+-]?[0-9]++)?")
_WORDS = {
    "True": "true",
    "False": "false",
    "None": "null",
    "true": "true",
    "false": "false",
    "null": "null",
}
_NEVER = frozenset({"NaN", "nan", "Infinity", "inf", "undefined", "lambda", "not", "await"})
_RAW_PREFIXES = {"r": True, "u": False}
_OTHER_PREFIXES = frozenset({"f", "b", "t", "fr", "rf", "br", "rb", "tr", "rt"})


class PythonReader(LiteralReader):
    """Reads from the call's opening parenthesis to its closing one; see `LiteralReader`.

    `places` are the names of the tool's parameters in their order, for arguments without a name.
    """

    outer: ClassVar[str] = "]"
    commas_may_trail: ClassVar[bool] = True

    def __init__(
        self, window: Window, places: Sequence[str] = (), stops: tuple[str, ...] = ()
    ) -> None:
        super().__init__(window, stops)
        self.named = False
        """Whether any argument has a name."""
        self._places = places
        self._nameless = ""

    def read(self) -> Reading[Read | Unreadable]:
        """The arguments. With arguments that nothing names it is no call, though it is whole."""
        read = yield from super().read()
        if self._nameless and isinstance(read, Read):
            return Unreadable("positional-arguments", self._nameless, self.window.offset)
        return read

    # --- names -------------------------------------------------------------------------------

    def key(self, char: str) -> Generator[None, None, Step]:
        if self.frames[-1].closer == "}":
            return (yield from self._dictionary_key(char))
        keyword = yield from self.match(_KEYWORD)
        if keyword and not keyword["sign"] and keyword.end() >= len(self.window.text):
            self.window.pos = keyword.end()
            raise CutError("truncated")
        if keyword and keyword["sign"] and not keyword["more"]:
            if keyword["sign"] == ":":
                self.draft.mend("separator")
            return self._named(keyword["name"], keyword.end())
        if char == "*":
            return (yield from self._unpacked())
        self._place(char)
        return self.element

    def _named(self, name: str, end: int) -> Step:
        self.window.pos = end
        self.named = True
        self.name_next(quoted(name))
        return self.element

    def _place(self, char: str) -> None:
        """An argument without a name; the schema's order may tell which it is."""
        count = self.frames[-1].count
        if not self.named and count < len(self._places):
            self.draft.mend("positional-arguments")
            self.name_next(quoted(self._places[count]))
            return
        if not self._nameless:
            self._nameless = f"an argument without a name, at {char!r}"
        self.name_next(quoted(str(count)))

    def _unpacked(self) -> Generator[None, None, Step]:
        """`**{...}`: the members of a dictionary literal are arguments too."""
        if (yield from char_at(self.window, 1)) != "*":
            raise UnreadableError("needs-evaluation", "an argument list that is unpacked")
        self.window.pos += 2
        if (yield from self.next()) != "{":
            raise UnreadableError("needs-evaluation", "arguments that are unpacked from elsewhere")
        self.named = True
        return self.open("", "}", keyed=True, count=self.frames[-1].count)

    def _dictionary_key(self, char: str) -> Generator[None, None, Step]:
        pieces: list[str] = []
        if char in "'\"":
            pieces.append('"')
            yield from self._text(char, pieces, raw=False)
            pieces.append('"')
        else:
            word = yield from self.match(_KEY_WORD)
            if not word or not word.group():
                raise UnreadableError("invalid-json", f"{char!r} where a key was expected")
            bare = word.group()
            literal = _WORDS.get(bare) or number_as_json(bare)
            if literal and (yield from self._ends_member(len(bare))):
                pieces.append(literal)
            else:
                self.draft.mend("bare-key")
                pieces.append(quoted(bare))
            self.window.pos += len(bare)
        sign = yield from self.next()
        if sign in (",", "}") and not self.frames[-1].count:
            return self._set(pieces)
        if sign != ":":
            raise UnreadableError("invalid-json", f"{sign!r} where a colon was expected")
        self.window.pos += 1
        self.name_next("".join(pieces))
        return self.element

    def _ends_member(self, ahead: int) -> Generator[None, None, bool]:
        """Whether a member ends so many characters ahead, without a colon."""
        return (yield from char_at(self.window, ahead)) in (",", "}")

    def _set(self, first: list[str]) -> Step:
        """What was opened as a dictionary is a set: an array, of which this is the first member."""
        frame = self.frames[-1]
        frame.keyed, frame.written = False, "]"
        self.draft.pieces[frame.at] = "["
        self.name_next("")
        self.draft.begin_value()
        self.draft.pieces += first
        return self.after

    def begins_member(self, char: str) -> Generator[None, None, bool]:
        if self.frames[-1].closer == "}":
            return char in "'\""
        keyword = yield from self.match(_KEYWORD)
        return bool(keyword and keyword["sign"] == "=" and not keyword["more"])

    # --- brackets ----------------------------------------------------------------------------

    def bracket(self, char: str) -> Step:
        """A parenthesis inside is a tuple: an array."""
        return self.open("[" if char == "(" else char, OPENERS[char], keyed=char == "{")

    def end(self) -> None:
        frame = self.frames.pop()
        if not frame.written:  # what was unpacked lies among the arguments
            self.frames[-1].count = frame.count
        elif frame.closer == ")" and self.frames and frame.count == 1 and not frame.comma:
            self.draft.pieces[frame.at] = ""  # a value in parentheses is no tuple
        else:
            self.draft.pieces.append(frame.written)

    # --- values ------------------------------------------------------------------------------

    def value(self, char: str) -> Reading[None]:
        if char in "'\"":
            yield from self._texts(char, raw=False)
        elif char in "+-." or char.isdigit():
            yield from self._number()
        else:
            yield from self._word(char)

    def _texts(self, char: str, *, raw: bool) -> Reading[None]:
        """A text, and those right behind it, which Python takes for one with it."""
        pieces = self.draft.pieces
        self.draft.begin_value()
        pieces.append('"')
        while char in ("'", '"'):
            yield from self._text(char, pieces, raw=raw)
            pieces.append('"')
            char, raw = (yield from self.next()), False
            if char in "'\"":
                pieces.pop()

    def _text(self, char: str, pieces: list[str], *, raw: bool) -> Reading[None]:
        window = self.window
        while (
            not window.final
            and len(window.text) < window.pos + 3
            and (char * 3).startswith(window.text[window.pos :])
        ):
            yield
        quote = char * 3 if window.text.startswith(char * 3, window.pos) else char
        window.pos += len(quote)
        yield from read_text(
            window, self.draft, pieces, Quoting(quote, raw, self.stops, member=_MEMBER)
        )

    def _number(self) -> Reading[None]:
        found = yield from self.match(_NUMBER, MAX_DIGITS)
        text = found.group() if found else ""
        if len(text) > MAX_DIGITS:
            raise UnreadableError("too-many-digits", f"a number of more than {MAX_DIGITS} digits")
        number = number_as_json(text)
        if number is None and _TWO_DIGITS.fullmatch(text):
            self.draft.mend("leading-zero")
            number = text[1]
        if number is None:
            if found and found.end() >= len(self.window.text):
                self.drop_value()
            raise UnreadableError("needs-evaluation", f"{text[:40]!r} is no literal")
        self.draft.begin_value()
        self.draft.pieces.append(number)
        self.window.pos += len(text)

    def _word(self, char: str) -> Reading[None]:
        found = yield from self.match(_WORD)
        word = found.group() if found else ""
        after = yield from char_at(self.window, len(word))
        if not word:
            raise UnreadableError("invalid-json", f"{char!r} where a value was expected")
        if after in ("'", '"'):
            yield from self._prefixed(word, after)
        elif word in _WORDS:
            self.draft.begin_value()
            self.draft.pieces.append(_WORDS[word])
            self.window.pos += len(word)
        elif not after:
            self.drop_value()
        elif after in ",)]}" and word not in _NEVER:
            self.draft.mend("unquoted-string")
            self.draft.begin_value()
            self.draft.pieces.append(quoted(word))
            self.window.pos += len(word)
        else:
            raise UnreadableError("needs-evaluation", f"{word[:40]!r} would have to be evaluated")

    def _prefixed(self, word: str, quote: str) -> Reading[None]:
        """A text with a prefix: raw ones are read, those with expressions inside are not."""
        prefix = word.lower()
        if prefix not in _RAW_PREFIXES:
            code = "needs-evaluation" if prefix in _OTHER_PREFIXES else "invalid-json"
            raise UnreadableError(code, f"{word[:40]!r} before a text")
        self.window.pos += len(word)
        yield from self._texts(quote, raw=_RAW_PREFIXES[prefix])

    # --- going on behind what cannot be read -------------------------------------------------

    def skip(self, *, lines: bool) -> Reading[None]:
        """Go to the end of a call that cannot be read, if it ends soon; `whole` tells.

        Not beyond a stop, nor a line's end; unless `lines`, where that ends only texts.
        """
        window, closers, quote = self.window, [frame.closer for frame in self.frames], ""
        for _ in range(_MOST_SKIPPED):
            char = yield from char_at(window, 0)
            if not char or (self.stops and (yield from self.at_stop())):
                return
            escaped = char == "\\" and (yield from char_at(window, 1))
            window.pos += 2 if escaped else 1
            if char == "\n" and (quote or not lines):
                return
            if quote:
                quote = "" if char == quote else quote
            elif char in "'\"":
                quote = char
            elif char in OPENERS:
                closers.append(OPENERS[char])
            elif char == closers[-1]:
                closers.pop()
                if not closers:
                    self.whole = True
                    return


_MOST_SKIPPED = 4096


def number_as_json(text: str) -> str | None:
    """A number as Python spells it, as JSON spells it; None if it is no number.

    >>> number_as_json("1_000"), number_as_json("0x1F"), number_as_json(".5")
    ('1000', '31', '0.5')
    """
    if _JSON_NUMBER.fullmatch(text):
        return text
    try:
        return str(int(text, 0)) if text.isascii() else None
    except ValueError:
        found = _FLOAT.fullmatch(text)
    if not found or not (found[2] or found[3]) or not ("." in text or found[4]):
        return None
    whole = found[2].replace("_", "").lstrip("0") or "0"
    return f"{found[1].strip('+')}{whole}.{found[3].replace('_', '') or '0'}{found[4] or ''}"
