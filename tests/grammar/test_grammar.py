"""Formats as values: those that could never be read are refused, the others are readers at once."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tunaeval import ToolCall, formats, instructions, parse, parser_for, render, stream
from tunaeval.errors import FormatError
from tunaeval.grammar import ANY_SPACE, CallObject, Literal, Markup, Reasoning, Space, Word
from tunaeval.grammar.format import Format
from tunaeval.grammar.formats import CHAIN, FENCE, FORMATS, HERMES, JSON
from tunaeval.parsing.reader import reader_of
from tunaeval.testing.laws import LAWS, check_law
from tunaeval.testing.strategies import tools_for
from tunaeval.types.calls import ARGUMENTS_KEYS, NAME_KEYS, ToolSpec
from tunaeval.types.parsing import LEVELS
from tunaeval.types.roles import Parser

OPEN, CLOSE = Literal("<call>"), Literal("</call>")

BRACKETS = Format(
    "brackets",
    (
        Literal("[[call ", also=("[[CALL ",)),
        Markup("1:", r"[0-9]{1,3}:?"),
        Space(" "),
        CallObject(name="fn", arguments="kwargs"),
        Space(),
        Literal("|end]]", also=("|END]]",)),
    ),
    reasoning=(Reasoning("[[thought]]", "[[/thought]]"),),
    models=("nobody's",),
    summary="what an author outside might write",
)
"""A third party's format: its own tags, an index, its own keys, its own reasoning."""

CALLS = [ToolCall("bash", {"command": "ls |end]]"}), ToolCall("f", {})]


@pytest.mark.parametrize(
    ("name", "words", "reason"),
    [
        ("Hermes", (OPEN, CallObject(), CLOSE), "a name is lower-case letters and digits"),
        ("my format", (OPEN, CallObject(), CLOSE), "a name is lower-case letters and digits"),
        ("", (OPEN, CallObject(), CLOSE), "a name is lower-case letters and digits"),
        ("f-", (OPEN, CallObject(), CLOSE), "a name is lower-case letters and digits"),
        ("f", (), "nothing in it says which tool is called"),
        ("f", (OPEN, CLOSE), "nothing in it says which tool is called"),
        (
            "f",
            (OPEN, CallObject(), CallObject(), CLOSE),
            "⟨call⟩ follows ⟨call⟩, where fixed text or white space may be",
        ),
        ("f", (Literal(""), CallObject(), CLOSE), "is found everywhere"),
        ("f", (OPEN, CallObject(), Literal("</call>", also=("",))), "is found everywhere"),
        ("f", (CallObject(),), "which needs `opens` to be found"),
        ("f", (CallObject(opens=(("{",),)), CLOSE), "follows ⟨call⟩, where nothing may be"),
        ("f", (Space(), CallObject(), CLOSE), "white space comes first, where "),
        ("f", (Markup("", "x{0,3}"), CallObject(), CLOSE), "⟨skip⟩ comes first, where fixed"),
        ("f", (OPEN, CallObject(opens=(("{",),)), CLOSE), "`opens` is for a call without"),
        ("f", (OPEN, CallObject(), Space()), "it ends with white space"),
        ("f", (OPEN, CallObject(), Literal("}")), "is read as extra-closer"),
        (
            "f",
            (OPEN, CallObject(), Literal(" end")),
            "what it writes is not what it reads",
        ),
        ("f", (OPEN, Markup("x", "x*"), CallObject(), CLOSE), "the pattern 'x*' has no bound"),
        (
            "f",
            (OPEN, Markup("x", "x{0,}"), CallObject(), CLOSE),
            "the pattern 'x{0,}' has no bound",
        ),
        ("f", (OPEN, Markup("7", "[a-z]{0,9}"), CallObject(), CLOSE), "is not what it reads"),
    ],
)
def test_a_format_that_could_never_be_read_is_refused(
    name: str, words: tuple[Word, ...], reason: str
) -> None:
    with pytest.raises(FormatError) as refusal:
        parser_for(Format(name, words))
    message = str(refusal.value)
    assert message.startswith(f"format {name!r}: ")
    assert reason in message


USES: dict[str, Callable[[Format], object]] = {
    "registered": lambda form: formats.add("unread", form),
    "given a parser": parser_for,
    "read": lambda form: parse("x", form),
    "streamed": stream,
    "written": lambda form: render(CALLS, form),
    "shown to a model": lambda form: instructions([{"name": "ls"}], form),
}


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_a_format_that_is_not_read_back_is_refused_at_its_first_use(
    use: Callable[[Format], object],
) -> None:
    form = Format("unread", (OPEN, CallObject(), Literal(" end")))
    with pytest.raises(FormatError, match="format 'unread': what it writes is not what it reads"):
        use(form)
    assert "unread" not in formats.names()


@pytest.mark.parametrize("pattern", [r"[*+]{0,3}", r"\*{0,3}", r"[a-z\]]{0,9}"])
def test_a_star_that_stands_for_itself_has_a_bound(pattern: str) -> None:
    form = Format("f", (OPEN, Markup("", pattern), CallObject(), CLOSE))
    assert parse('<call>{"name": "g", "arguments": {}}</call>', form).outcome == "calls"


