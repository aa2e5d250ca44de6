"""How coding agents, their traces and the newest APIs write a conversation in steps."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from tests.data.adapters.steps import Answered, Asked, Called, Messages, Step

AT = "2026-11-26T11:24:25.000Z"


def codex(steps: Sequence[Step]) -> Messages:
    """A rollout: items of the Responses API in lines, among lines about the session."""
    lines: Messages = [_line("session_meta", {"id": "s", "cli_version": "0.171.0"})]
    for step in steps:
        match step:
            case Asked(text):
                content = [{"type": "input_text", "text": text}]
                lines.append(_item(type="message", role="user", content=content))
                lines.append(_line("event_msg", {"type": "user_message", "message": text}))
            case Called(text, calls):
                content = [{"type": "output_text", "text": text}]
                lines.append(_item(type="message", role="assistant", content=content))
                lines += [
                    _item(type="function_call", name=name, arguments=json.dumps(arguments),
                          call_id=i)
                    for name, arguments, i in calls
                ]  # fmt: skip
                lines.append(_line("event_msg", {"type": "token_count", "info": None}))
            case Answered(results):
                for i, text, failed in results:
                    output = f"Process exited with code {int(failed)}\nOutput:\n{text}"
                    lines.append(_item(type="function_call_output", call_id=i, output=output))
    return lines


def _line(kind: str, payload: dict[str, Any]) -> dict[str, Any]:
    return {"timestamp": AT, "type": kind, "payload": payload}


def _item(**payload: Any) -> dict[str, Any]:
    return _line("response_item", payload)


def gemini_cli(steps: Sequence[Step]) -> Messages:
    """Lines of a session: a reply is written again when its calls have ended."""
    lines: Messages = [{"sessionId": "s", "projectHash": "p", "kind": "main"}]
    made: dict[str, Any] = {}
    for number, step in enumerate(steps):
        at = {"id": f"m{number}", "timestamp": AT}
        match step:
            case Asked(text):
                lines.append({**at, "type": "user", "content": [{"text": text}]})
            case Called(text, calls):
                lines.append({**at, "type": "gemini", "content": text, "thoughts": []})
                made = {i: {"id": i, "name": name, "args": args, "status": "scheduled"}
                        for name, args, i in calls}  # fmt: skip
                lines.append({**lines[-1], "toolCalls": [*made.values()]})
            case Answered(results):
                for i, text, failed in results:
                    part = {"functionResponse": {"id": i, "response": {"output": text}}}
                    status = "error" if failed else "success"
                    made[i] = {**made[i], "status": status, "result": [part]}
                reply = next(one for one in reversed(lines) if "toolCalls" in one)
                lines.append({**reply, "toolCalls": [*made.values()]})
                repeated = [made[i]["result"][0] for i, _, _ in results]
                lines.append({**at, "type": "user", "content": repeated})
                lines.append({"$set": {"lastUpdated": AT}})
    return lines


def agent_sdk(steps: Sequence[Step]) -> Messages:
    """`dataclasses.asdict` of the SDK's messages, which has no types."""
    messages: Messages = [{"subtype": "init", "data": {"tools": []}}]
    for number, step in enumerate(steps):
        match step:
            case Asked(text):
                messages.append({"content": text, "parent_tool_use_id": None})
            case Called(text, calls):
                blocks: Messages = [{"text": text}]
                blocks += [{"id": i, "name": name, "input": args} for name, args, i in calls]
                messages += [
                    {"content": [block], "model": "m", "parent_tool_use_id": None, "error": None,
                     "message_id": f"msg{number}"}
                    for block in blocks
                ]  # fmt: skip
            case Answered(results):
                blocks = [
                    {"tool_use_id": i, "content": text, "is_error": failed}
                    for i, text, failed in results
                ]
                messages.append({"content": blocks, "parent_tool_use_id": None})
    return messages


def openhands(steps: Sequence[Step]) -> Messages:
    """Events of version 1."""
    events: Messages = []
    for number, step in enumerate(steps):
        match step:
            case Asked(text):
                message = {"role": "user", "content": [{"type": "text", "text": text}]}
                events.append({"kind": "MessageEvent", "source": "user", "llm_message": message})
            case Called(text, calls):
                for name, arguments, i in calls:
                    call = {"id": i, "name": name, "arguments": json.dumps(arguments)}
                    thought = [{"type": "text", "text": text}] if i == calls[0][2] else []
                    events.append({
                        "kind": "ActionEvent", "source": "agent", "thought": thought,
                        "tool_name": name, "tool_call_id": i, "tool_call": call,
                        "llm_response_id": f"r{number}",
                    })  # fmt: skip
            case Answered(results):
                for i, text, failed in results:
                    seen = {"content": [{"type": "text", "text": text}], "is_error": failed}
                    events.append({"kind": "ObservationEvent", "source": "environment",
                                   "tool_call_id": i, "observation": seen})  # fmt: skip
    return [{"id": f"e{i}", "timestamp": AT, **event} for i, event in enumerate(events)]


def openhands_0(steps: Sequence[Step]) -> Messages:
    """Events of version 0, whose calls are in the reply of the model beside them."""
    events: Messages = []
    for number, step in enumerate(steps):
        match step:
            case Asked(text):
                events.append({"source": "user", "action": "message", "args": {"content": text}})
            case Called(text, calls):
                made = [{"id": i, "function": {"name": name, "arguments": json.dumps(args)}}
                        for name, args, i in calls]  # fmt: skip
                reply = {"id": f"r{number}", "choices": [{"message": {"tool_calls": made}}]}
                events += [
                    {"source": "agent", "action": "run",
                     "args": {"command": "?", "thought": text if i == calls[0][2] else ""},
                     "tool_call_metadata": {"function_name": name, "tool_call_id": i,
                                            "model_response": reply}}
                    for name, _, i in calls
                ]  # fmt: skip
            case Answered(results):
                events += [
                    {"source": "agent", "observation": "error" if failed else "run",
                     "content": text, "extras": {}, "tool_call_metadata": {"tool_call_id": i}}
                    for i, text, failed in results
                ]  # fmt: skip
    return [{"id": i, "timestamp": AT, **event} for i, event in enumerate(events)]


