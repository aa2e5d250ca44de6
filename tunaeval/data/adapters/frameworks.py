"""Messages as agent frameworks write them, as objects and dumped.

LangChain, in both serialized forms as well: calls are in a field beside the content, and may be
repeated in the content in the provider's form. Calls that LangChain could not read are in a
separate list.

pydantic-ai, versions 1 and 2: requests contain the messages of all but the model, with tool results
in the order in which they were ready; responses contain the model's parts. A retry that answers a
call is an error of that call; any other retry is a message of the framework to the model.

LlamaIndex: messages consist of blocks; until 2025 calls were in a field beside them.

smolagents' memory: a step contains the model's text, its calls, and one observation for all of
them: the result of a single call. Of several calls the first gets it, and the others get an empty
result. The error of a failed step becomes the result of its first call; the others then have none.
In `agent.write_memory_to_messages()` calls and observations are text that the framework wrote, in
its own roles ("tool-call", "tool-response"); a call whose tool raised is missing there.

Vercel's AI SDK: model messages (`tool-call`, `tool-result`), and UI messages, whose parts
(`tool-NAME` and `dynamic-tool`) contain a call and its result.

tinyagent: its times are not read, because most count from the start of a machine, some from the
epoch, and no field says which. Zeros in a provider's usage mean that it is unknown.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import replace

from tunaeval.types.calls import JsonValue
from tunaeval.types.exchange import text_of
from tunaeval.types.messages import Usage

from .fields import (
    KNOWN,
    declared,
    first,
    get,
    has,
    identifier,
    instant,
    json_words,
    listed,
    usage_of,
    word,
)
from .providers import CHAT_KINDS, read_calls, read_chat
from .reading import (
    Kinds,
    Reading,
    ResultFields,
    Text,
    invalid_call,
    kinds_of,
    read_content,
    read_part,
    result_words,
)

_LANGCHAIN_ROLES: Mapping[str, str] = KNOWN["langchain"]["roles"]
_LANGCHAIN_KINDS = {**CHAT_KINDS, **kinds_of("langchain")}


def claims_langchain(message: object) -> bool:
    inner = _inner(message)
    is_whole = get(message, "content") is not None or get(message, "type") == "remove"
    return _type(inner) in _LANGCHAIN_ROLES and (inner is not message or is_whole)


def read_langchain(message: object, reading: Reading) -> None:
    inner = _inner(message)
    kind = _type(inner)
    if kind == "remove":
        reading.notice("removed-message", f"the message {get(inner, 'id')!r} was removed")
        return
    role = _LANGCHAIN_ROLES.get(kind) or word(get(inner, "role")) or "user"
    usage = usage_of(first(inner, ("usage_metadata", "usage")))
    answers = identifier(get(inner, "tool_call_id"))
    is_error = declared(inner) if role == "tool" else None
    reading.begin(role, usage=usage, tool_call_id=answers, is_error=is_error)
    beside = get(inner, "additional_kwargs")
    reading.thought(word(get(beside, "reasoning_content")))
    read_content(get(inner, "content"), _LANGCHAIN_KINDS, reading)
    _read_langchain_calls(inner, beside, reading)


def _read_langchain_calls(message: object, beside: object, reading: Reading) -> None:
    calls, invalid = (listed(get(message, key)) for key in ("tool_calls", "invalid_tool_calls"))
    for call in calls:
        reading.call(get(call, "name"), get(call, "args"), get(call, "id"))
    for call in invalid:
        name, call_id = word(get(call, "name")), identifier(get(call, "id"))
        reading.made(invalid_call(name, get(call, "args"), call_id))
    if not calls and not invalid:
        read_calls(beside, reading)


def _inner(message: object) -> object:
    """Return the message inside `{type, data}` or `{lc, type, id, kwargs}`."""
    data = get(message, "data")
    if isinstance(data, Mapping) and isinstance(get(message, "type"), str):
        return {"type": get(message, "type"), **data}
    kwargs = get(message, "kwargs")
    if get(message, "lc") is not None and isinstance(kwargs, Mapping):
        path = listed(get(message, "id"))
        return {"type": word(path[-1]) if path else "", **kwargs}
    return message


def _type(message: object) -> str:
    """Return the type in one word: "ai" for "AIMessageChunk" and "AIMessage" as well."""
    kind = word(get(message, "type"))
    return kind.removesuffix("Chunk").removesuffix("Message").lower()


_PYDANTIC_ROLES = {"request": "user", "response": "assistant"}
_RETRY = "retry-prompt"
_FEEDBACK = Text(("content",), role="user")

_PYDANTIC_KINDS: Kinds = {
    **kinds_of("pydantic-ai"),
    "system-prompt": Text(("content",), role="system"),
    "user-prompt": _FEEDBACK,
    "retry-feedback": _FEEDBACK,
    _RETRY: ResultFields("tool_call_id", ("content",), is_error=True),
}


def claims_pydantic_ai(message: object) -> bool:
    return word(get(message, "kind")) in _PYDANTIC_ROLES and get(message, "parts") is not None


def read_pydantic_ai(message: object, reading: Reading) -> None:
    parts = listed(get(message, "parts"))
    timestamp = first(message, ("timestamp",)) or next(
        (at for part in parts if (at := get(part, "timestamp")) is not None), None
    )
    reading.begin(
        _PYDANTIC_ROLES[get(message, "kind")],
        usage=usage_of(get(message, "usage")),
        at=instant(timestamp),
    )
    for part in parts:
        kind = word(get(part, "part_kind"))
        meant = _PYDANTIC_KINDS.get(kind)
        if kind == _RETRY and get(part, "tool_name") is None:
            meant = _FEEDBACK
        read_part(part, kind, meant, _PYDANTIC_KINDS, reading)


_LLAMA_KINDS = kinds_of("llama-index")


def claims_llama_index(message: object) -> bool:
    return any(isinstance(get(one, "block_type"), str) for one in listed(get(message, "blocks")))


def read_llama_index(message: object, reading: Reading) -> None:
    role, blocks = get(message, "role"), listed(get(message, "blocks"))
    role, beside = word(getattr(role, "value", role)), get(message, "additional_kwargs")
    answers = identifier(get(beside, "tool_call_id")) if role == "tool" else None
    role = {"model": "assistant", "chatbot": "assistant"}.get(role, role)
    reading.begin(
        role, tool_call_id=answers, is_error=None if answers is None else declared(beside)
    )
    read_content(blocks, _LLAMA_KINDS, reading)
    if not any(get(one, "block_type") == "tool_call" for one in blocks):
        read_calls(beside, reading)


_CALLS, _ANSWERS = "tool-call", "tool-response"
_HEADS = ("Calling tools:\n", "Observation:\n")
_ERROR, _ID = "Error:\n", "Call id: "
_CODE = "python_interpreter"
_SMOLAGENTS_KINDS = KNOWN["smolagents"]["steps"].values()


def is_step(item: object) -> bool:
    """Whether this is a step of an agent's memory, as an object or dumped."""
    return any(all(has(item, name) for name in kind) for kind in _SMOLAGENTS_KINDS)


