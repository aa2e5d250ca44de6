"""Messages of OpenAI's chat completions, and of all APIs that imitate them.

The text of a reply is content, even if it looks like a call: only structured calls are calls.
Extensions are read as well: reasoning beside the content, and results that declare an error.
"""

from __future__ import annotations

from collections.abc import Mapping

from tunaeval.types.calls import JsonValue

from .fields import declared, first, get, identifier, instant, listed, usage_of
from .parts import Kinds, Media, Silent, Text, Thought, read_content
from .reading import Reading

KINDS: Kinds = {
    "text": Text(("text",)),
    "input_text": Text(("text",)),
    "output_text": Text(("text",)),
    "refusal": Text(("refusal",)),
    "thinking": Thought(("thinking", "text")),
    "redacted_thinking": Silent(),
    "reasoning": Thought(("reasoning", "summary", "text")),
    "image": Media(),
    "audio": Media(),
    "video": Media(),
    "document": Media(),
    "image_url": Media(),
    "input_image": Media(),
    "input_audio": Media(),
    "file": Media(),
    "input_file": Media(),
}

_REASONING = ("reasoning_content", "reasoning")


def claims(message: object) -> bool:
    """Whether the message can only be one of chat completions."""
    calls = get(message, "tool_calls")
    return any(get(get(call, "function"), "name") is not None for call in listed(calls))


def read(message: object, reading: Reading) -> None:
    given = get(message, "role")
    role = str.__str__(given) if isinstance(given, str) else ""  # it may be of a str enum
    begin(message, role, reading)
    if role not in _ROLES:
        reading.notice("unknown-role", f"the role {role[:40]!r} is not known")
    reasoning = first(message, _REASONING)
    reading.thought(reasoning if isinstance(reasoning, str) else "")
    read_content(get(message, "content"), KINDS, reading)
    reading.text(_refusal(message))
    read_calls(message, reading)
    if reading.is_silent and (strange := _strange_fields(message)):
        words = f"nothing was read of a message whose fields are {', '.join(strange)}"
        reading.notice("unread-message", words)


_ROLES = frozenset({"assistant", "developer", "function", "system", "tool", "tool_result", "user"})

_FIELDS = frozenset({
    "annotations", "audio", "content", "created_at", "function_call", "id", "is_error", "metadata",
    "model", "name", "outcome", "reasoning", "reasoning_content", "reasoning_details", "refusal",
    "role", "status", "timestamp", "tool_call_id", "tool_calls", "type", "usage",
})  # fmt: skip
"""Fields of chat completions, and extensions that are ignored without a notice."""


def _strange_fields(message: object) -> list[str]:
    """Return up to six fields with a value that belong to another shape."""
    fields = message.items() if isinstance(message, Mapping) else ()
    return [str(name)[:40] for name, value in fields if value and name not in _FIELDS][:6]


def begin(message: object, role: str, reading: Reading) -> None:
    """Begin a message with the fields that most shapes have beside the content."""
    answers = identifier(get(message, "tool_call_id"))
    reading.begin(
        role,
        usage=usage_of(get(message, "usage")),
        at=_instant(message),
        tool_call_id=answers,
        is_error=declared(message) if answers is not None or role in {"tool", "function"} else None,
    )


def read_calls(message: object, reading: Reading) -> None:
    """Read calls as OpenAI writes them: `tool_calls`, or the older `function_call`."""
    calls = listed(get(message, "tool_calls"))
    legacy = get(message, "function_call")
    for call in calls or ([legacy] if legacy is not None else []):
        _read_call(call, reading)


def _read_call(call: object, reading: Reading) -> None:
    for key in ("function", "custom"):
        inner = get(call, key)
        if inner is not None and not isinstance(inner, str):
            arguments = get(inner, "arguments") if key == "function" else _custom(inner)
            reading.call(get(inner, "name"), arguments, get(call, "id"))
            return
    reading.call(get(call, "name"), first(call, ("arguments", "args")), get(call, "id"))


def _custom(call: object) -> JsonValue:
    """Return a custom tool's input, which is text, as an object."""
    return {"input": get(call, "input")}


def _refusal(message: object) -> str:
    refusal = get(message, "refusal")
    return refusal if isinstance(refusal, str) else ""


def _instant(message: object) -> float | None:
    """Return the message's time; `timestamp` counts only as text: its numbers may be uptimes."""
    at = instant(get(message, "created_at"))
    timestamp = get(message, "timestamp")
    return at if at is not None or isinstance(timestamp, int | float) else instant(timestamp)
