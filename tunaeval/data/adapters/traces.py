"""Conversations in traces: OpenTelemetry's spans, and others that become such spans.

Spans come in any export; each becomes a `TraceSpan` with plain attributes. The span of each request
repeats all earlier messages. A span whose input begins with a whole known conversation continues
it; any other begins a new one. Tool runs have their own spans, which show failures, and results
that no later request contains. Before version 1.37 of the conventions there was an event for each
message. Traces with attributes of their own are given those of the conventions first:

OpenInference (Phoenix): attributes have a message for each number (`llm.input_messages.0.message.
role`), as nested objects in some exports, and as columns of a table in others.

Langfuse: a generation's input and output are messages as the provider's API has them. A tool's
observation rarely has the id of its call; without one it belongs to the call of the same name and
number, if there are as many calls as runs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from graphlib import CycleError, TopologicalSorter
from hashlib import blake2b
from itertools import accumulate
from operator import itemgetter
from typing import NamedTuple, TypeAlias

from tunaeval.showing import brief
from tunaeval.types.calls import JsonObject, JsonValue
from tunaeval.types.conversations import Conversation, Notice
from tunaeval.wire import messages
from tunaeval.wire.parts import CallFields, Kinds, ResultFields, Text

from .dialects import read_anthropic, read_chat, unwrapped
from .fields import (
    KNOWN,
    fields_of,
    first,
    get,
    has,
    identifier,
    instant,
    json_words,
    listed,
    merged,
    plain,
    pointer,
    usage_of,
    word,
)
from .reading import Reading, ended, kinds_of, read_content

_OWN = "gen_ai."
_DETAILS = "gen_ai.client.inference.operation.details"
_NESTED = KNOWN["otel"]["nested"]
_PARENT = ("parentSpanId", "parent_span_id", "parent_id")
_MAX_DEPTH = 50


class TraceSpan(NamedTuple):
    """A span; `started` is in seconds since the epoch, `events` are names and fields in order."""

    trace: str
    started: float
    name: str
    attributes: Mapping[str, JsonValue]
    events: tuple[tuple[str, JsonObject], ...]
    failed: bool
    id: str | None = None
    parent: str | None = None
    path: str = ""
    origin: object = None

    def path_of(self, name: str) -> str:
        """Return the path of an attribute, or of the span if that has none of this name."""
        attributes = get(self.origin, "attributes")
        for index, item in enumerate(listed(attributes)):
            if get(item, "key") == name:
                return f"{self.path}/attributes/{index}"
        is_here = isinstance(attributes, Mapping) and name in attributes
        return pointer(self.path, "attributes", name) if is_here else self.path


def is_span(thing: object) -> bool:
    """Whether this is a span about a generative model."""
    names = [*attributes_of(get(thing, "attributes")), *map(_name, listed(get(thing, "events")))]
    return any(plain(name).startswith(_OWN) for name in names)


def holds_spans(thing: object) -> bool:
    """Whether this is an export that contains spans."""
    return any(isinstance(get(thing, key), list) for key in _NESTED)


def spans_in(thing: object, path: str = "", depth: int = 0) -> Iterator[TraceSpan]:
    """Yield all spans in an export or a list, in order."""
    if depth > _MAX_DEPTH:
        return
    if isinstance(thing, list | tuple):
        for index, item in enumerate(thing):
            yield from spans_in(item, f"{path}/{index}", depth + 1)
    elif holds_spans(thing):
        for key in _NESTED:
            yield from spans_in(get(thing, key), f"{path}/{key}", depth + 1)
    elif get(thing, "attributes") is not None:
        yield _span(thing, path)


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
    for leaf in KNOWN["otel"]["leaves"]:
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


def _span(thing: object, path: str) -> TraceSpan:
    context = get(thing, "context")
    trace = first(thing, ("traceId", "trace_id")) or get(context, "trace_id")
    started = first(thing, KNOWN["otel"]["started"])
    if isinstance(started, str) and started.isdecimal():
        started = float(started[:30])
    code = first(get(thing, "status"), ("status_code", "code"))
    events = tuple(_events(thing))
    details = (fields for name, fields in events if name == _DETAILS)
    parent = identifier(first(thing, _PARENT) or get(get(thing, "parent"), "span_id"))
    return TraceSpan(
        trace=plain(trace),
        started=instant(started) or 0.0,
        name=word(get(thing, "name")),
        attributes=merged(*details, attributes_of(get(thing, "attributes"))),
        events=events,
        failed=plain(getattr(code, "name", code)) in {"2", "ERROR", "STATUS_CODE_ERROR"},
        id=identifier(first(thing, ("spanId", "span_id")) or get(context, "span_id")),
        parent=parent if parent and parent.strip("0x") else None,
        path=path,
        origin=thing,
    )


def _events(thing: object) -> Iterator[tuple[str, JsonObject]]:
    """Yield a span's events, including those that were written into an attribute."""
    beside = fields_of(attributes_of(get(thing, "attributes")).get("events"))
    for event in (*listed(get(thing, "events")), *listed(beside)):
        fields = attributes_of(get(event, "attributes")) if get(event, "attributes") else event
        body = fields_of(get(event, "body"))
        yield plain(_name(event)), merged(fields, body)


