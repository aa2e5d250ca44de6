"""`tunaeval parse`: shows the calls in a text, or in each record of JSON lines.

With `--json` a text gives one object, and JSON lines give one for each record, with its line. There
may be any number of JSON lines: they are read as a stream, with `--workers` in several processes,
and only the lines in progress are in memory. A line with nothing to parse is counted, and written
to a file of bad lines if the results go to a file; it ends the command only with `--strict`.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import IO, Any, NamedTuple

import orjson

from tunaeval.errors import UsageError
from tunaeval.files.new_files import new_file, try_to_write
from tunaeval.files.packed_files import LONGEST, PACKED, lines_of, opened, packing, read_whole
from tunaeval.files.plain_files import is_there
from tunaeval.files.records import json_text
from tunaeval.grammar.formats import FORMATS
from tunaeval.parsing.api import parse, parse_message, parser_for, sole_parser_for
from tunaeval.showing import counted, visible
from tunaeval.types.calls import STRUCTURED, JsonObject, JsonValue, Repair, Span, Tools
from tunaeval.types.json_text import call_words, decoded, encode
from tunaeval.types.parsing import Diagnosis, Level, ParseResult
from tunaeval.types.third_party import guarded
from tunaeval.workers import spread

from .output import Output

_BEFORE, _WIDTH = 24, 76
_LINES = (".jsonl", ".ndjson")


def run(arguments: argparse.Namespace, output: Output) -> int:
    tools = _tools(arguments.tools)
    if arguments.file == "-" and sys.stdin.isatty():
        output.note("tunaeval: reading from the terminal; end with Ctrl-D")
    parser = guarded(sole_parser_for(arguments.format))
    if arguments.jsonl or _is_lines(arguments.file):
        as_json = arguments.json or arguments.out is not None
        setting = ReadingSetting(
            arguments.format,
            tools,
            arguments.level,
            arguments.field,
            as_json,
            abstain=tuple(arguments.abstain),
        )
        return parse_rows(arguments, setting, output)
    _refuse_options_of_lines(arguments)
    text = _read_text(arguments.file, output)
    result = parse(text, parser, tools, arguments.level, abstain=arguments.abstain)
    if arguments.json:
        output.result(json_text(result_object(result)))
    else:
        output.result("\n".join(described(result, text)))
    return 0


def _tools(file: str | None) -> Tools | None:
    if not file:
        return None
    from .named_tools import read_tools  # noqa: PLC0415 - its import takes as long as all others together

    return read_tools(file)


def _is_lines(file: str) -> bool:
    """Whether a file's name says that it has a record on each line."""
    path = Path(file.lower())
    return (path.with_suffix("") if path.suffix in PACKED else path).suffix in _LINES


def _refuse_options_of_lines(arguments: argparse.Namespace) -> None:
    given = {
        "--field": arguments.field,
        "--workers": arguments.workers > 1,
        "--out": arguments.out,
        "--strict": arguments.strict,
    }
    for option, is_given in given.items():
        if is_given:
            raise UsageError(
                f"{option} is for JSON lines, but {arguments.file!r} is read as one text; "
                "give --jsonl if each line is a record"
            )


def _read_text(file: str, output: Output) -> str:
    data = read_whole(file)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        output.note(
            f"tunaeval: {file!r} is not UTF-8 (byte 0x{data[error.start]:02x} at {error.start}); "
            "such bytes are read as lone surrogates"
        )
        return data.decode("utf-8-sig", "surrogateescape")


def result_object(result: ParseResult) -> JsonObject:
    """Return a result as a JSON object, with each span as [start, end]."""
    return {
        "calls": [
            {
                "name": call.name,
                "arguments": call.arguments,
                "id": call.id,
                "format": call.format,
                "span": call.span and [*call.span],
                "repairs": [_found(repair) | {"level": repair.level} for repair in call.repairs],
                "source": call.source,
            }
            for call in result.calls
        ],
        "content": result.content,
        "reasoning": result.reasoning,
        "diagnoses": [_found(one) for one in result.diagnoses],
        "truncated": result.truncated,
        "outcome": result.outcome,
        "detail": result.detail,
    }


