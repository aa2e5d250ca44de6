"""Traces with attributes of their own, which are turned into those of OpenTelemetry's conventions.

OpenInference (Phoenix): attributes have a message for each number (`llm.input_messages.0.message.
role`), as nested objects in some exports, and as columns of a table in others.

Langfuse: a trace has observations. A generation's input and output are messages as the provider's
API has them. A tool's observation rarely has the id of its call; without one it belongs to the
call of the same name and number, if there are as many calls as runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tunaeval.types.calls import JsonObject, JsonValue

from .fields import fields_of, first, get, identifier, instant, json_words, listed, merged, word
from .otel import TraceSpan, spans_in

_INFERENCE = ("openinference.", "llm.input_messages", "llm.output_messages")
_COLUMN = "attributes."
_OPERATIONS = {"TOOL": "execute_tool", "AGENT": "invoke_agent", "CHAIN": "invoke_agent"}
"""The operation that a kind of span, or of observation, is in OpenTelemetry's conventions."""
_OTHERS = frozenset({"LLM", "GENERATION"})


def is_inference(thing: object) -> bool:
    """Whether it is a span of OpenInference, or an export or a list that contains some."""
    return any(map(_is_marked, _spans(thing)))


def _is_marked(span: TraceSpan) -> bool:
    model = span.attributes.get("llm")
    nested = first(model, ("input_messages", "output_messages"))
    return nested is not None or any(str(key).startswith(_INFERENCE) for key in span.attributes)


def inference_spans(thing: object) -> Iterator[TraceSpan]:
    """Yield the spans with the attributes of OpenTelemetry's conventions."""
    for span in _spans(thing):
        tree = _tree(span.attributes)
        yield span._replace(attributes={**span.attributes, **_conventional(tree)})


def _spans(thing: object) -> Iterator[TraceSpan]:
    """Yield all spans, also of a table, in which each attribute has a column."""
    for item in thing if isinstance(thing, list | tuple) else [thing]:
        row: JsonObject = item if isinstance(item, dict) and "attributes" not in item else {}
        columns = {key[len(_COLUMN) :]: row[key] for key in row if str(key).startswith(_COLUMN)}
        if columns:
            status = {"code": row.get("status_code")}
            yield from spans_in({**merged(_tree(item)), "attributes": columns, "status": status})
        else:
            yield from spans_in(item)


def _tree(value: JsonValue) -> JsonValue:
    """Return a value with dotted keys as nested objects, and objects with numbers as lists."""
    if isinstance(value, list | tuple):
        return [_tree(one) for one in value]
    if not isinstance(value, Mapping):
        return value
    found: JsonObject = {}
    for key, one in value.items():
        inner = found
        *path, last = str(key).split(".")
        for step in path:
            below = inner.get(step)
            if not isinstance(below, dict):
                below = inner[step] = {}
            inner = below
        inner[last] = merged(inner.get(last), _tree(one)) if last in inner else _tree(one)
    return _listed(found)


def _listed(found: JsonObject) -> JsonValue:
    if found and all(key.isdecimal() for key in found):
        return [_listed(found[key]) if isinstance(found[key], dict) else found[key]
                for key in sorted(found, key=int)]  # fmt: skip
    return {key: _listed(one) if isinstance(one, dict) else one for key, one in found.items()}


def _conventional(tree: JsonValue) -> JsonObject:
    model, call = get(tree, "llm"), get(tree, "tool_call")
    kind = word(get(get(get(tree, "openinference"), "span"), "kind"))
    counts, tool = get(model, "token_count"), get(tree, "tool")
    offered = [
        fields_of(get(get(one, "tool"), "json_schema")) for one in listed(get(model, "tools"))
    ]
    found: JsonObject = {
        "gen_ai.operation.name": _OPERATIONS.get(kind, "chat") if kind else None,
        "gen_ai.input.messages": [*map(_message, listed(get(model, "input_messages")))],
        "gen_ai.output.messages": [*map(_message, listed(get(model, "output_messages")))],
        "gen_ai.usage.input_tokens": get(counts, "prompt"),
        "gen_ai.usage.output_tokens": get(counts, "completion"),
        "gen_ai.tool.call.id": first(call, ("id",)) or get(tool, "id"),
        "gen_ai.tool.name": get(tool, "name"),
        "gen_ai.tool.call.result": get(get(tree, "output"), "value"),
        "gen_ai.tool.definitions": offered,
    }
    return {name: one for name, one in found.items() if one}


