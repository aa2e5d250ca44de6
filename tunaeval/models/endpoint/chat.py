"""Chat completions: reads requests, and writes answers whole or as a stream.

Format: https://platform.openai.com/docs/api-reference/chat
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from tunaeval.errors import ToolsError
from tunaeval.showing import brief
from tunaeval.tools.specs import to_tools
from tunaeval.types.calls import JsonObject, JsonValue, Tools
from tunaeval.types.exchange import text_of
from tunaeval.types.messages import Usage

from .exchange import Answer, ModelRequest, Refused

CREATED = 0
"""The time in every reply; it is fixed, so that equal requests get equal bytes."""
_PIECE = 16
"""How many characters of a text or of arguments one event of a stream has."""


def read_chat(body: JsonObject) -> ModelRequest:
    """Return the request. Raise Refused if OpenAI's API would refuse it, too."""
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        raise Refused(f"'messages' is {brief(messages)}; wanted a list of at least one message")
    for index, message in enumerate(messages):
        if not isinstance(message, dict) or not isinstance(message.get("role"), str):
            raise Refused(f"'messages[{index}]' is {brief(message)}; wanted an object with a role")
    if body.get("n", 1) not in (1, None):
        raise Refused(f"'n' is {brief(body['n'])}; this endpoint gives one choice")
    options = body.get("stream_options")
    return ModelRequest(
        api="chat",
        body=body,
        messages=tuple(messages),
        tools=read_tools(body.get("tools")),
        model=str(body.get("model") or ""),
        streams=bool(body.get("stream")),
        wants_usage=isinstance(options, Mapping) and bool(options.get("include_usage")),
    )


def read_tools(tools: JsonValue) -> Tools | None:
    """Return the functions among the tools of a request, or None if there are none."""
    if not tools:
        return None
    if not isinstance(tools, list):
        raise Refused(f"'tools' is {brief(tools)}; wanted a list")
    functions = [one for one in tools if isinstance(one, dict) and one.get("type") == "function"]
    try:
        return to_tools(functions) if functions else None
    except ToolsError as error:
        raise Refused(f"'tools' cannot be read: {error}") from error


def completion(answer: Answer, model: str, number: int) -> JsonObject:
    """Return the answer as a whole chat completion."""
    choice = {"index": 0, "message": answer.message, "finish_reason": answer.finish_reason}
    head = _head("chat.completion", model, number)
    return {**head, "choices": [{**choice, "logprobs": None}], "usage": usage_of(answer.usage)}


def chunks(answer: Answer, request: ModelRequest, number: int) -> Iterator[JsonObject]:
    """Yield the answer as the chunks of a stream; usage comes last, if it was requested."""
    head = _head("chat.completion.chunk", request.model, number)
    if request.wants_usage:
        head["usage"] = None
    for delta, reason in (*_deltas(answer.message), ({}, answer.finish_reason)):
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}
        yield {**head, "choices": [choice]}
    if request.wants_usage:
        yield {**head, "choices": [], "usage": usage_of(answer.usage)}


def usage_of(usage: Usage) -> JsonObject:
    prompt, reply = usage.prompt_tokens or 0, usage.completion_tokens or 0
    return {"prompt_tokens": prompt, "completion_tokens": reply, "total_tokens": prompt + reply}


def pieces(text: str) -> Iterator[str]:
    """Yield a text in pieces, as a stream sends it."""
    return (text[start : start + _PIECE] for start in range(0, len(text), _PIECE))


def arguments_of(function: JsonObject) -> str:
    """Return a call's arguments as text; some servers give them as an object."""
    arguments = function.get("arguments") or ""
    return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)


def _head(kind: str, model: str, number: int) -> JsonObject:
    return {"id": f"chatcmpl-{number}", "object": kind, "created": CREATED, "model": model}


def _deltas(message: JsonObject) -> Iterator[tuple[JsonObject, None]]:
    yield {"role": "assistant", "content": ""}, None
    for key in ("reasoning_content", "content", "refusal"):
        for piece in pieces(text_of(message.get(key))):
            yield {key: piece}, None
    for index, call in enumerate(message.get("tool_calls") or ()):
        function = call.get("function") or {}
        opened = {**call, "index": index, "function": {**function, "arguments": ""}}
        yield {"tool_calls": [opened]}, None
        for piece in pieces(arguments_of(function)):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}, None
