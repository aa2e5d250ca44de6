"""Decides which lines of a run's results count.

If one repeat of a scenario has several lines, the last one counts. That happens when failures are
asked again, or else when an editor or a merge of files has doubled a line. Whoever writes the file
notes its state in `run.json` at the end, so that any later change of it is noticed and logged.
"""

from __future__ import annotations

import hashlib
import logging
from array import array
from collections.abc import Container, Iterator
from dataclasses import dataclass
from pathlib import Path

from tunaeval.showing import counted
from tunaeval.types.calls import JsonObject

from .records import opened, placed, read_at, read_document

RESULTS_FILE = "results.jsonl"
STATE = "results_file"
"""The field of `run.json` for the `state_of` the results when a run was last begun or ended."""
_BLOCK = 1 << 20
_LOG = logging.getLogger("tunaeval.files")
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
    _warn_of_change(directory)
    if not path.exists():
        return CountedResults(path, offsets)
    places: dict[tuple[object, object], int] = {}
    failed: set[int] = set()
    gone: set[int] = set()
    doubled = 0
    for index, (offset, record) in enumerate(placed(path, noun="result")):
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


def state_of(path: Path, most: int | None = None) -> JsonObject:
    """Return how many lines and bytes a file has, and their SHA-256, or those of its first `most`
    bytes. A file that is missing is empty.
    """
    digest, lines, size = hashlib.sha256(), 0, 0
    if path.exists():
        with opened(path) as file:
            while block := file.read(_BLOCK if most is None else min(_BLOCK, most - size)):
                digest.update(block)
                lines, size = lines + block.count(b"\n"), size + len(block)
    return {"results": lines, "bytes": size, "sha256": digest.hexdigest()}


def _warn_of_change(directory: Path) -> None:
    """Log if a run's results are not those that it noted; what was added since is left out."""
    file, path = directory / "run.json", directory / RESULTS_FILE
    noted = read_document(file).get(STATE) if file.exists() else None
    if noted is None:
        return
    size = noted.get("bytes") if isinstance(noted, dict) else None
    if noted != state_of(path, size if isinstance(size, int) and size >= 0 else None):
        words = "%s was changed after its run had ended: it had %s then, and has %s now"
        _LOG.warning(words, path, _words(noted), _words(state_of(path)))


def _words(state: object) -> str:
    """Return a state in words, also if the one in `run.json` was changed."""
    match state:
        case {"results": int(results), "bytes": int(size)}:
            return f"{counted(results, 'result')} in {counted(size, 'byte')}"
    return f"{state!r:.60}"