def _found(one: Repair | Diagnosis) -> JsonObject:
    return {"code": one.code, "message": one.message, "span": one.span and [*one.span]}


def described(result: ParseResult, text: str) -> Iterator[str]:
    """Yield a result as lines for people to read; its spans are positions in `text`."""
    yield f"{result.outcome}{' (and cut off)' if result.truncated else ''}"
    for number, call in enumerate(result.calls, 1):
        yield f"{number}. {call_words(call.name, call.arguments)}"
        is_ours = call.format in FORMATS or call.format == STRUCTURED
        yield f"   {visible(call.format)}{'' if is_ours else ', text'}{_place(call.span)}"
        for repair in call.repairs:
            yield f"   repaired: {visible(repair.message)} ({repair.code}, {repair.level})"
    for diagnosis in result.diagnoses:
        yield from _diagnosis(diagnosis, text)
    for name, words in (("content", result.content), ("reasoning", result.reasoning)):
        if words:
            yield f"{name}:"
            yield from (f"   {visible(line)}" for line in words.splitlines())


def _diagnosis(diagnosis: Diagnosis, text: str) -> Iterator[str]:
    yield f"{diagnosis.code}: {visible(diagnosis.message)}{_place(diagnosis.span)}"
    if diagnosis.span is None or not text:
        return
    start, end = diagnosis.span
    before = visible(text[max(0, start - _BEFORE) : start])
    here = visible(text[start : min(end, start + _WIDTH)])
    after = visible(text[end : end + _WIDTH])
    yield f"   {(before + here + after)[:_WIDTH]}"
    yield f"   {' ' * len(before)}{'^' * max(1, min(len(here), _WIDTH - len(before)))}"


def _place(span: Span | None) -> str:
    return f", characters {span.start} to {span.end}" if span else ""


BAD_SHOWN = 3
"""How many bad lines are shown on stderr."""
_BETWEEN_SECONDS = 0.5
"""The time between two updates of the progress on a terminal."""


def parse_rows(arguments: argparse.Namespace, setting: ReadingSetting, output: Output) -> int:
    """Parse each row and write its result. Return 0, or 1 if a line has nothing to parse."""
    total, began = LineOutput(), monotonic()
    writing = _Writing(arguments, output)
    with writing, opened(arguments.file) as file:
        progress = _Progress(output, began)
        for answer in spread(reading, setting, chunks_of(lines_of(file)), arguments.workers):
            for bad in answer.bad:
                writing.refuse(bad)
            writing.sink(answer.written)
            add(total, answer)
            progress.show(total.rows)
            if not output.is_read:
                break
        progress.end()
    for line in summary_lines(total, writing.bad, monotonic() - began):
        output.note(f"tunaeval: {visible(line)}")
    if writing.bad and writing.aside is not None:
        output.note(f"tunaeval: the bad lines are in {writing.aside}")
    return 1 if writing.bad else 0


class _Writing:
    """Writes results and bad lines to stdout, or to files that appear, complete, at the end."""

    def __init__(self, arguments: argparse.Namespace, output: Output) -> None:
        self.bad = 0
        self.aside: Path | None = None
        self._strict, self._file = arguments.strict, arguments.file
        self._output, self._out = output, arguments.out
        self._stack = ExitStack()
        self.sink: Callable[[bytes], object] = self._to_stdout
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
        self.sink = self._stack.enter_context(pack(raw)).write

    def __exit__(self, *ended: object) -> None:
        self._stack.__exit__(*ended)  # type: ignore[arg-type]  # __exit__'s own arguments, passed on

    def _refuse_what_is_read(self, path: Path) -> None:
        """Raise UsageError if the output is the input file, whose texts would be lost."""
        read = Path(self._file)
        if self._file != "-" and is_there(path) and is_there(read) and path.samefile(read):
            raise UsageError(
                f"--out {self._out!r} is the input file, which would be overwritten; "
                "choose another file"
            )

    def refuse(self, bad: Bad) -> None:
        where = f"{self._file}, line {bad.number}: {bad.why}"
        if self._strict:
            raise UsageError(f"{where}; without --strict such lines are reported and skipped")
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
        self._output.write(written)
        self._output.flush()


