"""The arguments of a Python call, `(city='Oslo', days=2)`, read once as an object.

Values are literals: texts with any prefix that needs no evaluation, side by side or triple-quoted
too, numbers in all of Python's spellings, lists, tuples and sets (as arrays), dictionaries, `True`,
`False` and `None`, and JSON's three words beside them. `**{'a-b': 1}` gives arguments whose names
are no words of Python. What would have to be evaluated is refused.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from json.encoder import encode_basestring

from tunaeval.limits import MAX_DIGITS, NEAR_SPACE, SKIPPED, WORD_AHEAD
from tunaeval.types import JsonObject, JsonValue
from tunaeval.window import Reading, Window

from .reader import (
    NEVER,
    PYTHON_WORDS,
    WORDS,
    Dialect,
    JsonReader,
    Step,
    behind,
    cut_off,
    refused_value,
)
from .repairs import CLOSER, CutError, Draft, UnreadableError
from .strings import PYTHON_ESCAPES, Style, longest, text_ends, text_style
from .values import NUMBER, Read, Unreadable

PYTHON_NAME = re.compile(r"[^\W\d][\w-]{0,127}+")
"""What may name an argument. Python knows no hyphens there; models write them."""

# --- numbers and words ---------------------------------------------------------------------------

_WORD = re.compile(r"[^\W\d]\w{0,199}+")
_KEY_WORD = re.compile(r"[+-]?[\w.]{0,200}+")
_NUMBER = re.compile(rf"[+-]?[\w.]{{0,{MAX_DIGITS + 1}}}+(?:(?<=[eE])[+-][0-9]{{0,99}}+)?+")
_FLOAT = re.compile(r"([+-]?)([0-9_]*+)\.?([0-9_]*+)([eE][+-]?[0-9]++)?")
_ZEROS = re.compile(r"([+-]?)0++([1-9][0-9]*+)")
_NEVER = NEVER | {"lambda", "not", "await"}


def _number(window: Window, draft: Draft, _: tuple[str, ...]) -> str | None:
    text = longest(window, _NUMBER, MAX_DIGITS + 1)
    if text is None:
        return None
    if len(text) > MAX_DIGITS:
        raise UnreadableError("too-many-digits", f"a number of more than {MAX_DIGITS} digits")
    number = number_as_json(text)
    if number is None and (found := _ZEROS.fullmatch(text)):
        draft.repair("leading-zero")
        number = found[1].strip("+") + found[2]
    if number is None:
        if window.pos + len(text) >= len(window.text):
            cut_off(window)
        code = refused_value(text, "needs-evaluation")
        raise UnreadableError(code, f"{text[:40]!r} is no literal")
    window.pos += len(text)
    return number


def _word(window: Window, draft: Draft, _: tuple[str, ...]) -> str | None:
    word = longest(window, _WORD, WORD_AHEAD)
    after = None if word is None else behind(window, len(word))
    if word is None or after is None:
        return None
    if not word:
        char = window.text[window.pos]
        raise UnreadableError("invalid-json", f"{char!r} where a value was expected")
    if known := PYTHON_WORDS.get(word) or WORDS.get(word):
        window.pos += len(word)
        return known
    if not after:
        cut_off(window)
    if after not in ",)]}" or word in _NEVER:
        raise UnreadableError("needs-evaluation", f"{word[:40]!r} would have to be evaluated")
    draft.repair("unquoted-string")
    window.pos += len(word)
    return f'"{word}"'


def number_as_json(text: str) -> str | None:
    """Return a number as JSON spells it, given as Python does; None if it is no number.

    Examples:
        >>> number_as_json("1_000"), number_as_json("0x1F"), number_as_json(".5")
        ('1000', '31', '0.5')
    """
    if NUMBER.fullmatch(text):
        return text
    try:
        return str(int(text, 0)) if text.isascii() else None
    except ValueError:
        found = _FLOAT.fullmatch(text)
    if not found or not (found[2] or found[3]) or not ("." in text or found[4]):
        return None
    whole = found[2].replace("_", "").lstrip("0") or "0"
    return f"{found[1].strip('+')}{whole}.{found[3].replace('_', '') or '0'}{found[4] or ''}"


# --- the reader ----------------------------------------------------------------------------------

_BEHIND_QUOTE = re.compile(rf"[ \t\r\n]{{1,24}}+{PYTHON_NAME.pattern}(?P<sign>=?+)(?P<more>=?+)")


def _ends(window: Window, role: str, stops: tuple[str, ...]) -> bool | None:
    """Whether the quote here ends its text; the next argument may only lack its comma."""
    if ends := text_ends(window, role, stops):
        return True
    if ends is None:
        return None
    found = _BEHIND_QUOTE.match(window.text, window.pos + 1)
    if found and found.end() >= len(window.text) and not window.final:
        return None
    return bool(found and found["sign"] and not found["more"])


_STYLES = {
    (quote, raw): text_style(quote, None if raw else PYTHON_ESCAPES, ends=_ends)
    for raw in (False, True)
    for quote in ("'", '"', "'''", '"""')
}
_KEYWORD = re.compile(rf"(?P<name>{PYTHON_NAME.pattern}){NEAR_SPACE}(?P<sign>[=:]?+)(?P<more>=?+)")
_ATOM_IN_BRACES = re.compile(rf"(?:[+-]?[\w.]{{1,200}}+{NEAR_SPACE})?+")
_EMPTY = re.compile(rf"\{{{NEAR_SPACE}\}}?+")
_FIRST_KEY = re.compile(rf"""\{{{NEAR_SPACE}(?:["'](?:\w{{1,128}}+(?:["']{NEAR_SPACE}:?)?+)?+)?+""")
_RAW_PREFIXES = {"r": True, "u": False}
_OTHER_PREFIXES = frozenset({"f", "b", "t", "fr", "rf", "br", "rb", "tr", "rt"})


