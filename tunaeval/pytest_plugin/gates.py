"""Gates over the suites of a session: against a baseline in pairs, by pass^k, by a lower bound."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tunaeval.api import compare
from tunaeval.errors import TunaevalError, UsageError
from tunaeval.harness import RUN_FILE, load_report
from tunaeval.reports import summarise
from tunaeval.types.runs import Report, RunInfo, ScenarioResult

from .options import option, read_pass_k

Verdict = tuple[bool, str]
"""Whether a gate is open, and why."""


def judged(config: pytest.Config, measured: Sequence[dict[str, Any]]) -> list[Verdict]:
    """A line for each suite, and one for each gate that was asked for."""
    files: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for one in measured:
        files[one["file"]].append(one)
    verdicts: list[Verdict] = []
    for several in files.values():
        report = _report(several)
        final = report.summary.final
        verdicts.append((True, f"{report.run.suite}: {final.passed} of {final.total} passed"))
        try:
            verdicts += _gates(config, report)
        except TunaevalError as error:
            verdicts.append((False, f"{report.run.suite}: {error}"))
    return verdicts


def _report(measured: Sequence[dict[str, Any]]) -> Report:
    results = [ScenarioResult.model_validate_json(one["result"]) for one in measured]
    results.sort(key=lambda result: (result.repeat, result.scenario))
    run = RunInfo.model_validate_json(measured[0]["run"])
    summary = summarise(results, repeats=measured[0]["repeats"])
    return Report.model_construct(
        run=run,
        summary=summary,
        results=tuple(results),
        interrupted=len(results) < run.scenarios * run.repeats,
        directory=None,
    )


def _gates(config: pytest.Config, report: Report) -> Iterator[Verdict]:
    suite = report.run.suite
    baseline = option(config, "baseline")
    if baseline is not None:
        yield _against(report, Path(baseline), option(config, "margin") / 100)
    wanted = option(config, "pass-k")
    if wanted is not None:
        yield _pass_k(report, *read_pass_k(wanted))
    bound = option(config, "min-bound")
    if bound is not None:
        low = 100 * (report.summary.final.low or 0.0)
        words = f"{suite}: the rate is at least {low:.1f} %, wanted {bound:g} %"
        yield low >= bound, words


def _against(report: Report, directory: Path, margin: float) -> Verdict:
    base = _baseline(report, directory)
    found = compare(base, report, intersect=report.interrupted)
    overall = found.overall
    clears = overall.clears(margin)
    lost = ", ".join(flip.scenario for flip in found.lost[:5])
    return clears, (
        f"{report.run.suite}: {100 * overall.value:+.1f} points against the baseline "
        f"{base.run.run_id} (between {100 * overall.low:+.1f} and {100 * overall.high:+.1f}), "
        f"{'surely not' if clears else 'maybe'} worse by {100 * margin:g} or more"
        + (f"; lost: {lost}" if lost else "")
    )


def _baseline(report: Report, directory: Path) -> Report:
    """The run in the directory, or the latest of its runs of this suite."""
    if (directory / RUN_FILE).is_file():
        return load_report(directory)
    found = [load_report(path.parent) for path in sorted(directory.glob(f"*/{RUN_FILE}"))]
    same = [one for one in found if one.run.suite == report.run.suite]
    if not same:
        raise UsageError(
            f"{str(directory)!r} has no run of {report.run.suite!r}; make one with "
            f"tunaeval run --suite FILE --out {directory}"
        )
    return max(same, key=lambda one: one.run.started_at)


def _pass_k(report: Report, k: int, percent: float) -> Verdict:
    repeats = report.summary.repeats
    at = {one.k: one for one in repeats.at} if repeats is not None else {}
    value = at[k].all_pass if k in at else report.summary.final.value if k == 1 else None
    if value is None:
        raise UsageError(f"pass^{k} wants {k} repeats or more; ask with --tunaeval-repeats {k}")
    words = f"{report.run.suite}: pass^{k} is {100 * value:.1f} %, wanted {percent:g} %"
    return 100 * value >= percent, words