def steps_of(thing: object) -> list[object] | None:
    """Return the steps of an agent, of its memory, or of a run's result; else None."""
    for memory in (thing, get(thing, "memory")):
        steps = get(memory, "steps")
        if not isinstance(steps, list | tuple):
            continue
        if all(map(is_step, steps)) and (steps or get(memory, "system_prompt") is not None):
            return list(steps)
    return None


def claims_smolagents(message: object) -> bool:
    role = get(message, "role")
    return (isinstance(role, str) and role in {_CALLS, _ANSWERS}) or is_step(message)


def read_smolagents(message: object, reading: Reading) -> None:
    role = get(message, "role")
    if not isinstance(role, str):
        _read_step(message, reading)
    elif role == _CALLS:
        _read_smolagents_calls(text_of(get(message, "content")), reading)
    elif role == _ANSWERS:
        _read_answer(text_of(get(message, "content")), reading)
    else:
        read_chat(message, reading)


def _read_smolagents_calls(text: str, reading: Reading) -> None:
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
        reading.say("user", text)


_SDK_KINDS = kinds_of("ai-sdk")
_ERRORS = frozenset({"error-text", "error-json", "execution-denied"})
_FAILED = frozenset({"output-error", "output-denied"})
_RAN = frozenset({"output-available", *_FAILED})


def claims_ai_sdk(message: object) -> bool:
    """Whether a message is the SDK's. UI messages have their text in `text`, spans in `content`."""
    shown = listed(get(message, "parts"))
    is_page = any(get(one, "type") == "text" and isinstance(get(one, "text"), str) for one in shown)
    return is_page or any(_is_own(part) for part in _parts(message))


