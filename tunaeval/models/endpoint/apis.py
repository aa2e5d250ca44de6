"""What passes through the endpoint, and how OpenAI's two APIs write it: requests, answers, turns.

Requests of the Responses API are read as chat messages; answers are written whole or as a stream.
Formats: https://platform.openai.com/docs/api-reference/chat and .../responses
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal, TypeAlias

from tunaeval.errors import ToolsError, TunaevalError
from tunaeval.files.keys import covered, of_environment
from tunaeval.showing import brief
from tunaeval.tools.specs import to_tools
from tunaeval.tools.success import Success, returned
from tunaeval.types.calls import JsonObject, JsonValue, ToolCall, Tools
from tunaeval.types.exchange import text_of
from tunaeval.types.faults import Fault
from tunaeval.types.messages import Usage
from tunaeval.wire.chat import first_choice
from tunaeval.wire.endings import usage_of as read_usage

Api: TypeAlias = Literal["chat", "responses", "messages", "gemini"]
"""The API that a request uses: OpenAI's chat completions or responses, Anthropic's messages, or
Google's Gemini."""


class Refused(TunaevalError):  # noqa: N818 - the request is refused; the endpoint has not failed
    """A request that is answered with an error."""

    def __init__(self, message: str, *, status: int = 400, code: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.code = code

    def document(self) -> JsonObject:
        """Return the body of the error response, as OpenAI's APIs write it."""
        kind = "server_error" if self.status >= 500 else "invalid_request_error"
        error = {"message": str(self), "type": kind, "param": None, "code": self.code}
        return {"error": error}


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """A request of an agent to its model.

    `body` is the request as it came. `messages` are in the shape of chat completions for every
    `api`; `tools` are those that the request offers, or None. `secrets` are the secrets in its
    headers and its body, so that they can be kept out of records; its repr shows none.

    Examples:
        >>> import httpx2
        >>> def script(request: tunaeval.ModelRequest) -> str:
        ...     return request.messages[-1]["content"].upper()
        ...
        >>> with tunaeval.model_endpoint(script) as model:
        ...     asked = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}
        ...     answer = httpx2.post(f"{model.url}/chat/completions", json=asked).json()
        ...
        >>> answer["choices"][0]["message"]["content"]
        'HI'
    """

    api: Api
    body: JsonObject
    messages: tuple[JsonObject, ...]
    tools: Tools | None
    model: str
    streams: bool = False
    wants_usage: bool = True
    secrets: frozenset[str] = field(default=frozenset(), repr=False, compare=False)

    @property
    def results(self) -> tuple[str, ...]:
        """The results of tools so far, as texts, in order."""
        found = [one.get("content") for one in self.messages if is_result(one)]
        return tuple(one if isinstance(one, str) else text_of(one) for one in found)

    def __repr__(self) -> str:
        return _repr(self, self.secrets)


def _repr(thing: ModelRequest | EndpointTurn, secrets: frozenset[str]) -> str:
    """Return the repr of a dataclass without the secrets, or those of the environment."""
    shown = ((one.name, getattr(thing, one.name)) for one in fields(thing) if one.repr)
    words = ", ".join(f"{name}={value!r}" for name, value in shown)
    return covered(f"{type(thing).__name__}({words})", secrets | of_environment())


def is_result(message: JsonObject) -> bool:
    """Whether a message is a tool's result. smolagents writes it as a user's message that begins
    with "Observation:", as ReAct agents do.
    """
    if message.get("role") == "tool":
        return True
    return message.get("role") == "user" and text_of(message.get("content")).startswith(
        "Observation:"
    )


@dataclass(frozen=True, slots=True)
class Answer:
    """A model's answer: an assistant's message in the shape of chat completions. `items` and `id`
    are the output and the id that an upstream gave, where the API has items, blocks or parts.
    """

    message: JsonObject
    finish_reason: str
    usage: Usage = field(default_factory=Usage)
    items: tuple[JsonObject, ...] | None = None
    id: str | None = None


@dataclass(frozen=True, slots=True)
class EndpointTurn:
    """One request to the endpoint with its answer. `number` counts from 1. `message` is the model's
    reply, or None if there was an `error`; `calls` are its calls, as read by
    `tunaeval.parse_message`, and `lost` its attempts at calls that cannot be read. `faults` are
    those that occurred in this turn.
    """

    number: int
    request: ModelRequest
    message: JsonObject | None = None
    calls: tuple[ToolCall, ...] = ()
    finish_reason: str | None = None
    usage: Usage = field(default_factory=Usage)
    error: str | None = None
    code: str | None = None
    faults: tuple[Fault, ...] = ()
    lost: tuple[ToolCall, ...] = ()

    def __repr__(self) -> str:
        return _repr(self, self.request.secrets)


class MadeCalls(tuple[ToolCall, ...]):  # noqa: SLOT001 - a tuple of any length has no slots
    """Calls with the turn (from 1) of each in `turns`; `unasked` says that no model was asked."""

    turns: tuple[int, ...]
    unasked: str | None
    _every: tuple[EndpointTurn, ...]

    @classmethod
    def of(cls, turns: Sequence[EndpointTurn], unasked: str | None = None) -> MadeCalls:
        """Return all calls of the turns."""
        made = cls(call for turn in turns for call in turn.calls)
        made.turns = tuple(turn.number for turn in turns for _ in turn.calls)
        made._every, made.unasked = tuple(turns), unasked
        return made

    @property
    def lost(self) -> tuple[ToolCall, ...]:
        """The attempts at calls that cannot be read. An agent may have run them all the same."""
        return tuple(call for turn in self._every for call in turn.lost)

    @property
    def offered(self) -> tuple[str, ...] | None:
        """The names of all tools that a request offered, or None if none offered any."""
        requests = [turn.request.body for turn in self._every]
        names = {name for body in requests for name in _names_of(body.get("tools"))}
        return tuple(sorted(names)) or None

    @property
    def outcomes(self) -> tuple[Success | None, ...]:
        """How each call ended, as a later request shows it; None for a call without a result."""
        seen: Counter[str | None] = Counter()
        found = []
        for index, turn in enumerate(self._every):
            later = [one.request.messages for one in self._every[index + 1 :]]
            for place, call in enumerate(turn.calls):
                at = seen[call.id]
                seen[call.id] += 1
                named = (_results_of(call.id, messages)[at : at + 1] for messages in later)
                placed = (_placed(place, messages) for messages in later[:1])
                result = next((one for some in (*named, *placed) for one in some), None)
                found.append(None if result is None else _outcome(result))
        return tuple(found)


def _names_of(tools: JsonValue) -> Iterator[str]:
    """Yield the names of tools as any of the APIs offers them, also of tools that a server runs."""
    for tool in tools if isinstance(tools, list) else ():
        match tool:
            case {"function": {"name": str(name)}} | {"custom": {"name": str(name)}}:
                yield name
            case {"name": str(name)} | {"type": str(name)}:
                yield name
                yield from _names_of(tool.get("tools"))
            case {"functionDeclarations": list(inner)} | {"function_declarations": list(inner)}:
                yield from _names_of(inner)
            case dict():
                yield from tool


def _results_of(call_id: str | None, messages: Sequence[JsonObject]) -> list[JsonObject]:
    return [one for one in messages if call_id and one.get("tool_call_id") == call_id]


def _placed(place: int, messages: Sequence[JsonObject]) -> list[JsonObject]:
    """Return the result of the call at this place in the model's last reply, for clients that give
    calls other ids or leave them out, as one of Google's API may. One with a foreign id is none's.
    """
    roles = [one.get("role") for one in messages]
    begin = len(roles) - roles[::-1].index("assistant") if "assistant" in roles else 0
    calls = messages[begin - 1].get("tool_calls") if begin else None
    call = calls[place] if isinstance(calls, list) and len(calls) > place else None
    new = messages[begin:]
    unnamed = [one for one in new if is_result(one) and not one.get("tool_call_id")]
    named = _results_of(call.get("id"), new) if isinstance(call, dict) else []
    return named[:1] or unnamed[place : place + 1]


def _outcome(result: JsonObject) -> Success:
    words = text_of(result.get("content"))
    return Success(False, "is-error", words) if result.get("is_error") else returned(words)


def request_of(
    api: Api,
    body: JsonObject,
    messages: Iterable[JsonObject],
    tools: Tools | None,
    wants_usage: bool = True,
) -> ModelRequest:
    """Return a request whose body names the model, and says whether the answer is streamed."""
    model, streams = str(body.get("model") or ""), bool(body.get("stream"))
    return ModelRequest(api, body, tuple(messages), tools, model, streams, wants_usage)


CREATED = 0
"""The time in every reply; it is fixed, so that equal requests get equal bytes."""
_PIECE = 16
"""How many characters of a text or of arguments one event of a stream has."""


def read_chat(body: JsonObject) -> ModelRequest:
    """Return the request. Raise Refused if OpenAI's API would refuse it, too."""
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        raise Refused(f"'messages' is {brief(messages)}; wanted a list of at least one message")
    for index, message in enumerate(messages):
        where = f"messages[{index}]"
        if not isinstance(message, dict) or not isinstance(message.get("role"), str):
            raise Refused(f"'{where}' is {brief(message)}; wanted an object with a role")
        if message["role"] == "tool" and "tool_call_id" in message:  # many agents leave it out
            wanted_fields(message, where, {"tool_call_id": str})
        check_parts(message.get("content"), f"{where}.content")
        calls = message.get("tool_calls")
        for at, call in enumerate(calls if isinstance(calls, list) else ()):
            here = f"{where}.tool_calls[{at}]"
            if wanted_object(call, here).get("type", "function") == "function":
                wanted_fields(call, here, {"id": str, "function": dict})
                wanted_fields(call["function"], f"{here}.function", {"name": str})
    if body.get("n", 1) not in (1, None):
        raise Refused(f"'n' is {brief(body['n'])}; this endpoint gives one choice")
    options = body.get("stream_options")
    wants_usage = isinstance(options, Mapping) and bool(options.get("include_usage"))
    tools = read_tools(body.get("tools"))
    return request_of("chat", body, messages, tools, wants_usage)


_FIELDS: dict[str, dict[str, Any]] = {
    "text": {"text": str},
    "input_text": {"text": str},
    "output_text": {"text": str},
    "refusal": {"refusal": str},
    "image_url": {"image_url": object},
    "input_audio": {"input_audio": dict},
    "file": {"file": dict},
    "function_call": {"call_id": str, "name": str, "arguments": str},
    "function_call_output": {"call_id": str, "output": str | list},
}
"""The fields that parts and items of OpenAI's APIs have to have, by their types."""


def wanted_object(value: JsonValue, where: str) -> JsonObject:
    """Return a value that is an object. Otherwise raise Refused."""
    if isinstance(value, dict):
        return value
    raise Refused(f"'{where}' is {brief(value)}; wanted an object")


def wanted_fields(item: JsonObject, where: str, fields: Mapping[str, Any]) -> None:
    """Raise Refused unless an object has these fields, with values of these classes."""
    for name, kind in fields.items():
        if not isinstance(found := item.get(name), kind) or name not in item:
            is_what = brief(found) if name in item else "missing"
            wanted = {str: "a text", dict: "an object"}.get(kind, "a value")
            raise Refused(f"'{where}.{name}' is {is_what}; wanted {wanted}")


def check_parts(content: JsonValue, where: str) -> None:
    """Raise Refused for a part of a message's content that lacks what parts of its type have."""
    for at, part in enumerate(content if isinstance(content, list) else ()):
        here = f"{where}[{at}]"
        wanted_fields(part, here, _FIELDS.get(str(wanted_object(part, here).get("type")), {}))


def read_tools(tools: JsonValue) -> Tools | None:
    """Return the functions among the tools of a request, or None if there are none."""
    if not tools:
        return None
    if not isinstance(tools, list):
        raise Refused(f"'tools' is {brief(tools)}; wanted a list")
    return tools_in(
        [one for one in tools if isinstance(one, dict) and one.get("type") == "function"]
    )


def tools_in(functions: Sequence[JsonValue]) -> Tools | None:
    """Return the functions as tools, or None if there are none."""
    try:
        return to_tools(functions) if functions else None
    except ToolsError as error:
        raise Refused(f"'tools' cannot be read: {error}") from error


def completion(answer: Answer, request: ModelRequest, number: int) -> JsonObject:
    """Return the answer as a whole chat completion."""
    choice = {"index": 0, "message": answer.message, "finish_reason": answer.finish_reason}
    head = _chat_head("chat.completion", request.model, number)
    return {**head, "choices": [{**choice, "logprobs": None}], "usage": usage_of(answer.usage)}


def chunks(answer: Answer, request: ModelRequest, number: int) -> Iterator[JsonObject]:
    """Yield the answer as the chunks of a stream; usage comes last, if it was requested."""
    head = _chat_head("chat.completion.chunk", request.model, number)
    if request.wants_usage:
        head["usage"] = None
    for delta, reason in (*_deltas(answer.message), ({}, answer.finish_reason)):
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}
        yield {**head, "choices": [choice]}
    if request.wants_usage:
        yield {**head, "choices": [], "usage": usage_of(answer.usage)}


