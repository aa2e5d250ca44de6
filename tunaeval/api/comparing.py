"""`compare`: compares two runs, given as reports or as the directories that runs are stored in."""

from __future__ import annotations

from pathlib import Path

from tunaeval.reports.compare import Comparison, compare_runs
from tunaeval.reports.sides import source_of
from tunaeval.runs.directory import run_source
from tunaeval.types.parsing import Level
from tunaeval.types.runs import Report


def compare(
    report_a: Report | Path | str,
    report_b: Report | Path | str,
    *,
    level: Level | None = None,
    cluster: str = "group",
    intersect: bool = False,
) -> Comparison:
    """Compare run b with run a: `.overall` is the difference with its interval, `.lost` and
    `.gained` list the scenarios whose verdict changed.

    Args:
        report_a: The baseline, a report or a run's directory. Scenarios are paired by id.
        report_b: The other run; `overall.value` is its share of passes less that of the baseline.
        level: Whose verdicts to take; by default the level of the runs, which must agree.
        cluster: Which scenarios depend on each other: "group" (those with one `group`),
            "tag:PREFIX" (those with one tag that begins so), or "scenario" (none).
        intersect: Compare only the scenarios that both runs asked alike.

    Raises ComparisonError for runs that were asked different things, unless `intersect` is True.

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
    (found,) = compare_runs(sources, level=level, cluster=cluster, intersect=intersect)
    return found
