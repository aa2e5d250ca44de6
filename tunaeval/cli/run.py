"""`tunaeval run`: checks all that can fail before a request is sent, runs, and reports.

Several models or system prompts make a matrix: a run for each, and a ranking. With `--resume RUN` a
run or a matrix goes on with the options that its file has. Options on the command line take
precedence; if they would change the results, the run refuses to continue and names the difference.
"""

from __future__ import annotations

import argparse
from collections.abc import Awaitable, Iterator, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path

from tunaeval.clients.replay import ReplayClient, write_recording
from tunaeval.errors import RecordError, TunaevalError, UsageError
from tunaeval.files.new_files import try_to_write
from tunaeval.files.plain_files import is_there
from tunaeval.files.records import json_text
from tunaeval.parsing.api import sole_parser_for
from tunaeval.reports.console import show
from tunaeval.reports.json import summary_object
from tunaeval.reports.progress import Live
from tunaeval.reports.ranking import cost_of, show_ranking
from tunaeval.reports.wording import FIRST_FAILURE, interruption, resumption
from tunaeval.runs.budget import Budget
from tunaeval.runs.driving import sandboxed
from tunaeval.runs.harnesses import OURS, made_harness, run_by, takes_of
from tunaeval.runs.matrix import Cell, Matrix, MatrixRun, is_matrix, matrix_object
from tunaeval.runs.options import RunOptions
from tunaeval.runs.runner import AsyncHarness, SuiteRun
from tunaeval.runs.trained_on import refuse_trained
from tunaeval.showing import counted
from tunaeval.types.calls import JsonObject
from tunaeval.types.roles import Client
from tunaeval.types.runs import Report, Scenario, Suite
from tunaeval.types.tables import INFRASTRUCTURE
from tunaeval.types.third_party import closed

from .budget import TOO_MANY_FAILURES, is_empty, is_over
from .clients import ClientChoice, make_client, reached_by
from .columns import Column, columns_of, prompts_of, with_prompt
from .dry_run import print_estimate
from .ending import Terminated
from .last_failed import last_failed
from .named_tools import chosen_suite
from .output import Output
from .report import asked_for
from .resuming import as_kept, resumed_options
from .server_check import checked, suspicion
from .show import print_failed

_NO_REPORT = "report {!r} is not written, and the score is as reported"
_UNDONE = 2
"""The exit code of a command that could not do all that it was asked for."""


def run(arguments: argparse.Namespace, output: Output) -> int:
    """Run the suite, print the results, and return the exit code."""
    if arguments.dry_run and arguments.resume is not None:
        raise UsageError(
            "--dry-run counts a whole run, not what is left of one; leave it out, or --resume"
        )
    begun_with = resumed_options(arguments)
    if arguments.last_failed:
        arguments.ids = last_failed(arguments, output)
    if arguments.cache and not arguments.dry_run:
        output.note(f"tunaeval: replies in {arguments.cache} are used, and new ones kept there")
    columns, prompts = columns_of(arguments), prompts_of(arguments)
    if len(columns) * len(prompts) > 1 or (arguments.resume and is_matrix(arguments.resume)):
        return _run_matrix(columns, prompts, arguments, output, begun_with or as_kept(arguments))
    arguments = columns[0].arguments
    arguments.system_prompt = prompts[0][1]
    return _run_one(arguments, output, begun_with or as_kept(arguments))


def _run_one(arguments: argparse.Namespace, output: Output, begun_with: JsonObject) -> int:
    """Run the suite with one model and one system prompt, and return the exit code."""
    _refuse_free_text(arguments)
    whole = with_prompt(chosen_suite(arguments, output), arguments)
    written = asked_for(arguments.report, arguments.writer)
    _refuse_unwritable(arguments)
    suite = _shortened(whole, arguments)
    chosen = make_client(arguments, suite, output)
    if arguments.dry_run:
        cell = _cell(suite, Column(arguments.model or "", arguments), None, chosen)
        return print_estimate([cell], arguments, output)
    if isinstance(chosen.client, ReplayClient):
        _refuse_to_record_replay(arguments)
        chosen_by = ("ids", "tags", "patterns", "exclude", "split")
        if not any(getattr(arguments, one) for one in chosen_by):
            _compare_suites(chosen.client, whole, output)
    report, answered, ended = _run(suite, chosen, arguments, output, begun_with)
    _print_report(report, chosen.client, arguments, output)
    if (cost := cost_of(report.summary, (arguments.price_in, arguments.price_out))) is not None:
        output.note(f"tunaeval: the tokens of the run cost {cost:.4f}")
    if arguments.record:
        write_recording(Path(arguments.record), report.run, report.results)
    code = _verdict(report, answered, arguments, output) if ended is None else ended
    faults = [(file.path, fault) for file in written if (fault := file.write([report]))]
    for path, fault in faults:
        output.note(f"tunaeval: {fault}; {_NO_REPORT.format(str(path))}")
    return _UNDONE if faults and ended is None else code


