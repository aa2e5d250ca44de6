"""Google's Gemini API, whose keys are in camel case in JSON, and in snake case in objects.

Format: https://ai.google.dev/api/generate-content

Calls often have no id. A tool's result is an object, into which a text is put under one key.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TypeAlias

from tunaeval.limits import MAX_DEPTH
from tunaeval.showing import brief
from tunaeval.types.calls import JsonObject, JsonValue, gemini_call
from tunaeval.types.conversations import PendingCalls
from tunaeval.types.exchange import text_of

from .chat import choice_order, numbered
from .endings import finish_of, usage_of
from .fields import first, get, json_words, listed, word
from .parts import Wanted, missing
from .requests import Reading, chat_messages, results_in
from .values import (
    MALFORMED,
    PARTIAL,
    Answer,
    Api,
    Fault,
    Fragment,
    Message,
    Part,
    Request,
    Result,
    Step,
    answer_of,
    ending,
)
from .writing import calls_in, counts, object_of, pieces, said_in, thought_in

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
    inner = response[key] if (key := _wrapper(response)) else response
    return "" if response is None else inner if isinstance(inner, str) else json_words(inner)


def _wrapper(response: JsonValue) -> str | None:
    """Return the only key of a result, if it is one of those under which a text is put."""
    keys = [*response] if isinstance(response, Mapping) else []
    return keys[0] if len(keys) == 1 and keys[0] in _WRAPPED else None


def response_failed(response: JsonValue) -> bool | None:
    reported = response.get("error", False) if isinstance(response, Mapping) else False
    return True if reported not in (False, None) else None


def answers(document: Mapping[str, JsonValue]) -> bool:
    return any(key in document for key in _DOCUMENT)


_FEEDBACK = ("promptFeedback", "prompt_feedback")
_MESSAGE = ("finishMessage", "finish_message")
_MALFORMED = "MALFORMED_FUNCTION_CALL"
_BLOCKED = ("blockReason", "block_reason")
_REASON = ("finishReason", "finish_reason")
_DOCUMENT = ("candidates", *_FEEDBACK, *_USAGE)


_FILTERED = finish_of("SAFETY", called=False)


_Candidates: TypeAlias = list[tuple[int, JsonValue]]


def _own(candidates: _Candidates) -> _Candidates:
    """Return the candidates of index 0, else the first one without an index."""
    found = [pair for pair in candidates if choice_order(get(pair[1], "index")) == 0]
    return found or [one for one in candidates if choice_order(get(one[1], "index")) == 1][:1]


def read_reply(document: Mapping[str, JsonValue]) -> Answer:
    """Read a whole answer, or a response of a stream, which has parts of one."""
    candidates = [*enumerate(listed(document.get("candidates")))]
    own = _own(candidates) or candidates[:1]
    reason, given = None, list[JsonValue]()
    found: list[Part] = []
    for at, candidate in own:
        parts = listed(get(get(candidate, "content"), "parts"))
        reason = first(candidate, _REASON) or reason
        given += parts
        found += parts_of(parts, f"/candidates/{at}/content/parts")
    if reason == _MALFORMED:  # an attempt at a call that the API itself could not read
        words = next((w for _, one in own if (w := word(first(one, _MESSAGE)))), _MALFORMED)
        found.append(
            Part("call", arguments=words, type="functionCall", status=MALFORMED, path="/candidates")
        )
    paths = ("/candidates", "/candidates/0/finishReason")
    answer = answer_of(document, given if candidates else None, found, reason, paths)
    blocked = first(first(document, _FEEDBACK), _BLOCKED)
    if blocked is not None and not candidates and answer.error is None:
        answer = replace(answer, error=f"the prompt was blocked: {blocked}", finish=_FILTERED)
    return replace(answer, has_others=len(own) < len(candidates))


def _odd_candidates(event: Mapping[str, JsonValue]) -> str:
    """Return what is wrong with the candidates of a response; "" if nothing is."""
    candidates = event.get("candidates")
    if not isinstance(candidates, list | tuple | None):
        return f"candidates are a list, not {type(candidates).__name__}"
    for one in candidates or ():
        content = get(one, "content")
        parts, index = get(content, "parts"), get(one, "index")
        if not isinstance(one, Mapping):
            return f"a candidate is an object, not {type(one).__name__}"
        if not isinstance(content, Mapping | None):
            return f"a content is an object, not {type(content).__name__}"
        if not isinstance(parts, list | tuple | None):
            return f"parts are a list, not {type(parts).__name__}"
        if index is not None and numbered(index) is None:
            return f"a candidate has the index {brief(index):.60}"
    return ""


def fragments(event: Mapping[str, JsonValue]) -> Iterator[Fragment]:
    if odd := _odd_candidates(event):
        yield Fragment("odd", odd)
        return
    candidates = listed(event.get("candidates"))
    if candidates and not _own([*enumerate(candidates)]):
        event = {**event, "candidates": []}
        yield Fragment("other")
    answer = read_reply(event)
    if answer.error is not None:
        yield Fragment("error", f"the server reports: {answer.error}")
        return
    for part in answer.parts:
        if part.kind == "text" or part.kind == "thought":  # noqa: PLR1714 - which types as one of two
            yield Fragment(part.kind, part.text)
        elif part.kind == "call" and not part.hosted:
            yield _call_fragment(part)
        elif part.kind == "unknown":
            yield Fragment("odd", f"a part of no known field: {part.text:.60}")
    if answer.has_others:
        yield Fragment("other")
    yield from ending(answer, event)


def _call_fragment(part: Part) -> Fragment:
    """Return a call, or what a response adds to the last one, as Vertex streams arguments."""
    call = first(part.given, _CALL)
    pieces = first(call, ("partialArgs", "partial_args"))
    is_begun = part.name is not None or bool(part.status)
    if pieces is not None or (not is_begun and part.arguments is None):
        pieces = listed(pieces)
        return Fragment(
            "call", "", None, part.id, part.name, pieces, begins=is_begun, value=PARTIAL
        )
    value = part.status or None
    return Fragment("call", "", None, part.id, part.name, part.arguments, begins=True, value=value)


_KEYS = re.compile(r"""\.([^.\[]+)|\[([0-9]{1,5})\]|\[(["'])(.*?)\3\]""")
_VALUES = (
    "stringValue", "numberValue", "boolValue", "string_value", "number_value", "bool_value",
)  # fmt: skip


def whole_arguments(pieces: list[JsonValue]) -> JsonObject:
    """Return the arguments that came in pieces, each with a JSON path; texts of one are joined."""
    values: dict[tuple[str | int, ...], list[JsonValue]] = {}
    for piece in pieces:
        path = word(first(piece, ("jsonPath", "json_path")))
        steps = (
            int(at) if at else name or other
            for name, at, _, other in _KEYS.findall(path)[:MAX_DEPTH]
        )
        values.setdefault(tuple(steps), []).append(first(piece, _VALUES))
    arguments: JsonObject = {}
    for keys, given in values.items():
        holder: JsonValue = arguments
        for key, after in pairwise(keys):
            holder = _inside(holder, key, [] if isinstance(after, int) else {})
        texts = [one for one in given if isinstance(one, str)]
        if keys:
            _inside(holder, keys[-1], "".join(texts) if texts else given[-1])
    return arguments


def _inside(holder: JsonValue, key: str | int, new: JsonValue) -> JsonValue:
    """Return what is at a key, which is `new` if nothing was there."""
    if isinstance(holder, dict):
        return holder.setdefault(str(key), new)
    if not isinstance(holder, list) or isinstance(key, str):
        return new
    if key >= len(holder):
        holder.append(new)
    return holder[min(key, len(holder) - 1)]


def read_request(body: JsonObject, _kept: object = None) -> tuple[Request, Sequence[Fault]]:
    """Read a request, whose model the path names."""
    asked, messages = Reading("gemini", body), []
    inner = body.get("generateContentRequest", body)  # where tokens are counted
    if not isinstance(inner, dict):
        asked.refuse("generateContentRequest", inner, "an object")
    for where, content in asked.messages(get(inner, "contents"), "contents"):
        text = content.get("parts")
        parts = [{"text": text}] if isinstance(text, str) else text
        if not isinstance(parts, list):
            asked.refuse(f"{where}.parts", parts, "a list of parts")
        _check(asked, parts, f"{where}.parts")
        messages.append(read_message({**content, "parts": parts}))
    declared = [
        _declared(one)
        for tool in asked.listed(get(inner, "tools"), "tools")
        for one in asked.listed(first(tool, _DECLARED), "functionDeclarations")
    ]
    given = first(inner, ("systemInstruction", "system_instruction"))
    given = get(given, "parts") if isinstance(given, Mapping) else given
    _check(asked, given, "systemInstruction.parts")
    system = text_of(given if isinstance(given, list) else [given])
    return asked.read(chat_messages(system, _identified(messages)), declared)


_DECLARED = ("function_declarations", "functionDeclarations")


def _check(asked: Reading, parts: JsonValue, where: str) -> None:
    """Want of each part that it has data, and of a call and a result that they have a name."""
    asked.parts(parts, where, {})
    for index, part in enumerate(listed(parts)):
        for name in (*_CALL, *_RESULT):
            if isinstance(part, dict) and name in part:
                asked.fields(part, f"{where}[{index}]", {name: dict})
                if isinstance(part[name], dict):
                    asked.fields(part[name], f"{where}[{index}].{name}", {"name": str})


def _identified(messages: Sequence[Message]) -> Iterator[Message]:
    """Yield the messages with an id for each call, and for each result that answers one."""
    waiting = PendingCalls()
    for index, message in enumerate(messages):
        parts = []
        for at, part in enumerate(message.parts):
            known = word(part.id) or None
            if part.kind == "call" and not part.hosted:
                known = known or f"call_{index}_{at}"
                waiting.add(known, word(part.name))
            elif part.kind == "result" and not part.hosted:
                known = waiting.answered(known, word(part.name))
            parts.append(replace(part, id=known))
        yield replace(message, parts=tuple(parts))


def _declared(function: JsonValue) -> JsonValue:
    """Return a function's declaration with its schema in OpenAI's field."""
    if not isinstance(function, dict):
        return function
    keys = ("parametersJsonSchema", "parameters_json_schema", "parameters")
    schema = next((function[key] for key in keys if function.get(key)), None)
    about = {key: function[key] for key in ("name", "description") if key in function}
    return about | ({"parameters": schema} if schema else {})


def results(body: JsonObject) -> list[Result]:
    found = []
    for result in results_in(body, "contents", read_message):
        part: JsonValue = body
        for key in result.path:
            part = part[key]
        name = next(name for name in _RESULT if name in part)
        content, wrapper = response_words(result.content), _wrapper(result.content) or "result"
        path = (*result.path, name, "response")
        found.append(result._replace(path=path, content=content, key=wrapper))
    return found


def write_reply(answer: Answer, request: Request, number: int) -> JsonObject:
    return _chunk(answer, request, number, [*_written(answer)], is_last=True)


def _written(answer: Answer) -> Iterator[JsonObject]:
    if answer.items is not None:
        yield from answer.items
        return
    message = answer.message or {}
    if thought := thought_in(message):
        yield {"text": thought, "thought": True}
    text = said_in(message)
    if text or not message.get("tool_calls"):
        yield {"text": text}
    for call, function in calls_in(message):
        yield gemini_call(call.get("id"), function.get("name"), object_of(function))


def write_events(answer: Answer, request: Request, number: int) -> Iterator[JsonObject]:
    """Yield the answer as the responses of a stream; calls are sent whole."""
    sent: list[list[JsonObject]] = []
    for part in _written(answer):
        text = get(part, "text")
        more = pieces(text) if isinstance(text, str) and text else ()
        sent += [[{**part, "text": piece}] for piece in more] or [[part]]
    for index, parts in enumerate(sent or [[]], start=1):
        yield _chunk(answer, request, number, parts, is_last=index == max(1, len(sent)))


def write_step(step: Step, request: Request, number: int) -> Iterator[JsonObject]:
    """Yield the responses of one step; a call is sent whole when it is closed."""
    part = step.part
    if step.what == "end":
        yield _chunk(step.answer, request, number, [], is_last=True)
    elif step.what == "more" and part.kind != "call":
        written = {"text": step.text} | ({"thought": True} if part.kind == "thought" else {})
        yield _chunk(Answer(None), request, number, [written], is_last=False)
    elif step.what == "close" and part.kind == "call":
        call = {"id": part.id, "name": part.name, "args": object_of({"arguments": part.text})}
        yield _chunk(Answer(None), request, number, [{"functionCall": call}], is_last=False)


_REASONS = {
    "stop": "STOP", "tool_calls": "STOP", "length": "MAX_TOKENS", "content_filter": "SAFETY",
}  # fmt: skip


def _chunk(
    answer: Answer, request: Request, number: int, parts: list[JsonObject], *, is_last: bool
) -> JsonObject:
    content = {"content": {"role": "model", "parts": parts}} if parts else {}
    finish = answer.finish or "stop"
    reason = {"finishReason": _REASONS.get(finish, finish)} if is_last else {}
    if is_last and finish == _MALFORMED and answer.message:
        words = "".join(word(call.get("raw")) for call, _ in calls_in(answer.message))
        reason |= {"finishMessage": words}
    prompt, made = counts(answer.usage)
    tokens = {"promptTokenCount": prompt, "candidatesTokenCount": made}
    return {
        "candidates": [{**content, "index": 0, **reason}],
        "usageMetadata": answer.counted or {**tokens, "totalTokenCount": prompt + made},
        "modelVersion": request.model,
        "responseId": answer.id or f"resp_{number}",
    }


_ERRORS = {
    401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED", 503: "UNAVAILABLE", 504: "DEADLINE_EXCEEDED",
}  # fmt: skip


def write_error(message: str, status: int, _code: str | None) -> JsonObject:
    other = _ERRORS.get(status, "INTERNAL" if status >= 500 else "INVALID_ARGUMENT")
    return {"error": {"code": status, "message": message, "status": other}}


def write_models(names: Sequence[str]) -> JsonObject:
    return {"models": [write_model(name) for name in names]}


def write_model(name: str) -> JsonObject:
    limits = {"inputTokenLimit": 1 << 20, "outputTokenLimit": 1 << 16}
    methods = {"supportedGenerationMethods": ["generateContent", "countTokens"]}
    return {"name": f"models/{name}", "displayName": name, **limits, **methods}


def write_count(tokens: int) -> JsonObject:
    return {"totalTokens": tokens}


def _whole_request(body: JsonObject, _model: str) -> JsonObject:
    return body  # the path names the model, and asks for a stream


GEMINI = Api(
    "gemini", claims, answers, read_message, read_reply, fragments, read_request,
    _whole_request, results, write_reply, write_events, write_step, write_error, write_models,
    write_model, write_count,
)  # fmt: skip
