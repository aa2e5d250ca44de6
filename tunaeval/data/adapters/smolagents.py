"""The memory of smolagents' agents: its steps, and the messages that the framework makes of them.

A step contains the model's text, its calls, and one observation for all of them: the result of a
single call. Of several calls the first gets it, and the others get an empty result. The error of a
failed step becomes the result of its first call; the others then have none.

In `agent.write_memory_to_messages()` calls and observations are text that the framework wrote, in
its own roles ("tool-call", "tool-response"); a call whose tool raised is missing there.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from tunaeval.types.calls import JsonValue

from . import openai_chat
from .fields import get, identifier, instant, json_words, listed, usage_of
from .reading import Reading

_CALLS, _ANSWERS = "tool-call", "tool-response"
_HEADS = ("Calling tools:\n", "Observation:\n")
_ERROR, _ID = "Error:\n", "Call id: "
_CODE = "python_interpreter"
_KINDS: tuple[frozenset[str], ...] = (
    frozenset({"step_number", "model_output", "observations"}),
    frozenset({"plan", "model_output_message"}),
    frozenset({"task", "task_images"}),
)
"""The fields that each kind of step has: an action, a plan, a task."""


def is_step(item: object) -> bool:
    """Whether this is a step of an agent's memory, as an object or dumped."""
    if isinstance(item, Mapping):
        return any(kind <= item.keys() for kind in _KINDS)
    return any(all(_has(item, name) for name in kind) for kind in _KINDS)


def _has(item: object, name: str) -> bool:
    try:
        return hasattr(item, name)
    except Exception:  # noqa: BLE001 - an object's own attributes may raise anything
        return False


def steps_of(thing: object) -> list[object] | None:
    """Return the steps of an agent, of its memory, or of a run's result; else None."""
    for memory in (thing, get(thing, "memory")):
        steps = get(memory, "steps")
        if not isinstance(steps, list | tuple):
            continue
        if all(map(is_step, steps)) and (steps or get(memory, "system_prompt") is not None):
            return list(steps)
    return None


def claims(message: object) -> bool:
    role = get(message, "role")
    return (isinstance(role, str) and role in {_CALLS, _ANSWERS}) or is_step(message)


def read(message: object, reading: Reading) -> None:
    role = get(message, "role")
    if not isinstance(role, str):
        _read_step(message, reading)
    elif role == _CALLS:
        _read_calls(_text(message), reading)
    elif role == _ANSWERS:
        _read_answer(_text(message), reading)
    else:
        openai_chat.read(message, reading)


def _text(message: object) -> str:
    content = get(message, "content")
    texts = (
        [content] if isinstance(content, str) else [get(part, "text") for part in listed(content)]
    )
    return "".join(text for text in texts if isinstance(text, str))


def _read_calls(text: str, reading: Reading) -> None:
    """Read calls from the framework's list; they belong to the assistant's message before it."""
    calls = _literal(text.removeprefix(_HEADS[0]))
    if not reading.is_reply:
        reading.begin("assistant")
    reading.proceed()
    if calls is None:
        reading.notice("unread-message", "calls are listed here that cannot be read")
        reading.text(text)
    for call in calls or ():
        _read_call(call, reading)


def _literal(text: str) -> list[JsonValue] | None:
    """Return a list of dictionaries written as Python literals, or None; evaluates nothing else."""
    try:
        found = ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    return found if isinstance(found, list) and all(isinstance(x, dict) for x in found) else None


def _read_call(call: object, reading: Reading) -> None:
    function = get(call, "function")
    source = call if function is None else function
    name, arguments = get(source, "name"), get(source, "arguments")
    if name == _CODE and isinstance(arguments, str):
        arguments = {"code": arguments}
    reading.call(name, arguments, get(call, "id"))


def _read_answer(text: str, reading: Reading) -> None:
    call_id, marker, rest = text.partition("\nError:\n")
    if text.startswith(_ERROR):
        _answer([None], text.removeprefix(_ERROR), reading, failed=True)
    elif marker and call_id.startswith(_ID) and "\n" not in call_id:
        _answer([call_id.removeprefix(_ID)], rest, reading, failed=True)
    else:
        _answer(reading.calls, text.removeprefix(_HEADS[1]), reading, failed=False)


def _answer(ids: Sequence[str | None], text: str, reading: Reading, *, failed: bool) -> None:
    """Add one observation, or one error, as the results of the calls of one step."""
    reading.begin("tool")
    for index, call_id in enumerate(ids[: 1 if failed else None] or [None]):
        reading.result(call_id, "" if index else text, True if failed else None)


def _read_step(step: object, reading: Reading) -> None:
    for field, role in (("task", "user"), ("system_prompt", "system"), ("plan", "assistant")):
        words = get(step, field)
        if isinstance(words, str):
            reading.begin(role, usage=usage_of(get(step, "token_usage")))
            reading.text(words)
            return
    reply = get(step, "model_output_message")
    timing = get(step, "timing")
    usage = usage_of(get(step, "token_usage"))
    reading.begin("assistant", usage=usage, at=instant(get(timing, "end_time")))
    words = get(step, "model_output")
    reading.text(words if isinstance(words, str) else "" if words is None else json_words(words))
    calls = listed(get(step, "tool_calls")) or listed(get(reply, "tool_calls"))
    for call in calls:
        _read_call(call, reading)
    ids = [identifier(get(call, "id")) for call in calls]
    error, seen = get(step, "error"), get(step, "observations")
    message_text = get(error, "message")
    texts = [seen, message_text if isinstance(message_text, str) else str(error) if error else ""]
    text = "\n".join(one for one in texts if isinstance(one, str) and one)
    if calls and (error or isinstance(seen, str)):
        _answer(ids, text, reading, failed=bool(error))
    elif text:  # the framework's message about a reply that it could not read
        reading.begin("user")
        reading.text(text)
