"""The results of a run in progress, each in its place, on disk or in memory.

A result on disk costs eight bytes of memory, for the byte at which it begins in `results.jsonl`;
each access reads it again.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence

from tunaeval.reports.summary import Tally, summarise
from tunaeval.types.runs import ScenarioResult, Summary

from .directory import RunDirectory
from .results import KeptResults

_NOWHERE = -1


class Journal:
    """The results of one run; a place is a number, and the repeats of a scenario are neighbours.

    `files` is where results are kept, None for nowhere. `begun` has the byte offsets of results
    from before; a place in `again` counts as open, and has its old result until there is a new one.
    `doubled` is the number of earlier results that were there more than once.
    """

    def __init__(
        self,
        places: int,
        files: RunDirectory | None = None,
        *,
        begun: Mapping[int, int] | None = None,
        again: frozenset[int] = frozenset(),
        repeats: int = 1,
        doubled: int = 0,
    ) -> None:
        self._files = files
        self._done = bytearray(places)
        self._offsets = array("q", [_NOWHERE]) * places
        self._in_memory: dict[int, ScenarioResult] = {}
        self._repeats, self._doubled = repeats, doubled
        self._tally = None if begun else Tally(repeats)  # it has not counted earlier results
        for place, offset in (begun or {}).items():
            self._offsets[place] = offset
            self._done[place] = place not in again

    def put(self, place: int, result: ScenarioResult) -> None:
        """Keep a result; after this returns, the result survives the end of the process."""
        is_first = place not in self._in_memory and self._offsets[place] == _NOWHERE
        if self._files is None:
            self._in_memory[place] = result
        else:
            self._offsets[place] = self._files.append(result)
        self._done[place] = True
        if not is_first:
            self._tally = None  # it has counted the old result
        elif self._tally is not None:
            self._tally.add(result)

    def is_done(self, place: int) -> bool:
        return bool(self._done[place])

    @property
    def left(self) -> int:
        """The number of open places."""
        return self._done.count(0)

    def result(self, place: int) -> ScenarioResult:
        """Return the result of one place. Raises KeyError if there is none."""
        if self._files is None:
            return self._in_memory[place]
        if self._offsets[place] == _NOWHERE:
            raise KeyError(place)
        return KeptResults(self._files.path, self._offsets[place : place + 1])[0]

    def results(self) -> Sequence[ScenarioResult]:
        """Return all results, in the order of their places."""
        if self._files is None:
            return tuple(result for _, result in sorted(self._in_memory.items()))
        there = array("q", (offset for offset in self._offsets if offset != _NOWHERE))
        return KeptResults(self._files.path, there)

    def summary(self) -> Summary:
        """Return the summary of all results, from the running tally if it has seen all of them."""
        if self._tally is None:
            found = summarise(self.results(), repeats=self._repeats)
            return found.model_copy(update={"doubled_results": self._doubled})
        return self._tally.summary()
