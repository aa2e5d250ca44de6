"""The registries of everything that can be extended, and a listing that survives any plug-in.

For the listing the plug-ins of one package are imported in a process of their own, which reports on
each. A plug-in that hangs or ends the process is reported as broken, and a new process goes on with
the rest.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Any, NamedTuple

from tunaeval.clients import clients
from tunaeval.data.adapters.documents import adapters
from tunaeval.parsing.api import formats
from tunaeval.registry import Entry, Registry, in_order, not_imported
from tunaeval.reports import writers
from tunaeval.runs.harnesses import harnesses
from tunaeval.scoring.scorers import scorers
from tunaeval.tasks.named import checks
from tunaeval.tools.frameworks import wrappers
from tunaeval.tools.processes import Child
from tunaeval.tools.success import classifiers
from tunaeval.workers import in_daemon


def registries() -> dict[str, Registry[Any]]:
    """Return the registries by the last word of their entry-point group.

    Examples:
        >>> sorted(tunaeval.registries())[:5]
        ['adapters', 'checks', 'classifiers', 'clients', 'harnesses']
    """
    every = (formats, scorers, clients, writers, classifiers, checks, adapters, wrappers, harnesses)
    return {one.group.rpartition(".")[2]: one for one in every}


_SECONDS = 60.0
"""How long one plug-in may take to be imported, unless $TUNAEVAL_IMPORT_SECONDS says otherwise."""
_PROGRAM = """
import json, sys
sys.path[:], claims = json.loads(sys.argv[1])
from tunaeval.plugins import look
look(claims)
"""


class _Claim(NamedTuple):
    group: str
    kind: str
    name: str
    source: str
    where: str

    @property
    def words(self) -> str:
        return f"{self.kind} {self.name!r} of {self.source}"


class _Silent(Exception):  # noqa: N818 - named for what happened
    """The process reported nothing on a plug-in; the message says why, if that is known."""


def looked_at(groups: Iterable[Registry[Any]]) -> list[Entry]:
    """Return the entries of these registries, group by group; plug-ins are tried in processes."""
    chosen = list(groups)
    packages: dict[str, list[_Claim]] = {}
    for one in chosen:
        for name, source, where in one.claims():
            claim = _Claim(one.group, one.kind, name, source, where)
            packages.setdefault(source, []).append(claim)
    found = [entry for claims in packages.values() for entry in _entries(claims)]
    return [
        entry
        for one in chosen
        for entry in sorted(
            [*one.own_entries(), *(entry for entry in found if entry.group == one.group)],
            key=in_order,
        )
    ]


def _entries(claims: list[_Claim]) -> Iterator[Entry]:
    seconds = _seconds()
    while claims:
        given = json.dumps([sys.path, [(one.group, one.name, one.source) for one in claims]])
        words = [sys.executable, "-P", "-c", _PROGRAM, given]
        with Child(words, errors=None) as process:
            try:
                _next_line(process, _SECONDS)
                while claims:
                    document = json.loads(_next_line(process, seconds))
                    claims = claims[1:]
                    yield Entry(**{**document, "aliases": tuple(document["aliases"])})
            except _Silent as silent:
                claim, *claims = claims
                why = str(silent) or (
                    f"it did not end within {seconds:g} s (more time: TUNAEVAL_IMPORT_SECONDS in "
                    "the environment)"
                )
                reason = not_imported(claim.words, claim.where, why)
                yield Entry(claim.name, claim.group, claim.source, "broken", reason)
            except KeyboardInterrupt as error:
                error.add_note(f"while {claims[0].words if claims else 'a plug-in'} was looked at")
                raise


def _seconds() -> float:
    try:
        seconds = float(os.environ.get("TUNAEVAL_IMPORT_SECONDS", ""))
    except ValueError:
        return _SECONDS
    return seconds if 0 < seconds < threading.TIMEOUT_MAX else _SECONDS


def _next_line(process: Child, seconds: float) -> bytes:
    """Return the next line that it prints. Raise _Silent at the timeout, or if it has ended."""
    try:
        line = in_daemon(process.line).result(seconds)
    except TimeoutError:
        raise _Silent from None
    if line:
        return line
    code = process.wait(seconds)
    if code is None:  # the plug-in closed the pipe, and the process runs on
        raise _Silent
    how = f"signal {-code}" if code < 0 else f"exit code {code}"
    raise _Silent(f"it ended the process that looked at it ({how})")


def look(claims: list[list[str]]) -> None:
    """Print a JSON line for each claim (group, name, source), in the process started for them. What
    plug-ins print goes to stderr. The functions used here are bound first, so none can patch them.
    """
    out, dumps, end = os.fdopen(os.dup(1), "w", encoding="utf-8"), json.dumps, os._exit
    os.dup2(2, 1)
    if hasattr(os, "register_at_fork"):  # not on Windows
        os.register_at_fork(after_in_child=out.close)
    groups = {one.group: one for one in registries().values()}
    out.write("ready\n")
    out.flush()
    for group, name, source in claims:
        line = dumps(asdict(groups[group].claimed(name, source)))
        out.write(f"{line}\n")
        out.flush()
    end(0)
