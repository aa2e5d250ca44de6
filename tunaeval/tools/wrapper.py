"""How a tool is wrapped: as a copy that behaves the same, and each of whose runs is recorded.

There is one wrapper for each kind of function, and it is of the same kind: it returns the same
object, raises the same exception, a cancellation too, and passes on what is sent or thrown into it.
The time of a generator is the time in which its own code ran, from each resumption to the next
yield; a generator that was never started is not recorded. If recording fails, that is logged
(`tunaeval.tools`) and does not affect the caller.

When a run ends, its result is judged at once so that it need not be kept. Only a short text is
kept, and judged when the execution is read. The arguments are kept as they were passed: a tool gets
the caller's own lists and objects, as it would unwrapped, and the record has copies of them.

`current_call` is called as an attribute of its module: a wrapper that is pickled by value takes the
names that it uses with it, and a context variable cannot be pickled.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Iterable, Iterator
from contextlib import suppress
from functools import partial, update_wrapper
from time import perf_counter, time
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any, NamedTuple, TypeAlias, TypeVar, cast

from tunaeval.errors import UsageError
from tunaeval.types import roles
from tunaeval.types.calls import JsonObject
from tunaeval.types.copies import FLAT, copied
from tunaeval.types.messages import ToolExecution

from . import answering
from .answering import Call
from .recorder import Recorder
from .success import (
    ASSUMED,
    AWAITABLE,
    CLOSED,
    SILENT,
    Success,
    declares_nothing,
    raised_in_wrapper,
    returned,
)

AnyFunction: TypeAlias = Callable[..., object]
Args: TypeAlias = tuple[object, ...]
Kwargs: TypeAlias = dict[str, object]
Arguments: TypeAlias = Callable[[Args, Kwargs], JsonObject]
Seen: TypeAlias = Success | str | None
"""How a run went, a short text from which that is judged later, or None if nothing shows it."""
Look: TypeAlias = Callable[[object], Seen]
Facts: TypeAlias = tuple[Call | None, Args, Kwargs, float, float, float]
"""The call, the tool's args and kwargs, its start by the wall and the monotonic clock, seconds."""
UNBOUND = "*args"
"""The argument that holds positional values for which the signature has no names."""
Tool = TypeVar("Tool", bound=AnyFunction)
Given = TypeVar("Given")

_SHORT = 2000
"""Characters of the longest text that is kept for later; a longer one is judged at once."""

_RECORDER = "__tunaeval_recorder__"
FUNCTIONS = (FunctionType, MethodType, BuiltinFunctionType)
_WANTED = (
    "functions, coroutine functions, generators of both kinds, bound methods, callable objects, "
    "functools.partial of these, and the tools of LangChain, pydantic-ai, OpenAI Agents, "
    "smolagents and tinyagent"
)


class RecordedTool(partial[object]):
    """A wrapped callable that is no function: a method, a partial, a callable object.

    It is called like the tool and has the tool's attributes. It is a `partial` because `inspect`
    looks through partials to find coroutine functions and generators. It is pickled as its tool and
    its recorder, and wrapped again on arrival.
    """

    __wrapped__: AnyFunction

    def __getattr__(self, name: str) -> Any:
        try:
            tool = vars(self)["__wrapped__"]
        except KeyError:
            raise AttributeError(name) from None
        return getattr(tool, name)

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        return self if instance is None else MethodType(self, instance)

    def __repr__(self) -> str:
        return f"<recorded {self.__wrapped__!r}>"

    def __copy__(self, _memo: object = None) -> RecordedTool:
        return self  # copy.copy of a function returns the function as well

    __deepcopy__ = __copy__

    def __reduce__(self) -> Any:
        return record_runs, (self.__wrapped__, vars(self)[_RECORDER])


