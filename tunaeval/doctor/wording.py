"""OpenAI's Responses API and Anthropic's Messages in the words of chat completions.

A request is put into the words of its API, and what the server answers, whole or streamed, into
those of a chat completion, so that one reader and the same rules judge all three. Nothing is
repaired on the way: an id that is missing stays so, and a stop reason is the server's own.

Formats: https://platform.openai.com/docs/api-reference/responses and
https://docs.anthropic.com/en/api/messages
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

from tunaeval.models.clients.server import Heard
from tunaeval.parsing.sse import DataLines
from tunaeval.tools.specs import to_tools
from tunaeval.types.calls import JsonObject, JsonValue
from tunaeval.types.exchange import text_of
from tunaeval.types.json_text import json_object

from .reading import read_answer
from .values import Ask, ServerAnswer

PATHS = {"chat": "chat/completions", "responses": "responses", "messages": "messages"}
HEADERS = {"messages": {"anthropic-version": "2023-06-01"}}

_CACHED = ("cache_creation_input_tokens", "cache_read_input_tokens")
_LIMITS = {"responses": "max_output_tokens", "messages": "max_tokens"}
_OF_CHAT = ("messages", "tools", "max_tokens", "max_completion_tokens")
_STOPS = {
    "tool_use": "tool_calls", "end_turn": "stop", "stop_sequence": "stop", "max_tokens": "length",
    "max_output_tokens": "length",
}  # fmt: skip
_TEXTS = {
    "response.output_text.delta": "content",
    "response.reasoning_text.delta": "reasoning_content",
    "response.reasoning_summary_text.delta": "reasoning_content",
}


def worded(payload: JsonObject, ask: Ask) -> JsonObject:
    """Return the payload of a chat completion as the API of `ask` words it."""
    found = {key: value for key, value in payload.items() if key not in _OF_CHAT}
    found[_LIMITS[ask.api]] = payload.get("max_tokens", payload.get("max_completion_tokens"))
    tools = to_tools(ask.tools).values()
    if ask.api == "responses":
        listed = [tool.as_responses() for tool in tools]
        return {**found, "input": payload["messages"], "tools": listed}
    listed = [tool.as_anthropic() for tool in tools]
    return {**found, "messages": payload["messages"], "tools": listed}


def read_worded(ask: Ask, heard: Heard) -> ServerAnswer:
    """Return the answer in a response of any API. Never raises, as `read_answer`."""
    if ask.api == "chat" or heard.status != 200:
        return read_answer(ask, heard)
    body = json_object(heard.body)
    if body is not None:
        return read_answer(ask, replace(heard, body=json.dumps(_chat(body)).encode()))
    if not ask.streamed:
        return read_answer(ask, heard)
    lines = DataLines()
    data = [*lines.feed(heard.body.decode("utf-8-sig", "replace")), *lines.end()]
    stream = _Stream()
    chunks = [json.dumps(chunk) for event in data for chunk in stream.chunks(json_object(event))]
    ends = ["[DONE]"] * stream.ended
    text = "".join(f"data: {line}\n\n" for line in (*chunks, *ends))
    return _with_end(read_answer(ask, replace(heard, body=text.encode())), stream.final)


def _chat(body: JsonObject) -> JsonObject:
    """Return a whole answer as a chat completion; what is no answer of the API is no message."""
    items = body.get("output", body.get("content"))
    if body.get("error") or not isinstance(items, list):
        return {key: value for key, value in body.items() if key != "choices"}
    message: JsonObject = {"role": "assistant", "content": "", "reasoning_content": ""}
    calls: list[JsonValue] = []
    for item in items:
        match item:
            case {"type": "function_call"}:
                calls.append(_call(item.get("call_id"), item.get("name"), item.get("arguments")))
            case {"type": "tool_use"}:
                written = json.dumps(item.get("input"))
                calls.append(_call(item.get("id"), item.get("name"), written))
            case {"type": "message" | "text"}:
                message["content"] += text_of(item.get("content", item.get("text")))
            case {"type": "reasoning" | "thinking"}:
                thought = item.get("content") or item.get("summary") or item.get("thinking")
                message["reasoning_content"] += text_of(thought)
    finish = _finish(body, called=bool(calls))
    choice = {"index": 0, "message": {**message, "tool_calls": calls}, "finish_reason": finish}
    return {"choices": [choice], "usage": _usage(body.get("usage"))}


def _call(id_: JsonValue, name: JsonValue, arguments: JsonValue) -> JsonObject:
    return {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}}


def _finish(body: JsonObject, *, called: bool) -> JsonValue:
    """Return the finish reason; a response has only a status, whose calls say the rest."""
    reason = body.get("stop_reason")
    if body.get("status") == "completed":
        reason = "tool_use" if called else "end_turn"
    elif isinstance(details := body.get("incomplete_details"), dict):
        reason = details.get("reason")
    return _STOPS.get(reason, reason) if isinstance(reason, str) else reason


def _usage(given: JsonValue) -> JsonObject:
    known = given if isinstance(given, dict) else {}
    names = {"prompt_tokens": "input_tokens", "completion_tokens": "output_tokens"}
    found = {ours: known[theirs] for ours, theirs in names.items() if theirs in known}
    cached = [known.get(key) for key in _CACHED]  # which `input_tokens` leaves out
    if isinstance(prompt := found.get("prompt_tokens"), int):
        found["prompt_tokens"] = prompt + sum(one for one in cached if isinstance(one, int))
    return found


class _Stream:
    """Turns the events of a stream into chunks of a chat completion."""

    def __init__(self) -> None:
        self.ended = False
        self.final: JsonObject | None = None
        """The whole response that the last event repeats."""
        self._usage: JsonObject = {}
        self._empty: set[str] = set()
        """The blocks of calls whose arguments have not begun."""
        self._called = False

    def chunks(self, event: JsonObject | None) -> Iterator[JsonObject]:
        """Yield the chunks that say the same as an event."""
        kind = event.get("type") if event else None
        if event is None or not isinstance(kind, str):
            return
        index, delta = event.get("output_index", event.get("index")), event.get("delta")
        item = event.get("item", event.get("content_block"))
        if isinstance(item, dict) and kind in ("response.output_item.added", "content_block_start"):
            yield from self._opened(item, index)
        elif kind == "response.function_call_arguments.delta":
            yield _fragment(index, delta)
        elif kind in _TEXTS:
            yield _chunk({_TEXTS[kind]: delta})
        elif kind == "content_block_delta" and isinstance(delta, dict):
            yield from self._grown(delta, index)
        elif kind == "content_block_stop" and repr(index) in self._empty:
            yield _fragment(index, "{}")  # clients read no arguments as an empty object
        else:
            yield from self._around(kind, event)

    def _around(self, kind: str, event: JsonObject) -> Iterator[JsonObject]:
        """Yield the chunks of the events that begin and end an answer."""
        inner = event.get("response", event.get("message"))
        about = inner if isinstance(inner, dict) else event
        usage = _usage(about.get("usage"))
        if kind in ("error", "response.failed"):
            yield {"error": about.get("error") or about.get("message") or kind, "choices": []}
        elif kind in ("message_start", "message_delta"):
            self._usage |= usage
            delta = event.get("delta")
            if isinstance(delta, dict) and "stop_reason" in delta:
                yield {**_chunk({}, _finish(delta, called=False)), "usage": self._usage}
        elif kind in ("response.completed", "response.incomplete"):
            self.ended, self.final = True, about
            yield {**_chunk({}, _finish(about, called=self._called)), "usage": usage}
        self.ended = self.ended or kind == "message_stop"

    def _opened(self, item: JsonObject, index: JsonValue) -> Iterator[JsonObject]:
        if item.get("type") not in ("function_call", "tool_use"):
            return
        self._called = True
        if item["type"] == "function_call":
            call = _call(item.get("call_id"), item.get("name"), item.get("arguments") or "")
        else:
            given = item.get("input")
            call = _call(item.get("id"), item.get("name"), json.dumps(given) if given else "")
            self._empty |= set() if given else {repr(index)}
        yield _chunk({"tool_calls": [{"index": index, **call}]})

    def _grown(self, delta: JsonObject, index: JsonValue) -> Iterator[JsonObject]:
        match delta:
            case {"type": "input_json_delta", "partial_json": piece}:
                if piece:
                    self._empty.discard(repr(index))
                yield _fragment(index, piece)
            case {"type": "text_delta", "text": text}:
                yield _chunk({"content": text})
            case {"type": "thinking_delta", "thinking": thought}:
                yield _chunk({"reasoning_content": thought})


def _chunk(delta: JsonObject, finish: JsonValue = None) -> JsonObject:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def _fragment(index: JsonValue, piece: JsonValue) -> JsonObject:
    return _chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})


def _with_end(answer: ServerAnswer, final: JsonObject | None) -> ServerAnswer:
    """Add a fault if the last event has other calls than the stream: clients read either."""
    if final is None or not answer.ok:
        return answer
    whole = replace(answer.ask, streamed=False)
    last = read_answer(whole, Heard(200, {}, json.dumps(_chat(final)).encode()))
    ours, theirs = ([(c.name, c.arguments) for c in one.calls] for one in (answer, last))
    if ours == theirs:
        return answer
    words = f"the last event has the calls {theirs!r:.80}, and the stream {ours!r:.80}"
    return replace(answer, stream_faults=(*answer.stream_faults, ("frame-final", words)))
