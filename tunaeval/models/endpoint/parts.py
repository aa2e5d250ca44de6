"""How the APIs whose messages have parts write them: Anthropic's Messages and Google's Gemini.

Their requests are read as chat messages, and answers are written whole or as a stream. A part is
first read as an item, of one shape for both APIs:

    {"type": "text" | "thought", "text"}
    {"type": "function_call", "call_id", "name", "arguments"}
    {"type": "function_call_output", "call_id", "name", "output", "is_error"}

Other parts, such as images, are kept as they are.

Formats: https://docs.anthropic.com/en/api/messages, .../build-with-claude/streaming, and
https://ai.google.dev/api/generate-content
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from tunaeval.showing import brief
from tunaeval.types.calls import JsonObject, JsonValue
from tunaeval.types.conversations import PendingCalls
from tunaeval.types.exchange import text_of

from .apis import (
    Answer,
    ModelRequest,
    Refused,
    arguments_of,
    given_answer,
    pieces,
    plain,
    request_of,
    said,
    tools_in,
    wanted_fields,
    wanted_object,
)

_SIGNATURE = "dHVuYWV2YWw="
"""Signs thoughts. Agents send a signature back without a look at it, and some drop thoughts that
have none."""
_NO_JSON = "INVALID_JSON"
"""The key of arguments that are no JSON object, where an API can only send objects. It is the one
that Anthropic recommends for them:
https://docs.anthropic.com/en/docs/agents-and-tools/tool-use/fine-grained-tool-streaming"""


_BLOCK_FIELDS: dict[str, dict[str, Any]] = {
    "text": {"text": str},
    "thinking": {"thinking": str},
    "tool_use": {"id": str, "name": str, "input": dict},
    "tool_result": {"tool_use_id": str},
    "image": {"source": dict},
    "document": {"source": dict},
}
"""The fields that blocks of Anthropic's have to have, by their types."""


def _check_blocks(blocks: JsonValue, where: str) -> None:
    """Raise Refused for a block of Anthropic's that lacks what blocks of its type have."""
    for at, block in enumerate(blocks if isinstance(blocks, list) else ()):
        here = f"{where}[{at}]"
        wanted_fields(wanted_object(block, here), here, {"type": str})
        wanted_fields(block, here, _BLOCK_FIELDS.get(block["type"], {}))
        if _is_item(block):
            raise Refused(f"'{here}.type' is {block['type']!r}, which no block of this API has")
        if block["type"] == "tool_result":
            _check_blocks(block.get("content"), f"{here}.content")


def _check_parts(parts: JsonValue, where: str) -> None:
    """Raise Refused for a part of Gemini's without its data, or for a call without a name."""
    for at, part in enumerate(parts if isinstance(parts, list) else ()):
        here = f"{where}[{at}]"
        names = [written_name(wanted_object(part, here), name) for name in _NAMED]
        for name in (name for name in names if name in part):
            wanted_fields(part, here, {name: dict})
            wanted_fields(part[name], f"{here}.{name}", {"name": str})
        if not part.keys() - {"type"}:
            raise Refused(f"'{here}' is {brief(part)}; wanted a part with a text, a call or data")


_NAMED = ("functionCall", "functionResponse")


def _is_item(part: JsonObject) -> bool:
    """Whether a part of another API looks like an item, which has keys that the part may lack."""
    return part.get("type") in ("thought", "function_call", "function_call_output")


def block_item(block: JsonObject) -> JsonObject:
    """Return a block of Anthropic's as an item."""
    match block.get("type"):
        case "thinking":
            return {"type": "thought", "text": text_of(block.get("thinking"))}
        case "tool_use":
            call = {"call_id": block.get("id"), "name": block.get("name")}
            arguments = json.dumps(block.get("input") or {}, ensure_ascii=False)
            return {"type": "function_call", **call, "arguments": arguments}
        case "tool_result":
            result = {"call_id": block.get("tool_use_id"), "output": plain(block.get("content"))}
            is_error = block.get("is_error") is True
            return {"type": "function_call_output", **result, "is_error": is_error}
    return {"type": None, "part": block} if _is_item(block) else block


