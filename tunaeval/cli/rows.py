"""The rows of JSON lines: what each has to parse, and how its result is written.

A chunk of lines becomes bytes and counts, in this process or in another.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import orjson

from tunaeval.files.records import decode, encode
from tunaeval.parsing.api import parse, parse_message, parser_for
from tunaeval.registry import guarded
from tunaeval.showing import counted
from tunaeval.types.calls import JsonObject, JsonValue, Repair, Tools
from tunaeval.types.parsing import Diagnosis, Level, ParseResult

from .packed_files import LONGEST

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


class Setting(NamedTuple):
    """How rows are read; `field` has the text, or is None to look in the usual fields."""

    format: str
    tools: Tools | None
    level: Level
    field: str | None
    as_json: bool
    abstain: tuple[str, ...] = ()


class Row(NamedTuple):
    """The text or message to be parsed in a line, and the record's other fields."""

    message: JsonValue
    others: JsonObject


class Bad(NamedTuple):
    """A line with nothing to parse: its number, its bytes, and why."""

    number: int
    line: bytes
    why: str


Chunk = tuple[int, list[bytes]]
"""The number of the first line, and the lines."""


@dataclass(slots=True)
class Answer:
    """The output and the counts of some lines."""

    said: bytes = b""
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


def reading(setting: Setting) -> Callable[[Chunk], Answer]:
    """Return the function that parses a chunk of lines."""
    parser = guarded(parser_for(setting.format))
    tools, level, names = setting.tools, setting.level, frozenset(setting.abstain)

    def read(message: JsonValue) -> ParseResult:
        if isinstance(message, str):
            return parse(message, parser, tools, level, abstain=names)
        return parse_message(message, parser, tools, level, abstain=names)

    return lambda chunk: _answer(chunk, setting, read)


def _answer(chunk: Chunk, setting: Setting, read: Callable[[JsonValue], ParseResult]) -> Answer:
    answer, out = Answer(), []
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
            formats.append(call.format or "structured")
            for repair in call.repairs:
                answer.repairs[repair.code] += 1
        out.append(_json(number, row, result) if setting.as_json else _words(number, row, result))
    answer.said, answer.rows = b"".join(out), len(out)
    answer.outcomes, answer.formats = Counter(outcomes), Counter(formats)
    return answer


def row_of(line: bytes, name: str | None) -> Row:
    """Return what a line has to parse. Raise ValueError, with a sentence, if there is nothing."""
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
        found = Row(value, _without(record, name)) if isinstance(value, str | dict) else None
        missing = f"found no text or message in the field {name!r}; see --field"
    if found is None:
        raise ValueError(missing)
    return found


def _usual(record: JsonValue) -> Row | None:
    if isinstance(record, dict):
        for name in _TEXTS:
            if isinstance(text := record.get(name), str):
                return Row(text, _without(record, name))
    match record:
        case str():
            return Row(record, {})
        case {"message": dict(message)}:
            return Row(message, _without(record, "message"))
        case {"choices": [{"message": dict(message)}, *_]}:
            return Row(message, _without(record, "choices"))
        case {"messages": [*_, dict(message)]}:
            return Row(message, _without(record, "messages"))
        case dict() if any(key in record for key in MESSAGE_KEYS):
            return Row(record, _without(record, "role", *MESSAGE_KEYS))
    return None


def _decoded(line: bytes) -> JsonValue:
    if line[:1] == b"{" or line.lstrip()[:1] == b"{":
        try:
            return decode(line)
        except UnicodeDecodeError:
            return json.loads(line.decode("utf-8", "surrogateescape"))
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError:  # it has lone surrogates, or is no JSON
        return json.loads(line.decode("utf-8", "surrogateescape"))


def _without(record: JsonObject, *names: str) -> JsonObject:
    others = record.copy()
    for name in names:
        others.pop(name, None)
    return others


def _json(number: int, row: Row, result: ParseResult) -> bytes:
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


def result_object(result: ParseResult) -> JsonObject:
    """Return a result as a JSON object."""
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


def _words(number: int, row: Row, result: ParseResult) -> bytes:
    from .parse import told  # noqa: PLC0415 - not for JSON output

    text = row.message if isinstance(row.message, str) else row.message.get("content")
    lines = [f"line {number}", *told(result, text if isinstance(text, str) else "")]
    return ("\n".join(lines) + "\n").encode("utf-8", "backslashreplace")


def add(total: Answer, one: Answer) -> None:
    """Add the counts of further lines; their output is not kept."""
    total.rows += one.rows
    for name in ("outcomes", "formats", "repairs"):
        counts: Counter[str] = getattr(total, name)
        counts.update(getattr(one, name))


def summary_lines(total: Answer, bad: int, seconds: float) -> Sequence[str]:
    """Return the summary of all lines for the end of the command."""
    rate = f", {total.rows / seconds:,.0f} a second" if seconds > 1 else ""
    broken = f"; {counted(bad, 'bad line')}" if bad else ""
    lines = [f"{counted(total.rows, 'row')} in {seconds:.1f} s{rate}{broken}"]
    for name in ("outcomes", "formats", "repairs"):
        counts: Counter[Any] = getattr(total, name)
        if counts:
            listed = ", ".join(f"{key} {count:,}" for key, count in counts.most_common(12))
            lines.append(f"{name}: {listed}")
    return lines
