"""Read a run's replies again by another format, level or profile, without asking a model.

Results go one by one from the old directory into the new; memory has only the counts of
`summarise`. Rescoring by a run's own rules gives its own results.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from tunaeval.errors import RecordError, SuiteError, TransportFailure
from tunaeval.files.keys import of_environment
from tunaeval.files.plain_files import open_plain, unread
from tunaeval.files.results import RESULTS_FILE, CountedResults
from tunaeval.grammar.format import Format
from tunaeval.parsing.api import sole_parser_for
from tunaeval.parsing.reader import abstaining_names
from tunaeval.reports.replies import (
    RunTools,
    keep_tools,
    kept_reply,
    reading,
    run_tools,
    tools_of,
)
from tunaeval.reports.summary import summarise
from tunaeval.tasks.suites.loading import load_suite
from tunaeval.types.calls import Tools
from tunaeval.types.parsing import Level
from tunaeval.types.roles import Parser
from tunaeval.types.runs import (
    CountedCalls,
    Report,
    RunInfo,
    Scenario,
    ScenarioResult,
    Source,
    Suite,
)
from tunaeval.types.wanted import wanted_path

from .directory import (
    RunDirectory,
    found_results,
    found_run,
    placed_results,
    read_info,
    report_of,
    without_secrets,
)
from .episode import Reread, Trial, reread
from .options import RunOptions, born
from .turns import reread_task


@dataclass(frozen=True, slots=True)
class Rescored:
    """The outcome of `rescore`; `report` has no results, which are in its directory.

    `gained` counts results that failed before and pass now, `lost` the opposite. `unasked` counts
    results for which the new rules would ask the model once more: their last reply is used.

    Examples:
        >>> from tunaeval import ScriptedClient
        >>> replies = ScriptedClient(["I cannot."] * 12)
        >>> report = tunaeval.run("smoke", client=replies, out="runs", attempts=1)
        >>> tunaeval.rescore(report.directory, level="lenient").gained
        0
    """

    report: Report
    gained: int
    lost: int
    unasked: int


def rescore(
    run: Path | str,
    *,
    format: str | Format | Parser | None = None,  # noqa: A002 - the public API's word
    level: Level | None = None,
    profile: str | None = None,
    calls: CountedCalls | None = None,
    abstain: Collection[str] = (),
    suite: Suite | Path | str | None = None,
    out: Path | str | None = None,
) -> Rescored:
    """Read the replies in a run's directory again, by other rules; None keeps the run's own rule.

    A call that a server should have parsed but left in the text counts as a repair (`leaked-call`).
    `abstain` are names whose calls count as no call (see `parse`), in addition to the run's.

    `suite` replaces the run's expectations and tools; its scenarios must have the run's prompts.
    `out` is the directory for the new run, by default `rescored` in that of the old run, so that a
    directory from which a gate takes its run still contains one. Raises `RecordError` for a run
    that cannot be read or written, `SuiteError` for a suite that does not fit the run, and
    `UnknownNameError`.

    Examples:
        >>> from tunaeval import ScriptedClient
        >>> replies = ScriptedClient(["I cannot."] * 12)
        >>> report = tunaeval.run("smoke", client=replies, out="runs", attempts=1)
        >>> tunaeval.rescore(report.directory, level="strict").lost
        0
    """
    source = found_run(run)
    old = read_info(source)
    parser = sole_parser_for(old.format if format is None else format)
    gold = suite if isinstance(suite, Suite | None) else load_suite(suite)
    options = RunOptions(
        level=level or old.level,
        profile=profile or old.profile,
        calls=calls or old.calls,
        abstain=(*old.abstain, *abstaining_names(abstain), *(gold.abstain if gold else ())),
        attempts=old.attempts,
    )
    tools = run_tools(source) if gold is None else tools_of(gold)
    info = _info(source, old, parser=parser, options=options, suite=gold)
    rules = _Rules(old, options, parser, tools, _by_id(gold, old.suite))
    directory = (source / "rescored" if out is None else wanted_path(out, "out")) / info.run_id
    files = RunDirectory(directory, info)
    try:
        keep_tools(directory, tools)
        return _rescored(source, files, info, rules)
    finally:
        files.close(info)


def _rescored(source: Path, files: RunDirectory, info: RunInfo, rules: _Rules) -> Rescored:
    changes: Counter[str] = Counter()
    found = found_results(source, rules.old)
    summary = summarise(_streamed(source, found, files, rules, changes), repeats=info.repeats)
    summary = summary.model_copy(update={"doubled_results": found.doubled})
    left = info.scenarios * info.repeats - summary.scenarios
    report = report_of(info, summary, (), left, files.path)
    return Rescored(report, changes["gained"], changes["lost"], changes["unasked"])


def _streamed(
    source: Path, found: CountedResults, files: RunDirectory, rules: _Rules, changes: Counter[str]
) -> Iterator[ScenarioResult]:
    """Yield each result, read again, after writing it to the new directory."""
    secrets = of_environment()
    for _, old in placed_results(source, found):
        new, unasked = rules.reread(old)
        new = without_secrets(new, secrets).model_copy(update={"index": old.index})
        files.append(new)
        changes["unasked"] += unasked
        changes["gained"] += new.ok and not old.ok
        changes["lost"] += old.ok and not new.ok
        yield new


def _info(
    source: Path, old: RunInfo, *, parser: Parser, options: RunOptions, suite: Suite | None
) -> RunInfo:
    headings = [old.heading, f"replies of run {old.run_id} read again; no model was asked"]
    changed = {
        **born(old.suite if suite is None else suite.name),
        "heading": "; ".join(heading for heading in headings if heading),
        "format": parser.name,
        "level": options.level,
        "profile": options.profile,
        "calls": options.calls,
        "abstain": [*options.abstain],
        "retried_at": [],
        "rescored": Source(
            run_id=old.run_id,
            directory=str(source),
            digest=_digest(source / RESULTS_FILE),
            format=old.format,
            level=old.level,
            profile=old.profile,
        ),
    }
    if suite is not None:
        whole, scenarios = suite.digests()
        changed |= {"suite": suite.name, "suite_digest": whole, "scenarios_digest": scenarios}
        changed |= {"tools_from": list(suite.tools_from)}
    return old.model_copy(update=changed)


def _digest(path: Path) -> str:
    try:
        with open_plain(path) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        words = unread(path, "there are no replies to read again", error)
        raise RecordError(f"{str(path)!r} {words}") from error


def _by_id(suite: Suite | None, asked: str) -> Callable[[ScenarioResult], Scenario]:
    """Return a function from a result to its scenario: the suite's, or the one kept in the run."""
    if suite is None:
        return _as_it_was
    places = {one.id: place for place, one in enumerate(suite.scenarios)}

    def found(old: ScenarioResult) -> Scenario:
        place = places.get(old.scenario)
        if place is None:
            raise SuiteError(
                f"suite {suite.name!r} has no scenario {old.scenario!r}, which a run of {asked!r} "
                "asked; give the suite of that run"
            )
        scenario = suite.scenarios[place]
        if scenario.prompt != old.prompt:
            raise SuiteError(
                f"suite {suite.name!r}, scenario {old.scenario!r}: asks {scenario.prompt!r:.60}, "
                f"the run asked {old.prompt!r:.60}; the reply answers another question; give the "
                "suite of that run"
            )
        return scenario

    return found