def interactions(steps: Sequence[Step]) -> Messages:
    """Steps of Gemini's Interactions API."""
    made: Messages = []
    for step in steps:
        match step:
            case Asked(text):
                made.append({"type": "user_input", "content": [{"type": "text", "text": text}]})
            case Called(text, calls):
                made.append({"type": "thought", "summary": [{"type": "text", "text": text}]})
                made += [
                    {"type": "function_call", "id": i, "name": name, "arguments": arguments}
                    for name, arguments, i in calls
                ]
            case Answered(results):
                made += [
                    {"type": "function_result", "call_id": i, "result": text, "is_error": failed}
                    for i, text, failed in results
                ]
    return made


def llama_index(steps: Sequence[Step]) -> Messages:
    messages: Messages = []
    for step in steps:
        match step:
            case Asked(text):
                blocks: Messages = [{"block_type": "text", "text": text}]
                messages.append({"role": "user", "additional_kwargs": {}, "blocks": blocks})
            case Called(text, calls):
                blocks = [{"block_type": "text", "text": text}]
                blocks += [
                    {"block_type": "tool_call", "tool_call_id": i, "tool_name": name,
                     "tool_kwargs": arguments}
                    for name, arguments, i in calls
                ]  # fmt: skip
                messages.append({"role": "assistant", "additional_kwargs": {}, "blocks": blocks})
            case Answered(results):
                messages += [
                    {"role": "tool", "blocks": [{"block_type": "text", "text": text}],
                     "additional_kwargs": {"tool_call_id": i, "is_error": failed}}
                    for i, text, failed in results
                ]  # fmt: skip
    return messages


def _chat(step: Step) -> Messages:
    match step:
        case Asked(text):
            return [{"role": "user", "content": text}]
        case Called(text, calls):
            made = [{"id": i, "function": {"name": name, "arguments": json.dumps(args)}}
                    for name, args, i in calls]  # fmt: skip
            return [{"role": "assistant", "content": text, "tool_calls": made}]
        case Answered(results):
            return [{"role": "tool", "tool_call_id": i, "content": text} for i, text, _ in results]


Spans = Callable[[str, int, Any, Any, bool], dict[str, Any]]


def _traced(steps: Sequence[Step], span: Spans) -> Messages:
    """A span for each reply and each run of a tool."""
    so_far: Messages = []
    spans: Messages = []
    for step in [*steps, Called("", ())]:
        if isinstance(step, Called):
            spans.append(span("LLM", len(spans), list(so_far), _chat(step)[0], False))
        if isinstance(step, Answered):
            for i, text, bad in step.results:
                spans.append(span("TOOL", len(spans), i, text, bad))
        so_far += _chat(step)
    return spans


def openinference(steps: Sequence[Step]) -> Messages:
    return _traced(steps, _openinference_span)


def _openinference_span(
    kind: str, number: int, given: Any, got: Any, failed: bool
) -> dict[str, Any]:
    flat: dict[str, Any] = {"openinference.span.kind": kind}
    if kind == "TOOL":
        flat |= {"tool_call.id": given, "output.value": got}
    else:
        for place, messages in (("input", given), ("output", [got])):
            for index, message in enumerate(messages):
                at = f"llm.{place}_messages.{index}.message"
                flat |= {f"{at}.{key}": message[key] for key in ("role", "content")}
                if "tool_call_id" in message:
                    flat[f"{at}.tool_call_id"] = message["tool_call_id"]
                for n, call in enumerate(message.get("tool_calls", ())):
                    inner = f"{at}.tool_calls.{n}.tool_call"
                    flat[f"{inner}.id"] = call["id"]
                    flat |= {f"{inner}.function.{k}": v for k, v in call["function"].items()}
    status = {"status_code": "ERROR" if failed else "OK"}
    return {"name": kind, "context": {"trace_id": "0x1", "span_id": f"0x{number}"},
            "start_time": _time(number), "attributes": flat, "events": [],
            "status": status}  # fmt: skip


def langfuse(steps: Sequence[Step]) -> Messages:
    return _traced(steps, _observation)


def _observation(kind: str, number: int, given: Any, got: Any, failed: bool) -> dict[str, Any]:
    tool = {"metadata": {"tool_call_id": given}, "input": {}} if kind == "TOOL" else {}
    return {"id": f"o{number}", "traceId": "t", "type": "TOOL" if tool else "GENERATION",
            "startTime": _time(number), "level": "ERROR" if failed else "DEFAULT",
            "input": given, "output": got, **tool}  # fmt: skip


def _time(number: int) -> str:
    return f"2026-01-01T00:{number // 60 % 60:02}:{number % 60:02}Z"


AGENT_WRITERS: dict[str, Callable[[Sequence[Step]], Messages]] = {
    "codex": codex,
    "gemini-cli": gemini_cli,
    "claude-agent-sdk": agent_sdk,
    "openhands": openhands,
    "openhands 0": openhands_0,
    "gemini-interactions": interactions,
    "llama-index": llama_index,
    "openinference": openinference,
    "langfuse": langfuse,
}
