"""`tunaeval parse` of JSON lines: any number of them, as a stream, in several processes.

Only the lines in progress are in memory. A line with nothing to parse is counted, and written to a
file of bad lines if the results go to a file; it ends the command only with `--strict`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from time import monotonic
from typing import IO

from tunaeval.errors import UsageError
from tunaeval.files.records import encode
from tunaeval.reports.files import new_file, try_to_write
from tunaeval.showing import counted, visible
from tunaeval.workers import spread

from .output import Output
from .packed_files import lines_of, opened, packing
from .rows import Answer, Bad, Chunk, Setting, add, chunks_of, reading, summary_lines

BAD_SHOWN = 3
"""How many bad lines are shown on stderr."""
_BETWEEN_SECONDS = 0.5
"""The time between two updates of the progress on a terminal."""


def parse_rows(arguments: argparse.Namespace, setting: Setting, output: Output) -> int:
    """Parse the rows and return 0, or 1 if a line has nothing to parse."""
    total, began = Answer(), monotonic()
    writing = _Writing(arguments, output)
    with writing, opened(arguments.file) as file:
        progress = _Progress(output, began)
        for answer in _answers(setting, chunks_of(lines_of(file)), arguments.workers):
            for bad in answer.bad:
                writing.refuse(bad)
            writing.write(answer.said)
            add(total, answer)
            progress.tell(total.rows)
            if writing.is_over:
                break
        progress.end()
    for line in summary_lines(total, writing.bad, monotonic() - began):
        output.note(f"tunaeval: {visible(line)}")
    if writing.bad and writing.aside is not None:
        output.note(f"tunaeval: the bad lines are in {writing.aside}")
    return 1 if writing.bad else 0


def _answers(setting: Setting, chunks: Iterable[Chunk], workers: int) -> Iterator[Answer]:
    if workers == 1:
        return map(reading(setting), chunks)
    return spread(reading, setting, chunks, workers)


class _Writing:
    """Where results and bad lines go: stdout, or files that appear, complete, at the end."""

    def __init__(self, arguments: argparse.Namespace, output: Output) -> None:
        self.bad = 0
        self.is_over = False
        self.aside: Path | None = None
        self._strict, self._file = arguments.strict, arguments.file
        self._output, self._out = output, arguments.out
        self._stack = ExitStack()
        self._sink: Callable[[bytes], object] = self._to_stdout
        self._kept: IO[bytes] | None = None

    def __enter__(self) -> None:
        if self._out is None:
            return
        path = Path(self._out)
        self._refuse_what_is_read(path)
        pack = packing(path.suffix)
        try_to_write(path)
        made = self._stack.enter_context(new_file(path))
        raw = self._stack.enter_context(made.open("wb"))
        self._sink = self._stack.enter_context(pack(raw)).write

    def __exit__(self, *ended: object) -> None:
        self._stack.__exit__(*ended)  # type: ignore[arg-type]  # __exit__'s own arguments, passed on

    def _refuse_what_is_read(self, path: Path) -> None:
        """Raise UsageError if the output is the input file, whose texts would be lost."""
        read = Path(self._file)
        if self._file != "-" and path.exists() and read.exists() and path.samefile(read):
            raise UsageError(
                f"--out {self._out!r} is the file that is read, whose texts would be lost; "
                "choose another"
            )

    def write(self, written: bytes) -> None:
        self._sink(written)

    def refuse(self, bad: Bad) -> None:
        where = f"{self._file}, line {bad.number}: {bad.why}"
        if self._strict:
            raise UsageError(f"{where}; without --strict such lines are kept aside")
        self.bad += 1
        if self.bad <= BAD_SHOWN:
            self._output.note(f"tunaeval: {visible(where)}")
        if self._out is not None:
            row = {"line": bad.number, "why": bad.why, "text": bad.line.decode("utf-8", "replace")}
            self._aside().write(encode(row))

    def _aside(self) -> IO[bytes]:
        """Return the file of bad lines, which is created for the first one."""
        if self._kept is None:
            self.aside = Path(f"{self._out}.bad.jsonl")
            made = self._stack.enter_context(new_file(self.aside))
            self._kept = self._stack.enter_context(made.open("wb"))
        return self._kept

    def _to_stdout(self, written: bytes) -> None:
        def write(out: object) -> None:
            buffer = getattr(out, "buffer", None)
            try:
                if buffer is None:  # a text stream, as in a notebook
                    self._output.out.write(written.decode("utf-8"))
                else:
                    buffer.write(written)
                    buffer.flush()
            except BrokenPipeError:
                self.is_over = True  # the reader has closed the pipe
                raise

        self._output.draw(write)


class _Progress:
    """Shows progress on a terminal, unless the results go there, too."""

    def __init__(self, output: Output, began: float) -> None:
        self._err, self._began, self._last_shown = output.err, began, began
        self._is_shown = output.err.isatty() and not sys.stdout.isatty()

    def tell(self, rows: int) -> None:
        now = monotonic()
        if self._is_shown and now - self._last_shown >= _BETWEEN_SECONDS:
            self._last_shown = now
            rate = rows / (now - self._began)
            print(
                f"\r{counted(rows, 'row')}, {rate:,.0f} a second   ",
                end="",
                file=self._err,
                flush=True,
            )

    def end(self) -> None:
        if self._last_shown != self._began:
            print(f"\r{'':40}\r", end="", file=self._err, flush=True)
