"""Messages of pydantic-ai, versions 1 and 2, as objects and dumped.

Requests contain the messages of all but the model, with tool results in the order in which they
were ready; responses contain the model's parts. A retry that answers a call is an error of that
call; any other retry is a message of the framework to the model.
"""

from __future__ import annotations

from .fields import first, get, instant, listed, usage_of, word
from .parts import Call, Kinds, Media, Result, Silent, Text, Thought, read_part
from .reading import Reading

_ROLES = {"request": "user", "response": "assistant"}
_CALL = Call("tool_name", "args", "tool_call_id")
_RESULT = Result("tool_call_id", ("content",))
_RETRY = "retry-prompt"
_FEEDBACK = Text(("content",), role="user")

_KINDS: Kinds = {
    "system-prompt": Text(("content",), role="system"),
    "user-prompt": Text(("content",), role="user"),
    "text": Text(("content",)),
    "thinking": Thought(("content",)),
    "tool-call": _CALL,
    "builtin-tool-call": _CALL,
    "tool-return": _RESULT,
    "builtin-tool-return": _RESULT,
    _RETRY: Result("tool_call_id", ("content",), is_error=True),
    "retry-feedback": _FEEDBACK,
    "compaction": Text(("content",), role="system"),
    "instruction": Silent(),
    "instruction-delta": Silent(),
    "instruction-baseline": Silent(),
    "instruction-digest": Silent(),
    "tool-availability-delta": Silent(),
    "capability-load-delta": Silent(),
    "model-settings-delta": Silent(),
    "cache-point": Silent(),
    "file": Media(),
    "speech": Media(),
    "text-content": Text(("content",)),
    "image-url": Media(),
    "audio-url": Media(),
    "video-url": Media(),
    "document-url": Media(),
    "uploaded-file": Media(),
    "binary": Media(),
}


def claims(message: object) -> bool:
    return word(get(message, "kind")) in _ROLES and get(message, "parts") is not None


def read(message: object, reading: Reading) -> None:
    parts = listed(get(message, "parts"))
    timestamp = first(message, ("timestamp",)) or next(
        (at for part in parts if (at := get(part, "timestamp")) is not None), None
    )
    reading.begin(
        _ROLES[get(message, "kind")], usage=usage_of(get(message, "usage")), at=instant(timestamp)
    )
    for part in parts:
        kind = word(get(part, "part_kind"))
        meant = _KINDS.get(kind)
        if kind == _RETRY and get(part, "tool_name") is None:
            meant = _FEEDBACK
        if kind == "compaction":
            reading.notice("compacted", "earlier messages were replaced by a summary")
        read_part(part, kind, meant, _KINDS, reading)
