"""Messages whose calls are not a list of calls: nothing of them is an abstention."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from tests.parsing.samples import LS, TOOLS, codes, said, tagged
from tunaeval import match, parse_message
from tunaeval.types.calls import JsonValue
from tunaeval.types.parsing import LEVELS, Level

CALLED = [("bash", {"command": "ls"})]
LS_ARGS = '{"command": "ls"}'
CALL = {"id": "c1", "type": "function", "function": {"name": "bash", "arguments": LS_ARGS}}


def test_a_lone_call_is_the_only_one() -> None:
    for level in LEVELS:
        result = parse_message({"role": "assistant", "tool_calls": CALL}, tools=TOOLS, level=level)
        assert said(result) == CALLED
        assert result.calls[0].source == "structured"
    lone = SimpleNamespace(id="c1", function=SimpleNamespace(name="bash", arguments=LS_ARGS))
    assert said(parse_message(SimpleNamespace(content=None, tool_calls=lone))) == CALLED


@pytest.mark.parametrize(
    "calls", ["bash()", LS, 5, 0.5, True, b"ls", [5], ["bash"], [None], [[CALL]]]
)
@pytest.mark.parametrize("level", LEVELS)
def test_what_is_no_call_is_malformed(calls: JsonValue, level: Level) -> None:
    result = parse_message({"role": "assistant", "content": "", "tool_calls": calls}, level=level)
    assert (result.outcome, result.calls, codes(result)) == ("malformed", (), ["invalid-name"])
    assert result.diagnoses[0].message.startswith("tool_calls[0]: ")


@pytest.mark.parametrize("nothing", [None, [], (), {}, "", False, 0])
def test_nothing_is_no_call(nothing: JsonValue) -> None:
    result = parse_message({"role": "assistant", "content": "Hi.", "tool_calls": nothing})
    assert (result.outcome, result.diagnoses) == ("no_call", ())


INVALID = {"name": "bash", "args": '{"command": "ls', "id": "c1", "error": "not valid JSON"}


def test_langchains_invalid_calls_are_malformed() -> None:
    message = {"content": "", "tool_calls": [], "invalid_tool_calls": [INVALID]}
    for level in LEVELS:
        result = parse_message(message, tools=TOOLS, level=level)
        assert (result.outcome, codes(result)) == ("malformed", ["invalid-arguments"])
        assert result.diagnoses[0].message == "invalid_tool_calls[0]: not valid JSON"


def test_a_sound_call_beside_an_invalid_one_is_called() -> None:
    message = {"content": "", "tool_calls": [CALL], "invalid_tool_calls": [INVALID]}
    result = parse_message(message, tools=TOOLS)
    assert (said(result), result.outcome) == (CALLED, "calls")
    assert codes(result) == ["invalid-arguments"]


def test_a_call_in_the_text_beside_an_invalid_one_is_called() -> None:
    result = parse_message({"content": tagged(LS), "invalid_tool_calls": [INVALID]}, tools=TOOLS)
    assert (said(result), codes(result)) == (CALLED, ["invalid-arguments"])


def test_an_invalid_call_is_no_abstention() -> None:
    message = {
        "role": "assistant",
        "content": "",
        "tool_calls": [],
        "invalid_tool_calls": [INVALID],
    }
    assert not match({"none": True}, message).ok
    assert match({"none": True}, {**message, "invalid_tool_calls": []}).ok


def test_a_message_of_langchain_itself() -> None:
    messages = pytest.importorskip("langchain_core.messages", reason="LangChain is not installed")
    lost = messages.AIMessage(
        content="", invalid_tool_calls=[{**INVALID, "type": "invalid_tool_call"}]
    )
    assert parse_message(lost).outcome == "malformed"
    assert not match({"none": True}, lost).ok
    sound = messages.AIMessage(
        content="", tool_calls=[{"name": "bash", "args": {"command": "ls"}, "id": "c1"}]
    )
    assert said(parse_message(sound)) == CALLED


@pytest.mark.parametrize("kind", ["tool_use", "tool_call", "function_call"])
def test_a_call_of_another_api_is_reported(kind: str) -> None:
    parts = [{"type": "text", "text": "Look:"}, {"type": kind, "id": "1", "name": "f", "input": {}}]
    result = parse_message({"role": "assistant", "content": parts})
    assert (result.outcome, result.detail, result.content) == ("malformed", "not-text", "Look:")
    assert kind in result.diagnoses[0].message


def test_a_part_that_repeats_a_structured_call_is_silent() -> None:
    call = {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    parts = [{"type": "tool_use", "id": "1", "name": "f", "input": {}}]
    result = parse_message({"role": "assistant", "content": parts, "tool_calls": [call]})
    assert (result.outcome, result.diagnoses) == ("calls", ())


def test_of_several_choices_the_one_of_index_0_is_read_wherever_it_is() -> None:
    choices = [
        {"index": index, "message": {"role": "assistant", "content": content}}
        for index, content in ((1, "It is done."), (0, tagged(LS)))
    ]
    result = parse_message({"choices": choices}, tools=TOOLS)
    assert (said(result), codes(result)) == (CALLED, ["other-choices"])
    assert codes(parse_message({"choices": choices[1:]}, tools=TOOLS)) == []
