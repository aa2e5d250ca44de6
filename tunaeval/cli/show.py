"""`tunaeval show`: a stored run's summary, its failures, or one scenario in full."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path

from tunaeval.errors import UnknownNameError, UsageError
from tunaeval.files.records import json_text
from tunaeval.reports.console import failed_lines, show
from tunaeval.reports.json import summary_object
from tunaeval.reports.page.console import show_scenario
from tunaeval.reports.page.scenario import Viewer
from tunaeval.reports.ranking import show_ranking
from tunaeval.runs.directory import found_run, load_report
from tunaeval.runs.matrix import is_matrix, load_matrix, matrix_object
from tunaeval.showing import counted
from tunaeval.types.runs import Report

from .output import Output


def run(arguments: argparse.Namespace, output: Output) -> int:
    if arguments.repeat and not arguments.scenario:
        raise UsageError("--repeat chooses a repeat of one scenario; give --scenario ID, too")
    if len(arguments.runs) > 1:
        raise UsageError(_several(arguments.runs))
    (path,) = taken_runs(arguments, output)
    if is_matrix(path):
        return _matrix(path, arguments, output)
    report = load_report(path)
    if arguments.scenario:
        _conversation(report, arguments, output)
    elif arguments.failed:
        _failed(report, arguments, output)
    elif arguments.json:
        output.result(json_text(summary_object(report)))
    else:
        output.draw(partial(show, report))
    return 0


def taken_runs(arguments: argparse.Namespace, output: Output) -> list[Path]:
    """Return the directories of the runs that a command names. Print which run is taken from a
    directory that only contains runs. Raise RecordError if there are several and no `--latest`.
    """
    found = [found_run(path, latest=arguments.latest) for path in arguments.runs]
    for path, run in zip(arguments.runs, found, strict=True):
        if run != Path(path):
            output.note(f"tunaeval: in {path}: run {run.name}")
    return found


def _matrix(path: Path, arguments: argparse.Namespace, output: Output) -> int:
    """Print the ranking of a kept matrix."""
    if arguments.scenario or arguments.failed:
        raise UsageError(
            f"{path} is a matrix; name one of its cells, such as {path / 'cells' / '01'}"
        )
    matrix = load_matrix(path)
    if arguments.json:
        output.result(json_text(matrix_object(matrix)))
    else:
        output.draw(partial(show_ranking, matrix.ranking))
    return 0


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


def _failed(report: Report, arguments: argparse.Namespace, output: Output) -> None:
    count = 0
    for one in (result for result in report.results if not result.ok):
        count += 1
        if arguments.json:
            output.result(json_text(one.model_dump()))
        else:
            output.result("\n".join(failed_lines(one)))
    if not arguments.json:
        output.note(f"tunaeval: {count} of {counted(len(report.results), 'result')} did not pass")