def part_item(part: JsonObject) -> JsonObject:
    """Return a part of Gemini's as an item."""
    if isinstance(call := _field(part, "functionCall"), Mapping):
        arguments = json.dumps(call.get("args") or {}, ensure_ascii=False)
        named = {"call_id": call.get("id"), "name": call.get("name")}
        return {"type": "function_call", **named, "arguments": arguments}
    if isinstance(result := _field(part, "functionResponse"), Mapping):
        response: JsonValue = result.get("response")
        inner = response[field] if (field := result_field(response)) else response
        text = inner if isinstance(inner, str) else json.dumps(inner, ensure_ascii=False)
        named = {"call_id": result.get("id"), "name": result.get("name")}
        is_error = isinstance(response, Mapping) and bool(response.get("error"))
        return {"type": "function_call_output", **named, "output": text, "is_error": is_error}
    if isinstance(part.get("text"), str):
        return {"type": "thought" if part.get("thought") is True else "text", "text": part["text"]}
    return {"type": None, "part": part} if _is_item(part) else part


def written_name(value: Mapping[str, JsonValue], name: str) -> str:
    """Return how `value` writes the name of a field: Gemini's may be in snake case, too."""
    snake = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)
    return snake if name not in value and snake in value else name


def _field(value: Mapping[str, JsonValue], name: str) -> JsonValue:
    return value.get(written_name(value, name))


_WRAPPED = ("result", "output", "error", "return_value")
"""Fields that a text is put into to become the object that Gemini wants as a tool's result; the
last is pydantic-ai's."""


def result_field(response: JsonValue) -> str | None:
    """Return the only field of a result of Gemini's, if it is one of those that wrap a text."""
    fields = [*response] if isinstance(response, Mapping) else []
    return fields[0] if len(fields) == 1 and fields[0] in _WRAPPED else None


def _messages(
    given: JsonValue,
    name: str,
    inner: str,
    item_of: Callable[[JsonObject], JsonObject],
    check: Callable[[JsonValue, str], None],
) -> Iterator[JsonObject]:
    """Yield the chat messages in field `name` of a request; `inner` has the parts of each. Calls
    without an id get one, and a result without one gets that of its call, as `PendingCalls` says.
    """
    if not isinstance(given, list) or not given:
        raise Refused(f"{name!r} is {brief(given)}; wanted a list of at least one message")
    pending = PendingCalls()
    for index, message in enumerate(given):
        content = wanted_object(message, f"{name}[{index}]").get(inner)
        check(content, f"{name}[{index}].{inner}")
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
        if not isinstance(parts, list):
            raise Refused(f"'{name}[{index}].{inner}' is {brief(content)}; wanted a list of parts")
        items = [item_of(part) for part in parts]
        for at, item in enumerate(items):
            if not isinstance(item.get("call_id", ""), str):
                item["call_id"] = None
            if item.get("type") == "function_call":
                item["call_id"] = item["call_id"] or f"call_{index}_{at}"
                pending.add(item["call_id"], item["name"])
            elif item.get("type") == "function_call_output":
                item["call_id"] = pending.answered(item["call_id"], item.get("name"))
        role = message.get("role", "user")
        if role in ("assistant", "model"):
            yield said(items)
        else:
            yield from _heard(str(role), items)


def _heard(role: str, items: Sequence[JsonObject]) -> Iterator[JsonObject]:
    """Yield what a user sends as messages of chat completions: tool results, then the rest."""
    rest = []
    for item in items:
        if item.get("type") != "function_call_output":
            rest.append(item)
            continue
        result = {"role": "tool", "tool_call_id": item["call_id"], "content": item["output"]}
        yield result | ({"is_error": True} if item["is_error"] else {})
    if rest:
        yield {"role": role if role in {"system", "developer"} else "user", "content": plain(rest)}


def _system(content: JsonValue) -> list[JsonObject]:
    text = text_of(content)
    return [{"role": "system", "content": text}] if text else []


def _listed(value: JsonValue, name: str) -> list[JsonValue]:
    if not isinstance(value, list | None):
        raise Refused(f"{name!r} is {brief(value)}; wanted a list")
    return value or []


def _object(function: JsonObject) -> JsonObject:
    text = arguments_of(function)
    try:
        arguments = json.loads(text or "{}")
    except (ValueError, RecursionError):
        arguments = None
    return arguments if isinstance(arguments, dict) else {_NO_JSON: text}


_CLIENT_TOOLS = ("bash_", "text_editor_", "computer_", "memory_")
"""Prefixes of the types of tools that Anthropic defines and the agent runs."""


def read_anthropic(body: JsonObject, _history: object = None) -> ModelRequest:
    """Return the request. Raise Refused if Anthropic's API would refuse it, too."""
    tools = [
        tool
        for tool in _listed(body.get("tools"), "tools")
        if not isinstance(tool, dict)
        or tool.get("type") in (None, "custom")
        or str(tool.get("type")).startswith(_CLIENT_TOOLS)
    ]
    found = _messages(body.get("messages"), "messages", "content", block_item, _check_blocks)
    _check_blocks(body.get("system"), "system")
    return request_of("messages", body, (*_system(body.get("system")), *found), tools_in(tools))


