"""Anthropic's Messages API.

Format: https://docs.anthropic.com/en/api/messages and .../build-with-claude/streaming
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tunaeval.types.calls import JsonObject, JsonValue, anthropic_call
from tunaeval.types.exchange import text_of

from .chat import write_count
from .endings import usage_of
from .fields import get, listed, word
from .parts import Kinds, Wanted, kinds_of, parts_of
from .requests import Reading, chat_messages, results_in, whole_request
from .values import (
    Answer,
    Api,
    Fault,
    Fragment,
    FragmentKind,
    Message,
    Request,
    Result,
    Step,
    answer_of,
    whole_fragments,
)
from .writing import (
    arguments_of,
    calls_in,
    counts,
    object_of,
    pieces,
    said_in,
    thought_in,
)

_RESULTS = (
    "tool_result", "mcp_tool_result", "web_search_tool_result", "web_fetch_tool_result",
    "code_execution_tool_result", "bash_code_execution_tool_result",
    "text_editor_code_execution_tool_result",
)  # fmt: skip

KINDS: Kinds = kinds_of({
    "text": {"text": ("text",), "search_result": ("content",)},
    "thought": {"thinking": ("thinking",)},
    "call": {"tool_use": ("name", "input", "id")},
    "hosted": {
        "server_tool_use": ("name", "input", "id"), "mcp_tool_use": ("name", "input", "id"),
    },
    "result": dict.fromkeys(_RESULTS, ("tool_use_id", "content")),
    "media": ("image", "document", "container_upload"),
    "silent": ("redacted_thinking",),
})  # fmt: skip

WANTED: Wanted = {
    "": {"type": str},
    "text": {"text": str},
    "thinking": {"thinking": str},
    "tool_use": {"id": str, "name": str, "input": dict},
    "tool_result": {"tool_use_id": str},
    "image": {"source": dict},
    "document": {"source": dict},
}

_OWN = frozenset({"tool_use", "tool_result", "server_tool_use", "redacted_thinking"})
_EVENTS = frozenset({
    "message_start", "message_delta", "message_stop", "content_block_start", "content_block_delta",
    "content_block_stop", "ping",
})  # fmt: skip


def claims(message: object) -> bool:
    """Whether a message has blocks that only this API has."""
    return any(word(get(block, "type")) in _OWN for block in listed(get(message, "content")))


def read_message(message: object, path: str = "") -> Message:
    usage = get(message, "usage")
    return Message(
        word(get(message, "role")),
        tuple(parts_of(get(message, "content"), KINDS, f"{path}/content", WANTED)),
        usage=None if usage is None else usage_of(usage),
        given=message,
    )


def answers(document: Mapping[str, JsonValue]) -> bool:
    kind = word(document.get("type"))
    is_whole = "stop_reason" in document or (kind == "message" and "model" in document)
    return kind in _EVENTS or (is_whole and isinstance(document.get("content"), list))


def read_reply(document: Mapping[str, JsonValue]) -> Answer:
    content = document.get("content")
    parts = parts_of(content, KINDS, "/content", WANTED)
    paths = ("/content", "/stop_reason")
    return answer_of(document, content, parts, document.get("stop_reason"), paths)


_TEXTS: Mapping[str, tuple[FragmentKind, str]] = {
    "text_delta": ("text", "text"),
    "thinking_delta": ("thought", "thinking"),
}
"""For each type of delta, what it adds, and its field."""


def fragments(event: Mapping[str, JsonValue]) -> Iterator[Fragment]:
    """Yield what an event adds, which may also be a whole answer."""
    kind, index = word(event.get("type")), event.get("index")
    if kind == "message_start":
        yield from _usage(get(event.get("message"), "usage"))
    elif kind == "content_block_start":
        yield from _begun(event.get("content_block"), index)
    elif kind == "content_block_delta":
        yield from _grown(event.get("delta"), index)
    elif kind == "message_delta":
        yield from _usage(event.get("usage"))
        if reason := word(get(event.get("delta"), "stop_reason")):
            yield Fragment("finish", reason)
    elif kind == "message_stop":
        yield Fragment("end")
    elif kind not in _EVENTS:
        yield from whole_fragments(read_reply(event), event)


def _usage(usage: JsonValue) -> Iterator[Fragment]:
    if isinstance(usage, Mapping):
        yield Fragment("usage", value=usage)


def _begun(block: JsonValue, index: JsonValue) -> Iterator[Fragment]:
    """Yield what the start of a block adds: a call's arguments are empty then, or whole."""
    if not isinstance(block, Mapping):
        yield Fragment("odd", f"a block is an object, not {type(block).__name__}")
    elif block.get("type") == "tool_use":
        yield Fragment(
            "call", "", index, block.get("id"), block.get("name"), block.get("input") or None,
            begins=True,
        )  # fmt: skip
    elif text := word(block.get("text")):
        yield Fragment("text", text)
    elif thought := word(block.get("thinking")):
        yield Fragment("thought", thought)
    else:
        yield Fragment("hosted", index=index)


