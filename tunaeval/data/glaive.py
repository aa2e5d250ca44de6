"""Glaive v2: one text with the names of the speakers, and calls after `<functioncall>`.

    USER: ... ASSISTANT: <functioncall> {"name": "f", "arguments": '{"a": 1}'} <|endoftext|>
    FUNCTION RESPONSE: {"b": 2} ASSISTANT: ... <|endoftext|>

Arguments are JSON text in single quotes. They belong to this shape and do not count as a repair.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tunaeval.parsing.repair.machine import read_json
from tunaeval.parsing.repair.values import Unreadable
from tunaeval.types.calls import JsonObject, ToolCall

from .rows import UnreadableRowError

_SPEAKER = re.compile(r"(?:^|\n|(?<=\s)|(?<=\|>))(USER|ASSISTANT|FUNCTION RESPONSE|SYSTEM): ?")
_ROLES = {"USER": "user", "ASSISTANT": "assistant", "FUNCTION RESPONSE": "tool", "SYSTEM": "system"}
_CALL = "<functioncall>"
_END = "<|endoftext|>"


def glaive_messages(system: str, chat: str) -> Iterator[JsonObject]:
    """Yield the messages of a row, without speakers' names and end markers."""
    prompt = system.strip().removeprefix("SYSTEM:").strip()
    if prompt:
        yield {"role": "system", "content": prompt}
    turns = [*_SPEAKER.finditer(chat)]
    if not turns or chat[: turns[0].start()].strip():
        raise UnreadableRowError(f"the chat begins with {chat[:40]!r}, wanted a speaker (USER:)")
    ends = [turn.start() for turn in turns[1:]] + [len(chat)]
    for turn, end in zip(turns, ends, strict=True):
        text = chat[turn.end() : end].strip().removesuffix(_END).strip()
        if turn[1] == "ASSISTANT" and _CALL in text:
            yield _called(text)
        else:
            yield {"role": _ROLES[turn[1]], "content": text}


def _called(text: str) -> JsonObject:
    before, *written = text.split(_CALL)
    calls = [_call(one.replace(_END, "").strip()) for one in written]
    return {"role": "assistant", "content": before.strip(), "tool_calls": calls}


def _call(written: str) -> ToolCall:
    read = read_json(written)
    value = None if isinstance(read, Unreadable) else read.value
    arguments = value.get("arguments", {}) if isinstance(value, dict) else None
    if isinstance(arguments, str) and arguments.strip():
        inner = read_json(arguments)
        arguments = None if isinstance(inner, Unreadable) else inner.value
    if not isinstance(value, dict) or not isinstance(value.get("name"), str):
        raise UnreadableRowError(f"{written!r:.60} is no call with a name")
    if not isinstance(arguments or {}, dict) or arguments is None:
        raise UnreadableRowError(f"{written!r:.60} has arguments that cannot be read")
    return ToolCall(value["name"], arguments or {})
