"""The protocols of the parts that can be replaced by plug-ins; no base class is needed.

A plug-in is a value or a callable object of one of these shapes, named by an entry point.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

if TYPE_CHECKING:
    # These are needed only as types; a parse loads neither pydantic nor the modules for agents.
    from collections.abc import Iterable
    from pathlib import Path

    from .calls import Tools
    from .exchange import AgentRun, AgentTask, Reply, Request
    from .history import History
    from .messages import ToolExecution
    from .parsing import Level, ParseResult
    from .runs import Report, Suite

AnyTool: TypeAlias = Any
"""A function, a coroutine function, or a framework's tool object."""


@runtime_checkable
class Parser(Protocol):
    """Reads calls from text (group `tunaeval.parsers`). Never raises on model text."""

    name: str

    def parse(
        self, text: str, *, tools: Tools | None = None, level: Level = "standard"
    ) -> ParseResult: ...


@runtime_checkable
class Adapter(Protocol):
    """Reads transcripts of a shape that tunaeval does not know (group `tunaeval.adapters`).

    `reads` says whether a document (the JSON of a file, or the list of its lines) has the shape.
    `read` yields its transcripts: each a `Conversation`, or messages in any known shape.
    """

    name: str

    def reads(self, document: object) -> bool: ...

    def read(self, document: object) -> Iterable[object]: ...


@runtime_checkable
class Scorer(Protocol):
    """A scoring category (group `tunaeval.scorers`); a function of a history is one, too.

    `score` may be a coroutine function. It returns True or False, a number from 0 to 1, a
    `CategoryScore`, or None if the category does not apply.
    """

    name: str
    weight: float

    def score(self, history: History) -> Any: ...


@runtime_checkable
class Recorder(Protocol):
    """Receives the executions that a wrapped tool reports."""

    def record(self, execution: ToolExecution) -> None: ...


@runtime_checkable
class ToolWrapper(Protocol):
    """Wraps the tools of one framework (group `tunaeval.wrappers`); functions need none.

    `fits` says whether a tool is one of the framework's. `wrap` returns a copy that behaves the
    same, and reports each run to the recorder: `tunaeval.record_runs` wraps the function that the
    tool runs. A method `runs(tool)` may return the callables in which a recorder is found, so that
    a tool that is recorded already is not wrapped again.
    """

    name: str

    def fits(self, tool: AnyTool) -> bool: ...

    def wrap(self, tool: AnyTool, recorder: Recorder) -> AnyTool: ...


@runtime_checkable
class Client(Protocol):
    """A connection to a model (group `tunaeval.clients`).

    `complete` asks the model. It raises `TransportFailure` if this request failed,
    `ClientSetupError` if no request can succeed. An attribute `details` may have data for
    `run.json` (model, digests), and `heading` a text that must precede every score.
    """

    @property
    def name(self) -> str: ...

    async def complete(self, request: Request) -> Reply: ...

    async def close(self) -> None: ...


@runtime_checkable
class Agent(Protocol):
    """A client that is a whole agent: it works on tasks of many turns by itself, with its own
    tools, in the directory that it is given.
    """

    name: str

    async def work(self, task: AgentTask) -> AgentRun: ...

    async def close(self) -> None: ...


@runtime_checkable
class Harness(Protocol):
    """Runs a suite with a client and a parser, and returns the report.

    The group `tunaeval.harnesses` has what makes one: a class or a function. It is called with
    those of `options`, `out`, `resume`, `retry_failures`, `take_over`, `environment`, `on_result`
    and `budget` that its parameters name. If it does not name `out`, tunaeval stores the report
    that `run` returns, so that a process that is killed before that has lost it.
    """

    async def run(self, suite: Suite, client: Client, parser: Parser) -> Report: ...


@runtime_checkable
class Writer(Protocol):
    """Writes a report to a file (group `tunaeval.writers`)."""

    name: str

    def write(self, report: Report, path: Path) -> None: ...
