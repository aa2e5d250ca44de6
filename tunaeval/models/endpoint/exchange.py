"""What passes through the endpoint: a request, read; an answer, before it is written; a turn."""

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
"""In which of OpenAI's APIs a request came: chat completions, or responses."""


class Refused(TunaevalError):  # noqa: N818 - what becomes of a request, not a failure of ours
    """A request that gets an error for an answer, as OpenAI's API writes them."""

    def __init__(self, message: str, *, status: int = 400, code: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.code = code

    def document(self) -> JsonObject:
        """The body of the answer."""
        kind = "server_error" if self.status >= 500 else "invalid_request_error"
        error = {"message": str(self), "type": kind, "param": None, "code": self.code}
        return {"error": error}


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """What an agent asks its model.

    `messages` are in the shape of chat completions, whatever the `api`; `tools` are those that the
    request offers, None where it offers none; `body` is the request as it came. `secrets` are what
    its headers bear, which nobody keeps.

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
        """What tools gave back so far, as texts, in order."""
        said = [one.get("content") for one in self.messages if is_result(one)]
        return tuple(one if isinstance(one, str) else text_of(one) for one in said)


def is_result(message: JsonObject) -> bool:
    """Whether this is what a tool gave back.

    smolagents writes it as a user's message that begins with "Observation:", as ReAct agents do.
    """
    if message.get("role") == "tool":
        return True
    return message.get("role") == "user" and text_of(message.get("content")).startswith(
        "Observation:"
    )


@dataclass(frozen=True, slots=True)
class Answer:
    """What the model says: an assistant's message in the shape of chat completions.

    `items` are the output of the Responses API as an upstream gave it, and `id` its id.
    """

    message: JsonObject
    finish_reason: str
    usage: Usage = field(default_factory=Usage)
    items: tuple[JsonObject, ...] | None = None
    id: str | None = None


@dataclass(frozen=True, slots=True)
class EndpointTurn:
    """One request and what came of it.

    `number` counts from 1. `message` is the model's reply, None where there was an `error`; `calls`
    are those in it, as `tunaeval.parse_message` reads them. `faults` are those that hit this turn.
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
    """Calls in order, which also know the turn that each was made in (`turns`, from 1)."""

    turns: tuple[int, ...]

    @classmethod
    def of(cls, turns: Sequence[EndpointTurn]) -> MadeCalls:
        """All calls of the turns."""
        made = cls(call for turn in turns for call in turn.calls)
        made.turns = tuple(turn.number for turn in turns for _ in turn.calls)
        return made
