"""Traces of OpenInference and Langfuse, OpenTelemetry's present schema, and the newest APIs."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.data.adapters.test_agents import lines, shown
from tunaeval.data.adapters.documents import read_conversation, read_conversations, read_file
from tunaeval.types.conversations import Conversation
from tunaeval.types.messages import Usage

IN, OUT, CALL = "llm.input_messages", "llm.output_messages.0.message", "message.tool_calls"
SCHEMA = '{"type": "function", "function": {"name": "read", "parameters": {"type": "object"}}}'


def span(number: int, attributes: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"name": "ChatCompletion", "context": {"trace_id": "0x48", "span_id": f"0x{number}"},
            "start_time": f"2026-11-26T13:20:2{number}.880885Z", "status": {"status_code": "OK"},
            "attributes": attributes, "events": [], **more}  # fmt: skip


# openinference-instrumentation-openai 0.1.66, with the SDK's `to_json`
ASKED = {
    "openinference.span.kind": "LLM", "llm.tools.0.tool.json_schema": SCHEMA,
    f"{IN}.0.message.role": "system", f"{IN}.0.message.content": "You cook.",
    f"{IN}.1.message.role": "user",
    f"{IN}.1.message.contents.0.message_content.type": "text",
    f"{IN}.1.message.contents.0.message_content.text": "Read a.",
}  # fmt: skip
MADE = {
    f"{OUT}.role": "assistant",
    f"{OUT}.tool_calls.0.tool_call.id": "call_1",
    f"{OUT}.tool_calls.0.tool_call.function.name": "read",
    f"{OUT}.tool_calls.0.tool_call.function.arguments": '{"path": "a"}',
}
COUNTS = {"llm.token_count.prompt": 64, "llm.token_count.completion": 65}
PHOENIX = [
    span(1, {**ASKED, **MADE, **COUNTS}),
    span(2, {"openinference.span.kind": "TOOL", "tool.name": "read", "output.value": "no a"},
         name="read", status={"status_code": "ERROR"}),
    span(3, {
        **ASKED, **COUNTS,
        **{key.replace(OUT, f"{IN}.2.message"): value for key, value in MADE.items()},
        f"{IN}.3.message.role": "tool", f"{IN}.3.message.tool_call_id": "call_1",
        f"{IN}.3.message.content": "no a",
        f"{OUT}.role": "assistant",
        f"{OUT}.contents.0.message_content.type": "reasoning",
        f"{OUT}.contents.0.message_content.text": "hm",
        f"{OUT}.contents.1.message_content.type": "text",
        f"{OUT}.contents.1.message_content.text": "Done.",
    }),
    span(0, {"openinference.span.kind": "AGENT"}, name="agent"),
]  # fmt: skip
WANTED = [
    ("system", "You cook."), ("user", "Read a."), ("assistant", "", ("read", "call_1")),
    ("tool", "no a", "call_1", True), ("assistant", "Done."),
]  # fmt: skip


def nested(flat: dict[str, Any]) -> Any:
    """The attributes as Phoenix stores them."""
    tree: dict[str, Any] = {}
    for key, value in flat.items():
        *path, last = key.split(".")
        inner = tree
        for step in path:
            inner = inner.setdefault(step, {})
        inner[last] = value
    return _numbered(tree)


def _numbered(tree: Any) -> Any:
    if not isinstance(tree, dict):
        return tree
    if tree and all(key.isdecimal() for key in tree):
        return [_numbered(value) for value in tree.values()]
    return {key: _numbered(value) for key, value in tree.items()}


def rows(spans: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The table of spans as records: messages in one column, with dots in their keys."""
    found = []
    for one in spans:
        row = {"name": one["name"], "start_time": one["start_time"],
               "status_code": one["status"]["status_code"], "context.trace_id": "0x48",
               "context.span_id": one["context"]["span_id"]}  # fmt: skip
        for name, value in nested(one["attributes"]).items():
            inner = value if isinstance(value, dict) else {"": value}
            row |= {f"attributes.{name}.{key}": below for key, below in inner.items()}
        found.append(row)
    return found


@pytest.mark.parametrize(
    "spans",
    [
        PHOENIX,
        [{**one, "attributes": nested(one["attributes"])} for one in PHOENIX],
        rows(PHOENIX),
    ],
    ids=["flat", "nested", "table"],
)
def test_spans_of_openinference_are_one_conversation(spans: list[dict[str, Any]]) -> None:
    (read,) = read_file(lines(spans))
    assert (read.shape, read.query) == ("openinference", "Read a.")
    assert shown(read) == WANTED
    assert (read.messages[2].usage, read.messages[4].reasoning) == (Usage(64, 65), "hm")
    assert [one["function"]["name"] for one in read.tools] == ["read"]
    assert read.warnings == ()


def observation(number: int, kind: str, given: Any, got: Any, **more: Any) -> dict[str, Any]:
    started = f"2026-11-26T13:20:2{number}.880Z"
    return {"id": f"o{number}", "traceId": "t1", "type": kind, "input": given, "output": got,
            "startTime": started, "level": "DEFAULT", **more}  # fmt: skip


