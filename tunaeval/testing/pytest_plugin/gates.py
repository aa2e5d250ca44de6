"""Gates on the suites of a session: a paired comparison, pass^k, or a lower bound of the rate."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tunaeval.api.comparing import compare
from tunaeval.errors import TunaevalError, UsageError
from tunaeval.reports.summary import summarise
from tunaeval.runs.directory import RUN_FILE, load_report
from tunaeval.types.runs import Report, RunInfo, ScenarioResult

from .options import Verdict, option, read_pass_k


def judged(config: pytest.Config, measured: Sequence[dict[str, Any]]) -> list[Verdict]:
    """Return a line for each suite, and one for each gate that was requested."""
    if not measured:
        return [Verdict("no scenario was asked", "too little data")]
    files: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for one in measured:
        files[one["file"]].append(one)
    verdicts: list[Verdict] = []
    for several in files.values():
        report = _report(several)
        final = report.summary.final
        verdicts.append(Verdict(f"{report.run.suite}: {final.passed} of {final.total} passed"))
        try:
            verdicts += _gates(config, report)
        except TunaevalError as error:
            verdicts.append(Verdict(f"{report.run.suite}: {error}", "failed"))
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
    baseline = option(config, "baseline")
    if baseline is not None:
        yield _against(report, Path(baseline), option(config, "margin") / 100)
    wanted = option(config, "pass-k")
    if wanted is not None:
        yield _pass_k(report, *read_pass_k(wanted))
    bound = option(config, "min-bound")
    if bound is not None:
        yield _bound(report, bound)


def _against(report: Report, directory: Path, margin: float) -> Verdict:
    base = _baseline(report, directory)
    found = compare(base, report, intersect=report.interrupted)
    overall = found.overall
    clears = overall.clears(margin)
    lost = ", ".join(flip.scenario for flip in found.lost[:5])
    return _verdict(
        clears,
        overall.value > -margin,
        f"{report.run.suite}: {100 * overall.value:+.1f} points against the baseline "
        f"{base.run.run_id} (between {100 * overall.low:+.1f} and {100 * overall.high:+.1f}), "
        f"{'surely not' if clears else 'may be'} worse by {100 * margin:g} or more"
        + (f"; lost: {lost}" if lost else "")
        + "".join(f"; the baseline: {words}" for words in found.a.warnings),
    )


def _baseline(report: Report, directory: Path) -> Report:
    """Return the run in the directory, or the latest of its runs of this suite."""
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
    passed = 100 * value >= percent
    return _verdict(passed, passed, words)


def _bound(report: Report, percent: float) -> Verdict:
    suite, final = report.run.suite, report.summary.final
    if final.value is None or final.low is None:
        return Verdict(f"{suite}: nothing was answered, wanted {percent:g} %", "too little data")
    return _verdict(
        100 * final.low >= percent,
        100 * final.value >= percent,
        f"{suite}: {100 * final.value:.1f} % passed, so that the rate is at least "
        f"{100 * final.low:.1f} %, wanted {percent:g} %",
    )


def _verdict(is_sure: bool, is_measured: bool, words: str) -> Verdict:
    """Return the verdict of a gate: passed if the value is certain to suffice, "too little data" if
    it suffices only as measured, else failed.
    """
    return Verdict(words, "passed" if is_sure else "too little data" if is_measured else "failed")
