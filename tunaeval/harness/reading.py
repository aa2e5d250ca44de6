"""How replies are read by a parser that may be a plug-in: its own failure is given its name."""

from __future__ import annotations

from tunaeval.errors import PluginError
from tunaeval.parsing import parse_message
from tunaeval.types import JsonObject, Level, ParseResult, Tools
from tunaeval.types.roles import Parser

from .episode import Read


def reading(parser: Parser, tools: Tools) -> Read:
    """Reads messages with the parser; raises `PluginError` where that raises anything."""

    def read(message: JsonObject, level: Level) -> ParseResult:
        try:
            return parse_message(message, format=parser, tools=tools or None, level=level)
        except Exception as error:
            raise PluginError(
                f"parser {parser.name!r} raised {type(error).__name__}: {error}; "
                "a parser answers any text with a ParseResult"
            ) from error

    return read
