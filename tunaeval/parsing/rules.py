"""The rules of a grammar, in the notation that GBNF and Lark have in common, and as text of both.

An expression is texts in quotes, classes of characters in brackets, names of rules, and | ( ) * ?
{}. GBNF and Lark differ in how text up to a marker is written.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from tunaeval.errors import UsageError
from tunaeval.types.calls import JsonObject

_TERMINALS = {
    "INTEGER": '"-"? ("0" | [1-9] [0-9]{0,17})',
    "NUMBER": 'INTEGER ("." [0-9]{1,17})? | "-"? [1-9] ("." [0-9]{1,17})? [eE] [+-]? [0-9]{1,2}',
    "CHARACTER": r'[^"\\\x00-\x1f\x7f] | "\\" (["\\bfnrt] | "u00" ("0" [1-9a-f] | "1" [0-9a-f]))',
    "STRING": r'"\"" CHARACTER* "\""',
    "PYTHON-ESCAPE": r'"\\" ([\\nrt] | "x" ("0" [1-9a-f] | [1-9a-f] [0-9a-f]) | "u" [1-9a-c] '
    r'[0-9a-f]{3} | "u0" [1-9a-f] [0-9a-f]{2})',
    "PYTHON-STRING": r""""'" ([^'\\\x00-\x1f\x7f] | PYTHON-ESCAPE | "\\'")* "'" | """
    r'''"\"" ([^"\\\x00-\x1f\x7f] | PYTHON-ESCAPE | "\\\"")* "\""''',
}
"""The rules that all grammars share; NUL and lone surrogates, which are diagnosed, are left out."""


class Rules:
    """The rules of a grammar, by name, as they are made; `lark` and `gbnf` write them."""

    def __init__(self) -> None:
        self.rules: dict[str, str] = {}
        self.names: dict[Any, str] = {}
        """The names of rules by what they are of."""
        self._lazy: dict[str, tuple[str, tuple[str, ...]]] = {}
        """Rules of text up to and with a marker, and the texts that it does not contain."""
        self._terminals: dict[str, str] = {}
        """Terminals of Lark, for strings with a pattern."""

    def named(self, of: object) -> str:
        """Return the name of what is made of `of`, the same for equal ones."""
        return self.names.setdefault(of, f"r{len(self.names)}")

    def rule(self, expression: str) -> str:
        """Return the name of a rule with this expression, which is shared by equal ones."""
        name = self.named(expression)
        self.rules[name] = expression
        return name

    def until(self, end: str, without: tuple[str, ...]) -> str:
        """Return a rule of text that ends with the first `end`, and has no text of `without`."""
        name = self.named(("until", end, without))
        self._lazy[name] = end, tuple(dict.fromkeys(filter(None, without)))
        return name

    def terminal(self, expression: str) -> str:
        """Return the name of a terminal of Lark, whose expression may join patterns by &."""
        name = self.named(("terminal", expression)).upper()
        self._terminals[name] = expression
        return name

    def lark(self, root: str) -> str:
        """Return the grammar for llguidance. Its lexer is greedy, so text up to a marker is one
        lexeme that is lazy.
        """
        lines = ["%llguidance {}", f"start: {_with_patterns(root)}"]
        lines += [f"{name}: {_with_patterns(rule)}" for name, rule in self.rules.items()]
        for name, (end, without) in self._lazy.items():
            free, lexeme = "/(?s:.*)/", f"U-{name.upper()}"
            if without:
                texts = "|".join(map(_escaped, without))
                free = f"({free} & ~/(?s:.*)({texts})(?s:.*)/)"
            lines.append(f"{lexeme}: {free} {quote(end) if end else ''}")
            lines.append(f"{name}{'[lazy]' if end else ''}: {lexeme}")
        lines += [f"{name}: {rule}" for name, rule in self._terminals.items()]
        lines += [f"{name}: {_with_patterns(rule)}" for name, rule in _TERMINALS.items()]
        return "\n".join(lines) + "\n"

    def gbnf(self, root: str) -> str:
        """Return the grammar for llama.cpp, where text up to a marker is an automaton of rules."""
        lines = [f"root ::= {root}"]
        lines += [f"{name} ::= {rule}" for name, rule in self.rules.items()]
        for name, (end, without) in self._lazy.items():
            lines += _automaton(name, end, without)
        lines += [f"{name} ::= {rule}" for name, rule in _TERMINALS.items()]
        return "\n".join(lines) + "\n"


def either(options: Iterable[str]) -> str:
    """Return the expression of one of the options; without a second one, the option itself."""
    found = [*dict.fromkeys(options)]
    return found[0] if len(found) == 1 else f"({' | '.join(found)})"


_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"})


_UNQUOTED = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


@lru_cache(maxsize=1024)
def quote(text: str) -> str:
    """Return the text in quotes, with the escapes that all kinds have.

    Raises `UsageError` for a character that no kind can quote.
    """
    if found := _UNQUOTED.search(text):
        raise UsageError(
            f"{text!r:.80} has the character {found[0]!r}, which no grammar can quote; leave it "
            "out of the tools' names and choices"
        )
    return f'"{text.translate(_ESCAPES)}"'


_LARGEST = 10**18 - 1
"""The largest whole number: `INTEGER` has 18 digits."""


def whole_numbers(schema: JsonObject) -> str:
    """Return the expression of the whole numbers within a schema's bounds; empty if none is."""

    def bound(word: str, other: int) -> float:
        given: float = schema.get(word, other)
        return min(max(given, -10 * _LARGEST), 10 * _LARGEST)

    least, above = bound("minimum", -_LARGEST), bound("exclusiveMinimum", -_LARGEST - 1)
    most, below = bound("maximum", _LARGEST), bound("exclusiveMaximum", _LARGEST + 1)
    return _within(
        max(math.ceil(least), math.floor(above) + 1), min(math.floor(most), math.ceil(below) - 1)
    )


@lru_cache(maxsize=256)
def _within(least: int, most: int) -> str:
    if least <= -_LARGEST and most >= _LARGEST:
        return "INTEGER"
    options = _digits(max(least, 0), most)
    if below_zero := _digits(max(-most, 1), -least):
        options.append(f'"-" {either(below_zero)}')
    return either(options) if options else ""


def _digits(low: int, high: int) -> list[str]:
    """Return the expressions of whole numbers from `low` to `high`, one for each length; without
    an upper bound, one for all that are longer than `low`.
    """
    longest = len(str(low if high >= _LARGEST else high))
    made = []
    for length in range(len(str(low)), min(longest, 18) + 1):
        least = max(low, 10 ** (length - 1) if length > 1 else 0)
        most = min(high, 10**length - 1)
        if least <= most:
            made.append(_between(str(least), str(most)))
    if high >= _LARGEST and longest < 18:
        made.append(f"[1-9] [0-9]{{{longest},17}}")
    return made


def _between(low: str, high: str) -> str:
    """Return the expression of the numbers between two of the same length."""
    size = len(low) - 1
    tail = f" [0-9]{{{size}}}" if size else ""
    if set(low[1:]) <= {"0"} and set(high[1:]) <= {"9"}:
        return f"[{low[0]}-{high[0]}]{tail}"
    if low[0] == high[0]:
        return f'"{low[0]}" {_between(low[1:], high[1:])}'
    first, last = int(low[0]) + 1, int(high[0]) - 1
    options = [f'"{low[0]}" {_between(low[1:], "9" * size)}']
    options += [f"[{first}-{last}]{tail}"] if first <= last else []
    options += [f'"{high[0]}" {_between("0" * size, high[1:])}']
    return either(options)


def _escaped(text: str) -> str:
    """Return a regular expression, for between slashes, that matches the text."""
    return re.sub(r"[/]", r"\\/", re.escape(text).replace("\n", "n").replace("\\ ", " "))


_TOKENS = re.compile(r'"(?:[^"\\]|\\.)*+"|\[(?!\d{1,2}:)(?:[^\]\\]|\\.)*+\]')


def _with_patterns(rule: str) -> str:
    """Return the rule with classes of characters as regular expressions."""
    return _TOKENS.sub(
        lambda m: m[0] if m[0][0] == '"' else f"/{m[0].replace('/', chr(92) + '/')}/", rule
    )


def _automaton(name: str, end: str, without: tuple[str, ...]) -> list[str]:
    """Return rules of the text up to the first `end`, with no text of `without` before it.

    A state is the longest end of the text that a marker begins with (Aho and Corasick).
    """
    marks = (end, *without) if end else without
    after: dict[str, dict[str, str]] = {"": {mark[0]: mark[0] for mark in marks}}
    """The states after a state, by the next character."""
    ends = dict.fromkeys(after[""], "")

    def known(state: str) -> dict[str, str]:
        """Return what is after a state, or after its longest end that is not a whole marker."""
        while state not in after:
            state = ends[state]
        return after[state]

    beginnings = {mark[:at] for mark in marks for at in range(2, len(mark) + 1)}
    for state in sorted(beginnings, key=lambda state: (len(state), state)):
        before = known(ends[state[:-1]])
        ends[state] = before.get(state[-1], "")
        after.setdefault(state[:-1], dict(before))[state[-1]] = state
    names, lines = {"": name}, []
    for state in (waiting := [""]):
        others = "".join(map(_in_class, known(state)))
        options = [f"[^{others}] {name}" if others else f"[^\\x00] {name}"]
        for char, follows in known(state).items():
            if end and follows.endswith(end):
                options.append(quote(char))
            elif follows.endswith(without):
                # The marker is inside of the end, which has to go on then.
                if end.startswith(follows):
                    options.append(quote(char + end[len(follows) :]))
            else:
                if follows not in names:
                    names[follows] = f"{name}-{len(names)}"
                    waiting.append(follows)
                options.append(f"{quote(char)} {names[follows]}")
        lines.append(f"{names[state]} ::= {' | '.join(options if end else [*options, quote('')])}")
    return lines


def _in_class(char: str) -> str:
    return {"\n": "\\n", "\r": "\\r", "\t": "\\t"}.get(
        char, f"\\{char}" if char in "\\]^[-" else char
    )
