"""`tunaeval run --lf`: the scenarios that did not pass in the newest run of a suite."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from tunaeval.errors import RecordError, UsageError
from tunaeval.runs.directory import load_report, runs_below
from tunaeval.runs.matrix import is_matrix, load_matrix
from tunaeval.types.runs import Report

from .named_tools import chosen_suite
from .output import Output


def last_failed(arguments: argparse.Namespace, output: Output) -> list[str]:
    """Return the ids to ask: those of the chosen scenarios without PASS in the newest run of their
    suite, in a matrix in any cell. If there is no such run or scenario, return the ids as chosen.
    """
    if arguments.resume is not None:
        raise UsageError("--lf begins a new run, and --resume goes on with one; leave one out")
    suite = chosen_suite(arguments, output)
    for path in reversed(runs_below(Path(arguments.out))):
        try:
            reports = load_matrix(path).cells if is_matrix(path) else (load_report(path),)
            if not any(one.run.suite == suite.name for one in reports):
                continue
            every = [one.id for one in suite.scenarios]
            failed = set[str]().union(*(_failed(one, every) for one in reports))
        except RecordError:  # a damaged run is passed over
            continue
        ids = [one.id for one in suite.scenarios if one.id in failed]
        found = f"{len(ids)} of {len(suite.scenarios)}" if ids else "none"
        output.note(
            f"tunaeval: {found} did not pass in {path}" + ("" if ids else ", so all are asked")
        )
        return ids or list(arguments.ids)
    output.note(
        f"tunaeval: there is no run of {suite.name!r} below {arguments.out}, so all are asked"
    )
    return list(arguments.ids)


def _failed(report: Report, every: Sequence[str]) -> set[str]:
    """Return the scenarios of a run without PASS in all repeats, and those that it did not ask."""
    failed = {one.scenario for one in report.results if not one.ok}
    if not report.interrupted:
        return failed
    answered = {one.scenario for one in report.results}
    planned = report.run.options.get("ids") or every
    return failed | {name for name in planned if name not in answered}
