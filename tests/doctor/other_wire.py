"""How the second server writes a message to the wire; every habit here is one of a sound server."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from tests.doctor.other_words import pieces

Body = dict[str, Any]
IDS: dict[str, Callable[[int], str]] = {
    "openai": lambda n: f"call_{n:024d}",
    "mistral": lambda n: f"a{n:08d}",
    "kimi": lambda n: f"functions.tool:{n}",
    "number": str,
    "uuid": lambda n: f"chatcmpl-tool-{n:08x}-0000-4000-8000-000000000000",
}


@dataclass(frozen=True)
class Habits:
    """What sound servers differ in."""

    raw: Literal["none", "logprobs", "bytes", "token_ids", "sglext", "verbose"] = "none"
    shows: bool = False
    """The rendered prompt is shown when it is asked for."""
    owner: str = "somebody"
    strict: bool = False
    """Fields that are not known are refused."""
    fields: frozenset[str] = frozenset()
    """Fields that are known beside the usual."""
    chunks: Literal["one", "characters", "some", "all"] = "some"
    usage: Literal["asked", "always", "last", "refused"] = "asked"
    ids: str = "openai"
    content: Literal["null", "empty", "left out"] = "null"
    thinks: bool = False
    reasoning: Literal["reasoning_content", "reasoning"] = "reasoning_content"
    extras: bool = False
    comments: bool = False
    transfer: Literal["length", "chunked", "close"] = "length"
    seconds: float = 0.0
    models: Literal["one", "empty", "none"] = "one"
    key: str = ""
    form: str = "tags"
    cut: Literal["open", "markup", "nothing"] = "open"
    counts: Literal["characters", "words", "constant"] = "characters"
    role: Literal["first", "always", "never"] = "first"
    end: Literal["alone", "with the last"] = "alone"
    empty_list: bool = False
    ascii: bool = False
    compact: bool = False

    def count(self, body: Body) -> int:
        text = json.dumps([body["messages"], body.get("tools")])
        if self.counts == "constant":
            return 11
        return len(text) // 4 if self.counts == "characters" else len(text.split())

    def arguments(self, value: Any) -> str:
        if isinstance(value, str):
            return value
        separators = (",", ":") if self.compact else None
        return json.dumps(value, ensure_ascii=self.ascii, separators=separators)


@dataclass
class Message:
    """One answer; `calls` have arguments as values, or as text where they are broken."""

    raw: str
    content: str | None
    reasoning: str
    calls: list[Any]
    finish: str | None
    tokens: int
    prompt_tokens: int = 0
    prompt: str = ""
    changes: dict[str, Any] = field(default_factory=dict)
    """Fields of each call that a defect sets."""


def whole(message: Message, habits: Habits, body: Body) -> Body:
    found: Body = {"role": "assistant"}
    if message.content is not None:
        found["content"] = message.content
    elif habits.content != "left out":
        found["content"] = None if habits.content == "null" else ""
    if message.reasoning:
        found[habits.reasoning] = message.reasoning
    if message.calls or habits.empty_list:
        found["tool_calls"] = [_call(n, c, habits, message) for n, c in enumerate(message.calls)]
    if habits.extras:
        found |= {"refusal": None, "annotations": [], "audio": None, "function_call": None}
    shown: Body = {}
    if habits.shows and body.get("return_prompt_text"):
        shown["prompt_text"] = message.prompt
    if habits.raw == "verbose" and body.get("verbose"):
        text = message.raw.removesuffix("<|im_end|>")
        shown["__verbose"] = {"content": text, "prompt": message.prompt if habits.shows else ""}
    choice: Body = {"index": 0, "message": found, "finish_reason": message.finish}
    if habits.extras:
        choice |= {"logprobs": None, "stop_reason": None, "matched_stop": 151645}
    if body.get("logprobs") and habits.raw in ("logprobs", "bytes"):
        choice["logprobs"] = _logprobs(message.raw, habits)
    if body.get("return_token_ids") and habits.raw in ("token_ids", "sglext"):
        name = "token_ids" if habits.raw == "token_ids" else "response_token_ids"
        choice[name] = [ord(character) for character in message.raw]
    return {"id": "c", "object": "chat.completion", "created": 1, "model": "scripted",
            "choices": [choice], "usage": _usage(message, habits), **shown}  # fmt: skip


def _call(number: int, call: Any, habits: Habits, message: Message) -> Body:
    name, value = call
    function = {"name": name, "arguments": habits.arguments(value)}
    found = {"id": IDS[habits.ids](number), "type": "function", "function": function}
    return {key: value for key, value in (found | message.changes).items() if value != "drop"}


def _logprobs(text: str, habits: Habits) -> Body:
    as_bytes = habits.raw == "bytes"
    return {"content": [{"token": piece, "logprob": -1.0,
                         **({"bytes": list(piece.encode())} if as_bytes else {})}
                        for piece in pieces(text)]}  # fmt: skip


def _usage(message: Message, habits: Habits) -> Body:
    more = {"prompt_tokens_details": {"cached_tokens": 0}} if habits.extras else {}
    total = message.prompt_tokens + message.tokens
    return {"prompt_tokens": message.prompt_tokens, "completion_tokens": message.tokens,
            "total_tokens": total, **more}  # fmt: skip


def events(message: Message, habits: Habits, body: Body) -> Iterator[Any]:
    """The frames of a stream; the last is [DONE]."""
    head = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "scripted"}
    deltas = list(_deltas(message, habits))
    last: Body = {}
    if habits.end == "with the last":
        last = deltas.pop()
    choices: list[Body] = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
    choices.append({"index": 0, "delta": last, "finish_reason": message.finish})
    if body.get("logprobs") and habits.raw in ("logprobs", "bytes"):
        choices[0]["logprobs"] = _logprobs(message.raw, habits)
    ids = [ord(character) for character in message.raw]
    if body.get("return_token_ids") and habits.raw == "token_ids":
        choices[0]["token_ids"], choices[-1]["token_ids"] = ids[:5], ids[5:]
    wanted = (body.get("stream_options") or {}).get("include_usage") and habits.usage != "refused"
    for number, choice in enumerate(choices):
        ended = number == len(choices) - 1
        counted = habits.usage == "always" or (habits.usage == "last" and ended and wanted)
        yield {**head, "choices": [choice],
               **({"usage": _usage(message, habits)} if counted else {}),
               **({"usage": None} if habits.extras and not counted else {})}  # fmt: skip
    if body.get("return_output_ids_in_sglext") and habits.raw == "sglext":
        yield {**head, "choices": [], "sglext": {"output_ids": [ids]}}
    if wanted and habits.usage == "asked":
        yield {**head, "choices": [], "usage": _usage(message, habits)}
    yield "[DONE]"


def _deltas(message: Message, habits: Habits) -> Iterator[Body]:
    role: Mapping[str, Any] = {} if habits.role == "never" else {"role": "assistant"}
    if habits.chunks == "all":
        yield {**role, "content": message.content or "",
               **({habits.reasoning: message.reasoning} if message.reasoning else {}),
               **({"tool_calls": [{"index": n, **_call(n, c, habits, message)}
                                  for n, c in enumerate(message.calls)]}
                  if message.calls else {})}  # fmt: skip
        return
    always = role if habits.role == "always" else {}
    yield {**role, "content": None if habits.content == "null" else ""}
    for part in _parts(message.reasoning, habits):
        yield {**always, habits.reasoning: part}
    for part in _parts(message.content or "", habits):
        yield {**always, "content": part}
    for number, call in enumerate(message.calls):
        first = {"index": number, **_call(number, call, habits, message)}
        arguments = first["function"]["arguments"]
        if not isinstance(arguments, str):
            yield {**always, "tool_calls": [first]}
            continue
        yield {
            **always,
            "tool_calls": [first | {"function": {**first["function"], "arguments": ""}}],
        }
        for part in _parts(arguments, habits):
            later = {"index": number, "function": {"arguments": part}}
            yield {**always, "tool_calls": [later]}


def _parts(text: str, habits: Habits) -> Iterator[str]:
    if habits.chunks == "one" and text:
        yield text
        return
    chance, start = random.Random(len(text)), 0
    while start < len(text):
        size = 1 if habits.chunks == "characters" else chance.randint(1, 30)
        yield text[start : start + size]
        start += size
