"""How replies are read by a parser that may be a plug-in: its own failure is given its name."""

from __future__ import annotations

from tunaeval.errors import PluginError
from tunaeval.parsing import parse_message, structured_only
from tunaeval.types import STRUCTURED, Level, ParseResult, Reply, Tools
from tunaeval.types.roles import Parser
from tunaeval.types.runs import CountedCalls

from .episode import Read


def reading(parser: Parser, tools: Tools, calls: CountedCalls = "any") -> Read:
    """Reads replies with the parser; raises `PluginError` where that raises anything.

    A call in the text of a server's reply that was to be structured is a repair, and none at all
    where `calls` counts structured ones alone.
    """

    def read(reply: Reply, level: Level) -> ParseResult:
        try:
            result = parse_message(reply.message, parser, tools or None, level, source=reply.source)
        except Exception as error:
            raise PluginError(
                f"parser {parser.name!r} raised {type(error).__name__}: {error}; "
                "a parser answers any text with a ParseResult"
            ) from error
        return structured_only(result) if calls == STRUCTURED else result

    return read
