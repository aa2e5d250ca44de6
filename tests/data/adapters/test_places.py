"""Where messages are found in an object, and the path that a notice about them has."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tunaeval.data.adapters.documents import read_conversation, read_conversations, read_file
from tunaeval.errors import UsageError
from tunaeval.types.conversations import Conversation

ASKED: dict[str, Any] = {"role": "user", "content": "go"}
CALLED: dict[str, Any] = {"role": "assistant", "content": None, "tool_calls": [
    {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}]}  # fmt: skip
ODD: dict[str, Any] = {"role": "user", "content": [
    {"type": "text", "text": "go"}, {"type": "hologram", "data": 1}]}  # fmt: skip
ORDER = ("messages", "history", "trajectory", "traj", "conversation")


def told(read: Conversation) -> list[tuple[str, str | None]]:
    return [(one.code, one.path) for one in read.warnings]


@pytest.mark.parametrize("key", ORDER)
def test_an_object_is_looked_into(key: str) -> None:
    read = read_conversation({"id": "x", "query": "Do it.", key: [ASKED, ODD]})
    assert [message.content[:2] for message in read.messages] == ["go", "go"]
    assert (read.query, read.name) == ("Do it.", "x")
    assert told(read) == [("unknown-part", f"/{key}/1/content/1")]


def test_the_first_field_with_messages_counts_and_the_others_are_told() -> None:
    for index, key in enumerate(ORDER):
        read = read_conversation({later: [{**ASKED, "content": later}]
                                  for later in reversed(ORDER[index:])})  # fmt: skip
        assert [message.content for message in read.messages] == [key]
        assert sorted(told(read)) == sorted(
            ("unread-field", f"/{later}") for later in ORDER[index + 1 :]
        )


@pytest.mark.parametrize("other", [[], None, "text", 3, ["a"], [1], {}, {"a": [1]}])
def test_a_field_without_messages_is_passed_over(other: Any) -> None:
    read = read_conversation({"messages": other, "traj": [ASKED], "history": other})
    assert [message.content for message in read.messages] == ["go"]
    assert told(read) == []


def test_any_other_field_with_messages_is_told() -> None:
    chat = {"messages": [ASKED], "choices": [{"index": 0, "message": CALLED}], "tags": ["a"],
            "a/b~": [CALLED], "response": {"messages": [CALLED]}}  # fmt: skip
    assert told(read_conversation(chat)) == [
        ("unread-field", "/a~1b~0"), ("unread-field", "/response"), ("unread-field", "/choices/0"),
    ]  # fmt: skip


def test_a_document_inside_of_an_object_is_read() -> None:
    step = {"step_id": 1, "source": "user", "message": [ODD["content"][1]]}
    inner = {"schema_version": "ATIF-v1.6", "steps": [step]}
    read = read_conversation({"reward": 1.0, "trajectory": inner, "history": "none"})
    assert (read.shape, told(read)) == (
        "atif", [("unknown-part", "/trajectory/steps/0/message/0")],
    )  # fmt: skip
    (one, two) = read_conversations([{"traj": [ASKED]}, {"conversation": {"messages": [ODD]}}])
    assert told(one) == []
    assert told(two) == [("unknown-part", "/1/conversation/messages/0/content/1")]


def test_an_object_is_looked_into_one_level_and_no_deeper() -> None:
    with pytest.raises(UsageError, match="wanted a list of messages"):
        read_conversation({"history": {"traj": {"conversation": [ASKED]}}})


def in_lines(*values: Any) -> bytes:
    return "\n".join(map(json.dumps, values)).encode()


def test_a_path_begins_with_the_line_of_the_file() -> None:
    assert told(read_file(in_lines(ASKED, ODD))[0]) == [("unknown-part", "/1/content/1")]
    one, two = read_file(in_lines({"history": [ASKED]}, {"history": [ODD, ASKED]}))
    assert told(one) == []
    assert told(two) == [("unknown-part", "/1/history/0/content/1")]
    (whole,) = read_file(json.dumps({"history": [ODD]}).encode())
    assert told(whole) == [("unknown-part", "/history/0/content/1")]


def test_what_is_odd_about_a_call_has_the_path_of_its_message() -> None:
    assert told(read_conversation({"traj": [ASKED, CALLED]})) == [("dangling-call", "/traj/1")]
    broken = {**CALLED, "tool_calls": [*CALLED["tool_calls"], {"id": [1], "function": {
        "name": "f", "arguments": "nothing"}}]}  # fmt: skip
    (found,) = (one for one in read_conversation([ASKED, broken]).warnings
                if one.code == "invalid-arguments")  # fmt: skip
    assert found.path == "/1/tool_calls/1"


DOCUMENTS: list[tuple[Any, str]] = [
    ({"sessionId": "s", "projectHash": "p", "messages": [
        {"id": "1", "type": "user", "content": "go"}, {"id": "2", "type": "odd"}]}, "/messages/1"),
    ([{"sessionId": "s", "projectHash": "p"}, {"id": "2", "type": "odd"}], "/1"),
    ({"trajectory": [], "history": [ASKED, ODD]}, "/history/1/content/1"),
    ({"samples": [{"epoch": 1, "id": "a", "messages": [ASKED]},
                  {"epoch": 1, "id": "b", "messages": [ASKED, ODD]}]},
     "/samples/1/messages/1/content/1"),
    ({"contents": [{"role": "user", "parts": [{"text": "go"}, {"inlineDate": 1}]}]},
     "/contents/0/parts/1"),
    ({"input": "go", "output": [{"type": "message", "role": "assistant", "content": [
        {"type": "output_text", "text": "a"}, {"type": "odd"}]}]}, "/output/0/content/1"),
    ([{"type": "user", "uuid": "u", "message": {"role": "user", "content": [{"type": "odd"}]}}],
     "/0/message/content/0"),
    ({"session_id": "s", "project_id": "p", "messages": [ODD]}, "/messages/0/content/1"),
    ({"choices": [{"message": {"role": "assistant", "content": [{"type": "odd"}]}}]},
     "/choices/0/message/content/0"),
]  # fmt: skip


@pytest.mark.parametrize(("document", "path"), DOCUMENTS)
def test_a_part_that_is_not_known_has_its_path(document: Any, path: str) -> None:
    reads = read_conversations(document)
    assert [one for read in reads for one in told(read)] == [("unknown-part", path)]
    value: Any = document
    for key in path.split("/")[1:]:
        value = value[int(key)] if isinstance(value, list) else value[key]


def test_a_part_of_nothing_is_told() -> None:
    read = read_conversation([{"role": "user", "content": [None, {"type": "text", "text": "go"}]}])
    assert told(read) == [("empty-item", "/0/content/0")]


USE = {"type": "tool_use", "id": "c", "name": "f", "input": {}}
RESULT = {"type": "tool_result", "tool_use_id": "c", "content": "a"}


@pytest.mark.parametrize(("message", "field"), [
    ({"role": "assistant", "content": [USE], "tool_calls": CALLED["tool_calls"]}, "tool_calls"),
    ({"role": "assistant", "content": "hm", "parts": [{"type": "tool-invocation"}],
      "toolInvocations": [{"toolCallId": "c"}]}, "toolInvocations"),
    ({"role": "assistant", "content": "hm", "parts": [{"text": "go"}]}, "parts"),
    ({"role": "assistant", "content": "hm", "tool_calls": "[{}]"}, "tool_calls"),
    ({"role": "assistant", "content": "hm", "tool_calls": {"id": "c"}}, "tool_calls"),
    ({"role": "user", "content": "hm", "history": [ASKED]}, "history"),
    ({"role": "assistant", "content": "hm", "usage_metadata": {"input_tokens": 3}},
     "usage_metadata"),
    ({"type": "ai", "content": [USE], "tool_calls": []}, "content"),
])  # fmt: skip
def test_a_field_of_a_message_that_is_not_read_is_told(message: Any, field: str) -> None:
    read = read_conversation({"traj": [message]})
    assert ("unread-field", f"/traj/0/{field}") in told(read)


@pytest.mark.parametrize("odd", [1.5, True, ["c"], {"id": "c"}])
def test_an_id_of_another_type_is_told(odd: Any) -> None:
    call = {**CALLED["tool_calls"][0], "id": odd}
    chat = [{**CALLED, "tool_calls": [call]}, {"role": "tool", "tool_call_id": odd, "content": "a"}]
    blocks = [{"role": "assistant", "content": [{**USE, "id": odd}]},
              {"role": "user", "content": [{**RESULT, "tool_use_id": odd}]}]  # fmt: skip
    paths = ["/0/tool_calls/0", "/1"], ["/0/content/0", "/1/content/0"]
    for messages, wanted in zip((chat, blocks), paths, strict=True):
        read = read_conversation(messages)
        assert told(read) == [("invalid-id", path) for path in wanted]
        assert [message.role for message in read.messages] == ["assistant", "tool"]
