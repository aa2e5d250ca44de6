"""An answer as a stream: server-sent events in one of the ways in which sound servers write them.

Line ends, comments, a byte order mark, where fragments are cut, whether a role or an empty content
comes first: all by chance. Defects of streams alone are made here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from random import Random
from typing import Any

from tests.doctor.serving import Served, logprobs
from tests.doctor.spoiling import Answered

Delta = dict[str, Any]


def body_of(made: Answered, served: Served, body: dict[str, Any]) -> bytes:
    """The whole body; its cuts into packets are the network's."""
    defect = served.defect
    head: Delta = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": "scripted"}
    chunks = [{**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
              for delta in _deltas(made, served)]  # fmt: skip
    if body.get("logprobs") and served.raw:
        _add_tokens(chunks, made, served)
    end = {"index": 0, "delta": {}, "finish_reason": made.finish}
    if defect == "finish-before-calls":
        called = (at for at, c in enumerate(chunks) if c["choices"][0]["delta"].get("tool_calls"))
        chunks.insert(next(called, len(chunks)), {**head, "choices": [end]})
    elif defect != "stream-no-finish":
        chunks.append({**head, "choices": [end]})
    if (body.get("stream_options") or {}).get("include_usage") and defect != "stream-no-usage":
        count = len(made.tokens)
        usage = {"prompt_tokens": made.prompt_tokens, "completion_tokens": count,
                 "total_tokens": made.prompt_tokens + count}  # fmt: skip
        last: Delta = {} if defect == "usage-frame-without-choices" else {"choices": []}
        chunks.append({**head, **last, "usage": usage})
    return _events(chunks, served, done=defect != "stream-no-done")


def _events(chunks: list[Delta], served: Served, *, done: bool) -> bytes:
    chance, odd = served.chance, not served.plain
    end = chance.choice(("\n", "\r\n", "\r")) if odd else "\n"
    blank = chance.choice((" ", "")) if odd else " "
    said = ["\ufeff" if odd and chance.random() < 0.2 else ""]
    for chunk in chunks:
        if odd and chance.random() < 0.1:
            said.append(f": keep-alive{end}{end}")
        data = json.dumps(chunk, ensure_ascii=chance.random() < 0.5)
        said.append(f"data:{blank}{data}{end}{end}")
    if done:
        said.append(f"data:{blank}[DONE]{end}{end}")
    return "".join(said).encode()


def _add_tokens(chunks: list[Delta], made: Answered, served: Served) -> None:
    """The tokens of the answer spread over its chunks, in order."""
    left = [*made.tokens, "<|im_end|>"]
    size = max(1, len(left) // max(1, len(chunks)))
    for number, chunk in enumerate(chunks):
        last = number == len(chunks) - 1
        took, left = (left, []) if last else (left[:size], left[size:])
        chunk["choices"][0]["logprobs"] = logprobs(took, served)


def _deltas(made: Answered, served: Served) -> Iterator[Delta]:
    chance = served.chance
    yield {"role": "assistant", "content": chance.choice(("", None))}
    key = chance.choice(("reasoning", "reasoning_content"))
    for piece in _pieces(made.reasoning, chance):
        yield {key: piece}
    for piece in _pieces(made.content or "", chance):
        yield {"content": piece}
    calls = [dict(call) for call in made.calls]
    if served.defect == "lump-loses-a-call" and len(calls) > 1:
        calls = [{**calls[0], "arguments": ""}]
    for number, call in enumerate(calls):
        yield from _call(call, number, served)
    if served.defect == "content-again" and made.calls:
        yield {"content": made.text}


def _call(call: Delta, number: int, served: Served) -> Iterator[Delta]:
    """The fragments of one call."""
    chance, defect = served.chance, served.defect
    arguments = call["arguments"]
    if defect == "last-brace-lost":
        arguments = arguments[:-1]
    elif defect == "stream-empty-arguments" and arguments == "{}":
        arguments = ""
    elif defect == "other-scripts-twice" and not arguments.isascii():
        arguments += arguments
    elif defect == "escapes-twice" and arguments.endswith("}"):
        arguments = json.dumps(json.loads(arguments)).replace("\\u", "\\\\u")
    index = 0 if defect == "index-always-0" else number
    place = {} if defect == "index-missing" else {"index": index}
    pieces = list(_pieces(arguments, chance)) or [""]
    with_name = "" if chance.random() < 0.5 else pieces.pop(0)
    first: Delta = {**place, "id": call["id"], "type": "function",
                    "function": {"name": call["name"], "arguments": with_name}}  # fmt: skip
    if defect == "ids-missing":
        del first["id"]
    yield {"tool_calls": [first]}
    for piece in pieces:
        later: Delta = {**place, "function": {"arguments": piece}}
        if defect == "name-again":
            later["function"]["name"] = call["name"]
        elif defect == "empty-ids":
            later |= {"id": "", "type": "function"}
        elif chance.random() < 0.2:
            later |= {"type": "function"}
        yield {"tool_calls": [later]}


def _pieces(text: str, chance: Random) -> Iterator[str]:
    place = 0
    while place < len(text):
        size = chance.randint(1, 24)
        yield text[place : place + size]
        place += size
