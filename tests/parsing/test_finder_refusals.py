"""What has to be given up in time: formats that cannot work, strings that never end."""

from __future__ import annotations

import pytest

from tests.parsing.samples import LS, said, tagged
from tunaeval import ToolCall, parse, parser_for, render
from tunaeval.errors import FormatError
from tunaeval.grammar import ANY_SPACE, CallObject, Literal, Markup, Reasoning, Space, Word
from tunaeval.grammar.format import Format
from tunaeval.types.parsing import LEVELS, Level

UNENDING = '{"name": "bash", "arguments": {"command": "pwd}}'
"""A call whose last string never ends."""


@pytest.mark.parametrize(
    "text",
    [
        f"{tagged(UNENDING)}\nNow:\n{tagged(LS)}",
        f"{tagged(UNENDING)}\n{LS}",
        f"{UNENDING}\n{LS}",
        f"```json\n{UNENDING}\n```\nThen:\n```json\n{LS}\n```",
    ],
)
@pytest.mark.parametrize("level", LEVELS)
def test_a_string_that_never_ends_swallows_no_call_behind_words(text: str, level: Level) -> None:
    """Missed up to standard; at lenient the second call becomes an argument of the first."""
    assert said(parse(text, level=level))[-1:] == [("bash", {"command": "ls"})]


@pytest.mark.parametrize(
    "words",
    [
        (CallObject(opens=((),)),),
        (CallObject(opens=((ANY_SPACE,),)),),
        (CallObject(opens=(("",),)),),
        (CallObject(opens=(("#",),)),),
        (Literal("<f>"), Markup("", "[^x]{0,24}"), CallObject(), Literal("</f>")),
        (Literal("<f>"), Space(": "), CallObject(), Literal("</f>")),
        (Literal("<f>"), Markup("(", "("), CallObject(), Literal("</f>")),
        (Literal("<f>"), CallObject(name="a", arguments="a"), Literal("</f>")),
        (Literal("<f>"), CallObject(name='a"b'), Literal("</f>")),
        (Literal("<f>"), CallObject(name="a b", bare_keys=True), Literal("</f>")),
    ],
)
def test_a_format_that_cannot_be_read_is_refused(words: tuple[Word, ...]) -> None:
    """The first three hang the engine for ever, the others are not read back."""
    with pytest.raises(FormatError):
        parser_for(Format("f", words))


@pytest.mark.parametrize(
    "markers",
    [Reasoning("", ""), Reasoning("<a>", ""), Reasoning("<t>", "<t>"), Reasoning("<f>", "</t>")],
)
def test_reasoning_that_cannot_be_told_apart_is_refused(markers: Reasoning) -> None:
    """Empty markers hang the engine for ever; an opener that is the format's own hides it."""
    with pytest.raises(FormatError):
        Format("f", (Literal("<f>"), CallObject(), Literal("</f>")), reasoning=(markers,))


def test_a_literal_between_the_call_and_the_closer_is_read() -> None:
    """Now it is skipped: every call rendered so needs the repair "unclosed"."""
    form = Format("f", (Literal("<f>"), CallObject(), Literal("|"), Literal("</f>")))
    text = render([ToolCall("f", {})], form)
    assert said(parse(text, form, level="strict")) == [("f", {})]


@pytest.mark.parametrize("nothing", ["", " ", "\n"])
def test_markers_around_nothing_are_an_attempt(nothing: str) -> None:
    assert parse(f"<tool_call>{nothing}</tool_call>").outcome == "malformed"
