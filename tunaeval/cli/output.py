"""Where a command speaks: results to stdout, everything else to stderr, and no line is lost on
a terminal that cannot show its characters or a pipe that nobody reads.

What is written beside the results may go unread: a stderr that is closed, full or left changes
nothing. Results that cannot be written are an error, unless their reader went away (`| head`).
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from tunaeval.errors import RecordError
from tunaeval.showing import visible

from .ending import Ending

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class Output:
    """The two streams of a command."""

    def __init__(self, out: TextIO, err: TextIO | None) -> None:
        self.out, self.err = out, _beside(err)
        self.ending = Ending()
        for stream in (self.out, self.err):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="backslashreplace")

    def result(self, text: str) -> None:
        """Print `text` as a result."""
        self.draw(lambda out: print(text, file=out))

    def draw(self, draw: Callable[[TextIO], object]) -> None:
        """Let `draw` write a result. Raises RecordError where that cannot be."""
        with self._written():
            draw(self.out)

    def note(self, text: str) -> None:
        """Say `text`, on one line, beside the results; whatever is foreign in it is seen and not
        obeyed.
        """
        print(visible(text), file=self.err, flush=True)

    def flush(self) -> None:
        """Have stdout written now. Raises RecordError where that cannot be."""
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
        """Let the rest go nowhere, so that neither we nor the interpreter's end complain."""
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self.out.fileno())
        os.close(nowhere)


class _Unread(io.FileIO):
    """A file of which it does not matter whether it can be written."""

    def write(self, data: ReadableBuffer, /) -> int:
        try:
            return super().write(data)
        except OSError:
            return memoryview(data).nbytes


def _beside(err: TextIO | None) -> TextIO:
    """The stream for what is said beside the results; a terminal, or what is no file, as it is."""
    if err is None:
        return io.StringIO()
    try:
        raw = _Unread(err.fileno(), "w", closefd=False)
    except OSError:
        return err
    if raw.isatty():
        return err
    return io.TextIOWrapper(io.BufferedWriter(raw), err.encoding, line_buffering=True)
