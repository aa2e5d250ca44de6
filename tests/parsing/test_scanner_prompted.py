"""Texts whose prompt ended with the opener: they begin behind it, and are read as with it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tunaeval
from tunaeval.errors import FormatError
from tunaeval.grammar import Arguments, CallObject, Literal, Name, Space
from tunaeval.grammar.format import Format
from tunaeval.grammar.formats import FORMATS
from tunaeval.parsing.reader import reader_of
from tunaeval.parsing.write import render_calls
from tunaeval.types.calls import ToolCall
from tunaeval.types.parsing import LEVELS, Level, ParseResult

FUNCTIONARY = FORMATS["functionary-v3.2"]
CLOSED = Format(
    "closed",
    (Literal("[call] "), Name(), Literal(": "), Space(), Arguments(), Literal("[/call]")),
    prompted=True,
)
_FORMATS = st.sampled_from([FUNCTIONARY, CLOSED])
_CALLS = st.builds(
    ToolCall,
    st.sampled_from(["f", "get_weather", "a.b-c", "x" * 128]),
    st.dictionaries(st.sampled_from(["a", "b c"]), st.integers() | st.text(max_size=9), max_size=2),
)
_BEHIND = st.sampled_from(["", "\n", " Done.", "...", "\nall\nHi", '{"a": 1}'])


def said(result: ParseResult) -> tuple[object, ...]:
    """All but the places, which are other ones where the opener is missing."""
    calls = [(call.name, call.arguments, call.repairs) for call in result.calls]
    return calls, result.content, result.outcome, [each.code for each in result.diagnoses]


def streamed(form: Format, text: str, size: int, level: Level) -> ParseResult:
    reader = reader_of(form).stream(level=level)
    for start in range(0, len(text), size):
        reader.feed(text[start : start + size])
    return reader.finish()


@given(
    form=_FORMATS,
    calls=st.lists(_CALLS, min_size=1, max_size=2),
    behind=_BEHIND,
    level=st.sampled_from(LEVELS),
    size=st.integers(1, 9),
)
def test_without_its_opener_a_text_is_read_as_with_it(
    form: Format, calls: list[ToolCall], behind: str, level: Level, size: int
) -> None:
    assert form.opener is not None
    text = render_calls(calls, form) + behind
    short = text.removeprefix(form.opener.text)
    result = reader_of(form).parse(short, level=level)
    assert said(result) == said(reader_of(form).parse(text, level=level))
    assert repr(streamed(form, short, size, level)) == repr(result)


@given(
    form=_FORMATS,
    text=st.text(st.sampled_from('f:\n {}"a>[]1'), max_size=30),
    size=st.integers(1, 4),
)
def test_whatever_a_text_begins_with_it_is_streamed_alike(
    form: Format, text: str, size: int
) -> None:
    assert repr(streamed(form, text, size, "standard")) == repr(reader_of(form).parse(text))


def test_only_under_its_own_name() -> None:
    assert reader_of(FUNCTIONARY).parse('f\n{"a": 1}').calls
    assert not tunaeval.parse('f\n{"a": 1}').calls


@pytest.mark.parametrize("text", ["Paris is nice", "all", "f", "f\nis good", "f: {}", ""])
def test_what_is_only_prose_is_content(text: str) -> None:
    assert said(reader_of(FUNCTIONARY).parse(text)) == ([], text, "no_call", [])


def test_a_prompt_needs_an_opener_to_end_with() -> None:
    words = (CallObject(opens=(("{",),)),)
    with pytest.raises(FormatError, match="prompted=True wants fixed text first"):
        Format("bare", words, marked=False, prompted=True)


def test_a_text_without_the_opener_may_hold_anything() -> None:
    """Nothing raises where a block without its opener is no call and a tag follows."""
    pattern = (
        "<call>⟨⟩⟨name pattern=[A-Za-z0-9_][A-Za-z0-9_./-]{0,127}⟩⟨maybe⟩<x>⟨/maybe⟩"
        "⟨maybe⟩=⟨/maybe⟩⟨each⟩</x>⟨key⟩<x>⟨type text=true json=false⟩<x>⟨⟩⟨value⟩<x>⟨⟩⟨/each⟩"
        "⟨⟩</call>"
    )
    form = Format.of("crossed", pattern, prompted=True)
    text = "a<x>true<x>x<x></x>b<x>false<x>1<x></call>"
    assert reader_of(form).parse(text).outcome == "malformed"
    assert reader_of(form).parse(text[:20]).calls == ()
