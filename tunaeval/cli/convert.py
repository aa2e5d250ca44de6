"""`tunaeval convert`: rewrites the replies in JSON lines from one wire format to another.

It reads a line at a time, so a file may be of any size. A line with nothing to convert passes byte
for byte, and so does one that cannot be converted; that is reported, and the exit code is 1.

Rows of public data sets whose calls are neither text nor in messages are read by `tunaeval.data`
and written as OpenAI-style messages, with their calls as `tool_calls`, or as text in a wire format.
`--to atif` writes whole transcripts instead.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from itertools import chain
from pathlib import Path

from tunaeval.data.adapters.documents import read_path
from tunaeval.data.atif import as_atif
from tunaeval.data.checking import HARMLESS
from tunaeval.data.convert import (
    Route,
    Unconvertible,
    convert_row,
    route_between,
    route_by_template,
)
from tunaeval.data.rows import LOSSES, Fault, Raw, Row, exported, losses_of
from tunaeval.data.shapes import read_row, shape_of
from tunaeval.errors import UsageError
from tunaeval.files.new_files import new_bytes
from tunaeval.files.packed_files import LONGEST, lines_in, opened
from tunaeval.showing import counted
from tunaeval.types.calls import JsonObject, JsonValue
from tunaeval.types.json_text import decoded

from .named_tools import read_tools
from .output import Output, json_line
from .template import read_template

_NOT_CONVERTED = 1
_PARQUET = b"PAR1"


_ATIF = "atif"


def run(arguments: argparse.Namespace, output: Output) -> int:
    if arguments.to_format == _ATIF:
        return _write_trajectories(arguments, output)
    if arguments.from_format is None:
        raise UsageError("--from is missing; give the format of the calls in the file")
    tools = read_tools(arguments.tools) if arguments.tools else None
    lost: Counter[str] = Counter()
    if (arguments.to_format is None) == (arguments.template is None):
        raise UsageError("the calls are written in a format or by a template: --to or --template")
    if arguments.template is None:
        kind = arguments.arguments
        if kind not in {None, "object", "text"}:
            kind = read_template(kind)
        route = route_between(
            arguments.from_format, arguments.to_format, tools, arguments.level, kind
        )
    else:
        template = read_template(arguments.template)
        route = route_by_template(arguments.from_format, template, tools, arguments.level)

    def convert(row: JsonValue) -> JsonValue | Unconvertible:
        if arguments.field is None and isinstance(row, dict):
            made = convert_foreign(row, route, lost)
            if made is not None:
                return made
        return convert_row(row, route, field=arguments.field)

    with _lines_of(arguments.file) as lines, _writer_to(arguments.out, output) as write:
        counts = _convert_lines(lines, convert, write, output)
    for code, rows in sorted(lost.items()):
        output.note(f"in {counted(rows, 'row')} {LOSSES[code]} ({code})")
    total = sum(counts.values())
    reported = ", ".join(f"{count} {what}" for what, count in counts.items())
    output.note(f"{total} line{'s' * (total != 1)}: {reported}")
    return _NOT_CONVERTED if counts["left as they were"] else 0


def _writer_to(out: str, output: Output) -> AbstractContextManager[Callable[[bytes], object]]:
    return nullcontext(output.write) if out == "-" else new_bytes(Path(out))


def _write_trajectories(arguments: argparse.Namespace, output: Output) -> int:
    """Write the transcripts in a file as trajectories, and report what was odd in reading them."""
    found = read_path(arguments.file, shape=arguments.from_format)
    with _writer_to(arguments.out, output) as write:
        for number, conversation in enumerate(found, 1):
            write(json_line(as_atif(conversation)))
            for notice in conversation.warnings:
                output.note(f"transcript {number}: {notice.message} ({notice.code})")
    output.note(f"{counted(len(found), 'transcript')} written")
    return 0


def _convert_lines(
    lines: Iterable[bytes],
    convert: Callable[[JsonValue], JsonValue | Unconvertible],
    write: Callable[[bytes], object],
    output: Output,
) -> dict[str, int]:
    """Write each line, converted if possible. Return the number of lines of each kind."""
    counts = {"converted": 0, "without calls to convert": 0, "left as they were": 0}
    for number, line in enumerate(lines, 1):
        row = _row(line)
        made = row if isinstance(row, Unconvertible) else convert(row)
        if isinstance(made, Unconvertible):
            output.note(f"line {number} is left as it is: {made.reason}")
            counts["left as they were"] += 1
        else:
            counts["without calls to convert" if made is row else "converted"] += 1
        kept = isinstance(made, Unconvertible) or made is row
        write(line if kept else json_line(made, end="\n" if line.endswith(b"\n") else ""))
    return counts


def _row(line: bytes) -> JsonValue | Unconvertible:
    """Return the JSON value of a line, or the reason why writing it again would lose something."""
    if not line.strip():
        return ""
    try:
        return decoded(line, duplicates="refuse")
    except ValueError as error:
        return Unconvertible(f"not JSON that can be written again ({error})")


@contextmanager
def _lines_of(file: str) -> Iterator[Iterator[bytes]]:
    with opened(file) as source:
        lines = _whole(file, lines_in(source))
        first = next(lines, b"")
        if first.startswith(_PARQUET):
            raise UsageError(
                f"{file} is Parquet; wanted JSON lines (`tunaeval dataset filter` writes them)"
            )
        yield chain([first] if first else [], lines)


def _whole(file: str, lines: Iterable[bytes]) -> Iterator[bytes]:
    for number, line in enumerate(lines, 1):
        if len(line) > LONGEST:
            raise UsageError(f"{file}, line {number}: it has more than {LONGEST:,} bytes; split it")
        yield line


_IN_PLACE = frozenset({"openai", "sharegpt", "trl"})
"""Shapes whose texts are converted in place; structured calls have one in `openai` alone."""


def convert_foreign(
    row: JsonObject, route: Route, lost: Counter[str]
) -> JsonValue | Unconvertible | None:
    """Return the row as messages, or why that is impossible; None if it keeps its own shape.

    `lost` counts what the row loses, by its code in `LOSSES`.
    """
    shape = shape_of(row)
    structured = route.target is None
    in_place = {"openai"} if structured else _IN_PLACE
    is_decoded = not any(isinstance(row.get(key), str) for key in ("messages", "conversations"))
    if shape is None or (shape in in_place and is_decoded):
        return None
    read = read_row(Raw(row))
    if isinstance(read, Fault):
        return Unconvertible(read.reason)
    notes = [note for _, note in read.notes if note.code not in _KEPT]
    if notes:
        return Unconvertible(f"{shape}: {notes[0].code}: {notes[0].message}")
    messages = [*read.messages, *(read.rejected.messages if isinstance(read.rejected, Row) else ())]
    if not any(message.tool_calls for message in messages):
        return row
    lost.update(losses_of(read))
    made = exported(read, route.arguments)
    return made if structured else convert_row(made, replace(route, source=None))


_KEPT = HARMLESS | {"duplicate-key"}
"""Codes of notes that do not mean a loss."""
