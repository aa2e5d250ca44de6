"""`tunaeval report`: writes a page, a table or annotations of stored runs.

Other commands, too, find and check the writers of their reports here, before a model is asked. If a
writer fails, only its own file is missing.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tunaeval.errors import TunaevalError, UsageError
from tunaeval.files.new_files import try_to_write, write_text
from tunaeval.files.plain_files import is_there
from tunaeval.files.records import json_text
from tunaeval.plugins import registries
from tunaeval.registry import raised, who, words_with_place
from tunaeval.reports.page.html import write_page
from tunaeval.reports.ranking import ranking_csv, ranking_markdown
from tunaeval.runs.directory import load_report
from tunaeval.runs.matrix import Matrix, is_matrix, load_matrix, matrix_object
from tunaeval.types.copies import copied
from tunaeval.types.roles import Writer
from tunaeval.types.runs import Report
from tunaeval.types.third_party import is_ours

from .options import options_in
from .output import Output
from .show import taken_runs


def run(arguments: argparse.Namespace, output: Output) -> int:
    """Return 0, or 2 if the writer failed."""
    if not (arguments.writer or arguments.out):
        shapes = ", ".join(options_in("report")["one of"])
        raise UsageError(f"say what to write: {shapes}, or -o FILE with a suffix")
    writer = writer_called(arguments.writer or by_suffix(arguments.out))
    if len(arguments.runs) > 1:
        several_with(writer)
    runs = taken_runs(arguments, output)
    is_one_matrix = len(runs) == 1 and is_matrix(runs[0])
    if is_one_matrix:
        RequestedReport(Path(), writer).refuse_matrix()
    if arguments.out:
        try_to_write_by(writer, Path(arguments.out))
    elif getattr(writer, "writes_folder", False):
        raise UsageError(f"{writer.name!r} writes a directory; name it with -o DIR")
    elif arguments.writer == "parquet" and output.out.isatty():
        raise UsageError("Parquet is binary and cannot be shown on a terminal; give -o FILE")
    matrix = load_matrix(runs[0]) if is_one_matrix else None
    reports = [load_report(path) for path in runs] if matrix is None else []
    with tempfile.TemporaryDirectory(prefix="tunaeval-") as folder:
        file = Path(arguments.out) if arguments.out else Path(folder) / "report"
        report = RequestedReport(file, writer)
        fault = report.write(reports) if matrix is None else report.write_matrix(matrix)
        if fault is not None:
            output.note(f"tunaeval: {fault}")
            return 2
        if not arguments.out:
            with file.open("rb") as source:
                for line in source:
                    output.write(line)
    return 0


def try_to_write_by(writer: Writer, path: Path) -> None:
    """Raise RecordError if the writer could not write there."""
    is_folder = getattr(writer, "writes_folder", False)
    try_to_write(path / "data" / ".new" if is_folder else path)


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
"""The writer for each suffix of a report's file name."""


MATRIX_WRITERS: dict[str, Callable[[Matrix, Path], None]] = {
    "json": lambda matrix, path: write_text(path, json_text(matrix_object(matrix)) + "\n"),
    "markdown": lambda matrix, path: write_text(path, ranking_markdown(matrix.ranking)),
    "csv": lambda matrix, path: write_text(path, ranking_csv(matrix.ranking)),
    "html": lambda matrix, path: write_page(matrix.cells, path, matrix.ranking),
}
"""How a matrix is written, by the name of the writer that is asked for."""


_KIND = "report writer"


@dataclass(frozen=True, slots=True)
class RequestedReport:
    """A report that was asked for: its file and its writer."""

    path: Path
    writer: Writer

    def write(self, reports: Sequence[Report]) -> str | None:
        """Write the report. Return None, or a sentence that says what went wrong."""
        given = reports if is_ours(self.writer) else copied(tuple(reports))
        try:
            several_with(self.writer)(given, self.path) if len(given) > 1 else (
                self.writer.write(given[0], self.path)
            )
        except TunaevalError as error:
            return str(error)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a plug-in may raise anything
            return f"{who(self.writer, _KIND)} raised {words_with_place(error)}"
        return None if is_there(self.path) else f"{who(self.writer, _KIND)} wrote nothing"

    def refuse_matrix(self) -> None:
        """Raise UsageError if the writer cannot write a matrix."""
        if self.writer.name not in MATRIX_WRITERS:
            several_with(self.writer)

    def write_matrix(self, matrix: Matrix) -> str | None:
        """Write a report of a matrix. Return None, or a sentence that says what went wrong."""
        write = MATRIX_WRITERS.get(self.writer.name)
        if write is None:
            return self.write(matrix.cells)
        try:
            write(matrix, self.path)
        except TunaevalError as error:
            return str(error)
        return None


def asked_for(files: Sequence[str], writer: str | None) -> list[RequestedReport]:
    """Return the report for each file, with the writer that is named or that its suffix implies.
    Raise UsageError, or RecordError if a file cannot be written, before a model is asked.
    """
    if writer and not files:
        raise UsageError("--writer says how --report FILE is written; give --report, too")
    if writer and len(files) > 1:
        raise UsageError(
            f"--writer {writer!r} is for a single --report, and there are {len(files)}; leave it "
            f"out, so that each file's suffix decides: {', '.join(SUFFIXES)}"
        )
    if len({Path(file).absolute() for file in files}) < len(files):
        raise UsageError(f"--report names a file twice ({', '.join(files)}); name each once")
    found = [
        RequestedReport(Path(file), writer_called(writer or by_suffix(file))) for file in files
    ]
    for file in found:
        try_to_write_by(file.writer, file.path)
    return found


def writer_called(name: str) -> Writer:
    """Return the writer of that name. Raises UnknownNameError, or UsageError if unusable."""
    writer: Writer = registries()["writers"].get(name)
    available = getattr(writer, "available", None)
    try:
        why = available() if callable(available) else None
    except (Exception, SystemExit) as error:
        raise raised(writer, _KIND, error, "why it cannot write here, or None") from error
    if why:
        raise UsageError(f"{who(writer, _KIND)} cannot be used: {why}")
    return writer


def several_with(writer: Writer) -> Callable[[Sequence[Report], Path], None]:
    """Return the writer's function for several runs. Raise UsageError if it has none."""
    write: Callable[[Sequence[Report], Path], None] | None = getattr(writer, "write_runs", None)
    if write is None:
        raise UsageError(
            f"{who(writer, _KIND)} writes a single run; name one run, and repeat for the others"
        )
    return write


def by_suffix(file: str) -> str:
    """Return the name of the writer for a file's suffix. Raise UsageError if there is no suffix."""
    suffix = Path(file).suffix
    name = SUFFIXES.get(suffix.lower(), suffix[1:])
    if not name:
        raise UsageError(
            f"the report {file!r} has no suffix that names a writer; "
            f"add one of {', '.join(SUFFIXES)}, or give --writer"
        )
    return name