def _grown(delta: JsonValue, index: JsonValue) -> Iterator[Fragment]:
    kind = word(get(delta, "type"))
    if kind in _TEXTS:
        what, field = _TEXTS[kind]
        text = get(delta, field)
        is_text = isinstance(text, str)
        odd = Fragment("odd", f"a {kind} whose {field} is {type(text).__name__}")
        yield Fragment(what, text) if is_text else odd
    elif kind == "input_json_delta":
        yield Fragment("call", "", index, arguments=get(delta, "partial_json"))


_CLIENT_TOOLS = ("bash_", "text_editor_", "computer_", "memory_")
"""Prefixes of the types of tools that Anthropic defines and the agent runs."""


def read_request(body: JsonObject, _kept: object = None) -> tuple[Request, Sequence[Fault]]:
    asked, messages = Reading("messages", body), []
    for where, message in asked.messages(body.get("messages"), "messages"):
        content = message.get("content")
        if not isinstance(content, str | list):
            asked.refuse(f"{where}.content", content, "a list of parts")
        asked.parts(content, f"{where}.content", WANTED)
        messages.append(read_message(message))
    system = body.get("system")
    asked.parts(system, "system", WANTED)
    tools = [
        tool
        for tool in asked.listed(body.get("tools"), "tools")
        if get(tool, "type") in (None, "custom") or str(tool["type"]).startswith(_CLIENT_TOOLS)
    ]
    return asked.read(chat_messages(text_of(system), messages), tools)


def results(body: JsonObject) -> list[Result]:
    return results_in(body, "messages", read_message, "content")


