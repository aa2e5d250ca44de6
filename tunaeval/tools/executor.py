"""Running calls: first the research tools at once, then all other reading tools, then the writers.

This is the order of the TunaCode agent: tools of the category "research", then of "read-only", run
in one parallel batch each; tools of the category "write", or of none, run one after another, in the
order of the calls. Results are always in the order of the calls.

A tool that fails gives a result whose `ok` is false. A cancellation, or what a tool raises to stop
everything (`UserAbortError`, Ctrl-C, an exit), stops all running tools and is raised.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from random import random
from time import perf_counter, time
from typing import TYPE_CHECKING, Literal, TypeAlias

import orjson

from tunaeval.types import roles
from tunaeval.types.calls import JsonObject, ToolCall
from tunaeval.types.messages import ToolExecution
from tunaeval.types.wanted import refusal, wanted_count, wanted_items, wanted_name

from .backoff import Backoff

if TYPE_CHECKING:
    # Only for types: an executor imports it, with pydantic, when it is made.
    from .runnables import Runnable

Category: TypeAlias = Literal["research", "read-only", "write"]

CATEGORIES: tuple[Category, ...] = ("research", "read-only", "write")
"""The categories, in the order in which they run."""

TUNACODE_CATEGORIES: Mapping[str, Category] = {
    "research_codebase": "research",
    **dict.fromkeys(
        ("discover", "glob", "grep", "list_dir", "react", "read_file", "web_fetch"), "read-only"
    ),
    **dict.fromkeys(("bash", "hashline_edit", "update_file", "write_file"), "write"),
}
"""The categories of the TunaCode agent's tools, for both of its generations."""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result of a call: the `value` that the tool returned, or an `error`.

    `ok` and `reason` are judged like those of a `ToolExecution`, with two more reasons for calls
    that were not run: "unknown-tool" and "invalid-arguments". `executions` has one item for each
    attempt, and `exception` is what the last attempt raised.

    Examples:
        >>> import asyncio
        >>> def size(text: str) -> int:
        ...     return len(text)
        ...
        >>> calls = [tunaeval.ToolCall("size", {"text": "abc"})]
        >>> result = asyncio.run(tunaeval.execute(calls, [size]))[0]
        >>> result.ok, result.value
        (True, 3)
    """

    call: ToolCall
    ok: bool
    reason: str
    value: object = None
    error: str | None = None
    executions: tuple[ToolExecution, ...] = ()
    exception: Exception | None = None

    @property
    def attempts(self) -> int:
        """How many times the tool was run."""
        return len(self.executions)

    def as_openai(self) -> JsonObject:
        """Return the message for the model, in the shape of OpenAI's chat completions API."""
        failed = self.exception is not None or not self.executions
        content = f"Error: {self.error}" if failed else _as_text(self.value)
        return {"role": "tool", "tool_call_id": self.call.id, "content": content}


def _as_text(value: object) -> str:
    if isinstance(value, str):
        return value
    try:
        return orjson.dumps(value, default=str, option=orjson.OPT_NON_STR_KEYS).decode()
    except TypeError:  # integers beyond 64 bits, lone surrogates, reference cycles
        return repr(value)


@dataclass(frozen=True, slots=True)
class Pace:
    """The clocks and the randomness of an executor; tests replace them.

    `clock` is monotonic, in seconds; `now` returns seconds since the epoch; `sleep` is
    `asyncio.sleep` by default; `chance` returns a number in [0, 1].
    """

    clock: Callable[[], float] = perf_counter
    now: Callable[[], float] = time
    sleep: Callable[[float], Awaitable[None]] | None = None
    chance: Callable[[], float] = random


@dataclass(frozen=True, slots=True)
class Executor:
    """A set of tools that runs calls, as often as needed.

    `tools` are functions, coroutine functions (functions run in threads), or tools of LangChain,
    pydantic-ai and tinyagent, in a list or by name. At most `max_parallel` run at the same time (by
    default one per processor). `recorder` receives each attempt of every tool that does not record
    itself. Raises ToolsError for a tool that cannot be run, UsageError for other wrong arguments.

    Examples:
        >>> import asyncio
        >>> def size(text: str) -> int:
        ...     return len(text)
        ...
        >>> executor = tunaeval.Executor([size])
        >>> asyncio.run(executor.execute([tunaeval.ToolCall("size", {"text": "abc"})]))[0].value
        3
    """

    tools: Mapping[str, roles.AnyTool] | Iterable[roles.AnyTool]
    categories: Mapping[str, Category] = field(default_factory=lambda: TUNACODE_CATEGORIES)
    backoff: Backoff = field(default_factory=Backoff)
    max_parallel: int | None = None
    recorder: roles.Recorder | None = None
    pace: Pace = field(default_factory=Pace)
    runnables: Mapping[str, Runnable] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Check the options and prepare the tools."""
        from .runnables import runnables_of  # noqa: PLC0415 - imports pydantic, which only running tools needs

        if not isinstance(self.categories, Mapping):
            raise refusal("categories", self.categories, "a category for each tool's name")
        for category in self.categories.values():
            wanted_name(category, "category of tools", CATEGORIES)
        if self.max_parallel is not None:
            wanted_count(self.max_parallel, "max_parallel")
        object.__setattr__(self, "runnables", runnables_of(self.tools, self.recorder))

    async def execute(self, calls: Iterable[ToolCall]) -> list[ToolResult]:
        """Run `calls` and return their results in the order of the calls."""
        from .attempts import run  # noqa: PLC0415 - imports asyncio and tenacity

        return await run(self, wanted_items(calls, "calls", ToolCall, "tool calls"))


async def execute(
    calls: Iterable[ToolCall],
    tools: Mapping[str, roles.AnyTool] | Iterable[roles.AnyTool],
    *,
    categories: Mapping[str, Category] = TUNACODE_CATEGORIES,
    backoff: Backoff | None = None,
    max_parallel: int | None = None,
    recorder: roles.Recorder | None = None,
    pace: Pace | None = None,
) -> list[ToolResult]:
    """Run `calls` once and return their results in the order of the calls.

    The options are those of an `Executor`, which is better kept if there are many runs.

    Examples:
        >>> import asyncio
        >>> def size(text: str) -> int:
        ...     return len(text)
        ...
        >>> calls = [tunaeval.ToolCall("size", {"text": "abc"}), tunaeval.ToolCall("rm", {})]
        >>> results = asyncio.run(tunaeval.execute(calls, [size]))
        >>> [(result.ok, result.reason) for result in results]
        [(True, 'assumed'), (False, 'unknown-tool')]
    """
    executor = Executor(
        tools, categories, backoff or Backoff(), max_parallel, recorder, pace or Pace()
    )
    return await executor.execute(calls)


def planned(calls: Sequence[ToolCall], categories: Mapping[str, Category]) -> list[list[int]]:
    """Return the batches: lists of the indices of calls that run at once."""
    by_category: dict[Category, list[int]] = {category: [] for category in CATEGORIES}
    for index, call in enumerate(calls):
        by_category[categories.get(call.name, "write")].append(index)
    writes = [[index] for index in by_category.pop("write")]
    return [*filter(None, by_category.values()), *writes]
