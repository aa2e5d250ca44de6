"""Transcripts written in Harbor's Agent Trajectory Interchange Format (RFC 0001, version 1.8).

A step is a message of the user, the system or the agent. Results are beside the calls that they
answer, so they may move to an earlier place. What the format has no field for is in `extra`.
"""

from __future__ import annotations

from collections import deque
from datetime import UTC, datetime

from tunaeval.types.calls import JsonObject, ToolCall
from tunaeval.types.conversations import Conversation
from tunaeval.types.messages import Message, Usage

_VERSION = "ATIF-v1.8"
_SOURCES = {"assistant": "agent", "user": "user"}


def as_atif(conversation: Conversation) -> JsonObject:
    """Return the conversation as a trajectory, which `read_conversation` reads back.

    Examples:
        >>> from tunaeval.data import as_atif
        >>> asked = tunaeval.read_conversation([{"role": "user", "content": "Hello"}])
        >>> as_atif(asked)["steps"]
        [{'step_id': 1, 'source': 'user', 'message': 'Hello'}]
    """
    steps: list[JsonObject] = []
    owners: dict[str, JsonObject] = {}
    nameless: deque[str] = deque()
    for message in conversation.messages:
        if message.is_result:
            known = message.tool_call_id or (nameless.popleft() if nameless else None)
            owner = owners.get(known or "")
            if owner is None:
                owner = {"step_id": len(steps) + 1, "source": "system", "message": ""}
                steps.append(owner)
            seen = owner.setdefault("observation", {"results": []})
            seen["results"].append(_result(message, known))
            continue
        step = _step(message, len(steps) + 1)
        steps.append(step)
        for call, made in zip(message.tool_calls, step.get("tool_calls", ()), strict=True):
            owners[made["tool_call_id"]] = step
            nameless.extend([made["tool_call_id"]] * (call.id is None))
    return {"schema_version": _VERSION, **_about(conversation), "steps": steps}


def _about(conversation: Conversation) -> JsonObject:
    tools = [one for one in conversation.tools if isinstance(one, dict)]
    offered = {"tool_definitions": tools} if tools else {}
    about: JsonObject = {
        "session_id": conversation.name or None,
        "agent": {"name": conversation.shape or "unknown", "version": "unknown", **offered},
        "final_metrics": _metrics(conversation.usage, "total_"),
        "extra": {"failure": conversation.failure} if conversation.failure else None,
    }
    return {key: value for key, value in about.items() if value}


def _step(message: Message, number: int) -> JsonObject:
    source = "agent" if message.tool_calls else _SOURCES.get(message.role, "system")
    made: JsonObject = {"step_id": number, "source": source, "message": message.content}
    if message.at is not None:
        made["timestamp"] = datetime.fromtimestamp(message.at, UTC).isoformat()
    if source == "system" and message.role != source:
        made["extra"] = {"role": message.role}
    if source == "agent":
        calls = [_atif_call(one, number, index) for index, one in enumerate(message.tool_calls)]
        own = {
            "reasoning_content": message.reasoning,
            "tool_calls": calls,
            "metrics": _metrics(message.usage, ""),
        }
        made |= {key: value for key, value in own.items() if value}
    return made


def _atif_call(call: ToolCall, number: int, index: int) -> JsonObject:
    made: JsonObject = {
        "tool_call_id": call.id or f"call-{number}-{index}",
        "function_name": call.name,
        "arguments": call.arguments,
    }
    return {**made, "extra": {"unread_arguments": call.invalid}} if call.invalid else made


def _result(message: Message, call_id: str | None) -> JsonObject:
    made: JsonObject = {"content": message.content}
    if call_id is not None:
        made["source_call_id"] = call_id
    if message.is_error is not None:
        made["extra"] = {"is_error": message.is_error}
    return made


def _metrics(usage: Usage | None, prefix: str) -> JsonObject:
    if usage is None:
        return {}
    known = {
        f"{prefix}prompt_tokens": usage.prompt_tokens,
        f"{prefix}completion_tokens": usage.completion_tokens,
        f"{prefix}cost_usd": usage.cost_usd,
    }
    return {key: value for key, value in known.items() if value is not None}