def record_runs(
    tool: Tool,
    recorder: roles.Recorder,
    *,
    name: str | None = None,
    arguments: Arguments | None = None,
) -> Tool:
    """Return a copy of a function of any kind, of that kind, whose runs are reported to `recorder`.

    Name, docstring and signature are kept, and `__wrapped__` is the tool. A tool that is recorded
    already is wrapped once more. Raises UsageError for what cannot be wrapped.

    `name` is the name to record instead of the function's, and `arguments(args, kwargs)` returns
    the arguments to record.

    Examples:
        >>> recorder = tunaeval.Recorder()
        >>> size = tunaeval.record_runs(len, recorder, name="size")
        >>> size("abc"), recorder.executions[0].tool
        (3, 'size')
    """
    check_recorder(recorder)
    function = _function_of(tool)
    own_name = getattr(function, "__name__", type(function).__name__)
    kind = tool if isinstance(function, FUNCTIONS) else type(function).__call__
    run = next((run for is_kind, run in KINDS if is_kind(kind)), recorded_function)
    wrapper = run(tool, notes_of(recorder, tool, name or own_name, arguments))
    if isinstance(tool, FunctionType):
        update_wrapper(wrapper, tool)
    else:
        wrapper = _like(RecordedTool(_like(wrapper, tool, function)), tool, function)
    vars(wrapper)[_RECORDER] = recorder
    return cast("Tool", wrapper)


def check_recorder(recorder: object) -> None:
    """Raise UsageError if `recorder` has no method `record`."""
    if not callable(getattr(recorder, "record", None)):
        raise UsageError(
            f"recorder is {recorder!r:.60}, wanted a tunaeval.Recorder or an object with "
            "record(execution)"
        )


def is_recorded(tool: object, recorder: roles.Recorder) -> bool:
    """Whether `recorder` records the runs of `tool` already."""
    return any(
        found.reaches(recorder) if isinstance(found, Recorder) else found is recorder
        for found in recorders_of(tool)
    )


def recorders_of(tool: object) -> Iterator[roles.Recorder]:
    """Yield the recorders of a tool's runs, the outermost first."""
    for layer in layers_of(tool):
        recorder = getattr(layer, _RECORDER, None)
        if recorder is not None:
            yield recorder


def _like(wrapper: AnyFunction, tool: AnyFunction, function: AnyFunction) -> AnyFunction:
    """Return the wrapper with the name, docstring and signature of the function in the tool."""
    update_wrapper(wrapper, function, updated=())
    vars(wrapper)["__wrapped__"] = tool
    return wrapper


def _function_of(tool: object) -> AnyFunction:
    """Return the function inside any partials. Raise UsageError if it cannot be wrapped."""
    function = tool
    while isinstance(function, partial) and not isinstance(function, RecordedTool):
        function = function.func
    if isinstance(function, type | staticmethod | classmethod) or not callable(function):
        instead = f"of a {type(tool).__name__}, wrap the function that it runs"
        if isinstance(function, type):
            instead = "it is a class: make an instance first, and wrap that, or its method"
        raise UsageError(f"{tool!r:.80} cannot be wrapped; supported are {_WANTED}; {instead}")
    return cast("AnyFunction", function)


def layers_of(tool: Any) -> Iterator[Any]:
    """Yield a function, then the functions that it wraps or binds, down to the innermost."""
    seen: set[int] = set()
    layer = tool
    while layer is not None and id(layer) not in seen:
        seen.add(id(layer))
        yield layer
        wrapped = getattr(layer, "__wrapped__", None)
        layer = layer.func if wrapped is None and isinstance(layer, partial) else wrapped


class Notes(NamedTuple):
    """What a wrapper needs in order to record the runs of one tool.

    `taker` identifies the recorder; `returned` and `raised` inspect a result or an exception.
    `keep(ending, call, args, kwargs, started_at, begun, seconds, seen)` records a run; what it
    raises goes to `failed`, which logs it: a recorder's failure must not become the tool's.
    """

    taker: object
    returned: Look
    raised: Look
    keep: Callable[..., None]
    failed: Callable[[Exception], None]


def notes_of(
    recorder: roles.Recorder, tool: AnyFunction, name: str, arguments: Arguments | None
) -> Notes:
    """Return the notes for one tool and one recorder.

    `arguments` extracts the arguments from a framework's call at once, so that the rest of the
    call is not kept; without it the signature names them when the execution is read.
    """
    classifiers = recorder.classifiers if isinstance(recorder, Recorder) else None
    judge = partial(returned, classifiers=classifiers)
    signature = None
    if arguments is None:
        with suppress(TypeError, ValueError):  # some functions written in C have none
            signature = inspect.signature(tool)
    keep = _keeping(recorder, _maker(name, judge, signature))
    return Notes(
        taker=recorder.taker if isinstance(recorder, Recorder) else recorder,
        returned=_glance if classifiers is None else judge,
        raised=cast("Look", partial(raised_in_wrapper, classifiers=classifiers or ())),
        keep=keep if arguments is None else _with_arguments(arguments, keep),
        failed=partial(log_unrecorded, name),
    )


