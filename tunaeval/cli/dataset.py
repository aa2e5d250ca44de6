"""`tunaeval dataset check` and `filter`: what is wrong with the rows of a training data set.
`difficulty`: how often each scenario passes in runs.

It reads a row at a time, so a file may be of any size (100 bytes of each are kept, to find
duplicates).
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path

from tunaeval.data.checking import FINDINGS, Checker, Finding, Report
from tunaeval.data.rows import Fault, Row
from tunaeval.data.shapes import SHAPES, read_rows
from tunaeval.errors import UsageError
from tunaeval.files.new_files import new_bytes
from tunaeval.reports.difficulty import difficulties
from tunaeval.runs.directory import load_report
from tunaeval.showing import counted, visible
from tunaeval.tasks.suites.loading import load_suite
from tunaeval.types.calls import JsonObject
from tunaeval.types.wanted import wanted_name

from .output import Output, json_line, print_listing

_FOUND = 1


def run(arguments: argparse.Namespace, output: Output) -> int:
    """Return 1 if a row could not be read, or with `--strict` for any finding or no rows."""
    if arguments.action == "difficulty":
        return _difficulty(arguments, output)
    if len(arguments.files) > 1 or arguments.between:
        raise UsageError(f"{arguments.action} takes one file and no --between; leave out the rest")
    (arguments.file,) = arguments.files
    for code in arguments.allow:
        wanted_name(code, "finding", FINDINGS)
    wanted_name(arguments.shape, "shape", ("auto", *SHAPES))
    wanted = (arguments.kept, arguments.rejected)
    files = {name for name in (*wanted, arguments.file) if name}
    if len(files) != (3 if arguments.action == "filter" else 1) or (any(wanted) != all(wanted)):
        raise UsageError(
            "filter needs --kept FILE and --rejected FILE, two files other than the input; "
            "check takes neither"
        )
    for name in filter(None, wanted):
        if Path(name).suffix in {".parquet", ".pq", ".arrow", ".csv"}:
            raise UsageError(f"{name}: rows are written as JSON lines; name a file .jsonl")
    against = [load_suite(name) for name in arguments.against]
    checker, report = Checker.against(against) if against else Checker(), Report()
    rows = read_rows(arguments.file, arguments.shape)
    with ExitStack() as stack:
        kept, rejected = [
            stack.enter_context(new_bytes(Path(name))) if name else (lambda _: None)
            for name in wanted
        ]
        for row in rows:
            found = [one for one in checker.check(row) if one.code not in arguments.allow]
            report.add(row, found, arguments.examples)
            if found:
                rejected(_rejected(row, found))
            else:
                kept(_line(row))
    _show(report, arguments, output)
    if not report.rows:
        output.note(f"{arguments.file} has no rows, so nothing was checked")
    unread = report.counts["unreadable-row"]
    return _FOUND if unread or (arguments.strict and (report.faulty or not report.rows)) else 0


def _difficulty(arguments: argparse.Namespace, output: Output) -> int:
    """Print how often each scenario of the runs passes."""
    if arguments.kept or arguments.rejected or arguments.against or arguments.strict:
        raise UsageError("difficulty takes --between and --json; leave out the others")
    low, high = arguments.between or (0.0, 1.0)
    if low > high:
        raise UsageError(
            f"--between is {low:g} and {high:g}, the first above the second; swap them"
        )
    found = difficulties(one for run in arguments.files for one in load_report(run).results)
    rows = [
        one for one in found
        if not arguments.between or (one["of"] and low <= one["passed"] / one["of"] <= high)
    ]  # fmt: skip
    if once := sum(one["of"] <= 1 for one in found):
        output.note(
            f"tunaeval: {once} of {counted(len(found), 'scenario')} were asked once at most, which "
            "says little of how hard they are; ask them with --repeats"
        )
    columns = (
        "id",
        "passed",
        "low",
        "high",
        *{f"pass@{k}": 0 for one in rows for k in one["pass_at"]},
    )
    table = rows if arguments.json else [_scenario_row(one, columns) for one in rows]
    print_listing(output, "scenarios", table, columns, as_json=arguments.json)
    return 0


def _scenario_row(one: JsonObject, columns: Iterable[str]) -> JsonObject:
    """Return a scenario as a row of the table."""
    shares = {"low": one["low"], "high": one["high"]}
    shares |= {f"pass@{k}": value for k, value in one["pass_at"].items()}
    shown = {name: "" if value is None else f"{value:.3f}" for name, value in shares.items()}
    row = {**dict.fromkeys(columns, ""), **shown}
    return {**row, "id": one["id"], "passed": f"{one['passed']} of {one['of']}"}


def _line(row: Row | Fault) -> bytes:
    """Return the row's own line if it has one, else the row as a line of JSON."""
    if row.line is not None:
        return row.line if row.line.endswith(b"\n") else row.line + b"\n"
    return json_line(row.raw)


def _rejected(row: Row | Fault, findings: Iterable[Finding]) -> bytes:
    reasons = [{"code": one.code, "reason": one.reason, "message": one.message} for one in findings]
    unread = row.line.decode("utf-8", "backslashreplace") if row.raw is None and row.line else None
    return json_line({"row": row.number, "reasons": reasons, "data": unread or row.raw})


def _show(report: Report, arguments: argparse.Namespace, output: Output) -> None:
    if arguments.json:
        record = {
            "rows": report.rows,
            "with_findings": report.faulty,
            "shapes": dict(report.shapes),
            "findings": dict(report.counts),
            "examples": {
                code: [{"row": number, "reason": reason} for number, reason in shown]
                for code, shown in report.examples.items()
            },
        }
        output.result(json.dumps(record))
        return
    shapes = ", ".join(f"{count} {shape}" for shape, count in sorted(report.shapes.items()))
    output.result(
        f"{counted(report.rows, 'row')} ({shapes or 'none'}): {report.faulty} with findings"
    )
    for code, meaning in FINDINGS.items():
        if not report.counts[code]:
            continue
        output.result(f"{report.counts[code]:8} {code}: {meaning}")
        for number, reason in report.examples.get(code, ()):
            output.result(f"         row {number}: {visible(reason, 160)}")
