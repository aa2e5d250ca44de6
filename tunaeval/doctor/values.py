"""The values that the doctor's modules exchange: a request, an answer, a judgement, a finding."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from tunaeval.clients.statuses import meaning
from tunaeval.types.calls import JsonObject, JsonValue
from tunaeval.types.json_text import json_object

Verdict: TypeAlias = Literal["pass", "server", "model", "not tested", "note"]
"""Whose fault it is: nobody's, the server's or the model's; or undecided; or only a remark."""

Mode: TypeAlias = Literal["whole", "streamed"]

Api: TypeAlias = Literal["chat", "responses", "messages"]
"""The API of a request: OpenAI's chat completions or responses, or Anthropic's messages."""

APIS: tuple[Api, ...] = ("responses", "messages")
"""The APIs that are asked, too, where a server has them. Their checks are groups of these names."""


def listed(value: JsonValue) -> list[JsonValue]:
    """Return a value if it is a list, else an empty one."""
    return value if isinstance(value, list) else []


@dataclass(frozen=True, slots=True)
class WantedCall:
    """A call that the model is asked to make."""

    name: str
    arguments: JsonObject

    @property
    def object(self) -> JsonObject:
        return self.arguments


@dataclass(frozen=True, slots=True, eq=False)
class Ask:
    """A request, in the words of chat completions; `name` identifies it in reports.

    `calls` are the calls that its prompt requests. `more` are fields of the request beside model,
    messages, tools, max_tokens and temperature. `quick` says whether `--quick` sends it, too.
    """

    name: str
    messages: tuple[JsonObject, ...]
    tools: tuple[JsonObject, ...] = ()
    calls: tuple[WantedCall, ...] = ()
    max_tokens: int = 256
    streamed: bool = False
    more: Mapping[str, JsonValue] = field(default_factory=dict)
    quick: bool = False
    api: Api = "chat"

    @property
    def mode(self) -> Mode:
        return "streamed" if self.streamed else "whole"

    @property
    def key(self) -> str:
        """The key under which answers to this request are kept."""
        return f"{'' if self.api == 'chat' else f'{self.api}/'}{self.name}, {self.mode}"


@dataclass(frozen=True, slots=True)
class ApiCall:
    """A call as the API returned it; a server may return anything in any field."""

    name: JsonValue
    arguments: JsonValue
    id: JsonValue = None
    type: JsonValue = None

    @property
    def object(self) -> JsonObject | None:
        """The arguments if they are a string containing a JSON object, else None."""
        return json_object(self.arguments) if isinstance(self.arguments, str) else None

    def as_json(self) -> JsonObject:
        given = self.arguments
        arguments = given if given is None or isinstance(given, str) else json.dumps(given)
        return {"name": self.name, "arguments": arguments, "id": self.id}


@dataclass(frozen=True, slots=True)
class ServerAnswer:
    """The answer to a request.

    `failure` says why nothing could be read (no connection, a body that is not JSON, a deadline);
    `error` is what the server reported as wrong; `raw` is the model's text before any parsing, None
    if the server does not reveal it.
    """

    ask: Ask
    status: int | None = None
    failure: str | None = None
    error: str | None = None
    content: JsonValue = None
    reasoning: str = ""
    calls: tuple[ApiCall, ...] = ()
    finish: JsonValue = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    raw: str | None = None
    raw_tokens: int | None = None
    """How many tokens the raw text was put together from, if it was."""
    token_ids: tuple[int, ...] = ()
    """The token ids of the raw text, if the server gives them."""
    prompt: str | None = None
    """The rendered prompt, if the server shows it."""
    stream_faults: tuple[tuple[str, str], ...] = ()
    """What is wrong with the stream: codes and messages."""
    skipped: bool = False
    """The request was never sent: the deadline, the limit of requests, or a server that is gone."""
    tries: int = 1
    """How many times the request was sent: again if the answer was `lost`."""
    uncounted: bool = False
    """The server refuses to report the token counts of a stream."""

    @property
    def ok(self) -> bool:
        """Whether there is a message to judge."""
        return self.failure is None and self.error is None and self.status == 200

    @property
    def lost(self) -> bool:
        """Whether nothing came that says how the server answers this request."""
        return self.failure is not None or meaning(self.status).is_lost

    @property
    def cut(self) -> bool:
        """Whether `max_tokens` ended the answer."""
        return bool(self.finish == "length")

    @property
    def text(self) -> str:
        """The content if it is a string, else the empty string."""
        return self.content if isinstance(self.content, str) else ""


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict of a rule on one or more answers; `fault`, if any, selects the remedy."""

    verdict: Verdict
    why: str
    fault: str = ""
    answer: ServerAnswer | None = None
    read: JsonObject | None = None
    """What tunaeval reads in the raw text: calls, spans, diagnoses."""
    undecided: bool = False
    """Nobody can say whose fault it is that an answer is not what was wanted."""
    others: tuple[Judgement, ...] = ()
    """The other faults of the server that a rule found, each in another mode or of another kind."""

    @property
    def mode(self) -> Mode:
        return self.answer.ask.mode if self.answer else "whole"


@dataclass(frozen=True, slots=True)
class ServerFinding:
    """A check that did not pass, as a row of the report.

    `id` is made of what was asked and the fault (`value-closers/streamed/arguments-broken`), so
    that a fault has the same one in every examination.
    """

    check: str
    group: str
    verdict: Verdict
    evidence: JsonObject
    remedy: str
    id: str = ""


@dataclass(frozen=True, slots=True)
class ServerIdentity:
    """The server that was identified; `kind` is "unknown" if no sign was found."""

    kind: str = "unknown"
    version: str | None = None
    parser: str | None = None
    sign: str = "no sign of a known server was found"
    models: tuple[str, ...] = ()
    answers_all: bool = False
    """It answers 200 even on paths that do not exist."""
    facts: Mapping[str, JsonValue] = field(default_factory=dict)
    answers_as: str | None = None
    """The model that the answers name."""
