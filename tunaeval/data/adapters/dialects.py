"""Dialects of messages: as APIs of providers and agent frameworks write them, in objects and JSON.

docs/reference/transcripts.md describes the shapes, and `kinds.toml` has the names in them. What the
code depends on besides:

- Chat completions: the text of a reply is content, even if it looks like a call.
- Responses: a reply is a sequence of items. Reasoning is joined with the item that follows it, and
  adjacent calls become one message, whose source is the first. So it is with Gemini's Interactions.
- Gemini: keys are in camel case in JSON, and in snake case in objects; calls often have no id.
- LangChain: calls are in a field beside the content, and may be repeated in the content in the
  provider's form; those that LangChain could not read are in a separate list.
- pydantic-ai: requests contain the messages of all but the model. A retry that answers a call is an
  error of that call; any other retry is a message of the framework to the model.
- LlamaIndex: until 2025 calls were in a field beside the blocks.
- smolagents: a step has one observation for all its calls, the result of the first; the error of a
  failed step is the result of its first call, and the others have none. In
  `agent.write_memory_to_messages()` calls and observations are texts in roles of their own.
- tinyagent: times are not read, as most count from the start of a machine, some from the epoch, and
  no field says which. Zeros in a provider's usage mean that it is unknown.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from tunaeval.showing import brief
from tunaeval.types.calls import JsonValue
from tunaeval.types.exchange import text_of
from tunaeval.types.messages import RESULT_ROLES, Usage
from tunaeval.wire import chat
from tunaeval.wire.apis import APIS
from tunaeval.wire.parts import Kinds, ResultFields, Text, part_of, result_words, words_of
from tunaeval.wire.values import ApiName, Part

from .fields import (
    KNOWN,
    declared,
    fields_of,
    first,
    get,
    has,
    identifier,
    instant,
    json_words,
    known,
    listed,
    plain,
    usage_of,
    word,
)
from .reading import Reading, invalid_call, kinds_of, read_content, read_part, tool_name


def read_chat(message: object, reading: Reading) -> None:
    parsed = APIS["chat"].read_message(message, "")
    begin(message, get(message, "role"), reading)
    for part in parsed.parts:
        read_part(part, reading)
    if reading.is_silent and (strange := _strange_fields(message)):
        words = f"nothing was read of a message whose fields are {', '.join(strange)}"
        reading.notice("unread-message", words)


def _strange_fields(message: object) -> list[str]:
    """Return up to six fields with a value that belong to another shape."""
    fields = message.items() if isinstance(message, Mapping) else ()
    return [
        str(name)[:40] for name, value in fields if value and name not in KNOWN["chat"]["fields"]
    ][:6]


def begin(message: object, role: JsonValue, reading: Reading) -> None:
    """Begin a message in `reading` with all but its content, which most providers write alike."""
    answers = reading.identified(get(message, "tool_call_id"))
    at, timestamp = instant(get(message, "created_at")), get(message, "timestamp")
    if at is None and not isinstance(timestamp, int | float):  # numbers may be uptimes
        at = instant(timestamp)
    reading.begin(
        role,
        usage=usage_of(get(message, "usage")),
        at=at,
        tool_call_id=answers,
        is_error=declared(message) if answers is not None or role in RESULT_ROLES else None,
        name=tool_name(message),
    )


def read_calls(message: object, reading: Reading) -> None:
    """Read calls as OpenAI writes them: `tool_calls`, or the older `function_call`."""
    for part in chat.calls_of(message):
        read_part(part, reading)


def read_with(api: ApiName) -> Callable[[object, Reading], None]:
    """Return the reader of an API whose messages are read part by part."""

    def read(message: object, reading: Reading) -> None:
        reading.begin(get(message, "role"), usage=usage_of(get(message, "usage")))
        for part in APIS[api].read_message(message, "").parts:
            read_part(part, reading)

    return read


read_anthropic = read_with("messages")


def read_responses(item: object, reading: Reading) -> None:
    parsed, kind = APIS["responses"].read_message(item, ""), word(get(item, "type"))
    nameless = "tool_search" if kind.startswith("tool_search") else None  # the server's have no id
    if not parsed.parts or parsed.parts[0].kind not in {"call", "summary", "thought", "unknown"}:
        join_message(reading, parsed.role)
    for part in parsed.parts:
        if part.kind == "call" and not reading.calling:
            join_message(reading, "assistant")
        if part.kind == "thought" and part.type == "reasoning":
            reading.think(part.text)
        elif part.kind == "unknown" and part.given is item:
            reading.notice("unknown-part", f"an item of type {brief(kind)} is left out")
        else:
            read_part(part, reading, nameless=nameless)


def join_message(reading: Reading, role: str) -> None:
    """Begin a message, or continue the open one if it has only reasoning so far."""
    if role == "assistant" and reading.thinking:
        reading.proceed()
    else:
        reading.begin(role)


_STEPS = frozenset({"user_input", "model_output", "thought"})


def claims_interactions(step: object) -> bool:
    """Whether it is a step of Gemini's Interactions API; OpenAI's calls have further fields."""
    kind = word(get(step, "type"))
    is_call = kind.endswith("_call") and get(step, "arguments") is not None
    is_result = kind.endswith("_result") and get(step, "call_id") is not None
    is_step = kind in _STEPS and get(step, "role") is None
    others = is_call and any(has(step, key) for key in ("call_id", "execution", "status"))
    return is_step or is_result or (is_call and not others)


def read_interactions(step: object, reading: Reading) -> None:
    kind = word(get(step, "type"))
    known = first(step, ("call_id", "id"))
    if kind == "user_input":
        reading.begin("user")
        read_content(get(step, "content"), chat.KINDS, reading)
    elif kind == "thought":
        reading.think(words_of(get(step, "summary"), chat.KINDS))
    elif kind == "model_output":
        join_message(reading, "assistant")
        read_content(get(step, "content"), chat.KINDS, reading)
        if (error := get(step, "error")) is not None:
            reading.failed(word(get(error, "message")))
    elif kind.endswith("_call"):
        if not reading.calling:
            join_message(reading, "assistant")
        arguments = get(step, "arguments")
        if not isinstance(arguments, Mapping):  # an object of the SDK
            arguments = fields_of(json_words(arguments))
        reading.call(word(get(step, "name")) or kind.removesuffix("_call"), arguments, known)
    elif kind.endswith("_result"):
        reading.begin("tool")
        text = result_words(get(step, "result"), chat.KINDS)
        reading.result(reading.identified(known), text, declared(step))
    else:
        reading.notice("unknown-part", f"a step of type {brief(kind)} is left out")


def read_gemini(message: object, reading: Reading) -> None:
    parsed = APIS["gemini"].read_message(message, "")
    reading.begin(parsed.role, usage=known(parsed.usage), at=instant(get(message, "timestamp")))
    read_gemini_parts(parsed.parts, message, reading)
    failed = first(message, ("error_message", "errorMessage", "error_code", "errorCode"))
    if failed is not None:
        reading.notice("failed-reply", f"the reply failed: {word(failed)[:200]}")


def read_gemini_parts(parts: Iterable[Part], holder: object, reading: Reading) -> None:
    for part in parts:
        read_part(part, reading, holder, nameless="")


_LANGCHAIN_ROLES: Mapping[str, str] = KNOWN["langchain"]["roles"]
_LANGCHAIN_KINDS = {**chat.KINDS, **kinds_of("langchain")}


def claims_langchain(message: object) -> bool:
    inner = unwrapped(message)
    is_whole = get(message, "content") is not None or get(message, "type") == "remove"
    return _type(inner) in _LANGCHAIN_ROLES and (inner is not message or is_whole)


def read_langchain(message: object, reading: Reading) -> None:
    inner = unwrapped(message)
    kind = _type(inner)
    if kind == "remove":
        reading.notice("removed-message", f"the message {brief(get(inner, 'id'))} was removed")
        return
    role = _LANGCHAIN_ROLES.get(kind) or word(get(inner, "role")) or "user"
    usage = usage_of(first(inner, ("usage_metadata", "usage")))
    answers = reading.identified(get(inner, "tool_call_id"))
    is_error = declared(inner) if role == "tool" else None
    reading.begin(role, usage=usage, tool_call_id=answers, is_error=is_error, name=tool_name(inner))
    beside = get(inner, "additional_kwargs")
    reading.thought(word(get(beside, "reasoning_content")))
    read_content(get(inner, "content"), _LANGCHAIN_KINDS, reading)
    _read_langchain_calls(inner, beside, reading)


def _read_langchain_calls(message: object, beside: object, reading: Reading) -> None:
    calls, invalid = (listed(get(message, key)) for key in ("tool_calls", "invalid_tool_calls"))
    for reading.part in calls:
        call = reading.part
        reading.call(get(call, "name"), get(call, "args"), get(call, "id"))
    for call in invalid:
        name, call_id = word(get(call, "name")), reading.identified(get(call, "id"))
        reading.made(invalid_call(name, get(call, "args"), call_id))
    if not calls and not invalid:
        read_calls(beside, reading)
        blocks = {word(get(one, "type")) for one in listed(get(message, "content"))}
        if blocks & {"tool_use", "tool_call", "function_call"} and not [*chat.calls_of(beside)]:
            reading.part = reading.message
            reading.notice("unread-field", "its content has calls, and no field", field="content")


def unwrapped(message: object) -> object:
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
        _PYDANTIC_ROLES.get(word(get(message, "kind")), get(message, "kind")),
        usage=usage_of(get(message, "usage")),
        at=instant(timestamp),
    )
    for part in parts:
        kind = word(get(part, "part_kind"))
        meant = _PYDANTIC_KINDS.get(kind)
        if kind == _RETRY and get(part, "tool_name") is None:
            meant = _FEEDBACK
        read_part(part_of(part, kind, meant, _PYDANTIC_KINDS), reading)


_LLAMA_KINDS = kinds_of("llama-index")


def claims_llama_index(message: object) -> bool:
    return any(isinstance(get(one, "block_type"), str) for one in listed(get(message, "blocks")))


def read_llama_index(message: object, reading: Reading) -> None:
    role, blocks = get(message, "role"), listed(get(message, "blocks"))
    role, beside = word(getattr(role, "value", role)), get(message, "additional_kwargs")
    answers = reading.identified(get(beside, "tool_call_id")) if role == "tool" else None
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
    reading.share(ids[: 1 if failed else None] or [None], text, True if failed else None)


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
    texts = [seen, message_text if isinstance(message_text, str) else plain(error) if error else ""]
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
    known = reading.identified(get(part, "toolCallId"))
    if kind == "tool-call":
        reading.call(get(part, "toolName"), first(part, ("input", "args")), known)
    elif kind in {"tool-result", "tool-error"}:
        _read_result(part, known, reading)
    elif _is_shown(kind):
        _read_shown(part, kind, reading)
    elif not kind.startswith("data-"):
        read_part(part_of(part, kind, _SDK_KINDS.get(kind), _SDK_KINDS), reading)


def _read_result(part: object, known: str | None, reading: Reading) -> None:
    output = first(part, ("output", "result", "error"))
    kind, failed = word(get(output, "type")), get(part, "isError")
    value = get(output, "value") if kind and get(output, "value") is not None else output
    if kind in _ERRORS or get(part, "type") == "tool-error":
        failed = True
    is_failed = failed if isinstance(failed, bool) else None
    reading.result(known, result_words(value, _SDK_KINDS), is_failed, tool_name(part))


def _read_shown(part: object, kind: str, reading: Reading) -> None:
    name = get(part, "toolName") if kind == "dynamic-tool" else kind.removeprefix("tool-")
    known, state = reading.identified(get(part, "toolCallId")), word(get(part, "state"))
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
        tool_call_id=reading.identified(get(message, "tool_call_id")),
        is_error=is_error if isinstance(is_error, bool) else None,
    )
    content = get(message, "content")
    if isinstance(content, list):  # the framework itself writes nulls among the parts
        content = [part for part in content if part is not None]
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
