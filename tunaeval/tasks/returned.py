"""Compare what a function returns in a workspace with what it returns in the reference.

The arguments are drawn when the episode is over, from its seed. Either program runs in a copy of
its files, in a process that gets the arguments alone; what it returns is compared here, as JSON and
so with exact types: 1, 1.0 and true differ. What the program prints, and how it exits, is ignored.

A drawn value is written as JSON, in which these objects are replaced:

    {"$int": [1, 9]}                            a whole number of this range
    {"$text": "abc ", "length": [0, 5]}         a text of these characters
    {"$list": VALUE, "length": [0, 5]}          a list of such values
    {"$one_of": [VALUE, ...]}                   each of these equally often, in any order
    {"$join": [VALUE, ...]}                     these, and the items of lists, as one text
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from random import Random
from typing import NamedTuple, TypeAlias

from tunaeval.errors import WorkspaceError
from tunaeval.showing import brief
from tunaeval.types.calls import JsonObject, JsonValue
from tunaeval.types.json_text import decoded_or
from tunaeval.types.tasks import CaseRecord, ReturnsCheck

from .commands import run_command
from .sandbox import Sandbox
from .space import Snapshot, Workspace

Contents: TypeAlias = Mapping[str, str | bytes]
"""Files by path."""

_CALLING = str(Path(__file__).with_name("calling.py"))
_MAX_REPORT = 1 << 20
_WANTED = "$int, $text, $list, $one_of or $join as the reference of checks describes them"


class Drawn(NamedTuple):
    """The arguments of one call, and the files that are replaced for it."""

    arguments: list[JsonValue]
    files: dict[str, str]


def drawn(check: ReturnsCheck, seed: str) -> list[Drawn]:
    """Return the cases of a check. Raises ValueError for what cannot be drawn."""
    draws = _Draws(seed)
    found = []
    for _ in range(check.times):
        arguments = [draws.value(one) for one in check.arguments]
        files = {path: str(draws.value(one)) for path, one in check.files.items()}
        found.append(Drawn(arguments, files))
    return found


class _Draws:
    """Draws values; the options of `$one_of` are dealt like a pack of cards."""

    def __init__(self, seed: str) -> None:
        self._random = Random(seed)  # it has to be repeatable; the seed is the secret
        self._decks: dict[int, list[JsonValue]] = {}

    def value(self, spec: JsonValue) -> JsonValue:
        draw = self._random
        match spec:
            case {"$int": [int() as low, int() as high]}:
                return draw.randint(low, high)
            case {"$text": str() as letters, "length": [int() as low, int() as high]}:
                return "".join(draw.choices(letters, k=draw.randint(low, high)))
            case {"$list": inner, "length": [int() as low, int() as high]}:
                return [self.value(inner) for _ in range(draw.randint(low, high))]
            case {"$one_of": [_, *_] as options}:
                deck = self._decks.setdefault(id(spec), [])
                if not deck:
                    deck += draw.sample(options, k=len(options))
                return self.value(deck.pop())
            case {"$join": [*parts]}:
                return "".join(map(_joined, map(self.value, parts)))
            case dict():
                if unknown := [key for key in spec if key.startswith("$")]:
                    words = f"{unknown[0]!r} in {brief(spec)} draws nothing"
                    raise ValueError(f"{words}; wanted {_WANTED}")
                return {key: self.value(one) for key, one in spec.items()}
            case list() | tuple():
                return [self.value(one) for one in spec]
        return spec


def _joined(value: JsonValue) -> str:
    return "".join(map(_joined, value)) if isinstance(value, list) else str(value)


def contents_of(workspace: Workspace, after: Snapshot | None) -> Contents:
    """Return the files of a workspace; links are left out."""
    entries = {} if after is None else after.entries
    paths = [path for path, entry in entries.items() if entry.kind == "file"]
    return {path: workspace[path].data for path in paths if workspace[path].exists}


def outcomes(
    check: ReturnsCheck,
    cases: Sequence[Drawn],
    contents: Contents,
    *,
    hidden: str | None = None,
    sandbox: Sandbox | None = None,
) -> list[JsonObject | None]:
    """Return the outcome of each case, None if there is no report: one process per set of files.

    Without `hidden`, the program is the reference, which is trusted.
    """
    found: list[JsonObject | None] = []
    for _, group in groupby(cases, key=lambda case: case.files):
        alike = [*group]
        arguments = json.dumps([case.arguments for case in alike])
        ran = _reference_ran if hidden is None else _ran
        try:
            files = tuple({**contents, **alike[0].files}.items())
            report = ran((check.returns, arguments), files, check.seconds, hidden, sandbox)
        except WorkspaceError:  # such as a path that is a file and a directory
            report = b""
        found += _read_outcomes(report, len(alike))
        if found[-1] is None:  # one case without a report decides
            break
    return found + [None] * (len(cases) - len(found))


def _ran(
    called: tuple[str, str],
    files: tuple[tuple[str, str | bytes], ...],
    seconds: float,
    hidden: str | None,
    sandbox: Sandbox | None,
) -> bytes:
    """Return the report of a process; the modules of a reference are in no file that has a name."""
    kept = {path: as_text(one) for path, one in files if hidden is None and path.endswith(".py")}
    rest = {path: one for path, one in files if path not in kept}
    with Workspace(rest) as copy, tempfile.TemporaryFile() as channel:
        number = channel.fileno()
        channel.write(json.dumps(kept).encode() if kept else b"")
        channel.seek(0)
        start = (sys.executable, "-I", "-S", "-B", _CALLING, str(number), *called)
        run_command(
            start, copy.path, files=(number,), seconds=seconds, hidden=hidden, sandbox=sandbox,
            shown=(_CALLING,),
        )  # fmt: skip
        channel.seek(0)
        return channel.read(_MAX_REPORT + 1)


_reference_ran = lru_cache(maxsize=64)(_ran)
"""Cached, because many cheats are compared with the same."""


def as_text(content: str | bytes) -> str:
    """Return a file's content as text, whatever its bytes are."""
    return content if isinstance(content, str) else content.decode(errors="replace")


