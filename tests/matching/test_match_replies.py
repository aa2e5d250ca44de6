"""`match` reads what it can read as a model's reply, and refuses the rest: silence is no proof."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

import tunaeval
from tunaeval.errors import UsageError
from tunaeval.types.calls import ToolCall

NONE = {"none": True}
FORBID = {"forbid": ["delete_all"]}
TOOL_USE = {"type": "tool_use", "id": "1", "name": "delete_all", "input": {}}
CALL = {"id": "1", "type": "function", "function": {"name": "delete_all", "arguments": "{}"}}

DEEP: list[Any] = []
for _ in range(5000):
    DEEP = [DEEP]


def said(content: object, **more: object) -> dict[str, Any]:
    return {"role": "assistant", "content": content, **more}


@pytest.mark.parametrize("expect", [NONE, FORBID])
@pytest.mark.parametrize(
    ("message", "words"),
    [
        (said([TOOL_USE]), "content[0] is a 'tool_use' part"),
        (said([{"type": "text", "text": "So."}, TOOL_USE]), "content[1] is a 'tool_use' part"),
        (said([{**TOOL_USE, "type": "server_tool_use"}]), "content[0] is a 'server_tool_use' part"),
        (said([{"type": "function_call", "name": "delete_all", "arguments": "{}"}]), "content[0]"),
        (said([SimpleNamespace(**TOOL_USE)]), "content[0] is a 'tool_use' part"),
        (said([{"toolUse": {"name": "delete_all", "input": {}}}]), "content[0] is {'toolUse'"),
        (said([{"functionCall": {"name": "delete_all"}}]), "content[0] is {'functionCall'"),
        (
            said([{"text": "x", "functionCall": {"name": "delete_all"}}]),
            "content[0] is {'text': 'x', 'functionCall'",
        ),
        (said([5]), "content[0] is 5"),
        (said([TOOL_USE], tool_calls=[{**CALL, "id": "2"}]), "content[0] is a 'tool_use' part"),
        (said(None, tool_calls=CALL), "tool_calls is a dict; wanted a list of calls"),
        (said(None, tool_calls="[delete_all()]"), "tool_calls is a str; wanted a list of calls"),
        (said(None, tool_calls={}), "tool_calls is a dict; wanted"),
        (said(5), "content is 5; wanted text, a list of parts or None"),
        (said({"text": "hi"}), "content is {'text': 'hi'}; wanted text"),
        (said({"deep": DEEP}), "content is {'deep': "),
        (said([DEEP]), "content[0] is [[["),
        (said([{"type": "x", "id": []}], tool_calls=[{**CALL, "id": {}}]), "content[0] is a 'x'"),
        (said(10**9999), "content is (an integer of 33216 bits)"),
        (said(b"hi"), "content is b'hi'; wanted text"),
        ({"role": "user", "content": "hi"}, "a user message makes no calls"),
        ({"role": "system", "content": "hi"}, "a system message makes no calls"),
        ({"role": "developer", "content": "hi"}, "a developer message makes no calls"),
        ({"role": "tool", "content": "hi", "tool_call_id": "1"}, "a tool message makes no calls"),
        (SimpleNamespace(type="human", content="hi"), "a human message makes no calls"),
        (SimpleNamespace(role="user", content="hi"), "a user message makes no calls"),
        ({"role": "model", "parts": [{"functionCall": {"name": "delete_all"}}]}, "no content"),
        ({"role": "assistant", "parts": []}, "no content"),
    ],
)
def test_what_cannot_be_read_as_a_reply_is_refused(
    expect: dict[str, Any], message: object, words: str
) -> None:
    with pytest.raises(UsageError) as caught:
        tunaeval.match(expect, message)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "message",
    [
        said("Hello."),
        said(None),
        said(""),
        said([]),
        said([{"type": "text", "text": "Hello."}, "there"]),
        said([{"type": "output_text", "text": "Hello.", "annotations": []}]),
        said([{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "Hello."}]),
        said([{"type": "reasoning", "summary": []}, {"type": "refusal", "refusal": "No."}]),
        said([SimpleNamespace(type="text", text="Hello.")]),
        said("Hello.", tool_calls=None),
        said("Hello.", tool_calls=[]),
        said("Hello.", tool_calls=()),
        said("Hello.", function_call=None),
        {"role": "assistant"},
        {"content": "Hello."},
        {"role": None, "content": "Hello."},
        {"role": "ai", "content": "Hello."},
        SimpleNamespace(type="ai", content="Hello.", tool_calls=[]),
    ],
)
def test_words_are_an_abstention_however_they_are_written(message: object) -> None:
    assert tunaeval.match(NONE, message)
    assert tunaeval.match(FORBID, message)


@pytest.mark.parametrize(
    "part",
    [
        TOOL_USE,
        {"type": "tool_call", "id": "1", "name": "delete_all", "args": {}},
        {"type": "function_call", "call_id": "1", "name": "delete_all", "arguments": "{}"},
    ],
)
def test_a_part_that_repeats_one_of_the_tool_calls_is_read_once(part: dict[str, Any]) -> None:
    """As messages of LangChain have it."""
    wanted = {"calls": [{"name": "delete_all"}]}
    assert tunaeval.match(wanted, said([part], tool_calls=[CALL]))
    assert not tunaeval.match(FORBID, said([part], tool_calls=[CALL]))


@pytest.mark.parametrize(
    ("calls", "words"),
    [
        ([ToolCall("bash", '{"command":"ls"}')], 'calls[0].arguments is \'{"command":"ls"}\''),  # type: ignore[arg-type]  # the mistake
        (ToolCall("bash", None), "calls[0].arguments is None; wanted a dict"),  # type: ignore[arg-type]  # the mistake
        ([ToolCall(5, {})], "calls[0].name is 5; wanted"),  # type: ignore[arg-type]  # the mistake
    ],
)
def test_a_tool_call_has_its_arguments_read(calls: object, words: str) -> None:
    with pytest.raises(UsageError) as caught:
        tunaeval.match({"calls": [{"name": "bash", "arguments": {"command": "ls"}}]}, calls)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    "whole",
    [
        {"choices": [{"message": said("Hello.")}]},
        SimpleNamespace(choices=[SimpleNamespace(message=said("Hello."))]),
    ],
)
def test_a_whole_completion_is_refused_with_the_way_to_its_message(whole: object) -> None:
    with pytest.raises(UsageError, match=r"choices.*\[0\].*message"):
        tunaeval.match(NONE, whole)
