"""Report writers as a command uses them: found, tried before anything is spent, and run.

A writer that fails costs its own file and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tunaeval.api.extensions import registries
from tunaeval.errors import TunaevalError, UsageError
from tunaeval.registry import who, words_of
from tunaeval.reports.files import try_to_write
from tunaeval.types.roles import Writer
from tunaeval.types.runs import Report

SUFFIXES = {
    ".csv": "csv",
    ".htm": "html",
    ".html": "html",
    ".json": "json",
    ".markdown": "markdown",
    ".md": "markdown",
    ".parquet": "parquet",
    ".xml": "junit",
}
"""Which writer a report's file name asks for."""

_KIND = "report writer"


@dataclass(frozen=True, slots=True)
class Asked:
    """A report that was asked for: a file, and what writes it."""

    path: Path
    writer: Writer

    def write(self, reports: Sequence[Report]) -> str | None:
        """Have it written; returns what went wrong, in words."""
        try:
            several_with(self.writer)(reports, self.path) if len(reports) > 1 else (
                self.writer.write(reports[0], self.path)
            )
        except TunaevalError as error:
            return str(error)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a plug-in's, given back by its name
            return f"{who(self.writer, _KIND)} raised {words_of(error)}"
        return None if self.path.exists() else f"{who(self.writer, _KIND)} wrote nothing"


def asked_for(files: Sequence[str], writer: str | None) -> list[Asked]:
    """What is to be written to each file, by its suffix or a name that was given for one.

    Raises UsageError, and RecordError where a file cannot be written: before anything is spent.
    """
    if writer and not files:
        raise UsageError("--writer says how --report FILE is written; give --report, too")
    if writer and len(files) > 1:
        raise UsageError(
            f"--writer {writer!r} is for one --report and there are {len(files)}; leave it out and "
            f"let the suffixes say how they are written: {', '.join(SUFFIXES)}"
        )
    if len({Path(file).absolute() for file in files}) < len(files):
        raise UsageError(f"--report names a file twice ({', '.join(files)}); name each once")
    found = [Asked(Path(file), writer_called(writer or by_suffix(file))) for file in files]
    for file in found:
        try_to_write(file.path)
    return found


def writer_called(name: str) -> Writer:
    """The writer of a name. Raises UnknownNameError, and UsageError where it lacks something."""
    writer: Writer = registries()["writers"].get(name)
    available = getattr(writer, "available", None)
    if why := available() if callable(available) else None:
        raise UsageError(f"{who(writer, _KIND)} cannot be used: {why}")
    return writer


def several_with(writer: Writer) -> Callable[[Sequence[Report], Path], None]:
    """What writes several runs. Raises UsageError where the writer has no `write_runs`."""
    write: Callable[[Sequence[Report], Path], None] | None = getattr(writer, "write_runs", None)
    if write is None:
        raise UsageError(f"{who(writer, _KIND)} writes one run alone; ask for each by itself")
    return write


def by_suffix(file: str) -> str:
    """The writer that a file's name asks for. Raises UsageError."""
    suffix = Path(file).suffix
    name = SUFFIXES.get(suffix.lower(), suffix[1:])
    if not name:
        raise UsageError(
            f"the report {file!r} has no suffix that names a writer; "
            f"add one of {', '.join(SUFFIXES)}, or give --writer"
        )
    return name
