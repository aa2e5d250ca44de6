"""`tunaeval report`: writes a page, a table or annotations of stored runs, including old ones."""

from __future__ import annotations

import argparse
import shutil
import tempfile
from pathlib import Path

from .output import Output

_SHAPES = {
    "html": "a page of its own, for a browser",
    "junit": "XML, as CI servers read it",
    "csv": "a row for each scenario and repeat",
    "markdown": "for a pull request, or a step's summary",
    "parquet": "the rows as columns (extra arrow)",
    "json": "all of it, as one object",
    "github": "annotations of GitHub Actions",
}


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "runs", nargs="+", metavar="RUN", help="run directories, the baseline first"
    )
    shape = parser.add_mutually_exclusive_group()
    for name, words in _SHAPES.items():
        shape.add_argument(f"--{name}", dest="writer", action="store_const", const=name, help=words)
    shape.add_argument("--writer", metavar="NAME", help="a plug-in")
    parser.add_argument(
        "-o",
        "--out",
        metavar="FILE",
        help="where to write (stdout); its suffix may say what; missing directories are made",
    )


def run(arguments: argparse.Namespace, output: Output) -> int:
    """Return 0, or 2 if the writer failed."""
    from tunaeval.errors import UsageError  # noqa: PLC0415 - not for --help
    from tunaeval.reports.files import try_to_write  # noqa: PLC0415 - as above
    from tunaeval.runs.directory import load_report  # noqa: PLC0415 - as above

    from .reports import Asked, by_suffix, several_with, writer_called  # noqa: PLC0415 - as above

    if not (arguments.writer or arguments.out):
        shapes = ", ".join(f"--{name}" for name in _SHAPES)
        raise UsageError(f"say what to write: {shapes} or --writer NAME, or -o FILE with a suffix")
    writer = writer_called(arguments.writer or by_suffix(arguments.out))
    if len(arguments.runs) > 1:
        several_with(writer)
    if arguments.out:
        try_to_write(Path(arguments.out))
    elif arguments.writer == "parquet" and output.out.isatty():
        raise UsageError("Parquet is not for a terminal; give -o FILE")
    reports = [load_report(path) for path in arguments.runs]
    with tempfile.TemporaryDirectory(prefix="tunaeval-") as folder:
        file = Path(arguments.out) if arguments.out else Path(folder) / "report"
        fault = Asked(file, writer).write(reports)
        if fault is not None:
            output.note(f"tunaeval: {fault}")
            return 2
        if not arguments.out:
            output.draw(lambda _: _copied(file, output))
    return 0


def _copied(file: Path, output: Output) -> None:
    """Copy the file to stdout, as text if stdout takes no bytes (in a test, in a notebook)."""
    buffer = getattr(output.out, "buffer", None)
    if buffer is None:
        output.out.write(file.read_text("utf-8"))
        return
    output.out.flush()
    with file.open("rb") as source:
        shutil.copyfileobj(source, buffer)