def test_a_format_is_a_value() -> None:
    twin = Format("f", (OPEN, CallObject(), CLOSE))
    assert twin == Format("f", (Literal("<call>"), CallObject(), Literal("</call>")))
    assert hash(twin) == hash(Format("f", (OPEN, CallObject(), CLOSE)))
    with pytest.raises(AttributeError):
        twin.name = "g"  # type: ignore[misc]  # that it is frozen is the claim


def test_a_format_knows_its_parts() -> None:
    assert HERMES.opener == Literal("<tool_call>")
    assert HERMES.closer == Literal("</tool_call>")
    assert HERMES.call == CallObject()
    assert JSON.opener is None
    assert JSON.closer is None
    assert BRACKETS.opener is not None
    assert BRACKETS.opener.spellings == ("[[call ", "[[CALL ")


def test_one_format_has_one_reader() -> None:
    assert reader_of(HERMES) is reader_of(HERMES)
    assert reader_of(HERMES) is not reader_of(FENCE)
    twin = Format(BRACKETS.name, BRACKETS.words, reasoning=BRACKETS.reasoning)
    assert reader_of(twin).formats == (twin,)


def test_a_format_has_a_parser() -> None:
    parser, text = parser_for(BRACKETS), render(CALLS, BRACKETS)
    assert isinstance(parser, Parser)
    assert not isinstance(BRACKETS, Parser)
    assert parser.parse(text) == parse(text, BRACKETS)
    assert not parser.parse(text, tools=None, level="strict").diagnoses


@pytest.mark.parametrize("law", LAWS)
def test_a_format_from_outside_keeps_the_laws(law: str) -> None:
    check_law(law, BRACKETS)


def test_a_format_from_outside_is_written_as_its_words_say() -> None:
    assert render(CALLS[:1], BRACKETS) == (
        '[[call 1: {"fn": "bash", "kwargs": {"command": "ls |end]]"}}|end]]'
    )


def test_other_spellings_are_read_and_never_written() -> None:
    result = parse('[[CALL 12 {"fn": "f", "kwargs": {}} |END]]', BRACKETS, level="strict")
    assert [call.name for call in result.calls] == ["f"]
    assert not result.content


def test_a_format_has_its_own_reasoning_and_no_other() -> None:
    text = render(CALLS[:1], BRACKETS)
    result = parse(f"[[thought]]{text}[[/thought]]{text}", BRACKETS)
    assert len(result.calls) == 1
    assert result.reasoning == text
    result = parse(f"<think>{text}</think>", BRACKETS)
    assert len(result.calls) == 1
    assert result.reasoning is None


def test_of_two_keys_the_format_s_own_is_no_alias() -> None:
    text = '[[call 1: {"fn": "f", "kwargs": {}, "name": "g"}|end]]'
    (call,) = parse(text, BRACKETS, level="strict").calls
    assert call.name == "f"
    (call,) = parse('[[call 1: {"name": "g", "args": {}}|end]]', BRACKETS).calls
    assert [repair.code for repair in call.repairs] == ["key-alias", "key-alias"]


@pytest.mark.parametrize("form", FORMATS.values(), ids=FORMATS)
def test_several_calls_are_rendered_and_read_back(form: Format) -> None:
    text = render(CALLS, form)
    for level in LEVELS if not (form.call and form.call.bare_keys) else LEVELS[1:]:
        result = parse(text, form, tools=tools_for(CALLS), level=level)
        assert [(call.name, call.arguments) for call in result.calls] == [
            (call.name, call.arguments) for call in CALLS
        ]
        assert {call.format for call in result.calls} == {form.name}
    assert (form.opener.text if form.opener else CALLS[0].name) in text


@pytest.mark.parametrize("form", FORMATS.values(), ids=FORMATS)
def test_no_calls_are_written_as_nothing(form: Format) -> None:
    assert not render([], form)


@pytest.mark.parametrize("form", [*FORMATS.values(), BRACKETS], ids=[*FORMATS, "brackets"])
def test_instructions_show_a_call_in_the_format(form: Format) -> None:
    text = instructions([ToolSpec("bash", "Runs a command.")], form)
    assert '"bash"' in text
    assert "Runs a command." in text
    example = text if not form.whole else text.split(":\n")[-1].partition("\n\n")[0]
    tools = tools_for([ToolCall("a_tool", {"an_argument": ""})]) if form.by_tool else None
    assert [call.name for call in parse(example, form, tools).calls] == ["a_tool"]


def test_the_chain_is_that_of_the_old_harness() -> None:
    assert [form.name for form in CHAIN] == ["hermes", "tools-tag", "json", "fence", "loose-json"]
    assert set(FORMATS) > {form.name for form in CHAIN}
    for form in FORMATS.values():
        assert form.models
        assert form.summary


def test_the_keys_that_are_read_are_those_of_the_mission() -> None:
    assert {"name", "tool", "function"} <= set(NAME_KEYS)
    assert {"arguments", "args", "parameters", "input", "params"} == set(ARGUMENTS_KEYS)
    assert ANY_SPACE.isspace()


def test_a_format_can_be_streamed() -> None:
    reading = stream(BRACKETS)
    for character in render(CALLS, BRACKETS):
        reading.feed(character)
    assert [call.name for call in reading.finish().calls] == ["bash", "f"]


@pytest.mark.parametrize("write", [lambda f: render(CALLS, f), lambda f: instructions([], f)])
def test_what_is_written_is_the_same_each_time(write: Callable[[Format], str]) -> None:
    assert write(HERMES) == write(HERMES)
