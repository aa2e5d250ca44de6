"""How each kind of function is run and timed: one wrapper for each kind.

A wrapper is of the same kind as its function, passes on what is sent or thrown into it, and lets
every result and exception through. The time of a generator is the time in which its own code ran,
from each resumption to the next yield; a generator that was never started is not recorded.

`current_call` is called as an attribute of its module: a wrapper that is pickled by value takes the
names that it uses with it, and a context variable cannot be pickled.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from functools import partial
from time import perf_counter, time
from typing import Any, TypeAlias, cast

from . import answering
from .answering import Call
from .notes import AnyFunction, Args, Kwargs, Look, Notes, closed

Facts: TypeAlias = tuple[Call | None, Args, Kwargs, float, float, float]
"""The call, the tool's args and kwargs, its start by the wall and the monotonic clock, seconds."""


def recorded_function(tool: AnyFunction, notes: Notes) -> AnyFunction:
    taker, returned, raised, keep, failed = notes

    def wrapper(*args: object, **kwargs: object) -> object:
        if (call := answering.current_call()) is not None:
            call = call.taken(taker)
        started_at = time()
        begun = perf_counter()
        try:
            result = tool(*args, **kwargs)
        except BaseException as error:
            seconds = perf_counter() - begun
            _ended(notes, error, (call, args, kwargs, started_at, begun, seconds), raised)
            raise
        seconds = perf_counter() - begun
        try:  # `_ended` inlined: calling it would be a tenth of the time
            if call is not None:
                call.left(taker)
            keep(result, call, args, kwargs, started_at, begun, seconds, returned(result))
        except Exception as error:  # noqa: BLE001 - a failure to record must not fail the tool
            failed(error)
        return result

    return wrapper


def recorded_coroutine(tool: AnyFunction, notes: Notes) -> AnyFunction:
    taker, returned, raised, *_ = notes
    begin = cast("Callable[..., Awaitable[object]]", tool)

    async def wrapper(*args: object, **kwargs: object) -> object:
        if (call := answering.current_call()) is not None:
            call = call.taken(taker)
        started_at = time()
        begun = perf_counter()
        try:
            result = await begin(*args, **kwargs)
        except BaseException as error:
            seconds = perf_counter() - begun
            _ended(notes, error, (call, args, kwargs, started_at, begun, seconds), raised)
            raise
        seconds = perf_counter() - begun
        _ended(notes, result, (call, args, kwargs, started_at, begun, seconds), returned)
        return result

    return wrapper


def recorded_generator(tool: AnyFunction, notes: Notes) -> AnyFunction:
    def wrapper(*args: object, **kwargs: object) -> Generator[object, object, object]:
        start = _call(notes), args, kwargs, time(), perf_counter()
        steps = _Timed()
        try:
            steps.of = cast("Generator[object, object, object]", tool(*args, **kwargs))
            result = yield from steps
        except BaseException as error:
            _ended(notes, error, (*start, steps.seconds), _look(notes, error))
            raise
        _ended(notes, result, (*start, steps.seconds), notes.returned)
        return result

    return wrapper


def recorded_async_generator(tool: AnyFunction, notes: Notes) -> AnyFunction:
    async def wrapper(*args: object, **kwargs: object) -> AsyncGenerator[object, object]:
        start = _call(notes), args, kwargs, time(), perf_counter()
        seconds = 0.0
        try:
            steps = cast("AsyncGenerator[object, object]", tool(*args, **kwargs))
            resume: Callable[[], Awaitable[object]] = steps.__anext__
            while True:
                begun = perf_counter()
                try:
                    item = await resume()
                except StopAsyncIteration:
                    break
                finally:
                    seconds += perf_counter() - begun
                try:
                    resume = partial(steps.asend, (yield item))
                except GeneratorExit:
                    await steps.aclose()
                    raise
                except BaseException as error:  # noqa: BLE001 - the generator decides what to do
                    resume = partial(steps.athrow, error)
        except BaseException as error:
            _ended(notes, error, (*start, seconds), _look(notes, error))
            raise
        _ended(notes, None, (*start, seconds), notes.returned)

    return wrapper


def _call(notes: Notes) -> Call | None:
    """Return the call that a run which begins now answers, or None."""
    call = answering.current_call()
    return call if call is None else call.taken(notes.taker)


def _look(notes: Notes, error: BaseException) -> Look:
    """Return how to inspect the end of a generator, which its consumer may have closed."""
    return closed if isinstance(error, GeneratorExit) else notes.raised


def _ended(notes: Notes, ending: object, facts: Facts, look: Look) -> None:
    """Record the end of a run; a failure to do so is logged, not raised."""
    try:
        if facts[0] is not None:
            facts[0].left(notes.taker)
        notes.keep(ending, *facts, look(ending))
    except Exception as error:  # noqa: BLE001 - a failure to record must not fail the tool
        notes.failed(error)


class _Timed(Generator[object, object, object]):
    """A generator that counts the seconds in which the generator `of` runs."""

    __slots__ = ("of", "seconds")

    of: Generator[object, object, object]

    def __init__(self) -> None:
        self.seconds = 0.0

    def __next__(self) -> object:
        return self._timed(self.of.__next__)

    def send(self, value: object) -> object:
        return self._timed(self.of.send, value)

    def throw(self, *error: Any) -> object:
        return self._timed(self.of.throw, *error)

    def close(self) -> None:
        self._timed(self.of.close)

    def _timed(self, step: Callable[..., object], *given: object) -> object:
        begun = perf_counter()
        try:
            return step(*given)
        finally:
            self.seconds += perf_counter() - begun


KINDS: tuple[tuple[Callable[[object], bool], Callable[[AnyFunction, Notes], AnyFunction]], ...] = (
    (inspect.isasyncgenfunction, recorded_async_generator),
    (inspect.iscoroutinefunction, recorded_coroutine),
    (inspect.isgeneratorfunction, recorded_generator),
)
"""The wrapper for each kind of function; any other kind has `recorded_function`."""
