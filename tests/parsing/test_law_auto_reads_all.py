"""`auto` says what its formats say: a call that a format reads by its name is read by `auto`, too,
with as many repairs at the most. What is not so stands in auto_exceptions.toml.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.formats.fixtures import ALL, Case
from tunaeval import parse, render
from tunaeval.grammar import formats as constants
from tunaeval.grammar.format import Format
from tunaeval.grammar.formats import FORMATS, ORDER
from tunaeval.testing.strategies import writable
from tunaeval.types.calls import JsonValue, ToolCall, Tools, ToolSpec
from tunaeval.types.parsing import LEVELS, ParseResult

EXCEPTIONS = tomllib.loads(Path(__file__).with_name("auto_exceptions.toml").read_text("utf-8"))


def agrees(text: str, name: str, tools: Tools) -> bool:
    for level in LEVELS:
        own = parse(text, name, tools=tools, level=level)
        auto = parse(text, tools=tools, level=level)
        if own.calls and (read(own) != read(auto) or repaired(auto) > repaired(own)):
            return False
    return True


def read(result: ParseResult) -> list[tuple[str, JsonValue]]:
    return [(call.name, call.arguments) for call in result.calls]


def repaired(result: ParseResult) -> int:
    return sum(len(call.repairs) for call in result.calls)


@pytest.mark.parametrize(
    "form", [f for f in FORMATS.values() if f.name not in EXCEPTIONS], ids=lambda f: f.name
)
def test_auto_reads_what_a_format_writes(form: Format) -> None:
    @settings(max_examples=25)
    @given(made=writable(form), before=st.sampled_from(["", "Well.\n"]))
    def is_read(made: list[ToolCall], before: str) -> None:
        tools = Tools([ToolSpec(name) for name in {call.name for call in made}])
        text = ("" if form.whole else before) + render(made, form)
        assert agrees(text, form.name, tools), text

    is_read()


@pytest.mark.parametrize(
    "case",
    [case for case in ALL if case.format in FORMATS and case.tools],
    ids=lambda case: case.title,
)
def test_auto_reads_what_a_fixture_of_a_format_shows(case: Case) -> None:
    assert case.tools is not None
    assert case.format in EXCEPTIONS or agrees(case.text, case.format, case.tools)


def test_the_exceptions_are_few_and_real() -> None:
    assert len(EXCEPTIONS) <= 10
    tools = Tools([ToolSpec("f")])
    for name in EXCEPTIONS:
        calls = [ToolCall("f", {"a": value}) for value in ("x", "x\n", "\nx")]
        texts = [f"{render([call], name)}{after}" for call in calls for after in ("", "\nDone.")]
        assert not all(agrees(text, name, tools) for text in texts), name


def test_the_order_has_every_format_once() -> None:
    made = {one.name for one in vars(constants).values() if isinstance(one, Format)}
    assert sorted(made) == sorted(form.name for form in ORDER)


def test_an_object_with_parameters_is_sound() -> None:
    text, tools = '{"name": "f", "parameters": {"a": 1}}', Tools([ToolSpec("f")])
    for written in (text, f"[{text}]", f"```json\n{text}\n```"):
        for given_tools in (tools, None):
            (call,) = parse(written, tools=given_tools, level="strict").calls
            assert (call.format, call.repairs) == ("llama3-bare", ())


def test_a_recipient_on_the_channel_of_analysis_makes_a_call() -> None:
    tools = Tools([ToolSpec("read")])
    for header in (
        "<|channel|>analysis to=functions.read code",
        "<|start|>assistant<|channel|>analysis to=functions.read",
    ):
        (call,) = parse(
            f'{header}<|message|>{{"path": "a"}}<|call|>', tools=tools, level="strict"
        ).calls
        assert (call.name, call.format) == ("read", "harmony")
