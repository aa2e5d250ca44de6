"""The call that a tool's run answers, in a context variable, if the framework names it.

Each task and each thread has its own context. `asyncio` and the frameworks copy it into the threads
that they start; `threading` and `concurrent.futures` do not, so set the call inside such a thread.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar, Token
from time import perf_counter
from typing import Self


class Call:
    """A context manager: tools that run inside it answer the call with this `id`.

    `asked` is when the call was requested, on the clock of `time.perf_counter`.
    """

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
        """Return the call, or None if a run for this `taker` (a recorder) is answering it already.

        So a tool that another tool calls while it runs does not count as the answer, while a
        second attempt after the first has ended does.
        """
        if id(taker) in self._takers:
            return None
        self._takers.add(id(taker))
        return self

    def left(self, taker: object) -> None:
        """Note that the run that answered the call for this recorder has ended."""
        self._takers.discard(id(taker))


_current: ContextVar[Call | None] = ContextVar("tunaeval_call", default=None)

current_call = _current.get
"""Return the call that the current context answers, or None."""


def call_id(id_: str, *, asked: float | None = None) -> Call:
    """Return a context manager: the wrapped tool that runs inside answers the call with this id.

        with call_id("c1"):
            tool("a.py")

    `asked` is when the call was requested, on the clock of `time.perf_counter`; now by default. The
    run's `queued_seconds` are counted from that moment until the run begins.

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
    """Return `call_id(id_)`, or a context that changes nothing where the framework has no id."""
    return nullcontext() if id_ is None else call_id(id_)
