"""Google's Gemini API, whose keys are in camel case in JSON, and in snake case in objects.

Format: https://ai.google.dev/api/generate-content

Calls often have no id. A tool's result is an object, into which a text is put under one key.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tunaeval.types.calls import JsonValue

from .chat import error_in
from .endings import finish_of, usage_of
from .fields import first, get, json_words, listed, word
from .parts import Wanted, missing
from .values import Answer, Api, Fragment, Message, Part, chat_message

_CALL = ("function_call", "functionCall")
_RESULT = ("function_response", "functionResponse")
_CODE = ("executable_code", "executableCode")
_RAN = ("code_execution_result", "codeExecutionResult")
_MEDIA = ("inline_data", "inlineData", "file_data", "fileData")
_OWN = (*_CALL, *_RESULT, *_CODE, *_RAN, *_MEDIA, "text")
_USAGE = ("usage_metadata", "usageMetadata")
_ROLES = {"model": "assistant", "user": "user", "function": "tool", "tool": "tool"}
_EVENT = ("invocation_id", "invocationId")
PYTHON = "code_execution"
"""The name of a call whose code the server runs."""

WANTED: Wanted = {"functionCall": {"name": str}, "functionResponse": {"name": str}}

_WRAPPED = ("result", "output", "error", "return_value")
"""Keys under which a text is put to become the object that a result is; the last is
pydantic-ai's."""


def claims(message: object) -> bool:
    """Whether it is a content of Gemini, or an event of ADK, judged by its parts."""
    is_event = isinstance(get(message, "author"), str) and first(message, _EVENT) is not None
    return is_event or any(_is_part(part) for part in _given_parts(message)[1])


def _is_part(part: object) -> bool:
    """Whether it is a part of Gemini's; other APIs' parts have a field for their kind."""
    kinds = (get(part, "type"), get(part, "part_kind"), get(part, "kind"))
    return not any(isinstance(kind, str) for kind in kinds) and first(part, _OWN) is not None


def _given_parts(message: object) -> tuple[str, list[JsonValue]]:
    """Return the pointer to the parts in a content, or in what has one, and the parts."""
    content = get(message, "content")
    inside = "" if content is None else "/content"
    return f"{inside}/parts", listed(get(message if content is None else content, "parts"))


def read_message(message: object, path: str = "") -> Message:
    content = get(message, "content")
    role, by = (
        word(get(message if content is None else content, "role")),
        word(get(message, "author")),
    )
    known = _ROLES.get(role) or ("user" if by == "user" else "assistant" if by else role)
    usage = first(message, _USAGE)
    where, parts = _given_parts(message)
    return Message(
        known,
        tuple(parts_of(parts, f"{path}{where}")),
        usage=None if usage is None else usage_of(usage),
        given=message,
    )


def parts_of(parts: list[JsonValue], path: str) -> Iterator[Part]:
    """Yield the parts of a content; one may have a text and a call."""
    for index, part in enumerate(parts):
        here = f"{path}/{index}"
        yield from [Part("silent", path=here)] if part is None else _parts(part, here)


def _parts(part: object, path: str) -> Iterator[Part]:
    text = get(part, "text")
    if isinstance(text, str):
        kind = "thought" if get(part, "thought") is True else "text"
        yield Part(kind, text, given=part, path=path)  # type: ignore[arg-type]  # one of the two
    if (call := first(part, _CALL)) is not None:
        given = get(call, "args")
        arguments = dict(given) if isinstance(given, Mapping) else given
        yield Part(
            "call", "", get(call, "name"), arguments, get(call, "id"), type="functionCall",
            given=part, path=path, missing=missing(call, WANTED["functionCall"]),
        )  # fmt: skip
    elif (result := first(part, _RESULT)) is not None:
        response = get(result, "response")
        yield Part(
            "result", response_words(response), get(result, "name"), id=get(result, "id"),
            is_error=response_failed(response), content=response, type="functionResponse",
            given=part, path=path, missing=missing(result, WANTED["functionResponse"]),
        )  # fmt: skip
    elif (code := first(part, _CODE)) is not None:
        yield Part(
            "call", "", PYTHON, {"code": get(code, "code")}, get(code, "id"),
            type="executableCode", given=part, path=path, hosted=True,
        )  # fmt: skip
    elif (ran := first(part, _RAN)) is not None:
        fine = str(get(ran, "outcome")).endswith("OUTCOME_OK")
        yield Part(
            "result", word(get(ran, "output")), PYTHON, id=get(ran, "id"), is_error=not fine,
            type="codeExecutionResult", given=part, path=path, hosted=True,
        )  # fmt: skip
    elif (media := first(part, _MEDIA)) is not None:
        kind = word(first(media, ("mime_type", "mimeType"))) or "media"
        yield Part("media", f"[{kind}]", type=kind, given=part, path=path)
    elif not isinstance(text, str):
        is_signed = first(part, ("thought_signature", "thoughtSignature")) is not None
        kind = "silent" if is_signed else "unknown"
        yield Part(kind, "" if is_signed else json_words(part), given=part, path=path)  # type: ignore[arg-type]  # one of the two


