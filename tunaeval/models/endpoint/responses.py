"""OpenAI's Responses API: reads requests as chat messages, and writes answers whole or as a stream.

Format: https://platform.openai.com/docs/api-reference/responses
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tunaeval.models.clients.answers import read_usage
from tunaeval.showing import brief
from tunaeval.types.calls import JsonObject, JsonValue
from tunaeval.types.exchange import text_of
from tunaeval.types.messages import Usage

from .chat import CREATED, arguments_of, pieces, read_tools
from .exchange import Answer, ModelRequest, Refused

_ECHOED = ("instructions", "metadata", "previous_response_id", "temperature", "top_p")
"""Fields of a request that the response repeats."""


def read_responses(body: JsonObject, history: Mapping[str, tuple[JsonObject, ...]]) -> ModelRequest:
    """Return the request; `history` has the messages up to each earlier response, by its id."""
    given = body.get("input")
    items = [{"role": "user", "content": given}] if isinstance(given, str) else given
    if not isinstance(items, list) or not items:
        raise Refused(f"'input' is {brief(given)}; wanted a text or a list of items")
    previous = body.get("previous_response_id")
    if previous is not None and not (isinstance(previous, str) and previous in history):
        raise Refused(
            f"'previous_response_id' is {brief(previous)}, which this endpoint never gave",
            code="previous_response_not_found",
        )
    text = body.get("instructions")
    system = [{"role": "system", "content": text}] if isinstance(text, str) and text else []
    return ModelRequest(
        api="responses",
        body=body,
        messages=(*system, *history.get(previous or "", ()), *messages_of(items)),
        tools=read_tools(body.get("tools")),
        model=str(body.get("model") or ""),
        streams=bool(body.get("stream")),
    )


def messages_of(items: Sequence[JsonValue]) -> list[JsonObject]:
    """Return items as chat messages; adjacent calls become one message, with text before them."""
    messages: list[JsonObject] = []
    for index, item in enumerate(items):
        if not isinstance(item, dict):
            raise Refused(f"'input[{index}]' is {brief(item)}; wanted an item, an object")
        kind = item.get("type", "message")
        if kind == "message":
            messages.append(_message(item, index))
        elif kind == "function_call":
            _assistant(messages).setdefault("tool_calls", []).append(_call(item))
        elif kind == "function_call_output":
            output = item.get("output")
            content = output if isinstance(output, str) else text_of(output)
            result = {"role": "tool", "tool_call_id": item.get("call_id"), "content": content}
            messages.append(result)
    return messages


def _message(item: JsonObject, index: int) -> JsonObject:
    role = item.get("role")
    if not isinstance(role, str):
        raise Refused(f"'input[{index}].role' is {brief(role)}; wanted a text")
    content = item.get("content")
    return {"role": role, "content": text_of(content) if role == "assistant" else _plain(content)}


def _plain(content: JsonValue) -> JsonValue:
    """Join text parts into one text; leave content with other parts, such as images, as it is."""
    parts = content if isinstance(content, list) else ()
    is_text = all(isinstance(part, dict) and isinstance(part.get("text"), str) for part in parts)
    return text_of(content) if is_text else content


def _assistant(messages: list[JsonObject]) -> JsonObject:
    if not messages or messages[-1]["role"] != "assistant":
        messages.append({"role": "assistant", "content": None})
    return messages[-1]


def _call(item: JsonObject) -> JsonObject:
    function = {"name": item.get("name"), "arguments": item.get("arguments") or ""}
    return {"id": item.get("call_id"), "type": "function", "function": function}


def answer_of(document: JsonObject) -> Answer:
    """Return the answer in an upstream's response."""
    items = document.get("output")
    if not isinstance(items, list):
        raise Refused("the upstream's response has no 'output'", status=502)
    message: JsonObject = {"role": "assistant", "content": None}
    texts = []
    try:
        messages = messages_of(items)
    except Refused as refused:
        raise Refused(f"the upstream's response: {refused}", status=502) from None
    for one in messages:
        texts += [one["content"]] if one.get("content") else []
        message.setdefault("tool_calls", []).extend(one.get("tool_calls", ()))
    message["content"] = "".join(texts) or None
    if not message.get("tool_calls"):
        message.pop("tool_calls", None)
    is_cut = document.get("status") == "incomplete"
    reason = "length" if is_cut else "tool_calls" if message.get("tool_calls") else "stop"
    own = document.get("id")
    id_ = own if isinstance(own, str) else None
    return Answer(message, reason, _spent(document.get("usage")), items=tuple(items), id=id_)


