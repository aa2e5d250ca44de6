"""Read replies with a parser, built-in or of a plug-in, and read those of a kept run again.

A text is read once for all levels. A run keeps its tools beside its results, so that its replies
can be read without the suite:

    {"scenario": null, "tools": [...]}      the suite's tools
    {"scenario": "id", "tools": [...]}      the tools of a scenario that has its own
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from tunaeval.errors import RecordError, ToolsError
from tunaeval.files.keys import of_environment, without
from tunaeval.files.plain_files import is_absent
from tunaeval.files.records import RecordWriter, read
from tunaeval.grammar.format import Format
from tunaeval.parsing.api import parse_levels, parse_message, parser_for
from tunaeval.parsing.message import with_leaked
from tunaeval.parsing.reader import Reader
from tunaeval.tools.specs import to_tools
from tunaeval.types.calls import STRUCTURED, Tools, ToolSpec
from tunaeval.types.exchange import Reply
from tunaeval.types.messages import Usage
from tunaeval.types.parsing import Level, ParseResult
from tunaeval.types.roles import Parser
from tunaeval.types.runs import (
    AttemptRecord,
    CountedCalls,
    RunInfo,
    ScenarioResult,
    Suite,
)
from tunaeval.types.third_party import guarded

Read: TypeAlias = Callable[[Reply, Level], ParseResult]
"""Reads the calls in a reply at a level."""


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
    reader = _LastText(parser) if isinstance(parser, Format | Reader) else guarded(parser)

    def read(reply: Reply, level: Level) -> ParseResult:
        result = parse_message(
            reply.message, reader, tools or None, level, source=reply.source, abstain=abstain
        )
        return with_leaked(result, "strict") if calls == STRUCTURED else result

    return read


class _LastText(Parser):
    """A parser that keeps the results for the last text, which is read at several levels."""

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


class Replies:
    """A reader of a kept run's replies, by the run's own rules.

    `directory` is None for a run that was kept nowhere. If the run kept no tools, texts are read
    without them. Raises `UnknownNameError` if the run's parser is not installed.
    """

    def __init__(self, info: RunInfo, directory: Path | str | None) -> None:
        self._info = info
        self._parser = parser_for(info.format)
        try:
            self._tools = run_tools(Path(directory)) if directory else RunTools(Tools())
        except RecordError:
            self._tools = RunTools(Tools())

    def tools(self, scenario: str) -> Tools:
        """Return the tools of a scenario; empty if they are unknown."""
        return self._tools.of(scenario)

    def read(self, result: ScenarioResult) -> list[ParseResult]:
        """Read the reply of each attempt, at the run's level."""
        tools = Tools() if self._info.as_written else self.tools(result.scenario)
        names = (*self._info.abstain, *result.abstain)
        read = reading(self._parser, tools, self._info.calls, abstain=names)
        return [read(kept_reply(one), self._info.level) for one in result.attempts]


def run_tools(path: Path) -> RunTools:
    """Return the tools that a run kept. Raises `RecordError` if there are none."""
    if (kept := kept_tools(path)) is None:
        raise RecordError(
            f"{path}: this run did not keep its tools, as there is no {TOOLS_FILE} in it; give the "
            "suite that was asked (--suite)"
        )
    return kept


def kept_reply(attempt: AttemptRecord) -> Reply:
    """Return a reply as its client gave it."""
    return Reply(
        attempt.message,
        attempt.finish_reason,
        Usage(attempt.prompt_tokens, attempt.completion_tokens),
        attempt.latency_seconds,
        attempt.retries,
        source=attempt.source,
    )


TOOLS_FILE = "tools.jsonl"


@dataclass(frozen=True, slots=True)
class RunTools:
    """The tools of a run: the suite's, and by id those of scenarios that have their own."""

    tools: Tools
    own: dict[str, Tools] = field(default_factory=dict)

    def of(self, scenario: str) -> Tools:
        return self.own.get(scenario, self.tools)


def tools_of(suite: Suite) -> RunTools:
    own = {one.id: one.tools for one in suite.scenarios if one.tools is not None}
    return RunTools(suite.tools, own)


def keep_tools(directory: Path, suite: Suite | RunTools) -> None:
    kept, secrets = tools_of(suite) if isinstance(suite, Suite) else suite, of_environment()
    with RecordWriter(directory / TOOLS_FILE) as file:
        for scenario, tools in ((None, kept.tools), *kept.own.items()):
            rows = [  # all fields of a tool; OpenAI's format has no place for `paths`
                {
                    "name": one.name,
                    "description": one.description,
                    "parameters": dict(one.parameters),
                    "paths": sorted(one.paths),
                }
                for one in tools.values()
            ]
            file.append(without({"scenario": scenario, "tools": rows}, secrets))


def kept_tools(directory: Path) -> RunTools | None:
    """Return the tools kept in a run's directory, or None if there are none. Raises RecordError."""
    path = directory / TOOLS_FILE
    if is_absent(path):
        return None
    found: dict[str | None, Tools] = {}
    for number, record in enumerate(read(path), 1):
        try:
            found[record["scenario"]] = to_tools(
                ToolSpec(
                    one["name"], one["description"], one["parameters"], frozenset(one["paths"])
                )
                for one in record["tools"]
            )
        except (KeyError, TypeError, ToolsError) as error:
            raise RecordError(f"{path}, record {number}: these are no tools: {error!r}") from error
    own = {scenario: tools for scenario, tools in found.items() if scenario is not None}
    return RunTools(found.get(None, Tools()), own)
