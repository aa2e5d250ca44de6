"""What the doctor's parts exchange: a request, what came back, a judgement, a finding."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from tunaeval.types.calls import JsonObject, JsonValue

Verdict: TypeAlias = Literal["pass", "server", "model", "not tested", "note"]
"""Whose fault it is: nobody's, the server's, the model's; why nobody can say; or a remark."""

Mode: TypeAlias = Literal["whole", "streamed"]

GROUPS = (
    "reach",
    "prompt",
    "calls",
    "parallel",
    "stream",
    "choice",
    "schema",
    "values",
    "history",
    "reasoning",
    "limits",
    "names",
    "stability",
)
"""The groups of checks, in the order of a report."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A call that the model is asked to make: a name and arguments."""

    name: str
    arguments: JsonObject


@dataclass(frozen=True, slots=True, eq=False)
class Ask:
    """One chat completion to be asked for; `name` says which it is, in reports.

    `calls` are the calls that its prompt asks for. `more` are fields of the request beside model,
    messages, tools, max_tokens and temperature. `quick` says whether `--quick` asks it, too.
    """

    name: str
    messages: tuple[JsonObject, ...]
    tools: tuple[JsonObject, ...] = ()
    calls: tuple[Wanted, ...] = ()
    max_tokens: int = 256
    streamed: bool = False
    more: Mapping[str, JsonValue] = field(default_factory=dict)
    quick: bool = False

    @property
    def mode(self) -> Mode:
        return "streamed" if self.streamed else "whole"

    @property
    def key(self) -> str:
        """What answers are kept under."""
        return f"{self.name}, {self.mode}"


@dataclass(frozen=True, slots=True)
class ApiCall:
    """A call as the API gave it; nothing in it is certain, for a server may give anything."""

    name: JsonValue
    arguments: JsonValue
    id: JsonValue = None
    type: JsonValue = None

    @property
    def object(self) -> JsonObject | None:
        """The arguments, if they are a JSON object written as a string."""
        if not isinstance(self.arguments, str):
            return None
        try:
            found = json.loads(self.arguments)
        except (ValueError, RecursionError):
            return None
        return found if isinstance(found, dict) else None

    def as_json(self) -> JsonObject:
        given = self.arguments
        arguments = given if given is None or isinstance(given, str) else json.dumps(given)
        return {"name": self.name, "arguments": arguments, "id": self.id}


@dataclass(frozen=True, slots=True)
class Streamed:
    """What a streamed body was made of: how many frames, and what is wrong with them, by code."""

    frames: int = 0
    faults: tuple[tuple[str, str], ...] = ()
    usage: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back for an ask.

    `failure` says why nothing can be read (no connection, a body that is no JSON, a deadline);
    `error` is what the server said was wrong; `raw` the text of the model before any parser, None
    where the server does not give it.
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
    token_ids: tuple[int, ...] = ()
    """The ids of the raw text's tokens, where a server gives those."""
    prompt: str | None = None
    """The rendered prompt, where a server shows it."""
    streamed: Streamed | None = None
    skipped: bool = False
    """It was never asked: the deadline, the budget, or a server that is gone."""
    uncounted: bool = False
    """The server refuses to be asked for the usage of a stream."""

    @property
    def ok(self) -> bool:
        """Whether there is a message to be judged."""
        return self.failure is None and self.error is None and self.status == 200

    @property
    def text(self) -> str:
        """The content, where it is a text."""
        return self.content if isinstance(self.content, str) else ""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a rule says of one answer or of several. `fault` names the remedy, if there is one."""

    verdict: Verdict
    why: str
    fault: str = ""
    answer: Answer | None = None
    read: JsonObject | None = None
    """What tunaeval reads in the raw text: calls, spans, diagnoses."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One row of the report."""

    check: str
    group: str
    verdict: Verdict
    evidence: JsonObject
    remedy: str

    def as_json(self) -> JsonObject:
        return {
            "check": self.check,
            "group": self.group,
            "verdict": self.verdict,
            "evidence": self.evidence,
            "remedy": self.remedy,
        }


@dataclass(frozen=True, slots=True)
class Server:
    """Which server it is; `kind` is "unknown" where no sign was found."""

    kind: str = "unknown"
    version: str | None = None
    parser: str | None = None
    sign: str = "no sign of a known server was found"
    models: tuple[str, ...] = ()
    answers_all: bool = False
    """It answers 200 on paths that do not exist."""
    facts: Mapping[str, JsonValue] = field(default_factory=dict)
