"""Text to calls and back: the room's face.

`format` is a name, a `Format` value, or any `Parser`; `tools` are what `tools.to_tools` takes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tunaeval.errors import UsageError
from tunaeval.formats import CHAIN, FORMATS, SET_ALIASES, SETS
from tunaeval.grammar import Format, set_engine
from tunaeval.registry import Registry, instance_of
from tunaeval.tools import ToolLike, to_tools
from tunaeval.types import Level, ParseResult, ToolCall, Tools
from tunaeval.types.roles import Parser

from .events import TILES, Event
from .message import STRUCTURED, read_message
from .reader import MAX_TEXT, Reader, Stream, reader_of
from .writing import instructions_for, render_calls

AnyTools = Tools | Iterable[ToolLike] | None

qwen25 = Reader("qwen25", CHAIN, summary="the shapes of Qwen2.5, read side by side")
"""The five strategies of the TunaCode harness: structured calls (in a message), `<tool_call>` and
`<tools>`, bare JSON, code fences, loose JSON."""

dots, granite, k2_horizon, lfm2, llama3, mistral, xlam = (
    Reader(name, forms) for name, forms in SETS.items()
)


def _constant(name: str) -> str:
    """What a format's constant is called."""
    return name.upper().replace("-", "_").replace(".", "")


_SETS: dict[str, Parser] = {
    reader.name: reader
    for reader in (qwen25, dots, granite, k2_horizon, lfm2, llama3, mistral, xlam)
}
_READERS: dict[str, Parser] = {
    "auto": qwen25,
    **_SETS,
    **{name: Reader(name, (form,)) for name, form in FORMATS.items()},
}

formats: Registry[Parser] = Registry(
    "tunaeval.parsers",
    "format or parser",
    builtins={
        **{name: f"tunaeval.parsing:{name.replace('-', '_')}" for name in _SETS},
        **{name: f"tunaeval.formats:{_constant(name)}" for name in FORMATS},
    },
    aliases={
        "auto": "qwen25",
        **SET_ALIASES,
        **{alias: name for name, form in FORMATS.items() for alias in form.aliases},
    },
    check=instance_of(Parser),
)
"""Formats and parsers by name."""

__all__ = [
    "MAX_TEXT",
    "STRUCTURED",
    "TILES",
    "Event",
    "Reader",
    "Stream",
    "formats",
    "instructions",
    "parse",
    "parse_many",
    "parse_message",
    "parser_for",
    "qwen25",
    "reader_of",
    "render",
    "stream",
]


def parse(
    text: str,
    format: str | Format | Parser = "auto",  # noqa: A002 - the face's word for it
    tools: AnyTools = None,
    level: Level = "standard",
) -> ParseResult:
    """Read the calls out of a model's text. Never raises on model text.

    With `tools` given, only their names are calls and arguments are fitted to their schemas;
    convert a list once with `to_tools` when many texts are read.
    """
    if tools is not None and type(tools) is not Tools:
        tools = to_tools(tools)
    if type(text) is not str:
        raise UsageError(f"a text is a str, not {type(text).__name__}; decode bytes first")
    reader = _READERS.get(format) if type(format) is str else None
    return (reader or parser_for(format)).parse(text, tools=tools, level=level)


def parse_message(
    message: object,
    format: str | Format | Parser = "auto",  # noqa: A002 - as in `parse`
    tools: AnyTools = None,
    level: Level = "standard",
) -> ParseResult:
    """Read an OpenAI-style message (a dict or an object): structured calls first, then its text."""
    known, parser = to_tools(tools), parser_for(format)
    return read_message(
        message, lambda text: parser.parse(text, tools=known, level=level), known, level
    )


def parse_many(
    texts: Iterable[str],
    format: str | Format | Parser = "auto",  # noqa: A002 - as in `parse`
    tools: AnyTools = None,
    level: Level = "standard",
) -> list[ParseResult]:
    """Read many texts, in order, one result each."""
    known, parser = to_tools(tools), parser_for(format)
    return [parser.parse(text, tools=known, level=level) for text in texts]


def stream(
    format: str | Format | Reader = "auto",  # noqa: A002 - as in `parse`
    tools: AnyTools = None,
    level: Level = "standard",
) -> Stream:
    """A reader for a text that arrives in pieces; its result equals that of the whole text."""
    parser = parser_for(format)
    if isinstance(parser, Format):
        parser = reader_of(parser)
    if not isinstance(parser, Reader):
        raise UsageError(f"{format!r} is a parser of whole texts; it cannot be streamed")
    return parser.stream(tools=to_tools(tools), level=level)


def render(calls: Sequence[ToolCall], format: str | Format = "hermes") -> str:  # noqa: A002 - as in `parse`
    """The calls as a model would write them in this format; read back by `parse`."""
    return render_calls(calls, _format(format))


def instructions(tools: AnyTools, format: str | Format = "hermes") -> str:  # noqa: A002 - as in `parse`
    """What to tell a model so that it writes calls of these tools in this format."""
    return instructions_for(to_tools(tools) or Tools(), _format(format))


def parser_for(format: str | Format | Reader | Parser) -> Parser:  # noqa: A002 - as in `parse`
    """The parser of that name (built in or plugged in), or the one that was given."""
    if isinstance(format, Reader):
        return format
    if isinstance(format, str):
        return _READERS.get(format) or formats.get(format)
    if isinstance(format, Format):
        return reader_of(format)
    if isinstance(format, Parser):
        return format
    raise UsageError(f"{format!r} is no format: wanted a name, a Format or a Parser")


def _format(format: str | Format) -> Format:  # noqa: A002 - as in `parse`
    """The format value of that name; one format, for several cannot be written at once."""
    found = formats.get(format) if isinstance(format, str) else format
    if isinstance(found, Format):
        return found
    if isinstance(found, Reader) and len(found.formats) > 1:
        names = ", ".join(form.name for form in found.formats)
        raise UsageError(f"{found.name!r} reads several formats; write one of them: {names}")
    raise UsageError(f"{format!r} can be read but not written")


set_engine(lambda form, text, tools, level: reader_of(form).parse(text, tools=tools, level=level))
