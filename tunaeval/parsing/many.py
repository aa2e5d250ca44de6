"""Many texts, in order: in this process, or spread over several.

To several processes goes the parser itself, as a copy; one that cannot be copied goes by its name.
Results come back as plain tuples, which costs the process that collects them a third of what their
objects would.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from operator import attrgetter
from typing import Any, NamedTuple

from tunaeval.errors import UsageError
from tunaeval.types import Level, ParseResult, ToolCall, Tools
from tunaeval.types.roles import Parser
from tunaeval.wanted import refusal
from tunaeval.workers import spread, why_unsendable

_CHUNK_TEXTS = 256
_CHUNK_CHARACTERS = 1 << 18
"""What one process is given at once: at most so many texts, and no more once it is so long."""

_RESULT = attrgetter(*ParseResult.__slots__)
_CALL = attrgetter(*ToolCall.__slots__)


class Setting(NamedTuple):
    """How texts are to be read. `find` is what makes a parser of `format`."""

    find: Callable[[Any], Parser]
    format: object
    tools: Tools | None
    level: Level


def read_many(texts: Iterable[str], setting: Setting, workers: int) -> list[ParseResult]:
    """Each text's result, in order. What is not worth a second process is read in this one."""
    if type(workers) is not int or workers < 1:
        raise UsageError(f"workers is {workers!r}, wanted a number of processes, 1 or more")
    parser = setting.find(setting.format)
    chunks = _chunks(_checked(texts))
    first, second = next(chunks, []), next(chunks, None) if workers > 1 else None
    if second is None:
        tools, level = setting.tools, setting.level
        return [
            parser.parse(text, tools=tools, level=level)
            for chunk in chain([first], chunks)
            for text in chunk
        ]
    setting = setting._replace(format=_sent(setting.format, parser))
    answers = spread(_prepared, setting, chain([first, second], chunks), workers)
    return [_unpacked(each) for answer in answers for each in answer]


def _sent(format_: object, parser: Parser) -> object:
    """What another process can be told of a parser: itself, else its name."""
    reason = why_unsendable(parser)
    if reason is None:
        return parser
    if isinstance(format_, str):
        return format_
    raise UsageError(
        f"the parser {parser.name!r} cannot be sent to other processes ({reason}); use workers=1, "
        "or register it as a plug-in and give its name"
    )


def _checked(texts: Iterable[str]) -> Iterator[str]:
    if isinstance(texts, str | Mapping) or not isinstance(texts, Iterable):
        raise refusal("texts", texts, "several, in an iterable; for one text use parse")
    for index, text in enumerate(texts):
        if type(text) is not str:
            found = type(text).__name__
            raise UsageError(f"texts[{index}] is a {found}, wanted a str; decode bytes first")
        yield text


def _chunks(texts: Iterator[str]) -> Iterator[list[str]]:
    chunk: list[str] = []
    size = 0
    for text in texts:
        chunk.append(text)
        size += len(text)
        if len(chunk) == _CHUNK_TEXTS or size >= _CHUNK_CHARACTERS:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def _prepared(setting: Setting) -> Callable[[list[str]], list[object]]:
    """What a process does with a chunk."""
    parser = setting.find(setting.format)
    tools, level = setting.tools, setting.level

    def read(chunk: list[str]) -> list[object]:
        return [_packed(parser.parse(text, tools=tools, level=level)) for text in chunk]

    return read


def _packed(result: ParseResult) -> object:
    """The result as a tuple; what a plug-in made of its own goes as it is."""
    if type(result) is not ParseResult or any(type(call) is not ToolCall for call in result.calls):
        return result
    calls, *rest = _RESULT(result)
    return tuple(map(_CALL, calls)), *rest


def _unpacked(packed: object) -> ParseResult:
    if not isinstance(packed, tuple):
        return packed  # type: ignore[return-value]  # what `_packed` left as it was
    calls, *rest = packed
    return ParseResult(tuple(ToolCall(*call) for call in calls), *rest)
