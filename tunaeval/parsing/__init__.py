"""Text to calls and back: the room's face.

`format` is a name, a `Format` value, or any `Parser`; `tools` are what `tools.to_tools` takes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tunaeval.errors import UsageError
from tunaeval.formats import AUTO, CHAIN, FORMATS, REFUSED, SET_ALIASES, SETS
from tunaeval.grammar import Format
from tunaeval.registry import Registry, guarded, instance_of
from tunaeval.tools import ToolLike, to_tools
from tunaeval.types import LEVELS, STRUCTURED, Level, ParseResult, Source, ToolCall, Tools
from tunaeval.types.roles import Parser
from tunaeval.wanted import wanted_items

from .convert import Route, Unconvertible, convert_text
from .events import TILES, Event
from .fitting import fits
from .judged import Objects
from .many import Setting, read_many
from .message import read_message, served, structured_only
from .readback import written_calls
from .reader import Reader, Stream, reader_of
from .rows import TEXT_KEYS, convert_row
from .writing import instructions_for, render_calls

AnyTools = Tools | Iterable[ToolLike] | None

qwen25 = Reader("qwen25", CHAIN, summary="the shapes of Qwen2.5, read side by side")
"""The five strategies of the TunaCode harness: structured calls (in a message), `<tool_call>` and
`<tools>`, bare JSON, code fences, loose JSON."""

auto = Reader("auto", AUTO, summary="finds the format in the text: all of them, read side by side")

dots, granite, hunyuan, k2_horizon, lfm2, llama3, mistral, qwen3, xlam = (
    Reader(name, forms) for name, forms in SETS.items()
)


def _constant(name: str) -> str:
    """What a format's constant is called."""
    return name.upper().replace("-", "_").replace(".", "")


_SETS: dict[str, Reader] = {
    reader.name: reader
    for reader in (qwen25, dots, granite, hunyuan, k2_horizon, lfm2, llama3, mistral, qwen3, xlam)
}
_READERS: dict[str, Reader] = {
    "auto": auto,
    **_SETS,
    **{name: reader_of(form) for name, form in FORMATS.items()},
}

formats: Registry[Parser] = Registry(
    "tunaeval.parsers",
    "format or parser",
    builtins={
        "auto": "tunaeval.parsing:auto",
        **{name: f"tunaeval.parsing:{name.replace('-', '_')}" for name in _SETS},
        **{name: f"tunaeval.formats:{_constant(name)}" for name in FORMATS},
    },
    aliases={
        **SET_ALIASES,
        **{alias: name for name, form in FORMATS.items() for alias in form.aliases},
    },
    refused=REFUSED,
    check=instance_of(Parser),
    command="tunaeval formats",
)
"""Formats and parsers by name."""

__all__ = [
    "TEXT_KEYS",
    "TILES",
    "Event",
    "Reader",
    "Route",
    "Stream",
    "Unconvertible",
    "convert_row",
    "convert_text",
    "fits",
    "formats",
    "instructions",
    "parse",
    "parse_levels",
    "parse_many",
    "parse_message",
    "parser_for",
    "qwen25",
    "reader_of",
    "render",
    "render_calls",
    "route_between",
    "sole_parser_for",
    "stream",
    "structured_only",
]


def parse(
    text: str,
    format: str | Format | Parser = "auto",  # noqa: A002 - the face's word for it
    tools: AnyTools = None,
    level: Level = "standard",
) -> ParseResult:
    """Read the calls out of a model's text. Never raises on model text.

    With `tools` given, only their names are calls and arguments are fitted to their schemas;
    convert a list once with `to_tools` when many texts are read. Where `format` names a plug-in
    that fails, that is a `PluginError`. A built-in name is always the built-in one here.

    Examples:
        >>> text = 'Look: <tool_call>{"name": "ls", "arguments": {"path": "."}}</tool_call>'
        >>> result = tunaeval.parse(text)
        >>> result.calls[0].name, result.calls[0].arguments, result.content
        ('ls', {'path': '.'}, 'Look: ')
    """
    if tools is not None and type(tools) is not Tools:
        tools = to_tools(tools)
    if type(text) is not str:
        text = _text(text)
    reader = _READERS.get(format) if type(format) is str else None
    if reader is None or level not in LEVELS:
        return parser_for(format).parse(text, tools=tools, level=level)
    known: Objects = {}
    result = reader.at_once(text, tools, level, known)
    return result or reader.read(text, tools, level, known or None)


def _text(text: object) -> str:
    """The text of a str, or of a subclass of it, whose own `str()` may say something else."""
    if not isinstance(text, str):
        raise UsageError(f"a text is a str, not {type(text).__name__}; decode bytes first")
    return str.__str__(text)


def parse_levels(
    text: str,
    format: str | Format | Parser = "auto",  # noqa: A002 - as in `parse`
    tools: AnyTools = None,
) -> dict[Level, ParseResult]:
    """Read the calls out of a text at all three levels, at little more than the cost of one.

    A text that is well-formed is read once, and a damaged object in any text too; levels whose
    results must be the same share the result. A parser that is no format reads once for each level.
    A call with a trailing comma has the outcome "malformed" at "strict" and "calls" at the others.

    Examples:
        >>> text = '<tool_call>{"name": "ls", "arguments": {},}</tool_call>'
        >>> levels = tunaeval.parse_levels(text)
        >>> {level: result.outcome for level, result in levels.items()}
        {'strict': 'malformed', 'standard': 'calls', 'lenient': 'calls'}
    """
    known, parser, text = to_tools(tools), parser_for(format), _text(text)
    if isinstance(parser, Format):
        parser = reader_of(parser)
    if isinstance(parser, Reader):
        return parser.parse_levels(text, tools=known)
    return {level: parser.parse(text, tools=known, level=level) for level in LEVELS}


