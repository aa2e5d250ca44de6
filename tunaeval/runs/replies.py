"""The replies that a run kept, as they are read again: with its tools, and where calls belong."""

from __future__ import annotations

from pathlib import Path

from tunaeval.errors import RecordError
from tunaeval.parsing.api import parser_for
from tunaeval.types.calls import Tools
from tunaeval.types.exchange import Reply
from tunaeval.types.messages import Usage
from tunaeval.types.parsing import ParseResult
from tunaeval.types.runs import AttemptRecord, CallSource, RunInfo, ScenarioResult

from .reading import reading
from .suites.loading import load_suite, suite_names
from .tools import RunTools, kept_tools, tools_of


class Replies:
    """Reads the replies of a kept run again, by the run's own rules.

    `directory` is None for a run that was kept nowhere. Where neither it nor a built-in suite says
    which tools there were, texts are read without tools. Raises `UnknownNameError` where the run's
    parser is not installed.
    """

    def __init__(self, info: RunInfo, directory: Path | str | None) -> None:
        self._info = info
        self._parser = parser_for(info.format)
        try:
            self._tools = run_tools(Path(directory), info) if directory else RunTools(Tools())
        except RecordError:
            self._tools = RunTools(Tools())

    def tools(self, scenario: str) -> Tools:
        """The tools that a scenario was asked with; empty where nobody knows."""
        return self._tools.of(scenario)

    def read(self, result: ScenarioResult) -> list[ParseResult]:
        """Each attempt's reply, read at the run's level."""
        tools = self.tools(result.scenario)
        source = where_calls_belong(self._info, tools)
        names = (*self._info.abstain, *result.abstain)
        read = reading(self._parser, tools, self._info.calls, abstain=names)
        return [read(kept_reply(one, source), self._info.level) for one in result.attempts]


def run_tools(path: Path, info: RunInfo) -> RunTools:
    """Those that the run kept; runs of before that have those of their built-in suite.

    Raises `RecordError` where neither is there.
    """
    kept = kept_tools(path)
    if kept is not None:
        return kept
    if info.suite in suite_names():
        suite = load_suite(info.suite)
        if suite.digest == info.suite_digest:
            return tools_of(suite)
    raise RecordError(
        f"{path}: this run keeps no tools, and {info.suite!r} is no built-in suite as it is "
        "today; give the suite that was asked (--suite)"
    )


def where_calls_belong(info: RunInfo, tools: Tools) -> CallSource | None:
    """Where the calls of a run's replies belong, of one that was kept before replies said so."""
    if info.client not in _SERVERS:
        return None
    return "structured" if info.ask == "api" and tools else "text"


_SERVERS = frozenset({"llamacpp", "openai"})
"""Clients of ours with a server behind them, which parses the calls of tools that it is given."""


def kept_reply(attempt: AttemptRecord, source: CallSource | None) -> Reply:
    """A reply as its client gave it; `source` where the record does not say one."""
    return Reply(
        attempt.message,
        attempt.finish_reason,
        Usage(attempt.prompt_tokens, attempt.completion_tokens),
        attempt.latency_seconds,
        attempt.retries,
        source=attempt.source or source,
    )
