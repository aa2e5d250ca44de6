"""How each kind of function is run with a clock beside it: one wrapper for each kind.

A wrapper is of the kind of its function, gives on what is sent and thrown into it, and lets its
end through, whatever it is. The time of a generator is the time in which it ran itself, from each
resumption to the next yield; one that was never begun is not recorded.

The call is asked for by its module, not as a name of here: a wrapper that is pickled by value
takes the names that it uses with it, and a context variable cannot travel.
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
"""The call that is answered, what the tool was given, when it began by two clocks, its seconds."""


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
        try:  # as `_ended`, written out: a call of it would be a tenth of the time
            if call is not None:
                call.left(taker)
            keep(result, call, args, kwargs, started_at, begun, seconds, returned(result))
        except Exception as error:  # noqa: BLE001 - whatever it is, it is not the tool's
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
                except BaseException as error:  # noqa: BLE001 - the generator decides over it
                    resume = partial(steps.athrow, error)
        except BaseException as error:
            _ended(notes, error, (*start, seconds), _look(notes, error))
            raise
        _ended(notes, None, (*start, seconds), notes.returned)

    return wrapper


def _call(notes: Notes) -> Call | None:
    """The call that a run which begins now answers."""
    call = answering.current_call()
    return call if call is None else call.taken(notes.taker)


def _look(notes: Notes, error: BaseException) -> Look:
    """How the end of a generator is looked at: its consumer may have closed it."""
    return closed if isinstance(error, GeneratorExit) else notes.raised


def _ended(notes: Notes, ending: object, facts: Facts, look: Look) -> None:
    """Tell the recorder of a run; what goes wrong there is logged, and raised to nobody."""
    try:
        if facts[0] is not None:
            facts[0].left(notes.taker)
        notes.keep(ending, *facts, look(ending))
    except Exception as error:  # noqa: BLE001 - whatever it is, it is not the tool's
        notes.failed(error)


class _Timed(Generator[object, object, object]):
    """A generator's steps, with the seconds that they took."""

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
"""Which kind of function is run by which wrapper; any other by `recorded_function`."""
