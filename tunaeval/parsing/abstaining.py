"""Calls by names that mean no call, as prompts of some models ask for.

Granite abstains with `{"name": "no_function", "arguments": {}}`, Raven with `out_of_domain(...)`.
A text is read as if such a name were a tool's, and calls of it are taken out of the result, so that
no reader has to know of them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from tunaeval.types import (
    ABSTAINED,
    REMARKS,
    Diagnosis,
    Level,
    Outcome,
    ParseResult,
    Span,
    ToolCall,
    Tools,
)
from tunaeval.types.roles import Parser
from tunaeval.wanted import wanted_items

_REMARKS = REMARKS | {"later-turn"}


def abstaining_names(abstain: Collection[str]) -> tuple[str, ...]:
    """The names, each once. Raises `UsageError` for one string, and for what is no string."""
    return tuple(dict.fromkeys(wanted_items(abstain, "abstain", str, "names of calls")))


def names_of(abstain: Collection[str]) -> frozenset[str]:
    """The same as a set."""
    return abstain if type(abstain) is frozenset else frozenset(abstaining_names(abstain))


def abstaining(parser: Parser, abstain: Collection[str]) -> Parser:
    """The parser, whose results have no calls of these names."""
    names = names_of(abstain)
    return _Abstaining(parser, names) if names else parser


class _Abstaining(Parser):
    def __init__(self, parser: Parser, names: frozenset[str]) -> None:
        self.name = parser.name
        self._parser = parser
        self._names = names

    def parse(
        self, text: str, *, tools: Tools | None = None, level: Level = "standard"
    ) -> ParseResult:
        tools = widened(tools, self._names)
        return without_abstaining(self._parser.parse(text, tools=tools, level=level), self._names)


def levels_without(
    abstain: Collection[str],
    read: Callable[[Tools | None], dict[Level, ParseResult]],
    tools: Tools | None,
) -> dict[Level, ParseResult]:
    """What `read` gives for the tools, without calls of these names; what is shared stays so."""
    names = names_of(abstain)
    levels = read(widened(tools, names))
    found = {id(result): without_abstaining(result, names) for result in levels.values()}
    return {level: found[id(result)] for level, result in levels.items()}


def widened(tools: Tools | None, names: frozenset[str]) -> Tools | None:
    """The tools that a text is read with; without tools any name may be called."""
    return tools if tools is None or names <= tools.keys() else tools.widened(names)


def without_abstaining(
    result: ParseResult, names: frozenset[str], *, attempted: bool | None = None
) -> ParseResult:
    """The result without calls of these names.

    If no other call is left and nothing else was attempted, the outcome is "no_call". `attempted`
    says whether it was; if it is None, the diagnoses do.
    """
    out = [call for call in result.calls if call.name in names]
    if not out:
        return result
    calls = tuple(call for call in result.calls if call.name not in names)
    left = _apart(result.diagnoses, out)
    outcome: Outcome = "calls" if calls else "no_call"
    if attempted is None:
        attempted = any(note.code not in _REMARKS for note in left)
    if attempted and not calls:
        outcome = "truncated" if result.truncated else "malformed"
    return replace(result, calls=calls, diagnoses=(*left, abstained(out[0])), outcome=outcome)


def _apart(diagnoses: Sequence[Diagnosis], calls: Sequence[ToolCall]) -> list[Diagnosis]:
    """The diagnoses outside of the calls, which are in the order of the text."""
    spans = [call.span for call in calls if call.span]
    starts = [span.start for span in spans]

    def is_outside(span: Span | None) -> bool:
        at = bisect_left(starts, span.end) - 1 if span else -1
        return span is None or at < 0 or spans[at].end <= span.start

    return [note for note in diagnoses if is_outside(note.span)]


def abstained(call: ToolCall) -> Diagnosis:
    """The diagnosis of a call that is none."""
    return Diagnosis(ABSTAINED, f"a call of {call.name!r:.60} means no call", call.span)
