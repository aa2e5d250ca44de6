"""A format that is built of something else than its fields want is refused, and says which."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest

from tunaeval import ToolCall, parse, render, stream
from tunaeval.errors import FormatError, UsageError
from tunaeval.grammar import (
    Arguments,
    CallObject,
    Elements,
    Envelope,
    Key,
    Literal,
    Many,
    Maybe,
    Name,
    Reasoning,
    Route,
    Value,
)
from tunaeval.grammar.format import Format
from tunaeval.limits import MAX_FIXED
from tunaeval.testing.laws import names_and_arguments

WORDS = (Literal("<call>"), CallObject(), Literal("</call>"))
ODD: tuple[object, ...] = (
    None, 5, float("nan"), True, "no", b"no", (), (5,), (None,), ("a", "b"), ("hermes",), ("",),
    [], {}, ..., str, (Literal("<a>"), "b"),
)  # fmt: skip
FITS: dict[str, tuple[object, ...]] = {
    "name": ("no",),
    "marked": (True,),
    "around": (None,),
    "inner": (None,),
    "envelope": (None,),
    "dropped": ((), ("hermes",)),
    "prompted": (True,),
    "also": ((),),
    "reasoning": ((),),
    "aliases": ((), ("a", "b"), ("hermes",), ("",)),
    "models": ((), ("a", "b"), ("hermes",), ("",)),
    "summary": ("no",),
    "tool": ("no",),
    "turns": ((),),
}
"""What each field takes among `ODD`; all else has to be refused."""
OF_ALL_WORDS = "it needs ⟨call⟩, ⟨calls⟩, or ⟨name⟩ and arguments"


@pytest.mark.parametrize("odd", ODD, ids=repr)
@pytest.mark.parametrize("field", [field.name for field in fields(Format) if field.init])
def test_a_field_of_another_kind_is_refused_by_its_name(field: str, odd: object) -> None:
    given: dict[str, Any] = {"name": "f", "words": WORDS, field: odd}
    if odd in FITS.get(field, ()):
        assert getattr(Format(**given), field) == odd
        return
    with pytest.raises(FormatError) as refusal:
        Format(**given)
    found = str(refusal.value)
    named = (
        f": {field} is ",
        f": {field}[",
        f": `{field}` has",
        f": the {field} ",
        f"{field}=True is for",
    )
    assert found.endswith(OF_ALL_WORDS) or any(words in found for words in named)


def test_a_format_that_is_refused_is_wrong_use() -> None:
    with pytest.raises(UsageError, match=r"write tunaeval.formats.get\('hermes'\)"):
        Format("f", WORDS, also=("hermes",))  # type: ignore[arg-type]  # the claim


@pytest.mark.parametrize(
    ("words", "place"),
    [
        ((Literal("<c>"), CallObject(array="yes"), Literal("</c>")), "words[1].array is 'yes'"),  # type: ignore[arg-type]  # the claim
        ((Literal("<c>"), Name(doubled=1), Arguments(), Literal("</c>")), "words[1].doubled is 1"),  # type: ignore[arg-type]  # the claim
        ((Literal("<c>"), Value(quotes='"'), Literal("</c>")), """write a tuple: ('"', '"')"""),  # type: ignore[arg-type]  # the claim
        ((CallObject(opens="{"),), "words[0].opens is '{'; write a tuple: (('{',),)"),  # type: ignore[arg-type]  # the claim
        ((Literal("<c>"), Value(quotes=("'",)), Literal("</c>")), 'words[1].quotes is ("\'",)'),  # type: ignore[arg-type]  # the claim
    ],
)
def test_a_field_of_a_word_is_refused_by_its_place(words: tuple[Any, ...], place: str) -> None:
    with pytest.raises(FormatError) as refusal:
        Format("f", words)
    assert place in str(refusal.value)


@pytest.mark.parametrize(
    ("field", "text", "advice"),
    [
        ("words", "<c>", "(Literal('<c>'),)"),
        ("reasoning", "<think>", "(Reasoning('<think>', '</think>'),)"),
        ("around", "[[c]]", "(Literal('[[c]]'), Literal('[[/c]]'))"),
        ("around", "c", "(Literal('c'), Literal('c'))"),
        ("also", "hermes", "(tunaeval.formats.get('hermes'),)"),
        ("dropped", "<|end|>", "('<|end|>',)"),
    ],
)
def test_of_a_text_in_place_of_a_tuple_it_is_said_what_to_write(
    field: str, text: str, advice: str
) -> None:
    given: dict[str, Any] = {"name": "f", "words": WORDS, field: text}
    with pytest.raises(FormatError) as refusal:
        Format(**given)
    assert str(refusal.value).endswith(f"; write a tuple: {advice}")


LONG = "<" * (MAX_FIXED + 1)
NAMED = (Literal("<c>"), Name(), Arguments(), Literal("</c>"))
EACH = (Literal("<p="), Key(), Literal(">"), Value(), Literal("</p>"))


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"words": (Literal(LONG), *WORDS[1:])}, "words[0].text"),
        ({"words": (Literal("<c>", also=("<d>", LONG)), *WORDS[1:])}, "words[0].also[1]"),
        ({"words": (NAMED[0], Maybe((Literal(LONG),)), *NAMED[1:])}, "words[1].words[0].text"),
        ({"words": (NAMED[0], Name(before=LONG), *NAMED[2:])}, "words[1].before"),
        ({"words": (*NAMED[:2], Arguments(mark=LONG), NAMED[3])}, "words[2].mark"),
        ({"words": (*NAMED[:2], Elements(LONG), Literal(LONG))}, "words[2].prefix"),
        (
            {"words": (*NAMED[:2], Many((*EACH[:3], Value(quotes=(LONG, "")), EACH[4])), NAMED[3])},
            "words[2].words[3].quotes[0]",
        ),
        ({"around": (Literal("<a>"), Literal(LONG))}, "around[1].text"),
        ({"dropped": ("<|end|>", LONG)}, "dropped[1]"),
        ({"reasoning": (Reasoning(LONG, "</t>"),)}, "reasoning[0].open"),
        (
            {"envelope": Envelope(Literal("<m>"), (Route("call", "x?", LONG),), Literal("</m>"))},
            "envelope.routes[0].body",
        ),
    ],
)
def test_a_fixed_text_has_a_limit(changes: dict[str, Any], place: str) -> None:
    with pytest.raises(FormatError) as refusal:
        Format(**{"name": "f", "words": WORDS, **changes})
    assert f": {place} has {MAX_FIXED + 1} characters; a fixed text has" in str(refusal.value)


def test_fixed_texts_of_the_limit_are_read() -> None:
    row = (*(Literal(f"<{n}" + "<" * (MAX_FIXED - 2)) for n in range(9)),)
    form = Format("f", (*row, CallObject(), Literal("</" + ">" * (MAX_FIXED - 2))))
    calls = [ToolCall("g", {})]
    reader = stream(form)
    for character in render(calls, form):
        reader.feed(character)
    assert reader.finish() == parse(render(calls, form), form)
    assert names_and_arguments(reader.finish().calls) == names_and_arguments(calls)


def test_what_is_said_of_a_format_has_no_limit() -> None:
    assert Format("f", WORDS, summary=LONG, models=(LONG,), aliases=(LONG,)).summary == LONG
    Format("f", (NAMED[0], Name("[" + "a" * MAX_FIXED + "]"), *NAMED[2:]))


@pytest.mark.parametrize(
    ("envelope", "place"),
    [
        (Envelope("<m>", (), Literal("</m>")), "envelope.opens is '<m>'"),  # type: ignore[arg-type]  # the claim
        (Envelope(Literal("<m>"), ("a",), Literal("</m>")), "envelope.routes[0] is 'a'"),  # type: ignore[arg-type]  # the claim
        (
            Envelope(Literal("<m>"), (Route("calls", "x", "<b>"),), Literal("</m>")),  # type: ignore[arg-type]  # the claim
            "envelope.routes[0].channel is 'calls'; it is one of 'call', 'reasoning', 'content'",
        ),
    ],
)
def test_a_field_of_an_envelope_is_refused_by_its_place(envelope: Envelope, place: str) -> None:
    with pytest.raises(FormatError) as refusal:
        Format("f", WORDS, envelope=envelope)
    assert place in str(refusal.value)
