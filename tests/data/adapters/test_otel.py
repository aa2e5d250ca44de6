"""Spans of generative AI: a real agent's, through a real SDK, and those of other exporters."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from tunaeval.data.adapters.documents import read_conversation, read_conversations, read_file
from tunaeval.types.messages import Usage

pytest.importorskip("pydantic_ai", reason="needs the extra pydantic-ai")
pytest.importorskip("opentelemetry.sdk", reason="needs opentelemetry-sdk")

from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from pydantic_ai import Agent, ModelRetry
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.instrumented import InstrumentationSettings


def scripted(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    del info
    if len(messages) > 1:
        return ModelResponse(parts=[TextPart("done")])
    return ModelResponse(
        parts=[
            TextPart("I look."),
            ToolCallPart("read", {"path": "a"}, tool_call_id="c1"),
            ToolCallPart("read", '{"path": "missing"}', tool_call_id="c2"),
        ]
    )


def read(path: str) -> str:
    if path == "missing":
        raise ModelRetry("File not found")
    return f"text of {path}"


@pytest.fixture(scope="module", params=[5, 6])
def spans(request: pytest.FixtureRequest) -> list[ReadableSpan]:
    kept, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(kept))
    settings = InstrumentationSettings(tracer_provider=provider, version=request.param)
    before = Agent._instrument_default
    Agent.instrument_all(settings)
    try:
        agent = Agent(FunctionModel(scripted), system_prompt="sys", tools=[read])
        asyncio.run(agent.run("Read a."))
    finally:
        Agent.instrument_all(before)
    provider.shutdown()
    return list(kept.get_finished_spans())


@pytest.mark.parametrize("form", ["objects", "lines", "a list"])
def test_all_that_an_agent_did_arrives(spans: list[ReadableSpan], form: str) -> None:
    dumps = [json.loads(span.to_json()) for span in spans]
    told = {
        "objects": lambda: read_conversation(spans),
        "lines": lambda: read_file("\n".join(map(json.dumps, dumps)).encode())[0],
        "a list": lambda: read_conversation(dumps),
    }[form]()
    assert (told.shape, told.query) == ("otel", "Read a.")
    assert [m.role for m in told.messages] == [
        "system", "user", "assistant", "tool", "tool", "assistant",
    ]  # fmt: skip
    reply = told.messages[2]
    assert [(call.id, call.arguments) for call in reply.tool_calls] == [
        ("c1", {"path": "a"}), ("c2", {"path": "missing"}),
    ]  # fmt: skip
    assert isinstance(reply.usage, Usage)
    assert reply.at is not None
    assert [(m.content, bool(m.is_error)) for m in told.messages[3:5]] == [
        ("text of a", False), ("File not found", True),
    ]  # fmt: skip
    assert told.messages[5].content == "done"
    assert told.warnings == ()


def test_an_agents_own_span_is_enough(spans: list[ReadableSpan]) -> None:
    whole = [span for span in spans if "invoke_agent" in span.name or "agent run" in span.name]
    told = read_conversation(whole)
    assert len(told.messages) == 6
    assert [len(m.tool_calls) for m in told.messages] == [0, 0, 2, 0, 0, 0]


def text(words: str) -> dict[str, str]:
    return {"type": "text", "content": words}


def chat(number: int, before: list[Any], after: list[Any]) -> dict[str, Any]:
    return {
        "name": "chat", "trace_id": "t", "start_time": 1_767_225_600_000 + number,
        "attributes": {
            "gen_ai.operation.name": "chat",
            "gen_ai.input.messages": before, "gen_ai.output.messages": after,
        },
    }  # fmt: skip


def test_a_sub_agent_has_a_conversation_of_its_own() -> None:
    asked, other = ({"role": "user", "parts": [text(words)]} for words in ("Do it.", "Help me."))
    reply, helped = ({"role": "assistant", "parts": [text(words)]} for words in ("1", "2"))
    spans = [
        chat(3, [asked, reply, asked], [{**reply, "finish_reason": "stop"}]),
        chat(1, [asked], [{**reply, "finish_reason": "stop"}]),
        chat(2, [other], [helped]),
    ]
    told = read_conversations(spans)
    assert [one.query for one in told] == ["Do it.", "Help me."]
    assert [len(one.messages) for one in told] == [4, 2]


def test_a_result_that_no_request_repeats_is_taken_from_the_tools_span() -> None:
    call = {"type": "tool_call", "id": "c", "name": "done", "arguments": {}}
    asked = {"role": "user", "parts": [text("Do it.")]}
    run = {"name": "execute_tool done", "trace_id": "t", "attributes": {
        "gen_ai.operation.name": "execute_tool", "gen_ai.tool.call.id": "c",
        "gen_ai.tool.call.result": "bye"}}  # fmt: skip
    told = read_conversation([chat(1, [asked], [{"role": "assistant", "parts": [call]}]), run])
    assert [(m.role, m.content) for m in told.messages[2:]] == [("tool", "bye")]
    assert told.warnings == ()


EVENTS: list[dict[str, Any]] = [
    {"name": "gen_ai.system.message", "attributes": {"content": "sys"}},
    {"name": "gen_ai.user.message", "attributes": {"content": "Read a."}},
    {"name": "gen_ai.assistant.message", "attributes": {"tool_calls": json.dumps(
        [{"id": "c", "type": "function",
          "function": {"name": "read", "arguments": '{"path": "a"}'}}])}},
    {"name": "gen_ai.tool.message", "attributes": {"id": "c", "content": "text of a"}},
    {"name": "gen_ai.choice", "attributes": {
        "index": 0, "finish_reason": "stop", "message": json.dumps({"content": "done"})}},
]  # fmt: skip


@pytest.mark.parametrize("where", ["events", "an attribute"])
def test_the_older_events_are_read(where: str) -> None:
    attributes: dict[str, Any] = {"gen_ai.operation.name": "chat"}
    span: dict[str, Any] = {"name": "chat", "attributes": attributes, "events": EVENTS}
    if where == "an attribute":
        plain = [{"event.name": one["name"], **one["attributes"]} for one in EVENTS]
        span = {**span, "attributes": {**attributes, "events": json.dumps(plain)}, "events": []}
    told = read_conversation([span])
    assert [(m.role, m.content) for m in told.messages] == [
        ("system", "sys"), ("user", "Read a."), ("assistant", ""), ("tool", "text of a"),
        ("assistant", "done"),
    ]  # fmt: skip
    assert told.messages[2].tool_calls[0].arguments == {"path": "a"}
    assert told.warnings == ()


def otlp(value: Any) -> dict[str, Any]:
    """A value as OTLP's JSON has it."""
    match value:
        case str():
            return {"stringValue": value}
        case int():
            return {"intValue": str(value)}
        case dict():
            members = [{"key": key, "value": otlp(inner)} for key, inner in value.items()]
            return {"kvlistValue": {"values": members}}
    return {"arrayValue": {"values": [otlp(item) for item in value]}}


