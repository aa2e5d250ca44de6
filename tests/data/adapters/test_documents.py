"""What holds transcripts, whose they are, and what is said of what holds none."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import BaseModel

import tunaeval
from tests.data.adapters.writers import WRITERS, Answered, Asked, Called, Step
from tunaeval.data.adapters import documents
from tunaeval.data.adapters.documents import read_conversation, read_conversations, read_file
from tunaeval.errors import PluginError, UnknownNameError, UsageError
from tunaeval.registry import Registry
from tunaeval.types.calls import ToolCall
from tunaeval.types.conversations import Notice
from tunaeval.types.messages import Message
from tunaeval.types.roles import Adapter

STEPS: list[Step] = [
    Asked("Read a."),
    Called("I look.", (("read", {"path": "a"}, "c1"),)),
    Answered((("c1", "text of a", False),)),
]
CHAT = WRITERS["openai-chat"](STEPS)


class Host(BaseModel):
    """As all models of pydantic's, it can be iterated, over its fields."""

    messages: list[dict[str, Any]]


@pytest.mark.parametrize("name", [name for name in WRITERS if " " not in name])
def test_the_shape_may_be_said(name: str) -> None:
    told = read_conversation(WRITERS[name](STEPS), shape=name)
    assert told.shape == name
    assert [call.id for m in told.messages for call in m.tool_calls] == ["c1"]


def test_texts_alone_are_chat_completions() -> None:
    told = read_conversation([{"role": "user", "content": "hi"}])
    assert (told.shape, told.query) == ("openai-chat", "hi")


@pytest.mark.parametrize("name", [name for name in WRITERS if name != "otel"])
def test_a_plain_message_may_stand_in_any_list(name: str) -> None:
    told = read_conversation([*WRITERS[name](STEPS), {"role": "user", "content": "Thanks."}])
    assert (told.messages[-1].role, told.messages[-1].content) == ("user", "Thanks.")


def test_our_own_messages_are_taken_as_they_are() -> None:
    own = [Message("user", "hi"), Message("assistant", tool_calls=(ToolCall("a", {}, "c"),))]
    told = read_conversation(own)
    assert (told.shape, told.messages) == ("tunaeval", tuple(own))
    assert read_conversation(told) is told


@pytest.mark.parametrize(
    "document",
    [
        {"messages": CHAT},
        Host(messages=CHAT),
        {"id": "r1", "query": "Read a.", "messages": CHAT},
        {"object": "chat.completion", "choices": [{"message": CHAT[1]}]},
        {"choices": [{"index": 1, "message": CHAT[0]}, {"index": 0, "message": CHAT[1]}]},
        tuple(CHAT),
        iter(CHAT),
    ],
)
def test_messages_are_found_where_hosts_put_them(document: Any) -> None:
    told = read_conversation(document)
    assert [call.id for m in told.messages for call in m.tool_calls] == ["c1"]


def test_several_transcripts_are_several_and_each_has_its_place() -> None:
    rows: list[dict[str, Any]] = [
        {"messages": CHAT, "task": "one"},
        {"messages": WRITERS["anthropic"](STEPS)},
    ]
    for told in (
        read_conversations(rows),
        read_conversations([row["messages"] for row in rows]),
        read_file(json.dumps(rows).encode()),
        read_file("\n\n".join(map(json.dumps, rows)).encode()),
    ):
        assert [one.shape for one in told] == ["openai-chat", "anthropic"]
    assert [one.query for one in read_conversations(rows)] == ["one", "Read a."]
    lines = read_file("\n\n".join(map(json.dumps, rows)).encode())
    assert [one.name for one in lines] == ["line 1", "line 3"]


def test_a_score_is_of_one_conversation() -> None:
    with pytest.raises(UsageError, match="contains 2 conversations, wanted one"):
        tunaeval.score([{"messages": CHAT}, {"messages": CHAT}], "Read a.")