_UNCACHED = {"cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
_STOPS = {"length": "max_tokens", "tool_calls": "tool_use", "content_filter": "refusal"}


def anthropic_whole(answer: Answer, request: ModelRequest, number: int) -> JsonObject:
    """Return the answer as a whole message of Anthropic's."""
    refuses = bool(answer.message.get("refusal"))
    prompt, made = answer.usage.prompt_tokens or 0, answer.usage.completion_tokens or 0
    stop = "refusal" if refuses else _STOPS.get(answer.finish_reason, "end_turn")
    return {
        "id": answer.id or f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": request.model,
        "content": list(answer.items or _blocks(answer.message)),
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {**_UNCACHED, "input_tokens": prompt, "output_tokens": made},
    }


def _blocks(message: JsonObject) -> Iterator[JsonObject]:
    thought = text_of(message.get("reasoning_content"))
    if thought:
        yield {"type": "thinking", "thinking": thought, "signature": _SIGNATURE}
    text = text_of(message.get("content")) or text_of(message.get("refusal"))
    if text:
        yield {"type": "text", "text": text}
    for call in message.get("tool_calls") or ():
        function = call["function"]
        head = {"type": "tool_use", "id": call.get("id"), "name": function.get("name")}
        yield {**head, "input": _object(function)}


def anthropic_events(answer: Answer, request: ModelRequest, number: int) -> Iterator[JsonObject]:
    """Yield the answer as the events of a stream of Anthropic's."""
    whole = anthropic_whole(answer, request, number)
    begun = {**whole, "content": [], "stop_reason": None}
    begun["usage"] = {**whole["usage"], "output_tokens": 1}
    yield {"type": "message_start", "message": begun}
    # A stream sends arguments as text, so that broken ones arrive as the model wrote them.
    calls = answer.message.get("tool_calls") or ()
    written = iter(arguments_of(call["function"]) for call in calls)
    for index, block in enumerate(whole["content"]):
        at = {"index": index}
        is_call = block.get("type") == "tool_use"
        deltas = _deltas(block, next(written, "") if is_call else "")
        empty = _EMPTY.get(str(block.get("type")), {})
        yield {"type": "content_block_start", **at, "content_block": {**block, **empty}}
        for delta in deltas:
            yield {"type": "content_block_delta", **at, "delta": delta}
        yield {"type": "content_block_stop", **at}
    ended = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    usage = {"output_tokens": whole["usage"]["output_tokens"]}
    yield {"type": "message_delta", "delta": ended, "usage": usage}
    yield {"type": "message_stop"}


_EMPTY: dict[str, JsonObject] = {
    "text": {"text": ""},
    "thinking": {"thinking": "", "signature": ""},
    "tool_use": {"input": {}},
}
"""What a block lacks when a stream announces it, by the kind of the block."""


def _deltas(block: JsonObject, arguments: str) -> Iterator[JsonObject]:
    match block.get("type"):
        case "text":
            for piece in pieces(text_of(block.get("text"))):
                yield {"type": "text_delta", "text": piece}
        case "thinking":
            for piece in pieces(text_of(block.get("thinking"))):
                yield {"type": "thinking_delta", "thinking": piece}
            yield {"type": "signature_delta", "signature": block.get("signature")}
        case "tool_use":
            for piece in pieces(arguments):
                yield {"type": "input_json_delta", "partial_json": piece}


def anthropic_answer(document: JsonObject) -> Answer:
    """Return the answer in the response of an upstream that speaks Anthropic's API."""
    usage = ("usage", "input_tokens", "output_tokens")
    items = document.get("content")
    return given_answer(items, block_item, document, document.get("stop_reason"), usage)


_ANTHROPIC_ERRORS = {
    401: "authentication_error", 403: "permission_error", 404: "not_found_error",
    413: "request_too_large", 429: "rate_limit_error", 504: "timeout_error",
    529: "overloaded_error",
}  # fmt: skip


def anthropic_error(refused: Refused) -> JsonObject:
    """Return the body of an error response of Anthropic's."""
    other = "api_error" if refused.status >= 500 else "invalid_request_error"
    kind = _ANTHROPIC_ERRORS.get(refused.status, other)
    return {"type": "error", "error": {"type": kind, "message": str(refused)}}


def read_gemini(body: JsonObject, _history: object = None) -> ModelRequest:
    """Return the request, whose model the path names. Raise Refused if Google would refuse it."""
    body_ = body.get("generateContentRequest", body)  # where tokens are counted
    if not isinstance(body_, dict):
        raise Refused(f"'generateContentRequest' is {brief(body_)}; wanted an object")
    declared = [
        _declared(one)
        for tool in _listed(body_.get("tools"), "tools")
        if isinstance(tool, dict)
        for one in _listed(_field(tool, "functionDeclarations"), "functionDeclarations")
    ]
    system = _field(body_, "systemInstruction")
    parts = system.get("parts") if isinstance(system, Mapping) else system
    _check_parts(parts, "systemInstruction.parts")
    messages = (
        *_system(parts if isinstance(parts, list) else [parts]),
        *_messages(body_.get("contents"), "contents", "parts", part_item, _check_parts),
    )
    return request_of("gemini", body, messages, tools_in(declared))


def _declared(function: JsonValue) -> JsonValue:
    """Return a function's declaration with its schema in OpenAI's field."""
    if not isinstance(function, dict):
        return function
    schema = _field(function, "parametersJsonSchema") or function.get("parameters")
    about = {key: function[key] for key in ("name", "description") if key in function}
    return about | ({"parameters": schema} if schema else {})


def gemini_whole(answer: Answer, request: ModelRequest, number: int) -> JsonObject:
    """Return the answer as a whole response of Gemini's."""
    parts = list(answer.items or _parts(answer.message))
    return _gemini_chunk(answer, request, number, parts, is_last=True)


def _parts(message: JsonObject) -> Iterator[JsonObject]:
    thought = text_of(message.get("reasoning_content"))
    if thought:
        yield {"text": thought, "thought": True}
    text = text_of(message.get("content")) or text_of(message.get("refusal"))
    calls = message.get("tool_calls") or ()
    if text or not calls:
        yield {"text": text}
    for call in calls:
        function = call["function"]
        named = {"id": call.get("id"), "name": function.get("name")}
        yield {"functionCall": {**named, "args": _object(function)}}


def gemini_events(answer: Answer, request: ModelRequest, number: int) -> Iterator[JsonObject]:
    """Yield the answer as the responses of a stream of Gemini's; calls are sent whole."""
    sent: list[JsonObject] = []
    for part in answer.items or _parts(answer.message):
        text = part.get("text")
        more = pieces(text) if isinstance(text, str) and text else ()
        sent += [{**part, "text": piece} for piece in more] or [part]
    for index, part in enumerate(sent, start=1):
        yield _gemini_chunk(answer, request, number, [part], is_last=index == len(sent))


def _gemini_chunk(
    answer: Answer, request: ModelRequest, number: int, parts: list[JsonObject], *, is_last: bool
) -> JsonObject:
    candidate: JsonObject = {"content": {"role": "model", "parts": parts}, "index": 0}
    if is_last:
        reasons = {"length": "MAX_TOKENS", "content_filter": "SAFETY"}
        candidate["finishReason"] = reasons.get(answer.finish_reason, "STOP")
    prompt, made = answer.usage.prompt_tokens or 0, answer.usage.completion_tokens or 0
    counts = {"promptTokenCount": prompt, "candidatesTokenCount": made}
    return {
        "candidates": [candidate],
        "usageMetadata": {**counts, "totalTokenCount": prompt + made},
        "modelVersion": request.model,
        "responseId": answer.id or f"resp_{number}",
    }


def gemini_answer(document: JsonObject) -> Answer:
    """Return the answer in the response of an upstream that speaks Gemini's API."""
    usage = ("usageMetadata", "promptTokenCount", "candidatesTokenCount")
    match document.get("candidates"):
        case [{"content": {"parts": list() as parts}, **candidate}, *_]:
            return given_answer(parts, part_item, document, candidate.get("finishReason"), usage)
    raise Refused("the upstream's response has no candidate with parts", status=502)


_GOOGLE_ERRORS = {
    401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED", 503: "UNAVAILABLE", 504: "DEADLINE_EXCEEDED",
}  # fmt: skip


def gemini_error(refused: Refused) -> JsonObject:
    """Return the body of an error response of Google's."""
    other = "INTERNAL" if refused.status >= 500 else "INVALID_ARGUMENT"
    status = _GOOGLE_ERRORS.get(refused.status, other)
    return {"error": {"code": refused.status, "message": str(refused), "status": status}}
