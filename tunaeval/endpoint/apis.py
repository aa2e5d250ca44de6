"""What passes through the endpoint: requests, the errors that answer some of them, and turns."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields

from tunaeval.errors import TunaevalError
from tunaeval.files.keys import covered, of_environment
from tunaeval.tools.success import Success, returned
from tunaeval.types.calls import JsonObject, ToolCall
from tunaeval.types.exchange import text_of
from tunaeval.types.faults import Fault
from tunaeval.types.messages import Usage
from tunaeval.wire.chat import is_result
from tunaeval.wire.requests import tool_names
from tunaeval.wire.values import Api, Kept, Request


class Refused(TunaevalError):  # noqa: N818 - the request is refused; the endpoint has not failed
    """A request that is answered with an error."""

    def __init__(
        self,
        message: str,
        *,
        status: int = 400,
        code: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status, self.code, self.headers = status, code, headers or {}


@dataclass(frozen=True, slots=True)
class ModelRequest(Request):
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

    secrets: frozenset[str] = field(default=frozenset(), repr=False, compare=False)

    @property
    def results(self) -> tuple[str, ...]:
        """The results of tools so far, as texts, in order."""
        found = [one.get("content") for one in self.messages if is_result(one)]
        return tuple(one if isinstance(one, str) else text_of(one) for one in found)

    def __repr__(self) -> str:
        return _repr(self, self.secrets)


def accepted(api: Api, body: JsonObject, kept: Kept) -> ModelRequest:
    """Return the request of a body. Raise Refused if its API would refuse it, too."""
    request, faults = api.read_request(body, kept)
    for words, code in faults:
        raise Refused(words, code=code)
    return ModelRequest(**{one.name: getattr(request, one.name) for one in fields(request)})


def _repr(thing: ModelRequest | EndpointTurn, secrets: frozenset[str]) -> str:
    """Return the repr of a dataclass without the secrets, or those of the environment."""
    shown = ((one.name, getattr(thing, one.name)) for one in fields(thing) if one.repr)
    words = ", ".join(f"{name}={value!r}" for name, value in shown)
    return covered(f"{type(thing).__name__}({words})", secrets | of_environment())


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
        names = {name for body in requests for name in tool_names(body.get("tools"))}
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
    results = [one for one in new if is_result(one)]
    unnamed = [one for one in results if not one.get("tool_call_id")]
    named = _results_of(call.get("id"), new) if isinstance(call, dict) else []
    return named[:1] or unnamed[place : place + 1]


def _outcome(result: JsonObject) -> Success:
    words = text_of(result.get("content"))
    return Success(False, "is-error", words) if result.get("is_error") else returned(words)


def estimated_tokens(request: ModelRequest) -> int:
    """Return the tokens of a prompt as characters / 4, as there is no model to count them."""
    prompt = json.dumps([request.messages, request.body.get("tools")], default=str)
    return len(prompt) // 4 + 1