def _glance(result: Any) -> Seen:
    """Return the verdict on a result, a short text to judge later, or None."""
    kind = type(result)
    if kind in SILENT or (kind is dict and declares_nothing(result)):
        return None
    return result if kind is str and len(result) <= _SHORT else returned(result)


def _keeping(recorder: roles.Recorder, make: Callable[..., ToolExecution]) -> Callable[..., None]:
    """Return a function that records a run: lazily, or at once if `record` is overridden."""

    def inline(_: object, *facts: object) -> None:  # calling `keep` would be a tenth of the time
        kept, numbers = plain._state  # noqa: SLF001 - the state of a `Recorder`
        kept.append((next(numbers), make, facts))
        if plain.listener is not None:
            plain.listener(make(*facts))

    def at_once(_: object, *facts: object) -> None:
        recorder.record(make(*facts))

    if type(recorder) is Recorder:
        plain = recorder
        return inline
    if isinstance(recorder, Recorder) and type(recorder).record is Recorder.record:
        return partial(recorder.keep, make)
    return at_once


def _with_arguments(arguments: Arguments, keep: Callable[..., None]) -> Callable[..., None]:
    """Return a `keep` that stores the extracted arguments instead of the call's own."""

    def given(ending: object, call: object, args: Args, kwargs: Kwargs, *facts: object) -> None:
        keep(ending, call, (), arguments(args, kwargs), *facts)

    return given


def _maker(
    name: str, judge: Callable[[object], Success], signature: inspect.Signature | None
) -> Callable[..., ToolExecution]:
    """Return a function that makes a `ToolExecution` from the facts that were recorded of a run."""

    def execution(  # noqa: PLR0917 - the facts, in the order in which wrappers pass them
        call: Call | None, args: Args, kwargs: Kwargs,
        started_at: float, begun: float, seconds: float, seen: Seen,
    ) -> ToolExecution:  # fmt: skip
        success = ASSUMED if seen is None else judge(seen) if isinstance(seen, str) else seen
        return ToolExecution(
            tool=name,
            call_id=None if call is None else call.id,
            arguments=copied(named(signature, args, kwargs)),
            started_at=started_at,
            duration_seconds=None if success is AWAITABLE else seconds,
            ok=success.ok,
            ok_reason=success.reason,
            error=success.error,
            queued_seconds=None if call is None else max(0.0, begun - call.asked),
        )

    return execution


def named(signature: inspect.Signature | None, args: Args, kwargs: Kwargs) -> JsonObject:
    """Return the arguments by name: without defaults, with `**kwargs` beside the others."""
    try:
        bound = signature.bind(*args, **kwargs) if signature else None
    except TypeError:  # the tool was called with wrong arguments, and raised
        bound = None
    if signature is None or bound is None:
        return {**({UNBOUND: list(args)} if args else {}), **kwargs}
    found: JsonObject = {}
    for name, value in bound.arguments.items():
        if signature.parameters[name].kind is inspect.Parameter.VAR_KEYWORD:
            found = {**value, **found}
        else:
            found[name] = value
    return found


def log_unrecorded(name: str, error: Exception) -> None:
    """Log that a run could not be recorded, which must not become a failure of the tool."""
    logging.getLogger("tunaeval.tools").warning(
        "a run of the tool %r could not be recorded: %s: %s", name, type(error).__name__, error
    )