def _print_report(
    report: Report, client: Client, arguments: argparse.Namespace, output: Output
) -> None:
    if report.run.budget_reached == FIRST_FAILURE:
        print_failed([report], arguments, output)
    elif arguments.json:
        output.result(json_text(summary_object(report)))
    elif report.results:
        output.draw(partial(show, report))
        if (doubt := suspicion(report, client)) is not None:
            output.result(doubt)


def _refuse_free_text(arguments: argparse.Namespace) -> None:
    """Raise UsageError for two options that contradict each other."""
    constrained = bool(arguments.constrain or arguments.constrain_field)
    for option, given in {"--free-text": arguments.free_text, "--constrain": constrained}.items():
        if given and arguments.tools == "api":
            raise UsageError(
                f"with {option} the model writes its calls as text, and with --tools api the "
                "server gets the tools; leave one of them out"
            )
    if constrained and arguments.free_text:
        raise UsageError(
            "with --constrain the model can write nothing but what a grammar admits, and with "
            "--free-text anything; leave one of them out"
        )


def _run(
    suite: Suite,
    chosen: ClientChoice,
    arguments: argparse.Namespace,
    output: Output,
    begun_with: JsonObject,
) -> tuple[Report, bool | None, int | None]:
    """Run the suite. Return the report, whether a request was answered (None: none was made), and
    the exit code if a signal ended the run early, else None.
    """
    name, parser = arguments.harness, sole_parser_for(arguments.format)
    environment = sandboxed(None, arguments.sandbox, arguments.sandbox_bind)
    live = Live(output.err, in_flight=lambda: suite_run.in_flight)
    harness = made_harness(
        name,
        {
            "options": _options_of(arguments, chosen),
            "out": arguments.out,
            "resume": arguments.resume,
            "retry_failures": arguments.retry_failures,
            "take_over": arguments.take_over,
            "environment": environment,
            "on_result": None if arguments.quiet else live,
            "budget": _budget(arguments),
        },
        {one for one in _GIVEN if getattr(arguments, one, None)}
        | _bounded(arguments)
        | ({"environment"} if environment else set()),
        asking=chosen.recorded_asking(suite),
        prices=(arguments.price_in, arguments.price_out),
    )
    if not isinstance(harness, AsyncHarness):
        keep = None if "out" in takes_of(name) else arguments.out
        work = run_by(harness, suite, chosen.client, parser, name=name, out=keep)
        report = output.ending.run(_closing(work, chosen.client, output))
        return report, any(one.outcome not in INFRASTRUCTURE for one in report.results), None
    suite_run = harness.begun(suite, chosen.client, parser)
    suite_run.info = suite_run.info.model_copy(update={"options": begun_with})
    _announce(suite_run, suite, chosen, arguments, output)
    output.ending.where = _where(suite_run.directory)
    progress = live.progress({None: suite_run.planned}, heading=suite_run.info.heading)
    try:
        with nullcontext() if arguments.quiet else progress:
            report = output.ending.run(_closing(suite_run.run(), chosen.client, output))
            return report, suite_run.answered, None
    except Terminated as end:
        output.note(f"tunaeval: {end.word}; {_kept(suite_run)}")
        return suite_run.report(), suite_run.answered, end.code
    except TunaevalError:
        if suite_run.report().results:
            output.note(f"tunaeval: {_kept(suite_run)}")
        raise


def _announce(
    run: SuiteRun, suite: Suite, chosen: ClientChoice, arguments: argparse.Namespace, output: Output
) -> None:
    """Print what precedes the first request: a warning, the server's check, what is left to do."""
    if words := expected_bare(suite, run.info.profile):
        output.note(f"tunaeval: warning: {words}")
    if looser := run.asking.omitted:
        points = counted(len(looser), "point")
        output.note(f"tunaeval: the grammar is looser in {points}, first: {looser[0]}")
    if arguments.check_server:
        run.info = checked(run.info, chosen.client, output, *reached_by(arguments))
    if arguments.resume:
        output.note(
            f"tunaeval: run {run.info.run_id} goes on, with {counted(run.left, 'result')} to come"
        )


