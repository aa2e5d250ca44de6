"""`tunaeval compare`: compares runs with the first of them, and fails if one is worse."""

from __future__ import annotations

import argparse
from functools import partial

from tunaeval.files.records import json_text
from tunaeval.reports.compare import Comparison, compare_runs
from tunaeval.reports.compared import comparison_markdown, comparison_object, show_comparison
from tunaeval.reports.sides import RunFigures
from tunaeval.runs.directory import run_source
from tunaeval.showing import visible

from .budget import TOO_MANY_FAILURES, is_empty, is_over
from .output import Output
from .show import taken_runs

INTERRUPTED = "no result, as the run was interrupted (tunaeval run --resume DIR finishes it)"
"""The cause that is counted for each result that an interrupted run lacks."""


def run(arguments: argparse.Namespace, output: Output) -> int:
    """Return 0; 1 if a run may be worse by the margin or more; 3 if too much failed to judge."""
    found = compare_runs(
        [run_source(path) for path in taken_runs(arguments, output)],
        level=arguments.level,
        cluster=arguments.cluster,
        intersect=arguments.intersect,
        different_prompts=arguments.different_prompts,
    )
    _print(found, arguments, output)
    runs = (found[0].a, *(comparison.b for comparison in found))
    for figures in runs:
        for words in figures.warnings:
            output.note(f"tunaeval: warning: run {visible(figures.run_id)}: {words}")
    margin = arguments.fail_if_worse
    failed = [
        is_over(
            arguments,
            _failures(one),
            output,
            gate=margin,
            of=one.answers + one.failures + one.missing,
            empty=is_empty(one.answers, one.outcomes, one.empty_replies),
            whose=f"run {one.run_id}: ",
        )
        for one in runs
    ]
    if any(failed):
        return TOO_MANY_FAILURES
    worse = [one for one in found if margin is not None and not one.overall.clears(margin)]
    for one in worse:
        output.note(
            f"tunaeval: run {one.b.run_id} may be worse by {100 * margin:g} points or more: the "
            f"interval of the difference begins at {100 * one.overall.low:+.1f} points"
        )
    return 1 if worse else 0


def _failures(run: RunFigures) -> dict[str, int]:
    """Return the number of failures by cause, missing results of an interrupted run included."""
    return {**run.causes, INTERRUPTED: run.missing} if run.missing else run.causes


def _print(found: tuple[Comparison, ...], arguments: argparse.Namespace, output: Output) -> None:
    margin, shown = arguments.fail_if_worse, arguments.flips
    if arguments.json:
        objects = [comparison_object(one, margin=margin) for one in found]
        output.result(json_text({"comparisons": objects}))
        return
    for one in found:
        if arguments.markdown:
            output.result(comparison_markdown(one, margin=margin, shown=shown))
        else:
            output.draw(partial(show_comparison, one, margin=margin, shown=shown))