_SIGNATURE = "dHVuYWV2YWw="
"""Signs thoughts. Agents send a signature back without a look at it, and some drop thoughts that
have none."""
_UNCACHED = {"cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
_STOPS = {
    "stop": "end_turn", "length": "max_tokens", "tool_calls": "tool_use",
    "content_filter": "refusal",
}  # fmt: skip


def write_reply(answer: Answer, request: Request, number: int) -> JsonObject:
    (prompt, made), message = counts(answer.usage), answer.message or {}
    finish = "content_filter" if message.get("refusal") else answer.finish or "stop"
    return {
        "id": answer.id or f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": request.model,
        "content": list(answer.items or _blocks(message)),
        "stop_reason": _STOPS.get(finish, finish),
        "stop_sequence": None,
        "usage": answer.counted or {**_UNCACHED, "input_tokens": prompt, "output_tokens": made},
    }


def _blocks(message: JsonObject) -> Iterator[JsonObject]:
    if thought := thought_in(message):
        yield {"type": "thinking", "thinking": thought, "signature": _SIGNATURE}
    if text := said_in(message):
        yield {"type": "text", "text": text}
    for call, function in calls_in(message):
        yield anthropic_call(call.get("id"), function.get("name"), object_of(function))


def write_events(answer: Answer, request: Request, number: int) -> Iterator[JsonObject]:
    whole = write_reply(answer, request, number)
    yield _started(whole)
    # A stream sends arguments as text, so that broken ones arrive as the model wrote them.
    written = iter([arguments_of(function) for _, function in calls_in(answer.message or {})])
    for index, block in enumerate(whole["content"]):
        at, kind = {"index": index}, word(block.get("type"))
        deltas = _deltas(block, kind, next(written, "") if kind == "tool_use" else "")
        yield {"type": "content_block_start", **at, "content_block": block | _EMPTY.get(kind, {})}
        for delta in deltas:
            yield {"type": "content_block_delta", **at, "delta": delta}
        yield {"type": "content_block_stop", **at}
    yield from _ended(whole)


def write_step(step: Step, request: Request, number: int) -> Iterator[JsonObject]:
    part, at = step.part, {"index": step.part.place}
    kind = {"call": "tool_use", "thought": "thinking"}.get(part.kind, "text")
    match step.what:
        case "begin":
            yield _started(write_reply(Answer(None), request, number))
        case "open":
            call = {"id": part.id, "name": part.name} if part.name is not None else {}
            block = {"type": kind, **call, **_EMPTY[kind]}
            yield {"type": "content_block_start", **at, "content_block": block}
        case "more" if kind == "tool_use":
            delta = {"type": "input_json_delta", "partial_json": step.text}
            yield {"type": "content_block_delta", **at, "delta": delta}
        case "more":
            field = "text" if kind == "text" else kind
            delta = {"type": f"{field}_delta", field: step.text}
            yield {"type": "content_block_delta", **at, "delta": delta}
        case "close":
            if kind == "thinking":
                signed = {"type": "signature_delta", "signature": _SIGNATURE}
                yield {"type": "content_block_delta", **at, "delta": signed}
            yield {"type": "content_block_stop", **at}
        case "end":
            yield from _ended(write_reply(step.answer, request, number))


def _started(whole: JsonObject) -> JsonObject:
    usage = {**whole["usage"], "output_tokens": 1}
    begun = {**whole, "content": [], "stop_reason": None, "usage": usage}
    return {"type": "message_start", "message": begun}


def _ended(whole: JsonObject) -> Iterator[JsonObject]:
    ended = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": ended, "usage": whole["usage"]}
    yield {"type": "message_stop"}


_EMPTY: dict[str, JsonObject] = {
    "text": {"text": ""},
    "thinking": {"thinking": "", "signature": ""},
    "tool_use": {"input": {}},
}
"""What a block lacks when a stream announces it, by the kind of the block."""


def _deltas(block: JsonObject, kind: str, arguments: str) -> Iterator[JsonObject]:
    if kind in ("text", "thinking"):
        for piece in pieces(text_of(block.get(kind))):
            yield {"type": f"{kind}_delta", kind: piece}
    if kind == "thinking":
        yield {"type": "signature_delta", "signature": block.get("signature")}
    for piece in pieces(arguments):
        yield {"type": "input_json_delta", "partial_json": piece}


_ERRORS = {
    401: "authentication_error", 403: "permission_error", 404: "not_found_error",
    413: "request_too_large", 429: "rate_limit_error", 504: "timeout_error",
    529: "overloaded_error",
}  # fmt: skip


def write_error(message: str, status: int, _code: str | None) -> JsonObject:
    other = "api_error" if status >= 500 else "invalid_request_error"
    return {"type": "error", "error": {"type": _ERRORS.get(status, other), "message": message}}


def write_models(names: Sequence[str]) -> JsonObject:
    ends = {"first_id": names[0], "last_id": names[-1]}
    return {"data": [write_model(name) for name in names], "has_more": False, **ends}


def write_model(name: str) -> JsonObject:
    created = {"created_at": "1970-01-01T00:00:00Z"}
    return {"type": "model", "id": name, "display_name": name, **created}


MESSAGES = Api(
    "messages", claims, answers, read_message, read_reply, fragments, read_request,
    whole_request, results, write_reply, write_events, write_step, write_error, write_models,
    write_model, write_count,
)  # fmt: skip