_GIVEN = ("resume", "retry_failures", "take_over")


def _bounded(arguments: argparse.Namespace) -> set[str]:
    limits = (arguments.max_requests, arguments.max_total_tokens, arguments.max_cost)
    has_limit = arguments.first_failure or any(one is not None for one in limits)
    return {"budget"} if has_limit else set()


async def _closing(work: Awaitable[Report], client: Client, output: Output) -> Report:
    """Run to the end and close the client; a failure to close it is said."""
    try:
        return await work
    finally:
        if fault := await closed(client):
            output.note(f"tunaeval: {fault}; no result is lost")


def _kept(run: SuiteRun) -> str:
    results = run.report().results
    failed = sum(result.outcome in INFRASTRUCTURE for result in results)
    finished = "results" if run.options.repeats > 1 else "finished scenarios"
    lost = f" ({failed} of them without an answer)" if failed else ""
    return f"{len(results)} {finished}{lost} are kept{_where(run.directory)}"


def _where(directory: Path | None) -> str:
    return f" in {directory}; {resumption(directory)} goes on"


def _budget(arguments: argparse.Namespace) -> Budget:
    limits = (arguments.max_requests, arguments.max_total_tokens, arguments.max_cost)
    return Budget(*limits, first_failure=arguments.first_failure)


def _options_of(arguments: argparse.Namespace, chosen: ClientChoice) -> RunOptions:
    field = arguments.constrain_field
    return RunOptions(
        ask=chosen.ask,
        abstain=tuple(arguments.abstain),
        deadline_seconds=chosen.deadline_seconds,
        concurrency=chosen.concurrency,
        constrain=arguments.constrain if field is None else field,
        **{name: getattr(arguments, name) for name in _AS_GIVEN},
    )


_AS_GIVEN = (
    "level", "profile", "calls", "attempts", "max_tokens", "temperature", "seed", "repeats",
)  # fmt: skip
"""Options of the command line that are options of a run."""


def _shortened(suite: Suite, arguments: argparse.Namespace) -> Suite:
    """Return a suite of the first scenarios, as many as `--limit` says, with a digest of its own.

    Raises UsageError if the model was trained on one of them.
    """
    limit = arguments.limit
    if limit is not None and limit < len(suite.scenarios):
        suite = suite.where(limit=limit)
    if arguments.trained_on is not None:
        refuse_trained(suite, Path(arguments.trained_on))
    return suite


def _refuse_to_record_replay(arguments: argparse.Namespace) -> None:
    if arguments.record:
        raise UsageError(
            f"--record {arguments.record!r} would record a replay, with a date that is not that "
            f"of the replies; copy {arguments.recording!r}, or ask a model"
        )


def _compare_suites(client: ReplayClient, suite: Suite, output: Output) -> None:
    recorded = client.suite_digests.get(suite.name)
    if recorded not in (None, suite.digest):
        output.note(
            f"tunaeval: suite {suite.name!r} has changed since it was recorded; the replies "
            "answer the questions as they were then"
        )


def _refuse_unwritable(arguments: argparse.Namespace) -> None:
    """Raise RecordError if the recording cannot be written, before a model is asked."""
    if not arguments.record:
        return
    if is_there(arguments.record):
        raise RecordError(
            f"--record {arguments.record!r} exists already; choose another file, or remove it"
        )
    try_to_write(Path(arguments.record))


