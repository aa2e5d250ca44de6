"""A conversation written in steps, and how each framework writes it: what the laws read back."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

from tests.data.adapters.further_writers import FURTHER_WRITERS
from tests.data.adapters.steps import Answered, Asked, Called, Messages, Step, conversations

__all__ = [
    "SHAPE_OF",
    "WRITERS",
    "Answered",
    "Asked",
    "Called",
    "Messages",
    "Step",
    "as_object",
    "conversations",
]


def openai_chat(steps: Sequence[Step]) -> Messages:
    messages: Messages = []
    for step in steps:
        match step:
            case Asked(text):
                messages.append({"role": "user", "content": text})
            case Called(text, calls):
                made = [
                    {"id": i, "type": "function",
                     "function": {"name": name, "arguments": json.dumps(arguments)}}
                    for name, arguments, i in calls
                ]  # fmt: skip
                messages.append({"role": "assistant", "content": text, "tool_calls": made})
            case Answered(results):
                messages += [
                    {"role": "tool", "tool_call_id": i, "content": text, "is_error": failed}
                    for i, text, failed in results
                ]
    return messages


def openai_responses(steps: Sequence[Step]) -> Messages:
    items: Messages = []
    for step in steps:
        match step:
            case Asked(text):
                items.append({"role": "user", "content": [{"type": "input_text", "text": text}]})
            case Called(text, calls):
                said = [{"type": "output_text", "text": text, "annotations": []}]
                items.append({"type": "message", "role": "assistant", "content": said})
                items += [
                    {"type": "function_call", "call_id": i, "id": f"fc_{i}", "name": name,
                     "arguments": json.dumps(arguments), "status": "completed"}
                    for name, arguments, i in calls
                ]  # fmt: skip
            case Answered(results):
                items += [
                    {"type": "function_call_output", "call_id": i, "output": text,
                     "status": "incomplete" if failed else "completed"}
                    for i, text, failed in results
                ]  # fmt: skip
    return items


def anthropic(steps: Sequence[Step]) -> Messages:
    messages: Messages = []
    for step in steps:
        match step:
            case Asked(text):
                messages.append({"role": "user", "content": text})
            case Called(text, calls):
                blocks: Messages = [{"type": "text", "text": text}]
                blocks += [
                    {"type": "tool_use", "id": i, "name": name, "input": arguments}
                    for name, arguments, i in calls
                ]
                messages.append({"role": "assistant", "content": blocks})
            case Answered(results):
                blocks = [
                    {"type": "tool_result", "tool_use_id": i, "is_error": failed,
                     "content": [{"type": "text", "text": text}]}
                    for i, text, failed in results
                ]  # fmt: skip
                messages.append({"role": "user", "content": blocks})
    return messages


def langchain(steps: Sequence[Step]) -> Messages:
    messages: Messages = []
    for step in steps:
        match step:
            case Asked(text):
                messages.append({"type": "human", "content": text})
            case Called(text, calls):
                made = [
                    {"type": "tool_call", "name": name, "args": arguments, "id": i}
                    for name, arguments, i in calls
                ]
                messages.append({"type": "ai", "content": text, "tool_calls": made})
            case Answered(results):
                messages += [
                    {"type": "tool", "tool_call_id": i, "content": text,
                     "status": "error" if failed else "success"}
                    for i, text, failed in results
                ]  # fmt: skip
    return messages


def langchain_serialised(steps: Sequence[Step]) -> Messages:
    return [{"type": one["type"], "data": one} for one in langchain(steps)]


def pydantic_ai(steps: Sequence[Step]) -> Messages:
    messages: Messages = []
    for step in steps:
        match step:
            case Asked(text):
                parts: Messages = [{"part_kind": "user-prompt", "content": text}]
                messages.append({"kind": "request", "parts": parts})
            case Called(text, calls):
                parts = [{"part_kind": "text", "content": text}]
                parts += [
                    {"part_kind": "tool-call", "tool_name": name, "tool_call_id": i,
                     "args": arguments if len(arguments) % 2 else json.dumps(arguments)}
                    for name, arguments, i in calls
                ]  # fmt: skip
                messages.append({"kind": "response", "parts": parts})
            case Answered(results):
                parts = [
                    {"part_kind": "retry-prompt" if failed else "tool-return", "tool_name": "x",
                     "tool_call_id": i, "content": text}
                    for i, text, failed in results
                ]  # fmt: skip
                messages.append({"kind": "request", "parts": parts})
    return messages


def tinyagent(steps: Sequence[Step]) -> Messages:
    messages: Messages = []
    for step in steps:
        match step:
            case Asked(text):
                messages.append({"role": "user", "content": [{"type": "text", "text": text}]})
            case Called(text, calls):
                parts: list[Any] = [{"type": "text", "text": text}, None]
                parts += [
                    {"type": "tool_call", "id": i, "name": name, "arguments": arguments}
                    for name, arguments, i in calls
                ]
                messages.append({"role": "assistant", "content": parts, "timestamp": 1129409})
            case Answered(results):
                messages += [
                    {"role": "tool_result", "tool_call_id": i, "is_error": failed,
                     "content": [{"type": "text", "text": text}], "timestamp": 1129410}
                    for i, text, failed in results
                ]  # fmt: skip
    return messages


def inspect_ai(steps: Sequence[Step]) -> Messages:
    messages: Messages = []
    for step in steps:
        match step:
            case Asked(text):
                messages.append({"role": "user", "content": text, "source": "input"})
            case Called(text, calls):
                made = [
                    {"id": i, "function": name, "arguments": arguments, "type": "function"}
                    for name, arguments, i in calls
                ]
                messages.append({"role": "assistant", "content": text, "tool_calls": made})
            case Answered(results):
                messages += [
                    {"role": "tool", "tool_call_id": i, "function": "x", "content": text,
                     "error": {"type": "unknown", "message": text} if failed else None}
                    for i, text, failed in results
                ]  # fmt: skip
    return messages


def otel(steps: Sequence[Step]) -> Messages:
    """Spans: one for each reply, whose input repeats what was said before, and the tools' own."""
    so_far: Messages = []
    spans: Messages = []
    for step in steps:
        match step:
            case Asked(text):
                so_far.append({"role": "user", "parts": [{"type": "text", "content": text}]})
            case Called(text, calls):
                parts: Messages = [{"type": "text", "content": text}]
                parts += [
                    {"type": "tool_call", "id": i, "name": name, "arguments": arguments}
                    for name, arguments, i in calls
                ]
                reply = {"role": "assistant", "parts": parts}
                spans.append(_request(so_far, {**reply, "finish_reason": "tool_call"}, len(spans)))
                so_far.append(reply)
            case Answered(results):
                parts = [
                    {"type": "tool_call_response", "id": i, "response": text}
                    for i, text, _ in results
                ]
                so_far.append({"role": "tool", "parts": parts})
                spans += [_run(i, text, failed, len(spans)) for i, text, failed in results]
    end: dict[str, Any] = {"role": "assistant", "parts": []}
    return [*spans, _request(so_far, end, len(spans))]


