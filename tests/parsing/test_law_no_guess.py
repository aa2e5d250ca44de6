"""A value is what the model wrote, or the call is refused: none takes in what is not its own.

The texts are made after public reports about other readers. Each is read whole and in pieces.
"""

from __future__ import annotations

from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.formats.reading import read, takes
from tests.parsing.samples import codes
from tunaeval import parse_message, render
from tunaeval.rewards import Gold, reward
from tunaeval.types.calls import JsonObject, ToolCall, Tools, ToolSpec
from tunaeval.types.parsing import LEVELS, Level

TOOLS = Tools(
    [
        ToolSpec("say", parameters=takes(text="string", n="integer")),
        ToolSpec("bash", parameters=takes(command="string")),
        ToolSpec("read_file", parameters=takes(path="string", content="string")),
        ToolSpec("now", parameters={"type": "object", "properties": {}}),
    ]
)


def hermes(arguments: str, name: str = "say") -> str:
    return f'<tool_call>{{"name": "{name}", "arguments": {arguments}}}</tool_call>'


class Row(NamedTuple):
    """A text in a format, the least level that reads it (None: no level does), and its calls."""

    format: str
    text: str
    level: Level | None
    calls: list[tuple[str, JsonObject]]


_KIMI = (
    "<|tool_calls_section_begin|><|tool_call_begin|>{}<|tool_call_argument_begin|>{{}}<|tool_call_end|>"
    "<|tool_calls_section_end|>"
)
_QUOTES = r"""['say(text=\'it\')', 'say(text="a\\nb")']"""
_MESSAGE = (
    '{"role": "assistant", "content": null, "tool_calls": [{"id": "c1", "type": "function", '
    '"function": {"name": "now", "arguments": "{}"}}]}'
)
_INVOKE = (
    '<function_calls>\n<invoke name="read_file">\n<parameter name="content">one{}\n'
    '<parameter name="path">a.md</parameter>\n</invoke>\n</function_calls>'
)
_CODER = (
    "<tool_call>\n<function=read_file>\n<parameter=content>\none\n{}\n<parameter=path>\na.md\n"
    "</parameter>\n</function>\n</tool_call>"
)
_FILE: list[tuple[str, JsonObject]] = [("read_file", {"content": "one", "path": "a.md"})]

ROWS = {
    "a quote at a string's end": Row(
        "hermes",
        hermes('{"text": "He said "yes""}'),
        "lenient",
        [("say", {"text": 'He said "yes"'})],
    ),
    "a quote alone": Row("hermes", hermes('{"text": """}'), "lenient", [("say", {"text": '"'})]),
    "a key in a string": Row("hermes", hermes('{"text": "ok,\n  "n": 1}'), None, []),
    "a key in a line": Row("hermes", hermes('{"text": "ok, "n": 1}'), None, []),
    "another comma": Row("hermes", hermes('{"text": "ok"，"n": 1}'), None, []),
    "a date": Row(
        "hermes", hermes('{"text": 2024-01-02}'), "lenient", [("say", {"text": "2024-01-02"})]
    ),
    "a version": Row("hermes", hermes('{"text": 0.0.1}'), "lenient", [("say", {"text": "0.0.1"})]),
    "no number": Row("hermes", hermes('{"text": 1_}'), None, []),
    "a call in a string": Row(
        "auto",
        f'[{{"name": "say", "arguments": {{"text": "a}}}}, {hermes("{}", "now")[11:-12]}]',
        None,
        [],
    ),
    "a Python call in a string": Row("auto", '[say(text="a), say(text="b")]', None, []),
    "an expression": Row("auto", '[say(text="MIIF" + "..." * 100)]', None, []),
    "an expression in JSON": Row("hermes", hermes('{"text": "MIIF" + "..." * 100}'), None, []),
    "a method": Row("auto", '[say(text="abc".upper())]', None, []),
    "an expression that is cut": Row("auto", '[say(text="MIIF" + "...', None, []),
    "quoted calls with escapes": Row(
        "auto", _QUOTES, "standard", [("say", {"text": "it"}), ("say", {"text": "a\nb"})]
    ),
    "a message": Row("auto", _MESSAGE, "standard", [("now", {})]),
    "an empty dictionary": Row("auto", "now({})", "standard", [("now", {})]),
    "brackets too many": Row("hermes", hermes('"{}\\"\\""', "now"), "standard", [("now", {})]),
    "a closer named after its key": Row(
        "anthropic", _INVOKE.format("</content>"), "standard", _FILE
    ),
    "the same on lines": Row("qwen3-coder", _CODER.format("</content>"), "standard", _FILE),
    "a bracket behind a closer": Row(
        "qwen3-coder", _CODER.format("</parameter>>"), "strict", _FILE
    ),
    "an id with underscores": Row(
        "kimi-k2", _KIMI.format("functions_now_1"), "lenient", [("now", {})]
    ),
    "an id in one word": Row("kimi-k2", _KIMI.format("functionsnow5"), "lenient", [("now", {})]),
    "an id of no tool": Row("kimi-k2", _KIMI.format("functions_then_1"), None, []),
}


@pytest.mark.parametrize("name", ROWS)
def test_a_value_is_what_was_written_or_the_call_is_refused(name: str) -> None:
    row, reads = ROWS[name], False
    for level in LEVELS:
        result = read(row.text, row.format, TOOLS, level)
        reads = reads or level == row.level
        assert [(c.name, c.arguments) for c in result.calls] == (row.calls if reads else []), level
        assert result.outcome == ("calls" if reads else "malformed"), level
        assert reads or codes(result)


NESTED = (
    "qwen3-coder",
    "qwen3-bare",
    "glm45",
    "minimax-m2",
    "anthropic",
    "deepseek-v3.2",
    "seed-oss",
)


@pytest.mark.parametrize("name", NESTED)
@given(before=st.text("ab <\n", max_size=8), after=st.text("ab <\n", max_size=8))
def test_a_whole_call_in_a_value_is_text(name: str, before: str, after: str) -> None:
    """A here-document may hold a call of the format: its closers end nothing around it."""
    inner = render([ToolCall("bash", {"command": "ls"})], format=name)
    value = f"cat <<'E'\n{before}x\n{inner}\nx{after}E"
    text = render([ToolCall("bash", {"command": value})], format=name)
    for level in LEVELS:
        result = read(text, name, TOOLS, level)
        assert [c.arguments for c in result.calls] == [{"command": value}]


def test_a_call_that_began_in_a_value_and_never_ended_refuses_it() -> None:
    one = "<tool_call>\n<function=bash>\n<parameter=command>\n"
    result = read(f"{one}a\n{one}b\n</parameter>\n</function>\n</tool_call>", "qwen3-coder", TOOLS)
    assert (result.calls, result.outcome) == ((), "malformed")


def test_a_server_that_writes_quotes_behind_empty_arguments_is_read() -> None:
    call = {"id": "1", "type": "function", "function": {"name": "now", "arguments": '{}""'}}
    result = parse_message(
        {"role": "assistant", "content": None, "tool_calls": [call]}, tools=TOOLS
    )
    assert [(c.name, c.arguments) for c in result.calls] == [("now", {})]
    assert [repair.code for c in result.calls for repair in c.repairs] == ["extra-closer"]


def test_a_format_with_a_fence_of_its_own_is_paid_behind_a_closed_fence() -> None:
    gold = [{"name": "say", "arguments": {"text": "hi"}}]
    call = render([ToolCall("say", {"text": "hi"})], format="deepseek-v3")
    assert reward(f"I ran it:\n```python\nprint(1)\n```\n{call}", Gold.of(gold)).value == 1.0
