"""A run or a matrix while it is written: its results one by one, and whether it still runs."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

from tunaeval.errors import RecordError
from tunaeval.files.locks import is_held
from tunaeval.files.records import decode, opened
from tunaeval.files.results import RESULTS_FILE
from tunaeval.types.calls import JsonObject
from tunaeval.types.tables import verdict

from .directory import MATRIX_FILE, RUN_FILE, read_info
from .matrix import CELLS, is_matrix, read_matrix

_MOST_BYTES = 4 << 20
"""How much of a file is read at once, apart from its last line."""
_FRESH_SECONDS = 5.0
"""A run without a lock counts as running for so long after its last write: a matrix has no lock
before its cells begin, and not every disk passes locks on.
"""


class Watch:
    """What is new in a kept run or matrix since it was last looked at.

    A matrix has the number of its cell in each result. What cannot be read is left out.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._parts: dict[str, _Part] = {}
        if not is_matrix(directory):
            self._parts[""] = _Part(directory)

    def news(self) -> Iterator[JsonObject]:
        """Yield the results that have arrived, up to some megabytes of each file."""
        if is_matrix(self.directory):
            for info in read_matrix(self.directory).cells:
                place = self.directory / CELLS / info.cell
                self._parts.setdefault(info.cell, _Part(place))
        for cell, part in self._parts.items():
            for result in part.news():
                yield {**result, "cell": cell} if cell else result

    def state(self) -> JsonObject:
        """Return whether the run is "running", "finished" or "stopped", and how many results of
        how many it has.
        """
        parts = self._parts.values()
        done = sum(len(part.verdicts) for part in parts)
        # The cells of a matrix are asked the same, also those that have not begun.
        of = max((part.wanted() for part in parts), default=0) * len(parts)
        if 0 < of <= done:
            return {"state": "finished", "done": done, "of": of}
        is_running = any(is_held(part.directory) for part in parts) or self._is_fresh()
        return {"state": "running" if is_running else "stopped", "done": done, "of": of}

    @property
    def passed(self) -> int:
        every = (part.verdicts.values() for part in self._parts.values())
        return sum(one == "PASS" for verdicts in every for one in verdicts)

    def seen(self) -> tuple[tuple[int, int], ...]:
        """Return sizes and times of the files, which differ once there is something new."""
        files = [self.directory / MATRIX_FILE]
        for part in self._parts.values():
            files += [part.directory / RUN_FILE, part.directory / RESULTS_FILE]
        return tuple(map(_size_and_time, files))

    def _is_fresh(self) -> bool:
        latest = max(nanoseconds for _, nanoseconds in self.seen())
        return time.time() - latest / 1e9 < _FRESH_SECONDS


def _size_and_time(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except OSError:
        return 0, 0
    return found.st_size, found.st_mtime_ns


class _Part:
    """One run, alone or as a cell of a matrix."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.verdicts: dict[tuple[str, int], str] = {}
        self._end = 0
        self._wanted = 0

    def wanted(self) -> int:
        """Return how many results the run has once it is finished, 0 while that is unknown."""
        if not self._wanted:
            try:
                info = read_info(self.directory)
            except RecordError:
                return 0
            self._wanted = info.scenarios * info.repeats
        return self._wanted

    def news(self) -> Iterator[JsonObject]:
        """Yield the results that have arrived; of a repeat that was asked again, the last one."""
        found: dict[tuple[str, int], str] = {}
        for line in self._lines():
            try:
                record = decode(line)
            except (ValueError, RecursionError):
                continue
            scenario, repeat = record.get("scenario"), record.get("repeat", 1)
            if isinstance(scenario, str) and isinstance(repeat, int):
                found[scenario, repeat] = verdict(record.get("outcome"), record.get("ok"))
        self.verdicts |= found
        for (scenario, repeat), word in found.items():
            yield {"scenario": scenario, "repeat": repeat, "verdict": word}

    def _lines(self) -> Iterator[bytes]:
        path = self.directory / RESULTS_FILE
        try:
            file = opened(path)
        except RecordError:  # there is none yet
            return
        with file:
            if os.fstat(file.fileno()).st_size < self._end:  # it was written anew
                self._end = 0
                self.verdicts.clear()
            most = self._end + _MOST_BYTES
            file.seek(self._end)
            while self._end < most and (line := file.readline()):
                if not line.endswith(b"\n") and not _is_whole(line):
                    return  # the rest is to come
                self._end += len(line)
                yield line


def _is_whole(line: bytes) -> bool:
    """Whether a line without its end is a record: no beginning of a record is."""
    try:
        decode(line)
    except (ValueError, RecursionError):
        return False
    return True
