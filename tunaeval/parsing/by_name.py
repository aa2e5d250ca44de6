"""Formats and parsers by name, and a text read by one of them."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from tunaeval.formats import AUTO, CHAIN, FORMATS, SETS
from tunaeval.grammar import Format
from tunaeval.types import LEVELS, Level, ParseResult, Tools

from .given import AnyTools, known_text, known_tools, may_abstain
from .reader import Reader, reader_of

if TYPE_CHECKING:
    from tunaeval.types.roles import Parser

    from .judge import Objects

qwen25 = Reader("qwen25", CHAIN, summary="the shapes of Qwen2.5, read side by side")
"""The five strategies of the TunaCode harness: structured calls (in a message), `<tool_call>` and
`<tools>`, bare JSON, code fences, loose JSON."""

auto = Reader(
    "auto",
    AUTO,
    summary="finds the format in the text: all of them, read side by side",
    wants_tools=True,
)

dots, granite, hunyuan, k2_horizon, lfm2, llama3, mistral, qwen3, xlam = (
    Reader(name, forms) for name, forms in SETS.items()
)


_SETS = (auto, qwen25, dots, granite, hunyuan, k2_horizon, lfm2, llama3, mistral, qwen3, xlam)
_READERS: dict[str, Reader] = {reader.name: reader for reader in _SETS}
"""By their names: the sets, and each format that was asked for."""


def parse(
    text: str,
    format: str | Format | Parser = "auto",  # noqa: A002 - the face's word for it
    tools: AnyTools = None,
    level: Level = "standard",
    *,
    abstain: Collection[str] = (),
) -> ParseResult:
    """Read the calls out of a model's text. Never raises on model text.

    With `tools` given, only their names are calls and arguments are fitted to their schemas;
    convert a list once with `to_tools` when many texts are read. Where `format` is (or names) a
    parser of somebody else's that fails, that is a `PluginError`. A built-in name is always the
    built-in one here.

    `abstain` are names by which a model says that it calls nothing, as its prompt asks: a call of
    one is none, and where there is no other the outcome is "no_call", the detail "abstained".
    Such a name need not be among the tools.

    Examples:
        >>> text = 'Look: <tool_call>{"name": "ls", "arguments": {"path": "."}}</tool_call>'
        >>> result = tunaeval.parse(text)
        >>> result.calls[0].name, result.calls[0].arguments, result.content
        ('ls', {'path': '.'}, 'Look: ')
    """
    if tools is not None and type(tools) is not Tools:
        tools = known_tools(tools)
    if type(text) is not str:
        text = known_text(text)
    if may_abstain(abstain):
        from .abstaining import abstaining  # noqa: PLC0415 - most prompts ask for no such call

        return abstaining(parser_for(format), abstain).parse(text, tools=tools, level=level)
    reader = _READERS.get(format) if type(format) is str else None
    if reader is None or level not in LEVELS:
        return parser_for(format).parse(text, tools=tools, level=level)
    known: Objects = {}
    result = reader.at_once(text, tools, level, known)
    return result or reader.read(text, tools, level, known)


def parse_levels(
    text: str,
    format: str | Format | Parser = "auto",  # noqa: A002 - as in `parse`
    tools: AnyTools = None,
    *,
    abstain: Collection[str] = (),
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
    if type(text) is not str:
        text = known_text(text)
    known, parser = known_tools(tools), parser_for(format)
    if may_abstain(abstain):
        from .abstaining import levels_without  # noqa: PLC0415 - as in `parse`

        return levels_without(abstain, lambda more: parse_levels(text, parser, more), known)
    if isinstance(parser, Reader):
        return parser.parse_levels(text, tools=known)
    if isinstance(parser, Format):
        return reader_of(parser).parse_levels(text, tools=known)
    return {level: parser.parse(text, tools=known, level=level) for level in LEVELS}


def parser_for(format: str | Format | Reader | Parser) -> Parser:  # noqa: A002 - as in `parse`
    """The parser of that name (built in or plugged in), or the one that was given.

    One of somebody else's, by its name or as it is, raises `PluginError` for all it does wrong.
    """
    if isinstance(format, str):
        if (reader := _READERS.get(format)) is not None:
            return reader
        if format in FORMATS:
            return _READERS.setdefault(format, reader_of(FORMATS[format]))
    if isinstance(format, Reader):
        return format
    if isinstance(format, Format):
        return reader_of(format)
    from .registered import other_parser  # noqa: PLC0415 - a parse by one of our names has none

    return other_parser(format)


def sole_parser_for(format: str | Format | Reader | Parser) -> Parser:  # noqa: A002 - as in `parse`
    """The same for a whole run: raises PluginClashError for a name of ours that a package claims.

    That reads the entry points of what is installed, which takes longer than thousands of parses.
    """
    if isinstance(format, str):
        from .registered import formats  # noqa: PLC0415 - as in `parser_for`

        formats.refuse_clash(format)
    return parser_for(format)