def _spent(usage: JsonValue) -> Usage:
    if not isinstance(usage, dict):
        return Usage()
    prompt, made = usage.get("input_tokens"), usage.get("output_tokens")
    return read_usage({"prompt_tokens": prompt, "completion_tokens": made})


def response(answer: Answer, request: ModelRequest, number: int) -> JsonObject:
    """Return the answer as a whole response."""
    prompt, made = answer.usage.prompt_tokens or 0, answer.usage.completion_tokens or 0
    is_cut = answer.finish_reason == "length"
    return {
        **_head(answer, request, number),
        "status": "incomplete" if is_cut else "completed",
        "incomplete_details": {"reason": "max_output_tokens"} if is_cut else None,
        "output": list(_items(answer, number)),
        "usage": {
            "input_tokens": prompt,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": made,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": prompt + made,
        },
    }


def response_id(answer: Answer, number: int) -> str:
    return answer.id or f"resp_{number}"


def events(answer: Answer, request: ModelRequest, number: int) -> Iterator[JsonObject]:
    """Yield the answer as the events of a stream, numbered from 0."""
    for sequence, event in enumerate(_events(answer, request, number)):
        yield {**event, "sequence_number": sequence}


def _head(answer: Answer, request: ModelRequest, number: int) -> JsonObject:
    body = request.body
    return {
        "id": response_id(answer, number),
        "object": "response",
        "created_at": CREATED,
        "status": "in_progress",
        "error": None,
        "incomplete_details": None,
        "model": request.model,
        "output": [],
        "parallel_tool_calls": body.get("parallel_tool_calls", True),
        "tool_choice": body.get("tool_choice", "auto"),
        "tools": body.get("tools") or [],
        "usage": None,
        **{key: body.get(key) for key in _ECHOED},
    }


def _items(answer: Answer, number: int) -> Iterator[JsonObject]:
    if answer.items is not None:
        yield from answer.items
        return
    thought = answer.message.get("reasoning_content")
    if thought:
        summary = [{"type": "summary_text", "text": thought}]
        yield {"type": "reasoning", "id": f"rs_{number}", "summary": summary}
    done = {"status": "completed"}
    text = answer.message.get("content")
    if text or not answer.message.get("tool_calls"):
        part: JsonObject = {"type": "output_text", "text": text or "", "annotations": []}
        head = {"type": "message", "id": f"msg_{number}", "role": "assistant"}
        yield {**head, **done, "content": [part]}
    for index, call in enumerate(answer.message.get("tool_calls") or ()):
        head = {"type": "function_call", "id": f"fc_{number}_{index}", "call_id": call.get("id")}
        yield {**head, **done, **call["function"]}


def _events(answer: Answer, request: ModelRequest, number: int) -> Iterator[JsonObject]:
    begun = _head(answer, request, number)
    yield {"type": "response.created", "response": begun}
    yield {"type": "response.in_progress", "response": begun}
    whole = response(answer, request, number)
    for index, item in enumerate(whole["output"]):
        opened = _opened(item)
        yield {"type": "response.output_item.added", "output_index": index, "item": opened}
        yield from _inner(item, {"output_index": index, "item_id": item.get("id")})
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    yield {"type": f"response.{whole['status']}", "response": whole}


def _opened(item: JsonObject) -> JsonObject:
    """Return an item as a stream announces it, without its content."""
    empty: JsonObject = {"message": {"content": []}, "function_call": {"arguments": ""}}
    more = empty.get(str(item.get("type")))
    return item if more is None else {**item, **more, "status": "in_progress"}


def _inner(item: JsonObject, at: JsonObject) -> Iterator[JsonObject]:
    if item.get("type") == "function_call":
        text = arguments_of(item)
        for piece in pieces(text):
            yield {"type": "response.function_call_arguments.delta", **at, "delta": piece}
        yield {"type": "response.function_call_arguments.done", **at, "arguments": text}
    parts = item.get("content") if item.get("type") == "message" else None
    for index, part in enumerate(parts if isinstance(parts, list) else ()):
        where = {**at, "content_index": index}
        match part:
            case {"type": "output_text", "text": str()}:
                pass
            case _:
                continue
        opened = {**part, "text": ""}
        yield {"type": "response.content_part.added", **where, "part": opened}
        for piece in pieces(part["text"]):
            delta = {"delta": piece, "logprobs": []}
            yield {"type": "response.output_text.delta", **where, **delta}
        done = {"text": part["text"], "logprobs": []}
        yield {"type": "response.output_text.done", **where, **done}
        yield {"type": "response.content_part.done", **where, "part": part}