def _read_outcomes(text: bytes, wanted: int) -> list[JsonObject | None]:
    """Return the outcomes in a report, which may be anything: the program can write it, too."""
    report = decoded_or(text) if len(text) <= _MAX_REPORT else None
    found = report if isinstance(report, list) and len(report) == wanted else [None] * wanted
    return [one if isinstance(one, dict) else None for one in found]


def compared(returns: str, cases: Sequence[CaseRecord]) -> tuple[bool, str]:
    """Return whether all outcomes are as wanted, and the first that is not."""
    for case in cases:
        if case.got is None:
            return False, f"{_call_words(returns, case)}: its process ended without a report"
        if _exact(case.got) != _exact(case.wanted):
            wanted = f"wanted that it {_outcome_words(case.wanted)}"
            return False, f"{_call_words(returns, case)} {_outcome_words(case.got)}, {wanted}"
    return True, f"it is as in the reference, in {len(cases)} cases"


def _exact(outcome: JsonObject) -> str:
    return json.dumps(outcome, sort_keys=True)


def _call_words(returns: str, case: CaseRecord) -> str:
    name = returns.rpartition(":")[2]
    given = ", ".join(brief(one) for one in case.arguments)
    with_files = f" with another {', '.join(case.files)}" if case.files else ""
    return f"{name}({given})"[:120] + with_files if ":" in returns else f"{name}{with_files}"


def _outcome_words(outcome: JsonObject) -> str:
    match outcome:
        case {"value": value}:
            return f"returns {brief(value)}"
        case {"raised": str() as kind}:
            return f"raises {kind:.60}"
        case {"missing": _}:
            return "is not there"
    return "returns what is no JSON"