def _as_it_was(old: ScenarioResult) -> Scenario:
    return Scenario(
        id=old.scenario,
        prompt=old.prompt,
        expect=old.expected,
        tags=old.tags,
        group=old.group,
        weight=old.weight,
        abstain=old.abstain,
    )


@dataclass(frozen=True, slots=True)
class _Rules:
    """The rules by which the results of the run `old` are read again."""

    old: RunInfo
    options: RunOptions
    parser: Parser
    tools: RunTools
    gold: Callable[[ScenarioResult], Scenario]

    def reread(self, result: ScenarioResult) -> Reread:
        own = self.tools.of(result.scenario)
        replies = [kept_reply(attempt) for attempt in result.attempts]
        scenario, failure = self.gold(result), _failure(result)
        names = (*self.options.abstain, *scenario.abstain)
        old = self.old
        known = Tools() if old.as_written else own
        read = reading(self.parser, known, self.options.calls, abstain=names)
        trial = Trial(
            scenario, own, read, self.options, result.repeat, old.unreadable,
            as_written=old.as_written,
        )  # fmt: skip
        if result.task is not None:
            return reread_task(trial, result, replies, failure)
        return reread(trial, replies, failure)


def _failure(old: ScenarioResult) -> TransportFailure | None:
    """Return the failure that a result recorded, or None if its replies can be judged again."""
    if old.error is None or old.outcome == "judge_failure":
        return None
    kind, _, words = old.error.partition(": ")
    return TransportFailure(words, kind=kind)