def _message(holder: object) -> JsonObject:
    message = get(holder, "message")
    content: JsonValue = [
        {"type": word(get(part, "type")), "text": get(part, "text") or get(part, "data")}
        for one in listed(get(message, "contents"))
        if (part := get(one, "message_content")) is not None
    ]
    calls = [get(one, "tool_call") for one in listed(get(message, "tool_calls"))]
    made = {"role": get(message, "role"), "content": content or get(message, "content")}
    if calls:
        made["tool_calls"] = [
            {"id": get(one, "id"), "function": get(one, "function")} for one in calls
        ]
    elif (name := get(message, "function_call_name")) is not None:
        given = get(message, "function_call_arguments_json")
        made["function_call"] = {"name": name, "arguments": given}
    if (answered := get(message, "tool_call_id")) is not None:
        made["tool_call_id"] = answered
    return made


def _observations(thing: object) -> list[object]:
    found = get(thing, "observations") or get(thing, "data")
    return listed(thing) or listed(found) or [thing]


def is_langfuse(thing: object) -> bool:
    """Whether it is an observation of Langfuse, or a trace, a page or a list that has some."""
    return any(
        word(get(one, "type")) in {*_OTHERS, *_OPERATIONS, "SPAN", "EVENT"}
        and first(one, ("traceId", "trace_id")) is not None
        for one in _observations(thing)
    )


def langfuse_spans(thing: object) -> Iterator[TraceSpan]:
    """Yield the observations as spans with the attributes of OpenTelemetry's conventions."""
    for one in _observations(thing):
        kind = word(get(one, "type"))
        if kind not in {*_OTHERS, *_OPERATIONS}:
            continue
        given, replied = fields_of(get(one, "input")), fields_of(get(one, "output"))
        usage, is_tool = first(one, ("usageDetails", "usage_details", "usage")), kind == "TOOL"
        places = (get(one, "metadata"), replied, given)
        ids = (first(place, ("tool_call_id", "toolCallId")) for place in places)
        result = replied if isinstance(replied, str) or replied is None else json_words(replied)
        attributes: JsonObject = {
            "gen_ai.operation.name": _OPERATIONS.get(kind, "chat"),
            "gen_ai.input.messages": [] if is_tool else _said(given, "user"),
            "gen_ai.output.messages": [] if is_tool else _said(replied, "assistant"),
            "gen_ai.usage.input_tokens": get(usage, "input"),
            "gen_ai.usage.output_tokens": get(usage, "output"),
            "gen_ai.tool.call.id": next(filter(None, map(identifier, ids)), None),
            "gen_ai.tool.name": get(one, "name"),
            "gen_ai.tool.call.result": get(replied, "content") or result,
            "gen_ai.tool.definitions": get(given, "tools"),
        }
        yield TraceSpan(
            trace=str(first(one, ("traceId", "trace_id"))),
            started=instant(first(one, ("startTime", "start_time"))) or 0.0,
            name=word(get(one, "name")),
            attributes=attributes,
            events=(),
            failed=get(one, "level") == "ERROR",
        )


def _said(value: JsonValue, role: str) -> list[JsonObject]:
    """Return the messages in an input or an output, whatever API wrote them."""
    if isinstance(value, list):
        return [said for one in value for said in _said(one, role)]
    if not isinstance(value, Mapping):
        return [] if value is None else [{"role": role, "content": str(value)}]
    if value.get("role") is not None or value.get("type") is not None:
        return [dict(value)]
    for key in ("messages", "input", "output"):
        if value.get(key) is not None:
            return [*_said(value.get("instructions"), "system"), *_said(value[key], role)]
    if choices := listed(value.get("choices")):
        return _said(get(choices[0], "message"), role)
    return [{"role": role, "content": json_words(value)}]