@pytest.mark.parametrize(
    ("messages", "code", "source"),
    [
        ([CHAT[1], CHAT[2], CHAT[1], CHAT[2]], "duplicate-id", 2),
        ([CHAT[2], CHAT[1]], "early-result", 1),
        ([CHAT[0], CHAT[2]], "orphan-result", 1),
        ([CHAT[0], CHAT[1]], "dangling-call", 1),
        ([{"role": "assistant", "tool_calls": [{"function": {"name": ""}, "id": "c1"}]}, CHAT[2]],
         "unnamed-call", 0),
    ],
)  # fmt: skip
def test_what_is_odd_about_calls_and_results_is_told(
    messages: list[Any], code: str, source: int
) -> None:
    assert [(one.code, one.source) for one in read_conversation(messages).warnings] == [
        (code, source)
    ]


def test_a_warning_is_in_words() -> None:
    (notice,) = read_conversation(CHAT[:2]).warnings
    assert notice == Notice("dangling-call", "the call 'c1' of 'read' has no result", 1, "/1")


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ("hi", "messages is 'hi', wanted a list"),
        (None, "messages is None, wanted a list"),
        (17, "messages is 17, wanted a list"),
        ({"role": "user"}, "wanted a list"),
        (["hi"], r"messages\[0\] is 'hi' and has no role; wanted a list .* langchain"),
        ([CHAT[0], {"content": "x"}], r"messages\[1\] is \{'content': 'x'\}"),
        ({"messages": [CHAT[0], 1]}, r"messages.messages\[1\] is 1"),
        ([{"messages": CHAT}, {"messages": ["x"]}], r"messages\[1\].messages\[0\] is 'x'"),
    ],
)
def test_what_is_no_transcript_is_named_with_its_place(document: Any, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        read_conversations(document)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "f: it is empty"),
        (b"hi", "f: not JSON .* found 'hi'; wanted JSON, JSON lines"),
        (b'{"messages": []}\n{"mess\n{}', "f, line 2: not JSON .* found '{\"mess'"),
        (b'{"messages": []}\n{"messages": [1]}', r"f, line 2: messages.messages\[0\] is 1"),
        (b'"caf\xe9"', "f: byte 0xe9 at 4 is not utf-8, so it is no text"),
        (b'{"a": 1}', r"f: messages\[0\] is \{'a': 1\} and has no role"),
        (b"[" * 100_000, "f: not JSON"),
        (b'{"resourceSpans": []}', "f: it contains no transcript"),
        (b"PK\x03\x04", "f: the archive cannot be read"),
    ],
)
def test_a_bad_file_is_named_with_the_place_in_it(data: bytes, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        read_file(data, file="f")


def test_other_encodings_of_unicode_are_read() -> None:
    text = json.dumps(CHAT)
    for encoding in ("utf-8-sig", "utf-16"):
        assert read_file(text.encode(encoding)) == (read_conversation(CHAT),)


def test_a_shape_that_is_not_known_gets_its_near_misses() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'tinyagent'"):
        read_conversations(CHAT, shape="tinyagnt")
    with pytest.raises(UsageError, match="which is no tunacode document"):
        read_conversations(CHAT, shape="tunacode")


def test_an_adapter_that_cannot_say_keeps_no_other_from_being_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Broken:
        name = "broken"

        def reads(self, _: object) -> bool:
            raise ValueError("no such thing")

        def read(self, document: object) -> list[object]:
            return [document]

    class Diary:
        name = "diary"

        def reads(self, document: object) -> bool:
            return isinstance(document, dict) and "dear diary" in document

        def read(self, document: Any) -> list[object]:
            return [[{"role": "user", "content": text} for text in document["dear diary"]]]

    own: Registry[Adapter] = Registry("tunaeval.adapters", "adapter", builtins={})
    own.add("a-broken", Broken())
    own.add("diary", Diary())
    monkeypatch.setattr(documents, "adapters", own)
    read = tunaeval.read_conversation({"dear diary": ["Hello"]})
    assert [message.content for message in read.messages] == ["Hello"]
    with pytest.raises(PluginError, match="adapter 'broken' raised ValueError: no such thing"):
        tunaeval.read_conversation({"what": 1})
