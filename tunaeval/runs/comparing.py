"""`compare`: compares two runs, given as reports or as the directories that runs are stored in."""

from __future__ import annotations

from pathlib import Path

from tunaeval.reports.compare import Comparison, compare_runs
from tunaeval.reports.sides import source_of
from tunaeval.types.parsing import Level
from tunaeval.types.runs import Report

from .directory import run_source


def compare(
    report_a: Report | Path | str,
    report_b: Report | Path | str,
    *,
    level: Level | None = None,
    cluster: str = "group",
    intersect: bool = False,
    different_prompts: bool = False,
) -> Comparison:
    """Compare run b with run a: `.overall` is the difference with its interval, `.lost` and
    `.gained` list the scenarios whose verdict changed.

    Args:
        report_a: The baseline: a report, a run's directory, or one that contains a single run.
            Scenarios are paired by id.
        report_b: The other run; `overall.value` is its share of passes less that of the baseline.
        level: Whose verdicts to take; by default the level of the runs, which must agree.
        cluster: Which scenarios depend on each other: "group" (those with one `group`),
            "tag:PREFIX" (those with one tag that begins so), or "scenario" (none).
        intersect: Compare runs with other suites, profiles or levels, on the scenarios that both
            have.
        different_prompts: Compare runs with other system prompts, tools or ways to ask.

    Raises ComparisonError for runs that differ in more than the last two options allow, RecordError
    for a directory without a run or with several.

    Examples:
        >>> from tunaeval import ScriptedClient
        >>> replies = ScriptedClient(["I cannot."] * 12)
        >>> report = tunaeval.run("smoke", client=replies, out=None, attempts=1)
        >>> tunaeval.compare(report, report).overall.value
        0.0
    """
    sources = [
        source_of(one) if isinstance(one, Report) else run_source(one)
        for one in (report_a, report_b)
    ]
    (found,) = compare_runs(
        sources,
        level=level,
        cluster=cluster,
        intersect=intersect,
        different_prompts=different_prompts,
    )
    return found