class _Progress:
    """Shows progress on a terminal, unless the results go there, too."""

    def __init__(self, output: Output, began: float) -> None:
        self._err, self._began, self._last_shown = output.err, began, began
        self._is_shown = output.err.isatty() and not sys.stdout.isatty()

    def show(self, rows: int) -> None:
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


_TEXTS = ("text", "completion")
MESSAGE_KEYS = ("content", "tool_calls", "function_call")
WANTED = (
    'wanted {"text": "..."}, {"completion": "..."}, a message {"role": ..., "content": ...}, '
    "a chat completion, or a string"
)
RESULT_KEYS = (
    "line", "calls", "content", "reasoning", "diagnoses", "truncated", "outcome", "detail",
)  # fmt: skip
"""The keys that a result adds to its row; the row's own fields of these names are kept in "row"."""

_RESULT_KEYS = frozenset(RESULT_KEYS)

_CHUNK_LINES, _CHUNK_BYTES = 256, 1 << 18


class ReadingSetting(NamedTuple):
    """How rows are read; `field` has the text or message, None for the usual fields."""

    format: str
    tools: Tools | None
    level: Level
    field: str | None
    as_json: bool
    abstain: tuple[str, ...] = ()


class InputRow(NamedTuple):
    """The text or message of a line that is to be parsed, and the record's other fields."""

    message: JsonValue
    others: JsonObject


class Bad(NamedTuple):
    """A line with nothing to parse: its number, its bytes, and the reason."""

    number: int
    line: bytes
    why: str


Chunk = tuple[int, list[bytes]]
"""The number of the first line, and the lines."""


@dataclass(slots=True)
class LineOutput:
    """The output for some lines, and counts of their outcomes, formats and repairs."""

    written: bytes = b""
    rows: int = 0
    bad: list[Bad] = field(default_factory=list)
    outcomes: Counter[str] = field(default_factory=Counter)
    formats: Counter[str] = field(default_factory=Counter)
    repairs: Counter[str] = field(default_factory=Counter)


def chunks_of(lines: Iterator[bytes]) -> Iterator[Chunk]:
    """Yield chunks of up to `_CHUNK_LINES` lines, fewer if they are long."""
    chunk: list[bytes] = []
    size, first = 0, 1
    for number, line in enumerate(lines, 1):
        chunk.append(line)
        size += len(line)
        if len(chunk) == _CHUNK_LINES or size >= _CHUNK_BYTES:
            yield first, chunk
            chunk, size, first = [], 0, number + 1
    if chunk:
        yield first, chunk


def reading(setting: ReadingSetting) -> Callable[[Chunk], LineOutput]:
    """Return a function that parses a chunk of lines and returns their output and counts."""
    parser = guarded(parser_for(setting.format))
    tools, level, names = setting.tools, setting.level, frozenset(setting.abstain)

    def read(message: JsonValue) -> ParseResult:
        if isinstance(message, str):
            return parse(message, parser, tools, level, abstain=names)
        return parse_message(message, parser, tools, level, abstain=names)

    return lambda chunk: _answer_lines(chunk, setting, read)


def _answer_lines(
    chunk: Chunk, setting: ReadingSetting, read: Callable[[JsonValue], ParseResult]
) -> LineOutput:
    answer, out = LineOutput(), []
    outcomes, formats = [], []
    first, lines = chunk
    for number, line in enumerate(lines, first):
        if not line or line.isspace():
            continue
        try:
            row = row_of(line, setting.field)
        except (ValueError, RecursionError) as error:
            answer.bad.append(Bad(number, line, str(error)))
            continue
        result = read(row.message)
        outcomes.append(result.outcome)
        for call in result.calls:
            formats.append(call.format)
            for repair in call.repairs:
                answer.repairs[repair.code] += 1
        out.append(_json(number, row, result) if setting.as_json else _section(number, row, result))
    answer.written, answer.rows = b"".join(out), len(out)
    answer.outcomes, answer.formats = Counter(outcomes), Counter(formats)
    return answer


