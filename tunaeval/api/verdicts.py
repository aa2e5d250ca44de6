"""`match` for users: it takes calls in every shape in which people have them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from tunaeval.errors import UsageError
from tunaeval.matching.calls import Verdict, without_calls
from tunaeval.matching.calls import match as match_calls
from tunaeval.parsing.api import parse_message
from tunaeval.showing import brief
from tunaeval.tools.specs import ToolLike, to_tools
from tunaeval.types.calls import ToolCall, Tools
from tunaeval.types.parsing import Diagnosis, ParseResult
from tunaeval.types.runs import Expectation
from tunaeval.types.wanted import refusal

from .replies import wanted_reply

Calls: TypeAlias = ParseResult | ToolCall | Mapping[str, Any] | Sequence[ToolCall | Any] | object
"""A parse's result, calls, a server's `tool_calls` (dictionaries or objects), or a message."""

_WANTED = (
    "wanted a ParseResult, a list of ToolCalls, a list of OpenAI-style tool_calls, or a message "
    "(a dict or an object with content and tool_calls)"
)


def match(
    expect: Expectation | Mapping[str, Any],
    calls: Calls,
    *,
    profile: str | None = None,
    tools: Tools | Iterable[ToolLike] | None = None,
) -> Verdict:
    """Whether `calls` are what `expect` wants; the verdict is true if they are.

        assert tunaeval.match({"calls": [{"name": "ls"}]}, tunaeval.parse(text))
        assert tunaeval.match(expect, response.choices[0].message)

    Args:
        expect: An `Expectation`, or a dictionary that is read as one.
        calls: What `tunaeval.parse` returns, a list of `ToolCall`s, an OpenAI-style message, or its
            `tool_calls` (dictionaries or the SDK's objects). A message is read by `parse_message`;
            one whose call is malformed or cut off does not count as making no call.
        profile: The rules for comparing arguments; "strict" if None. The verdict has its name.
        tools: Their schemas give defaults, number types and arguments that are paths. To match
            often, pass `Tools`, and an `Expectation` that was read once.

    Never raises on what a model wrote. Raises UnknownNameError for an unknown profile,
    ExpectationError for an impossible expectation, ToolsError for tools that cannot be understood,
    and UsageError for what cannot be read as a model's reply, such as another role's message or
    another API's blocks.

    Examples:
        >>> calls = [tunaeval.ToolCall("ls", {"path": "."})]
        >>> bool(tunaeval.match({"calls": [{"name": "ls", "arguments": {"path": "."}}]}, calls))
        True
    """
    known = to_tools(tools)
    read = read_calls(calls, known)
    verdict = match_calls(expect, read.calls, profile=profile, tools=known)
    if not read.calls:
        verdict = without_calls(verdict, read.outcome)
    return verdict if verdict.ok else _explained(verdict, read.diagnoses)


def read_calls(calls: Calls, tools: Tools | None) -> ParseResult:
    """Return the calls as a ParseResult, for `match`, and for texts without structured calls in
    `score`.
    """
    match calls:
        case ParseResult():
            return calls
        case ToolCall():
            return _listed([calls], tools)
        case None | str() | bytes():
            raise UsageError(
                f"calls is {brief(calls)}; {_WANTED}; a text is parsed first: "
                "tunaeval.match(expect, tunaeval.parse(text))"
            )
        case Mapping() if _is_call(calls):
            return parse_message({"tool_calls": [calls]}, tools=tools)
        case Mapping():
            return _message(calls, tools)
        case Iterable() if not (hasattr(calls, "role") or hasattr(calls, "content")):
            return _listed(list(calls), tools)
    return _message(calls, tools)


def _listed(items: list[Any], tools: Tools | None) -> ParseResult:
    """Return a list of `ToolCall`s unchanged; read a server's calls as those of a message."""
    if all(isinstance(item, ToolCall) for item in items):
        for index, item in enumerate(items):
            _check_call(item, f"calls[{index}]")
        return ParseResult(tuple(items), outcome="calls" if items else "no_call")
    for index, item in enumerate(items):
        if isinstance(item, ToolCall) or not (_is_call(item)):
            raise UsageError(f"calls[{index}] is {brief(item)}; {_WANTED}")
    return parse_message({"tool_calls": items}, tools=tools)


def _check_call(call: ToolCall, where: str) -> None:
    """Raise UsageError for a call made in code whose arguments are still JSON text."""
    if not isinstance(call.name, str):
        raise refusal(f"{where}.name", call.name, "the name of a tool")
    if not isinstance(call.arguments, dict):
        raise refusal(f"{where}.arguments", call.arguments, "a dict, as json.loads makes of a text")


def _message(message: object, tools: Tools | None) -> ParseResult:
    fields = message.keys() if isinstance(message, Mapping) else {*dir(message)}
    if not fields & _OF_A_MESSAGE:
        hints = (hint for key, hint in _WAYS.items() if key in fields)
        raise UsageError(f"calls is {brief(message)}; {next(hints, _WANTED)}")
    return parse_message(wanted_reply(message), tools=tools)


_OF_A_MESSAGE = frozenset({"role", "content", "tool_calls", "function_call"})
_WAYS = {
    "choices": 'wanted the message in it: ["choices"][0]["message"], or .choices[0].message',
    "message": 'wanted the message in it: ["message"], or .message',
}
"""Hints on where the message is, by a field of the object that contains it."""


def _is_call(item: object) -> bool:
    """Whether this is one call as OpenAI's API writes it, or only its function."""
    if isinstance(item, Mapping):
        return "role" not in item and bool({"function", "name"} & item.keys())
    return hasattr(item, "function") or (hasattr(item, "name") and hasattr(item, "arguments"))


def _explained(verdict: Verdict, diagnoses: Sequence[Diagnosis]) -> Verdict:
    """Add the first diagnosis to the reason: why what looked like a call was not read as one."""
    if not diagnoses:
        return verdict
    first = diagnoses[0]
    return replace(verdict, reason=f"{verdict.reason} ({first.code}: {first.message})")