def response_words(response: JsonValue) -> str:
    """Return a tool's result as text, without the {"result": ...} that the API puts around it."""
    if isinstance(response, Mapping) and len(response) == 1:
        ((key, inner),) = response.items()
        if key in _WRAPPED:
            return inner if isinstance(inner, str) else json_words(inner)
    return "" if response is None else json_words(response)


def response_failed(response: JsonValue) -> bool | None:
    reported = response.get("error", False) if isinstance(response, Mapping) else False
    return True if reported not in (False, None) else None


def answers(document: Mapping[str, JsonValue]) -> bool:
    return any(key in document for key in _DOCUMENT)


_FEEDBACK = ("promptFeedback", "prompt_feedback")
_BLOCKED = ("blockReason", "block_reason")
_REASON = ("finishReason", "finish_reason")
_DOCUMENT = ("candidates", *_FEEDBACK, *_USAGE)


def read_reply(document: Mapping[str, JsonValue]) -> Answer:
    candidates = listed(document.get("candidates"))
    candidate = candidates[0] if candidates else None
    content = get(candidate, "content")
    given = listed(get(content, "parts"))
    parts = tuple(parts_of(given, "/candidates/0/content/parts"))
    reason = first(candidate, _REASON)
    blocked = first(first(document, _FEEDBACK), _BLOCKED)
    reason = blocked if reason is None else reason
    called = any(part.kind == "call" and not part.hosted for part in parts)
    lacks = [] if candidates or blocked is not None else ["/candidates"]
    return Answer(
        None if lacks else chat_message(parts),
        parts,
        finish=finish_of(reason, called=called),
        reason=reason,
        usage=usage_of(first(document, _USAGE)),
        items=tuple(given),
        id=first(document, ("responseId", "response_id")),
        model=first(document, ("modelVersion", "model_version")),
        error=error_in(document),
        missing=(*lacks, *([] if isinstance(reason, str) else ["/candidates/0/finishReason"])),
        has_others=len(candidates) > 1,
    )


def fragments(event: Mapping[str, JsonValue]) -> Iterator[Fragment]:
    """Yield what a response of a stream adds: each is a whole one with a part of the answer."""
    if error := error_in(event):
        yield Fragment("error", f"the server reports: {error}")
        return
    candidates = listed(event.get("candidates"))
    own = [one for one in candidates if not get(one, "index")]
    for candidate in own:
        yield from _added(listed(get(get(candidate, "content"), "parts")))
        if reason := word(first(candidate, _REASON)):
            yield Fragment("finish", reason)
    if len(own) < len(candidates):
        yield Fragment("other")
    if reason := word(first(first(event, _FEEDBACK), _BLOCKED)):
        yield Fragment("finish", reason)
    if isinstance(usage := first(event, _USAGE), Mapping):
        yield Fragment("usage", value=usage)


def _added(parts: list[JsonValue]) -> Iterator[Fragment]:
    for part in parts_of(parts, ""):
        if part.kind == "text" or part.kind == "thought":  # noqa: PLR1714 - which types as one of two
            yield Fragment(part.kind, part.text)
        elif part.kind == "call" and not part.hosted:
            yield Fragment("call", "", None, part.id, part.name, part.arguments, begins=True)
        elif part.kind == "unknown":
            yield Fragment("odd", f"a part of no known field: {part.text:.60}")


GEMINI = Api("gemini", claims, answers, read_message, read_reply, fragments, WANTED)
