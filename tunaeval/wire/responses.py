"""OpenAI's Responses API, whose answers are sequences of items.

Format: https://platform.openai.com/docs/api-reference/responses and .../responses-streaming

Hosted calls are run by the server itself: the item contains the result, if it is reported.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from tunaeval.showing import brief
from tunaeval.types.calls import JsonObject, JsonValue
from tunaeval.types.exchange import text_of

from . import chat
from .fields import first, get, listed, word
from .parts import Kinds, Text, Wanted, declared, missing, parts_of, result_of, words_of
from .requests import Reading, chat_messages, results_in, whole_request
from .values import (
    Answer,
    Api,
    Fault,
    Fragment,
    FragmentKind,
    Kept,
    LivePart,
    Message,
    Part,
    Request,
    Result,
    Step,
    answer_of,
    whole_fragments,
)
from .writing import CREATED, arguments_of, calls_in, counts, pieces, thought_in

CALLS: Mapping[str, tuple[str, str]] = {
    "function_call": ("arguments", "call_id"),
    "custom_tool_call": ("input", "call_id"),
    "computer_call": ("action", "call_id"),
    "local_shell_call": ("action", "call_id"),
    "shell_call": ("action", "call_id"),
    "apply_patch_call": ("operation", "call_id"),
    "mcp_call": ("arguments", "id"),
    "web_search_call": ("action", "id"),
    "file_search_call": ("queries", "id"),
    "code_interpreter_call": ("code", "id"),
    "image_generation_call": ("prompt", "id"),
    "tool_search_call": ("arguments", "call_id"),
    "program": ("code", "call_id"),
}
"""For each type of call, the fields of its arguments and of its id."""
HOSTED = frozenset({
    "mcp_call", "web_search_call", "file_search_call", "code_interpreter_call",
    "image_generation_call",
})  # fmt: skip
_OUTPUT = "_output"
_SEARCH = "tool_search"
_TEXTS = ("input_text", "output_text", "refusal")
_RESULTS = ("output", "result", "results", "tools", "error")
_THOUGHTS: Kinds = {
    **chat.KINDS, "summary_text": Text(("text",)), "reasoning_text": Text(("text",)),
}  # fmt: skip

WANTED: Wanted = {
    **chat.WANTED,
    "function_call": {"call_id": str, "name": str, "arguments": str},
    "function_call_output": {"call_id": str, "output": str | list},
}


def claims(item: object) -> bool:
    """Whether it is an item of this API."""
    kind = get(item, "type")
    if kind == "message":  # Anthropic's replies have this type too, with other blocks
        content = get(item, "content")
        texts = [content] if isinstance(content, str) else listed(content)
        return any(isinstance(one, str) or get(one, "type") in _TEXTS for one in texts)
    called = word(kind).removesuffix(_OUTPUT)
    return called in CALLS or kind in ("reasoning", f"{_SEARCH}{_OUTPUT}")


def read_message(item: object, path: str = "") -> Message:
    """Return one item as a message of its own."""
    kind = word(get(item, "type"))
    parts = tuple(item_parts(item, kind, path))
    role = "tool" if kind.endswith(_OUTPUT) and kind not in CALLS else "assistant"
    own = get(item, "role")
    return Message(own if isinstance(own, str) else role, parts, given=item)


def item_parts(item: object, kind: str, path: str) -> Iterator[Part]:
    """Yield the parts of an item: a call (with its result if it is hosted), a result, a text."""
    lacks = missing(item, WANTED.get(kind, {}))
    if kind in CALLS:
        yield from _call_parts(item, kind, path, lacks)
    elif kind.endswith(_OUTPUT):
        yield _result(item, get(item, "call_id"), kind, path, lacks)
    elif kind == "compaction":
        yield Part("summary", type=kind, given=item, path=path)
    elif kind == "reasoning":
        text = words_of(first(item, ("content", "summary")), _THOUGHTS)
        yield Part("thought", text, type=kind, given=item, path=path)
    elif isinstance(get(item, "role"), str) or kind == "message":
        yield from parts_of(get(item, "content"), chat.KINDS, f"{path}/content", chat.WANTED)
    else:
        yield Part("unknown", type=kind, given=item, path=path)


def _call_parts(item: object, kind: str, path: str, lacks: tuple[str, ...]) -> Iterator[Part]:
    field, call_id = CALLS[kind]
    name, hosted = get(item, "name"), kind in HOSTED or get(item, "execution") == "server"
    known = get(item, call_id) if kind == f"{_SEARCH}_call" else first(item, (call_id, "id"))
    named = name if name is not None or kind == "function_call" else kind.removesuffix("_call")
    yield Part(
        "call", "", named, _as_object(get(item, field), field), known, type=kind, given=item,
        path=path, missing=lacks, hosted=hosted,
    )  # fmt: skip
    if kind in HOSTED:
        yield _result(item, known, kind, path, ())


def _result(item: object, call_id: JsonValue, kind: str, path: str, lacks: tuple[str, ...]) -> Part:
    content = first(item, _RESULTS)
    return result_of(
        item, call_id, content, chat.KINDS, is_error=declared(item), type_=kind, path=path,
        missing_=lacks,
    )  # fmt: skip


def _as_object(arguments: JsonValue, field: str) -> JsonValue:
    """Return the arguments as an object; other values are put under the name of their field."""
    if field == "arguments" or arguments is None or isinstance(arguments, dict):
        return arguments
    dump = get(arguments, "model_dump")
    return dump() if callable(dump) else {field: arguments}


def answers(document: Mapping[str, JsonValue]) -> bool:
    kind = document.get("type")
    is_event = isinstance(kind, str) and kind.startswith("response.")
    is_whole = document.get("object") == "response" or isinstance(document.get("output"), list)
    return is_event or (is_whole and "choices" not in document)


def read_reply(document: Mapping[str, JsonValue]) -> Answer:
    output = document.get("output")
    parts = (
        part
        for index, item in enumerate(listed(output))
        for part in item_parts(item, word(get(item, "type")) or "message", f"/output/{index}")
    )
    details = get(document.get("incomplete_details"), "reason")
    status = document.get("status")
    reason = status if details is None or status == "completed" else details
    return answer_of(document, output, parts, reason, ("/output", "/status"))


_STREAMED: Mapping[str, FragmentKind] = {
    "response.output_text": "text",
    "response.refusal": "refusal",
    "response.reasoning_text": "thought",
    "response.reasoning_summary_text": "thought",
}
_ARGUMENTS: Mapping[str, str] = {
    "response.function_call_arguments": "arguments",
    "response.custom_tool_call_input": "input",
}
"""The events of texts and of arguments, and the field with all of these at their end."""
_ENDS = ("completed", "incomplete", "failed", "cancelled")


def fragments(event: Mapping[str, JsonValue]) -> Iterator[Fragment]:
    """Yield what an event adds, which may also be a whole answer."""
    kind = word(event.get("type"))
    what, _, how = kind.rpartition(".")
    if what in _STREAMED and how in {"delta", "done"}:
        yield _text_fragment(event, _STREAMED[what], how)
    elif what in _ARGUMENTS and how in {"delta", "done"}:
        yield _arguments(event, _ARGUMENTS[what], how)
    elif what == "response.output_item" and how in {"added", "done"}:
        yield from _item(event.get("item"), event, how)
    elif what == "response" and how in _ENDS:
        yield from _whole(event.get("response"), how)
    elif not kind.startswith("response."):
        yield from _whole(event, "")


def _text_fragment(event: Mapping[str, JsonValue], what: FragmentKind, how: str) -> Fragment:
    field = "delta" if how == "delta" else "refusal" if what == "refusal" else "text"
    text, key = event.get(field), _place(event)
    if not isinstance(text, str):
        return Fragment("odd", f"an event {event.get('type')} whose {field} is no text")
    return Fragment(what, text, key=key, is_whole=how == "done")


def _place(event: Mapping[str, JsonValue]) -> str:
    """Return where a text belongs in the answer, as a key."""
    inner = first(event, ("content_index", "summary_index"))
    return f"{event.get('item_id')} {event.get('output_index')} {inner}"


def _arguments(event: Mapping[str, JsonValue], field: str, how: str) -> Fragment:
    return Fragment(
        "call", "", event.get("output_index"), key=word(event.get("item_id")),
        arguments=event.get("delta" if how == "delta" else field), is_whole=how == "done",
        value="custom" if field == "input" else None,
    )  # fmt: skip


def _item(item: JsonValue, event: Mapping[str, JsonValue], how: str) -> Iterator[Fragment]:
    """Yield a call that is announced, or is repeated whole at its end."""
    kind = word(get(item, "type"))
    part = next(_call_parts(item, kind, "", ())) if kind in CALLS else None
    if part is None or part.hosted:
        return
    field, call_id = CALLS[kind]
    is_custom, arguments = kind == "custom_tool_call", get(item, field)
    yield Fragment(
        "call", "", event.get("output_index"), get(item, call_id), part.name,
        (arguments if is_custom else part.arguments) or None, key=word(get(item, "id")),
        begins=how == "added", is_whole=how == "done", value="custom" if is_custom else None,
    )  # fmt: skip


def _whole(response: JsonValue, how: str) -> Iterator[Fragment]:
    """Yield the whole answer, which the last event repeats."""
    if not isinstance(response, Mapping):
        yield Fragment("odd", f"a response is an object, not {type(response).__name__}")
        return
    answer = read_reply(response)
    if how == "failed" and answer.error is None:
        answer = replace(answer, error="the response failed")
    yield from whole_fragments(answer, response)
    yield Fragment("end")


def read_request(body: JsonObject, kept: Kept) -> tuple[Request, Sequence[Fault]]:
    """Read a request, after the messages of the response that it goes on with."""
    asked, given = Reading("responses", body), body.get("input")
    if isinstance(given, str):
        given = [{"role": "user", "content": given}]
    items = []
    for where, item in asked.messages(given, "input"):
        kind = item.get("type", "message")
        asked.fields(item, where, WANTED.get(word(kind), {}))
        if kind == "message":
            asked.fields(item, where, {"role": str, "content": object})
            asked.parts(item.get("content"), f"{where}.content", WANTED)
        items.append(read_message({"type": kind, **item}))
    previous = body.get("previous_response_id")
    if previous is not None and word(previous) not in kept:
        words = f"'previous_response_id' is {brief(previous)}, which this endpoint never gave"
        asked.faults.append(Fault(words, "previous_response_not_found"))
    before = kept.get(word(previous), ())
    system = chat_messages(word(body.get("instructions")), ())
    every = (*system, *before, *chat_messages("", items))
    return asked.read(every, chat.functions_in(asked))


def results(body: JsonObject) -> list[Result]:
    return results_in(body, "input", read_message, "output")


_ECHOED = ("instructions", "metadata", "previous_response_id", "temperature", "top_p")
"""Fields of a request that the response repeats."""
_CUT = {"stop": None, "tool_calls": None, "length": "max_output_tokens"}
"""Why a response is incomplete, by its finish reason; others are the reason itself."""


def write_reply(answer: Answer, request: Request, number: int) -> JsonObject:
    prompt, made = counts(answer.usage)
    cut = _CUT.get(answer.finish or "stop", answer.finish)
    return {
        **_head(answer, request, number),
        "status": "incomplete" if cut else "completed",
        "incomplete_details": {"reason": cut} if cut else None,
        "output": list(_items(answer, number)),
        "usage": answer.counted
        or {
            "input_tokens": prompt,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": made,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": prompt + made,
        },
    }


def reply_id(answer: Answer, number: int) -> str:
    return answer.id if isinstance(answer.id, str) else f"resp_{number}"


def _head(answer: Answer, request: Request, number: int) -> JsonObject:
    body = request.body
    return {
        "id": reply_id(answer, number),
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
    message = answer.message or {}
    if thought := thought_in(message):
        summary = [{"type": "summary_text", "text": thought}]
        yield {"type": "reasoning", "id": f"rs_{number}", "summary": summary}
    done: JsonObject = {"status": "completed"}
    text, refusal = text_of(message.get("content")), text_of(message.get("refusal"))
    parts: list[JsonObject] = [{"type": "refusal", "refusal": refusal}] if refusal else []
    if text or not (parts or message.get("tool_calls")):
        parts.insert(0, {"type": "output_text", "text": text, "annotations": []})
    if parts:
        head: JsonObject = {"type": "message", "id": f"msg_{number}", "role": "assistant"}
        yield head | done | {"content": parts}
    for index, (call, function) in enumerate(calls_in(message)):
        head = {"type": "function_call", "id": f"fc_{number}_{index}", "call_id": call.get("id")}
        yield head | done | function | {"arguments": arguments_of(function)}


def write_events(answer: Answer, request: Request, number: int) -> Iterator[JsonObject]:
    """Yield the answer as the events of a stream, numbered from 0."""
    for sequence, event in enumerate(_events(answer, request, number)):
        yield {**event, "sequence_number": sequence}


def _events(answer: Answer, request: Request, number: int) -> Iterator[JsonObject]:
    begun = _head(answer, request, number)
    yield {"type": "response.created", "response": begun}
    yield {"type": "response.in_progress", "response": begun}
    whole = write_reply(answer, request, number)
    for index, item in enumerate(whole["output"]):
        more = _EMPTY.get(word(item.get("type")))
        opened = item if more is None else {**item, **more, "status": "in_progress"}
        yield {"type": "response.output_item.added", "output_index": index, "item": opened}
        yield from _inner(item, {"output_index": index, "item_id": item.get("id")})
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    yield {"type": f"response.{whole['status']}", "response": whole}


def write_step(step: Step, request: Request, number: int) -> Iterator[JsonObject]:
    """Yield the events of one step; each part is an item of its own."""
    part, item = step.part, _item_of(step.part, number)
    at: JsonObject = {"output_index": part.place, "item_id": item["id"]}
    event, field = _GROWING[part.kind]
    name = _INNER.get(item["type"])
    more: JsonObject = {"logprobs": []} if event == "output_text" else {}
    where = at if name is None else {**at, f"{name}_index": 0}
    group = {"content": "content_part", "summary": "reasoning_summary_part"}.get(name or "")
    match step.what:
        case "begin":
            begun = _head(Answer(None), request, number)
            yield {"type": "response.created", "response": begun}
            yield {"type": "response.in_progress", "response": begun}
        case "open":
            opened = {**item, name: []} if name else item
            opened |= {"status": "in_progress"} if "status" in item else {}
            yield {"type": "response.output_item.added", **at, "item": opened}
            if name is not None:
                yield {"type": f"response.{group}.added", **where, "part": item[name][0]}
        case "more":
            yield {"type": f"response.{event}.delta", **where, "delta": step.text, **more}
        case "close":
            yield {"type": f"response.{event}.done", **where, field: part.text, **more}
            if name is not None:
                yield {"type": f"response.{group}.done", **where, "part": item[name][0]}
            yield {"type": "response.output_item.done", **at, "item": item}
        case "end":
            items = tuple(_item_of(one, number) for one in step.parts)
            whole = write_reply(replace(step.answer, items=items), request, number)
            yield {"type": f"response.{whole['status']}", "response": whole}


_GROWING = {
    "text": ("output_text", "text"),
    "refusal": ("refusal", "refusal"),
    "thought": ("reasoning_summary_text", "text"),
    "call": ("function_call_arguments", "arguments"),
}
"""The events of each kind of part, and the field with all of its text at the end."""
_INNER = {"message": "content", "reasoning": "summary"}


def _item_of(part: LivePart, number: int) -> JsonObject:
    """Return the item that a part has become so far."""
    at, done = f"{number}_{part.place}", {"status": "completed"}
    match part.kind:
        case "call":
            called = {"call_id": part.id, "name": part.name, "arguments": part.text}
            return {"type": "function_call", "id": f"fc_{at}", **done, **called}
        case "thought":
            summary = [{"type": "summary_text", "text": part.text}]
            return {"type": "reasoning", "id": f"rs_{at}", "summary": summary}
        case "refusal":
            content: JsonObject = {"type": "refusal", "refusal": part.text}
        case _:
            content = {"type": "output_text", "text": part.text, "annotations": []}
    head: JsonObject = {"type": "message", "id": f"msg_{at}", "role": "assistant"}
    return {**head, **done, "content": [content]}


_EMPTY: JsonObject = {"message": {"content": []}, "function_call": {"arguments": ""}}
"""What an item lacks when a stream announces it, by the kind of the item."""
_DELTAS = {"output_text": ("output_text", "text"), "refusal": ("refusal", "refusal")}
"""The events of each kind of part, and the part's field for its text."""