def estimated_tokens(request: ModelRequest) -> int:
    """Return the tokens of a prompt as characters / 4, as there is no model to count them."""
    prompt = json.dumps([request.messages, request.body.get("tools")], default=str)
    return len(prompt) // 4 + 1


def chat_answer(document: JsonObject) -> Answer:
    """Return the answer in an upstream's chat completion."""
    choices = document.get("choices")
    _, choice = first_choice(choices if isinstance(choices, list) else ())
    message = choice.get("message")
    if not isinstance(message, dict):
        raise Refused("the upstream's answer has no choices[0].message", status=502)
    reason = str(choice.get("finish_reason") or "stop")
    return Answer({"role": "assistant", **message}, reason, read_usage(document.get("usage")))


def usage_of(usage: Usage) -> JsonObject:
    prompt, reply = usage.prompt_tokens or 0, usage.completion_tokens or 0
    return {"prompt_tokens": prompt, "completion_tokens": reply, "total_tokens": prompt + reply}


def pieces(text: str) -> Iterator[str]:
    """Yield a text in pieces, as a stream sends it."""
    return (text[start : start + _PIECE] for start in range(0, len(text), _PIECE))


def arguments_of(function: JsonObject) -> str:
    """Return a call's arguments as text; some servers give them as an object."""
    arguments = function.get("arguments") or ""
    return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)