def row_of(line: bytes, name: str | None) -> InputRow:
    """Return the text or message in a line, in field `name` or a usual one. Raises ValueError."""
    if len(line) > LONGEST:
        raise ValueError(f"the line is longer than {LONGEST:,} bytes; {WANTED}")
    try:
        record = _decoded(line)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"not JSON ({error}); {WANTED}") from error
    if name is None:
        found = _usual(record)
        missing = f"found {line[:60].decode('utf-8', 'replace')!r}; {WANTED}"
    else:
        value = record.get(name) if isinstance(record, dict) else None
        found = InputRow(value, _without(record, name)) if isinstance(value, str | dict) else None
        missing = f"found no text or message in the field {name!r}; see --field"
    if found is None:
        raise ValueError(missing)
    return found


def _usual(record: JsonValue) -> InputRow | None:
    if isinstance(record, dict):
        for name in _TEXTS:
            if isinstance(text := record.get(name), str):
                return InputRow(text, _without(record, name))
    match record:
        case str():
            return InputRow(record, {})
        case {"message": dict(message)}:
            return InputRow(message, _without(record, "message"))
        case {"choices": [{"message": dict(message)}, *_]}:
            return InputRow(message, _without(record, "choices"))
        case {"messages": [*_, dict(message)]}:
            return InputRow(message, _without(record, "messages"))
        case dict() if any(key in record for key in MESSAGE_KEYS):
            return InputRow(record, _without(record, "role", *MESSAGE_KEYS))
    return None


def _decoded(line: bytes) -> JsonValue:
    try:
        return decoded(line, constants=True)
    except UnicodeDecodeError:
        return decoded(line.decode("utf-8", "surrogateescape"), constants=True)


def _without(record: JsonObject, *names: str) -> JsonObject:
    others = record.copy()
    for name in names:
        others.pop(name, None)
    return others


def _json(number: int, row: InputRow, result: ParseResult) -> bytes:
    """Return the output line: the row's own fields, and its result."""
    others, mine = row.others, {}
    if not _RESULT_KEYS.isdisjoint(others):
        mine = {"row": {key: others[key] for key in others if key in RESULT_KEYS}}
        others = {key: others[key] for key in others if key not in RESULT_KEYS}
    record = {"line": number, **others, **mine, **result_object(result)}
    try:
        return orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE)
    except TypeError:  # orjson takes no lone surrogates, wide integers or deep nesting
        return encode(record)


def _section(number: int, row: InputRow, result: ParseResult) -> bytes:
    text = row.message if isinstance(row.message, str) else row.message.get("content")
    lines = [f"line {number}", *described(result, text if isinstance(text, str) else "")]
    return ("\n".join(lines) + "\n").encode("utf-8", "backslashreplace")


def add(total: LineOutput, one: LineOutput) -> None:
    """Add the counts of further lines to `total`; their output is not kept."""
    total.rows += one.rows
    for name in ("outcomes", "formats", "repairs"):
        counts: Counter[str] = getattr(total, name)
        counts.update(getattr(one, name))


def summary_lines(total: LineOutput, bad: int, seconds: float) -> Sequence[str]:
    """Return the lines that summarise all rows: number, rate, outcomes, formats and repairs."""
    rate = f", {total.rows / seconds:,.0f} a second" if seconds > 1 else ""
    broken = f"; {counted(bad, 'bad line')}" if bad else ""
    lines = [f"{counted(total.rows, 'row')} in {seconds:.1f} s{rate}{broken}"]
    for name in ("outcomes", "formats", "repairs"):
        counts: Counter[Any] = getattr(total, name)
        if counts:
            listed = ", ".join(f"{key} {count:,}" for key, count in counts.most_common(12))
            lines.append(f"{name}: {listed}")
    return lines