def _inner(item: JsonObject, at: JsonObject) -> Iterator[JsonObject]:
    if item.get("type") == "function_call":
        text = arguments_of(item)
        for piece in pieces(text):
            yield {"type": "response.function_call_arguments.delta", **at, "delta": piece}
        yield {"type": "response.function_call_arguments.done", **at, "arguments": text}
    for index, part in enumerate(listed(item.get("content")) if _is_message(item) else ()):
        event, field = _DELTAS.get(word(get(part, "type")), ("", ""))
        text = get(part, field)
        if not isinstance(text, str):
            continue
        more: JsonObject = {} if event == "refusal" else {"logprobs": []}
        where = {**at, "content_index": index}
        opened = {**part, field: ""}
        yield {"type": "response.content_part.added", **where, "part": opened}
        for piece in pieces(text):
            yield {"type": f"response.{event}.delta", **where, "delta": piece, **more}
        yield {"type": f"response.{event}.done", **where, field: text, **more}
        yield {"type": "response.content_part.done", **where, "part": part}


def _is_message(item: JsonObject) -> bool:
    return item.get("type") == "message"


RESPONSES = Api(
    "responses", claims, answers, read_message, read_reply, fragments, read_request,
    whole_request, results, write_reply, write_events, write_step, chat.write_error,
    chat.write_models, chat.write_model, chat.write_count,
)  # fmt: skip
