"""How each API is spoken: its paths and errors, its list of models, and who reads and writes it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from tunaeval.models.clients.server import KEY_VARIABLES
from tunaeval.types.calls import JsonObject

from . import apis, parts
from .apis import Answer, Api, ModelRequest, Refused

History: TypeAlias = Mapping[str, tuple[JsonObject, ...]]
"""The messages up to each earlier response, by its id."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """One API. `field` of a request has its messages, and `inner` of a message its parts, if it has
    any; `result` leads from a part to a tool's result in it. `path`, `header` and `variables` say
    how an upstream is asked, and where its key is.
    """

    read: Callable[[JsonObject, History], ModelRequest]
    whole: Callable[[Answer, ModelRequest, int], JsonObject]
    events: Callable[[Answer, ModelRequest, int], Iterator[JsonObject]]
    answer_of: Callable[[JsonObject], Answer]
    error: Callable[[Refused], JsonObject]
    field: str
    result: tuple[str, ...]
    path: str
    inner: str | None = None
    item_of: Callable[[JsonObject], JsonObject] = dict
    """Returns a part with the fields of an item of the Responses API."""
    names_events: bool = True
    """Whether each event of a stream is named by its type, beside its data."""
    end: tuple[bytes, ...] = ()
    """What a stream ends with."""
    header: str = "authorization"
    scheme: str = "Bearer "
    variables: tuple[str, ...] = KEY_VARIABLES


DIALECTS: dict[Api, Dialect] = {
    "chat": Dialect(
        lambda body, _: apis.read_chat(body), apis.completion, apis.chunks, apis.chat_answer,
        Refused.document, field="messages", result=("content",), path="chat/completions",
        names_events=False, end=(b"data: [DONE]\n\n",),
    ),
    "responses": Dialect(
        apis.read_responses, apis.response, apis.events, apis.answer_of,
        Refused.document, field="input", result=("output",), path="responses",
    ),
    "messages": Dialect(
        parts.read_anthropic, parts.anthropic_whole, parts.anthropic_events,
        parts.anthropic_answer, parts.anthropic_error,
        field="messages", inner="content", item_of=parts.block_item, result=("content",),
        path="messages", header="x-api-key", scheme="",
        variables=("TUNAEVAL_API_KEY", "ANTHROPIC_API_KEY"),
    ),
    "gemini": Dialect(
        parts.read_gemini, parts.gemini_whole, parts.gemini_events,
        parts.gemini_answer, parts.gemini_error, names_events=False,
        field="contents", inner="parts", item_of=parts.part_item,
        result=("functionResponse", "response"),
        path="models/{model}:generateContent", header="x-goog-api-key", scheme="",
        variables=("TUNAEVAL_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"),
    ),
}  # fmt: skip

SENT_ON = (*{one.header for one in DIALECTS.values()}, "anthropic-version", "anthropic-beta")
"""The headers of an agent that an upstream gets, too."""


@dataclass(frozen=True, slots=True)
class Route:
    """What a path is for. `model` is the one that it names; `streams` is None where the body says
    whether the answer is streamed.
    """

    api: Api
    does: Literal["answer", "count", "list", "show", "exist"]
    model: str | None = None
    streams: bool | None = None

    @property
    def methods(self) -> tuple[str, ...]:
        return ("POST",) if self.does in {"answer", "count"} else ("GET", "HEAD")


_ROUTES = {
    "/v1/chat/completions": Route("chat", "answer"),
    "/v1/responses": Route("responses", "answer"),
    "/v1/messages": Route("messages", "answer"),
    "/v1/messages/count_tokens": Route("messages", "count"),
    "": Route("chat", "exist"),
}
_VERBS: dict[str, tuple[Literal["answer", "count"], bool]] = {
    "generateContent": ("answer", False),
    "streamGenerateContent": ("answer", True),
    "countTokens": ("count", False),
}
PATHS = (
    "POST /v1/chat/completions, /v1/responses, /v1/messages, /v1/messages/count_tokens and "
    f"/v1beta/models/MODEL:{', :'.join(_VERBS)}, and GET /v1/models and /v1beta/models"
)


def path_of(path: str) -> str:
    """Return the path without its query. Some agents add /v1 to a base URL that ends in it."""
    path = path.partition("?")[0].rstrip("/")
    return path.removeprefix("/v1") if path.startswith("/v1/v1") else path


def route_of(path: str, headers: Mapping[str, str]) -> Route | None:
    """Return what the path is for, or None if it is unknown."""
    if path in _ROUTES:
        return _ROUTES[path]
    if path.endswith("/models"):
        return Route(speaker(path, headers), "list")
    _, found, rest = path.rpartition("/models/")
    model, _, verb = rest.rpartition(":")
    if model and verb in _VERBS:
        does, streams = _VERBS[verb]
        return Route("gemini", does, model, streams)
    return Route(speaker(path, headers), "show", rest) if found and rest else None


def speaker(path: str, headers: Mapping[str, str]) -> Api:
    """Return the API that a client speaks, whatever the path: its errors have to be that API's."""
    if path.startswith("/v1/messages") or "anthropic-version" in headers:
        return "messages"
    is_google = path.startswith("/v1beta") or path.endswith(tuple(f":{verb}" for verb in _VERBS))
    return "gemini" if is_google or "x-goog-api-key" in headers else "chat"


def models(api: Api, names: Sequence[str]) -> JsonObject:
    """Return the list of models as the API writes it."""
    every = [model(api, name) for name in names]
    match api:
        case "gemini":
            return {"models": every}
        case "messages":
            return {"data": every, "has_more": False, "first_id": names[0], "last_id": names[-1]}
    return {"object": "list", "data": every}


def model(api: Api, name: str) -> JsonObject:
    """Return what the API says about one model."""
    match api:
        case "gemini":
            limits = {"inputTokenLimit": 1 << 20, "outputTokenLimit": 1 << 16}
            methods = {"supportedGenerationMethods": ["generateContent", "countTokens"]}
            return {"name": f"models/{name}", "displayName": name, **limits, **methods}
        case "messages":
            created = {"created_at": "1970-01-01T00:00:00Z"}
            return {"type": "model", "id": name, "display_name": name, **created}
    return {"id": name, "object": "model", "created": apis.CREATED, "owned_by": "tunaeval"}


def tokens(api: Api, count: int) -> JsonObject:
    """Return a count of tokens as the API writes it."""
    return {"totalTokens": count} if api == "gemini" else {"input_tokens": count}
