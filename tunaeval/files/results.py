"""Which lines of a run's results count: whoever reads a run asks here.

Of a scenario's repeat that is there several times the last result counts. That is so after
failures that were asked again; any other was doubled, by an editor or where files were merged.
"""

from __future__ import annotations

from array import array
from collections.abc import Container, Iterator
from dataclasses import dataclass
from pathlib import Path

from tunaeval.types.calls import JsonObject

from .records import opened, placed, read_at

RESULTS_FILE = "results.jsonl"
FAILED_OUTCOMES = frozenset({"transport_failure", "judge_failure"})
"""What is asked again, where that is wished."""


@dataclass(frozen=True, slots=True)
class CountedResults:
    """The results in a file that count, eight bytes of memory each: `offsets` says where they
    begin, in the order of the file. `doubled` is how many others no failure explains.
    """

    path: Path
    offsets: array[int]
    doubled: int = 0

    def rows(self, only: Container[int] | None = None) -> Iterator[JsonObject]:
        """The rows, one at a time; `only` some by number, from 1."""
        if not self.offsets:
            return
        with opened(self.path) as file:
            for number, offset in enumerate(self.offsets, 1):
                if only is None or number in only:
                    yield read_at(file, self.path, offset)


def counted_results(directory: Path, *, retried: bool) -> CountedResults:
    """The results of the run in a directory; none where it has no file of them.

    `retried`: its failures were asked again. Raises RecordError for a line that is no record.
    """
    path = directory / RESULTS_FILE
    offsets = array("q")
    if not path.exists():
        return CountedResults(path, offsets)
    places: dict[tuple[object, object], int] = {}
    failed: set[int] = set()
    gone: set[int] = set()
    doubled = 0
    for index, (offset, record) in enumerate(placed(path)):
        offsets.append(offset)
        place = (record.get("scenario"), record.get("repeat", 1))
        if not (isinstance(place[0], str) and isinstance(place[1], int)):
            continue  # no result: whoever reads it will say so
        if (before := places.get(place)) is not None:
            gone.add(before)
            doubled += before not in failed
        places[place] = index
        if retried and record.get("outcome") in tuple(FAILED_OUTCOMES):  # it may be no text
            failed.add(index)
    kept = (offset for index, offset in enumerate(offsets) if index not in gone)
    return CountedResults(path, array("q", kept) if gone else offsets, doubled)