def _is_own(part: object) -> bool:
    kind = word(get(part, "type"))
    is_call = kind in {"tool-call", "tool-result", "tool-error"} or _is_shown(kind)
    return kind == "step-start" or (is_call and get(part, "toolCallId") is not None)


def _is_shown(kind: str) -> bool:
    return kind == "dynamic-tool" or kind.startswith("tool-")


def _parts(message: object) -> list[JsonValue]:
    return listed(first(message, ("content", "parts")))


def read_ai_sdk(message: object, reading: Reading) -> None:
    reading.begin(get(message, "role"), usage=usage_of(get(message, "usage")))
    content = get(message, "content")
    if isinstance(content, str):
        reading.text(content)
    for part in _parts(message):
        _read_part(part, word(get(part, "type")), reading)


def _read_part(part: object, kind: str, reading: Reading) -> None:
    known = identifier(get(part, "toolCallId"))
    if kind == "tool-call":
        reading.call(get(part, "toolName"), first(part, ("input", "args")), known)
    elif kind in {"tool-result", "tool-error"}:
        _read_result(part, known, reading)
    elif _is_shown(kind):
        _read_shown(part, kind, reading)
    elif not kind.startswith("data-"):
        read_part(part, kind, _SDK_KINDS.get(kind), _SDK_KINDS, reading)


def _read_result(part: object, known: str | None, reading: Reading) -> None:
    output = first(part, ("output", "result", "error"))
    kind, failed = word(get(output, "type")), get(part, "isError")
    value = get(output, "value") if kind and get(output, "value") is not None else output
    if kind in _ERRORS or get(part, "type") == "tool-error":
        failed = True
    said = failed if isinstance(failed, bool) else None
    reading.result(known, result_words(value, _SDK_KINDS), said)


def _read_shown(part: object, kind: str, reading: Reading) -> None:
    name = get(part, "toolName") if kind == "dynamic-tool" else kind.removeprefix("tool-")
    known, state = identifier(get(part, "toolCallId")), word(get(part, "state"))
    reading.call(name, first(part, ("input", "args", "rawInput")), known)
    if state in _RAN or (not state and get(part, "output") is not None):
        output = first(part, ("errorText", "output"))
        failed = True if state in _FAILED else None
        reading.result(known, result_words(output, _SDK_KINDS), failed)


_TINYAGENT_KINDS = kinds_of("tinyagent")

_TINYAGENT_RESULT = "tool_result"
_BROKEN = frozenset({"error", "aborted"})
_INTERRUPTED = "[INTERRUPTED]"


def claims_tinyagent(message: object) -> bool:
    if get(message, "role") == _TINYAGENT_RESULT:
        return True
    return any(get(part, "type") == "tool_call" for part in listed(get(message, "content")))


def read_tinyagent(message: object, reading: Reading) -> None:
    role = get(message, "role")
    is_error = get(message, "is_error")
    reading.begin(
        "tool" if role == _TINYAGENT_RESULT else role,
        usage=session_usage(get(message, "usage")),
        tool_call_id=identifier(get(message, "tool_call_id")),
        is_error=is_error if isinstance(is_error, bool) else None,
    )
    content = get(message, "content")
    read_content(content, _TINYAGENT_KINDS, reading)
    _notice_ending(message, content, reading)


def session_usage(reported: JsonValue) -> Usage | None:
    """Return the usage of a reply or session; all tokens but the output's are the prompt's."""
    usage = usage_of(reported)
    total, completion = get(reported, "total_tokens"), usage.completion_tokens if usage else None
    if usage is None or not isinstance(total, int) or completion is None:
        return usage
    return replace(usage, prompt_tokens=max(usage.prompt_tokens or 0, total - completion))


def _notice_ending(message: object, content: JsonValue, reading: Reading) -> None:
    reason, error = get(message, "stop_reason"), get(message, "error_message")
    parts = [content, *(get(part, "text") for part in listed(content))]
    cut = any(isinstance(text, str) and text.startswith(_INTERRUPTED) for text in parts)
    if cut or reason in _BROKEN or (isinstance(error, str) and error):
        words = error if isinstance(error, str) and error else "it was interrupted"
        reading.notice("failed-reply", f"a reply ended early: {words[:200]}")
