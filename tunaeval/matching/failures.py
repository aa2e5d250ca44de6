"""Failures: why something does not match, as a code, a message and a place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from tunaeval.showing import shown
from tunaeval.types.calls import ToolCall

FAILURES = {
    "missing-call": "an expected call was not made",
    "extra-call": "a call was made that nobody asked for",
    "wrong-order": "a call fits, but is in the wrong place",
    "too-few-calls": "fewer calls than `min_calls`",
    "too-many-calls": "more calls than `max_calls`",
    "unexpected-call": "a call was made where `none` was wanted",
    "forbidden-tool": "a tool was called that `forbid` lists",
    "wrong-tool": "the call is of another tool",
    "invalid-arguments": "the arguments are no JSON object, so none of them is the expected one",
    "missing-argument": "an expected argument was left out",
    "extra-argument": "an argument was given that nobody asked for, and not as its default",
    "wrong-type": "an argument's type is not the schema's (profile `bfcl`)",
    "wrong-value": "an argument's value is not the expected one",
    "checker-crash": "the original checker would have crashed here (profile `bfcl`)",
}
"""Every code of a failure with its meaning."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Why something does not match; `path` is the place, such as `calls[0].arguments.cwd`."""

    code: str
    message: str
    path: str = ""


Miss: TypeAlias = Callable[[], Failure]
"""Returns a failure; a function, because the messages of most failures are never needed."""


def wrong_tool(wanted: str, got: str) -> Failure:
    """Return the failure of a call of another tool."""
    return Failure("wrong-tool", f"wanted {wanted!r}, got {got!r}", "name")


def invalid_arguments(call: ToolCall) -> Failure:
    """Return the failure of a call whose arguments could not be read."""
    return Failure("invalid-arguments", f"{call.name}: {call.invalid}", "arguments")


def extra_argument(name: str, value: object) -> Failure:
    """Return the failure of an argument that was not expected."""
    message = f"nobody asked for {name}={shown(value)}"
    return Failure("extra-argument", message, f"arguments.{name}")
