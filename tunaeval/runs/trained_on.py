"""The file of what a model was trained on, so that a run does not ask the same.

Each line is a JSON object with the names of the suite and the scenario, and with the SHA-256 of
what is asked, by which a scenario is recognized under another name.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tunaeval.errors import UsageError
from tunaeval.files.packed_files import read_plain
from tunaeval.registry import words_of
from tunaeval.showing import counted
from tunaeval.types.json_text import decoded
from tunaeval.types.runs import Scenario, Suite


class TrainedOn:
    """The file, to which each scenario is added once."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with _readable(path):
            path.open("ab").close()
        self._known = {*_kept_lines(path)}

    def add(self, suite: Suite, scenario: Scenario) -> None:
        line = _asked_line(suite, scenario)
        if line not in self._known:
            self._known.add(line)
            with self._path.open("ab") as file:
                file.write(json.dumps(dict(zip(_KEYS, line, strict=True))).encode() + b"\n")


def refuse_trained(suite: Suite, path: Path) -> None:
    """Raise UsageError if a scenario of the suite is in the file."""
    known = _kept_lines(path)
    names, texts = {one[:2] for one in known}, {one[2] for one in known}
    lines = [_asked_line(suite, one) for one in suite.scenarios]
    if found := [one[1] for one in lines if one[:2] in names or one[2] in texts]:
        more = ", ..." if len(found) > 3 else ""
        raise UsageError(
            f"{len(found)} of {counted(len(lines), 'scenario')} of {suite.name!r} were trained on, "
            f"as {str(path)!r} says ({', '.join(map(repr, found[:3]))}{more}), so a score would "
            "not say what the model can do; leave them out, as --split test does"
        )


_KEYS = ("suite", "scenario", "asked")


def _asked_line(suite: Suite, scenario: Scenario) -> tuple[str, ...]:
    asked = json.dumps([scenario.messages, scenario.prompt], sort_keys=True, default=str)
    return (suite.name, scenario.id, hashlib.sha256(asked.encode()).hexdigest())


def _kept_lines(path: Path) -> list[tuple[str, ...]]:
    with _readable(path):
        rows = [decoded(line) for line in read_plain(path).splitlines()]
        return [tuple(str(row[key]) for key in _KEYS) for row in rows]


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(
            f"{str(path)!r} cannot be read as what was trained on ({words_of(error)}); wanted the "
            "file that tunaeval.runs.trl.environment got as trained_on"
        ) from error
