"""The events of a stream without the calls by which a model abstains."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from ..abstaining import abstained
from .events import Event, event


class Withheld:
    """Keeps calls of some names out of the events of a stream, which have the numbers of the rest.

    In place of such a call there is markup, and at the first one the diagnosis of the result. A
    call may begin to be reported while those before it wait for the end of their list; its number
    is known when they are, so it waits as well.
    """

    def __init__(self, names: frozenset[str]) -> None:
        self._names = names
        self._out: dict[int, int] = {}
        """Where each call of these names ends, by its number in the text."""
        self._noted = False
        self._begun: dict[int, int] = {}
        """Where each call begins of which something was heard, by its number in the text."""
        self._waiting: list[Event] = []
        self._numbers: dict[int, int] = {}
        """What each call's number is without those, by its number in the text."""

    def passed(self, events: Iterable[Event]) -> list[Event]:
        """What is reported of these events."""
        return [
            reported
            for heard in events
            for found in self._in_turn(heard)
            for reported in self._reported(found)
        ]

    def _in_turn(self, heard: Event) -> Iterator[Event]:
        """The event, and those that waited for it; none where a call before its own is missing."""
        index, begun = heard.index, self._begun
        if heard.kind == "reclassified":
            self._begun = {at: start for at, start in begun.items() if start < heard.span.start}
            self._waiting = []
        if index is not None and index > 0 and not begun.keys() & {index, index - 1}:
            self._waiting.append(heard)
            return
        yield heard
        if index is None:
            return
        begun[index] = heard.span.start
        if heard.kind == "call_dropped":
            del begun[index]
        waiting, self._waiting = self._waiting, []
        for one in waiting:
            yield from self._in_turn(one)

    def _reported(self, found: Event) -> Iterator[Event]:
        index = found.index
        if found.kind == "reclassified":
            self._out = {at: end for at, end in self._out.items() if end <= found.span.start}
            self._noted = self._noted and bool(self._out)
        if index is None:
            yield found
        elif found.name in self._names:
            yield from self._withheld(found, index)
        else:
            if found.kind == "call_started":
                self._out.pop(index, None)
            if found.kind == "call_started" or index not in self._numbers:
                self._numbers[index] = index - sum(one < index for one in self._out)
            yield replace(found, index=self._numbers[index])

    def _withheld(self, found: Event, index: int) -> Iterator[Event]:
        self._out[index] = found.span.end
        if found.kind == "call_dropped":
            del self._out[index]
        elif found.call is not None:
            start, end = found.span
            if start < end:
                yield event("markup", start, end)
            if not self._noted:
                self._noted = True
                yield event("diagnosis", start, end, diagnosis=abstained(found.call))
