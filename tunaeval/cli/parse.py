"""`tunaeval parse`: shows the calls in a text, or in each record of JSON lines. With `--json` a
text gives one object, and JSON lines give one for each record, with its line.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from tunaeval.errors import UsageError
from tunaeval.parsing.api import parse, sole_parser_for
from tunaeval.registry import guarded
from tunaeval.reports.json import json_text
from tunaeval.reports.wording import call_words
from tunaeval.showing import visible
from tunaeval.types.calls import JsonObject, Repair, Span, Tools
from tunaeval.types.parsing import Diagnosis, ParseResult

from .output import Output
from .packed_files import opened

_BEFORE, _WIDTH = 24, 76
_PACKED = (".gz", ".zst")
_LINES = (".jsonl", ".ndjson")


def run(arguments: argparse.Namespace, output: Output) -> int:
    tools = _tools(arguments.tools)
    if arguments.file == "-" and sys.stdin.isatty():
        output.note("tunaeval: reading from the terminal; end with Ctrl-D")
    parser = guarded(sole_parser_for(arguments.format))
    if arguments.jsonl or _is_lines(arguments.file):
        from .parse_rows import Setting, parse_rows  # noqa: PLC0415 - it imports this module

        as_json = arguments.json or arguments.out is not None
        setting = Setting(
            arguments.format,
            tools,
            arguments.level,
            arguments.field,
            as_json,
            abstain=tuple(arguments.abstain),
        )
        return parse_rows(arguments, setting, output)
    _refuse_options_of_lines(arguments)
    text = _read(arguments.file, output)
    result = parse(text, parser, tools, arguments.level, abstain=arguments.abstain)
    if arguments.json:
        output.result(json_text(result_object(result)))
    else:
        output.result("\n".join(told(result, text)))
    return 0


def _tools(file: str | None) -> Tools | None:
    if not file:
        return None
    from .tools import read_tools  # noqa: PLC0415 - its import takes as long as all others together

    return read_tools(file)


def _is_lines(file: str) -> bool:
    """Whether a file's name says that it has a record on each line."""
    path = Path(file.lower())
    return (path.with_suffix("") if path.suffix in _PACKED else path).suffix in _LINES


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
                f"{option} is for JSON lines and {arguments.file!r} is read as one text; "
                "give --jsonl where it has a record on each line"
            )


def _read(file: str, output: Output) -> str:
    with opened(file) as source:
        data = source.read()
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        output.note(
            f"tunaeval: {file!r} is not UTF-8 (byte 0x{data[error.start]:02x} at {error.start}); "
            "such bytes are read as lone surrogates"
        )
        return data.decode("utf-8-sig", "surrogateescape")


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


def told(result: ParseResult, text: str) -> Iterator[str]:
    """Yield a result as lines for people; `text` is what spans point into."""
    yield f"{result.outcome}{' (and cut off)' if result.truncated else ''}"
    for number, call in enumerate(result.calls, 1):
        yield f"{number}. {call_words(call.name, call.arguments)}"
        yield f"   {visible(call.format or 'structured')}{_place(call.span)}"
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