def _name(event: object) -> JsonValue:
    return first(event, ("event.name", "eventName", "event_name", "name"))


_KINDS: Kinds = {**kinds_of("otel"), "compaction": Text(("content",), role="system")}

_INPUT, _OUTPUT = "gen_ai.input.messages", "gen_ai.output.messages"
_ALL = "pydantic_ai.all_messages"
_SYSTEM = "gen_ai.system_instructions"
_OPERATION = "gen_ai.operation.name"
_AGENT, _TOOL = frozenset({"invoke_agent", "create_agent"}), "execute_tool"
_CHOICE = "gen_ai.choice"
_TOOLS = "gen_ai.tool.definitions"
_FAILURE = "error.message"


def claims(message: object) -> bool:
    """Whether it has the shape of a message in an attribute of OpenTelemetry's conventions."""
    parts = get(message, "parts")
    return (
        isinstance(parts, list)
        and isinstance(get(message, "role"), str)
        and any(word(get(part, "type")) in _KINDS for part in parts)
    )


def answers(message: object) -> bool:
    """Whether it has a result that a tool's span shows, whatever shape the others have."""
    parts = listed(get(message, "parts"))
    return any(get(part, "type") == "tool_call_response" for part in parts)


def read(message: object, reading: Reading) -> None:
    parts = get(message, "parts")
    if not isinstance(parts, list):
        (read_anthropic if messages.claims(message) else read_chat)(message, reading)
        return
    usage, at = usage_of(get(message, "usage")), instant(get(message, "created_at"))
    reading.begin(get(message, "role"), usage=usage, at=at)
    read_content(parts, _KINDS, reading)


class _RequestSpan:
    """The messages in the span of a request: those before it, and the reply."""

    def __init__(self, span: TraceSpan) -> None:
        self.span = span
        self.notices: list[Notice] = []
        before = self._listed(_INPUT, {"role": "user"})
        after = self._listed(_OUTPUT, {"role": "assistant"})
        events = list(_messages_in(span))
        if not before and not after:
            before = [one for is_reply, one in events if not is_reply]
            after = [one for is_reply, one in events if is_reply]
        if not before and not after:
            before = self._listed(_ALL, {"role": "user"})
        system = self._listed(_SYSTEM, {"type": "text"})
        first_of_all = [{"role": "system", "parts": system}] if system else []
        self.before = self._with_roles([*first_of_all, *before])
        self.after = self._with_roles(after)
        self.digests = [*map(_digest, (*self.before, *self.after))]
        tokens = ("input_tokens", "output_tokens")
        self.usage = {key: span.attributes.get(f"gen_ai.usage.{key}") for key in tokens}
        self.is_cut = any(notice.code == "cut-off" for notice in self.notices)

    def _listed(self, name: str, plain: JsonObject) -> list[JsonValue]:
        """Return the items of an attribute; one that is plain text is an item like `plain`."""
        value = fields_of(self.span.attributes.get(name))
        if isinstance(value, dict):
            return [value]
        if isinstance(value, str) and not value.lstrip().startswith(("[", "{")):
            return [{**plain, "content": value}] if value.strip() else []
        if value and not isinstance(value, list | tuple):
            self._notice("cut-off" if isinstance(value, str) else "unread-field", name, value)
        return listed(value)

    def _with_roles(self, messages: Iterable[JsonValue]) -> list[JsonObject]:
        """Return the items that are messages, or items of the Responses API, which have a type."""
        found = []
        for one in messages:
            if isinstance(one, dict) and isinstance(one.get("role") or one.get("type"), str):
                found.append(one)
            else:
                self._notice("unread-field", "a message", one)
        return found

    def _notice(self, code: str, name: str, value: JsonValue) -> None:
        words = f"{name} of the span {self.span.name[:40]!r} is not read: {brief(value)}"
        self.notices.append(Notice(code, words, None, self.span.path_of(name)))


