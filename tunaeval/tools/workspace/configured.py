"""Which files decide what an allowed command does: those that it reads as its configuration.

Who can write them can make the command run any program, so no tool of a workspace writes, moves or
deletes them while the command is allowed. `configurations.toml` lists them by program; for a
program that is not listed, nothing is refused.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from tunaeval.errors import WorkspaceError

from .globs import name_fits, plain
from .repositories import named_by_git

Parts = tuple[str, ...]
Commands = tuple[tuple[str, ...], ...]

_WORD = re.compile(r"[a-z0-9_+.-]++")
_VERSION = re.compile(r"[\d.]{1,16}\Z")


@dataclass(frozen=True, slots=True)
class Program:
    """The files that a program reads as its configuration, and the programs that it starts."""

    files: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()


class Read(NamedTuple):
    """A file name that a program reads, in lower case; `below`: any file below that directory."""

    pattern: str
    below: bool
    program: str


def configurations() -> Mapping[str, Program]:
    """Return the listed programs by name."""
    programs: Mapping[str, Mapping[str, Sequence[str]]] = _list()["programs"]
    return {
        name: Program(**{key: tuple(names) for key, names in one.items()})
        for name, one in programs.items()
    }


def programs_that(do: str) -> frozenset[str]:
    """Return the programs in the list `do`: "readers", "nameless" or "writers"."""
    return frozenset(_list()[do])


@cache
def _list() -> Mapping[str, Any]:
    return tomllib.loads(files(__package__).joinpath("configurations.toml").read_text("utf-8"))


@lru_cache(maxsize=256)
def read_by(commands: Commands) -> tuple[Read, ...]:
    """Return the names that allowed commands read. Any word of a command may be a program, because
    `sh -c` and `timeout` have theirs among their arguments.
    """
    table = configurations()
    found: dict[tuple[str, bool], Read] = {}
    for program, name in _run_by(commands).items():
        for one in table.get(program, Program()).files:
            pattern, below = one.removesuffix("/").casefold(), one.endswith("/")
            found.setdefault((pattern, below), Read(pattern, below, name))
    return tuple(found.values())


@lru_cache(maxsize=256)
def _run_by(commands: Commands) -> Mapping[str, str]:
    """Map each program that allowed commands run to the program in a command that starts it."""
    table = configurations()
    found: dict[str, str] = {}
    for name in sorted(set(_programs(commands))):
        waiting = [name]
        while waiting:
            program = waiting.pop()
            if program not in found:
                found[program] = name
                waiting += table.get(program, Program()).runs
    return found


def _programs(commands: Commands) -> Iterator[str]:
    for words in commands:
        for word in words:
            for name in _WORD.findall(word.lower()):
                yield name
                yield _VERSION.sub("", name)  # python3.12


def check_unread(parts: Parts, commands: Commands, root: Path) -> None:
    """Raise `WorkspaceError` for a file that an allowed command reads as its configuration, or that
    the configuration of a git repository names.
    """
    check_unlisted(parts, commands)
    if "git" not in _run_by(commands):
        return
    named = named_by_git(root, parts) if parts else None
    if named is not None:
        raise WorkspaceError(
            f"{'/'.join(parts)!r:.80} is not written, moved or deleted by tools: git, which may "
            f"run here, finds {named!r:.80} in its configuration, and may run what is there; leave "
            "it as it is"
        )


def check_unlisted(parts: Parts, commands: Commands) -> None:
    """Raise `WorkspaceError` for a file that `configurations.toml` lists for an allowed command."""
    names = list(map(plain, parts))
    for read in read_by(commands):
        for name in names if read.below else names[-1:]:
            if name_fits(name, read.pattern):
                raise WorkspaceError(
                    f"{'/'.join(parts)!r:.80} is not written, moved or deleted by tools: "
                    f"{read.program}, which may run here, reads {read.pattern!r} as its "
                    "configuration, and what is in it decides which programs run; leave it as it is"
                )
