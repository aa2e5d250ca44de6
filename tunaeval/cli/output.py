"""Where a command writes: results to stdout, everything else to stderr.

A character that the terminal cannot show is escaped. A stderr that is closed, full or no longer
read changes nothing. Results that cannot be written are an error, unless their reader left (`|
head`). Lists are aligned columns for people, and one JSON object for programs.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from tunaeval.errors import RecordError
from tunaeval.files.keys import covered, of_environment
from tunaeval.showing import visible

from .ending import Ending

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

    from tunaeval.types.calls import JsonObject, JsonValue  # --help must be quick


class Output:
    """A command's stdout and stderr."""

    def __init__(self, out: TextIO, err: TextIO | None) -> None:
        self.out, self.err = out, _beside(err)
        self.ending = Ending()
        self.is_read = True
        """Whether stdout has a reader: False once one has closed the pipe (`| head`)."""
        for stream in (self.out, self.err):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="backslashreplace")

    def result(self, text: str) -> None:
        """Print `text` as a result."""
        self.draw(lambda out: print(text, file=out))

    def write(self, data: bytes) -> None:
        """Write bytes of UTF-8 as a result; as text where stdout takes no bytes (in a notebook)."""
        buffer = getattr(self.out, "buffer", None)
        if buffer is None:
            self.draw(lambda out: out.write(data.decode("utf-8")))
        else:
            self.draw(lambda _: buffer.write(data))

    def draw(self, draw: Callable[[TextIO], object]) -> None:
        """Let `draw` write a result to stdout. Raises RecordError if that fails."""
        with self._written():
            draw(self.out)

    def note(self, text: str) -> None:
        """Print `text` as one line to stderr, without secrets, with control characters escaped."""
        print(visible(covered(text, of_environment())), file=self.err, flush=True)

    @contextmanager
    def logging(self) -> Iterator[None]:
        """While the block runs, print each warning that the package logs as a note."""
        import logging  # noqa: PLC0415 - --help must be quick

        class Notes(logging.Handler):
            def emit(handler, record: logging.LogRecord) -> None:  # noqa: N805 - of the output
                self.note(f"tunaeval: {record.getMessage()}")

        notes, logger = Notes(logging.WARNING), logging.getLogger("tunaeval")
        logger.addHandler(notes)
        try:
            yield
        finally:
            logger.removeHandler(notes)

    def flush(self) -> None:
        """Flush stdout. Raise RecordError if it cannot be written."""
        with self._written():
            self.out.flush()

    @contextmanager
    def _written(self) -> Iterator[None]:
        try:
            yield
        except BrokenPipeError:
            self._abandon()
        except OSError as error:
            self._abandon()
            raise RecordError(f"stdout cannot be written: {error.strerror or error}") from error

    def _abandon(self) -> None:
        """Redirect stdout to the null device, so that later writes and the exit do not fail."""
        self.is_read = False
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self.out.fileno())
        os.close(nowhere)


class _IgnoringFile(io.FileIO):
    """A file whose failures to write are ignored."""

    def write(self, data: ReadableBuffer, /) -> int:
        try:
            return super().write(data)
        except OSError:
            return memoryview(data).nbytes


def _beside(err: TextIO | None) -> TextIO:
    """Return a stderr that never raises, or `err` itself if it is a terminal or has no file."""
    if err is None:
        return io.StringIO()
    try:
        raw = _IgnoringFile(err.fileno(), "w", closefd=False)
    except OSError:
        return err
    if raw.isatty():
        return err
    return io.TextIOWrapper(io.BufferedWriter(raw), err.encoding, line_buffering=True)


def print_listing(
    output: Output,
    name: str,
    rows: Sequence[JsonObject],
    columns: Sequence[str],
    *,
    as_json: bool,
    limit: int | None = None,
) -> None:
    """Print `rows` as a table without its empty columns, or as the JSON object {name: rows}. Texts
    longer than `limit` characters are cut, except in the last column and in JSON.
    """
    if as_json:
        output.result(json.dumps({name: list(rows)}))
        return
    cells = [
        [_cell(row[column], None if column == columns[-1] else limit) for column in columns]
        for row in rows
    ]
    used = [i for i in range(len(columns)) if any(row[i] for row in cells)]
    table = [[columns[i] for i in used], *([row[i] for i in used] for row in cells)]
    widths = [max(len(row[i]) for row in table) for i in range(len(used))]
    if output.out.isatty():
        from shutil import get_terminal_size  # noqa: PLC0415 - it loads packers of archives

        widths = fitting(widths, get_terminal_size().columns)
        table = [[_cell(text, width) for text, width in zip(row, widths, strict=True)]
                 for row in table]  # fmt: skip
    for row in table:
        output.result("  ".join(map(str.ljust, row, widths)).rstrip())


def fitting(widths: Sequence[int], room: int) -> list[int]:
    """Return column widths that fit into `room` characters with two blanks between columns. The
    widest are narrowed first, to `_NARROWEST` at least: on so narrow a screen the lines wrap.
    """
    found = list(widths)
    excess = sum(found) + 2 * (len(found) - 1) - room
    while excess > 0 and max(found) > _NARROWEST:
        widest = max(range(len(found)), key=found.__getitem__)
        found[widest] -= 1
        excess -= 1
    return found


_NARROWEST = 8


def _cell(value: JsonValue, limit: int | None) -> str:
    return visible(", ".join(value) if isinstance(value, list) else str(value), limit)


def json_line(value: JsonValue, *, end: str = "\n") -> bytes:
    """Return a value as a line of JSON in UTF-8; objects that JSON lacks are written as text."""
    try:
        return (json.dumps(value, ensure_ascii=False, default=str) + end).encode()
    except UnicodeEncodeError:  # a lone surrogate, which JSON can contain only as an escape
        return (json.dumps(value, default=str) + end).encode()