Read: TypeAlias = Callable[[list[JsonObject]], Conversation]
"""Reads the messages of a conversation."""
AnyRead: TypeAlias = Callable[..., Conversation]

_Place: TypeAlias = tuple[str | None, str | None]
"""A trace, and what is found in it by an id or a name; None is for spans without a parent."""


class _Thread:
    """A conversation that spans continue: its messages, the span of each, and the notices."""

    def __init__(self) -> None:
        self.messages: list[JsonObject] = []
        self.spans: list[TraceSpan] = []
        self.notices: list[Notice] = []
        self.ends: list[tuple[str | None, bytes]] = []


def read_traces(spans: Iterable[TraceSpan], read: Read) -> tuple[Conversation, ...]:
    """Return the conversations in spans, in the order of their start."""
    whole = sorted(_whole(spans), key=lambda span: span.started)
    offered = {one.trace: found for one in reversed(whole) if (found := one.attributes.get(_TOOLS))}
    broken = {one.trace: why for one in whole if (why := word(one.attributes.get(_FAILURE)))}
    runs, given = _Runs(span for span in whole if _operation(span) == _TOOL), []
    for thread in _threads(_without_repeated(_asking(whole), whole)):
        one = read(_answered(thread, runs))
        tools = next((offered[span.trace] for span in thread.spans if span.trace in offered), None)
        warnings = (
            notice
            if notice.source is None
            else notice._replace(path=thread.spans[notice.source].path)
            for notice in one.warnings
        )
        own = (*thread.notices, *warnings)
        one = replace(one, tools=(*listed(fields_of(tools)),), warnings=own)
        # The first conversation of a trace is the agent's, and the others are below it.
        failure = next((broken.pop(at.trace) for at in thread.spans if at.trace in broken), "")
        given.append(ended(one, failure))
    return tuple(given)


def _whole(spans: Iterable[TraceSpan]) -> Iterable[TraceSpan]:
    """Return each span once, with the attributes of the log records that belong to it."""
    found: dict[object, TraceSpan] = {}
    for span in spans:
        key = object() if span.id is None else (span.trace, span.id)
        if (known := found.get(key)) is None:
            found[key] = span
            continue
        # A record of the log has no name of a span, and begins when the span ends.
        found[key] = (span if span.name and not known.name else known)._replace(
            attributes=merged(known.attributes, span.attributes),
            events=known.events or span.events,
            failed=known.failed or span.failed,
            parent=known.parent or span.parent,
        )
    return found.values()


def _operation(span: TraceSpan) -> str:
    return word(span.attributes.get(_OPERATION))


def _asking(spans: list[TraceSpan]) -> list[_RequestSpan]:
    """Return the spans with messages; in a trace without any, the whole agent's may have them."""
    asking = [_RequestSpan(one) for one in spans if _operation(one) not in {*_AGENT, _TOOL}]
    given = [one for one in asking if one.before or one.after or one.notices]
    traces = {one.span.trace for one in given}
    agents = (one for one in spans if _operation(one) in _AGENT and one.trace not in traces)
    given += [one for one in map(_RequestSpan, agents) if one.before or one.after or one.notices]
    return sorted(given, key=lambda one: one.span.started)


def _without_repeated(given: list[_RequestSpan], spans: list[TraceSpan]) -> list[_RequestSpan]:
    """Return the spans without those whose messages the next such span below them repeats: a
    framework and its client are instrumented both, and the request is written twice.
    """
    asking: dict[_Place, _RequestSpan] = {(one.span.trace, one.span.id): one for one in given}
    above: dict[_Place, _Place] = {
        (one.trace, one.id): (one.trace, one.parent) for one in spans if one.id and one.parent
    }
    order = TopologicalSorter({at: (up,) for at, up in above.items()})
    with suppress(CycleError):
        order.prepare()
    nearest: dict[_Place, _RequestSpan | None] = {}
    while ready := order.get_ready():  # parents first; none of a circle, nor of what is below it
        for at in ready:
            nearest[at] = asking.get(at) or (nearest[above[at]] if at in above else None)
        order.done(*ready)
    repeated = set()
    for one in given:
        at = one.span.trace, one.span.id
        if at in above and at not in nearest:
            words = f"the parents of the span {one.span.id!r} form a circle"
            one.notices.append(Notice("cyclic-parents", words, None, one.span.path))
        found = nearest.get(above[at]) if at in above else None
        if found is None or len(found.digests) > len(one.digests):
            continue
        if {*found.digests} <= {*one.digests}:
            repeated.add(id(found))
            one.usage = one.usage if any(one.usage.values()) else found.usage
    return [one for one in given if id(one) not in repeated]