def _chat_head(kind: str, model: str, number: int) -> JsonObject:
    return {"id": f"chatcmpl-{number}", "object": kind, "created": CREATED, "model": model}


def _deltas(message: JsonObject) -> Iterator[tuple[JsonObject, None]]:
    yield {"role": "assistant", "content": ""}, None
    for key in ("reasoning_content", "content", "refusal"):
        for piece in pieces(text_of(message.get(key))):
            yield {key: piece}, None
    for index, call in enumerate(message.get("tool_calls") or ()):
        function = call.get("function") or {}
        opened = {**call, "index": index, "function": {**function, "arguments": ""}}
        yield {"tool_calls": [opened]}, None
        for piece in pieces(arguments_of(function)):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}, None


_ECHOED = ("instructions", "metadata", "previous_response_id", "temperature", "top_p")
"""Fields of a request that the response repeats."""


def read_responses(body: JsonObject, history: Mapping[str, tuple[JsonObject, ...]]) -> ModelRequest:
    """Return the request; `history` has the messages up to each earlier response, by its id."""
    given = body.get("input")
    items = [{"role": "user", "content": given}] if isinstance(given, str) else given
    if not isinstance(items, list) or not items:
        raise Refused(f"'input' is {brief(given)}; wanted a text or a list of items")
    previous = body.get("previous_response_id")
    if previous is not None and not (isinstance(previous, str) and previous in history):
        raise Refused(
            f"'previous_response_id' is {brief(previous)}, which this endpoint never gave",
            code="previous_response_not_found",
        )
    text = body.get("instructions")
    system = [{"role": "system", "content": text}] if isinstance(text, str) and text else []
    messages = (*system, *history.get(previous or "", ()), *messages_of(items))
    return request_of("responses", body, messages, read_tools(body.get("tools")))


