"""Abstaining by name: a call that only says that no tool is called.

Some models are told to abstain by a call of their own (`no_function`, `out_of_domain`). Such a call
is none: without others beside it the outcome is "no_call", and its detail is "abstained".
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tunaeval.errors import UsageError
from tunaeval.showing import brief
from tunaeval.types import ABSTAINED, Diagnosis, Level, Outcome, ParseResult, Tools, ToolSpec

if TYPE_CHECKING:
    from tunaeval.types.roles import Parser


def names_in(abstain: Collection[object]) -> frozenset[str]:
    """The names, checked. Raises UsageError for a single text, and for what is no name."""
    names = frozenset(name for name in abstain if isinstance(name, str) and name)
    if isinstance(abstain, str) or len(names) != len({*abstain}):
        raise UsageError(f"abstain is {brief(abstain)}; wanted names, as in ('no_function',)")
    return names


@dataclass(slots=True)
class Abstaining:
    """A parser whose calls of some names are no calls."""

    name: str
    parser: Parser
    names: frozenset[str]

    def parse(
        self, text: str, *, tools: Tools | None = None, level: Level = "standard"
    ) -> ParseResult:
        """Read a text, and take out the calls by which it abstains."""
        found = self.parser.parse(text, tools=with_names(tools, self.names), level=level)
        return without_names(found, self.names)


def with_names(tools: Tools | None, names: frozenset[str]) -> Tools | None:
    """The tools and those by which a model abstains, which take any arguments."""
    if tools is None or names <= tools.keys():
        return tools
    more = [ToolSpec(name) for name in sorted(names) if name not in tools]
    return Tools([*tools.values(), *more])


def without_names(result: ParseResult, names: frozenset[str]) -> ParseResult:
    """The result without calls of these names, each of which is a diagnosis.

    A call of a tool beside them counts; without one the text has made no call.
    """
    said = [call for call in result.calls if call.name in names]
    if not said:
        return result
    calls = tuple(call for call in result.calls if call.name not in names)
    spans = {call.span for call in said if call.span is not None}
    kept = tuple(note for note in result.diagnoses if note.span not in spans or note.span is None)
    notes = tuple(
        Diagnosis(ABSTAINED, f"{call.name!r} says that no tool is called", call.span)
        for call in said
    )
    outcome: Outcome = "calls" if calls else "no_call"
    return replace(result, calls=calls, diagnoses=(*kept, *notes), outcome=outcome)
