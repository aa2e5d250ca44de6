"""Find forbidden calls: in the transcript, written as text, or only seen as executions.

If arguments are forbidden and a call's arguments cannot be read, the call may be forbidden, and
counts as such. A name such as "functions.bash" means `bash` if only that is known.
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
    """A forbidden call: its tool, a remark on how it is known if needed, and its messages."""

    tool: str
    how: str = ""
    evidence: tuple[int, ...] = ()


def forbidden_calls(history: History) -> list[Forbidden]:
    """Return the calls that the settings forbid, by name or by arguments."""
    return list(_found(history)) if history.settings.forbid else []


def forbidden_words(found: list[Forbidden]) -> str:
    """Return a sentence on which forbidden tools were called, how often, and how that is known."""
    names = ", ".join(map(repr, dict.fromkeys(one.tool for one in found)))
    more = [f"{len(found)} calls"] if len(found) > 1 else []
    more += dict.fromkeys(one.how for one in found if one.how)
    return f"forbidden: {names} was called" + (f" ({'; '.join(more)})" if more else "")


def _found(history: History) -> Iterator[Forbidden]:
    listed: set[str] = set()
    for made in made_of(history):
        if made.how == SEEN:
            continue  # these are among all executions, which follow
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
    """Return a remark on a forbidden call, which may be empty, or None if it is not forbidden."""
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
    """Whether a call has the forbidden tool and arguments, possibly with further arguments."""
    expect = Expectation.model_construct(calls=(forbidden,), match="superset")
    made = ToolCall(name, call.arguments)
    return match(expect, [made], profile="tunacode", tools=history.settings.tools).ok


def _known_as(name: str, history: History) -> str:
    """Return a tool's name without the prefix "functions." if only the rest is a known name."""
    settings = history.settings
    forbidden = {one if isinstance(one, str) else one.name for one in settings.forbid}
    known: Container[str] = forbidden if settings.tools is None else settings.tools
    bare = name.removeprefix(_PREFIX)
    return bare if bare in known and name not in known else name
