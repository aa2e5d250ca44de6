"""Items of OpenAI's Responses API.

A reply is a sequence of items there: reasoning, text, calls. Reasoning is joined with the item that
follows it. Adjacent calls were made at once and become one message, whose source is the first.
"""

from __future__ import annotations

from tunaeval.showing import brief
from tunaeval.types.calls import JsonValue

from .fields import declared, first, get, identifier, listed, word
from .openai_chat import KINDS
from .parts import read_content, result_words, words_of
from .reading import Reading

_CALLS = {
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
}
"""For each type of item, the fields of a call's arguments and of its id."""

_HOSTED = frozenset({
    "mcp_call", "web_search_call", "file_search_call", "code_interpreter_call",
    "image_generation_call",
})  # fmt: skip
"""Calls that the server runs itself: the item contains the result, if it is reported."""

_OUTPUT = "_output"
_TYPES = frozenset({*_CALLS, *(f"{kind}{_OUTPUT}" for kind in _CALLS), "reasoning"})
_TEXTS = ("input_text", "output_text", "refusal")


def claims(item: object) -> bool:
    kind = get(item, "type")
    if kind == "message":  # Anthropic's replies have this type too, with other blocks
        content = get(item, "content")
        texts = [content] if isinstance(content, str) else listed(content)
        return any(isinstance(one, str) or get(one, "type") in _TEXTS for one in texts)
    return isinstance(kind, str) and kind in _TYPES


def read(item: object, reading: Reading) -> None:
    kind = word(get(item, "type"))
    if kind in _CALLS:
        _read_call(item, kind, reading)
    elif kind.endswith(_OUTPUT):
        reading.begin("tool")
        reading.result(identifier(get(item, "call_id")), _output(item), declared(item))
    elif kind == "reasoning":
        if not reading.thinking:
            reading.begin("assistant")
        reading.thought(_reasoning(item))
    elif isinstance(get(item, "role"), str):
        _join(reading, get(item, "role"))
        read_content(get(item, "content"), KINDS, reading)
    else:
        reading.notice("unknown-part", f"an item of type {brief(kind)} is left out")


def _join(reading: Reading, role: str) -> None:
    """Begin a message, or continue the open one if it has only reasoning so far."""
    if role == "assistant" and reading.thinking:
        reading.proceed()
    else:
        reading.begin(role)


def _read_call(item: object, kind: str, reading: Reading) -> None:
    arguments, call_id = _CALLS[kind]
    if not reading.calling:
        _join(reading, "assistant")
    name = get(item, "name")
    known = identifier(first(item, (call_id, "id")))
    named = name if isinstance(name, str) else kind.removesuffix("_call")
    reading.call(named, _object(get(item, arguments), arguments), known)
    if kind in _HOSTED:
        reading.result(known, _output(item), declared(item))


def _object(arguments: JsonValue, field: str) -> JsonValue:
    """Return the arguments as an object; other values are put under the name of their field."""
    if field == "arguments" or arguments is None or isinstance(arguments, dict):
        return arguments
    dump = get(arguments, "model_dump")
    return dump() if callable(dump) else {field: arguments}


def _output(item: object) -> str:
    output = first(item, ("output", "result", "results", "error"))
    return result_words(output, KINDS)


def _reasoning(item: object) -> str:
    kinds = {**KINDS, "summary_text": KINDS["text"], "reasoning_text": KINDS["text"]}
    return words_of(first(item, ("content", "summary")), kinds)
