"""Messages of OpenAI's chat completions, dicts or objects, become messages one for one."""

from __future__ import annotations

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given

from tunaeval.data.adapters import to_messages
from tunaeval.data.adapters.documents import read_conversation
from tunaeval.errors import UsageError
from tunaeval.testing.strategies import json_values
from tunaeval.types.messages import Message, Usage

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


def test_a_call_with_broken_arguments_is_one_and_says_so() -> None:
    broken = {"id": "c", "function": {"name": "read", "arguments": "{nope"}}
    asked = {"role": "assistant", "content": "", "tool_calls": [broken]}
    answer = {"role": "tool", "tool_call_id": "c", "content": "bad arguments"}
    read = read_conversation([asked, answer])
    (call,) = read.messages[0].tool_calls
    assert (call.arguments, [repair.code for repair in call.repairs]) == ({}, ["invalid-arguments"])
    assert read.messages[1].is_error
    assert [(notice.code, notice.source) for notice in read.warnings] == [("invalid-arguments", 0)]


@pytest.mark.parametrize("arguments", [None, "", "{}", {}])
def test_a_call_with_nothing_for_arguments_has_none(arguments: Any) -> None:
    function = {"name": "read", "arguments": arguments}
    (message,) = to_messages([{"role": "assistant", "tool_calls": [{"function": function}]}])
    assert (message.tool_calls[0].arguments, message.tool_calls[0].repairs) == ({}, ())


def test_arguments_that_need_a_mend_are_mended_and_marked() -> None:
    function = {"name": "read", "arguments": "{'path': 'a',}"}
    (message,) = to_messages([{"role": "assistant", "tool_calls": [{"function": function}]}])
    assert message.tool_calls[0].arguments == {"path": "a"}
    assert message.tool_calls[0].repairs


def test_usage_and_time_come_along() -> None:
    usage = {"prompt_tokens": 7, "completion_tokens": 2}
    reply = {"role": "assistant", "content": "x", "usage": usage, "created_at": 1_767_225_600}
    (message,) = to_messages([reply])
    assert message.usage == Usage(7, 2)
    assert message.at == 1_767_225_600


@pytest.mark.parametrize(
    ("said", "at"),
    [
        ("2026-01-01T00:00:00Z", 1_767_225_600.0),
        ("2026-01-01T01:00:00+01:00", 1_767_225_600.0),
        ("2026-01-01T00:00:00", 1_767_225_600.0),
        (1_767_225_600_000, 1_767_225_600.0),
        (1_767_225_600_000_000, 1_767_225_600.0),
        (1_767_225_600_000_000_000, 1_767_225_600.0),
        (datetime(2026, 1, 1, tzinfo=UTC), 1_767_225_600.0),
        (1_129_409, None),
        (True, None),
        (float("nan"), None),
        ("soon", None),
    ],
)
def test_times_of_any_unit_are_seconds_since_the_epoch(said: Any, at: float | None) -> None:
    (message,) = to_messages([{"role": "user", "content": "x", "created_at": said}])
    assert message.at == at


def test_an_image_is_named_and_an_unknown_part_is_kept() -> None:
    parts = [{"type": "image_url", "image_url": {"url": "x"}}, {"type": "hologram", "data": 1}]
    read = read_conversation([{"role": "user", "content": parts}])
    assert read.messages[0].content == '[image_url]{"type": "hologram", "data": 1}'
    assert [(notice.code, notice.source) for notice in read.warnings] == [("unknown-part", 0)]


def test_a_custom_tool_takes_text() -> None:
    call = {"id": "c", "type": "custom", "custom": {"name": "sql", "input": "select 1"}}
    (message,) = to_messages([{"role": "assistant", "tool_calls": [call]}])
    assert message.tool_calls[0].arguments == {"input": "select 1"}


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