def _request(before: Messages, reply: dict[str, Any], number: int) -> dict[str, Any]:
    return _span(number, False, {
        "gen_ai.operation.name": "chat",
        "gen_ai.input.messages": json.dumps(before),
        "gen_ai.output.messages": json.dumps([reply]),
    })  # fmt: skip


def _run(call_id: str, text: str, failed: bool, number: int) -> dict[str, Any]:
    return _span(number, failed, {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.call.id": call_id,
        "gen_ai.tool.call.result": text,
    })  # fmt: skip


def _span(number: int, failed: bool, attributes: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": attributes["gen_ai.operation.name"],
        "context": {"trace_id": "0x1"},
        "start_time": f"2026-01-01T00:{number // 60 % 60:02}:{number % 60:02}Z",
        "status": {"status_code": "ERROR" if failed else "UNSET"},
        "attributes": attributes,
        "events": [],
    }


WRITERS: dict[str, Callable[[Sequence[Step]], Messages]] = {
    "openai-chat": openai_chat,
    "openai-responses": openai_responses,
    "anthropic": anthropic,
    "langchain": langchain,
    "langchain serialised": langchain_serialised,
    "pydantic-ai": pydantic_ai,
    "tinyagent": tinyagent,
    "inspect-ai": inspect_ai,
    "otel": otel,
    **FURTHER_WRITERS,
}
SHAPE_OF = {name: name.partition(" ")[0] for name in WRITERS}

_DATA = frozenset({"arguments", "args", "input", "data", "attributes", "response"})
"""Fields that stay dictionaries in a framework's objects."""


def as_object(value: Any) -> Any:
    """Dictionaries as objects with the same fields, as a framework has them."""
    if isinstance(value, dict):
        return SimpleNamespace(**{
            key: inner if key in _DATA else as_object(inner) for key, inner in value.items()
        })  # fmt: skip
    return [as_object(inner) for inner in value] if isinstance(value, list) else value
