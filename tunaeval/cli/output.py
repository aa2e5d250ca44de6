"""Where a command speaks: results to stdout, everything else to stderr, and no line is lost on
a terminal that cannot show its characters or a pipe that nobody reads.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from typing import TextIO


class Output:
    """The two streams of a command."""

    def __init__(self, out: TextIO, err: TextIO) -> None:
        self.out, self.err = out, err
        for stream in (out, err):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="backslashreplace")

    def result(self, text: str) -> None:
        """Print `text` as a result."""
        self.draw(lambda out: print(text, file=out))

    def draw(self, draw: Callable[[TextIO], None]) -> None:
        """Let `draw` write a result. A reader that went away (`| head`) changes nothing."""
        try:
            draw(self.out)
        except BrokenPipeError:
            self._abandon()

    def note(self, text: str) -> None:
        """Say `text` beside the results."""
        print(text, file=self.err, flush=True)

    def flush(self) -> None:
        """Have stdout written now, while a failure can still be kept quiet."""
        try:
            self.out.flush()
        except BrokenPipeError:
            self._abandon()

    def _abandon(self) -> None:
        """Let the rest go nowhere, so that neither we nor the interpreter's end complain."""
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self.out.fileno())
        os.close(nowhere)
