"""Whole answers of all APIs: told apart by their fields, and read alike wherever they are read."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.clients.asking import ask
from tests.faults import Answer, FaultServer
from tests.parsing.samples import codes, said
from tests.wire.writing import WAYS, WHOLE, Call, Said
from tunaeval import parse_message, stream
from tunaeval.testing.strategies import json_values
from tunaeval.testing.tape import Tape
from tunaeval.types.calls import JsonObject, JsonValue
from tunaeval.types.messages import Usage
from tunaeval.wire.apis import APIS, recognised
from tunaeval.wire.assembler import Assembler

CALLS = (Call("c1", "read_file", {"path": "é"}), Call("c2", "bash", {"command": "ls", "n": 1}))
SAID = Said("Look: \U0001f642", "I should look.", CALLS)

CONVERSE: JsonObject = {
    "output": {"message": {"role": "assistant", "content": [
        {"reasoningContent": {"reasoningText": {"text": SAID.thought}}}, {"text": SAID.text},
        *({"toolUse": {"toolUseId": one.id, "name": one.name, "input": one.arguments}}
          for one in CALLS),
    ]}},
    "stopReason": "tool_use",
    "usage": {"inputTokens": 3, "outputTokens": 5, "cacheReadInputTokens": 4, "totalTokens": 12},
}  # fmt: skip
ANSWERS: dict[str, JsonObject] = {
    **{api: write(SAID) for api, write in WHOLE.items()},
    "gemini in snake case": json.loads(
        json.dumps(WHOLE["gemini"](SAID)).replace("functionCall", "function_call")
        .replace("finishReason", "finish_reason").replace("usageMetadata", "usage_metadata")
        .replace("promptTokenCount", "prompt_token_count")
        .replace("candidatesTokenCount", "candidates_token_count")
        .replace("thoughtsTokenCount", "thoughts_token_count")
    ),
    "converse": CONVERSE,
}  # fmt: skip


@pytest.mark.parametrize("name", ANSWERS)
def test_a_whole_answer_is_the_message(name: str) -> None:
    document = ANSWERS[name]
    api = recognised(document)
    assert api is not None
    assert api.name == name.partition(" ")[0]
    result = parse_message(document, "hermes")
    assert said(result) == [(one.name, one.arguments) for one in CALLS]
    assert [call.id for call in result.calls] == ["c1", "c2"]
    assert (result.content, result.reasoning) == (SAID.text, SAID.thought)
    assert (codes(result), result.outcome) == ([], "calls")
    reader = stream("hermes")
    reader.feed_sse(json.dumps(document))
    assert reader.finish() == result
    with FaultServer(Answer(json.dumps(document).encode())) as server:
        reply = ask(server)
    assert parse_message(reply.message, "hermes") == result
    assert (reply.finish_reason, reply.usage) == ("tool_calls", Usage(7, 5))


FINISHES: list[tuple[str, JsonObject, str]] = [
    ("messages", {"content": [], "stop_reason": "refusal"}, "content_filter"),
    ("messages", {"content": [], "stop_reason": "model_context_window_exceeded"}, "length"),
    ("messages", {"content": [], "stop_reason": "max_tokens"}, "length"),
    ("messages", {"content": [], "stop_reason": "stop_sequence"}, "stop"),
    ("gemini", {"candidates": [{"finishReason": "SAFETY"}]}, "content_filter"),
    ("gemini", {"candidates": [{"finishReason": "PROHIBITED_CONTENT"}]}, "content_filter"),
    ("gemini", {"promptFeedback": {"blockReason": "SAFETY"}}, "content_filter"),
    ("gemini", {"candidates": [{"finishReason": "MAX_TOKENS"}]}, "length"),
    ("responses", {"output": [], "status": "completed"}, "stop"),
    ("responses", {"output": [], "status": "incomplete",
                   "incomplete_details": {"reason": "content_filter"}}, "content_filter"),
    ("responses", {"output": [], "status": "incomplete",
                   "incomplete_details": {"reason": "max_output_tokens"}}, "length"),
    ("chat", {"choices": [{"message": {}, "finish_reason": "eos"}]}, "eos"),
    ("converse", {"output": {"message": {"content": []}}, "stopReason": "guardrail_intervened"},
     "content_filter"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "document", "finish"), FINISHES)
def test_a_finish_reason_is_in_the_words_of_chat_completions(
    name: str, document: JsonObject, finish: str
) -> None:
    api = recognised(document)
    assert api is not None
    assert (api.name, api.read_reply(document).finish) == (name, finish)


def test_an_answer_without_content_is_an_answer() -> None:
    document: JsonObject = {"candidates": [{"finishReason": "SAFETY", "index": 0}]}
    answer = APIS["gemini"].read_reply(document)
    assert (answer.message, answer.missing) == ({"role": "assistant", "content": None}, ())
    assert parse_message(document).outcome == "no_call"


USAGES: list[tuple[JsonObject, Usage]] = [
    ({"input_tokens": 4, "cache_read_input_tokens": 120, "output_tokens": 9}, Usage(124, 9)),
    ({"prompt_tokens": 124, "completion_tokens": 9, "cache_read_input_tokens": 120}, Usage(124, 9)),
    ({"input_tokens": 124, "input_tokens_details": {"cached_tokens": 120}}, Usage(124)),
    ({"promptTokenCount": 7, "candidatesTokenCount": 2, "thoughtsTokenCount": 30}, Usage(7, 32)),
    ({"promptTokenCount": 7, "thoughtsTokenCount": 30}, Usage(7, 30)),
    ({"prompt_tokens": True, "completion_tokens": -1}, Usage()),
]  # fmt: skip


@pytest.mark.parametrize(("given", "usage"), USAGES)
def test_tokens_are_counted_with_those_of_the_cache_and_of_thoughts(
    given: JsonObject, usage: Usage
) -> None:
    assert APIS["chat"].read_reply({"choices": [], "usage": given}).usage == usage


def test_the_usage_of_a_stream_is_that_of_all_its_events() -> None:
    answer = Assembler()
    for event in WAYS["messages"](Tape(bytes(99)), SAID):
        answer.event(event)
    assert (answer.usage, answer.finish) == (Usage(7, 5), "tool_calls")


def test_what_is_missing_is_listed() -> None:
    document: JsonObject = {"output": [{"type": "function_call", "name": "f"}]}
    (part,) = APIS["responses"].read_reply(document).parts
    assert (part.id, part.missing, part.path) == (None, ("call_id", "arguments"), "/output/0")
    assert APIS["responses"].read_reply({"object": "response"}).missing == (
        "/output",
        "/status",
    )
    blocks = [{"type": "text", "text": "Hm."}, {"type": "tool_use", "id": "a", "name": 5}]
    *_, call = APIS["messages"].read_message({"role": "assistant", "content": blocks}, "/3").parts
    assert (call.name, call.missing, call.path) == (5, ("name", "input"), "/3/content/1")


def test_calls_that_the_provider_runs_are_not_the_agents() -> None:
    served = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}
    own = {"type": "tool_use", "id": "a", "name": "f", "input": {}}
    document: JsonObject = {"content": [served, own], "stop_reason": "tool_use"}
    assert said(parse_message(document)) == [("f", {})]
    assert [part.hosted for part in APIS["messages"].read_reply(document).parts] == [True, False]


def test_objects_of_the_official_clients_are_read() -> None:
    types = pytest.importorskip("anthropic.types", reason="anthropic is not installed")
    message = types.Message.model_validate(WHOLE["messages"](SAID))
    assert said(parse_message(message)) == [(one.name, one.arguments) for one in CALLS]
    chat = pytest.importorskip("openai.types.chat", reason="openai is not installed")
    completion = chat.ChatCompletion.model_validate(
        {**WHOLE["chat"](SAID), "created": 0, "model": ""}
    )
    assert said(parse_message(completion)) == [(one.name, one.arguments) for one in CALLS]


KEYS = ("choices", "delta", "message", "tool_calls", "function", "name", "arguments", "id", "index",
        "output", "type", "content", "role", "stop_reason", "candidates", "parts", "functionCall",
        "usage", "item", "content_block", "response", "text", "error", "finish_reason")  # fmt: skip
TYPES = ("message", "text", "tool_use", "function_call", "reasoning", "content_block_start",
         "content_block_delta", "response.output_item.added", "response.completed", "error",
         "response.output_text.delta", "message_start", "message_delta")  # fmt: skip
odd = st.recursive(
    st.one_of(json_values(), st.sampled_from(TYPES)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(KEYS), inner, max_size=5)
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from(KEYS), odd, min_size=1))
def test_no_document_raises(document: dict[str, JsonValue]) -> None:
    """Whatever the types of its fields; nor does a message or an event that is none."""
    for api in APIS.values():
        answer: Any = api.read_reply(document)
        assert answer.message is None or answer.message.get("content") is not ...
        assert all(isinstance(part.text, str) for part in api.read_message(document, "").parts)
        assert api.claims(document) in {True, False}
        answered = Assembler()
        answered.take(api.fragments(document))
        answered.event(document)
        answered.delta(document)
        answered.end()
        assert isinstance(answered.message(), dict)
        assert answered.usage is not None
