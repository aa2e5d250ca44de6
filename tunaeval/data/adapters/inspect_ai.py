"""Samples and messages of Inspect's logs, as objects and as JSON.

Long texts of a sample may be among its attachments; they are put back in place.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tunaeval.types.calls import JsonValue
from tunaeval.types.conversations import Conversation, Notice

from .calls import invalid_call
from .fields import first, get, identifier, listed, total_usage, usage_of, word
from .parts import Kinds, Media, Text, Thought, read_content
from .reading import Reading

_CACHED = ("input_tokens_cache_read", "input_tokens_cache_write")
_ATTACHMENT = "attachment://"
_KINDS: Kinds = {
    "text": Text(("text",)),
    "reasoning": Thought(("reasoning", "summary")),
    "image": Media(),
    "audio": Media(),
    "video": Media(),
    "document": Media(),
}
_SERVED = "tool_use"
_LONGEST_FAILURE = 300


def claims(message: object) -> bool:
    calls = listed(get(message, "tool_calls"))
    if get(message, "role") == "tool" and isinstance(get(message, "function"), str):
        return True
    return get(message, "source") in ("input", "generate", "operator") or any(
        isinstance(get(call, "function"), str) for call in calls
    )


def read(message: object, reading: Reading, attachments: object = None) -> None:
    role = get(message, "role")
    error = get(message, "error")
    reading.begin(
        role,
        # In a user's message this may be a list of the calls whose payload it has: that is no id.
        tool_call_id=identifier(get(message, "tool_call_id")),
        is_error=error is not None if role == "tool" else None,
    )
    content = _restored(get(message, "content"), attachments, reading)
    if not content and error is not None:
        content = get(error, "message")
    for part in content if isinstance(content, list | tuple) else [content]:
        if get(part, "type") == _SERVED:
            _read_served(part, reading)
        else:
            read_content([part], _KINDS, reading)
    for call in listed(get(message, "tool_calls")):
        _read_call(call, reading)


def is_sample(thing: object) -> bool:
    return get(thing, "epoch") is not None and isinstance(get(thing, "messages"), list | tuple)


def read_sample(sample: object) -> Conversation:
    """Read a sample of a log as one conversation, named by the sample's id and epoch."""
    messages = listed(get(sample, "messages"))
    reading = Reading()
    for reading.source, message in enumerate(messages):
        read(message, reading, get(sample, "attachments"))
    given = reading.conversation("inspect-ai", len(messages))
    asked = get(sample, "input")
    spent = get(sample, "model_usage")
    usages = spent.values() if isinstance(spent, Mapping) else ()
    failure = _failure(get(sample, "error"))
    if failure is not None:
        notice = Notice("failed-run", f"the sample ended in an error: {failure}")
        given = replace(given, warnings=(*given.warnings, notice), failure=failure)
    return replace(
        given,
        query=asked if isinstance(asked, str) and asked else given.query,
        usage=total_usage(usage_of(one, cached=_CACHED) for one in usages),
        name=f"{get(sample, 'id')} (epoch {get(sample, 'epoch')})",
    )


def _failure(error: object) -> str | None:
    """Return the message of the error that ended a sample, without its traceback."""
    if error is None:
        return None
    words = error if isinstance(error, str) else get(error, "message")
    return words[:_LONGEST_FAILURE] if isinstance(words, str) and words else "an unknown error"


def _read_call(call: object, reading: Reading) -> None:
    name, call_id = word(get(call, "function")), identifier(get(call, "id"))
    arguments, why = get(call, "arguments"), get(call, "parse_error")
    if why:
        reading.made(invalid_call(name, arguments, call_id, why))
    else:
        reading.call(name, arguments, call_id)


def _read_served(part: object, reading: Reading) -> None:
    """Read a part that is a call and its result, for a tool that the model's server ran."""
    call_id = identifier(get(part, "id"))
    reading.call(first(part, ("name", "tool_type")), _served_arguments(part), call_id)
    result = first(part, ("error", "result"))
    reading.result(call_id, word(result), get(part, "error") is not None)


def _served_arguments(part: object) -> JsonValue:
    """Return the arguments, which some of these tools have as JSON and others as plain text."""
    arguments = get(part, "arguments")
    is_object = isinstance(arguments, str) and arguments.lstrip().startswith("{")
    return arguments if is_object or not arguments else {"arguments": arguments}


def _restored(content: JsonValue, attachments: object, reading: Reading) -> JsonValue:
    """Return the content with its attachments in place."""
    if isinstance(content, list | tuple):
        return [_restored_part(part, attachments, reading) for part in content]
    if not isinstance(content, str) or not content.startswith(_ATTACHMENT):
        return content
    kept = get(attachments, content.removeprefix(_ATTACHMENT))
    if isinstance(kept, str):
        return kept
    reading.notice("missing-attachment", f"{content[:80]!r} is not among the attachments")
    return content


def _restored_part(part: JsonValue, attachments: object, reading: Reading) -> JsonValue:
    text = get(part, "text")
    if not isinstance(text, str) or not text.startswith(_ATTACHMENT):
        return part
    return {"type": "text", "text": _restored(text, attachments, reading)}