def messages_of(items: Sequence[JsonValue]) -> list[JsonObject]:
    """Return items as chat messages; adjacent calls become one message, with text before them."""
    messages: list[JsonObject] = []
    for index, item in enumerate(items):
        where = f"input[{index}]"
        kind = wanted_object(item, where).get("type", "message")
        wanted_fields(item, where, _FIELDS.get(str(kind), {}))
        if kind == "message":
            messages.append(_message(item, index))
        elif kind == "function_call":
            if not messages or messages[-1]["role"] != "assistant":
                messages.append({"role": "assistant", "content": None})
            messages[-1].setdefault("tool_calls", []).append(call_of(item))
        elif kind == "function_call_output":
            output = item.get("output")
            content = output if isinstance(output, str) else text_of(output)
            result = {"role": "tool", "tool_call_id": item.get("call_id"), "content": content}
            messages.append(result)
    return messages


def _message(item: JsonObject, index: int) -> JsonObject:
    role = item.get("role")
    if not isinstance(role, str):
        raise Refused(f"'input[{index}].role' is {brief(role)}; wanted a text")
    wanted_fields(item, f"input[{index}]", {"content": object})
    content = item["content"]
    check_parts(content, f"input[{index}].content")
    return {"role": role, "content": text_of(content) if role == "assistant" else plain(content)}