def parse_message(
    message: object,
    format: str | Format | Parser = "auto",  # noqa: A002 - as in `parse`
    tools: AnyTools = None,
    level: Level = "standard",
    *,
    source: Source | None = None,
) -> ParseResult:
    """Read an OpenAI-style message (a dict or an object): structured calls first, then its text.

    `source` says where its calls belong: with "structured" the server was given the tools and
    was to parse the calls, so one that had to be read out of the text is a repair (`leaked-call`,
    level `standard`) and no call at `strict`. Without a word any call counts.

    Examples:
        >>> calls = [{"function": {"name": "ls", "arguments": '{"path": "."}'}}]
        >>> tunaeval.parse_message({"tool_calls": calls}).calls[0].arguments
        {'path': '.'}
    """
    known, parser = to_tools(tools), parser_for(format)
    result = read_message(
        message, lambda text: parser.parse(text, tools=known, level=level), known, level
    )
    return served(result, level) if source == STRUCTURED else result


def parse_many(
    texts: Iterable[str],
    format: str | Format | Parser = "auto",  # noqa: A002 - as in `parse`
    tools: AnyTools = None,
    level: Level = "standard",
    workers: int = 1,
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
    Raises `TunaevalError` when a process dies.

    Examples:
        >>> good = '<tool_call>{"name": "ls", "arguments": {}}</tool_call>'
        >>> [result.outcome for result in tunaeval.parse_many([good, "Hello.", None])]
        ['calls', 'no_call', 'malformed']
    """
    return read_many(texts, Setting(parser_for, format, to_tools(tools), level), workers)


def stream(
    format: str | Format | Reader = "auto",  # noqa: A002 - as in `parse`
    tools: AnyTools = None,
    level: Level = "standard",
) -> Stream:
    """A reader for a text that arrives in pieces; its result equals that of the whole text.

    Examples:
        >>> reader = tunaeval.stream("hermes")
        >>> events = reader.feed('<tool_call>{"name": "ls", "arguments": {}}</tool_call>')
        >>> reader.finish().outcome
        'calls'
    """
    return _reader(format).stream(tools=to_tools(tools), level=level)


def render(calls: Sequence[ToolCall], format: str | Format = "hermes") -> str:  # noqa: A002 - as in `parse`
    """The calls as a model would write them in this format; read back by `parse`.

    That is confirmed: what the format cannot say raises `UsageError`, which names the argument (or
    the name) and says why. Where values are bare text, only `parse` with tools tells "5" from 5.

    Examples:
        >>> tunaeval.render([tunaeval.ToolCall("ls", {"path": "."})], "mistral-v11")
        '[TOOL_CALLS]ls[ARGS]{"path": "."}'
    """
    return written_calls(wanted_items(calls, "calls", ToolCall, "tool calls"), _format(format))


def instructions(tools: AnyTools, format: str | Format = "hermes") -> str:  # noqa: A002 - as in `parse`
    """What to tell a model so that it writes calls of these tools in this format.

    Examples:
        >>> said = tunaeval.instructions([{"name": "ls"}], format="hermes")
        >>> "<tool_call>" in said
        True
    """
    return instructions_for(to_tools(tools) or Tools(), _format(format))


def route_between(
    source: str | Format | Reader,
    target: str | Format,
    tools: AnyTools = None,
    level: Level = "standard",
) -> Route:
    """From one format to another, for `convert_text` and `convert_row`.

    "structured" (or its alias "openai") on either side means structured calls, which stand in
    messages. The wire format that vLLM calls "openai" is "harmony" here.
    """
    if isinstance(source, str):
        formats.refuse_clash(source)
    target_format = None if target in _STRUCTURED else _format(target)
    reader = None if source in _STRUCTURED else _reader(source)
    if target_format is None and reader is None:
        raise UsageError(f"from {source!r} to {target!r} there is nothing to convert")
    return Route(reader, target_format, to_tools(tools), level)


_STRUCTURED = (STRUCTURED, "openai")
"""What `route_between` calls structured calls."""


def parser_for(format: str | Format | Reader | Parser) -> Parser:  # noqa: A002 - as in `parse`
    """The parser of that name (built in or plugged in), or the one that was given.

    One of somebody else's, found by its name, raises `PluginError` for whatever it does wrong.
    """
    if isinstance(format, Reader):
        return format
    if isinstance(format, str):
        return _READERS.get(format) or guarded(formats.get(format))
    if isinstance(format, Format):
        return reader_of(format)
    # Whoever says it is a parser is not asked for each attribute: that takes longer than to parse.
    if Parser in type(format).__mro__ or isinstance(format, Parser):
        return format
    raise UsageError(f"{format!r} is no format: wanted a name, a Format or a Parser")


def sole_parser_for(format: str | Format | Reader | Parser) -> Parser:  # noqa: A002 - as in `parse`
    """The same for a whole run: raises PluginClashError for a name of ours that a package claims.

    That reads the entry points of what is installed, which takes longer than thousands of parses.
    """
    if isinstance(format, str):
        formats.refuse_clash(format)
    return parser_for(format)


def _reader(format: str | Format | Reader) -> Reader:  # noqa: A002 - as in `parse`
    """The reader of that name; what only parses whole texts does not say what is what in them."""
    parser = parser_for(format)
    if isinstance(parser, Format):
        return reader_of(parser)
    if isinstance(parser, Reader):
        return parser
    raise UsageError(f"{format!r} is a parser of whole texts; it cannot be streamed or converted")


def _format(format: str | Format) -> Format:  # noqa: A002 - as in `parse`
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
    raise UsageError(f"{format!r} can be read but not written")