FLAT_CALL = {"name": "read", "args": {"path": "a"}, "id": "call_1", "type": "tool_call"}
CHAT_CALL = {"id": "call_1", "type": "function",
             "function": {"name": "read", "arguments": '{"path": "a"}'}}  # fmt: skip
ITEM = {"type": "function_call", "call_id": "call_1", "name": "read", "arguments": '{"path": "a"}'}
BLOCK = {"type": "tool_use", "id": "call_1", "name": "read", "input": {"path": "a"}}
SYSTEM = {"role": "system", "content": "You cook."}
USER = {"role": "user", "content": "Read a."}
RESULT = {"role": "tool", "tool_call_id": "call_1", "content": "no a"}


@pytest.mark.parametrize(
    ("call", "result"),
    [
        ({"role": "assistant", "content": None, "tool_calls": [CHAT_CALL]}, RESULT),
        ({"role": "assistant", "content": "", "tool_calls": [FLAT_CALL]}, RESULT),
        (ITEM, {"type": "function_call_output", "call_id": "call_1", "output": "no a",
                "status": "failed"}),
        ({"role": "assistant", "content": [BLOCK]},
         {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "call_1",
                                       "content": "no a", "is_error": True}]}),
    ],
    ids=["openai", "langchain", "responses", "anthropic"],
)  # fmt: skip
def test_observations_of_langfuse_are_one_conversation(call: Any, result: Any) -> None:
    asked = {"messages": [SYSTEM, USER], "tools": [json.loads(SCHEMA)]}
    later = [SYSTEM, USER, call, result]
    observations = [
        observation(1, "GENERATION", asked, call, usageDetails={"input": 64, "output": 65}),
        observation(2, "TOOL", {"path": "a"}, "no a", name="read", level="ERROR"),
        observation(3, "GENERATION", later, {"role": "assistant", "content": "Done."}),
        observation(0, "SPAN", {"task": "x"}, None),
    ]
    for document in (observations, {"id": "t1", "observations": observations}):
        (read,) = read_conversations(document)
        assert (read.shape, read.query, len(read.tools)) == ("langfuse", "Read a.", 1)
        assert shown(read) == WANTED
    (from_lines,) = read_file(lines(observations))
    assert shown(from_lines) == WANTED


def test_an_observation_without_messages_is_kept_as_text() -> None:
    read = read_conversation([observation(1, "GENERATION", "Why?", {"answer": 42})])
    assert shown(read) == [("user", "Why?"), ("assistant", '{"answer": 42}')]


# semantic-conventions-genai, model/gen-ai/gen-ai-input-messages.json and events.yaml
def parts(role: str, *content: dict[str, Any]) -> dict[str, Any]:
    return {"role": role, "parts": list(content)}


GIVEN = [parts("user", {"type": "compaction", "id": "x", "content": "They looked."},
               {"type": "text", "content": "Go on."})]  # fmt: skip
REPLIED = [parts("assistant", {"type": "tool_call", "id": "c1", "name": "ls", "arguments": {}})]
DETAILS = {
    "gen_ai.operation.name": "chat",
    "gen_ai.input.messages": json.dumps(GIVEN),
    "gen_ai.output.messages": json.dumps(REPLIED),
    "gen_ai.tool.definitions": json.dumps([{"type": "function", "name": "ls"}]),
}
EVENT = "gen_ai.client.inference.operation.details"


def wanted_of_details(read: Conversation) -> None:
    assert (read.shape, read.query, len(read.tools)) == ("otel", "Go on.", 1)
    assert shown(read) == [
        ("system", "They looked."),
        ("user", "Go on."),
        ("assistant", "", ("ls", "c1")),
    ]
    assert [one.code for one in read.warnings] == ["compacted", "dangling-call"]


def test_content_in_the_event_of_a_span_is_read() -> None:
    bare = {"gen_ai.operation.name": "chat"}
    wanted_of_details(read_conversation([span(1, DETAILS)]))
    events = [{"name": EVENT, "attributes": DETAILS}]
    wanted_of_details(read_conversation([span(1, bare, events=events)]))


def otlp(fields: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"key": key, "value": {"stringValue": value}} for key, value in fields.items()]


def test_content_in_the_record_of_a_log_is_read_once() -> None:
    record = {"traceId": "48", "spanId": "1", "eventName": EVENT, "attributes": otlp(DETAILS),
              "timeUnixNano": "1795692265000000000"}  # fmt: skip
    log = {"resourceLogs": [{"scopeLogs": [{"logRecords": [record]}]}]}
    wanted_of_details(read_conversation(log))
    same = {"traceId": "48", "spanId": "1", "name": "chat m", "attributes": otlp(DETAILS),
            "startTimeUnixNano": "1795692264000000000"}  # fmt: skip
    spans = {"resourceSpans": [{"scopeSpans": [{"spans": [same]}]}]}
    wanted_of_details(read_conversation([spans, log]))


