"""The parts that can be exchanged, as protocols: nobody has to subclass anything.

A plug-in is a value or a callable object of one of these shapes, named in an entry point.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

if TYPE_CHECKING:
    # The roles only name them: a parse loads neither pydantic nor what an agent needs.
    from pathlib import Path

    from .calls import Tools
    from .conversations import Checked
    from .exchange import AgentRun, AgentTask, Reply, Request
    from .messages import Message, ToolExecution
    from .parsing import Level, ParseResult
    from .runs import CategoryScore, Report, Suite

AnyTool: TypeAlias = Any
"""A function, a coroutine function, or a framework's tool object."""


@dataclass(frozen=True, slots=True)
class Transcript:
    """What an agent did for one task: the question, the messages from its start, and the runs.

    `checked` is what a check of the outcome came to, None where there was none. `failure` is what
    the record says of an error that ended the run itself. `written` are messages that have no
    structured call and whose text contains a call, or an attempt at one: the index of each, and its
    text as it was parsed; empty where nobody has looked.
    """

    query: str
    messages: tuple[Message, ...]
    executions: tuple[ToolExecution, ...] = ()
    checked: Checked | None = None
    failure: str | None = None
    written: tuple[tuple[int, ParseResult], ...] = ()


@runtime_checkable
class Parser(Protocol):
    """Reads calls out of text (group `tunaeval.parsers`). Never raises on model text."""

    name: str

    def parse(
        self, text: str, *, tools: Tools | None = None, level: Level = "standard"
    ) -> ParseResult: ...


@runtime_checkable
class Scorer(Protocol):
    """One scoring category (group `tunaeval.scorers`)."""

    name: str
    weight: float

    async def score(self, transcript: Transcript) -> CategoryScore: ...


@runtime_checkable
class Recorder(Protocol):
    """Takes executions in; what a wrapper writes to."""

    def record(self, execution: ToolExecution) -> None: ...


@runtime_checkable
class ToolWrapper(Protocol):
    """Makes a copy of a tool that behaves the same and is recorded."""

    def wrap(self, tool: AnyTool, recorder: Recorder) -> AnyTool: ...


@runtime_checkable
class Client(Protocol):
    """Asks a model (group `tunaeval.clients`).

    `complete` raises `TransportFailure` when this request failed and `ClientSetupError` when no
    request can succeed. What is worth keeping in `run.json` (model, digests) may be in an
    attribute `details`, and words that must head every score in `heading`.
    """

    @property
    def name(self) -> str: ...

    async def complete(self, request: Request) -> Reply: ...

    async def close(self) -> None: ...


@runtime_checkable
class Agent(Protocol):
    """A client that is a whole agent: it works on tasks of many turns by itself, with tools of its
    own, in the directory that it is given.
    """

    name: str

    async def work(self, task: AgentTask) -> AgentRun: ...

    async def close(self) -> None: ...


@runtime_checkable
class Harness(Protocol):
    """Runs a suite."""

    async def run(self, suite: Suite, client: Client, parser: Parser) -> Report: ...


@runtime_checkable
class Writer(Protocol):
    """Writes a report to a file (group `tunaeval.writers`)."""

    name: str

    def write(self, report: Report, path: Path) -> None: ...
