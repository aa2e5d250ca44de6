"""Calls in reasoning that is never closed: read where nothing else follows, whole and streamed."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.formats.reading import read
from tests.parsing.samples import LS, TOOLS, codes, said, tagged
from tests.parsing.test_law_growth import STREAMED, WHOLE, assert_linear, streamed, whole
from tunaeval import parse, parse_levels, stream
from tunaeval.grammar.formats import FORMATS
from tunaeval.parsing.reader import reader_of
from tunaeval.parsing.sets import auto
from tunaeval.testing.laws import check_text
from tunaeval.types.parsing import LEVELS, Level

_KIMI = (
    "<|tool_calls_section_begin|><|tool_call_begin|>functions.bash:0<|tool_call_argument_begin|>"
    '{"command": "ls"}<|tool_call_end|><|tool_calls_section_end|>'
)
_QWEN3 = (
    "<tool_call>\n<function=bash>\n<parameter=command>\nls\n</parameter>\n</function>\n</tool_call>"
)
_GLM = "<tool_call>bash\n<arg_key>command</arg_key>\n<arg_value>ls</arg_value>\n</tool_call>"
CALLED = [("bash", {"command": "ls"})]

CALLS = {"kimi-k2": _KIMI, "hermes": tagged(LS), "qwen3-coder": _QWEN3, "glm45": _GLM}


@pytest.mark.parametrize(("name", "call"), CALLS.items(), ids=CALLS)
@pytest.mark.parametrize("thought", ["", "I need ", "so:\n", "a <tool_call> b\n"])
def test_a_call_that_nothing_follows_is_read(name: str, call: str, thought: str) -> None:
    for format_ in (name, "auto"):
        for level in LEVELS[1:]:
            result = read(f"<think>{thought}{call}\n", format_, TOOLS, level)
            assert said(result) == CALLED
            assert [repair.code for repair in result.calls[0].repairs] == ["unclosed-reasoning"]
            assert (result.reasoning, result.content) == (thought, "")
            assert (codes(result), result.truncated) == ([], False)
        strict = read(f"<think>{thought}{call}\n", format_, TOOLS, "strict")
        assert (strict.outcome, codes(strict)) == ("no_call", ["unclosed-reasoning"])


def test_the_repair_is_where_the_reasoning_was_opened() -> None:
    text = f"Well.\n<think>I need {tagged(LS)}"
    (repair,) = read(text, "hermes", TOOLS).calls[0].repairs
    assert repair.span is not None
    assert text[repair.span.start : repair.span.end] == "<think>"


def test_all_of_several_calls_are_read() -> None:
    result = read(f"<think>both{_KIMI}\n{_KIMI}", "kimi-k2", TOOLS)
    assert said(result) == CALLED * 2


@pytest.mark.parametrize(
    "text",
    [
        f"<think>I could {tagged(LS)} but",
        f"<think>I could {tagged(LS)}</think>",
        f"<think>I could `{tagged(LS)}`",
        f"<think>I could {LS}",
        f"<think>I could {tagged(LS)[:-30]}",
        f"<think>I could {tagged('[]')}",
        f"<think>I could {tagged(LS)}<think>or not",
        f"<think>I could {tagged(LS.replace('bash', 'zsh'))}",
    ],
    ids=["words", "closed", "quoted", "bare", "cut", "no call", "thought again", "unknown"],
)
def test_else_it_stays_reasoning(text: str) -> None:
    for level in LEVELS:
        result = read(text, "auto", TOOLS, level)
        assert result.calls == () or level == "lenient"
        if not result.calls:
            thought = (result.reasoning or "") + ("</think>" if "</think>" in text else "")
            assert thought == text.removeprefix("<think>")


def test_what_is_odd_about_such_a_call_is_told() -> None:
    odd = LS.replace('"command"', '"comand"')
    result = read(f"<think>so {tagged(odd)}", "hermes", TOOLS)
    assert said(result) == [("bash", {"comand": "ls"})]
    assert {*codes(result)} == {"missing-argument", "unknown-argument"}


DAMAGED = LS.replace('"arguments"', 'rguments"')


@pytest.mark.parametrize("opener", ["<think>", "<thinking>\n", "<|begin_of_thought|>next: "])
@pytest.mark.parametrize("level", LEVELS)
def test_what_is_refused_before_such_calls_is_told(opener: str, level: Level) -> None:
    """What a higher level reads as one more call is no silence at a lower one."""
    text = f"{opener}{tagged(DAMAGED)}\n{tagged(LS)}"
    result = read(text, "auto", None, level)
    assert result.diagnoses or result == parse(text, level="lenient")
    check_text(text, auto)


def test_levels_together_say_the_same() -> None:
    text = f"<think>so {_QWEN3}"
    assert parse_levels(text, "auto", TOOLS) == {
        level: parse(text, "auto", TOOLS, level) for level in LEVELS
    }


def test_reasoning_is_told_as_it_comes_until_a_call_may_begin() -> None:
    reading = stream("hermes")
    told = [
        event.text
        for chunk in ("<think>one ", "two ", "<tool_call>", " x ")
        for event in reading.feed(chunk)
    ]
    assert "".join(told) == "<think>one two "
    assert [event.kind for event in reading.feed("</think>")] == ["reasoning", "markup"]
    assert reading.finish().reasoning == "one two <tool_call> x "


@given(
    parts=st.lists(
        st.sampled_from([
            "<think>", "</think>", " so ", "\n", *CALLS.values(), "<tool_call>", "`", LS,
            "<|tool_calls_section_begin|>", tagged(DAMAGED),
        ]),
        max_size=7,
    ),
    size=st.integers(1, 9),
    name=st.sampled_from(["auto", *CALLS]),
)  # fmt: skip
def test_the_laws_hold(parts: list[str], size: int, name: str) -> None:
    text = "<think>" + "".join(parts)
    chunks = [text[start : start + size] for start in range(0, len(text), size)]
    check_text(
        text, auto if name == "auto" else reader_of(FORMATS[name]), chunks=chunks, tools=TOOLS
    )


@pytest.mark.parametrize(
    "flood", ["<tool_call>", "<think>", "<tool_call><think>\n", tagged(LS), tagged("[]")]
)
@pytest.mark.parametrize(
    ("way", "size"), [(whole, WHOLE), (streamed, STREAMED)], ids=["whole", "streamed"]
)
def test_no_flood_in_reasoning_takes_more_than_twice_the_time(
    way: Callable[[str], object], size: int, flood: str
) -> None:
    assert_linear(way, "<think>\n", flood, size)
