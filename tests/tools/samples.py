"""Tools to be wrapped, and the one execution that a recorder has of them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

from tunaeval.tools.recorder import Recorder
from tunaeval.types.messages import ToolExecution


def search(pattern: str, directory: str = ".", *more: str, limit: int = 3, **options: str) -> str:
    """Search for things."""
    return f"{pattern} {directory} {more} {limit} {options}"


def read(path: str, lines: int = 10) -> str:
    """Read a file."""
    return f"{path}:{lines}"


async def fetch(url: str) -> str:
    """Fetch a page."""
    await asyncio.sleep(0)
    return url


def count(to: int) -> Iterator[int]:
    """Count."""
    yield from range(to)


class BrokenError(Exception):
    """A tool's own."""


def fail(path: str) -> str:
    raise BrokenError(path)


def only(recorder: Recorder) -> ToolExecution:
    (execution,) = recorder.executions
    return execution


def made(ending: tuple[str, Any], seen: list[object]) -> Callable[..., object]:
    """A tool that notes how it was called and ends as it is told."""

    def tool(*args: object, **kwargs: object) -> object:
        seen.append((args, kwargs))
        if ending[0] == "raise":
            raise ending[1]
        return ending[1]

    return tool
