"""How a model is asked over each API that has one address for all models."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from tunaeval.tools.specs import to_tools
from tunaeval.types.calls import JsonObject, ToolSpec

from .values import ApiName


class Asking(NamedTuple):
    """How an API is asked: its path below the base URL, its headers, and the names of its fields
    for the messages and for the limit of tokens. `tool` writes a tool.

    `event` is the field that every event of a stream has, with its class. `has_objects`: arguments
    are objects, and not JSON text.
    """

    path: str
    tool: Callable[[ToolSpec], JsonObject]
    event: tuple[str, type]
    messages: str = "messages"
    limit: str = "max_tokens"
    headers: Mapping[str, str] = MappingProxyType({})
    has_objects: bool = False


ASKED: Mapping[ApiName, Asking] = {
    "chat": Asking("chat/completions", ToolSpec.as_openai, ("choices", list)),
    "responses": Asking(
        "responses", ToolSpec.as_responses, ("type", str), "input", "max_output_tokens"
    ),
    "messages": Asking(
        "messages", ToolSpec.as_anthropic, ("type", str), has_objects=True,
        headers={"anthropic-version": "2023-06-01"},
    ),
}  # fmt: skip

_LIMITS = ("max_tokens", "max_completion_tokens")
_OF_CHAT = ("messages", "tools", *_LIMITS)


def worded(payload: JsonObject, api: ApiName) -> JsonObject:
    """Return a request of chat completions as another API has it."""
    if api == "chat":
        return payload
    own = ASKED[api]
    found = {key: value for key, value in payload.items() if key not in _OF_CHAT}
    found[own.limit] = next((payload[key] for key in _LIMITS if key in payload), None)
    tools = [own.tool(tool) for tool in to_tools(payload.get("tools") or []).values()]
    return {**found, own.messages: payload["messages"], "tools": tools}
