"""Calls by names that mean no call, as prompts of some models ask for.

Granite abstains with `{"name": "no_function", "arguments": {}}`, Raven with `out_of_domain(...)`.
A text is read as if such a name were a tool's, and calls of it are taken out of the result, or of
the events of a stream, so that no reader has to know of them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

from tunaeval.types.calls import Span, ToolCall, Tools
from tunaeval.types.parsing import ABSTAINED, REMARKS, Diagnosis, ParseResult, outcome_of
from tunaeval.types.wanted import wanted_items

from .collect import Event, event

_REMARKS = REMARKS | {"later-turn"}
_NO_NAMES: frozenset[str] = frozenset()


def abstaining_names(abstain: Collection[str]) -> tuple[str, ...]:
    """Return the names, each once.

    Raises `UsageError` for one string, and for what is no string.
    """
    return tuple(dict.fromkeys(wanted_items(abstain, "abstain", str, "names of calls")))


def names_of(abstain: Collection[str]) -> frozenset[str]:
    """Return the names as a set, after the same checks."""
    if type(abstain) is tuple and not abstain:  # as most callers have it
        return _NO_NAMES
    return abstain if type(abstain) is frozenset else frozenset(abstaining_names(abstain))


def widened(tools: Tools | None, names: frozenset[str]) -> Tools | None:
    """Return the tools that a text is read with; without tools any name may be called."""
    if tools is None or not names or names <= tools.keys():
        return tools
    return tools.widened(names)


def without_abstaining(
    result: ParseResult, names: frozenset[str], *, attempted: bool | None = None
) -> ParseResult:
    """Return the result without calls of these names.

    If no other call is left and nothing else was attempted, the outcome is "no_call". `attempted`
    says whether it was; if it is None, the diagnoses do.
    """
    out = [call for call in result.calls if call.name in names] if names else []
    if not out:
        return result
    calls = tuple(call for call in result.calls if call.name not in names)
    spans = [call.span for call in out if call.span]  # in the order of the text
    starts = [span.start for span in spans]

    def is_outside(span: Span | None) -> bool:
        at = bisect_left(starts, span.end) - 1 if span else -1
        return span is None or at < 0 or spans[at].end <= span.start

    left = [note for note in result.diagnoses if is_outside(note.span)]
    if attempted is None:
        attempted = any(note.code not in _REMARKS for note in left)
    outcome = outcome_of(calls, attempted=attempted, cut=attempted and result.truncated)
    return replace(result, calls=calls, diagnoses=(*left, _abstained(out[0])), outcome=outcome)


def _abstained(call: ToolCall) -> Diagnosis:
    return Diagnosis(ABSTAINED, f"a call of {call.name!r:.60} means no call", call.span)


class Withheld:
    """Takes calls of some names out of the events of a stream, and numbers the others anew.

    Each such call becomes markup, and the first one also reports the diagnosis that the result
    has. A call's new number depends on the calls before it, so its events wait until those are
    decided. The keys of all tables are the numbers that calls have in the text.
    """

    def __init__(self, names: frozenset[str]) -> None:
        self._names = names
        self._out: dict[int, int] = {}
        """Where each call of these names ends."""
        self._noted = False
        self._begun: dict[int, int] = {}
        """Where each call begins of which there was an event."""
        self._waiting: list[Event] = []
        self._numbers: dict[int, int] = {}
        """The number of each other call among those that are reported."""

    def passed(self, events: Iterable[Event]) -> list[Event]:
        """Return what is reported of these events."""
        return [
            reported
            for arrived in events
            for found in self._in_turn(arrived)
            for reported in self._reported(found)
        ]

    def _in_turn(self, found: Event) -> Iterator[Event]:
        """Yield the event and those that waited for it; none if a call before it is missing."""
        index, begun = found.index, self._begun
        if found.kind == "reclassified":
            self._begun = {at: start for at, start in begun.items() if start < found.span.start}
            self._waiting = []
        if index is not None and index > 0 and not begun.keys() & {index, index - 1}:
            self._waiting.append(found)
            return
        yield found
        if index is None:
            return
        begun[index] = found.span.start
        if found.kind == "call_dropped":
            del begun[index]
        waiting, self._waiting = self._waiting, []
        for one in waiting:
            yield from self._in_turn(one)

    def _reported(self, found: Event) -> Iterator[Event]:
        index, (start, end) = found.index, found.span
        if found.kind == "reclassified":
            self._out = {at: stop for at, stop in self._out.items() if stop <= start}
            self._noted = self._noted and bool(self._out)
        if index is None:
            yield found
        elif found.name in self._names:
            self._out[index] = end
            if found.kind == "call_dropped":
                del self._out[index]
            elif found.call is not None:
                if start < end:
                    yield event("markup", start, end)
                if not self._noted:
                    self._noted = True
                    yield event("diagnosis", start, end, diagnosis=_abstained(found.call))
        else:
            if found.kind == "call_started":
                self._out.pop(index, None)
            if found.kind == "call_started" or index not in self._numbers:
                self._numbers[index] = index - sum(one < index for one in self._out)
            yield replace(found, index=self._numbers[index])
