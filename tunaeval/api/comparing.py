"""Two runs compared in one call, from reports or from the directories that runs are kept in."""

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
    """How run b differs from run a: `.overall` by how much and how surely, `.lost` and `.gained`.

    Scenarios are paired by id; `overall.value` is b less a, as a share. `level` takes the verdicts
    of one level (default: that of the runs, which must agree); `cluster` says which scenarios hang
    together: "group" (those with one `group`), "tag:PREFIX" (one tag that so begins), "scenario"
    (none). Runs that were asked different things raise ComparisonError; `intersect=True` compares
    the scenarios that both were asked alike.

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