def _threads(given: Iterable[_RequestSpan]) -> list[_Thread]:
    """Join the spans' messages to conversations, matching by digests of all messages before.

    Spans without a parent continue one of another trace, too. A span whose input is cut off
    continues the last conversation of its trace.
    """
    threads: list[_Thread] = []
    ends: dict[tuple[str | None, bytes], _Thread] = {}
    last: dict[str, _Thread] = {}
    for one in given:
        scopes = (one.span.trace,) if one.span.parent else (one.span.trace, None)
        chain = [*accumulate(one.digests, lambda *pair: _hash(b"".join(pair)), initial=b"")]
        keys = ((size, (scope, chain[size])) for size in range(len(one.before), 0, -1)
                for scope in scopes)  # fmt: skip
        size, thread = next(((size, ends[key]) for size, key in keys if key in ends), (0, None))
        if thread is None and one.is_cut and not one.before:
            thread = last.get(one.span.trace)
        if thread is None:
            threads.append(thread := _Thread())
        for key in thread.ends:
            del ends[key]
        own = ((scope, chain[-1]) for scope in scopes if one.digests)
        thread.ends = [key for key in own if key not in ends]
        ends |= dict.fromkeys(thread.ends, thread)
        last[one.span.trace] = thread
        cost = {"usage": one.usage, "created_at": one.span.started}
        messages = [*one.before[size:], *({**message, **cost} for message in one.after)]
        thread.messages += messages
        thread.spans += [one.span] * len(messages)
        thread.notices += one.notices
    return threads


def _hash(text: bytes) -> bytes:
    return blake2b(text, digest_size=16).digest()


def _digest(message: JsonObject) -> bytes:
    """Return a digest of the message, without what only replies have."""
    replies = KNOWN["otel"]["of_replies"]
    kept = [(str(key), one) for key, one in message.items() if one and key not in replies]
    text = json_words(sorted(kept, key=itemgetter(0)))
    return _hash(text.encode("utf-8", "surrogatepass"))


def _messages_in(span: TraceSpan) -> Iterator[tuple[bool, JsonObject]]:
    """Yield the messages in a span's events, and whether each is the reply."""
    for name, fields in span.events:
        if name in KNOWN["otel"]["events"]:
            yield False, _event_message({"role": name.split(".")[1], **fields})
        elif name == _CHOICE:
            inner = fields_of(fields.get("message"))
            kept = inner if isinstance(inner, Mapping) else {"content": inner}
            yield True, _event_message({"role": "assistant", **fields, **kept})


def _event_message(fields: JsonObject) -> JsonObject:
    """Return an event's fields as a chat message; the id of a tool's event is the call's id."""
    kept = {key: fields.get(key) for key in ("role", "content") if fields.get(key) is not None}
    calls = fields_of(fields.get("tool_calls"))
    if calls:
        kept["tool_calls"] = calls
    if kept.get("role") == "tool":
        kept["tool_call_id"] = fields.get("id") or fields.get("tool_call_id")
    return kept


