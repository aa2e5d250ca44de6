"""A matcher of GBNF grammars as in llama.cpp: sets of stacks, a character at a time."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property

_TOKEN = re.compile(
    r'\s*(?:(?P<text>"(?:[^"\\]|\\.)*")|(?P<chars>\[(?:[^\]\\]|\\.)*\])|(?P<name>[\w-]+)'
    r"|(?P<sign>[()|*?+])|\{(?P<least>\d+)(?P<comma>,)?(?P<most>\d*)\})"
)
_ESCAPE = re.compile(r"\\(x[0-9a-f]{2}|.)", re.DOTALL)

Symbol = str | re.Pattern[str]
"""The name of a rule, or what one character has to match."""
Stack = tuple[Symbol, ...]


class Gbnf:
    """A grammar; `accepts` says whether it has a text, and `prefix` how much of it."""

    def __init__(self, text: str) -> None:
        self.rules: dict[str, list[Stack]] = {}
        for line in text.removesuffix("\n").split("\n"):
            name, _, body = line.partition(" ::= ")
            self._tokens, self._at = list(_TOKEN.finditer(body)), 0
            assert "".join(token[0] for token in self._tokens) == body.rstrip(), line
            self.rules[name] = self._options()
            assert self._at == len(self._tokens), line

    def accepts(self, text: str) -> bool:
        stacks = self.start
        for char in text:
            stacks = self._advanced(stacks, char)
        return () in stacks

    @cached_property
    def start(self) -> frozenset[Stack]:
        return self._opened([("root",)])

    def _advanced(self, stacks: frozenset[Stack], char: str) -> frozenset[Stack]:
        return self._opened(
            stack[1:]
            for stack in stacks
            if stack and isinstance(stack[0], re.Pattern) and stack[0].fullmatch(char)
        )

    def _opened(self, stacks: Iterable[Stack]) -> frozenset[Stack]:
        """Return the stacks with rules replaced by their options until a character is first."""
        waiting, seen = list(stacks), set()
        while waiting:
            stack = waiting.pop()
            if stack in seen:
                continue
            seen.add(stack)
            if stack and isinstance(stack[0], str):
                waiting += [(*option, *stack[1:]) for option in self.rules[stack[0]]]
        return frozenset(s for s in seen if not s or isinstance(s[0], re.Pattern))

    def _options(self) -> list[Stack]:
        options: list[list[Symbol]] = [[]]
        while self._at < len(self._tokens):
            token = self._tokens[self._at]
            if token["sign"] == ")":
                break
            self._at += 1
            if token["sign"] == "|":
                options.append([])
            elif token["sign"] == "(":
                options[-1].append(self._new(self._options()))
                self._at += 1
            elif token["sign"] or token["least"]:
                options[-1].append(self._repeated(options[-1].pop(), token))
            elif token["text"]:
                inside = _ESCAPE.sub(_unescaped, token["text"][1:-1])
                exact: Stack = tuple(re.compile(re.escape(char)) for char in inside)
                options[-1].append(self._new([exact]))
            else:
                options[-1].append(re.compile(token["chars"]) if token["chars"] else token["name"])
        return [tuple(option) for option in options]

    def _new(self, options: list[Stack]) -> str:
        name = f"_{len(self.rules)}"
        self.rules[name] = options
        return name

    def _repeated(self, one: Symbol, token: re.Match[str]) -> str:
        least, most = {"*": (0, None), "+": (1, None), "?": (0, 1)}.get(token["sign"], (None, None))
        if least is None:
            least = int(token["least"])
            most = (int(token["most"]) if token["most"] else None) if token["comma"] else least
        rest = self._new([()])
        if most is None:
            self.rules[rest] = [(), (one, rest)]
        else:
            for _ in range(most - least):
                rest = self._new([(), (one, rest)])
        return self._new([(*[one] * least, rest)])


def _unescaped(found: re.Match[str]) -> str:
    sign = found[1]
    if sign[0] == "x" and len(sign) == 3:
        return chr(int(sign[1:], 16))
    return {"n": "\n", "r": "\r", "t": "\t"}.get(sign, sign)
