"""Defects of the second server, by the lines of what users report, with what has to be found.

The first of `checks` is the one that a defect is for. Where `blind` is false nobody can say without
the raw text whose fault it is.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tests.doctor.other_server import Body, Defect
from tests.doctor.other_wire import Message


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _arguments(change: Callable[[Any], Any]) -> Callable[[Message, Body], None]:
    def spoil(message: Message, _: Body) -> None:
        message.calls = [(name, change(value)) for name, value in message.calls]

    return spoil


def _streamed(spoil: Callable[[Message, Body], None]) -> Callable[[Message, Body], None]:
    return lambda message, body: spoil(message, body) if body.get("stream") else None


def _values(change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda found: (
        {key: change(value) for key, value in found.items()} if isinstance(found, dict) else found
    )


def _unemptied(found: Any) -> Any:
    return (
        {k: v for k, v in found.items() if v not in ("", [])} if isinstance(found, dict) else found
    )


def _each_field(**changes: Any) -> Callable[[Message, Body], None]:
    return lambda message, _: message.changes.update(changes)


def _finish(reason: str | None) -> Callable[[Message, Body], None]:
    def spoil(message: Message, _: Body) -> None:
        message.finish = reason if message.calls else message.finish

    return spoil


def _no_calls(message: Message, _: Body) -> None:
    """Neither content nor calls are left beside the reasoning."""
    if message.calls and message.finish != "length":
        message.calls, message.finish = [], "stop"


def _leaves_markup(message: Message, _: Body) -> None:
    if message.calls and message.finish != "length":
        text = message.raw.removesuffix("<|im_end|>")
        message.calls, message.content, message.finish = [], text, "stop"


def _hyphens_lost(message: Message, body: Body) -> None:
    if any("-" in name for name, _ in message.calls):
        _leaves_markup(message, body)


def _doubled(message: Message, _: Body) -> None:
    message.calls = [call for call in message.calls for _ in (1, 2)]


def _stray(message: Message, _: Body) -> None:
    if message.calls:
        message.content = "</tool_call>"


def _cut_complete(message: Message, _: Body) -> None:
    if message.finish == "length" and message.calls:
        message.calls = [(name, {"path": "a."}) for name, _ in message.calls]


def _cut_says_calls(message: Message, _: Body) -> None:
    if message.calls:
        message.finish = "tool_calls"


def _thought_shown(message: Message, _: Body) -> None:
    if message.reasoning:
        shown = f"<think>\n{message.reasoning}\n</think>\n"
        message.content, message.reasoning = shown + (message.content or ""), ""


def _emptied(message: Message, _: Body) -> None:
    message.content = "" if message.content else message.content


def _finish_without(message: Message, _: Body) -> None:
    if not message.calls and message.finish == "stop":
        message.finish = "tool_calls"


def _if(words: str, status: int, said: str) -> Callable[[Body], tuple[int, str] | None]:
    return lambda body: (status, said) if words in json.dumps(body) else None


def _calls_of(frames: list[Any], change: Callable[[Body, int], None]) -> list[Any]:
    """Every fragment of a call changed in place; the number counts those before it."""
    count = 0
    for frame in frames:
        if isinstance(frame, dict) and frame["choices"]:
            for fragment in frame["choices"][0]["delta"].get("tool_calls") or []:
                change(fragment, count)
                count += 1
    return frames


def _fragments(change: Callable[[Body, int], None]) -> Callable[[list[Any]], list[Any]]:
    return lambda frames: _calls_of(frames, change)


def _null_later(fragment: Body, _: int) -> None:
    if "id" not in fragment:
        fragment |= {"id": None, "type": None, "function": {"name": None, **fragment["function"]}}


def _new_id(fragment: Body, count: int) -> None:
    fragment["id"] = f"call_{count}"


def _cumulative(frames: list[Any]) -> list[Any]:
    grown: dict[int, str] = {}

    def change(fragment: Body, _: int) -> None:
        index = fragment["index"]
        grown[index] = grown.get(index, "") + fragment["function"]["arguments"]
        fragment["function"]["arguments"] = grown[index]

    return _calls_of(frames, change)


def _deltas(change: Callable[[Body], None]) -> Callable[[list[Any]], list[Any]]:
    def spoil(frames: list[Any]) -> list[Any]:
        for delta in _of_text(frames):
            change(delta)
        return frames

    return spoil


def _of_text(frames: list[Any]) -> list[Body]:
    choices = [frame["choices"] for frame in frames if isinstance(frame, dict)]
    return [found[0]["delta"] for found in choices if found]


def _said_again(frames: list[Any]) -> list[Any]:
    """The delta with the finish reason has the whole text once more."""
    deltas = _of_text(frames)
    text = "".join(delta.get("content") or "" for delta in deltas)
    deltas[-1] |= {"content": text} if text else {}
    return frames


def _error_in_stream(frames: list[Any]) -> list[Any]:
    return [frames[0], {"error": {"message": "peg-native format was not matched"}}, "[DONE]"]


def _without(key: str, of: str = "") -> Callable[[Body], Body]:
    """The body without a field; or with a field of each message emptied."""

    def prompt(body: Body) -> Body:
        if not of:
            return {k: v for k, v in body.items() if k != key}
        kept = [{**m, key: ""} if m["role"] == of and key in m else m for m in body["messages"]]
        return {**body, "messages": kept}

    return prompt


def _defect(name: str, *checks: str, **more: Any) -> Defect:
    return Defect(name, checks=checks, **more)


_GRAMMAR = "Unable to generate parser for this template"
_RAW_SAID = "error parsing tool call: raw='{\"name\":' , err=unexpected end of JSON input"

DEFECTS: tuple[Defect, ...] = (
    _defect("brace first lost", "stream-as-whole",
            message=_streamed(_arguments(lambda v: _text(v)[1:]))),
    _defect("cut at a number", "stream-as-whole",
            message=_streamed(_arguments(lambda v: _text(v).partition(": 2")[0]))),
    _defect("arguments twice", "stream-as-whole",
            message=_streamed(_arguments(lambda v: _text(v) * 2))),
    _defect("cumulative", "stream-as-whole", frames=_cumulative),
    _defect("doubly encoded", "calls-as-written", blind=False,
            message=_arguments(lambda v: json.dumps(_text(v)))),
    _defect("single quotes", "calls-as-written", blind=False, message=_arguments(str)),
    _defect("large numbers rounded", "typed-values", blind=False, message=_arguments(
        _values(lambda v: float(v) if type(v) is int and v > 2**53 else v))),
    _defect("null as a word", "typed-values", blind=False, message=_arguments(
        _values(lambda v: "null" if v is None else v))),
    _defect("empty dropped", "typed-values", blind=False, message=_arguments(
        _unemptied)),
    _defect("no-argument null", "no-arguments", message=_arguments(lambda v: v or "")),
    _defect("hyphens in streams", "calls-as-written", message=_streamed(_leaves_markup)),
    _defect("hyphens", "name-dashes", message=_hyphens_lost),
    _defect("calls doubled", "calls-as-written", blind=False, message=_doubled),
    _defect("stray markup", "calls-as-written", blind=False, message=_stray),
    _defect("thinking leaves nothing", "calls-as-written",
            thinks=True, blind=False, message=_no_calls),
    _defect("reasoning shown", "reasoning-apart", thinks=True, message=_thought_shown),
    _defect("content lost", "no-call-wanted", message=_emptied),
    _defect("finish null", "finish-reason", message=_finish(None)),
    _defect("finish other", "finish-reason", message=_finish("eos")),
    _defect("finish without calls", "finish-reason", message=_finish_without),
    _defect("id null", "call-ids", message=_each_field(id=None)),
    _defect("id empty", "call-ids", message=_each_field(id="")),
    _defect("id shared", "call-ids", message=_each_field(id="call_1")),
    _defect("type missing", "call-ids", message=_each_field(type="drop")),
    _defect("null later", "stream-fragments", verdict="note", frames=_fragments(_null_later)),
    _defect("a new id each", "stream-fragments", frames=_fragments(_new_id)),
    _defect("index in words", "stream-fragments",
            frames=_fragments(lambda f, _: f.update(index=str(f["index"])))),
    _defect("index of fragments", "stream-fragments",
            frames=_fragments(lambda f, n: f.update(index=n))),
    _defect("index is 0", "stream-fragments", frames=_fragments(lambda f, _: f.update(index=0))),
    _defect("done missing", "stream-frames", frames=lambda frames: frames[:-1]),
    _defect("two in one", "stream-frames",
            frames=lambda frames: [f"{json.dumps(frames[0])}{json.dumps(frames[1])}", *frames[2:]]),
    _defect("broken UTF-8", "stream-as-whole",
            wire=lambda data: data.replace("北".encode(), "北".encode()[:2])),
    _defect("role of the user", "stream-frames", frames=_deltas(lambda d: d.update(role="user"))),
    _defect("text again at the end", "stream-frames", frames=_said_again),
    _defect("type in streams", "stream-fragments",
            frames=_fragments(lambda f, _: f.update(type="tool_call"))),
    _defect("id shared in streams", "stream-fragments",
            frames=_fragments(lambda f, _: f.update(id="call_1") if "id" in f else None)),
    _defect("error in a stream", "stream-frames", frames=_error_in_stream),
    _defect("500 in between", "two-calls", refuse=_if("get_weather with exactly these arguments: "
            '{\\"city\\": \\"Oslo\\", \\"days\\": 2}\\nCall', 500, "Internal Server Error")),
    _defect("500 with the text", "tools-accepted", refuse=_if("Call the tool", 500, _RAW_SAID)),
    _defect("no content null", "history-null-content",
            refuse=_if('"content": null', 400, "content: none is not an allowed value")),
    _defect("no content in parts", "history-content-parts", refuse=_if(
        '"tool_call_id": "call00001", "content": [', 400, "content must be a string")),
    _defect("one result alone", "history-two-results",
            refuse=_if("call00002", 500, "list index out of range")),
    _defect("no $ref", "schema-ref", refuse=_if('"$ref"', 400, _GRAMMAR)),
    _defect("no lists of types", "schema-type-list",
            refuse=_if('["string", "null"]}', 400, _GRAMMAR)),
    _defect("no pattern", "schema-pattern", refuse=_if('"pattern"', 500, _GRAMMAR)),
    _defect("crash under required", "choice-required",
            refuse=_if('"required"}', 500, "CUDA error")),
    _defect("none ignored", "choice-none", body=lambda body: (
        _without("tool_choice")(body) if body.get("tool_choice") == "none" else body)),
    _defect("required ignored", "choice-required", body=lambda body: (
        _without("tool_choice")(body) if body.get("tool_choice") == "required" else body)),
    _defect("choices ignored", "choice-named", "choice-required", "choice-none",
            body=_without("tool_choice")),
    _defect("parallel ignored", "one-at-a-time", body=_without("parallel_tool_calls")),
    _defect("cut looks whole", "cut-call", message=_cut_complete),
    _defect("cut says calls", "cut-call", message=_cut_says_calls),
    _defect("tools unseen", "tools-in-prompt", prompt=_without("tools")),
    _defect("results unseen", "results-in-prompt", prompt=_without("content", "tool")),
    _defect("past unseen", "arguments-in-prompt", prompt=_without("tool_calls", "assistant")),
    _defect("content unseen", "content-in-prompt", prompt=_without("content", "assistant")),
)  # fmt: skip
