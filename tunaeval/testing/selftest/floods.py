"""Floods: texts that make a careless reader slow, one short piece repeated after a beginning.

JSON readers and tool-call patterns in use are known to be quadratic on the general ones. Each
format adds floods of its own fixed texts, and beginnings that end in the middle of a call.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

from tunaeval.grammar.format import Format
from tunaeval.parsing.api import render
from tunaeval.types.calls import ToolCall

from .texts import fixed_texts

FLOODS = (
    "{", "[", "(", "}", "]", "{[", "[{", '{"', '{"a":', "{a:", '{"a":[', '"', "'", "“", '"a" ',
    '"k",', '"k": 1,', '"k": "v" ', '{"a": 1},', "it's ", "\\", '\\"', "\\u", "\\\\u0", ",", ":",
    "}]", "/*", "*/", "//", "# ", " ", "\n", " \n", "\t", "1", "-", "1e", "NaN,", "a", "a,", "é",
    "\x00", "<", "</", "<a>", "`", "```", "\n```json\n{", "...", "=", "a=", "f(", "f(a=", ")A(A=,",
    "the {word} and 'so' on, ", '{"name": "f"} ', '{"name": "f", "arguments": {',
    '{"name": "f", "arguments": {}}', "<think>", "\n<think>", "</think>", "a <think>b</think> ",
    "<tool_call>", "</tool_call>", "<tool_call>{}</tool_call>", "to=functions.f ", "functools[",
    "[f(a=1), ", "f(a=1)\n", "f(a=1); ", "['f(a=1)', ", "f\\_g(", 'f\n{"a": 1}\n', "User: ", ">>>",
)  # fmt: skip
"""Openers, closers, quotes, escapes, comments, numbers, white space, near-markers, small calls."""

_COMBINED = 240
"""The number of combinations of each of the two kinds."""

_PLACE = "PLACE"
_CALL = ToolCall("bash", {"command": _PLACE})


@dataclass(frozen=True, slots=True)
class Flood:
    """A family of texts: `start`, followed by `piece` many times."""

    start: str
    piece: str

    @property
    def name(self) -> str:
        behind = f" behind {self.start!r}" if self.start else ""
        return f"{self.piece!r}{behind}"

    def text(self, size: int) -> str:
        """Return the member with about `size` characters."""
        return self.start + self.piece * max(1, (size - len(self.start)) // len(self.piece))


def floods_of(forms: tuple[Format, ...]) -> tuple[Flood, ...]:
    """Return the floods for a reader of these formats, each once."""
    found = [Flood("", piece) for piece in FLOODS]
    for form in forms:
        found += _own(form)
    return tuple(dict.fromkeys(found))


def combinations_of(forms: tuple[Format, ...], seed: int) -> tuple[Flood, ...]:
    """Return random floods of two pieces side by side, and of one piece after another."""
    chance = random.Random(seed)
    pieces = list(dict.fromkeys([*FLOODS, *(text for form in forms for text in fixed_texts(form))]))
    pairs = [(chance.choice(pieces), chance.choice(pieces)) for _ in range(2 * _COMBINED)]
    side_by_side = [Flood("", first + second) for first, second in pairs[:_COMBINED]]
    behind = [Flood(first, second) for first, second in pairs[_COMBINED:]]
    return tuple(dict.fromkeys((*side_by_side, *behind)))


def _own(form: Format) -> Iterator[Flood]:
    """Yield floods in the middle of a call, of fixed texts, and of whole and cut calls."""
    whole = render([_CALL], form)
    inside = whole.partition(_PLACE)[0]
    for piece in (*FLOODS, *fixed_texts(form)):
        yield Flood(inside, piece)
    for text in fixed_texts(form):
        yield from (Flood("", text), Flood("", f"{text}\n"), Flood("", f"{text}{{"))
        yield Flood("", text[:-1] or text)
    for piece in (whole, whole + form.separator, inside, whole[:-1]):
        yield Flood("", piece)
    for start in {whole.find(text) + len(text) for text in fixed_texts(form) if text in whole}:
        yield from (Flood(whole[:start], piece) for piece in (whole[:start], " ", "a", "<"))
