"""OpenAI's chat completions, which most servers speak.

Format: https://platform.openai.com/docs/api-reference/chat

The text of a reply is content, even if it looks like a call. A chunk of a stream may have several
entries of one choice, or the whole message; the older completions API has `text` in its choices.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from tunaeval.showing import brief
from tunaeval.types.calls import JsonObject, JsonValue
from tunaeval.types.exchange import text_of
from tunaeval.types.messages import RESULT_ROLES
from tunaeval.types.parsing import NOT_TEXT

from .endings import error_in, usage_of
from .fields import first, get, listed, word
from .parts import Kinds, Wanted, declared, kinds_of, parts_of
from .requests import Reading, results_in, whole_request
from .values import (
    Answer,
    Api,
    Fault,
    Fragment,
    Message,
    Part,
    Request,
    Result,
    Step,
    counted_in,
)
from .writing import CREATED, arguments_of, calls_in, counts, pieces

KINDS: Kinds = kinds_of({
    "text": {"text": ("text",), "input_text": ("text",), "output_text": ("text",)},
    "refusal": {"refusal": ("refusal",)},
    "thought": {"thinking": ("thinking", "text"), "reasoning": ("reasoning", "summary", "text")},
    "media": (
        "image", "audio", "video", "document", "image_url", "input_image", "input_audio", "file",
        "input_file",
    ),
    "silent": ("redacted_thinking",),
})  # fmt: skip

WANTED: Wanted = {
    "text": {"text": str},
    "input_text": {"text": str},
    "output_text": {"text": str},
    "refusal": {"refusal": str},
    "image_url": {"image_url": object},
    "input_audio": {"input_audio": dict},
    "file": {"file": dict},
}

REASONING_KEYS = ("reasoning_content", "reasoning")


def claims(message: object) -> bool:
    """Whether the message can only be one of chat completions."""
    calls = get(message, "tool_calls")
    return any(get(get(call, "function"), "name") is not None for call in listed(calls))


def read_message(message: object, path: str = "") -> Message:
    given = get(message, "role")
    role = str.__str__(given) if isinstance(given, str) else ""  # it may be of a str enum
    answers = get(message, "tool_call_id")
    is_result = answers is not None or role in {"tool", "function"}
    return Message(
        role,
        tuple(_parts(message, path)),
        usage=None if (usage := get(message, "usage")) is None else usage_of(usage),
        answers=answers,
        is_error=declared(message) if is_result else None,
        given=message,
    )


def _parts(message: object, path: str) -> Iterator[Part]:
    thought = first(message, REASONING_KEYS)
    if isinstance(thought, str) and thought:
        yield Part("thought", thought, given=thought, path=f"{path}/reasoning_content")
    yield from parts_of(get(message, "content"), KINDS, f"{path}/content", WANTED)
    if refusal := word(get(message, "refusal")):
        yield Part("refusal", refusal, given=refusal, path=f"{path}/refusal")
    yield from calls_of(message, path)


def calls_of(message: object, path: str = "") -> Iterator[Part]:
    """Yield the calls in `tool_calls`, or in the older `function_call`."""
    calls = listed(get(message, "tool_calls"))
    for index, call in enumerate(calls):
        yield call_of(call, f"{path}/tool_calls/{index}")
    older = None if calls else get(message, "function_call")
    if older is not None:
        yield call_of(older, f"{path}/function_call")


def call_of(call: object, path: str = "") -> Part:
    """Return one of `tool_calls` as a part."""
    kind, call_id = word(get(call, "type")), get(call, "id")
    name, arguments = called(call)
    lacks = [key for key, value in (("name", name), ("arguments", arguments)) if value is None]
    lacks += ["id"] if call_id is None else []
    return Part(
        "call", "", name, arguments, call_id, type=kind, given=call, path=path, missing=tuple(lacks)
    )


def called(call: object) -> tuple[JsonValue, JsonValue]:
    """Return the name and arguments of one of `tool_calls`; None for what is missing. The input of
    a custom tool is text.
    """
    if type(call) is dict and type(function := call.get("function")) is dict:  # most are
        return function.get("name"), function.get("arguments")
    function = get(call, "function")
    if function is not None:
        source = call if isinstance(function, str) else function
        return get(source, "name"), get(source, "arguments")
    custom = get(call, "custom")
    if custom is not None and not isinstance(custom, str):
        return get(custom, "name"), {"input": get(custom, "input")}
    arguments = get(call, "arguments")
    return get(call, "name"), get(call, "args") if arguments is None else arguments


def items_in(value: object) -> list[JsonValue]:
    """Return a list's items; another value becomes the only item, unless it is empty."""
    if isinstance(value, list | tuple):
        return list(value)
    return [value] if value else []


