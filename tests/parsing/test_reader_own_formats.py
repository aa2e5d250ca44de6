"""Formats of one's own with odd words, whole and arriving: what random formats once showed."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tunaeval import ToolCall, parse, parser_for, render, stream
from tunaeval.errors import FormatError, UsageError
from tunaeval.grammar import (
    ANY_SPACE,
    Arguments,
    CallObject,
    Key,
    Literal,
    Many,
    Name,
    PythonCalls,
    Space,
    Value,
    Word,
)
from tunaeval.grammar.format import Format
from tunaeval.types.calls import JsonObject, Tools, ToolSpec
from tunaeval.types.parsing import LEVELS, ParseResult

SHORT_TAGS = Format(
    "short-tags",
    (
        Literal("[[call]]"),
        Name(),
        Literal(">"),
        Many(
            (
                Literal("<k>"),
                Key(),
                Literal("</k>"),
                Literal("<v>"),
                Value(),
                Literal("</v>"),
                Space("\n"),
            )
        ),
        Literal("[[/call]]"),
    ),
)
SPACED = Format(
    "spaced",
    (
        Literal("<a "),
        Name(),
        Many((Literal("<x>"), Key(), Literal("<x>"), Value("no"), Literal("  "))),
        Literal("]"),
    ),
)


def calls(result: ParseResult) -> list[tuple[str, JsonObject]]:
    return [(call.name, call.arguments) for call in result.calls]


def everywhere(text: str, form: Format, tools: Tools | None = None) -> ParseResult:
    """The result of the whole text, which is that of its characters one by one, at each level."""
    for level in LEVELS:
        reading = stream(form, tools, level=level)
        for char in text:
            reading.feed(char)
        assert reading.finish() == parse(text, form, tools, level)
    return parse(text, form, tools)


JSON = [(Name(), Literal("|"), Arguments()), (CallObject(array=True),)]


@pytest.mark.parametrize(
    ("words", "closer"),
    [
        *product(JSON, [":", "true", "-1", "null", "::", "x", "_", "7"]),
        *product([(PythonCalls(),)], [":", "::"]),
    ],
)
def test_a_closer_that_could_be_in_a_call_closes_none(words: tuple[Word, ...], closer: str) -> None:
    form = Format("odd", (Literal("<call>"), *words, Literal(closer)))
    call = ToolCall("f", {"x": -1, "t": [True, None, {"k": "a:b"}]})
    text = render([call], form)
    for each in (text, text + " and more", text[:-1], text + text):
        everywhere(each, form)
    assert everywhere(text, form).calls[0].arguments == call.arguments


PIECES = (
    "f(a=1)",
    "g()",
    "[f(a=1)]",
    "<c>",
    "Done",
    "a.b",
    "x",
    ", ",
    " ",
    "\n",
    " " * 30,
    "(",
    "1",
)


OPEN = Format("open", (Literal("<c>"), PythonCalls()))


@given(pieces=st.lists(st.sampled_from(PIECES), max_size=6))
def test_what_is_behind_calls_that_nothing_closes_may_arrive(pieces: list[str]) -> None:
    everywhere("<c>f(a=1)" + "".join(pieces), OPEN)


@pytest.mark.parametrize("behind", [" Done it.", "\nThat is it (so to say)", "ok", ", and so on"])
def test_a_word_behind_calls_that_nothing_closes_is_text(behind: str) -> None:
    found = everywhere("<c>f(a=1) g()" + behind, OPEN)
    assert calls(found) == [("f", {"a": 1}), ("g", {})]
    assert found.content == behind.lstrip(", \n")
    assert not found.diagnoses
    assert not found.truncated


@pytest.mark.parametrize("opener", ["[", "{", '[{"'])
def test_an_opener_of_signs_that_objects_begin_with_is_not_there_twice(opener: str) -> None:
    words = (Literal(opener), Literal("<call>"), CallObject(array=True), Literal("</call>"))
    form = Format("signs", words)
    two = [ToolCall("f", {"a": 1}), ToolCall("g", {})]
    assert calls(everywhere(render(two, form), form)) == [("f", {"a": 1}), ("g", {})]


@pytest.mark.parametrize(
    "text", ['{"fn": "f", "kw": {"a": }}', '{"fn": "f", "kw": [1]}', '{"fn": 5, "kw": {}}']
)
def test_a_broken_bare_object_with_keys_of_the_format_is_an_attempt(text: str) -> None:
    word = CallObject(name="fn", arguments="kw", opens=(("{", ANY_SPACE, '"fn"'),))
    found = everywhere(text, Format("keys", (word,), marked=False))
    assert (found.outcome, len(found.diagnoses)) == ("malformed", 1)


def test_a_value_does_not_go_on_behind_the_end_of_its_call() -> None:
    text = "[[call]]f><k>x</k><v>A\n[[/call]]\n[[call]]g><k>y</k><v>B</v>\n[[/call]]"
    found = everywhere(text, SHORT_TAGS)
    assert calls(found) == [("f", {"x": "A"}), ("g", {"y": "B"})]
    assert [repair.code for repair in found.calls[0].repairs] == ["unclosed"]


def test_an_argument_is_found_in_the_value_before_it_whatever_they_begin_with() -> None:
    properties = {key: {"type": "string"} for key in "ab"}
    tools = Tools([ToolSpec("f", parameters={"properties": properties})])
    found = everywhere("<a f<x>a<x>one<x>b<x>two  ]", SPACED, tools)
    assert found.calls[0].arguments == {"a": "one", "b": "two"}
    assert [repair.code for repair in found.calls[0].repairs] == ["unclosed"]


def test_what_would_be_read_as_unclosed_is_not_written() -> None:
    words = (Literal("<x>"), Key(), Literal("<x>"), Space(), Value("no"), Literal("\n"))
    form = Format("lines", (Literal("<call>"), Name(), Many(words), Literal("</call>")))
    assert render([ToolCall("f", {"a": "b"})], form) == "<call>f<x>a<x>b\n</call>"
    with pytest.raises(UsageError, match=r"'a' of 'f': .*closing tag of 'a' is missing"):
        render([ToolCall("f", {"a": ""})], form)


def test_a_prompt_does_not_end_with_what_comes_behind_it() -> None:
    words = (Literal("<c>"), Literal("<c>"), CallObject(), Literal("</c>"))
    assert not Format("twice", words).prompted
    with pytest.raises(FormatError, match="is read as nothing readable"):
        parser_for(Format("twice", words, prompted=True))


def test_a_prompted_text_is_waited_for_until_it_can_be_no_call() -> None:
    pair = Many((Literal('<p n="'), Key(), Literal('">'), Value(), Literal("</p>")))
    form = Format("star", (Literal("★"), Name(), Literal('"'), pair, Literal(";;")), prompted=True)
    found = everywhere('zt_x"<p n="x">a: b</p>;;', form)
    assert calls(found) == [("zt_x", {"x": "a: b"})]
    spaced = Format("star", (Literal("★"), Space("\n"), Name(), Arguments()), prompted=True)
    assert calls(everywhere("\nf{}", spaced)) == [("f", {})]


@pytest.mark.parametrize("closer", ['"', "'end", "“", '"\n</c>'])
def test_a_closer_may_begin_with_a_quote(closer: str) -> None:
    """A quote after an object is the rest of a call that was closed early, or else the closer."""
    form = Format.of("quote", f"<c>⟨call⟩{closer}")
    made = [ToolCall("f", {}), ToolCall("g", {"a": "b"})]
    assert calls(everywhere(f"So: {render(made, form)} done", form)) == [
        ("f", {}),
        ("g", {"a": "b"}),
    ]
