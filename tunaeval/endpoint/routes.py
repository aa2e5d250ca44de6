"""What the endpoint's paths are for, and how an upstream of each API is asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from tunaeval.clients.server import KEY_VARIABLES
from tunaeval.wire.asking import ASKED
from tunaeval.wire.values import ApiName


class Upstream(NamedTuple):
    """The path of an API at an upstream, and where the upstream's key is."""

    path: str
    header: str = "authorization"
    scheme: str = "Bearer "
    variables: tuple[str, ...] = KEY_VARIABLES


UPSTREAMS: dict[ApiName, Upstream] = {
    "chat": Upstream(ASKED["chat"].path),
    "responses": Upstream(ASKED["responses"].path),
    "messages": Upstream(
        ASKED["messages"].path, "x-api-key", "", ("TUNAEVAL_API_KEY", "ANTHROPIC_API_KEY")
    ),
    "gemini": Upstream(
        "models/{model}:generateContent", "x-goog-api-key", "",
        ("TUNAEVAL_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"),
    ),
}  # fmt: skip

SENT_ON = (*{one.header for one in UPSTREAMS.values()}, "anthropic-version", "anthropic-beta")
"""The headers of an agent that an upstream gets, too."""


@dataclass(frozen=True, slots=True)
class Route:
    """What a path is for. `model` is the one that it names; `streams` is None where the body says
    whether the answer is streamed.
    """

    api: ApiName
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


def speaker(path: str, headers: Mapping[str, str]) -> ApiName:
    """Return the API that a client speaks, whatever the path: its errors have to be that API's."""
    if path.startswith("/v1/messages") or "anthropic-version" in headers:
        return "messages"
    is_google = path.startswith("/v1beta") or path.endswith(tuple(f":{verb}" for verb in _VERBS))
    return "gemini" if is_google or "x-goog-api-key" in headers else "chat"
