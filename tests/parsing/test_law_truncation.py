"""A reply that was cut off is never taken for a whole one: refused or flagged, at every level."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.formats.reading import read
from tests.parsing.samples import LS, TOOLS, call_of, codes, said, tagged
from tunaeval import parse, render
from tunaeval.grammar.format import Format
from tunaeval.grammar.formats import FORMATS, HERMES
from tunaeval.testing.strategies import calls, prose, tools_for, writable
from tunaeval.types.calls import ToolCall
from tunaeval.types.parsing import LEVELS, Level

CUTS = {
    "in a string": '{"name": "bash", "arguments": {"command": "ls',
    "in an escape": '{"name": "bash", "arguments": {"command": "ls\\',
    "in a number": '{"name": "bash", "arguments": {"timeout": 12',
    "in a fraction": '{"name": "bash", "arguments": {"timeout": 1.',
    "in a literal": '{"name": "bash", "arguments": {"flag": tr',
    "in a key": '{"name": "bash", "arguments": {"comm',
    "before a value": '{"name": "bash", "arguments": {"command":',
    "after a value": '{"name": "bash", "arguments": {"command": "ls"',
    "after a comma": '{"name": "bash", "arguments": {"command": "ls",',
    "before the last brace": '{"name": "bash", "arguments": {"command": "ls"}',
    "in a comment": '{"name": "bash", "arguments": {"command": "ls" /* a',
}


@pytest.mark.parametrize("cut", CUTS.values(), ids=CUTS)
@pytest.mark.parametrize("frame", ["<tool_call>\n", "<tools>[", "```json\n", "", "Sure: "])
def test_a_cut_object_is_refused_up_to_standard_and_flagged(cut: str, frame: str) -> None:
    text = frame + cut
    for level in ("strict", "standard"):
        result = parse(text, tools=TOOLS, level=level)
        assert not result.calls
        assert result.truncated
        assert result.outcome == "truncated"
        assert result.content == text
    lenient = parse(text, tools=TOOLS, level="lenient")
    assert lenient.truncated
    assert "truncated" in [repair.code for call in lenient.calls for repair in call.repairs]


def test_a_number_or_literal_at_the_cut_is_not_completed() -> None:
    number = parse('{"name": "bash", "arguments": {"a": 1, "b": -', level="lenient")
    assert said(number) == [("bash", {"a": 1})]
    literal = parse('{"name": "bash", "arguments": {"a": 1, "b": tru', level="lenient")
    assert said(literal) == [("bash", {"a": 1})]


@pytest.mark.parametrize("end", ["...", "…", "...\n", "… "])
@pytest.mark.parametrize("before", ["I will now look", tagged(LS) + "\nand"])
def test_a_trailing_ellipsis_is_a_cut(before: str, end: str) -> None:
    result = parse(before + end)
    assert result.truncated
    assert codes(result) == ["trailing-ellipsis"]


@pytest.mark.parametrize("text", ["Wait... done", "a...\n" + tagged(LS), call_of("f", a="...")])
def test_an_ellipsis_elsewhere_is_none(text: str) -> None:
    assert not parse(text).truncated


def test_an_unclosed_fence_is_a_cut() -> None:
    result = parse("Like this:\n```python\nprint(1)")
    assert (result.outcome, result.truncated) == ("no_call", True)
    assert codes(result) == ["unclosed-fence"]
    assert not parse("Like this:\n```python\nprint(1)\n```").truncated


def test_whole_json_in_an_unclosed_frame_is_mended_and_not_cut() -> None:
    for opener in ("<tool_call>\n", "<tools>", "```json\n"):
        result = parse(opener + LS)
        assert said(result) == [("bash", {"command": "ls"})]
        assert [repair.code for repair in result.calls[0].repairs] == ["unclosed"]
        assert not result.truncated


def test_a_cut_behind_a_whole_call_is_told_beside_it() -> None:
    result = parse(f"{tagged(LS)}\n<tool_call>\n" + LS[:30])
    assert said(result) == [("bash", {"command": "ls"})]
    assert (result.outcome, result.truncated) == ("calls", True)


@pytest.mark.parametrize("form", FORMATS.values(), ids=FORMATS)
@settings(max_examples=settings().max_examples // 4)
@given(before=prose(), level=st.sampled_from(LEVELS), data=st.data())
def test_every_beginning_of_a_call_is_refused_or_flagged(
    form: Format, before: str, level: Level, data: st.DataObject
) -> None:
    """Flagged, refused, or (only the frame is missing) the whole call with that repair."""
    made = data.draw(writable(form, 1, 1))
    text = f"{before}\n{render(made, form)}"
    cut = text[: data.draw(st.integers(0, len(text) - 1))]
    result = parse(cut, form, tools=tools_for(made), level=level)
    listed = form.python or (form.call and form.call.listed)
    if result.calls and not result.truncated:
        assert said(result) == [(made[0].name, made[0].arguments)]
        assert [repair.code for repair in result.calls[0].repairs] in (
            ["unclosed"],
            ["unclosed"] * 2 if listed else [],  # the list, and the frame around it
            ["bare-key"] * 2 if form.call and form.call.bare_keys else [],
        )


@given(made=calls(1, 1), level=st.sampled_from(("strict", "standard")), data=st.data())
def test_up_to_standard_no_argument_is_ever_lost_to_a_cut(
    made: list[ToolCall], level: Level, data: st.DataObject
) -> None:
    text = render(made, HERMES)
    cut = text[: data.draw(st.integers(0, len(text) - 1))]
    for call in parse(cut, level=level).calls:
        assert json.dumps(call.arguments) == json.dumps(made[0].arguments)


@pytest.mark.parametrize(
    "form",
    [form for form in FORMATS.values() if form.around and form.around[0].text],
    ids=lambda form: form.name,
)
def test_calls_that_were_announced_and_never_came_are_cut_off(form: Format) -> None:
    """The text ends between what stands around all calls and the first of them."""
    assert form.around is not None
    text = render([ToolCall("f", {})], form)
    opener = form.around[0].text
    cut = text[: text.index(opener) + len(opener)]
    for end in ("", "\n"):
        result = parse(f"I look.\n{cut}{end}", form)
        assert (result.outcome, result.truncated) == ("truncated", True)
        assert codes(result) == ["truncated"]
    assert not parse(text, form).truncated
    assert not parse(f"{cut} are what stands there.", form).truncated


SHUT = {
    "in a key": ("hermes", '<tool_call>{"nam</tool_call>'),
    "in a value": ("hermes", '<tool_call>{"name": "f", "arguments": {"a": "x</tool_call>\n'),
    "in single quotes": ("hermes", "<tool_call>{'name': 'f', 'arguments': {'a': 'x</tool_call>"),
    "in a list": ("tools-tag", '<tools>[{"name": "f", "arguments": {"a": "x}}]</tools>'),
    "behind a tag": ("functionary-v3.1", '<function=f>{"a": "x</function>'),
    "in a message": (
        "harmony",
        '<|start|>assistant to=functions.f<|channel|>commentary<|message|>{"a": "x<|call|>',
    ),
    "behind a mark": (
        "functiongemma",
        "<start_function_call>call:f{a:<escape>x<end_function_call>",
    ),
}


@pytest.mark.parametrize("case", SHUT)
def test_a_string_that_its_block_closes_is_broken_and_not_cut(case: str) -> None:
    """The model ended its call, so that no limit of tokens is to blame."""
    name, text = SHUT[case]
    for level in ("strict", "standard"):
        result = read(text, name, level=level)
        assert (result.outcome, result.truncated, result.content) == ("malformed", False, text)
    assert not read(text, name, level="lenient").truncated
    cut = read(text.rstrip()[:-1], name)
    assert (cut.outcome, cut.truncated) == ("truncated", True)


@pytest.mark.parametrize("form", FORMATS.values(), ids=FORMATS)
def test_a_call_that_was_cut_anywhere_is_not_called_malformed(form: Format) -> None:
    """The model wrote nothing wrong: it was not let finish."""
    made = [ToolCall("a_b", {"k_one": "vv", "k_two": "ww"})]
    text = render(made, form)
    outcomes = {
        text[:end]: parse(text[:end], form, tools=tools_for(made)).outcome
        for end in range(len(text))
    }
    assert [cut for cut, outcome in outcomes.items() if outcome == "malformed"] == []


def test_a_bare_object_that_names_a_tool_is_an_attempt_wherever_it_is_cut() -> None:
    """Behind the key of the arguments, the cut text reads as if the name went on."""
    whole = '{"name": "bash", "arguments" : {"command": "x"}}'
    for end in range(whole.index('",'), len(whole)):
        parsed = parse(whole[:end], format="json", tools=TOOLS)
        assert (parsed.outcome, parsed.truncated) == ("truncated", True), whole[:end]
    other = parse('{"name": "cd", "arguments"', format="json", tools=TOOLS)
    assert other.outcome == "no_call"