def plain(content: JsonValue) -> JsonValue:
    """Join text parts into one text; leave content with other parts, such as images, as it is."""
    parts = content if isinstance(content, list) else ()
    is_text = all(isinstance(part, dict) and isinstance(part.get("text"), str) for part in parts)
    return text_of(content) if is_text else content


def call_of(item: JsonObject) -> JsonObject:
    """Return an item of the Responses API as a call of chat completions."""
    function = {"name": item.get("name"), "arguments": item.get("arguments") or ""}
    return {"id": item.get("call_id"), "type": "function", "function": function}


def answer_of(document: JsonObject) -> Answer:
    """Return the answer in an upstream's response."""
    usage = ("usage", "input_tokens", "output_tokens")
    return given_answer(document.get("output"), _item, document, document.get("status"), usage)


def _item(item: JsonObject) -> JsonObject:
    if item.get("type", "message") == "message":
        return {"type": "text", "text": text_of(item.get("content"))}
    return {"call_id": None, **item}


def given_answer(
    items: JsonValue,
    item_of: Callable[[JsonObject], JsonObject],
    document: JsonObject,
    reason: JsonValue,
    usage: tuple[str, str, str],
) -> Answer:
    """Return the answer of an upstream, whose parts are kept to be sent on as they are. `usage`
    has the fields of the tokens: of all, of the prompt and of the reply.
    """
    if not isinstance(items, list) or not all(isinstance(one, dict) for one in items):
        raise Refused(f"the upstream's reply has the parts {brief(items)}", status=502)
    made = [item_of(one) for one in items]
    for index, one in enumerate(made):
        if one.get("type") == "function_call":
            one["call_id"] = one["call_id"] or f"call_{index}"
    message = said(made)
    known = "tool_calls" if message.get("tool_calls") else "stop"
    finish = "length" if reason in ("incomplete", "max_tokens", "MAX_TOKENS") else known
    own = document.get("id", document.get("responseId"))
    id_ = own if isinstance(own, str) else None
    given = document.get(usage[0])
    spent: JsonObject = given if isinstance(given, dict) else {}
    counts = {"prompt_tokens": spent.get(usage[1]), "completion_tokens": spent.get(usage[2])}
    return Answer(message, finish, read_usage(counts), tuple(items), id_)


def said(items: Sequence[JsonObject]) -> JsonObject:
    """Return the items of a model's reply as one message of chat completions."""
    texts = {
        kind: "".join(text_of(one.get("text")) for one in items if one.get("type") == kind)
        for kind in ("text", "thought")
    }
    message: JsonObject = {"role": "assistant", "content": texts["text"] or None}
    if texts["thought"]:
        message["reasoning_content"] = texts["thought"]
    calls = [one for one in items if one.get("type") == "function_call"]
    if calls:
        message["tool_calls"] = [call_of(one) for one in calls]
    return message


