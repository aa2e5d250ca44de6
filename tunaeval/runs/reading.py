"""Read replies with a parser that may be a plug-in; each text is read once for all levels."""

from __future__ import annotations

from collections.abc import Collection

from tunaeval.grammar.format import Format
from tunaeval.parsing.api import parse_levels, parse_message
from tunaeval.parsing.message import with_leaked
from tunaeval.parsing.reader import Reader
from tunaeval.registry import guarded
from tunaeval.types.calls import STRUCTURED, Tools
from tunaeval.types.exchange import Reply
from tunaeval.types.parsing import Level, ParseResult
from tunaeval.types.roles import Parser
from tunaeval.types.runs import CountedCalls

from .episode import Read


def reading(
    parser: Parser | Format | Reader,
    tools: Tools,
    calls: CountedCalls = "any",
    *,
    abstain: Collection[str] = (),
) -> Read:
    """Return a function that reads replies with the parser.

    It raises `PluginError` if a plug-in's parser fails. A call in the text of a reply that should
    have been structured counts as repaired, or not at all if `calls` is "structured".
    """
    reader = _Once(parser) if isinstance(parser, Format | Reader) else guarded(parser)

    def read(reply: Reply, level: Level) -> ParseResult:
        result = parse_message(
            reply.message, reader, tools or None, level, source=reply.source, abstain=abstain
        )
        return with_leaked(result, "strict") if calls == STRUCTURED else result

    return read


class _Once(Parser):
    """A parser that keeps the last text's results, because all levels ask for the same text."""

    def __init__(self, parser: Format | Reader) -> None:
        self.name = parser.name
        self._parser = parser
        self._last: tuple[str, Tools | None, dict[Level, ParseResult]] = ("", None, {})

    def parse(
        self, text: str, *, tools: Tools | None = None, level: Level = "standard"
    ) -> ParseResult:
        last, known, results = self._last
        if last != text or known is not tools or not results:
            results = parse_levels(text, self._parser, tools)
            self._last = (text, tools, results)
        return results[level]
