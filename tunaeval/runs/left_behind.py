"""Blocking work in a thread that may be abandoned without keeping the loop or process alive.

`asyncio.to_thread` is not suited to work that may never end: the loop waits for its threads when it
closes, and so one tool that hangs would hang the whole run.
"""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import wraps
from typing import ParamSpec, TypeVar

from tunaeval.types.roles import AnyTool

P = ParamSpec("P")
T = TypeVar("T")


async def beside(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Do the work in a thread of its own and wait for it; a cancelled wait abandons the thread."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()
    context = contextvars.copy_context()

    def settle(value: T | None, error: BaseException | None) -> None:
        if done.done():
            return
        if error is None:
            done.set_result(value)  # type: ignore[arg-type] # there is a value where no error is
        else:
            done.set_exception(error if isinstance(error, Exception) else _Stopped(error))

    def run() -> None:
        value, failed = None, None
        try:
            value = context.run(work, *args, **kwargs)
        except BaseException as error:  # noqa: BLE001 - given on to whoever waits
            failed = RuntimeError(repr(error)) if isinstance(error, StopIteration) else error
        with suppress(RuntimeError):  # the loop that waited has been closed
            loop.call_soon_threadsafe(settle, value, failed)

    threading.Thread(target=run, daemon=True).start()
    try:
        return await done
    except _Stopped as stopped:
        raise stopped.error from None


class _Stopped(Exception):  # noqa: N818 - wraps what a future may not carry
    def __init__(self, error: BaseException) -> None:
        super().__init__(error)
        self.error = error


def leaving(
    tools: Mapping[str, AnyTool] | Iterable[AnyTool],
) -> dict[str, AnyTool] | list[AnyTool]:
    """Return the tools, with blocking functions wrapped into coroutines that can be abandoned."""
    if isinstance(tools, Mapping):
        return {name: _leaving(tool) for name, tool in tools.items()}
    return [_leaving(tool) for tool in tools]


def _leaving(tool: AnyTool) -> AnyTool:
    if not inspect.isroutine(tool) or inspect.iscoroutinefunction(tool):
        return tool

    @wraps(tool)
    async def left(*args: object, **kwargs: object) -> object:
        found = await beside(tool, *args, **kwargs)
        return await found if inspect.isawaitable(found) else found

    return left
