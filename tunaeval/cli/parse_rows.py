"""`tunaeval parse` of JSON lines: any number of them, as a stream, over several processes.

What is in memory is the lines under way. A line that has nothing to parse is counted, kept aside
where the results go to a file, and ends nothing, unless that is asked for.
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
"""Of bad lines, on stderr."""
_BETWEEN_SECONDS = 0.5
"""Between two words on how far it is, on a terminal."""


def parse_rows(arguments: argparse.Namespace, setting: Setting, output: Output) -> int:
    """0, or 1 where a line has nothing to parse."""
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
    """Where results and bad lines go: stdout, or files that appear whole at the end."""

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
        self._stack.__exit__(*ended)  # type: ignore[arg-type]  # what ended it, passed on

    def _refuse_what_is_read(self, path: Path) -> None:
        """Results do not have the texts that they were read from, so these would be lost."""
        read = Path(self._file)
        if self._file != "-" and path.exists() and read.exists() and path.samefile(read):
            raise UsageError(
                f"--out {self._out!r} is the file that is read, whose texts would be lost; "
                "choose another"
            )

    def write(self, said: bytes) -> None:
        self._sink(said)

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
        """The file of bad lines, made when there is one."""
        if self._kept is None:
            self.aside = Path(f"{self._out}.bad.jsonl")
            made = self._stack.enter_context(new_file(self.aside))
            self._kept = self._stack.enter_context(made.open("wb"))
        return self._kept

    def _to_stdout(self, said: bytes) -> None:
        def write(out: object) -> None:
            buffer = getattr(out, "buffer", None)
            try:
                if buffer is None:  # a stream of texts, as in a notebook
                    self._output.out.write(said.decode("utf-8"))
                else:
                    buffer.write(said)
                    buffer.flush()
            except BrokenPipeError:
                self.is_over = True  # nobody reads on
                raise

        self._output.draw(write)


class _Progress:
    """Says on a terminal how far it is; results that go there, too, say it themselves."""

    def __init__(self, output: Output, began: float) -> None:
        self._err, self._began, self._said = output.err, began, began
        self._speaks = output.err.isatty() and not sys.stdout.isatty()

    def tell(self, rows: int) -> None:
        now = monotonic()
        if self._speaks and now - self._said >= _BETWEEN_SECONDS:
            self._said = now
            rate = rows / (now - self._began)
            print(
                f"\r{counted(rows, 'row')}, {rate:,.0f} a second   ",
                end="",
                file=self._err,
                flush=True,
            )

    def end(self) -> None:
        if self._said != self._began:
            print(f"\r{'':40}\r", end="", file=self._err, flush=True)
