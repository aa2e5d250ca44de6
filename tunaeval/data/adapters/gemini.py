"""Contents of Google's Gemini API and events of its Agent Development Kit (ADK), objects and JSON.

A content has a role and parts; keys are in camel case in JSON, and in snake case in objects. Calls
often have no id: then a result is joined with the first call of the same name that has no result.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tunaeval.types.calls import JsonValue
from tunaeval.types.messages import Usage

from .fields import first, get, identifier, instant, json_words, listed, usage_of, word
from .reading import Reading

_ROLES = {"model": "assistant", "user": "user", "function": "tool", "tool": "tool"}
_CALL, _RESULT = ("function_call", "functionCall"), ("function_response", "functionResponse")
_CODE, _RAN = (
    ("executable_code", "executableCode"),
    ("code_execution_result", "codeExecutionResult"),
)
_MEDIA = ("inline_data", "inlineData", "file_data", "fileData")
_OWN = (*_CALL, *_RESULT, *_CODE, *_RAN, *_MEDIA, "text")
_EVENT = ("invocation_id", "invocationId")
_USAGE = ("usage_metadata", "usageMetadata")
_PYTHON = "code_execution"


def claims(message: object) -> bool:
    """Whether `message` is a content of Gemini, or an event of ADK, judged by its parts."""
    is_event = isinstance(get(message, "author"), str) and first(message, _EVENT) is not None
    return is_event or any(_is_part(part) for part in _parts(message))


def is_request(thing: object) -> bool:
    """Whether it is a request or a session, which contains contents or events."""
    return any(map(claims, contents_of(thing)))


def contents_of(thing: object) -> list[object]:
    """Return the contents in a request, a response or a session of ADK."""
    found = listed(get(thing, "contents")) or listed(get(thing, "events"))
    system = first(thing, ("system_instruction", "systemInstruction"))
    candidates = (get(one, "content") for one in listed(get(thing, "candidates")))
    given = [] if system is None else [{"role": "system", "parts": listed(get(system, "parts"))}]
    return [*given, *found, *(one for one in candidates if one is not None)]


def read(message: object, reading: Reading) -> None:
    content = get(message, "content")
    content = message if content is None else content
    role = word(get(content, "role"))
    by = word(get(message, "author"))
    known = _ROLES.get(role) or ("user" if by == "user" else "assistant" if by else role)
    reading.begin(known, usage=_usage(message), at=instant(get(message, "timestamp")))
    if known not in {"assistant", "system", "tool", "user"}:
        reading.notice("unknown-role", f"the role {known[:40]!r} is not known")
    for part in _parts(message):
        _read_part(part, reading)
    failed = first(message, ("error_message", "errorMessage", "error_code", "errorCode"))
    if failed is not None:
        reading.notice("failed-reply", f"the reply failed: {word(failed)[:200]}")


def _parts(message: object) -> list[JsonValue]:
    content = get(message, "content")
    return listed(get(message if content is None else content, "parts"))


def _is_part(part: object) -> bool:
    """Whether it is a part of Gemini's; other APIs' parts have a field for their kind."""
    kinds = (get(part, "type"), get(part, "part_kind"), get(part, "kind"))
    return not any(isinstance(kind, str) for kind in kinds) and first(part, _OWN) is not None


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
        reading.call(name, _plain(get(call, "args")), known)
    elif (result := first(part, _RESULT)) is not None:
        name, response = word(get(result, "name")), get(result, "response")
        answered = identifier(get(result, "id")) or reading.answered_id(name)
        reading.result(answered, _words(response), _failed(response))
    elif (code := first(part, _CODE)) is not None:
        known = identifier(get(code, "id")) or reading.waiting_id(_PYTHON)
        reading.call(_PYTHON, {"code": get(code, "code")}, known)
    elif (ran := first(part, _RAN)) is not None:
        answered = identifier(get(ran, "id")) or reading.answered_id(_PYTHON)
        fine = str(get(ran, "outcome")).endswith("OUTCOME_OK")
        reading.result(answered, word(get(ran, "output")), not fine)
    elif (media := first(part, _MEDIA)) is not None:
        reading.text(f"[{word(first(media, ('mime_type', 'mimeType'))) or 'media'}]")
    elif not isinstance(text, str):
        reading.notice("unknown-part", "a part of no known field is kept as content")
        reading.text(json_words(part))


def _plain(arguments: JsonValue) -> JsonValue:
    return dict(arguments) if isinstance(arguments, Mapping) else arguments


def _words(response: JsonValue) -> str:
    """Return a tool's result as text, without the {"result": ...} that the API puts around it."""
    for key in ("result", "output", "error"):
        if isinstance(response, Mapping) and response.keys() == {key}:
            inner = response[key]
            return inner if isinstance(inner, str) else json_words(inner)
    return "" if response is None else json_words(response)


def _failed(response: JsonValue) -> bool | None:
    reported = response.get("error", False) if isinstance(response, Mapping) else False
    return True if reported not in (False, None) else None


def _usage(message: object) -> Usage | None:
    reported = first(message, _USAGE)
    names = (
        ("prompt_token_count", "promptTokenCount"),
        ("candidates_token_count", "candidatesTokenCount"),
    )
    counted = {key: first(reported, one) for key, one in zip(_COUNTS, names, strict=True)}
    return usage_of(counted)


_COUNTS: Iterable[str] = ("prompt_tokens", "completion_tokens")
