"""Which call a tool's run answers, when the host says so: a value in the context of the run.

A context belongs to a task, and to a thread: `asyncio` and the frameworks pass it on to the
threads that they start, `threading` and `concurrent.futures` do not, so there it is said inside.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar, Token
from time import perf_counter
from typing import Self


class Call:
    """A call that is being answered, from `with` to its end; `asked` is of `time.perf_counter`."""

    __slots__ = ("_takers", "_token", "asked", "id")

    def __init__(self, id_: str, asked: float) -> None:
        self.id = id_
        self.asked = asked
        self._takers: set[int] = set()
        self._token: Token[Call | None] | None = None

    def __enter__(self) -> Self:
        self._token = _current.set(self)
        return self

    def __exit__(self, *_: object) -> None:
        if self._token is not None:
            _current.reset(self._token)
            self._token = None

    def taken(self, taker: object) -> Call | None:
        """The call, if no run is answering it for this recorder already.

        So the tools that a tool calls while it runs are not taken for the call's answer, while a
        second attempt after the first is.
        """
        if id(taker) in self._takers:
            return None
        self._takers.add(id(taker))
        return self

    def left(self, taker: object) -> None:
        """The run that answered it for this recorder has ended."""
        self._takers.discard(id(taker))


_current: ContextVar[Call | None] = ContextVar("tunaeval_call", default=None)

current_call = _current.get
"""The call that is being answered here, or None."""


def call_id(id_: str, *, asked: float | None = None) -> Call:
    """Say which call is answered by the wrapped tool that runs inside.

        with call_id("c1"):
            tool("a.py")

    `asked` is when the call was asked for, as `time.perf_counter` gave it (now, where it is not
    given): what lies between that moment and the run's beginning is the run's `queued_seconds`.

    Examples:
        >>> recorder = tunaeval.Recorder()
        >>> size = tunaeval.wrap_tool(len, recorder)
        >>> with tunaeval.call_id("c1"):
        ...     _ = size("abc")
        ...
        >>> recorder.by_call["c1"][0].tool
        'len'
    """
    return Call(id_, perf_counter() if asked is None else asked)


def call_of(id_: str | None) -> AbstractContextManager[object]:
    """`call_id` for a framework, which may have none to tell: then the call stays what it was."""
    return nullcontext() if id_ is None else call_id(id_)
