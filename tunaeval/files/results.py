"""Decides which lines of a run's results count.

If one repeat of a scenario has several lines, the last one counts. That happens when failures are
asked again, or else when an editor or a merge of files has doubled a line. Whoever writes the file
notes its state in `run.json` at the end, so that a later change of it is noticed and logged.
"""

from __future__ import annotations

import hashlib
import logging
from array import array
from collections.abc import Container, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from tunaeval.showing import counted
from tunaeval.types.calls import JsonObject
from tunaeval.types.results import ResultsState
from tunaeval.types.tables import is_unanswered

from .plain_files import is_absent
from .records import opened, placed, read_at

RESULTS_FILE = "results.jsonl"
_LOG = logging.getLogger("tunaeval.files")


@dataclass(frozen=True, slots=True)
class CountedResults:
    """The results in a file that count: `offsets` has the byte at which each begins, in the order
    of the file, and `places` a number that is greater for what is later in the suite, 0 if that is
    unknown (eight bytes of memory each). `doubled` is the number of other lines, except failures
    that were asked again.
    """

    path: Path
    offsets: array[int]
    places: array[int]
    doubled: int = 0

    def in_order_of_suite(self) -> array[int]:
        """Return the offsets in the order of the suite, or of the file where that is unknown."""
        every = sorted(range(len(self.offsets)), key=self.places.__getitem__)
        return array("q", (self.offsets[at] for at in every))

    def rows(self, only: Container[int] | None = None) -> Iterator[JsonObject]:
        """Yield the results that count; `only` selects some by their number, from 1."""
        if not self.offsets:
            return
        with opened(self.path) as file:
            for number, offset in enumerate(self.offsets, 1):
                if only is None or number in only:
                    yield read_at(file, self.path, offset)


def counted_results(
    directory: Path, *, retried: bool, noted: ResultsState | None = None
) -> CountedResults:
    """Return the results of the run in a directory; none if it has no file of results. `retried`:
    its failures were asked again. `noted` is the `state_of` the file when the run last began or
    ended. Raises RecordError for a line that is no record.
    """
    path = directory / RESULTS_FILE
    offsets, order = array("q"), array("q")
    if noted is not None:
        _warn_of_change(path, noted)
    if is_absent(path):
        return CountedResults(path, offsets, order)
    places: dict[tuple[object, object], int] = {}
    failed: set[int] = set()
    gone: set[int] = set()
    doubled = 0
    for index, (offset, record) in enumerate(placed(path, noun="result")):
        offsets.append(offset)
        order.append(0)
        place = (record.get("scenario"), record.get("repeat", 1))
        if not (isinstance(place[0], str) and isinstance(place[1], int)):
            continue  # not a result: reading it as one will raise an error
        if (before := places.get(place)) is not None:
            gone.add(before)
            doubled += before not in failed
        places[place] = index
        order[index] = _order(record.get("index"), place[1])
        if retried and is_unanswered(record.get("outcome")):
            failed.add(index)
    if gone:
        offsets, order = (
            array("q", (one for at, one in enumerate(every) if at not in gone))
            for every in (offsets, order)
        )
    return CountedResults(path, offsets, order, doubled)


def _order(index: object, repeat: int) -> int:
    """Return a sort key for a result by the position of its scenario in the suite, if known."""
    if isinstance(index, int) and 0 <= index < 1 << 40 and 0 < repeat < 1 << 20:
        return (index << 20) + repeat
    return 0


def state_of(path: Path, most: int | None = None) -> ResultsState:
    """Return how many lines and bytes a file has, or its first `most` lines, with a digest that is
    the same for these lines in any order. A file that is missing is empty.
    """
    lines = size = total = 0
    if not is_absent(path):
        with opened(path) as file:
            for line in islice(file, most):
                lines, size = lines + 1, size + len(line)
                total += int.from_bytes(hashlib.blake2b(line, digest_size=8).digest())
    return ResultsState(results=lines, bytes=size, digest=f"{total % 2**64:016x}")


def _warn_of_change(path: Path, noted: ResultsState) -> None:
    """Log if results are not those that were noted; what was added since is left out."""
    if noted != state_of(path, noted.results):
        then, now = (
            f"{counted(one.results, noun)} in {counted(one.bytes, 'byte')}"
            for one, noun in ((noted, "result"), (state_of(path), "line"))
        )
        _LOG.warning("%s was changed since its run ended: it had %s, and has %s", path, then, now)
