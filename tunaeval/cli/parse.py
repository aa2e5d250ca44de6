"""`tunaeval parse`: what is read out of a text, or out of each record of a JSON lines file.

With `--json` a text gives one object; JSON lines give one object for each record, with its line.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from .listing import add_json
from .output import Output
from .reading import add_reading

if TYPE_CHECKING:
    # At run time they are imported when there is something to parse, not for --help.
    from tunaeval.types import Diagnosis, JsonObject, JsonValue, ParseResult, Span

_BEFORE, _WIDTH = 24, 76
_MESSAGE_KEYS = ("content", "tool_calls", "function_call")
_WANTED = (
    'wanted {"text": "..."}, {"completion": "..."}, a message {"role": ..., "content": ...}, '
    "a chat completion, or a string"
)


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", nargs="?", default="-", help="what to read; - (the default): stdin")
    add_reading(parser)
    parser.add_argument(
        "--jsonl", action="store_true", help="read a record on each line (as for a .jsonl file)"
    )
    add_json(parser)


def run(arguments: argparse.Namespace, output: Output) -> int:
    from tunaeval.parsing import parse_message, parser_for  # noqa: PLC0415 - not for --help
    from tunaeval.registry import guarded  # noqa: PLC0415 - as above

    from .tools import read_tools  # noqa: PLC0415 - as above

    parser, level = guarded(parser_for(arguments.format)), arguments.level
    tools = read_tools(arguments.tools) if arguments.tools else None
    text = _read(arguments.file, output)

    def parsed(message: JsonValue) -> ParseResult:
        if isinstance(message, str):
            return parser.parse(message, tools=tools, level=level)
        return parse_message(message, format=parser, tools=tools, level=level)

    if not (arguments.jsonl or arguments.file.endswith(".jsonl")):
        output.result(_told(parsed(text), text, arguments.json, {}))
        return 0
    for line, message in _messages(arguments.file, text):
        output.result(_told(parsed(message), _text(message), arguments.json, {"line": line}))
    return 0


def _read(file: str, output: Output) -> str:
    from tunaeval.errors import UsageError  # noqa: PLC0415 - as above

    try:
        data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise UsageError(
            f"{file!r} cannot be read: {why}; wanted a file, or - for stdin"
        ) from error
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        output.note(
            f"tunaeval: {file!r} is not UTF-8 (byte 0x{data[error.start]:02x} at {error.start}); "
            "such bytes are read as lone surrogates"
        )
        return data.decode("utf-8-sig", "surrogateescape")


def _messages(file: str, text: str) -> Iterator[tuple[int, JsonValue]]:
    """Each record's text or message, with its line from 1."""
    import json  # noqa: PLC0415 - as above

    from tunaeval.errors import UsageError  # noqa: PLC0415 - as above

    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        where = f"{file}, line {number}"
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise UsageError(f"{where}: not JSON ({error}); {_WANTED}") from error
        message = _message(record)
        if message is None:
            raise UsageError(f"{where}: found {line[:60]!r}; {_WANTED}")
        yield number, message


def _message(record: JsonValue) -> JsonValue:
    """What a record holds to be parsed: a string or a message; None when there is neither."""
    match record:
        case str():
            return record
        case {"text": str(text)} | {"completion": str(text)}:
            return text
        case {"message": dict(message)} | {"choices": [{"message": dict(message)}, *_]}:
            return message
        case {"messages": [*_, dict(message)]}:
            return message
        case dict() if any(key in record for key in _MESSAGE_KEYS):
            return record
    return None


def _text(message: JsonValue) -> str:
    """The text that spans point into."""
    content = message if isinstance(message, str) else message.get("content")
    return content if isinstance(content, str) else ""


def _told(result: ParseResult, text: str, as_json: bool, more: JsonObject) -> str:
    from tunaeval.reports import json_text  # noqa: PLC0415 - as above

    if as_json:
        calls = [{**asdict(call), "source": call.source} for call in result.calls]
        return json_text({**more, **asdict(result), "calls": calls, "detail": result.detail})
    head = [f"line {more['line']}"] if more else []
    return "\n".join([*head, *_lines(result, text)])


def _lines(result: ParseResult, text: str) -> Iterator[str]:
    from tunaeval.reports import call_words, visible  # noqa: PLC0415 - as above

    yield f"{result.outcome}{' (and cut off)' if result.truncated else ''}"
    for number, call in enumerate(result.calls, 1):
        yield f"{number}. {call_words(call.name, call.arguments)}"
        yield f"   {visible(call.format or 'structured')}{_place(call.span)}"
        for repair in call.repairs:
            yield f"   mended: {visible(repair.message)} ({repair.code}, {repair.level})"
    for diagnosis in result.diagnoses:
        yield from _diagnosis(diagnosis, text)
    for name, words in (("content", result.content), ("reasoning", result.reasoning)):
        if words:
            yield f"{name}:"
            yield from (f"   {visible(line)}" for line in words.splitlines())


def _diagnosis(diagnosis: Diagnosis, text: str) -> Iterator[str]:
    from tunaeval.reports import visible  # noqa: PLC0415 - as above

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
