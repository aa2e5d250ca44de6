"""What tests of the executor share: three kinds of tools, and a time that nobody waits for."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from tunaeval import ToolCall, ToolResult, execute
from tunaeval.tools.executor import Category, ExecutorClock

T = TypeVar("T")
KINDS: dict[str, Category] = {"study": "research", "look": "read-only", "change": "write"}


@dataclass
class Time:
    """A clock that only pauses and tools move."""

    seconds: float = 1000.0
    chance: float = 0.0
    pauses: list[float] = field(default_factory=list)

    async def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.seconds += seconds
        await asyncio.sleep(0)

    @property
    def pace(self) -> ExecutorClock:
        return ExecutorClock(
            lambda: self.seconds, lambda: self.seconds, self.sleep, lambda: self.chance
        )


def run(work: Coroutine[Any, Any, T]) -> T:
    with asyncio.Runner() as runner:
        return runner.run(work)


def execute_all(calls: Iterable[ToolCall], tools: Any, **options: Any) -> list[ToolResult]:
    options.setdefault("pace", Time().pace)
    return run(execute(calls, tools, **options))


def calls_of(*names: str) -> list[ToolCall]:
    return [ToolCall(name, {"index": index}, str(index)) for index, name in enumerate(names)]