STEPS: list[dict[str, Any]] = [
    {"type": "user_input", "content": [{"type": "text", "text": "Read a."}]},
    {"type": "thought", "summary": [{"type": "text", "text": "hm"}], "signature": "eA=="},
    {"type": "function_call", "id": "c1", "name": "read", "arguments": {"path": "a"}},
    {"type": "google_search_call", "id": "c2", "arguments": {"queries": ["x"]}},
    {"type": "google_search_result", "call_id": "c2", "result": [], "is_error": False},
    {"type": "function_result", "call_id": "c1", "name": "read", "is_error": True,
     "result": [{"type": "text", "text": "no a"}]},
    {"type": "model_output", "content": [{"type": "text", "text": "Done."}]},
]  # fmt: skip


def wanted_of_steps(read: Conversation) -> None:
    assert (read.shape, read.query) == ("gemini-interactions", "Read a.")
    assert shown(read) == [
        ("user", "Read a."),
        ("assistant", "", ("read", "c1"), ("google_search", "c2")),
        ("tool", "", "c2", False),
        ("tool", "no a", "c1", True),
        ("assistant", "Done."),
    ]
    assert read.messages[1].reasoning == "hm"


def test_steps_of_interactions_are_read() -> None:
    for document in (STEPS, {"id": "i", "steps": STEPS},
                     {"id": "i", "input": "Read a.", "steps": STEPS[1:]}):  # fmt: skip
        wanted_of_steps(read_conversation(document))
    failed = {"type": "model_output", "error": {"code": 13, "message": "internal"}}
    assert read_conversation([STEPS[0], failed]).failure == "internal"


def test_steps_of_google_s_sdk_are_read() -> None:
    sdk = pytest.importorskip(
        "google.genai._gaos.types.interactions.step", reason="needs google-genai 3"
    )
    from pydantic import TypeAdapter

    step: TypeAdapter[Any] = TypeAdapter(sdk.Step)
    wanted_of_steps(read_conversation([step.validate_python(one) for one in STEPS]))


PROGRAM: list[dict[str, Any]] = [
    {"role": "user", "content": "Count."},
    {"type": "tool_search_call", "id": "ts", "call_id": None, "execution": "server",
     "arguments": {"paths": ["crm"]}, "status": "completed"},
    {"type": "tool_search_output", "id": "to", "call_id": None, "execution": "server",
     "status": "completed", "tools": [{"type": "function", "name": "count", "parameters": {},
                                       "strict": True}]},
    {"type": "program", "id": "p", "call_id": "c1", "code": "count()", "fingerprint": "f"},
    {"type": "function_call", "call_id": "c2", "name": "count", "arguments": "{}"},
    {"type": "function_call_output", "call_id": "c2", "output": "3"},
    {"type": "program_output", "id": "po", "call_id": "c1", "result": "3", "status": "completed"},
    {"type": "compaction", "id": "cm", "encrypted_content": "x"},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "3."}]},
]  # fmt: skip


def test_programs_and_searches_of_tools_are_calls() -> None:
    read = read_conversation(PROGRAM)
    assert read.shape == "openai-responses"
    (_, search, found, program, count, result, *_) = shown(read)
    assert search == ("assistant", "", ("tool_search", "tool_search-1"))
    assert (found[2], '"name": "count"' in found[1]) == ("tool_search-1", True)
    assert program == ("assistant", "", ("program", "c1"), ("count", "c2"))
    assert (count, result) == (("tool", "3", "c2", None), ("tool", "3", "c1", False))
    assert [one.code for one in read.warnings] == ["compacted"]
    assert read.messages[1].tool_calls[0].arguments == {"paths": ["crm"]}


def test_programs_are_what_openai_s_sdk_says() -> None:
    types = pytest.importorskip("openai.types.responses", reason="needs openai")
    from pydantic import TypeAdapter

    if "Program" not in str(types.ResponseOutputItem):
        pytest.skip("needs an openai that knows programs")
    item: TypeAdapter[Any] = TypeAdapter(types.ResponseOutputItem)
    items = [item.validate_python(one) for one in [*PROGRAM[1:4], PROGRAM[6]]]
    read = read_conversation([PROGRAM[0], *items])
    assert [m.tool_calls[0].name for m in read.messages if m.tool_calls] == [
        "tool_search", "program",
    ]  # fmt: skip


def test_blocks_of_llama_index_are_read_as_objects() -> None:
    types = pytest.importorskip("llama_index.core.base.llms.types", reason="needs llama-index-core")
    messages = [
        types.ChatMessage("Read a.", role="user"),
        types.ChatMessage(role="assistant", blocks=[
            types.ThinkingBlock(content="hm"), types.TextBlock(text="I look."),
            types.ToolCallBlock(tool_call_id="c1", tool_name="read", tool_kwargs={"path": "a"})]),
        types.ChatMessage("text", role="tool", additional_kwargs={"tool_call_id": "c1"}),
    ]  # fmt: skip
    for given in (messages, [json.loads(one.model_dump_json()) for one in messages]):
        read = read_conversation(given)
        assert read.shape == "llama-index"
        assert shown(read) == [
            ("user", "Read a."),
            ("assistant", "I look.", ("read", "c1")),
            ("tool", "text", "c1", None),
        ]
        assert (read.messages[1].reasoning, read.warnings) == ("hm", ())
