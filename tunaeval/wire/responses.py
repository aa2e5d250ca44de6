"""OpenAI's Responses API, whose answers are sequences of items.

Format: https://platform.openai.com/docs/api-reference/responses and .../responses-streaming

Hosted calls are run by the server itself: the item contains the result, if it is reported.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tunaeval.types.calls import JsonValue

from . import chat
from .endings import finish_of, usage_of
from .fields import first, get, listed, word
from .parts import Kinds, Text, Wanted, declared, parts_of, result_of, words_of
from .values import (
    Answer,
    Api,
    Fragment,
    FragmentKind,
    Message,
    Part,
    chat_message,
    whole_fragments,
)

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
    lacks = _missing(item, kind)
    if kind in CALLS:
        yield from _call(item, kind, path, lacks)
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


def _missing(item: object, kind: str) -> tuple[str, ...]:
    wanted = WANTED.get(kind, {})
    return tuple(name for name, kinds in wanted.items() if not isinstance(get(item, name), kinds))


def _call(item: object, kind: str, path: str, lacks: tuple[str, ...]) -> Iterator[Part]:
    field, call_id = CALLS[kind]
    name, hosted = get(item, "name"), kind in HOSTED or get(item, "execution") == "server"
    known = get(item, call_id) if kind == f"{_SEARCH}_call" else first(item, (call_id, "id"))
    named = name if name is not None or kind == "function_call" else kind.removesuffix("_call")
    yield Part(
        "call", "", named, _object(get(item, field), field), known, type=kind, given=item,
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


def _object(arguments: JsonValue, field: str) -> JsonValue:
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
    items = listed(output)
    parts = tuple(
        part
        for index, item in enumerate(items)
        for part in item_parts(item, word(get(item, "type")) or "message", f"/output/{index}")
    )
    called = any(part.kind == "call" and not part.hosted for part in parts)
    details = get(document.get("incomplete_details"), "reason")
    status = document.get("status")
    reason = status if details is None or status == "completed" else details
    return Answer(
        chat_message(parts) if isinstance(output, list) else None,
        parts,
        finish=finish_of(reason, called=called),
        reason=reason,
        usage=usage_of(document.get("usage")),
        items=tuple(items),
        id=document.get("id"),
        model=document.get("model"),
        error=chat.error_in(document),
        missing=() if isinstance(output, list) else ("/output",),
    )


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
        yield _text(event, _STREAMED[what], how)
    elif what in _ARGUMENTS and how in {"delta", "done"}:
        yield _arguments(event, _ARGUMENTS[what], how)
    elif what == "response.output_item" and how in {"added", "done"}:
        yield from _item(event.get("item"), event, how)
    elif what == "response" and how in _ENDS:
        yield from _whole(event.get("response"), how)
    elif not kind.startswith("response."):
        yield from _whole(event, "")


def _text(event: Mapping[str, JsonValue], what: FragmentKind, how: str) -> Fragment:
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
    if kind not in CALLS or kind in HOSTED:
        return
    field, call_id = CALLS[kind]
    is_custom, arguments = kind == "custom_tool_call", get(item, field)
    (part,) = _call(item, kind, "", ())
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
    if error := chat.error_in(response):
        yield Fragment("error", f"the server reports: {error}")
        return
    if how == "failed":
        yield Fragment("error", "the server reports: the response failed")
        return
    yield from whole_fragments(read_reply(response), response.get("usage"))
    yield Fragment("end")


RESPONSES = Api("responses", claims, answers, read_message, read_reply, fragments, WANTED)
