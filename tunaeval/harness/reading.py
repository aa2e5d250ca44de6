"""How replies are read by a parser that may be a plug-in."""

from __future__ import annotations

from tunaeval.parsing import parse_message, structured_only
from tunaeval.registry import guarded
from tunaeval.types import STRUCTURED, Level, ParseResult, Reply, Tools
from tunaeval.types.roles import Parser
from tunaeval.types.runs import CountedCalls

from .episode import Read


def reading(parser: Parser, tools: Tools, calls: CountedCalls = "any") -> Read:
    """Reads replies with the parser; raises `PluginError` where that is a plug-in that fails.

    A call in the text of a server's reply that was to be structured is a repair, and none at all
    where `calls` counts structured ones alone.
    """
    reader = guarded(parser)

    def read(reply: Reply, level: Level) -> ParseResult:
        result = parse_message(reply.message, reader, tools or None, level, source=reply.source)
        return structured_only(result) if calls == STRUCTURED else result

    return read