def _verdict(
    report: Report,
    answered: bool | None,
    arguments: argparse.Namespace,
    output: Output,
    *,
    whose: str = "",
    matrix: str | None = None,
    error: str | None = None,
) -> int:
    """Return the exit code for a finished run, and print what is wrong. `answered` is that of its
    `SuiteRun`. For a cell of a matrix, `whose` names it, `matrix` is the matrix's directory, and
    `error` says why the cell could not be asked.
    """
    summary, bar = report.summary, arguments.fail_under
    if report.run.budget_reached == FIRST_FAILURE:
        output.note(f"tunaeval: {whose}{interruption(report, matrix)}")
        return 1
    if report.run.budget_reached:
        output.note(f"tunaeval: {whose}{interruption(report, matrix)}")
        return TOO_MANY_FAILURES
    empty = is_empty(summary.final.total, summary.outcomes, summary.empty_replies)
    if is_over(
        arguments, summary.failures, output, gate=bar, of=summary.scenarios, empty=empty,
        whose=whose,
    ):  # fmt: skip
        return TOO_MANY_FAILURES
    rate = summary.final.value
    if rate is None or answered is False:
        why = error or next((result.error for result in report.results if result.error), None)
        what = "so there is no score" if rate is None else "of those asked now"
        first = f"; first: {why}" if why else ""
        output.note(f"tunaeval: {whose}no scenario got an answer, {what}{first}")
        return _UNDONE
    if bar is not None and 100 * rate < bar:
        output.note(
            f"tunaeval: {whose}{100 * rate:.1f} % passed, which is below the {bar:g} % asked for"
        )
        return 1
    failed = any(not one.ok and one.outcome not in INFRASTRUCTURE for one in report.results)
    return 1 if arguments.first_failure and failed else 0


def _run_matrix(
    columns: Sequence[Column],
    prompts: Sequence[tuple[str | None, str | None]],
    arguments: argparse.Namespace,
    output: Output,
    begun_with: JsonObject,
) -> int:
    """Ask every model with every system prompt, print the ranking, and return the exit code."""
    _refuse_free_text(arguments)
    _refuse_for_cells(arguments, len(columns) * len(prompts))
    suite = _shortened(chosen_suite(arguments, output), arguments)
    written = asked_for(arguments.report, arguments.writer)
    for report in written:
        report.refuse_matrix()
    cells = []
    for column in columns:
        chosen = make_client(column.arguments, suite, output)
        for name, file in prompts:
            column.arguments.system_prompt = file
            cells.append(_cell(suite, column, name, chosen))
    if arguments.dry_run:
        return print_estimate(cells, arguments, output)
    live = Live(output.err, in_flight=lambda: matrix_run.in_flight)
    matrix_run = MatrixRun(
        cells,
        out=arguments.out,
        resume=arguments.resume,
        in_flight=arguments.concurrency or max(cell.options.concurrency for cell in cells),
        options=begun_with,
        on_result=None if arguments.quiet else live,
        retry_failures=arguments.retry_failures,
        take_over=arguments.take_over,
        budget=_budget(arguments),
        max_errors=arguments.max_errors,
        environment=sandboxed(None, arguments.sandbox, arguments.sandbox_bind),
    )
    _check_servers(columns, cells, matrix_run, output)
    if words := expected_bare(suite, matrix_run.runs[0].info.profile):
        output.note(f"tunaeval: warning: {words}")
    matrix, ended = _ended_matrix(matrix_run, cells, live, arguments, output)
    is_stopped = any(one.run.budget_reached == FIRST_FAILURE for one in matrix.cells)
    if is_stopped:
        print_failed(matrix.cells, arguments, output, matrix.names)
        output.note(
            f"tunaeval: ended at the first failed scenario (-x){_where(matrix_run.directory)}"
        )
    else:
        _print_matrix(matrix, arguments, output)
    codes = [1] if is_stopped else [*_codes(matrix_run, matrix, arguments, output)]
    if not is_stopped and not matrix.ranking.ranks:
        output.note("tunaeval: no cell is ranked")
        codes = [TOO_MANY_FAILURES]
    faults = [(file.path, fault) for file in written if (fault := file.write_matrix(matrix))]
    for path, fault in faults:
        output.note(f"tunaeval: {fault}; {_NO_REPORT.format(str(path))}")
    if ended is not None:
        return ended
    return min([*codes, *([_UNDONE] if faults else [])], key=_WORST_FIRST.index)


def _refuse_for_cells(arguments: argparse.Namespace, cells: int) -> None:
    """Raise UsageError for options of a single run."""
    for option, usual in {"record": None, "harness": OURS}.items():
        if (given := getattr(arguments, option)) != usual:
            raise UsageError(
                f"--{option} {given!r} is for one model with one prompt, and there are {cells} "
                "cells; run each by itself"
            )


def _codes(
    run: MatrixRun, matrix: Matrix, arguments: argparse.Namespace, output: Output
) -> Iterator[int]:
    """Yield the exit code of each cell, and print what is wrong with it."""
    errors = {one.name.cell: one.error for one in matrix.ranking.cells}
    for one, cell, name in zip(run.runs, matrix.cells, matrix.names, strict=True):
        yield _verdict(
            cell,
            one.answered,
            arguments,
            output,
            whose=f"{name.cell} ({name.words}): ",
            matrix=matrix.directory,
            error=errors[name.cell],
        )