class _Runs:
    """The runs of tools: by trace and call's id, and those without an id by trace and name."""

    def __init__(self, spans: Iterable[TraceSpan]) -> None:
        self._known: dict[_Place, TraceSpan] = {}
        self._loose: dict[_Place, list[TraceSpan]] = defaultdict(list)
        for span in spans:
            if (known := identifier(span.attributes.get("gen_ai.tool.call.id"))) is not None:
                scopes = (span.trace,) if span.parent else (span.trace, None)
                self._known |= {(scope, known): span for scope in scopes}
            else:
                self._loose[span.trace, word(span.attributes.get("gen_ai.tool.name"))].append(span)

    def of(self, thread: _Thread) -> dict[str, TraceSpan]:
        """Return the runs by their call's id. Runs without one are those of the calls of the same
        name, in order, if there are as many.
        """
        runs: dict[str, TraceSpan] = {}
        called: dict[_Place, list[str]] = defaultdict(list)
        for message, span in zip(thread.messages, thread.spans, strict=True):
            for call in (*listed(message.get("parts")), *listed(message.get("tool_calls"))):
                known = identifier(get(call, "id")) or ""
                for scope in (None, span.trace):
                    if (run := self._known.get((scope, known))) is not None:
                        runs[known] = run
                name = get(call, "name") or get(get(call, "function"), "name")
                if self._loose and isinstance(name, str):
                    called[span.trace, name].append(known)
        for key, ids in called.items():
            if len(self._loose.get(key, ())) == len(ids):
                runs |= zip(ids, self._loose[key], strict=True)
        return runs


def _answered(thread: _Thread, all_runs: _Runs) -> list[JsonObject]:
    """Return the messages with what the tools' spans show: errors, and results not yet sent."""
    open_calls: dict[str, None] = {}
    runs, whole = all_runs.of(thread), []
    for message in thread.messages:
        parts = [_marked_part(part, open_calls, runs) for part in listed(message.get("parts"))]
        for call in listed(message.get("tool_calls")):
            open_calls[identifier(get(call, "id")) or ""] = None
        answers = identifier(message.get("tool_call_id"))
        open_calls.pop(answers or "", None)
        run = runs.get(answers or "")
        failed = {"is_error": True} if run is not None and run.failed else {}
        whole.append({**message, **failed, **({"parts": parts} if parts else {})})
    late = [
        (runs[known], _late_result(runs[known], known)) for known in open_calls if known in runs
    ]
    thread.spans += [run for run, message in late if message is not None]
    return [*whole, *(message for _, message in late if message is not None)]


def _marked_part(
    part: object, open_calls: dict[str, None], runs: Mapping[str, TraceSpan]
) -> object:
    """Return the part, marked as an error if the span of its run failed; track open calls."""
    call_id = identifier(get(part, "id"))
    match _KINDS.get(word(get(part, "type"))):
        case CallFields() if call_id is not None:
            open_calls[call_id] = None
        case ResultFields() if call_id is not None:
            open_calls.pop(call_id, None)
            if call_id in runs and runs[call_id].failed:
                return {**merged(part), "is_error": True}
    return part


def _late_result(run: TraceSpan, call_id: str) -> JsonObject | None:
    result = run.attributes.get("gen_ai.tool.call.result")
    if result is None and not run.failed:
        return None
    part = {"type": "tool_call_response", "id": call_id, "response": result}
    failed = {"is_error": True} if run.failed else {}
    return {"role": "tool", "parts": [{**part, **failed}]}


_INFERENCE = ("openinference.", "llm.input_messages", "llm.output_messages")
_COLUMN = "attributes."
_OPERATIONS = {"TOOL": "execute_tool", "AGENT": "invoke_agent", "CHAIN": "invoke_agent"}
"""The operation that a kind of span, or of observation, is in OpenTelemetry's conventions."""
_OTHERS = frozenset({"LLM", "GENERATION"})


def is_inference(thing: object) -> bool:
    """Whether it is a span of OpenInference, or an export or a list that contains some."""
    sides = ("input_messages", "output_messages")
    return any(
        first(span.attributes.get("llm"), sides) is not None
        or any(str(key).startswith(_INFERENCE) for key in span.attributes)
        for span in _spans(thing)
    )


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
    found = first(thing, ("observations", "data", "runs"))
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
            "gen_ai.input.messages": [] if is_tool else _messages_of(given, "user"),
            "gen_ai.output.messages": [] if is_tool else _messages_of(replied, "assistant"),
            "gen_ai.usage.input_tokens": get(usage, "input"),
            "gen_ai.usage.output_tokens": get(usage, "output"),
            "gen_ai.tool.call.id": next(filter(None, map(identifier, ids)), None),
            "gen_ai.tool.name": get(one, "name"),
            "gen_ai.tool.call.result": get(replied, "content") or result,
            "gen_ai.tool.definitions": get(given, "tools"),
            _FAILURE: get(one, "failure"),
        }
        yield TraceSpan(
            trace=plain(first(one, ("traceId", "trace_id"))),
            started=instant(first(one, ("startTime", "start_time"))) or 0.0,
            name=word(get(one, "name")),
            attributes=attributes,
            events=(),
            failed=get(one, "level") == "ERROR",
        )