def recorded_function(tool: AnyFunction, notes: Notes) -> AnyFunction:
    taker, returned, raised, keep, failed = notes

    def wrapper(*args: object, **kwargs: object) -> object:
        if (call := answering.current_call()) is not None:
            call = call.taken(taker)
        given, by_name = args, kwargs
        for one in args:  # the check of `_passed` inlined, as `_ended` below
            if type(one) not in FLAT:
                given = _passed(args, args)
                break
        for one in kwargs.values() if kwargs else ():
            if type(one) not in FLAT:
                by_name = _passed(kwargs, kwargs.values())
                break
        started_at = time()
        begun = perf_counter()
        try:
            result = tool(*args, **kwargs)
        except BaseException as error:
            seconds = perf_counter() - begun
            _ended(notes, error, (call, given, by_name, started_at, begun, seconds), raised)
            raise
        seconds = perf_counter() - begun
        try:  # `_ended` inlined: calling it would be a tenth of the time
            if call is not None:
                call.left(taker)
            keep(result, call, given, by_name, started_at, begun, seconds, returned(result))
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
        given, by_name = _passed(args, args), _passed(kwargs, kwargs.values())
        started_at = time()
        begun = perf_counter()
        try:
            result = await begin(*args, **kwargs)
        except BaseException as error:
            seconds = perf_counter() - begun
            _ended(notes, error, (call, given, by_name, started_at, begun, seconds), raised)
            raise
        seconds = perf_counter() - begun
        _ended(notes, result, (call, given, by_name, started_at, begun, seconds), returned)
        return result

    return wrapper


def recorded_generator(tool: AnyFunction, notes: Notes) -> AnyFunction:
    def wrapper(*args: object, **kwargs: object) -> Generator[object, object, object]:
        passed = _passed(args, args), _passed(kwargs, kwargs.values())
        start = _call(notes), *passed, time(), perf_counter()
        seconds = 0.0
        try:
            steps = cast("Generator[object, object, object]", tool(*args, **kwargs))
            resume: Callable[[], object] = steps.__next__
            while True:
                begun = perf_counter()
                try:
                    item = resume()
                except StopIteration as ended:
                    result = ended.value
                    break
                finally:
                    seconds += perf_counter() - begun
                try:
                    resume = partial(steps.send, (yield item))
                except GeneratorExit:
                    begun = perf_counter()
                    steps.close()
                    seconds += perf_counter() - begun
                    raise
                except BaseException as error:  # noqa: BLE001 - the generator decides what to do
                    resume = partial(steps.throw, error)
        except BaseException as error:
            _ended(notes, error, (*start, seconds), _look(notes, error))
            raise
        _ended(notes, result, (*start, seconds), notes.returned)
        return result

    return wrapper


def recorded_async_generator(tool: AnyFunction, notes: Notes) -> AnyFunction:
    async def wrapper(*args: object, **kwargs: object) -> AsyncGenerator[object, object]:
        passed = _passed(args, args), _passed(kwargs, kwargs.values())
        start = _call(notes), *passed, time(), perf_counter()
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


def _passed(given: Given, values: Iterable[object]) -> Given:
    """Return copies of a call's arguments, which the tool may change, if there is any to copy."""
    try:
        for one in values:
            if type(one) not in FLAT:
                return copied(given)
    except Exception:  # noqa: BLE001 - as in `_ended`: of a class that cannot even be looked at
        return given
    return given


def _call(notes: Notes) -> Call | None:
    """Return the call that a run which begins now answers, or None."""
    call = answering.current_call()
    return call if call is None else call.taken(notes.taker)


def _look(notes: Notes, error: BaseException) -> Look:
    """Return how to judge the end of a generator, which its consumer may have closed."""
    return (lambda _ending: CLOSED) if isinstance(error, GeneratorExit) else notes.raised


def _ended(notes: Notes, ending: object, facts: Facts, look: Look) -> None:
    """Record the end of a run; a failure to do so is logged, not raised."""
    try:
        if facts[0] is not None:
            facts[0].left(notes.taker)
        notes.keep(ending, *facts, look(ending))
    except Exception as error:  # noqa: BLE001 - a failure to record must not fail the tool
        notes.failed(error)


KINDS: tuple[tuple[Callable[[object], bool], Callable[[AnyFunction, Notes], AnyFunction]], ...] = (
    (inspect.isasyncgenfunction, recorded_async_generator),
    (inspect.iscoroutinefunction, recorded_coroutine),
    (inspect.isgeneratorfunction, recorded_generator),
)
"""The wrapper for each kind of function; any other kind has `recorded_function`."""