_WORST_FIRST = (_UNDONE, TOO_MANY_FAILURES, 1, 0)
"""Exit codes of cells: the first of these that a cell has is that of the matrix."""


def _cell(suite: Suite, column: Column, prompt: str | None, chosen: ClientChoice) -> Cell:
    arguments = column.arguments
    asked = with_prompt(suite, arguments)
    return Cell(
        model=column.label or str(getattr(chosen.client, "model", None) or chosen.client.name),
        suite=asked,
        client=chosen.client,
        parser=sole_parser_for(arguments.format),
        options=_options_of(arguments, chosen),
        system_prompt=prompt,
        base_url=arguments.base_url,
        prices=(arguments.price_in, arguments.price_out),
        asking=chosen.recorded_asking(asked),
        options_kept=as_kept(arguments),
    )


def _check_servers(
    columns: Sequence[Column], cells: Sequence[Cell], run: MatrixRun, output: Output
) -> None:
    """Examine the server of each column if that is asked for, and keep the verdict in its runs."""
    for number, column in enumerate(columns):
        if column.arguments.check_server:
            each = len(cells) // len(columns)
            mine = run.runs[number * each : (number + 1) * each]
            client = cells[number * each].client
            found = checked(mine[0].info, client, output, *reached_by(column.arguments))
            for one in mine:
                extra = {"server_check": (found.model_extra or {}).get("server_check")}
                one.info = one.info.model_copy(update=extra)


def _ended_matrix(
    run: MatrixRun, cells: Sequence[Cell], live: Live, arguments: argparse.Namespace, output: Output
) -> tuple[Matrix, int | None]:
    """Run all cells. Return the matrix, and the exit code if a signal ended it early, else None."""
    if arguments.resume:
        output.note(
            f"tunaeval: matrix {run.info.name} goes on, with {counted(run.left, 'result')} to come"
        )
    faults: list[str] = []
    output.ending.where = _where(run.directory)
    try:
        with nullcontext() if arguments.quiet else run.shown(live):
            return output.ending.run(_closing_all(run, cells, faults)), None
    except Terminated as end:
        output.note(f"tunaeval: {end.word}; what was finished is kept{_where(run.directory)}")
        return run.matrix(), end.code
    finally:
        for fault in faults:
            output.note(f"tunaeval: {fault}; no result is lost")


async def _closing_all(run: MatrixRun, cells: Sequence[Cell], faults: list[str]) -> Matrix:
    """Run all cells and close each client once; a failure to close is added to `faults`."""
    try:
        return await run.run()
    finally:
        for client in {id(cell.client): cell.client for cell in cells}.values():
            fault = await closed(client)
            faults += [fault] if fault else []


def _print_matrix(matrix: Matrix, arguments: argparse.Namespace, output: Output) -> None:
    if arguments.json:
        output.result(json_text(matrix_object(matrix)))
    else:
        output.draw(partial(show_ranking, matrix.ranking))
        if matrix.directory:
            output.result(f"kept in {matrix.directory}")


_SHOWN = 3
_CHECKED = {
    "strict": "by the profile 'strict' such a call passes only without any argument; give "
    'expected_args, or "expect": {"tools": [NAME]} where any arguments will do',
    "tunacode": "by the profile 'tunacode' such a call passes with any arguments; give "
    "expected_args if they matter",
}


def expected_bare(suite: Suite, profile: str) -> str | None:
    """Return a warning if expected calls lack arguments that their tools require, else None."""
    if profile not in _CHECKED:
        return None
    names = [one.id for one in suite.scenarios if any(_bare(one, suite))]
    if not names:
        return None
    several = "scenarios expect" if len(names) > 1 else "scenario expects"
    listed = ", ".join(names[:_SHOWN]) + ", ..." * (len(names) > _SHOWN)
    return f"{len(names)} {several} a tool without arguments ({listed}): {_CHECKED[profile]}"


def _bare(scenario: Scenario, suite: Suite) -> Iterator[bool]:
    """Yield for each expected call whether it has no arguments although its tool requires some."""
    tools = suite.tools if scenario.tools is None else scenario.tools
    for call in scenario.expect.calls or ():
        spec = None if call.arguments else tools.get(call.name)
        yield spec is not None and bool(spec.parameters.get("required"))