def _messages_of(value: JsonValue, role: str) -> list[JsonObject]:
    """Return the messages in an input or an output, whatever API wrote them."""
    if isinstance(value, list):
        return [message for one in value for message in _messages_of(one, role)]
    if not isinstance(value, Mapping):
        return [] if value is None else [{"role": role, "content": plain(value)}]
    if value.get("role") is not None or value.get("type") is not None:
        return [dict(value)]
    for key in ("messages", "input", "output"):
        if value.get(key) is not None:
            return [
                *_messages_of(value.get("instructions"), "system"),
                *_messages_of(value[key], role),
            ]
    if choices := listed(value.get("choices")):
        return _messages_of(get(choices[0], "message"), role)
    return [{"role": role, "content": json_words(value)}]


def is_langsmith(thing: object) -> bool:
    """Whether it is a run of LangSmith, or a page or a list of runs."""
    return any(has(one, "run_type") and has(one, "id") for one in _observations(thing))


def langsmith_spans(thing: object, read: AnyRead) -> Iterator[TraceSpan]:
    """Yield the runs as spans. Records of one run are joined: its end has no inputs."""
    found: dict[str, JsonObject] = {}
    waiting = [(run, get(run, "id")) for run in _observations(thing)]
    for run, root in waiting:  # which grows
        known = str(get(run, "id") or id(run))
        if known not in found:
            waiting += [(one, root) for one in listed(get(run, "child_runs"))]
            found[known] = {"trace_id": root}
        fields = merged(run if isinstance(run, Mapping) else fields_of(json_words(run)))
        found[known] |= {key: one for key, one in fields.items() if one}
    runs = [run for run in found.values() if run.get("run_type") in ("llm", "tool")]
    whole = [run for run in found.values() if not run.get("parent_run_id")]  # a graph's, perhaps
    has_models = any(run["run_type"] == "llm" for run in runs)
    yield from langfuse_spans([_observation(run, read) for run in (runs if has_models else whole)])
    yield from langfuse_spans([
        {"type": "CHAIN", "traceId": run["trace_id"], "failure": run.get("error")} for run in whole
        if run.get("run_type") == "chain"
    ])  # fmt: skip


def _observation(run: JsonObject, read: AnyRead) -> JsonObject:
    """Return a run as an observation of Langfuse, with its messages in one shape."""
    before, replied, failed = run.get("inputs"), run.get("outputs"), run.get("error")
    made = next(iter(listed(next(iter(listed(get(replied, "generations"))), None))), None)
    after, usage = first(made, ("message", "text")) or replied, None
    if is_tool := run.get("run_type") == "tool":
        seen = get(replied, "output")
        after = unwrapped(seen) if isinstance(seen, Mapping) else seen or replied or failed
        failed = failed or get(after, "status") == "error"
    else:
        places = (replied, unwrapped(after), get(replied, "llm_output"), run)
        spent = (first(one, ("usage_metadata", "usage", "token_usage")) or one for one in places)
        usage = next(filter(None, map(usage_of, spent)), None)
        before, after = _canonical(before, "user", read), _canonical(after, "assistant", read)
        after = after[len(before) :] if after[: len(before)] == before else after
    tokens = {"input": get(usage, "prompt_tokens"), "output": get(usage, "completion_tokens")}
    return {
        "type": "TOOL" if is_tool else "GENERATION", "traceId": run["trace_id"],
        "startTime": run.get("start_time"), "name": run.get("name"), "input": before,
        "output": after, "usage": tokens, "level": "ERROR" if failed else "",
    }  # fmt: skip


def _canonical(value: JsonValue, role: str, read: AnyRead) -> list[JsonObject]:
    """Return the messages in a value in one shape, whatever library and API wrote them."""
    prompts = [{"role": role, "content": one} for one in listed(get(value, "prompts"))]
    messages = [
        *_messages_of(get(value, "system"), "system"),
        *(prompts or _messages_of(value, role)),
    ]
    return [
        {"role": one.role, "content": one.content, "reasoning_content": one.reasoning,
         "tool_call_id": one.tool_call_id, "is_error": one.is_error, "tool_calls": [
             {"id": call.id, "name": call.name, "arguments": call.invalid or call.arguments}
             for call in one.tool_calls]}
        for one in (read(messages).messages if value else ())
    ]  # fmt: skip
