"""The events of a stream without the calls by which a model abstains."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from ..abstaining import abstained
from .events import Event, event


class Withheld:
    """Keeps calls of some names out of the events of a stream, which have the numbers of the rest.

    In place of such a call there is markup, and at the first one the diagnosis of the result.
    """

    def __init__(self, names: frozenset[str]) -> None:
        self._names = names
        self._out: dict[int, int] = {}
        """Where each call of these names ends, by its number in the text."""
        self._noted = False

    def passed(self, events: Iterable[Event]) -> list[Event]:
        """What is reported of these events."""
        return [reported for found in events for reported in self._reported(found)]

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
            before = sum(one < index for one in self._out)
            yield replace(found, index=index - before)

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
