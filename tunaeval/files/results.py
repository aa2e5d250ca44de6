"""Decides which lines of a run's results count.

If one repeat of a scenario has several lines, the last one counts. That happens when failures are
asked again, or else when an editor or a merge of files has doubled a line.
"""

from __future__ import annotations

from array import array
from collections.abc import Container, Iterator
from dataclasses import dataclass
from pathlib import Path

from tunaeval.types.calls import JsonObject

from .plain_files import is_absent
from .records import opened, placed, read_at

RESULTS_FILE = "results.jsonl"
FAILED_OUTCOMES = frozenset({"transport_failure", "judge_failure"})
"""The outcomes that `--retry-failures` asks again."""


@dataclass(frozen=True, slots=True)
class CountedResults:
    """The results in a file that count: `offsets` has the byte at which each begins, in the order
    of the file (eight bytes of memory each). `doubled` is the number of other lines, except
    failures that were asked again.
    """

    path: Path
    offsets: array[int]
    doubled: int = 0

    def rows(self, only: Container[int] | None = None) -> Iterator[JsonObject]:
        """Yield the results that count; `only` selects some by their number, from 1."""
        if not self.offsets:
            return
        with opened(self.path) as file:
            for number, offset in enumerate(self.offsets, 1):
                if only is None or number in only:
                    yield read_at(file, self.path, offset)


def counted_results(directory: Path, *, retried: bool) -> CountedResults:
    """Return the results of the run in a directory; none if it has no file of results. `retried`:
    its failures were asked again. Raises RecordError for a line that is no record.
    """
    path = directory / RESULTS_FILE
    offsets = array("q")
    if is_absent(path):
        return CountedResults(path, offsets)
    places: dict[tuple[object, object], int] = {}
    failed: set[int] = set()
    gone: set[int] = set()
    doubled = 0
    for index, (offset, record) in enumerate(placed(path)):
        offsets.append(offset)
        place = (record.get("scenario"), record.get("repeat", 1))
        if not (isinstance(place[0], str) and isinstance(place[1], int)):
            continue  # not a result: reading it as one will raise an error
        if (before := places.get(place)) is not None:
            gone.add(before)
            doubled += before not in failed
        places[place] = index
        if retried and record.get("outcome") in tuple(FAILED_OUTCOMES):  # it may be unhashable
            failed.add(index)
    kept = (offset for index, offset in enumerate(offsets) if index not in gone)
    return CountedResults(path, array("q", kept) if gone else offsets, doubled)