@pytest.mark.parametrize("lines", [False, True])
def test_exports_of_the_protocol_are_read(lines: bool) -> None:
    asked = {"role": "user", "parts": [text("Do it.")]}
    reply = {"role": "assistant", "parts": [
        {"type": "tool_call", "id": "c", "name": "a", "arguments": {"n": 1}}]}  # fmt: skip
    attributes = {
        **chat(1, [asked], [reply])["attributes"],
        "gen_ai.usage.input_tokens": 7, "gen_ai.usage.output_tokens": 2,
    }  # fmt: skip
    span = {
        "traceId": "t", "name": "chat", "startTimeUnixNano": "1767225600000000000",
        "attributes": [{"key": key, "value": otlp(value)} for key, value in attributes.items()],
        "status": {"code": 2},
    }  # fmt: skip
    export = json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]})
    (told,) = read_file(f"{export}\n{export}".encode() if lines else export.encode())[:1]
    assert told.messages[1].tool_calls[0].arguments == {"n": 1}
    assert (told.messages[1].usage, told.messages[1].at) == (Usage(7, 2), 1_767_225_600.0)


def test_spans_in_lists_without_end_are_left() -> None:
    nested: Any = []
    for _ in range(5_000):
        nested = [nested]
    asked = {"role": "user", "parts": [text("Do it.")]}
    assert read_conversation([chat(1, [asked], []), nested]).query == "Do it."
