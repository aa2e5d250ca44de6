"""OpenTelemetry's spans in any export: OTLP as JSON, an SDK's dump, or objects.

Each becomes a `Span` with plain attributes, from which `otel` reads conversations.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from tunaeval.types.calls import JsonObject, JsonValue

from .fields import fields_of, first, get, instant, listed, word

_OWN = "gen_ai."
_NESTED = ("resourceSpans", "resource_spans", "scopeSpans", "scope_spans", "spans")
_LEAVES = ("stringValue", "boolValue", "doubleValue", "intValue")
_MAX_DEPTH = 50


class Span(NamedTuple):
    """A span; `started` is in seconds since the epoch, `events` are names and fields in order."""

    trace: str
    started: float
    name: str
    attributes: Mapping[str, JsonValue]
    events: tuple[tuple[str, JsonObject], ...]
    failed: bool


def is_span(thing: object) -> bool:
    """Whether this is a span about a generative model."""
    return _says(attributes_of(get(thing, "attributes"))) or any(
        str(_name(event)).startswith(_OWN) for event in listed(get(thing, "events"))
    )


def _says(attributes: Mapping[str, JsonValue]) -> bool:
    return any(str(key).startswith(_OWN) for key in attributes)


def holds_spans(thing: object) -> bool:
    """Whether this is an export that contains spans."""
    return any(isinstance(get(thing, key), list) for key in _NESTED)


def spans_in(thing: object, depth: int = 0) -> Iterator[Span]:
    """Yield all spans in an export or a list, in order."""
    if depth > _MAX_DEPTH:
        return
    if isinstance(thing, list | tuple):
        for item in thing:
            yield from spans_in(item, depth + 1)
    elif holds_spans(thing):
        yield from spans_in(first(thing, _NESTED), depth + 1)
    elif get(thing, "attributes") is not None:
        yield _span(thing)


def attributes_of(attributes: JsonValue) -> Mapping[str, JsonValue]:
    """Return attributes by name: a mapping as it is, OTLP's list of keys and values unpacked."""
    if isinstance(attributes, Mapping):
        return attributes
    return {
        key: _value(get(item, "value"))
        for item in listed(attributes)
        if isinstance(key := get(item, "key"), str)
    }


def _value(value: JsonValue, depth: int = 0) -> JsonValue:
    """Return a value of OTLP as plain JSON; OTLP writes int64 as a string."""
    for leaf in _LEAVES:
        found = get(value, leaf)
        if found is not None:
            return int(found) if leaf == "intValue" and str(found).isdecimal() else found
    if depth < _MAX_DEPTH:
        items = get(get(value, "arrayValue"), "values")
        if isinstance(items, list):
            return [_value(item, depth + 1) for item in items]
        members = get(get(value, "kvlistValue"), "values")
        if isinstance(members, list):
            return {
                word(get(item, "key")): _value(get(item, "value"), depth + 1) for item in members
            }
    return None


def _span(thing: object) -> Span:
    context = get(thing, "context")
    trace = first(thing, ("traceId", "trace_id")) or get(context, "trace_id")
    started = first(thing, ("startTimeUnixNano", "start_time_unix_nano", "start_time"))
    if isinstance(started, str) and started.isdecimal():
        started = float(started[:30])
    return Span(
        trace=str(trace),
        started=instant(started) or 0.0,
        name=word(get(thing, "name")),
        attributes=attributes_of(get(thing, "attributes")),
        events=tuple(_events(thing)),
        failed=_failed(get(thing, "status")),
    )


def _events(thing: object) -> Iterator[tuple[str, JsonObject]]:
    """Yield a span's events, including those that were written into an attribute."""
    beside = fields_of(attributes_of(get(thing, "attributes")).get("events"))
    for event in (*listed(get(thing, "events")), *listed(beside)):
        fields = attributes_of(get(event, "attributes")) if get(event, "attributes") else event
        body = fields_of(get(event, "body"))
        plain = dict(fields) if isinstance(fields, Mapping) else {}
        yield str(_name(event)), {**plain, **(body if isinstance(body, Mapping) else {})}


def _name(event: object) -> JsonValue:
    return first(event, ("event.name", "eventName", "event_name", "name"))


def _failed(status: object) -> bool:
    code = first(status, ("status_code", "code"))
    return str(getattr(code, "name", code)) in {"2", "ERROR", "STATUS_CODE_ERROR"}
