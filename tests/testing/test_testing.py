"""What is offered to authors: right parsers keep the laws, and each way to be wrong is found."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import TypeAlias

import pytest
from hypothesis import HealthCheck, given, settings

from tunaeval.errors import PluginError
from tunaeval.grammar.format import Format
from tunaeval.grammar.formats import HERMES
from tunaeval.parsing.api import render
from tunaeval.parsing.reader import reader_of
from tunaeval.parsing.sets import qwen25
from tunaeval.testing.laws import LAWS_OF_CALLS, check_format, check_laws, check_parser, check_text
from tunaeval.testing.strategies import calls, chunkings, damaged, fragments
from tunaeval.types.calls import Repair, Span, ToolCall, Tools
from tunaeval.types.parsing import Level, ParseResult

EXAMPLES = (
    '<tool_call>\n{"name": "bash", "arguments": {"command": "ls"}}\n</tool_call>',
    '<think>a</think><tool_call>{"name": "f", "arguments": {}}</tool_call> b',
)

_HERMES = reader_of(HERMES)

Bend: TypeAlias = Callable[[ParseResult, str, Tools | None, Level], ParseResult]


@dataclass
class Bent:
    """Reads as hermes does, and then does something wrong."""

    bend: Bend
    name: str = "bent"

    def parse(
        self, text: str, *, tools: Tools | None = None, level: Level = "standard"
    ) -> ParseResult:
        return self.bend(_HERMES.parse(text, tools=tools, level=level), text, tools, level)


class Forgetful:
    """Keeps what it has read so far where every thread writes."""

    name = "forgetful"

    def parse(
        self, text: str, *, tools: Tools | None = None, level: Level = "standard"
    ) -> ParseResult:
        self.text = text
        result = _HERMES.parse(text, tools=tools, level=level)
        return result if self.text is text else ParseResult(content=text)


def fragile(result: ParseResult, text: str, *_: object) -> ParseResult:
    if "\\" in text:
        raise ValueError("a backslash")
    return result


def elsewhere(result: ParseResult, text: str, *_: object) -> ParseResult:
    moved = Span(len(text), len(text) + 1)
    return replace(result, calls=tuple(replace(call, span=moved) for call in result.calls))


def test_without_hypothesis_it_says_what_to_install() -> None:
    code = "import sys; sys.modules['hypothesis'] = None; from tunaeval.testing import calls"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    last = done.stderr.rstrip().splitlines()[-1]
    assert last == (
        "ModuleNotFoundError: tunaeval.testing needs hypothesis; run pip install hypothesis"
    )


def test_the_plug_in_and_the_self_test_do_without_hypothesis() -> None:
    inner = "import tunaeval.testing.pytest_plugin, tunaeval.testing.selftest"
    code = f"import sys; sys.modules['hypothesis'] = None; {inner}"
    subprocess.run([sys.executable, "-c", code], check=True)


def repaired(result: ParseResult, *_: object) -> ParseResult:
    repair = (Repair("guess", "made up", level="lenient"),)
    return replace(result, calls=tuple(replace(call, repairs=repair) for call in result.calls))


def hasty(result: ParseResult, text: str, *_: object) -> ParseResult:
    return result if text[:1] in "<\n" else ParseResult(content=text)


_TICKS = count()

WRONG: dict[str, tuple[Bend, str]] = {
    "raises": (fragile, "a backslash"),
    "is of two minds": (
        lambda result, *_: replace(result, truncated=next(_TICKS) % 2 == 0),
        "first .* then",
    ),
    "tells another outcome": (lambda result, *_: replace(result, outcome="no_call"), "outcome"),
    "places calls elsewhere": (elsewhere, "leaves the text"),
    "repairs what it may not": (repaired, "repaired by"),
    "invents words": (
        lambda result, *_: replace(result, content=f"{result.content}\x02"),
        "is not what is there",
    ),
    "repeats a call as content": (
        lambda result, text, *_: replace(result, content=text),
        "is not what is there",
    ),
    "loses prose": (lambda result, *_: replace(result, content=""), "are lost"),
    "knows less when it may do more": (
        lambda result, text, _, level: ParseResult(content=text) if level == "lenient" else result,
        "strict says|standard says",
    ),
    "calls what is no tool": (
        lambda _, text, __, level: _HERMES.parse(text, level=level),
        "which are none of",
    ),
    "gives up where prose stands before": (hasty, "without prose as"),
}


@pytest.mark.parametrize(("bend", "said"), WRONG.values(), ids=WRONG)
def test_a_parser_that_breaks_a_law_is_refused(bend: Bend, said: str) -> None:
    with pytest.raises((AssertionError, PluginError), match=said):
        check_parser(Bent(bend), examples=EXAMPLES)


def test_a_parser_that_mixes_up_its_threads_is_refused() -> None:
    usual = sys.getswitchinterval()
    with pytest.raises(AssertionError, match="among threads"):
        check_parser(Forgetful(), examples=EXAMPLES)
    assert sys.getswitchinterval() == usual


def test_an_example_without_a_call_is_refused() -> None:
    with pytest.raises(AssertionError, match="'no call' gives no call"):
        check_parser(qwen25, examples=["no call"])


def test_what_is_not_read_back_is_refused() -> None:
    def careless(made: Sequence[ToolCall]) -> str:
        return render(made[:1])

    with pytest.raises(AssertionError, match="is read as"):
        check_parser(HERMES, render=careless)


def test_a_right_parser_keeps_the_laws() -> None:
    check_parser(HERMES, examples=EXAMPLES, render=render)
    check_parser(qwen25, examples=EXAMPLES)


NARROW = {
    "keys": "<a>⟨name⟩|⟨each⟩[⟨key pattern=[a-z0-9]{1,30}⟩=⟨value⟩]⟨/each⟩</a>",
    "names": "<a>⟨name pattern=[a-z]{1,30}⟩|⟨arguments⟩</a>",
    "keys-of-digits": "<a>⟨name⟩|⟨each⟩[⟨key pattern=[0-9]{1,3}⟩=⟨value⟩]⟨/each⟩</a>",
    "blanks": "(call ⟨name⟩ ⟨each⟩(⟨key pattern=[a-z_]{1,30}⟩ ⟨value⟩)⟨/each⟩)",
}


@pytest.mark.parametrize("name", NARROW)
def test_a_format_need_not_express_every_call(name: str) -> None:
    """What `render` refuses breaks no law."""
    check_format(Format.of(name, NARROW[name]))


def test_a_format_that_expresses_no_argument_breaks_the_laws() -> None:
    swallowing = NARROW["keys"].replace("[a-z0-9]", "[a-z=]")
    nothing = Format.of("nothing", swallowing, checked=False)
    with pytest.raises(AssertionError, match="no call with arguments was written"):
        check_laws(LAWS_OF_CALLS, nothing)


def test_one_text_can_be_checked_alone() -> None:
    check_text(EXAMPLES[0], HERMES)
    check_text(EXAMPLES[1], qwen25, chunks=[EXAMPLES[1][:9], EXAMPLES[1][9:]])
    with pytest.raises(AssertionError, match="and whole ParseResult"):
        check_text("abcd", HERMES, chunks=["abc"])


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(made=calls(0, 2), text=damaged(HERMES) | fragments())
def test_strategies_make_what_they_say(made: list[ToolCall], text: str) -> None:
    assert len(made) <= 2
    assert isinstance(text, str)


@given(chunks=chunkings("<tool_call>é\ud800"))
def test_a_text_that_was_cut_is_whole_again(chunks: list[str]) -> None:
    assert "".join(chunks) == "<tool_call>é\ud800"
