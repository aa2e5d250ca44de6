"""OpenAI-style messages, dicts or objects, become messages one for one."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given

from tunaeval.adapters import to_messages
from tunaeval.errors import UsageError
from tunaeval.testing import json_values
from tunaeval.types import Message

FUNCTION = {"name": "read", "arguments": '{"path": "a"}'}
ASKED = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "c1", "type": "function", "function": FUNCTION}],
}


def as_object(value: Any) -> Any:
    if isinstance(value, dict):
        return SimpleNamespace(**{key: as_object(inner) for key, inner in value.items()})
    return [as_object(inner) for inner in value] if isinstance(value, list) else value


@pytest.mark.parametrize("message", [ASKED, as_object(ASKED)])
def test_calls_are_read(message: object) -> None:
    ((call,),) = [one.tool_calls for one in to_messages([message])]
    assert (call.name, call.arguments, call.id) == ("read", {"path": "a"}, "c1")


@pytest.mark.parametrize(
    ("message", "wanted"),
    [
        ({"role": "user", "content": "hi"}, Message("user", "hi")),
        ({"role": "user", "content": [{"type": "text", "text": "hi"}]}, Message("user", "hi")),
        ({"role": "assistant", "content": None}, Message("assistant")),
        ({"role": "system"}, Message("system")),
        (
            {"role": "tool", "tool_call_id": "c", "content": {"ok": False}},
            Message("tool", '{"ok": false}', tool_call_id="c"),
        ),
        (
            {"role": "tool", "tool_call_id": "c", "content": "x", "status": "error"},
            Message("tool", "x", tool_call_id="c", is_error=True),
        ),
        (
            {"role": "assistant", "content": "x", "reasoning_content": "hm"},
            Message("assistant", "x", reasoning="hm"),
        ),
        (Message("user", "as it is"), Message("user", "as it is")),
    ],
)
def test_a_message_is_read(message: object, wanted: Message) -> None:
    assert to_messages([message]) == (wanted,)


def test_the_old_way_of_calling_is_read() -> None:
    (message,) = to_messages([{"role": "assistant", "content": None, "function_call": FUNCTION}])
    assert message.tool_calls[0].name == "read"


@pytest.mark.parametrize("role", ["user", "assistant"])
def test_a_text_that_looks_like_a_call_is_content(role: str) -> None:
    text = '<tool_call>{"name": "read", "arguments": {}}</tool_call>'
    assert to_messages([{"role": role, "content": text}]) == (Message(role, text),)


def test_a_call_with_broken_arguments_is_none() -> None:
    broken = {"id": "c", "function": {"name": "read", "arguments": "{nope"}}
    (message,) = to_messages([{"role": "assistant", "content": "", "tool_calls": [broken]}])
    assert message.tool_calls == ()


@given(content=json_values(), calls=json_values(), reasoning=json_values())
def test_whatever_a_message_holds_it_is_one(content: Any, calls: Any, reasoning: Any) -> None:
    message = {"role": "assistant", "content": content, "tool_calls": calls, "reasoning": reasoning}
    (read,) = to_messages([message])
    assert isinstance(read.content, str)


@pytest.mark.parametrize(
    ("messages", "said"),
    [
        ("hi", "messages is 'hi', wanted a list"),
        (None, "messages is None"),
        ({"role": "user"}, "wanted a list"),
        (["hi"], r"messages\[0\] is 'hi' and has no role"),
        ([{"role": "user"}, {"content": "x"}], r"messages\[1\]"),
    ],
)
def test_what_is_no_message_is_refused(messages: Any, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        to_messages(messages)
