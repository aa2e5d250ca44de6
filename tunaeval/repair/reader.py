"""A value that is nearly right, read once: one object or array, with every repair named.

`Reader` reads from a window, so it works while the text grows. It writes what it understood as
pieces of sound JSON and lets the decoder make the value of them; there is no second builder of
values. Where it has to decide, it decides from the next few characters only, and never again.
There is no recursion, and nothing is ever evaluated.

It is a machine of steps. A step passes over what it has understood and returns the next step, or
None to wait for more text; it is then taken again, from the window's position. Whole members are
taken at once by patterns (`members`), which only say sooner what the steps would say. What differs
from one notation to another is said by its `Dialect`.

Repairs of level "standard" change no value; those of level "lenient" lose or guess (see `REPAIRS`).
"""

from __future__ import annotations

import re
from collections.abc import Callable

from tunaeval.limits import ARITHMETIC_AHEAD, EXACT_DIGITS, MAX_DEPTH

from .atoms import longest, refused_value
from .dialect import Atom
from .machine import Machine, Step
from .members import (
    ELEMENTS,
    ELEMENTS_END,
    END,
    KEY,
    MORE,
    OPENER,
    SOUND,
    Match,
    Members,
    repaired_key,
    repaired_value,
)
from .repairs import CLOSED, OPENED, UnreadableError
from .strings import StringReader, Style


