"""What else is done with a format that has a name: messages, many texts, streams, and back."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from tunaeval.errors import UsageError
from tunaeval.grammar import Format
from tunaeval.showing import brief
from tunaeval.types import STRUCTURED, Level, ParseResult, Source, ToolCall, Tools
from tunaeval.types.roles import Parser
from tunaeval.wanted import wanted_items

from .abstaining import abstaining, names_of
from .by_name import parser_for
from .given import AnyTools, known_tools
from .leaked import served
from .many import Setting, read_many
from .message import read_message
from .reader import Reader, reader_of
from .registered import formats
from .streaming.stream import Stream
from .writing.calls import instructions_for
from .writing.readback import written_calls


def parse_message(
    message: object,
    format: str | Format | Parser = "auto",  # noqa: A002 - as in `parse`
    tools: AnyTools = None,
    level: Level = "standard",
    *,
    source: Source | None = None,
    abstain: Collection[str] = (),
) -> ParseResult:
    """Read an OpenAI-style message (a dict or an object): structured calls first, then its text.

    `source` says where its calls belong: with "structured" the server was given the tools and
    was to parse the calls, so one that had to be read out of the text is a repair (`leaked-call`,
    level `standard`) and no call at `strict`. Without a word any call counts. `abstain` is as in
    `parse`, for structured calls, too.

    Examples:
        >>> calls = [{"function": {"name": "ls", "arguments": '{"path": "."}'}}]
        >>> tunaeval.parse_message({"tool_calls": calls}).calls[0].arguments
        {'path': '.'}
    """
    known, names = known_tools(tools), names_of(abstain)
    parser = abstaining(parser_for(format), names)
    result = read_message(
        message, lambda text: parser.parse(text, tools=known, level=level), known, level, names
    )
    return served(result, level) if source == STRUCTURED else result


def parse_many(
    texts: Iterable[str],
    format: str | Format | Parser = "auto",  # noqa: A002 - as in `parse`
    tools: AnyTools = None,
    level: Level = "standard",
    workers: int = 1,
    *,
    abstain: Collection[str] = (),
) -> list[ParseResult]:
    """Read many texts, in order, one result each; `texts` may be any iterable, read as it comes.

    What is no text (None, bytes, a number) ends nothing: its result has no calls and the diagnosis
    "not-text", which says where it was and what. Its outcome is "malformed", because a model can be
    right with "no_call" and with "calls", and "truncated" blames the end of a text.

    With `workers` above 1, texts are read in so many processes, which are started as
    `multiprocessing` is set to, and gone when this returns or raises. That pays where reading a
    text takes longer than about 25 µs, twice of what it takes to move its result: damaged texts,
    calls of thousands of characters (1.6 to 1.8 times faster with two). Prose and short calls in
    sound JSON are read faster than they are moved (`benchmarks/many.py`). Starting a process takes
    as long as reading thousands of short texts; fewer than 257 texts are read in this one.
    Raises `TunaevalError` when a process dies. `abstain` is as in `parse`.

    Examples:
        >>> good = '<tool_call>{"name": "ls", "arguments": {}}</tool_call>'
        >>> [result.outcome for result in tunaeval.parse_many([good, "Hello.", None])]
        ['calls', 'no_call', 'malformed']
    """
    setting = Setting(parser_for, format, known_tools(tools), level, names_of(abstain))
    return read_many(texts, setting, workers)


def stream(
    format: str | Format | Reader = "auto",  # noqa: A002 - as in `parse`
    tools: AnyTools = None,
    level: Level = "standard",
    *,
    abstain: Collection[str] = (),
) -> Stream:
    """A reader for a text that arrives in pieces; its result equals that of the whole text.

    A call by which the model abstains (`abstain`, as in `parse`) is markup in its events.

    Examples:
        >>> reader = tunaeval.stream("hermes")
        >>> events = reader.feed('<tool_call>{"name": "ls", "arguments": {}}</tool_call>')
        >>> reader.finish().outcome
        'calls'
    """
    return reader_named(format).stream(tools=tools, level=level, abstain=abstain)


def render(calls: Sequence[ToolCall], format: str | Format = "hermes") -> str:  # noqa: A002 - as in `parse`
    """The calls as a model would write them in this format; read back by `parse`.

    That is confirmed: what the format cannot say raises `UsageError`, which names the argument (or
    the name) and says why. Where values are bare text, only `parse` with tools can tell "5" from 5.

    Examples:
        >>> tunaeval.render([tunaeval.ToolCall("ls", {"path": "."})], "mistral-v11")
        '[TOOL_CALLS]ls[ARGS]{"path": "."}'
    """
    return written_calls(wanted_items(calls, "calls", ToolCall, "tool calls"), format_named(format))


def instructions(tools: AnyTools, format: str | Format = "hermes") -> str:  # noqa: A002 - as in `parse`
    """The instructions for a model, so that it writes calls of these tools in this format.

    Examples:
        >>> text = tunaeval.instructions([{"name": "ls"}], format="hermes")
        >>> "<tool_call>" in text
        True
    """
    return instructions_for(known_tools(tools) or Tools(), format_named(format))


def reader_named(format: str | Format | Reader) -> Reader:  # noqa: A002 - as in `parse`
    """The reader of that name; what only parses whole texts does not say what is what in them."""
    parser = parser_for(format)
    if isinstance(parser, Format):
        return reader_of(parser)
    if isinstance(parser, Reader):
        return parser
    raise UsageError(f"{format!r} is a parser of whole texts; it cannot be streamed or converted")


def format_named(format: str | Format) -> Format:  # noqa: A002 - as in `parse`
    """The format value of that name; one format, for several cannot be written at once."""
    found = formats.get(format) if isinstance(format, str) else format
    if isinstance(found, Format):
        return found
    if isinstance(found, Reader) and len(found.formats) > 1:
        names = " or ".join(repr(form.name) for form in found.formats)
        given = format if isinstance(format, str) else found.name
        raise UsageError(
            f"{given!r} reads several formats, and calls are written in one; give the one that is "
            f"meant: {names}"
        )
    raise UsageError(f"{brief(format)} can be read but not written")
