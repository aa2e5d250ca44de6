"""`tunaeval show`: a stored run's summary, its failures, or one scenario in full."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from tunaeval.showing import counted

from .listing import add_json
from .numbers import POSITIVE
from .output import Output

if TYPE_CHECKING:
    # At run time these are imported when a run is read, not for --help.
    from tunaeval.types.runs import Report, ScenarioResult


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("runs", nargs="+", metavar="RUN", help="the directory of a run")
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--scenario", metavar="ID", help="this conversation, with what was found in the reply"
    )
    which.add_argument("--failed", action="store_true", help="what did not pass, and why")
    parser.add_argument(
        "--repeat", type=POSITIVE, metavar="N", help="of the scenario, only its N-th repeat (all)"
    )
    add_json(parser)


def run(arguments: argparse.Namespace, output: Output) -> int:
    from tunaeval.errors import UsageError  # noqa: PLC0415 - not for --help
    from tunaeval.reports.console import show  # noqa: PLC0415 - as above
    from tunaeval.reports.json import json_text, summary_object  # noqa: PLC0415 - as above
    from tunaeval.runs.directory import load_report  # noqa: PLC0415 - pydantic, not for --help

    if arguments.repeat and not arguments.scenario:
        raise UsageError("--repeat is of one scenario; give --scenario ID, too")
    if len(arguments.runs) > 1:
        raise UsageError(_several(arguments.runs))
    report = load_report(arguments.runs[0])
    if arguments.scenario:
        _conversation(report, arguments, output)
    elif arguments.failed:
        _failed(report, arguments, output)
    elif arguments.json:
        output.result(json_text(summary_object(report)))
    else:
        output.draw(partial(show, report))
    return 0


def _several(runs: list[str]) -> str:
    first, *others = runs
    shown = f"{first} {others[0]}" + " ..." * (len(others) > 1)
    return (
        f"show takes one run, found {len(runs)}; name one of them, such as {runs[-1]}, or see how "
        f"they differ: tunaeval compare {shown}, or tunaeval report {shown} --html -o page.html"
    )


def _conversation(report: Report, arguments: argparse.Namespace, output: Output) -> None:
    from tunaeval.errors import UnknownNameError, UsageError  # noqa: PLC0415 - as above
    from tunaeval.reports.json import json_text  # noqa: PLC0415 - as above
    from tunaeval.runs.viewer.console import show_scenario  # noqa: PLC0415 - as above
    from tunaeval.runs.viewer.scenario import Viewer  # noqa: PLC0415 - as above

    viewer, name, wanted = Viewer.of(report), arguments.scenario, arguments.repeat
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
    from tunaeval.reports.console import failed_lines  # noqa: PLC0415 - as above
    from tunaeval.reports.json import json_text  # noqa: PLC0415 - as above

    count = 0
    for one in _not_passed(report):
        count += 1
        if arguments.json:
            output.result(json_text(one.model_dump()))
        else:
            output.result("\n".join(failed_lines(one)))
    if not arguments.json:
        output.note(f"tunaeval: {count} of {counted(len(report.results), 'result')} did not pass")


def _not_passed(report: Report) -> Iterator[ScenarioResult]:
    return (one for one in report.results if not one.ok)
