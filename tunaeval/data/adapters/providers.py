"""Messages as the APIs of model providers write them, as objects and as JSON.

OpenAI's chat completions, and all APIs that imitate them: the text of a reply is content, even if
it looks like a call, since only structured calls are calls. Extensions are read as well: reasoning
beside the content, and results that declare an error.

OpenAI's Responses: a reply is a sequence of items there: reasoning, text, calls. Reasoning is
joined with the item that follows it. Adjacent calls were made at once and become one message, whose
source is the first. The steps of Gemini's Interactions API are read in the same way.

Anthropic: content is in blocks, with tool results in the user's messages.

Amazon Bedrock's Converse API: blocks whose only field names their kind.

Google's Gemini API, and events of its Agent Development Kit (ADK): a content has a role and parts;
keys are in camel case in JSON, and in snake case in objects. Calls often have no id: then a result
is joined with the first call of the same name that has no result.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tunaeval.showing import brief
from tunaeval.types.calls import JsonValue

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
    listed,
    usage_of,
    word,
)
from .reading import Reading, kinds_of, read_content, result_words, words_of

CHAT_KINDS = kinds_of("chat")


def claims_chat(message: object) -> bool:
    """Whether the message can only be one of chat completions."""
    calls = get(message, "tool_calls")
    return any(get(get(call, "function"), "name") is not None for call in listed(calls))


def read_chat(message: object, reading: Reading) -> None:
    given = get(message, "role")
    role = str.__str__(given) if isinstance(given, str) else ""  # it may be of a str enum
    begin(message, role, reading)
    if role not in _CHAT_ROLES:
        reading.notice("unknown-role", f"the role {role[:40]!r} is not known")
    reading.thought(word(first(message, ("reasoning_content", "reasoning"))))
    read_content(get(message, "content"), CHAT_KINDS, reading)
    reading.text(word(get(message, "refusal")))
    read_calls(message, reading)
    if reading.is_silent and (strange := _strange_fields(message)):
        words = f"nothing was read of a message whose fields are {', '.join(strange)}"
        reading.notice("unread-message", words)


_CHAT_ROLES = frozenset(
    {"assistant", "developer", "function", "system", "tool", "tool_result", "user"}
)


def _strange_fields(message: object) -> list[str]:
    """Return up to six fields with a value that belong to another shape."""
    fields = message.items() if isinstance(message, Mapping) else ()
    return [
        str(name)[:40] for name, value in fields if value and name not in KNOWN["chat"]["fields"]
    ][:6]


def begin(message: object, role: str, reading: Reading) -> None:
    """Begin a message in `reading` with all but its content, which most providers write alike."""
    answers = identifier(get(message, "tool_call_id"))
    at, timestamp = instant(get(message, "created_at")), get(message, "timestamp")
    if at is None and not isinstance(timestamp, int | float):  # numbers may be uptimes
        at = instant(timestamp)
    reading.begin(
        role,
        usage=usage_of(get(message, "usage")),
        at=at,
        tool_call_id=answers,
        is_error=declared(message) if answers is not None or role in {"tool", "function"} else None,
    )


def read_calls(message: object, reading: Reading) -> None:
    """Read calls as OpenAI writes them: `tool_calls`, or the older `function_call`."""
    calls = listed(get(message, "tool_calls"))
    legacy = get(message, "function_call")
    for call in calls or ([legacy] if legacy is not None else []):
        _read_chat_call(call, reading)


def _read_chat_call(call: object, reading: Reading) -> None:
    for key in ("function", "custom"):
        inner = get(call, key)
        if inner is not None and not isinstance(inner, str):
            # A custom tool's input is text.
            is_custom, own = key == "custom", get(inner, "arguments")
            arguments = {"input": get(inner, "input")} if is_custom else own
            reading.call(get(inner, "name"), arguments, get(call, "id"))
            return
    reading.call(get(call, "name"), first(call, ("arguments", "args")), get(call, "id"))


_CALLS: Mapping[str, tuple[str, str]] = KNOWN["responses"]["calls"]
_OUTPUT = "_output"
_SEARCH = "tool_search"
_TYPES = frozenset({
    *_CALLS, *(f"{kind}{_OUTPUT}" for kind in _CALLS), f"{_SEARCH}{_OUTPUT}", "reasoning",
})  # fmt: skip
_TEXTS = ("input_text", "output_text", "refusal")


def claims_responses(item: object) -> bool:
    kind = get(item, "type")
    if kind == "message":  # Anthropic's replies have this type too, with other blocks
        content = get(item, "content")
        texts = [content] if isinstance(content, str) else listed(content)
        return any(isinstance(one, str) or get(one, "type") in _TEXTS for one in texts)
    return isinstance(kind, str) and kind in _TYPES


def read_responses(item: object, reading: Reading) -> None:
    kind = word(get(item, "type"))
    if kind in _CALLS:
        _read_responses_call(item, kind, reading)
    elif kind.endswith(_OUTPUT):
        known = identifier(get(item, "call_id"))
        if known is None and kind == f"{_SEARCH}{_OUTPUT}":  # searched by the server
            known = reading.answered_id(_SEARCH)
        reading.answer(known, _output(item), declared(item))
    elif kind == "compaction":
        reading.summary("")
    elif kind == "reasoning":
        if not reading.thinking:
            reading.begin("assistant")
        text = CHAT_KINDS["text"]
        kinds = {**CHAT_KINDS, "summary_text": text, "reasoning_text": text}
        reading.thought(words_of(first(item, ("content", "summary")), kinds))
    elif isinstance(get(item, "role"), str):
        join_message(reading, get(item, "role"))
        read_content(get(item, "content"), CHAT_KINDS, reading)
    else:
        reading.notice("unknown-part", f"an item of type {brief(kind)} is left out")


def join_message(reading: Reading, role: str) -> None:
    """Begin a message, or continue the open one if it has only reasoning so far."""
    if role == "assistant" and reading.thinking:
        reading.proceed()
    else:
        reading.begin(role)


def _read_responses_call(item: object, kind: str, reading: Reading) -> None:
    arguments, call_id = _CALLS[kind]
    if not reading.calling:
        join_message(reading, "assistant")
    name = get(item, "name")
    known = identifier(first(item, (call_id, "id")))
    if kind == f"{_SEARCH}_call" and get(item, call_id) is None:
        known = reading.waiting_id(_SEARCH)
    named = name if isinstance(name, str) else kind.removesuffix("_call")
    reading.call(named, _object(get(item, arguments), arguments), known)
    if kind in KNOWN["responses"]["hosted"]:
        reading.result(known, _output(item), declared(item))


def _object(arguments: JsonValue, field: str) -> JsonValue:
    """Return the arguments as an object; other values are put under the name of their field."""
    if field == "arguments" or arguments is None or isinstance(arguments, dict):
        return arguments
    dump = get(arguments, "model_dump")
    return dump() if callable(dump) else {field: arguments}


def _output(item: object) -> str:
    output = first(item, ("output", "result", "results", "tools", "error"))
    return result_words(output, CHAT_KINDS)


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
        read_content(get(step, "content"), CHAT_KINDS, reading)
    elif kind == "thought":
        if not reading.thinking:
            reading.begin("assistant")
        reading.thought(words_of(get(step, "summary"), CHAT_KINDS))
    elif kind == "model_output":
        join_message(reading, "assistant")
        read_content(get(step, "content"), CHAT_KINDS, reading)
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
        text = result_words(get(step, "result"), CHAT_KINDS)
        reading.result(identifier(known), text, declared(step))
    else:
        reading.notice("unknown-part", f"a step of type {brief(kind)} is left out")


ANTHROPIC_CACHED = ("cache_creation_input_tokens", "cache_read_input_tokens")
ANTHROPIC_KINDS = kinds_of("anthropic")

_ANTHROPIC_OWN = frozenset({"tool_use", "tool_result", "server_tool_use", "redacted_thinking"})


def claims_anthropic(message: object) -> bool:
    blocks = listed(get(message, "content"))
    return any(word(get(block, "type")) in _ANTHROPIC_OWN for block in blocks)


def read_anthropic(message: object, reading: Reading) -> None:
    reading.begin(
        get(message, "role"), usage=usage_of(get(message, "usage"), cached=ANTHROPIC_CACHED)
    )
    read_content(get(message, "content"), ANTHROPIC_KINDS, reading)


_BEDROCK_OWN = ("toolUse", "toolResult", "reasoningContent", "cachePoint", "guardContent")
_BEDROCK_KINDS = kinds_of("bedrock")


def claims_bedrock(message: object) -> bool:
    blocks = listed(get(message, "content"))
    return any(get(one, "type") is None and first(one, _BEDROCK_OWN) is not None for one in blocks)


def read_bedrock(message: object, reading: Reading) -> None:
    reading.begin(get(message, "role"), usage=usage_of(get(message, "usage")))
    read_content(_typed_blocks(get(message, "content")), _BEDROCK_KINDS, reading)


def _typed_blocks(content: JsonValue) -> JsonValue:
    return content if isinstance(content, str) else [*map(_typed, listed(content))]


def _typed(block: object) -> JsonValue:
    """Return a block with its kind as its type, and with the fields inside it."""
    kind = next((kind for kind in _BEDROCK_KINDS if get(block, kind) is not None), None)
    inner = None if kind is None else get(block, kind)
    match kind:
        case None:
            return block
        case "text" | "json":
            return {"type": kind, "text": inner if isinstance(inner, str) else json_words(inner)}
        case "reasoningContent":
            return {"type": kind, "text": get(get(inner, "reasoningText"), "text")}
    fields = {key: get(inner, key) for key in ("name", "input", "toolUseId", "status")}
    return {"type": kind, **fields, "content": _typed_blocks(get(inner, "content"))}


_GEMINI_ROLES = {"model": "assistant", "user": "user", "function": "tool", "tool": "tool"}
_CALL, _GEMINI_RESULT, _CODE, _RAN, _GEMINI_MEDIA = KNOWN["gemini"].values()
_GEMINI_OWN = (*_CALL, *_GEMINI_RESULT, *_CODE, *_RAN, *_GEMINI_MEDIA, "text")
_EVENT = ("invocation_id", "invocationId")
_USAGE = ("usage_metadata", "usageMetadata")
_PYTHON = "code_execution"


def claims_gemini(message: object) -> bool:
    """Whether `message` is a content of Gemini, or an event of ADK, judged by its parts."""
    is_event = isinstance(get(message, "author"), str) and first(message, _EVENT) is not None
    return is_event or any(_is_part(part) for part in _parts(message))


def is_request(thing: object) -> bool:
    """Whether it is a request or a session, which contains contents or events."""
    return any(map(claims_gemini, contents_of(thing)))


def contents_of(thing: object) -> list[object]:
    """Return the contents in a request, a response or a session of ADK."""
    found = listed(get(thing, "contents")) or listed(get(thing, "events"))
    system = first(thing, ("system_instruction", "systemInstruction"))
    candidates = (get(one, "content") for one in listed(get(thing, "candidates")))
    given = [] if system is None else [{"role": "system", "parts": listed(get(system, "parts"))}]
    return [*given, *found, *(one for one in candidates if one is not None)]


def read_gemini(message: object, reading: Reading) -> None:
    content = get(message, "content")
    content = message if content is None else content
    role = word(get(content, "role"))
    by = word(get(message, "author"))
    known = _GEMINI_ROLES.get(role) or ("user" if by == "user" else "assistant" if by else role)
    reading.begin(
        known, usage=usage_of(first(message, _USAGE)), at=instant(get(message, "timestamp"))
    )
    if known not in {"assistant", "system", "tool", "user"}:
        reading.notice("unknown-role", f"the role {known[:40]!r} is not known")
    read_gemini_parts(_parts(message), reading)
    failed = first(message, ("error_message", "errorMessage", "error_code", "errorCode"))
    if failed is not None:
        reading.notice("failed-reply", f"the reply failed: {word(failed)[:200]}")


def _parts(message: object) -> list[JsonValue]:
    content = get(message, "content")
    return listed(get(message if content is None else content, "parts"))


def read_gemini_parts(parts: Iterable[JsonValue], reading: Reading) -> None:
    for part in parts:
        _read_part(part, reading)


def _is_part(part: object) -> bool:
    """Whether it is a part of Gemini's; other APIs' parts have a field for their kind."""
    kinds = (get(part, "type"), get(part, "part_kind"), get(part, "kind"))
    return not any(isinstance(kind, str) for kind in kinds) and first(part, _GEMINI_OWN) is not None


def _read_part(part: object, reading: Reading) -> None:
    text = get(part, "text")
    if isinstance(text, str):
        if get(part, "thought") is True:
            reading.thought(text)
        else:
            reading.text(text)
    if (call := first(part, _CALL)) is not None:
        name = word(get(call, "name"))
        known = identifier(get(call, "id")) or reading.waiting_id(name)
        given = get(call, "args")
        reading.call(name, dict(given) if isinstance(given, Mapping) else given, known)
    elif (result := first(part, _GEMINI_RESULT)) is not None:
        name, response = word(get(result, "name")), get(result, "response")
        answered = identifier(get(result, "id")) or reading.answered_id(name)
        reading.result(answered, gemini_words(response), gemini_failed(response))
    elif (code := first(part, _CODE)) is not None:
        known = identifier(get(code, "id")) or reading.waiting_id(_PYTHON)
        reading.call(_PYTHON, {"code": get(code, "code")}, known)
    elif (ran := first(part, _RAN)) is not None:
        answered = identifier(get(ran, "id")) or reading.answered_id(_PYTHON)
        fine = str(get(ran, "outcome")).endswith("OUTCOME_OK")
        reading.result(answered, word(get(ran, "output")), not fine)
    elif (media := first(part, _GEMINI_MEDIA)) is not None:
        reading.text(f"[{word(first(media, ('mime_type', 'mimeType'))) or 'media'}]")
    elif not isinstance(text, str):
        reading.notice("unknown-part", "a part of no known field is kept as content")
        reading.text(json_words(part))


def gemini_words(response: JsonValue) -> str:
    """Return a tool's result as text, without the {"result": ...} that the API puts around it."""
    for key in ("result", "output", "error"):
        if isinstance(response, Mapping) and response.keys() == {key}:
            inner = response[key]
            return inner if isinstance(inner, str) else json_words(inner)
    return "" if response is None else json_words(response)


def gemini_failed(response: JsonValue) -> bool | None:
    reported = response.get("error", False) if isinstance(response, Mapping) else False
    return True if reported not in (False, None) else None
