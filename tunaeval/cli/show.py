"""`tunaeval show`: a stored run's summary, its failures, or one scenario in full."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import partial
from itertools import zip_longest
from pathlib import Path

from tunaeval.errors import RecordError, UnknownNameError, UsageError
from tunaeval.files.records import json_text
from tunaeval.reports.console import failed_lines, show
from tunaeval.reports.json import summary_object
from tunaeval.reports.page.console import show_scenario
from tunaeval.reports.page.scenario import Viewer
from tunaeval.reports.ranking import CellName, show_ranking
from tunaeval.runs.directory import found_run, load_report, runs_below
from tunaeval.runs.matrix import is_matrix, load_matrix, matrix_object
from tunaeval.showing import counted, visible
from tunaeval.types.runs import Report

from .output import Output

RUNS = "runs"
"""Where the newest run is looked for if none is named, as `tunaeval run` keeps its runs there."""


def run(arguments: argparse.Namespace, output: Output) -> int:
    if arguments.repeat and not arguments.scenario:
        raise UsageError("--repeat chooses a repeat of one scenario; give --scenario ID, too")
    if len(arguments.runs) > 1:
        raise UsageError(_several(arguments.runs))
    (path,) = taken_runs(arguments, output)
    if is_matrix(path):
        _matrix(path, arguments, output)
        return 0
    report = load_report(path)
    if arguments.scenario:
        _conversation(report, arguments, output)
    elif arguments.failed:
        print_failed([report], arguments, output)
    elif arguments.json:
        output.result(json_text(summary_object(report)))
    else:
        output.draw(partial(show, report))
    return 0


def taken_runs(arguments: argparse.Namespace, output: Output) -> list[Path]:
    """Return the directories of the runs that a command names, or the newest run below `runs` if it
    names none. Print which run is taken, here and from a directory that only contains runs. Raise
    RecordError if that has several and there is no `--latest`, and if there is no run.
    """
    if not arguments.runs:
        newest = runs_here()[-1]
        output.note(f"tunaeval: the newest run is {newest}")
        return [newest]
    found = [found_run(path, latest=arguments.latest) for path in arguments.runs]
    for path, run in zip(arguments.runs, found, strict=True):
        if run != Path(path):
            output.note(f"tunaeval: in {path}: run {run.name}")
    return found


def runs_here() -> list[Path]:
    """Return the runs below `runs`, the newest last. Raise RecordError if there are none."""
    found = runs_below(Path(RUNS))
    if not found:
        raise RecordError(f"there is no run below {RUNS}/; `tunaeval run` keeps its runs there")
    return found


def _matrix(path: Path, arguments: argparse.Namespace, output: Output) -> None:
    """Print the ranking of a kept matrix, or the failures of its cells."""
    if arguments.scenario:
        raise UsageError(
            f"{path} is a matrix; name one of its cells, such as {path / 'cells' / '01'}"
        )
    matrix = load_matrix(path)
    if arguments.failed:
        print_failed(matrix.cells, arguments, output, matrix.names)
    elif arguments.json:
        output.result(json_text(matrix_object(matrix)))
    else:
        output.draw(partial(show_ranking, matrix.ranking))


def _several(runs: list[str]) -> str:
    first, *others = runs
    shown = f"{first} {others[0]}" + " ..." * (len(others) > 1)
    return (
        f"show takes one run, found {len(runs)}; name one of them, such as {runs[-1]}, or see how "
        f"they differ: tunaeval compare {shown}, or tunaeval report {shown} --html -o page.html"
    )


def _conversation(report: Report, arguments: argparse.Namespace, output: Output) -> None:
    viewer, name, wanted = Viewer(report), arguments.scenario, arguments.repeat
    found = [one for one in report.results if one.scenario == name]
    if not found:
        ids = {one.scenario: None for one in report.results}
        raise UnknownNameError("scenario of this run", name, ids)
    chosen = [one for one in found if wanted in (None, one.repeat)]
    if not chosen:
        known = ", ".join(str(one.repeat) for one in found)
        raise UsageError(f"scenario {name!r} has no repeat {wanted}; there are {known}")
    for number, one in enumerate(chosen):
        if arguments.json:
            output.result(json_text(one.model_dump()))
            continue
        if number:
            output.result("")
        output.draw(partial(show_scenario, viewer.look(one)))


def print_failed(
    reports: Sequence[Report],
    arguments: argparse.Namespace,
    output: Output,
    cells: Sequence[CellName] = (),
) -> None:
    """Print each result that did not pass, in a matrix below its cell."""
    for report, cell in zip_longest(reports, cells):
        failed = [one for one in report.results if not one.ok]
        if arguments.json:
            more = {} if cell is None else {"cell": cell.cell}
            for one in failed:
                output.result(json_text(more | one.model_dump()))
            continue
        if cell is not None:
            output.result(f"{visible(f'{cell.cell} {cell.words}')}:")
        for one in failed:
            output.result("\n".join(failed_lines(one)))
        whose = "" if cell is None else f"{cell.cell}: "
        of = counted(len(report.results), "result")
        output.note(f"tunaeval: {whose}{len(failed)} of {of} did not pass")