def response(answer: Answer, request: ModelRequest, number: int) -> JsonObject:
    """Return the answer as a whole response."""
    prompt, made = answer.usage.prompt_tokens or 0, answer.usage.completion_tokens or 0
    is_cut = answer.finish_reason == "length"
    return {
        **_head(answer, request, number),
        "status": "incomplete" if is_cut else "completed",
        "incomplete_details": {"reason": "max_output_tokens"} if is_cut else None,
        "output": list(_items(answer, number)),
        "usage": {
            "input_tokens": prompt,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": made,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": prompt + made,
        },
    }


def response_id(answer: Answer, number: int) -> str:
    return answer.id or f"resp_{number}"


def events(answer: Answer, request: ModelRequest, number: int) -> Iterator[JsonObject]:
    """Yield the answer as the events of a stream, numbered from 0."""
    for sequence, event in enumerate(_events(answer, request, number)):
        yield {**event, "sequence_number": sequence}


def _head(answer: Answer, request: ModelRequest, number: int) -> JsonObject:
    body = request.body
    return {
        "id": response_id(answer, number),
        "object": "response",
        "created_at": CREATED,
        "status": "in_progress",
        "error": None,
        "incomplete_details": None,
        "model": request.model,
        "output": [],
        "parallel_tool_calls": body.get("parallel_tool_calls", True),
        "tool_choice": body.get("tool_choice", "auto"),
        "tools": body.get("tools") or [],
        "usage": None,
        **{key: body.get(key) for key in _ECHOED},
    }


def _items(answer: Answer, number: int) -> Iterator[JsonObject]:
    if answer.items is not None:
        yield from answer.items
        return
    thought = answer.message.get("reasoning_content")
    if thought:
        summary = [{"type": "summary_text", "text": thought}]
        yield {"type": "reasoning", "id": f"rs_{number}", "summary": summary}
    done = {"status": "completed"}
    text = answer.message.get("content")
    if text or not answer.message.get("tool_calls"):
        part: JsonObject = {"type": "output_text", "text": text or "", "annotations": []}
        head = {"type": "message", "id": f"msg_{number}", "role": "assistant"}
        yield {**head, **done, "content": [part]}
    for index, call in enumerate(answer.message.get("tool_calls") or ()):
        head = {"type": "function_call", "id": f"fc_{number}_{index}", "call_id": call.get("id")}
        yield {**head, **done, **call["function"]}


def _events(answer: Answer, request: ModelRequest, number: int) -> Iterator[JsonObject]:
    begun = _head(answer, request, number)
    yield {"type": "response.created", "response": begun}
    yield {"type": "response.in_progress", "response": begun}
    whole = response(answer, request, number)
    for index, item in enumerate(whole["output"]):
        more = _EMPTY.get(str(item.get("type")))
        opened = item if more is None else {**item, **more, "status": "in_progress"}
        yield {"type": "response.output_item.added", "output_index": index, "item": opened}
        yield from _inner(item, {"output_index": index, "item_id": item.get("id")})
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    yield {"type": f"response.{whole['status']}", "response": whole}


_EMPTY: JsonObject = {"message": {"content": []}, "function_call": {"arguments": ""}}
"""What an item lacks when a stream announces it, by the kind of the item."""


def _inner(item: JsonObject, at: JsonObject) -> Iterator[JsonObject]:
    if item.get("type") == "function_call":
        text = arguments_of(item)
        for piece in pieces(text):
            yield {"type": "response.function_call_arguments.delta", **at, "delta": piece}
        yield {"type": "response.function_call_arguments.done", **at, "arguments": text}
    parts = item.get("content") if item.get("type") == "message" else None
    for index, part in enumerate(parts if isinstance(parts, list) else ()):
        match part:
            case {"type": "output_text", "text": str(text)}:
                where, opened = {**at, "content_index": index}, {**part, "text": ""}
                yield {"type": "response.content_part.added", **where, "part": opened}
                for piece in pieces(text):
                    delta = {"delta": piece, "logprobs": []}
                    yield {"type": "response.output_text.delta", **where, **delta}
                done = {"text": text, "logprobs": []}
                yield {"type": "response.output_text.done", **where, **done}
                yield {"type": "response.content_part.done", **where, "part": part}
