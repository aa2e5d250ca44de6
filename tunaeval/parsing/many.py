"""Many texts, in order: in this process, or spread over several.

Several processes get a copy of the parser itself; one that cannot be copied is looked up there by
its name. Results come back as plain tuples, which costs the process that collects them a third of
what their objects would. What is not a text has its result from the start, and passes through.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from operator import attrgetter
from typing import Any, NamedTuple, TypeAlias

from tunaeval.errors import UsageError
from tunaeval.showing import brief
from tunaeval.types import (
    LEVELS,
    NOT_TEXT,
    Diagnosis,
    Level,
    ParseResult,
    ToolCall,
    Tools,
    outcome_of,
)
from tunaeval.types.roles import Parser
from tunaeval.wanted import refusal, wanted_name
from tunaeval.workers import spread, why_unsendable

from .abstaining import widened, without_abstaining

_CHUNK_TEXTS = 256
_CHUNK_CHARACTERS = 1 << 18
"""A process is given at most so many texts at once, and no more once they are so long."""

_RESULT = attrgetter(*ParseResult.__slots__)
_CALL = attrgetter(*ToolCall.__slots__)

_Text: TypeAlias = str | ParseResult
"""A text to be read, or the result of what is not a text."""


class Setting(NamedTuple):
    """How texts are to be read. `find` makes a parser of `format`."""

    find: Callable[[Any], Parser]
    format: object
    tools: Tools | None
    level: Level
    abstain: frozenset[str] = frozenset()


def reading(
    parser: Parser, tools: Tools | None, level: Level, abstain: frozenset[str]
) -> Callable[[str], ParseResult]:
    """Return what reads one text, and leaves out the calls that mean no call."""
    known, parse = widened(tools, abstain), parser.parse
    return lambda text: without_abstaining(parse(text, tools=known, level=level), abstain)


def read_many(texts: Iterable[str], setting: Setting, workers: int) -> list[ParseResult]:
    """Return each text's result, in order.

    What is not worth a second process is read in this one.
    """
    if type(workers) is not int or workers < 1:
        raise UsageError(f"workers is {brief(workers)}, wanted a number of processes, 1 or more")
    wanted_name(setting.level, "level", LEVELS)
    parser = setting.find(setting.format)
    chunks = _chunks(_checked(texts))
    first, second = next(chunks, []), next(chunks, None) if workers > 1 else None
    if second is None:
        read = _reader(parser, setting)
        return [read(text) for chunk in chain([first], chunks) for text in chunk]
    setting = setting._replace(format=_sendable(setting.format, parser))
    answers = spread(_chunk_reader, setting, chain([first, second], chunks), workers)
    return [_unpacked(each) for answer in answers for each in answer]


def _sendable(format_: object, parser: Parser) -> object:
    """Return what is sent to another process for a parser: itself, or its name."""
    reason = why_unsendable(parser)
    if reason is None:
        return parser
    if isinstance(format_, str):
        return format_
    raise UsageError(
        f"the parser {parser.name!r} cannot be sent to other processes ({reason}); use workers=1, "
        "or register it as a plug-in and give its name"
    )


def _checked(texts: Iterable[object]) -> Iterator[_Text]:
    if isinstance(texts, str | bytes | bytearray | Mapping) or not isinstance(texts, Iterable):
        raise refusal("texts", texts, "several, in an iterable; for one text use parse")
    for index, text in enumerate(texts):
        if type(text) is str:
            yield text
        else:
            yield str.__str__(text) if isinstance(text, str) else _no_text(index, text)


def _no_text(index: int, thing: object) -> ParseResult:
    """Return the result of what is not a text: "malformed", as a model can be right with "no_call".

    Only its type is reported, as its own words could be long, or code that raises.
    """
    hint = "; decode bytes first" if isinstance(thing, bytes | bytearray) else ""
    message = f"texts[{index}] is {type(thing).__name__}, wanted a str{hint}"
    outcome = outcome_of((), attempted=True)
    return ParseResult(diagnoses=(Diagnosis(NOT_TEXT, message),), outcome=outcome)


def _chunks(texts: Iterator[_Text]) -> Iterator[list[_Text]]:
    chunk: list[_Text] = []
    size = 0
    for text in texts:
        chunk.append(text)
        size += len(text) if type(text) is str else 0
        if len(chunk) == _CHUNK_TEXTS or size >= _CHUNK_CHARACTERS:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def _reader(parser: Parser, setting: Setting) -> Callable[[_Text], ParseResult]:
    """Return what reads each text in this process."""
    read = reading(parser, setting.tools, setting.level, setting.abstain)
    return lambda text: text if isinstance(text, ParseResult) else read(text)


def _chunk_reader(setting: Setting) -> Callable[[list[_Text]], list[object]]:
    """Return what reads each chunk in another process."""
    read = _reader(setting.find(setting.format), setting)
    return lambda chunk: [_packed(read(text)) for text in chunk]


def _packed(result: ParseResult) -> object:
    """Return the result as a tuple; what a plug-in made of its own is sent as it is."""
    if type(result) is not ParseResult or any(type(call) is not ToolCall for call in result.calls):
        return result
    calls, *rest = _RESULT(result)
    return tuple(map(_CALL, calls)), *rest


def _unpacked(packed: object) -> ParseResult:
    if not isinstance(packed, tuple):
        return packed  # type: ignore[return-value]  # what `_packed` left as it was
    calls, *rest = packed
    return ParseResult(tuple(ToolCall(*call) for call in calls), *rest)