_FOREIGN = frozenset({"tool_use", "tool_call", "function_call", "functionCall"})


def foreign_calls(content: object, items: Iterable[object] = ()) -> list[str]:
    """Return the types of content parts that are calls of another API, which are not read as
    OpenAI's. Parts with the id of one of `items`, the structured calls beside them, are left out,
    as LangChain has each call in both places.
    """
    known = {one for item in items if isinstance(one := get(item, "id"), str)}
    found: list[str] = []
    for part in content if isinstance(content, list | tuple) else ():
        kind, id_ = get(part, "type"), get(part, "id")
        if not isinstance(kind, str):
            kind = next((key for key in _FOREIGN if get(part, key)), None)
        if kind in _FOREIGN and not (isinstance(id_, str) and id_ in known):
            found.append(str(kind))
    return found


def answers(document: Mapping[str, JsonValue]) -> bool:
    return "choices" in document


def first_choice(choices: Sequence[JsonValue]) -> tuple[int, Mapping[str, JsonValue]]:
    """Return the place and the choice that is the answer: that of index 0, else the first without
    an index, else the first; an empty one if there are none.
    """
    found = [(at, one) for at, one in enumerate(choices) if isinstance(one, Mapping)]
    return min(found, key=lambda pair: choice_order(pair[1].get("index")), default=(0, {}))


def choice_order(index: object) -> int:
    """Return the sort key of a choice, which puts index 0, the answer, first."""
    number = numbered(index)
    return 2 if number is None and index is not None else 1 if number is None else 2 * bool(number)


def numbered(index: object) -> int | None:
    """Return an index, which may be a text, as a number; None if it is none."""
    if isinstance(index, bool):
        return None
    if isinstance(index, str) and index.isascii() and index.isdigit() and len(index) < _LONGEST:
        return int(index)
    return index if isinstance(index, int) else None


_LONGEST = 10


def read_reply(document: Mapping[str, JsonValue]) -> Answer:
    choices = listed(document.get("choices"))
    at, choice = first_choice(choices)
    given = next((choice[key] for key in ("message", "delta") if choice.get(key) is not None), None)
    text = choice.get("text")
    if given is None and isinstance(text, str):  # the older completions API
        given = {"role": "assistant", "content": text}
    message: JsonObject | None = dict(given) if isinstance(given, Mapping) else None
    reason = choice.get("finish_reason")
    lacks = [f"/choices/{at}/message"] if message is None else []
    lacks += [] if isinstance(reason, str) else [f"/choices/{at}/finish_reason"]
    return Answer(
        message,
        tuple(_parts(message, f"/choices/{at}/message")),
        finish=reason if isinstance(reason, str) else None,
        reason=reason,
        usage=usage_of(document.get("usage")),
        id=document.get("id"),
        model=document.get("model"),
        error=error_in(choice) or error_in(document),
        missing=tuple(lacks),
        has_others=len(choices) > 1,
        counted=counted_in(document),
    )


_QUIET = frozenset({
    "choices", "citations", "created", "error", "event", "id", "metrics", "model", "object",
    "obfuscation", "prompt_filter_results", "prompt_progress", "provider", "request_id",
    "search_results", "service_tier", "stats", "system_fingerprint", "time_info", "timings",
    "type", "usage", "x_groq",
})  # fmt: skip
"""Fields that a chunk without choices may have: none of them contains output of the model."""
_SAID = ("delta", "message", "text")
"""The keys under which a choice has the model's output."""
_OWN = ("content", "tool_calls", "function_call", *REASONING_KEYS, "refusal")
"""The keys by which a delta is recognised."""


