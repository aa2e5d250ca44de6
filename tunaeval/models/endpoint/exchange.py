"""What passes through the endpoint: a request that was read, an answer to be written, a turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from tunaeval.errors import TunaevalError
from tunaeval.types.calls import JsonObject, ToolCall, Tools
from tunaeval.types.exchange import text_of
from tunaeval.types.faults import Fault
from tunaeval.types.messages import Usage

Api: TypeAlias = Literal["chat", "responses"]
"""The one of OpenAI's APIs that a request uses: chat completions, or responses."""


class Refused(TunaevalError):  # noqa: N818 - the request is refused; the endpoint has not failed
    """A request that is answered with an error, written as OpenAI's API writes them."""

    def __init__(self, message: str, *, status: int = 400, code: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.code = code

    def document(self) -> JsonObject:
        """Return the body of the error response."""
        kind = "server_error" if self.status >= 500 else "invalid_request_error"
        error = {"message": str(self), "type": kind, "param": None, "code": self.code}
        return {"error": error}


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """A request of an agent to its model.

    `body` is the request as it came. `messages` are in the shape of chat completions for either
    `api`; `tools` are those that the request offers, or None. `secrets` are the secrets in its
    headers, so that they can be kept out of records.

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
    are the output and the id that an upstream gave in the Responses API.
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
    `tunaeval.parse_message`. `faults` are those that occurred in this turn.
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


class MadeCalls(tuple[ToolCall, ...]):  # noqa: SLOT001 - a tuple of any length has no slots
    """A tuple of calls that has the turn (from 1) of each in `turns`."""

    turns: tuple[int, ...]

    @classmethod
    def of(cls, turns: Sequence[EndpointTurn]) -> MadeCalls:
        """Return all calls of the turns."""
        made = cls(call for turn in turns for call in turn.calls)
        made.turns = tuple(turn.number for turn in turns for _ in turn.calls)
        return made
