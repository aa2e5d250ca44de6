"""How further frameworks write a conversation in steps."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from tests.data.adapters.steps import Answered, Asked, Called, Messages, Step


def gemini(steps: Sequence[Step]) -> Messages:
    return [_content(step) for step in steps]


def _content(step: Step) -> dict[str, Any]:
    match step:
        case Asked(text):
            return {"role": "user", "parts": [{"text": text}]}
        case Called(text, calls):
            parts: Messages = [{"text": text}]
            parts += [
                {"functionCall": {"id": i, "name": name, "args": arguments}}
                for name, arguments, i in calls
            ]
            return {"role": "model", "parts": parts}
        case Answered(results):
            made = [
                {"id": i, "name": "x", "response": {"error" if failed else "output": text}}
                for i, text, failed in results
            ]
            return {"role": "user", "parts": [{"functionResponse": one} for one in made]}


def gemini_events(steps: Sequence[Step]) -> Messages:
    """Events of ADK, as it dumps them."""
    return [
        {"author": "user" if isinstance(step, Asked) else "cook", "id": "e", "invocation_id": "i",
         "content": _snake(_content(step))}
        for step in steps
    ]  # fmt: skip


def _snake(value: Any) -> Any:
    names = {"functionCall": "function_call", "functionResponse": "function_response"}
    if isinstance(value, list):
        return [_snake(one) for one in value]
    if not isinstance(value, dict):
        return value
    return {
        names.get(key, key): one if key in {"args", "response"} else _snake(one)
        for key, one in value.items()
    }


def bedrock(steps: Sequence[Step]) -> Messages:
    messages: Messages = []
    for step in steps:
        match step:
            case Asked(text):
                messages.append({"role": "user", "content": [{"text": text}]})
            case Called(text, calls):
                blocks: Messages = [{"text": text}]
                blocks += [
                    {"toolUse": {"toolUseId": i, "name": name, "input": arguments}}
                    for name, arguments, i in calls
                ]
                messages.append({"role": "assistant", "content": blocks})
            case Answered(results):
                blocks = [
                    {"toolResult": {"toolUseId": i, "content": [{"text": text}],
                                    "status": "error" if failed else "success"}}
                    for i, text, failed in results
                ]  # fmt: skip
                messages.append({"role": "user", "content": blocks})
    return messages


def ai_sdk(steps: Sequence[Step]) -> Messages:
    messages: Messages = []
    for step in steps:
        match step:
            case Asked(text):
                messages.append({"role": "user", "content": text})
            case Called(text, calls):
                parts: Messages = [{"type": "text", "text": text}]
                parts += [
                    {"type": "tool-call", "toolCallId": i, "toolName": name, "input": arguments}
                    for name, arguments, i in calls
                ]
                messages.append({"role": "assistant", "content": parts})
            case Answered(results):
                parts = [
                    {"type": "tool-result", "toolCallId": i, "toolName": "x",
                     "output": {"type": "error-text" if failed else "text", "value": text}}
                    for i, text, failed in results
                ]  # fmt: skip
                messages.append({"role": "tool", "content": parts})
    return messages


def tau2(steps: Sequence[Step]) -> Messages:
    messages: Messages = []
    for step in steps:
        match step:
            case Asked(text):
                messages.append({"role": "user", "content": text, "turn_idx": len(messages)})
            case Called(text, calls):
                made = [
                    {"id": i, "name": name, "arguments": arguments, "requestor": "assistant"}
                    for name, arguments, i in calls
                ]
                messages.append({"role": "assistant", "content": text, "tool_calls": made})
            case Answered(results):
                messages += [
                    {"role": "tool", "id": i, "content": text, "error": failed,
                     "requestor": "assistant"}
                    for i, text, failed in results
                ]  # fmt: skip
    return messages


def claude_code(steps: Sequence[Step]) -> Messages:
    """A line for each block of a reply, as it writes its sessions."""
    lines: Messages = []
    for number, step in enumerate(steps):
        line: dict[str, Any] = {
            "sessionId": "s",
            "uuid": f"u{number}",
            "timestamp": "2026-10-01T10:00:00Z",
        }
        match step:
            case Asked(text):
                told = {"role": "user", "content": text}
                lines.append({**line, "type": "user", "message": told})
            case Called(text, calls):
                blocks: Messages = [{"type": "text", "text": text}]
                blocks += [
                    {"type": "tool_use", "id": i, "name": name, "input": arguments}
                    for name, arguments, i in calls
                ]
                for block in blocks:
                    part = {"role": "assistant", "id": f"msg{number}", "content": [block]}
                    lines.append({**line, "type": "assistant", "message": part})
            case Answered(results):
                lines += [
                    {**line, "type": "user", "message": {"role": "user", "content": [
                        {"type": "tool_result", "tool_use_id": i, "content": text,
                         "is_error": failed}]}}
                    for i, text, failed in results
                ]  # fmt: skip
    return lines


def atif(steps: Sequence[Step]) -> Messages:
    """Steps of a trajectory; what came back is beside the calls that it answers."""
    told: Messages = []
    for step in steps:
        number = len(told) + 1
        match step:
            case Asked(text):
                told.append({"step_id": number, "source": "user", "message": text})
            case Called(text, calls):
                made = [
                    {"tool_call_id": i, "function_name": name, "arguments": arguments}
                    for name, arguments, i in calls
                ]
                told.append(
                    {"step_id": number, "source": "agent", "message": text, "tool_calls": made}
                )
            case Answered(results):
                found = [
                    {"source_call_id": i, "content": text, "extra": {"is_error": failed}}
                    for i, text, failed in results
                ]
                told[-1]["observation"] = {"results": found}
    return json.loads(json.dumps(told))  # type: ignore[no-any-return] # JSON of a list is a list


FURTHER_WRITERS: dict[str, Callable[[Sequence[Step]], Messages]] = {
    "ai-sdk": ai_sdk,
    "atif": atif,
    "bedrock": bedrock,
    "claude-code": claude_code,
    "gemini": gemini,
    "gemini events": gemini_events,
    "tau2": tau2,
}