class PythonReader(JsonReader):
    """Reads from the call's opening parenthesis to its closing one.

    `places` are the names of the tool's parameters in their order, for arguments without a name.
    """

    dialect = Dialect(
        brackets={"{": "{", "[": "[", "(": "("},
        closers="}])",
        keyed=frozenset({"f", "{", "**"}),
        styles={quote: _STYLES[quote, False] for quote in "'\""},
        bare_key=_KEY_WORD,
        bare_key_repair="bare-key",
        signs={":": ""},
        signs_may_lack=False,
        numbers="+-.",
        number=_number,
        word=_word,
        outer="]",
        trailing_comma="",
    )
    _placed = 0
    """How many arguments have no name."""
    _has_names = False
    _nameless = ""
    """Why the call is none: an argument that nothing names."""
    _opened = 0
    """Where the last bracket was opened."""

    def __init__(
        self, window: Window, places: Sequence[str] = (), stops: tuple[str, ...] = ()
    ) -> None:
        super().__init__(window, stops)
        self._places = places

    @property
    def named(self) -> bool:
        """Whether any argument has a name."""
        first = self.draft.pieces[1:2] or [self.draft.pending]
        return self._has_names or (not self._placed and first[0].endswith(":"))

    def advance(self) -> Read | Unreadable | None:
        """Go on. With arguments that nothing names it is no call, though it is whole."""
        read = super().advance()
        if self._nameless and isinstance(read, Read):
            return Unreadable("positional-arguments", self._nameless, self._window.offset)
        return read

    def _start(self) -> Step | None:
        return self._open("f", self._window.pos)

    # --- names -------------------------------------------------------------------------------

    def _name(self, char: str) -> Step | None:
        if self.draft.open[-1] != "f":
            begins = self._begins_set(char)
            return self._item if begins else None if begins is None else super()._name(char)
        window = self._window
        if longest(window, _KEYWORD, WORD_AHEAD) is None:
            return None
        keyword = _KEYWORD.match(window.text, window.pos)
        if keyword and not keyword["sign"] and keyword.end() >= len(window.text):
            window.pos = keyword.end()
            raise CutError("truncated")
        if keyword and keyword["sign"] and not keyword["more"]:
            if keyword["sign"] == ":":
                self.draft.repair("separator")
            self._has_names = True
            window.pos = keyword.end()
            self.draft.begin_member(f'"{keyword["name"]}"')
            return self._value
        if char == "{" and self._places and not (self._placed or self.named):
            first = longest(window, _FIRST_KEY, WORD_AHEAD)
            if first is None:
                return None
            if first.endswith(":") and first[1:-1].strip().strip("\"'") in self._places:
                self._has_names = True
                self.draft.repair("one-dictionary")
                return self._open("**", window.pos)
        return self._unpacked() if char == "*" else self._place(char)

    def _place(self, char: str) -> Step:
        """Read an argument without a name; the schema's order may say which it is."""
        name, self._has_names = str(self._placed), self.named
        if not self._has_names and self._placed < len(self._places):
            self.draft.repair("positional-arguments")
            name = self._places[self._placed]
        elif not self._nameless:
            self._nameless = f"an argument without a name, at {char!r}"
        self._placed += 1
        self.draft.begin_member(encode_basestring(name))
        return self._value

    def _unpacked(self) -> Step | None:
        """Read `**{...}`: the members of a dictionary literal are arguments too."""
        window = self._window
        if (after := behind(window, 1)) is None:
            return None
        if after != "*":
            raise UnreadableError("needs-evaluation", "an argument list that is unpacked")
        window.pos += 2
        return self._unpacked_from

    def _unpacked_from(self) -> Step | None:
        char, window = self._next(), self._window
        if not char:
            return None
        if char != "{":
            raise UnreadableError("needs-evaluation", "arguments that are unpacked from elsewhere")
        if (empty := longest(window, _EMPTY)) is None:
            return None
        self._has_names = True
        if empty[-1] != "}":
            return self._open("**", window.pos)
        window.pos += len(empty)
        return self._behind_nothing

    def _behind_nothing(self) -> Step | None:
        """After arguments that are none: a comma here separates nothing."""
        char = self._next()
        if char != ",":
            return self._after if char else None
        self._window.pos += 1
        return self._item

    def _lost_comma(self, char: str) -> str | None:
        kind = self.draft.open[-1]
        if kind != "f":
            quoted = kind in self._dialect.keyed and char in self._dialect.styles
            return "missing-comma" if quoted else ""
        if longest(self._window, _KEYWORD, WORD_AHEAD) is None:
            return None
        found = _KEYWORD.match(self._window.text, self._window.pos)
        return "missing-comma" if found and found["sign"] == "=" and not found["more"] else ""

    # --- sets --------------------------------------------------------------------------------

    def _open(self, kind: str, at: int) -> Step:
        self._opened = self._window.base + at
        if kind == "(":
            self.draft.groups.append(len(self.draft.pieces))
        return super()._open(kind, at)

    def _is_first(self) -> bool:
        """Whether the braces that were opened last are still empty, so they may be a set's."""
        return self.draft.open[-1] == "{" == self.draft.pieces[-1] and self.draft.comma is None

    def _become_set(self) -> None:
        self.draft.repair("python-set", self._opened)
        self.draft.open[-1], self.draft.pieces[-1] = "{,", "["

    def _begins_set(self, char: str) -> bool | None:
        """Whether a number or a word here is the first of a set; None to wait."""
        if char in self._dialect.styles or not self._is_first():
            return False
        atom = longest(self._window, _ATOM_IN_BRACES, WORD_AHEAD)
        after = None if atom is None else behind(self._window, len(atom))
        if not atom or not after or after not in ",}":
            return None if after is None else False
        self._become_set()
        return True

    def _sign(self) -> Step | None:
        char, draft = self._next(), self.draft
        if not char or char not in ",}" or self._bare_key or not self._is_first():
            return super()._sign() if char else None
        self._become_set()
        draft.pieces.append(draft.pending.removesuffix(":"))
        draft.pending = ""
        return self._after

    # --- texts -------------------------------------------------------------------------------

    def _begin(self, char: str, role: str) -> Step | None:
        if not (char.isalpha() or char == "_"):
            return super()._begin(char, role)
        window = self._window
        word = longest(window, _WORD, WORD_AHEAD)
        after = None if word is None else behind(window, len(word))
        if word is None or after is None:
            return None
        prefix = word.lower()
        if not after or after not in self._dialect.styles:
            return self._atom(_word)
        if prefix not in _RAW_PREFIXES:
            code = "needs-evaluation" if prefix in _OTHER_PREFIXES else "invalid-json"
            raise UnreadableError(code, f"{word[:40]!r} before a text")
        style = self._style(after, len(word), raw=_RAW_PREFIXES[prefix])
        if not isinstance(style, Style):
            return None
        window.pos += len(word)
        self.draft.begin_value('"')
        return self._begin_string(style, role, self.draft.pieces, self._behind_string)

    def _style(self, char: str, ahead: int = 0, *, raw: bool = False) -> Style | bool | None:
        """Return the style by one quote or three, which are `ahead` of the position."""
        window = self._window
        if char not in self._dialect.styles:
            return False
        start = window.text[window.pos + ahead : window.pos + ahead + 3]
        if len(start) < 3 and start == char * len(start) and not window.final:
            return None
        return _STYLES[start if start == char * 3 else char, raw]

    def _behind_string(self) -> Step | None:
        """After a text: those right behind it, which Python takes for one with it."""
        char, pieces = self._next(), self.draft.pieces
        style = self._style(char) if char else None
        if not isinstance(style, Style):
            return None if style is None else self._after
        pieces.pop()  # the quote behind the text before
        return self._begin_string(style, "value", pieces, self._behind_string)

    # --- going on behind what cannot be read -------------------------------------------------

    def skip(self, *, lines: bool) -> Reading[None]:
        """Go to the end of a call that cannot be read, if it ends soon; then `whole` is true.

        Not beyond a stop, nor a line's end; unless `lines`, where that ends only texts.
        """
        window, closers, quote = self._window, [CLOSER[kind] for kind in self.draft.open], ""
        ahead = max(map(len, self._stops), default=1) + 1
        for _ in range(SKIPPED):
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
            elif char in self._dialect.brackets:
                closers.append(CLOSER[char])
            elif char == closers[-1]:
                closers.pop()
                if not closers:
                    self.whole = True
                    return


