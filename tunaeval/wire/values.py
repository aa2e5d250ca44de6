"""What a provider sends and is sent, as values that are the same for every API.

A field that is missing stays None, and is listed in `missing`; whoever reads the value decides what
that means. Nothing here is repaired: names, ids and arguments are as they were written, whatever
their type.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, TypeAlias

from tunaeval.types.calls import JsonObject, JsonValue, Tools
from tunaeval.types.messages import Usage

from .endings import error_in, finish_of, usage_of
from .fields import first, listed

ApiName: TypeAlias = Literal["chat", "responses", "messages", "gemini", "converse"]
"""OpenAI's chat completions and responses, Anthropic's messages, Google's Gemini, and the Converse
API of Amazon's Bedrock."""

CUT_OFF, MALFORMED = "unclosed_block", "malformed_structure"
PARTIAL = "partial"

PartKind: TypeAlias = Literal[
    "text", "thought", "refusal", "call", "result", "media", "summary", "silent", "unknown"
]


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a message: a text, a call, a result, ...

    `text` is what the part says: for a result its text, for media the kind in brackets, for a part
    of an unknown kind its text or its JSON. `name`, `arguments` and `id` are those of a call, and
    `id` is that of the call that a result answers, all as they were written. `content` is a
    result's content as it was given. `type` is the API's own word for the kind, and `given` the
    part itself. `path` is a JSON Pointer to it, and `missing` the fields that it lacks though parts
    of its kind have them. A `hosted` call is run by the provider. `role` overrides the message's.
    `status` says why a call is none: `CUT_OFF` or `MALFORMED`.
    """

    kind: PartKind
    text: str = ""
    name: JsonValue = None
    arguments: JsonValue = None
    id: JsonValue = None
    is_error: bool | None = None
    content: JsonValue = None
    type: str = ""
    given: JsonValue = None
    path: str = ""
    missing: tuple[str, ...] = ()
    hosted: bool = False
    role: str | None = None
    status: str = ""


@dataclass(frozen=True, slots=True)
class Message:
    """A message, or an item of a conversation that is one. `answers` is the id of the call that the
    whole message answers, as in chat completions; `role` is in the words of chat completions.
    """

    role: str
    parts: tuple[Part, ...] = ()
    usage: Usage | None = None
    answers: JsonValue = None
    is_error: bool | None = None
    given: JsonValue = None


@dataclass(frozen=True, slots=True)
class Answer:
    """A model's whole answer.

    `message` is it in the shape of chat completions, None if there is none; `parts` are its parts.
    `finish` is the finish reason in the words of chat completions, and `reason` the one that was
    written. `items` is the output as the API has it (items, blocks or parts), to be sent on as it
    is. `counted` is the usage as the API has it; `repairs` are the codes of what was repaired.
    `error` is the server's error message. `has_others`: there are further answers (choices,
    candidates) beside it.
    """

    message: JsonObject | None
    parts: tuple[Part, ...] = ()
    finish: str | None = None
    reason: JsonValue = None
    usage: Usage = field(default_factory=Usage)
    items: tuple[JsonValue, ...] | None = None
    id: JsonValue = None
    model: JsonValue = None
    error: str | None = None
    missing: tuple[str, ...] = ()
    has_others: bool = False
    counted: JsonObject | None = None
    repairs: tuple[str, ...] = ()


USAGE = ("usage", "usageMetadata", "usage_metadata")
_IDS = ("id", "responseId", "response_id")
_MODELS = ("model", "modelVersion", "model_version")


def answer_of(
    document: Mapping[str, JsonValue],
    output: JsonValue,
    parts: Iterable[Part],
    reason: JsonValue,
    paths: tuple[str, str],
) -> Answer:
    """Return the answer in a document whose output has these parts; it is there if it is a list.
    `paths` are the JSON Pointers to the output and to the finish reason.
    """
    found = tuple(parts)
    called = any(part.kind == "call" and not part.hosted for part in found)
    there = (isinstance(output, list), isinstance(reason, str))
    finish = finish_of(reason, called=called)
    if finish == "length" and found and found[-1].kind == "call" and not found[-1].arguments:
        found = (*found[:-1], replace(found[-1], status=CUT_OFF))
    return Answer(
        chat_message(found) if there[0] else None,
        found,
        finish=finish,
        reason=reason,
        usage=usage_of(first(document, USAGE)),
        items=tuple(listed(output)),
        id=first(document, _IDS),
        model=first(document, _MODELS),
        error=error_in(document),
        missing=tuple(path for path, is_there in zip(paths, there, strict=True) if not is_there),
        counted=counted_in(document),
    )


def counted_in(document: Mapping[str, JsonValue]) -> JsonObject | None:
    """Return the usage in a document as it was written, if it is an object."""
    usage = first(document, USAGE)
    return dict(usage) if isinstance(usage, Mapping) else None


@dataclass(frozen=True, slots=True)
class Request:
    """A request to a model. `messages` are in the shape of chat completions; `tools` are those that
    it offers, or None.
    """

    api: ApiName
    body: JsonObject
    messages: tuple[JsonObject, ...]
    tools: Tools | None = None
    model: str = ""
    streams: bool = False
    wants_usage: bool = True


class Fault(NamedTuple):
    """Why a request is refused, in a sentence; `code` where an API has a word for it."""

    words: str
    code: str | None = None


class Result(NamedTuple):
    """A tool's result in a request: the keys that lead to its `content` in the body. `key` is the
    one under which the content is put, where an API wants an object. `tool` is the tool's name if
    it is known, and `before` the text of the message before it, which names the tool elsewhere.
    `is_new` says that the model has not replied since.
    """

    path: tuple[str | int, ...]
    content: JsonValue
    tool: JsonValue = None
    before: str = ""
    is_new: bool = True
    key: str | None = None


FragmentKind: TypeAlias = Literal[
    "text",
    "thought",
    "refusal",
    "call",
    "finish",
    "usage",
    "whole",
    "end",
    "error",
    "odd",
    "other",
    "hosted",
]


class Fragment(NamedTuple):
    """What a part of a stream's event adds to the answer.

    "text", "thought" and "refusal" add `text`, under the key `name` of a message if it is given. A
    "call" adds to the call of `index`, and `begins` a new one where the API says so; `id`, `name`
    and `arguments` are as they were written. `key` is what the API itself calls a part by, `place`
    that of a fragment among several. With `is_whole` it is all of the text or call that came in
    pieces. An `is_older` call is in the field that chat completions had before `tool_calls`.

    `type` is that of a call as it was written, and `has_nulls` says that its id or name is null.
    `value` is more of a call ("custom": its arguments are text; "no object": they are the whole
    fragment; `PARTIAL`: pieces with paths; or its status), the counts of a "usage", the message of
    a "whole" answer, the code of what is "odd".
    `text` is the reason of a "finish", and says what an "error" is or why something is "odd". "end"
    is the mark that nothing follows, "other" belongs to another answer beside this one. Behind
    "hosted", fragments of calls of this `index` are none until one begins.
    """

    kind: FragmentKind
    text: str = ""
    index: JsonValue = None
    id: JsonValue = None
    name: JsonValue = None
    arguments: JsonValue = None
    key: str = ""
    place: int | None = None
    begins: bool = False
    is_whole: bool = False
    is_older: bool = False
    value: JsonValue = None
    type: JsonValue = None
    has_nulls: bool = False


def whole_fragments(answer: Answer, document: Mapping[str, JsonValue]) -> Iterator[Fragment]:
    """Yield what the whole answer in a document adds to a stream."""
    if answer.error is not None:
        yield Fragment("error", f"the server reports: {answer.error}")
        return
    yield Fragment("whole", value=answer.message)
    yield from ending(answer, document)


def ending(answer: Answer, document: Mapping[str, JsonValue]) -> Iterator[Fragment]:
    """Yield the finish reason and the usage of an answer."""
    if isinstance(answer.reason, str):
        yield Fragment("finish", answer.reason)
    if isinstance(usage := first(document, USAGE), Mapping):
        yield Fragment("usage", value=usage)


@dataclass(slots=True)
class LivePart:
    """A part of an answer that is being written: the number of parts before it, and of calls; the
    `id` and `name` of a call; and the pieces so far of its text or arguments.
    """

    kind: Literal["text", "thought", "refusal", "call"]
    place: int
    nth: int
    id: JsonValue = None
    name: str | None = None
    texts: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(self.texts)


class Step(NamedTuple):
    """A step of writing an answer: it begins; a part is opened, gets `text` or is closed; it ends
    with all `parts` as a whole `answer`.
    """

    what: Literal["begin", "open", "more", "close", "end"]
    part: LivePart = LivePart("text", 0, 0)
    text: str = ""
    parts: tuple[LivePart, ...] = ()
    answer: Answer = Answer(None)


Kept: TypeAlias = Mapping[str, tuple[JsonObject, ...]]
"""The messages up to each earlier response, by its id."""


def _unwritten(*_: object) -> Any:
    raise TypeError("this API is only read; nothing serves it")


@dataclass(frozen=True, slots=True)
class Api:
    """One API. None of its functions raises, whatever it is given.

    `claims` says whether a message (or an item) of a conversation can only be of this API, and
    `answers` whether a document is a whole answer, or an event of a streamed one. `read_message`
    reads a message (or an item), whose JSON Pointer it is given.

    What serves an API is there for all but Converse. `read_request` gets the messages up to each
    earlier response, too, and returns beside the request what its API would refuse it for.
    `whole_request` returns a body that asks the named model for an answer that is not streamed, and
    `results` the tools' results in a body. `write_reply` and `write_events` write an answer to a
    request, whose number makes its ids, and `write_step` the events of one step of an answer that
    grows. `write_error` takes a message, a status and a code,
    `write_models` and `write_model` take names, `write_count` takes a number of tokens.
    """

    name: ApiName
    claims: Callable[[object], bool]
    answers: Callable[[Mapping[str, JsonValue]], bool]
    read_message: Callable[[object, str], Message]
    read_reply: Callable[[Mapping[str, JsonValue]], Answer]
    fragments: Callable[[Mapping[str, JsonValue]], Iterable[Fragment]]
    read_request: Callable[[JsonObject, Kept], tuple[Request, Sequence[Fault]]] = _unwritten
    whole_request: Callable[[JsonObject, str], JsonObject] = _unwritten
    results: Callable[[JsonObject], list[Result]] = _unwritten
    write_reply: Callable[[Answer, Request, int], JsonObject] = _unwritten
    write_events: Callable[[Answer, Request, int], Iterable[JsonObject]] = _unwritten
    write_step: Callable[[Step, Request, int], Iterable[JsonObject]] = _unwritten
    write_error: Callable[[str, int, str | None], JsonObject] = _unwritten
    write_models: Callable[[Sequence[str]], JsonObject] = _unwritten
    write_model: Callable[[str], JsonObject] = _unwritten
    write_count: Callable[[int], JsonObject] = _unwritten


def chat_message(parts: Sequence[Part]) -> JsonObject:
    """Return the parts of a model's answer as an assistant's message of chat completions.

    Arguments are JSON text there. A part of no known kind is content, as is a medium.
    """
    message: JsonObject = {"role": "assistant", "content": _joined(parts, _SAID) or None}
    for key, kind in (("reasoning_content", "thought"), ("refusal", "refusal")):
        if text := _joined(parts, (kind,)):
            message[key] = text
    calls = [chat_call(part) for part in parts if part.kind == "call" and not part.hosted]
    return message | ({"tool_calls": calls} if calls else {})


_SAID = ("text", "unknown", "media")


def _joined(parts: Sequence[Part], kinds: Sequence[str]) -> str:
    return "".join(part.text for part in parts if part.kind in kinds)


def chat_call(call: Part) -> JsonObject:
    """Return a call as chat completions write it; arguments that are no text become JSON text."""
    arguments = call.arguments
    if not isinstance(arguments, str):
        with suppress(TypeError, ValueError, RecursionError):  # else whoever judges calls says why
            arguments = "" if arguments is None else json.dumps(arguments, ensure_ascii=False)
    function = {"name": call.name, "arguments": arguments}
    why = {"status": call.status, "raw": arguments} if call.status else {}
    return {"id": call.id, "type": "function", "function": function, **why}
