"""`tunaeval convert`: rewrites the replies in JSON lines from one wire format to another.

It reads a line at a time, so a file may be of any size. A line with nothing to convert passes byte
for byte, and so does one that cannot be converted; that is reported, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import IO, TYPE_CHECKING

from tunaeval.files.plain_files import open_plain

from .output import Output

if TYPE_CHECKING:
    # At run time these are imported when there is something to convert, not for --help.
    from tunaeval.data.convert import Unconvertible
    from tunaeval.types.calls import JsonObject, JsonValue

_NOT_CONVERTED = 1
_PARQUET = b"PAR1"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", nargs="?", default="-", help="JSON lines; - (the default): stdin")
    for way, what in (("from", "the calls are written in"), ("to", "they are to be written in")):
        parser.add_argument(
            f"--{way}",
            dest=f"{way}_format",
            required=True,
            metavar="FORMAT",
            help=f"the format {what} (see `tunaeval formats`); structured: tool_calls beside the "
            "text (openai is an alias of that here; as a wire format it is harmony)",
        )
    parser.add_argument("-o", "--out", default="-", help="where to write (default: stdout)")
    parser.add_argument("--field", help="the field with the reply, if not as usual")
    parser.add_argument(
        "--tools", help="the tools, for the types of arguments: a JSON file, or a catalogue"
    )
    parser.add_argument(
        "--level",
        default="standard",
        choices=("strict", "standard", "lenient"),
        help="which repairs are allowed in reading (default: standard)",
    )


def run(arguments: argparse.Namespace, output: Output) -> int:
    from tunaeval.data.convert import convert_row, route_between  # noqa: PLC0415 - not for --help

    from .foreign import convert_foreign  # noqa: PLC0415 - as above
    from .tools import read_tools  # noqa: PLC0415 - as above

    tools = read_tools(arguments.tools) if arguments.tools else None
    route = route_between(arguments.from_format, arguments.to_format, tools, arguments.level)

    def convert(row: JsonValue) -> JsonValue | Unconvertible:
        if arguments.field is None and isinstance(row, dict):
            made = convert_foreign(row, route)
            if made is not None:
                return made
        return convert_row(row, route, field=arguments.field)

    with _lines(arguments.file) as lines, _writer(arguments.out, output) as write:
        counts = _convert_lines(lines, convert, write, output)
    total = sum(counts.values())
    reported = ", ".join(f"{count} {what}" for what, count in counts.items())
    output.note(f"{total} line{'s' * (total != 1)}: {reported}")
    return _NOT_CONVERTED if counts["left as they were"] else 0


def _convert_lines(
    lines: Iterable[bytes],
    convert: Callable[[JsonValue], JsonValue | Unconvertible],
    write: Callable[[bytes], object],
    output: Output,
) -> dict[str, int]:
    """Write each line, converted if possible. Return how many lines there were of each kind."""
    from tunaeval.data.convert import Unconvertible  # noqa: PLC0415 - as above

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
        write(line if kept else _line(made, ended=line.endswith(b"\n")))
    return counts


def _row(line: bytes) -> JsonValue | Unconvertible:
    """Return the JSON of a line, or why it could not be written again without loss."""
    import json  # noqa: PLC0415 - as above

    from tunaeval.data.convert import Unconvertible  # noqa: PLC0415 - as above

    if not line.strip():
        return ""
    try:
        return json.loads(line.decode("utf-8-sig"), object_pairs_hook=_unique, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        return Unconvertible(f"not JSON that can be written again ({error})")


def _unique(pairs: list[tuple[str, JsonValue]]) -> JsonObject:
    row = dict(pairs)
    if len(row) != len(pairs):
        raise ValueError("a key occurs twice in one object")
    return row


def _finite(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise ValueError(f"{text[:40]} is too large for a number")
    return number


def _line(row: JsonValue, *, ended: bool) -> bytes:
    import json  # noqa: PLC0415 - as above

    end = "\n" if ended else ""
    try:
        return (json.dumps(row, ensure_ascii=False) + end).encode()
    except UnicodeEncodeError:  # a lone surrogate, which JSON can contain only as an escape
        return (json.dumps(row) + end).encode()


@contextmanager
def _lines(file: str) -> Iterator[Iterator[bytes]]:
    if file == "-":
        yield iter(sys.stdin.buffer)
        return
    with _opened(Path(file)) as opened:
        first = opened.readline()
        if first.startswith(_PARQUET):
            from tunaeval.errors import UsageError  # noqa: PLC0415 - as above

            raise UsageError(
                f"{file} is Parquet; wanted JSON lines (`tunaeval dataset filter` writes them)"
            )
        yield chain([first] if first else [], opened)


@contextmanager
def _writer(out: str, output: Output) -> Iterator[Callable[[bytes], object]]:
    """Yield a function that writes a line. A file appears, complete, at the end, or not at all."""
    if out == "-":

        def write(line: bytes) -> None:
            output.draw(lambda stream: _guarded(stream.buffer.write, line))

        yield write
        return
    from tunaeval.reports.files import new_file  # noqa: PLC0415 - not for --help

    with new_file(Path(out)) as made, made.open("wb") as opened:
        yield opened.write


def _guarded(write: Callable[..., object], *line: bytes) -> None:
    from tunaeval.errors import UsageError  # noqa: PLC0415 - as above

    try:
        write(*line)
    except BrokenPipeError:  # `Output.draw` handles it
        raise
    except OSError as error:
        raise UsageError(f"a line cannot be written: {error.strerror or error}") from error


def _opened(path: Path) -> IO[bytes]:
    from tunaeval.errors import UsageError  # noqa: PLC0415 - as above

    try:
        return open_plain(path)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise UsageError(f"{str(path)!r} cannot be opened: {why}; wanted a file, or -") from error
