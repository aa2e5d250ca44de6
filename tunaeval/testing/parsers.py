"""Checks of the laws for any `Parser`, also for one that is plain code without a grammar."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from tunaeval.grammar.format import Format
from tunaeval.types.calls import ToolCall, Tools, ToolSpec
from tunaeval.types.parsing import LEVELS, ParseResult
from tunaeval.types.roles import Parser

from . import tape as made
from .laws import calm, check_levels, check_names, check_shape, said
from .strategies import calls, prose, taped
from .tape import Tape

Render = Callable[[Sequence[ToolCall]], str]
"""Renders calls as text that the parser reads."""

_TAPE = 128
"""Bytes from which a text is made."""

_THREADS = 8
_TEXTS = 50
"""Each of the threads parses each of these many texts."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """A text, and the tools that are given with it."""

    text: str
    tools: Tools | None


def check_parser(
    parser: Parser | Format, *, examples: Sequence[str] = (), render: Render | None = None
) -> None:
    """Check the laws of every parser; raises AssertionError with the text.

    1. Nothing raises, whatever the text, the tools and the level.
    2. A text always has the same result: the second time, and in several threads at once.
    3. The outcome is "calls" if there are calls. Spans are within the text, those of calls in order
       and without overlaps; a repair is one that the level allows.
    4. Nothing is invented: content and reasoning are characters of the text, in order, that are
       outside of the calls. Prose without any markup is content completely.
    5. What a level accepts without a diagnosis, every higher level accepts with the same result.
    6. If tools are given, no other name is called.
    7. Each of `examples`, texts as models write them for this parser, contains a call; prose around
       it changes none. Hostile texts are made from the examples as well, so give some.
    8. What `render` writes is parsed back, if it is given.

    A `Format` keeps more than these: check it with `check_format`.
    """
    for example in examples:
        assert parser.parse(example).calls, f"the example {example!r} gives no call"
    _any_text(parser, examples)
    _prose(parser, examples)
    _threads(parser, examples)
    if render is not None:
        _rendered(parser, render)


def _any_text(parser: Parser | Format, examples: Sequence[str]) -> None:
    @calm
    @given(asked=_texts(examples))
    def any_text_keeps_the_laws(asked: _Asked) -> None:
        text, where = asked.text, repr(asked.text)
        results = {level: parser.parse(text, tools=asked.tools, level=level) for level in LEVELS}
        for level, result in results.items():
            check_shape(result, level, len(text), f"{where} at {level}")
            check_names(result, asked.tools, where)
            _check_invention(result, text)
            again = parser.parse(text, tools=asked.tools, level=level)
            assert again == result, f"{where} at {level}: first {result}, then {again}"
        check_levels(results, where)

    any_text_keeps_the_laws()


def _prose(parser: Parser | Format, examples: Sequence[str]) -> None:
    @calm
    @given(before=prose(), after=prose(), example=st.sampled_from([*examples, ""]))
    def prose_changes_no_call(before: str, after: str, example: str) -> None:
        text = f"{before}\n{example}\n{after}"
        result, alone = parser.parse(text), parser.parse(example)
        wanted, found = said(alone.calls), said(result.calls)
        assert found == wanted, f"{text!r} is read as {found}, and without prose as {wanted}"
        for words in (before, after):
            assert words in result.content, f"of {text!r} the words {words!r} are lost"

    prose_changes_no_call()


def _threads(parser: Parser | Format, examples: Sequence[str]) -> None:
    """Compare results alone and in threads, on fixed texts: races cannot be shrunk."""
    chance = Random(_THREADS)
    asked = [_made_text(Tape(chance.randbytes(_TAPE)), examples) for _ in range(_TEXTS)] * _THREADS

    def read(one: _Asked) -> ParseResult:
        return parser.parse(one.text, tools=one.tools)

    alone = list(map(read, asked))
    with _switching_often(), ThreadPoolExecutor(_THREADS) as pool:
        together = list(pool.map(read, asked))
    for one, by_itself, among_others in zip(asked, alone, together, strict=True):
        results = f"alone {by_itself}, among threads {among_others}"
        assert by_itself == among_others, f"{one.text!r}: {results}"


def _rendered(parser: Parser | Format, render: Render) -> None:
    @calm
    @given(wanted=calls())
    def rendered_is_read_back(wanted: list[ToolCall]) -> None:
        text = render(wanted)
        found = said(parser.parse(text).calls)
        assert found == said(wanted), f"{text!r} is read as {found}, and says {said(wanted)}"

    rendered_is_read_back()


def _check_invention(result: ParseResult, text: str) -> None:
    ends = [0, *(end for call in result.calls for end in call.span or ()), len(text)]
    outside = "".join(text[start:end] for start, end in zip(ends[::2], ends[1::2], strict=True))
    for kind, words in (("content", result.content), ("reasoning", result.reasoning or "")):
        rest = iter(outside)  # `word not in rest` consumes it up to the first such character
        invented = next((word for word in words if word not in rest), None)
        assert invented is None, f"{text!r}: {kind} {words!r} is not what is there"


def _texts(examples: Sequence[str]) -> st.SearchStrategy[_Asked]:
    return taped(lambda tape: _made_text(tape, examples), _TAPE)


def _made_text(tape: Tape, examples: Sequence[str]) -> _Asked:
    """Make a damaged example, hostile markup or any characters; and tools, or none."""
    kind = tape.below(8)
    if kind < 5 and examples:
        text = made.damage(tape, made.prose(tape) + tape.pick(examples), (), 4)
    else:
        text = made.hostile(tape, 16) if kind < 7 else made.text(tape, 40)
    tools = Tools(ToolSpec(name) for name in tape.row(made.name, 3))
    return _Asked(text, tools if tape.below(3) == 2 else None)


@contextmanager
def _switching_often() -> Iterator[None]:
    """Switch threads a thousand times as often as usual, so that they meet in short texts."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(usual / 1000)
    try:
        yield
    finally:
        sys.setswitchinterval(usual)