# --- calls without anything unusual --------------------------------------------------------------

_ATOM = r"(?:-?(?:0|[1-9][0-9]{0,15}+)(?:\.[0-9]{1,15}+)?+|True|False|None)(?=[\s,)\]])"
_TEXT = r"""(?:'[^'\\\n\x00\ud800-\udfff]*+'|"[^"\\\n\x00\ud800-\udfff]*+")"""
_SCALAR = rf"(?:{_TEXT}|{_ATOM})"
_LIST = rf"\[{NEAR_SPACE}(?:{_SCALAR}{NEAR_SPACE}(?:,{NEAR_SPACE}{_SCALAR}{NEAR_SPACE})*+)?+\]"
_ARGUMENT = rf"({PYTHON_NAME.pattern}){NEAR_SPACE}={NEAR_SPACE}({_SCALAR}|{_LIST})"
_EACH = re.compile(_ARGUMENT).findall
_NO_GROUPS = rf"{PYTHON_NAME.pattern}{NEAR_SPACE}={NEAR_SPACE}(?:{_SCALAR}|{_LIST})"
_PLAIN = re.compile(
    rf"\({NEAR_SPACE}(?:{_NO_GROUPS}{NEAR_SPACE}(?:,{NEAR_SPACE}{_NO_GROUPS}{NEAR_SPACE})*+)?+\)"
).match
_ITEMS = re.compile(_SCALAR).findall


def plain_arguments(text: str, at: int) -> tuple[JsonObject, int] | None:
    """The arguments whose parenthesis is at an index, and where they end, if they are plain.

    That is what `PythonReader` would read without a word: named arguments, each once, whose values
    are texts without escapes, short numbers, words, and lists of these. None for anything else.
    """
    found = _PLAIN(text, at)
    if found is None:
        return None
    rows = _EACH(found[0])
    arguments = {name: _plain_value(value) for name, value in rows}
    return (arguments, found.end()) if len(arguments) == len(rows) else None


def _plain_value(written: str) -> JsonValue:
    if written[0] in "'\"":
        return written[1:-1]
    if written[0] == "[":
        return [_plain_value(item) for item in _ITEMS(written)]
    if written in _CONSTANTS:
        return _CONSTANTS[written]
    return float(written) if "." in written else int(written)


_CONSTANTS: dict[str, JsonValue] = {"True": True, "False": False, "None": None}