class Reader(Machine):
    """Reads the value at the window's position; see `Machine`."""

    # --- values ------------------------------------------------------------------------------

    def _start(self) -> Step | None:
        window = self._window
        if window.text.startswith("{", window.pos):
            return self._open("{", window.pos)
        return self._begin(self._next(), "value")

    def _value(self) -> Step | None:
        """A value is due after a key and its sign."""
        return self._begin(self._next(), "value")

    def _begin(self, char: str, role: str) -> Step | None:
        """The value that begins with `char`."""
        if not char:
            return None
        dialect = self._dialect
        if char in dialect.brackets:
            self.draft.begin_value()
            return self._open(dialect.brackets[char], self._window.pos)
        if char in dialect.styles:
            return self._string(char, role)
        number = char in dialect.numbers or char.isdigit()
        return self._atom(dialect.number if number else dialect.word)

    def _string(self, char: str, role: str) -> Step | None:
        if (style := self._style(char)) is None:
            return None
        self.draft.begin_value()
        return self._inside(style, role, self.draft.pieces, self._behind_string)

    def _style(self, char: str) -> Style | None:
        """How the string that begins with `char` is written; None to wait."""
        return self._dialect.styles[char]

    def _inside(self, style: Style, role: str, out: list[str], then: Step) -> Step:
        """Read a string into `out`."""
        out.append('"')
        stops = self._string_stops
        string = StringReader(self._window, self.draft, out, style, role=role, stops=stops)

        def read_on() -> Step | None:
            ended = string.advance()
            self.string = None if ended else string
            return then if ended else None

        return read_on

    def _behind_string(self) -> Step | None:
        return self._after()

    def _atom(self, read: Atom) -> Step | None:
        draft = self.draft
        if (atom := read(self._window, draft, self._stops)) is None:
            return None
        self._exact = self._exact and len(atom) <= EXACT_DIGITS
        draft.begin_value()
        draft.pieces.append(atom)
        return self._after

    def _open(self, kind: str, at: int) -> Step:
        """The bracket in the window at `at`, whose value was begun."""
        draft = self.draft
        if len(draft.open) >= MAX_DEPTH:
            self._window.pos = at
            raise UnreadableError("too-deep", f"nested deeper than {MAX_DEPTH}")
        self._window.pos = at + 1
        draft.pieces.append(OPENED[kind])
        draft.open.append(kind)
        return self._key if kind in self._members_of else self._element

    def _close(self, char: str, otherwise: Step) -> Step:
        """Pass over a closer; `otherwise` is what is due when it closes nothing."""
        closed = self.draft.close(char)
        self._window.pos += 1
        return self._after if closed else otherwise

    def _after(self) -> Step | None:
        """After a value."""
        opened = self.draft.open
        if not opened:
            self.whole = True
            return None
        if patterns := self._members_of.get(opened[-1]):
            return self._members(patterns, patterns.behind)
        ahead = opened[-1] == "[" and self._elements(self._dialect.elements.behind, ",")
        return self._after if ahead else self._odd_after

    # --- objects and arrays as they are usually written --------------------------------------

    def _key(self) -> Step:
        patterns = self._members_of[self.draft.open[-1]]
        return self._members(patterns, patterns.first)

    def _members(self, patterns: Members, match: Match) -> Step:
        """Members of an object and what opens and closes it, as long as they are ordinary."""
        window, draft, patterns_of = self._window, self.draft, self._members_of
        text, at, pieces, opened = window.text, window.pos, draft.pieces, draft.open
        comma = "" if match is patterns.first and draft.comma is None else ","
        scalar = self._dialect.scalar
        while found := match(text, at):
            kind, at = found.lastindex, found.end()
            if kind == END:
                if not self._ended(found):
                    break
                if not opened or opened[-1] not in patterns_of:
                    return self._after
                patterns = patterns_of[opened[-1]]
            else:
                key, value, sound = found.group(KEY, kind or END, SOUND)
                if key is None:
                    key = repaired_key(found, patterns.repairs, draft, window.base)
                pieces.append(f'{comma}"{key}":')
                draft.comma = None
                if kind == OPENER:
                    step = self._open(self._dialect.brackets[value], at - 1)
                    if opened[-1] not in patterns_of:
                        return step
                    patterns, comma, at = patterns_of[opened[-1]], "", window.pos
                    match = patterns.first
                    continue
                if kind == MORE:
                    pieces.append(sound if scalar is None else scalar(sound))
                    if value:
                        self._more(patterns.each(value), scalar)
                else:
                    pieces.append(repaired_value(found, patterns.repairs, draft, window.base))
            window.pos = at
            match, comma = patterns.behind, ","
        return self._odd_key if match is patterns.first else self._odd_after

    def _more(self, members: list[tuple[str, str]], scalar: Callable[[str], str] | None) -> None:
        """More sound members, each behind a comma."""
        pieces = self.draft.pieces
        for key, value in members:
            pieces.append(f',"{key}":')
            pieces.append(value if scalar is None else scalar(value))

    def _ended(self, found: re.Match[str]) -> bool:
        """Pass over the closer of an object, unless a stop could begin like it."""
        draft, opened, ends = self.draft, self.draft.open, found[END]
        if ends[-1] in self._stop_starts:
            return False
        if draft.comma is None and len(ends) == 1:
            draft.pieces.append(CLOSED[opened.pop()])
        else:
            if ends[0] == ",":
                draft.comma = self._window.base + found.start(END)
            draft.close(ends[-1])
        self._window.pos = found.end()
        return True

    def _element(self) -> Step | None:
        """A value is due in an array."""
        ahead = self.draft.open[-1] != "(" and self._elements(self._dialect.elements.first, "")
        return self._after if ahead else self._odd_element()

    def _elements(self, match: Match, comma: str) -> bool:
        """Elements of an array and its end, behind a comma; false if anything is odd here."""
        window, draft = self._window, self.draft
        found = match(window.text, window.pos)
        if not found or not (kind := found.lastindex):
            return False
        ends = kind == ELEMENTS_END and draft.open[-1] == "[" and "]" not in self._stop_starts
        if (elements := found[ELEMENTS]) is not None:
            if comma:
                draft.pieces.append(comma)
            else:
                draft.begin_value()
            scalar, sound = self._dialect.scalar, self._dialect.elements.each(elements)
            draft.pieces.append(",".join(sound if scalar is None else map(scalar, sound)))
        elif not ends:
            return False
        window.pos = found.end(kind if ends else ELEMENTS)
        if ends and draft.comma is None:
            draft.pieces.append(CLOSED[draft.open.pop()])
        elif ends:
            draft.close("]")
        return True

    # --- and as they are not -----------------------------------------------------------------

    def _odd_element(self) -> Step | None:
        char = self._next()
        if char and char in self._dialect.closers:
            return self._close(char, self._element)
        if char == "," and self.draft.comma is not None:
            return self._extra_comma(self._element)
        return self._begin(char, "element")

    def _odd_key(self) -> Step | None:
        char = self._next()
        if not char:
            return None
        if char in self._dialect.closers:
            return self._close(char, self._key)
        if char == "," and self.draft.comma is not None:
            return self._extra_comma(self._key)
        return self._name(char)

    def _extra_comma(self, step: Step) -> Step:
        self.draft.repair("extra-comma")
        self._window.pos += 1
        return step

    def _name(self, char: str) -> Step | None:
        """A key, which begins with `char`."""
        self._bare_key = char not in self._dialect.styles
        if self._bare_key:
            word = longest(self._window, self._dialect.bare_key)
            return None if word is None else self._bare(word, char)
        pieces: list[str] = []
        if (style := self._style(char)) is None:
            return None
        return self._inside(style, "key", pieces, lambda: self._hold_key("".join(pieces)))

    def _bare(self, word: str, char: str) -> Step | None:
        """A key without quotes."""
        if not word:
            raise UnreadableError("invalid-json", f"{char!r} where a key was expected")
        if self._dialect.bare_key_repair:
            self.draft.repair(self._dialect.bare_key_repair)
        self._window.pos += len(word)
        return self._hold_key(f'"{word}"')

    def _hold_key(self, key: str) -> Step:
        self.draft.hold_key(key)
        return self._sign

    def _sign(self) -> Step | None:
        """What is between a key and its value."""
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
        elif dialect.signs_may_lack and not self._bare_key and self._begins_value(char):
            self.draft.repair("missing-colon")
        else:
            raise UnreadableError("invalid-json", f"{char!r} where a colon was expected")
        return self._value

    def _begins_value(self, char: str) -> bool:
        return char in self._dialect.styles or char in "{[-" or char.isalnum()

    def _odd_after(self) -> Step | None:
        """After a value: a comma, a closer, or what should come behind a comma."""
        draft, at, kind = self.draft, self._window.offset, self.draft.open[-1]
        char = self._next()
        if not char:
            return None
        if char in self._dialect.closers:
            return self._close(char, self._after)
        if char == ",":
            at = self._window.offset
            self._window.pos += 1
            if kind == "(":
                draft.open[-1] = "(,"
        elif (repair := self._lost_comma(char)) is None:
            return None
        elif repair:
            draft.repair(repair)
        else:
            self._refuse_after(char)
            return None
        draft.comma = at
        return self._key if kind in self._members_of else self._element

    def _refuse_after(self, char: str) -> None:
        """Refuse what is behind a value; wait if more text could tell that it computes one."""
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
        """The repair if the next member begins here, without its comma; None to wait."""
        opens = char in "{["
        if self.draft.open[-1] not in self._members_of:
            quoted = char in self._dialect.styles
            return "missing-comma" if opens else "guessed-comma" if quoted else ""
        if not (char in self._dialect.styles or char.isalpha() or char == "_"):
            return ""
        return "guessed-comma" if self.draft.comma_is_elsewhere() else "missing-comma"
