"""Which calls are forbidden: those of the transcript, those written as text, and those that ran.

Where arguments are forbidden and those of a call cannot be read, it may be such a call, and counts
as one. A name such as "functions.bash" is that of `bash`, where only that is known.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import NamedTuple

from tunaeval.matching.calls import match
from tunaeval.types.calls import ToolCall
from tunaeval.types.runs import Expectation, ExpectedCall

from .history import History
from .made import SEEN, made_of

_PREFIX = "functions."
_UNREADABLE = "its arguments cannot be read, so it may be"


class Forbidden(NamedTuple):
    """A forbidden call: its tool, how it is known where that has to be said, and where it is."""

    tool: str
    how: str = ""
    evidence: tuple[int, ...] = ()


def forbidden_calls(history: History) -> list[Forbidden]:
    """The calls that the settings forbid, by name or by what they are called with."""
    return list(_found(history)) if history.settings.forbid else []


def forbidden_words(found: list[Forbidden]) -> str:
    """Which forbidden tools were called, how often, and how that is known."""
    names = ", ".join(map(repr, dict.fromkeys(one.tool for one in found)))
    more = [f"{len(found)} calls"] if len(found) > 1 else []
    more += dict.fromkeys(one.how for one in found if one.how)
    return f"forbidden: {names} was called" + (f" ({'; '.join(more)})" if more else "")


def _found(history: History) -> Iterator[Forbidden]:
    listed: set[str] = set()
    for made in made_of(history):
        if made.how == SEEN:
            continue  # is among all executions
        call, is_lost = made.call, made.run is not None and made.run.invalid is not None
        how = _how(call, history, is_lost=is_lost)
        if how is not None:
            listed.add(_known_as(call.name, history))
            yield Forbidden(_known_as(call.name, history), how or made.how, made.evidence)
    for execution in history.transcript.executions:
        name = _known_as(execution.tool, history)
        call = ToolCall(execution.tool, execution.arguments)
        if name not in listed and _how(call, history, is_lost=False) is not None:
            yield Forbidden(name, SEEN)


def _how(call: ToolCall, history: History, *, is_lost: bool) -> str | None:
    """What has to be said of a call that is forbidden; None for one that is not."""
    name = _known_as(call.name, history)
    for one in history.settings.forbid:
        if isinstance(one, str):
            if name == one:
                return ""
        elif is_lost and one.name == name and one.arguments:
            return _UNREADABLE
        elif _is_like(name, call, one, history):
            return ""
    return None


def _is_like(name: str, call: ToolCall, forbidden: ExpectedCall, history: History) -> bool:
    """Whether a call is of a tool and arguments that are forbidden; further arguments may be
    beside them.
    """
    expect = Expectation.model_construct(calls=(forbidden,), match="superset")
    made = ToolCall(name, call.arguments)
    return match(expect, [made], profile="tunacode", tools=history.settings.tools).ok


def _known_as(name: str, history: History) -> str:
    """A tool's name without the prefix that models write before it, where only that is known."""
    settings = history.settings
    forbidden = {one if isinstance(one, str) else one.name for one in settings.forbid}
    known: Container[str] = forbidden if settings.tools is None else settings.tools
    bare = name.removeprefix(_PREFIX)
    return bare if bare in known and name not in known else name