def event_of(given: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
    """Return a delta as an event. `given` may also be the choice with it, or the event itself."""
    if "choices" in given or given.get("error"):
        return given
    is_delta = any(given.get(key) is not None for key in _OWN)
    if is_delta or all(given.get(key) is None for key in _SAID):
        given = {"delta": given}
    return {"choices": [given]}


def fragments(event: Mapping[str, JsonValue]) -> list[Fragment]:
    """Return what a chunk adds, which may also be a whole answer."""
    if error := error_in(event):
        return [Fragment("error", f"the server reports: {error}")]
    choices = event.get("choices")
    if type(choices) is list and len(choices) == 1 and type(choices[0]) is dict:  # most are
        found = [Fragment("other")] if numbered(choices[0].get("index")) else _choice(choices[0])
    elif odd := _odd_choices(event):
        return [Fragment("odd", odd)]
    else:
        found = _choices([one for one in listed(choices) if isinstance(one, Mapping)])
    if isinstance(usage := event.get("usage"), Mapping):
        found.append(Fragment("usage", value=usage))
    return found


def _odd_choices(chunk: Mapping[str, JsonValue]) -> str:
    """Return what is wrong with a chunk's choices; "" if nothing is, or none are needed."""
    choices = chunk.get("choices")
    if isinstance(choices, list | tuple):
        sound = not choices or any(isinstance(choice, Mapping) for choice in choices)
        return "" if sound else f"a choice is an object, not {type(choices[0]).__name__}"
    if choices is not None:
        return f"choices are a list, not {type(choices).__name__}"
    strange = [key for key in chunk if key not in _QUIET]
    return f"a chunk without choices, but with {strange[0]!r:.60}" if strange else ""


def _choices(choices: Sequence[Mapping[str, JsonValue]]) -> list[Fragment]:
    """Return what all entries of the choice of index 0 add, or the first one without an index."""
    own = [one for one in choices if choice_order(one.get("index")) == 0]
    own = own or [one for one in choices if choice_order(one.get("index")) == 1][:1]
    found = [fragment for choice in own for fragment in _choice(choice)]
    return [*found, Fragment("other")] if len(own) < len(choices) else found


def _choice(choice: Mapping[str, JsonValue]) -> list[Fragment]:
    """Return what one entry adds. With a delta, a message is the whole at the end."""
    delta, message, text = choice.get("delta"), choice.get("message"), choice.get("text")
    found = delta_fragments(delta) if isinstance(delta, Mapping) else []
    if isinstance(message, Mapping):
        found.append(Fragment("whole", value=message))
    key = next((key for key in _SAID if choice.get(key) is not None), None)
    if key == "text" and isinstance(text, str):
        found.append(Fragment("text", text))
    elif key is not None and not isinstance(choice[key], Mapping):
        found.append(Fragment("odd", f"a choice whose {key} is {type(choice[key]).__name__}"))
    reason = choice.get("finish_reason")
    if reason == "error" or choice.get("error"):
        why = error_in(choice) or "the server ended the reply with an error"
        found.append(Fragment("error", why))
    elif reason and isinstance(reason, str):
        found.append(Fragment("finish", reason))
    return found


def delta_fragments(delta: Mapping[str, JsonValue], *, is_whole: bool = False) -> list[Fragment]:
    """Return what a delta adds, or a whole message, whose calls are whole."""
    found: list[Fragment] = []
    for key in REASONING_KEYS:
        if thought := delta.get(key):
            if isinstance(thought, str):
                found.append(Fragment("thought", thought, name=key))
            break
    if calls := delta.get("tool_calls"):
        items = items_in(calls)
        is_alone = len(items) == 1
        for place, item in enumerate(items):
            one = _call_fragment(item, place, is_whole=is_whole)
            found.append(one._replace(place=None) if is_alone else one)
    if (older := delta.get("function_call")) is not None:
        item = {"function": older} if isinstance(older, Mapping) else older
        found.append(_call_fragment(item, 0, is_whole=is_whole)._replace(is_older=True))
    if isinstance(refusal := delta.get("refusal"), str) and refusal:
        found.append(Fragment("refusal", refusal))
    content = delta.get("content")
    if content and not isinstance(content, str):
        content, thought, odd = content_texts(content)
        found += [Fragment("odd", odd, value=NOT_TEXT)] if odd else []
        found += [Fragment("thought", thought)] if thought else []
    if content:
        found.append(Fragment("text", content))
    return found


def content_texts(content: JsonValue) -> tuple[str, str, str]:
    """Return the text and the reasoning in a content (a string, a part, or a list of parts), and
    what is wrong with it, or "".
    """
    if not content or isinstance(content, str):
        return text_of(content), "", ""
    if not isinstance(content, list | tuple):
        if not isinstance(get(content, "text"), str):
            hint = "; decode bytes first" if isinstance(content, bytes | bytearray) else ""
            return "", "", f"content is {type(content).__name__}, wanted a str{hint}"
        content = [content]
    parts = [*parts_of(content, KINDS)]
    thought = "".join(part.text for part in parts if part.kind == "thought")
    return text_of([part.given for part in parts if part.kind != "thought"]), thought, ""


def _call_fragment(item: object, place: int, *, is_whole: bool) -> Fragment:
    if not isinstance(item, Mapping):
        return Fragment("call", index=place, arguments=item, value="no object")
    index, kind = place if is_whole else item.get("index"), None
    if item.get("function") is None and isinstance(custom := item.get("custom"), Mapping):
        name, arguments, kind = custom.get("name"), custom.get("input"), "custom"
    else:
        name, arguments = called(item)
    kind = kind or item.get("status")
    function, id_ = item.get("function"), item.get("id")
    has_nulls = (id_ is None and "id" in item) or (
        name is None and isinstance(function, Mapping) and "name" in function
    )
    return Fragment(
        "call", "", index, id_, name, arguments, "", place, is_whole, value=kind,
        type=item.get("type"), has_nulls=has_nulls,
    )  # fmt: skip


def read_request(body: JsonObject, _kept: object = None) -> tuple[Request, Sequence[Fault]]:
    asked, messages, wanted = Reading("chat", body), [], "an object with a role"
    for where, message in asked.messages(body.get("messages"), "messages", wanted):
        messages.append(message)
        if not isinstance(message.get("role"), str):
            asked.refuse(where, message, wanted)
        if message.get("role") == "tool" and "tool_call_id" in message:  # many agents leave it out
            asked.fields(message, where, {"tool_call_id": str})
        asked.parts(message.get("content"), f"{where}.content", WANTED)
        for index, call in enumerate(listed(message.get("tool_calls"))):
            here = f"{where}.tool_calls[{index}]"
            if not isinstance(call, dict):
                asked.refuse(here, call, "an object")
            elif call.get("type", "function") == "function":
                asked.fields(call, here, {"id": str, "function": dict})
                if isinstance(function := call.get("function"), dict):
                    asked.fields(function, f"{here}.function", {"name": str})
    if body.get("n", 1) not in (1, None):
        words = f"'n' is {brief(body['n'])}; this endpoint gives one choice"
        asked.faults.append(Fault(words))
    wants_usage = bool(get(body.get("stream_options"), "include_usage"))
    return asked.read(messages, functions_in(asked), wants_usage=wants_usage)


def functions_in(asked: Reading) -> list[JsonValue]:
    """Return the functions among the tools of a request."""
    tools = asked.listed(asked.body.get("tools") or None, "tools")
    return [one for one in tools if get(one, "type") == "function"]


def results(body: JsonObject) -> list[Result]:
    return results_in(body, "messages", _with_result, "content")


def _with_result(given: object, path: str) -> Message:
    """Read a message; one that is a result has it as its only part."""
    message = read_message(given, path)
    if not is_result(given):
        return message
    content, answers = get(given, "content"), message.answers
    part = Part("result", "", get(given, "name"), id=answers, content=content, path=path)
    return replace(message, parts=(replace(part, role=message.role),))


def is_result(message: object) -> bool:
    """Whether a message is a tool's result. smolagents writes it as a user's message that begins
    with "Observation:", as ReAct agents do.
    """
    role, content = word(get(message, "role")), get(message, "content")
    return role in RESULT_ROLES or (role == "user" and text_of(content).startswith("Observation:"))


def write_reply(answer: Answer, request: Request, number: int) -> JsonObject:
    choice = {"index": 0, "message": answer.message or {}, "finish_reason": answer.finish}
    head = _head("chat.completion", request.model, number)
    return {**head, "choices": [{**choice, "logprobs": None}], "usage": _usage(answer)}


def write_events(answer: Answer, request: Request, number: int) -> Iterator[JsonObject]:
    """Yield the answer as the chunks of a stream; usage comes last, if it was requested."""
    for delta in _deltas(answer.message or {}):
        yield _chunk(delta, None, request, number)
    yield from write_step(Step("end", answer=answer), request, number)


_KEYS = {"thought": "reasoning_content", "text": "content", "refusal": "refusal"}
"""The keys of texts in a message, in the order in which they are sent."""


def write_step(step: Step, request: Request, number: int) -> Iterator[JsonObject]:
    part, answer = step.part, step.answer
    match step.what:
        case "begin":
            yield _chunk(_FIRST, None, request, number)
        case "open" if part.kind == "call":
            call = {"id": part.id, "type": "function", "function": {"name": part.name}}
            yield _chunk(_opened(call, part.nth), None, request, number)
        case "more" if part.kind == "call":
            yield _chunk(_arguments(step.text, part.nth), None, request, number)
        case "more":
            yield _chunk({_KEYS[part.kind]: step.text}, None, request, number)
        case "end":
            last = _chunk({}, answer.finish, request, number)
            yield last
            if request.wants_usage:
                yield {**last, "choices": [], "usage": _usage(answer)}


def _chunk(delta: JsonObject, reason: str | None, request: Request, number: int) -> JsonObject:
    head = _head("chat.completion.chunk", request.model, number)
    head |= {"usage": None} if request.wants_usage else {}
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}
    return {**head, "choices": [choice]}


