"""What a wrapper reports to a recorder: little at once, the rest when the execution is read.

When a run ends, its result is inspected only so far that it need not be kept: a short text is kept
and judged later; a result that the built-in classifiers cannot judge is dropped.
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
"""How a run went, a short text from which that is judged later, or None if nothing shows it."""
Look: TypeAlias = Callable[[object], Seen]
UNBOUND = "*args"
"""The argument that holds positional values for which the signature has no names."""

_SHORT = 2000
"""Characters of the longest text that is kept for later; a longer one is judged at once."""


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
    signature = None if arguments else _signature(tool)
    keep = _keeping(recorder, _maker(name, judge, signature))
    return Notes(
        taker=recorder.taker if isinstance(recorder, Recorder) else recorder,
        returned=_glance if classifiers is None else judge,
        raised=cast("Look", partial(raised, classifiers=classifiers or ())),
        keep=keep if arguments is None else _with_arguments(arguments, keep),
        failed=partial(_report, name),
    )


def closed(ending: object) -> Seen:
    """Return the verdict on a generator that its consumer closed early."""
    del ending
    return CLOSED


def _glance(result: Any) -> Seen:
    """Return the verdict on a result, a short text to judge later, or None."""
    kind = type(result)
    if kind in SILENT or (kind is dict and declares_nothing(result)):
        return None
    return result if kind is str and len(result) <= _SHORT else returned(result)


def _keeping(recorder: roles.Recorder, make: Callable[..., ToolExecution]) -> Callable[..., None]:
    """Return the function that records facts: lazily, or at once where `record` is overridden."""
    if isinstance(recorder, Recorder) and type(recorder).record is Recorder.record:
        return partial(recorder.keep, make)

    def at_once(_: object, *facts: object) -> None:
        recorder.record(make(*facts))

    return at_once


def _with_arguments(arguments: Arguments, keep: Callable[..., None]) -> Callable[..., None]:
    """Return a `keep` that stores the extracted arguments instead of the call's own."""

    def given(ending: object, call: object, args: Args, kwargs: Kwargs, *facts: object) -> None:
        keep(ending, call, (), arguments(args, kwargs), *facts)

    return given


def _maker(
    name: str, judge: Callable[[object], Success], signature: inspect.Signature | None
) -> Callable[..., ToolExecution]:
    """Return the function that makes an execution from facts, when the execution is read."""

    def execution(  # noqa: PLR0917 - the facts, in the order in which wrappers pass them
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
