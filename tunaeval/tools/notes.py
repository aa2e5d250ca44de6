"""What a wrapper tells a recorder of a run: little at once, the rest when it is read.

While a run ends, its result is looked at only so far that nothing of it has to be kept: a short
text is kept and judged later, what the built-in classifiers cannot read is not judged at all.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, TypeAlias, cast

from tunaeval.types import roles
from tunaeval.types.calls import JsonObject
from tunaeval.types.messages import ToolExecution

from .answering import Call
from .recorder import Recorder
from .success import ASSUMED, AWAITABLE, CLOSED, SILENT, Success, declares_nothing, returned
from .waiting import raised

AnyFunction: TypeAlias = Callable[..., object]
Args: TypeAlias = tuple[object, ...]
Kwargs: TypeAlias = dict[str, object]
Arguments: TypeAlias = Callable[[Args, Kwargs], JsonObject]
Seen: TypeAlias = Success | str | None
"""How a run went, a short text that will say, or None for what says nothing."""
Look: TypeAlias = Callable[[object], Seen]
UNBOUND = "*args"
"""The argument that contains positional values which the signature has no names for."""

_SHORT = 2000
"""Characters of a text that is kept until it is judged; a longer one would be a burden."""


class Notes(NamedTuple):
    """What a wrapper needs: who takes the call, how an ending is looked at, and where it is said.

    `keep(ending, call, args, kwargs, started_at, begun, seconds, seen)` may raise what it likes
    and `failed` then logs it (`tunaeval.tools`): a recorder's failure must not become the tool's.
    """

    taker: object
    returned: Look
    raised: Look
    keep: Callable[..., None]
    failed: Callable[[Exception], None]


def notes_of(
    recorder: roles.Recorder, tool: AnyFunction, name: str, arguments: Arguments | None
) -> Notes:
    """The notes on one tool for one recorder.

    `arguments` says at once what a framework's call had for arguments, so that nothing else of it
    is kept; without it the signature says so when the execution is read.
    """
    classifiers = recorder.classifiers if isinstance(recorder, Recorder) else None
    judge = partial(returned, classifiers=classifiers)
    signature = None if arguments else _signature(tool)
    keep = _keeping(recorder, _maker(name, judge, signature))
    return Notes(
        taker=recorder.taker if isinstance(recorder, Recorder) else recorder,
        returned=_glance if classifiers is None else judge,
        raised=cast("Look", partial(raised, classifiers=classifiers or ())),
        keep=keep if arguments is None else _telling(arguments, keep),
        failed=partial(_report, name),
    )


def closed(ending: object) -> Seen:
    """How a generator looks whose consumer needed no more."""
    del ending
    return CLOSED


def _glance(result: Any) -> Seen:
    """Enough of a result to judge it later, or the verdict."""
    kind = type(result)
    if kind in SILENT or (kind is dict and declares_nothing(result)):
        return None
    return result if kind is str and len(result) <= _SHORT else returned(result)


def _keeping(recorder: roles.Recorder, make: Callable[..., ToolExecution]) -> Callable[..., None]:
    """How facts reach a recorder: later where it can wait, else as a finished execution."""
    if isinstance(recorder, Recorder) and type(recorder).record is Recorder.record:
        return partial(recorder.keep, make)

    def at_once(_: object, *facts: object) -> None:
        recorder.record(make(*facts))

    return at_once


def _telling(arguments: Arguments, keep: Callable[..., None]) -> Callable[..., None]:
    """Keeps the arguments in place of what the function was called with."""

    def given(ending: object, call: object, args: Args, kwargs: Kwargs, *facts: object) -> None:
        keep(ending, call, (), arguments(args, kwargs), *facts)

    return given


def _maker(
    name: str, judge: Callable[[object], Success], signature: inspect.Signature | None
) -> Callable[..., ToolExecution]:
    """What makes an execution of facts, when it is read."""

    def execution(  # noqa: PLR0917 - a row of facts, in the order in which wrappers know them
        call: Call | None, args: Args, kwargs: Kwargs,
        started_at: float, begun: float, seconds: float, seen: Seen,
    ) -> ToolExecution:  # fmt: skip
        success = ASSUMED if seen is None else judge(seen) if isinstance(seen, str) else seen
        return ToolExecution(
            tool=name,
            call_id=None if call is None else call.id,
            arguments=named(signature, args, kwargs),
            started_at=started_at,
            duration_seconds=None if success is AWAITABLE else seconds,
            ok=success.ok,
            ok_reason=success.reason,
            error=success.error,
            queued_seconds=None if call is None else max(0.0, begun - call.asked),
        )

    return execution


def named(signature: inspect.Signature | None, args: Args, kwargs: Kwargs) -> JsonObject:
    """The arguments by name, as they were given: no defaults, `**kwargs` beside the others."""
    try:
        bound = signature.bind(*args, **kwargs) if signature else None
    except TypeError:  # the tool itself was called wrongly, and has said so
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


def _signature(tool: AnyFunction) -> inspect.Signature | None:
    try:
        return inspect.signature(tool)
    except (TypeError, ValueError):  # some functions written in C have none
        return None


def _report(name: str, error: Exception) -> None:
    import logging  # noqa: PLC0415 - only where something went wrong

    logging.getLogger("tunaeval.tools").warning(
        "a run of the tool %r could not be recorded: %s: %s", name, type(error).__name__, error
    )