def _head(kind: str, model: str, number: int) -> JsonObject:
    return {"id": f"chatcmpl-{number}", "object": kind, "created": CREATED, "model": model}


def _usage(answer: Answer) -> JsonObject:
    prompt, made = counts(answer.usage)
    total = {"prompt_tokens": prompt, "completion_tokens": made, "total_tokens": prompt + made}
    return answer.counted or total


_FIRST: JsonObject = {"role": "assistant", "content": ""}


def _deltas(message: JsonObject) -> Iterator[JsonObject]:
    yield _FIRST
    for key in _KEYS.values():
        for piece in pieces(text_of(message.get(key))):
            yield {key: piece}
    for index, (call, function) in enumerate(calls_in(message)):
        yield _opened(call, index)
        for piece in pieces(arguments_of(function)):
            yield _arguments(piece, index)


def _opened(call: JsonObject, index: int) -> JsonObject:
    function = {**(call.get("function") or {}), "arguments": ""}
    return {"tool_calls": [{**call, "index": index, "function": function}]}


def _arguments(piece: str, index: int) -> JsonObject:
    return {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def write_error(message: str, status: int, code: str | None) -> JsonObject:
    kind = "server_error" if status >= 500 else "invalid_request_error"
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def write_models(names: Sequence[str]) -> JsonObject:
    return {"object": "list", "data": [write_model(name) for name in names]}


def write_model(name: str) -> JsonObject:
    return {"id": name, "object": "model", "created": CREATED, "owned_by": "tunaeval"}


def write_count(tokens: int) -> JsonObject:
    return {"input_tokens": tokens}


CHAT = Api(
    "chat", claims, answers, read_message, read_reply, fragments, read_request,
    whole_request, results, write_reply, write_events, write_step, write_error, write_models,
    write_model, write_count,
)  # fmt: skip
