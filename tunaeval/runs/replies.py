"""Read the replies of a kept run again, with its tools and its source of calls."""

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
    """A reader of a kept run's replies, by the run's own rules.

    `directory` is None for a run that was kept nowhere. If neither the directory nor a built-in
    suite has the run's tools, texts are read without tools. Raises `UnknownNameError` if the run's
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
        """Return the tools of a scenario; empty if they are unknown."""
        return self._tools.of(scenario)

    def read(self, result: ScenarioResult) -> list[ParseResult]:
        """Return each attempt's reply as read at the run's level."""
        tools = self.tools(result.scenario)
        source = where_calls_belong(self._info, tools)
        names = (*self._info.abstain, *result.abstain)
        read = reading(self._parser, tools, self._info.calls, abstain=names)
        return [read(kept_reply(one, source), self._info.level) for one in result.attempts]


def run_tools(path: Path, info: RunInfo) -> RunTools:
    """Return the tools that a run kept; an older run has those of its built-in suite.

    Raises `RecordError` if neither exists.
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
    """Return the source of calls (structured or text) in a run that did not record it."""
    if info.client not in _SERVERS:
        return None
    return "structured" if info.ask == "api" and tools else "text"


_SERVERS = frozenset({"llamacpp", "openai"})
"""Our clients of real servers, which parse calls of the tools that they receive."""


def kept_reply(attempt: AttemptRecord, source: CallSource | None) -> Reply:
    """Return a reply as its client gave it; `source` is used if the record has none."""
    return Reply(
        attempt.message,
        attempt.finish_reason,
        Usage(attempt.prompt_tokens, attempt.completion_tokens),
        attempt.latency_seconds,
        attempt.retries,
        source=attempt.source or source,
    )
