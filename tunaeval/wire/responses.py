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
from .values import Answer, Api, Fragment, Message, Part, chat_message

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
    name, hosted = get(item, "name"), kind in HOSTED
    known = get(item, call_id) if kind == f"{_SEARCH}_call" else first(item, (call_id, "id"))
    named = name if name is not None or kind == "function_call" else kind.removesuffix("_call")
    yield Part(
        "call", "", named, _object(get(item, field), field), known, type=kind, given=item,
        path=path, missing=lacks, hosted=hosted,
    )  # fmt: skip
    if hosted:
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
        chat_message(parts),
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


def fragments(event: Mapping[str, JsonValue]) -> Iterator[Fragment]:
    raise NotImplementedError


RESPONSES = Api("responses", claims, answers, read_message, read_reply, fragments, WANTED)
