"""The file of what a model was trained on, so that a run does not ask the same.

Each line is a JSON object with the names of the suite and the scenario, and with the SHA-256 of
what is asked, by which a scenario is recognized under another name.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

from tunaeval.errors import UsageError
from tunaeval.files.plain_files import read_plain
from tunaeval.showing import brief, counted
from tunaeval.types.json_text import decoded_or
from tunaeval.types.runs import Scenario, Suite


class TrainedOn:
    """The file, to which each scenario is added once."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            with path.open("ab"):
                self._known = {*_lines(path)}
        except OSError as error:
            raise _refusal(path, str(error.strerror)) from error

    def add(self, suite: Suite, scenario: Scenario) -> None:
        line = _line(suite, scenario)
        if line not in self._known:
            self._known.add(line)
            with self._path.open("ab") as file:
                file.write(json.dumps(dict(zip(_KEYS, line, strict=True))).encode() + b"\n")


_KEYS = ("suite", "scenario", "asked")


def _line(suite: Suite, scenario: Scenario) -> tuple[str, ...]:
    asked = json.dumps([scenario.messages, scenario.prompt], sort_keys=True, default=str)
    return (suite.name, scenario.id, hashlib.sha256(asked.encode()).hexdigest())


def _lines(path: Path) -> Iterator[tuple[str, ...]]:
    for number, text in enumerate(read_plain(path).splitlines(), 1):
        read = decoded_or(text)
        found = tuple(read.get(key) for key in _KEYS) if isinstance(read, dict) else ()
        if len(found) < len(_KEYS) or not all(isinstance(one, str) for one in found):
            raise _refusal(path, f"line {number} is {brief(text.decode(errors='replace'))}")
        yield tuple(map(str, found))


def _refusal(path: Path, why: str) -> UsageError:
    return UsageError(
        f"{str(path)!r} cannot be read as what was trained on: {why}; wanted the file that was "
        "named as trained_on to tunaeval.runs.trl.environment"
    )


def refuse_trained(suite: Suite, path: Path) -> None:
    """Raise UsageError if a scenario of the suite is in the file."""
    try:
        known = {*_lines(path)}
    except OSError as error:
        raise _refusal(path, str(error.strerror)) from error
    names, texts = {one[:2] for one in known}, {one[2] for one in known}
    lines = [_line(suite, one) for one in suite.scenarios]
    if found := [one[1] for one in lines if one[:2] in names or one[2] in texts]:
        more = ", ..." if len(found) > 3 else ""
        raise UsageError(
            f"{len(found)} of {counted(len(lines), 'scenario')} of {suite.name!r} were trained on, "
            f"as {str(path)!r} says ({', '.join(map(repr, found[:3]))}{more}), so a score would "
            "not say what the model can do; leave them out, as --split test does"
        )
