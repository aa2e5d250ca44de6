"""OpenAI's chat completions, which most servers speak.

Format: https://platform.openai.com/docs/api-reference/chat

The text of a reply is content, even if it looks like a call. A chunk of a stream may have several
entries of one choice, or the whole message; the older completions API has `text` in its choices.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from tunaeval.showing import brief
from tunaeval.types.calls import JsonObject, JsonValue, Tools
from tunaeval.types.exchange import text_of
from tunaeval.types.messages import Usage

from .endings import usage_of
from .fields import first, get, listed, word
from .parts import Kinds, Wanted, declared, kinds_of, parts_of
from .requests import (
    conversation,
    fault,
    field_faults,
    part_faults,
    request_of,
    results_in,
    tools_in,
    whole_request,
)
from .values import Answer, Api, Fault, Fragment, Message, Part, Request, Result
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
    "function": {"id": str, "function": dict},
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
    """Return one of `tool_calls` as a part. The input of a custom tool is text."""
    kind, call_id = word(get(call, "type")), get(call, "id")
    name, arguments = called(call)
    custom = get(call, "custom")
    if get(call, "function") is None and custom is not None and not isinstance(custom, str):
        name, arguments = get(custom, "name"), {"input": get(custom, "input")}
    lacks = [key for key, value in (("name", name), ("arguments", arguments)) if value is None]
    lacks += ["id"] if call_id is None else []
    return Part(
        "call", "", name, arguments, call_id, type=kind, given=call, path=path, missing=tuple(lacks)
    )


def called(call: object) -> tuple[JsonValue, JsonValue]:
    """Return the name and arguments of one of `tool_calls`; None for what is missing."""
    function = get(call, "function")
    source = function if function is not None and not isinstance(function, str) else call
    arguments = get(source, "arguments")
    if arguments is None and function is None:
        arguments = get(source, "args")
    return get(source, "name"), arguments


def answers(document: Mapping[str, JsonValue]) -> bool:
    return "choices" in document or str(document.get("object")).startswith("chat.completion")


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
    given = choice.get("message")
    text = choice.get("text")
    if not isinstance(given, Mapping) and isinstance(text, str):  # the older completions API
        given = {"role": "assistant", "content": text}
    message: JsonObject = dict(given) if isinstance(given, Mapping) else {}
    reason = choice.get("finish_reason")
    lacks = [] if isinstance(given, Mapping) else [f"/choices/{at}/message"]
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
        lacks_message=not isinstance(given, Mapping),
        has_others=len(choices) > 1,
    )


def error_in(document: Mapping[str, JsonValue]) -> str | None:
    """Return the error that a document of any API reports, in words, or None."""
    error = document.get("error")
    if not error and "error" in (document.get("object"), document.get("type")):
        error = document.get("message")
    if not error:
        return None
    words = error.get("message") if isinstance(error, Mapping) else error
    return words if isinstance(words, str) and words else _shown(error)


def _shown(value: JsonValue) -> str:
    try:
        return f"{value!r:.200}"
    except RecursionError:
        return "an error that is nested too deeply"


def fragments(event: Mapping[str, JsonValue]) -> Iterator[Fragment]:  # the assembler's reader
    raise NotImplementedError


def read_request(body: JsonObject, _kept: object = None) -> tuple[Request, Sequence[Fault]]:
    faults: list[Fault] = []
    messages = conversation(body, "messages", faults, _ROLED)
    for where, message in messages:
        if not isinstance(message.get("role"), str):
            faults.append(fault(where, message, _ROLED))
        if message.get("role") == "tool" and "tool_call_id" in message:  # many agents leave it out
            faults += field_faults(message, where, {"tool_call_id": str})
        faults += part_faults(message.get("content"), f"{where}.content", WANTED)
        for index, call in enumerate(listed(message.get("tool_calls"))):
            faults += _call_faults(call, f"{where}.tool_calls[{index}]")
    if body.get("n", 1) not in (1, None):
        faults.append(Fault(f"'n' is {brief(body['n'])}; this endpoint gives one choice"))
    options = body.get("stream_options")
    wants_usage = isinstance(options, Mapping) and bool(options.get("include_usage"))
    tools = functions_in(body, faults)
    every = (message for _, message in messages)
    return request_of("chat", body, every, tools, faults, wants_usage=wants_usage)


_ROLED = "an object with a role"


def _call_faults(call: JsonValue, where: str) -> Iterator[Fault]:
    if not isinstance(call, dict):
        yield fault(where, call, "an object")
    elif call.get("type", "function") == "function":
        yield from field_faults(call, where, WANTED["function"])
        if isinstance(function := call.get("function"), dict):
            yield from field_faults(function, f"{where}.function", {"name": str})


def functions_in(body: JsonObject, faults: list[Fault]) -> Tools | None:
    """Return the functions among the tools of a request, or None if there are none."""
    tools = body.get("tools")
    if tools and not isinstance(tools, list):
        faults.append(fault("tools", tools, "a list"))
    return tools_in([one for one in listed(tools) if get(one, "type") == "function"], faults)


def results(body: JsonObject) -> list[Result]:
    messages = []
    for index, given in enumerate(listed(body.get("messages"))):
        message = read_message(given)
        if is_result(given):
            name, content, path = get(given, "name"), get(given, "content"), f"/messages/{index}"
            part = Part("result", "", name, id=message.answers, content=content, path=path)
            message = replace(message, parts=(replace(part, role=message.role),))
        messages.append(message)
    return results_in(messages, "content")


def is_result(message: object) -> bool:
    """Whether a message is a tool's result. smolagents writes it as a user's message that begins
    with "Observation:", as ReAct agents do.
    """
    role, content = get(message, "role"), get(message, "content")
    return role == "tool" or (role == "user" and text_of(content).startswith("Observation:"))


def write_reply(answer: Answer, request: Request, number: int) -> JsonObject:
    choice = {"index": 0, "message": answer.message, "finish_reason": answer.finish}
    head = _head("chat.completion", request.model, number)
    return {**head, "choices": [{**choice, "logprobs": None}], "usage": _usage(answer.usage)}


def write_events(answer: Answer, request: Request, number: int) -> Iterator[JsonObject]:
    """Yield the answer as the chunks of a stream; usage comes last, if it was requested."""
    head = _head("chat.completion.chunk", request.model, number)
    if request.wants_usage:
        head["usage"] = None
    for delta, reason in (*_deltas(answer.message), ({}, answer.finish)):
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}
        yield {**head, "choices": [choice]}
    if request.wants_usage:
        yield {**head, "choices": [], "usage": _usage(answer.usage)}


def _head(kind: str, model: str, number: int) -> JsonObject:
    return {"id": f"chatcmpl-{number}", "object": kind, "created": CREATED, "model": model}


def _usage(usage: Usage) -> JsonObject:
    prompt, made = counts(usage)
    return {"prompt_tokens": prompt, "completion_tokens": made, "total_tokens": prompt + made}


def _deltas(message: JsonObject) -> Iterator[tuple[JsonObject, None]]:
    yield {"role": "assistant", "content": ""}, None
    for key in ("reasoning_content", "content", "refusal"):
        for piece in pieces(text_of(message.get(key))):
            yield {key: piece}, None
    for index, (call, function) in enumerate(calls_in(message)):
        opened = {**call, "index": index, "function": {**function, "arguments": ""}}
        yield {"tool_calls": [opened]}, None
        for piece in pieces(arguments_of(function)):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}, None


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
    "chat", claims, answers, read_message, read_reply, fragments, WANTED, read_request,
    whole_request, results, write_reply, write_events, write_error, write_models, write_model,
    write_count,
)  # fmt: skip
