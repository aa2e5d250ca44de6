"""What `tunaeval run` does: check all that can fail before a request is sent, run, report."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import nullcontext
from functools import partial
from pathlib import Path

from tunaeval.errors import RecordError, TunaevalError, UsageError
from tunaeval.files.plain_files import is_there
from tunaeval.models.clients.recording import write_recording
from tunaeval.models.clients.replay import ReplayClient
from tunaeval.parsing.api import sole_parser_for
from tunaeval.registry import closed
from tunaeval.reports.console import Live, show
from tunaeval.reports.files import try_to_write
from tunaeval.reports.json import json_text, summary_object
from tunaeval.reports.summary import INFRASTRUCTURE
from tunaeval.runs.options import RunOptions
from tunaeval.runs.runner import SuiteRun
from tunaeval.showing import counted
from tunaeval.types.calls import JsonObject
from tunaeval.types.roles import Client
from tunaeval.types.runs import Report, Scenario, Suite

from .budget import TOO_MANY_FAILURES, is_over
from .clients import Asked, make_client, network_of
from .ending import Ended
from .output import Output
from .report import asked_for
from .resuming import resumed_options
from .server_check import checked, suspicion
from .tools import chosen_suite

_NO_REPORT = "report {!r} is not written, and the score is as reported"
_UNDONE = 2
"""The exit code of a command that could not do all that it was asked for."""


def run(arguments: argparse.Namespace, output: Output) -> int:
    """Run the suite, print the results, and return the exit code."""
    begun_with = resumed_options(arguments)
    if arguments.free_text and arguments.tools == "api":
        raise UsageError(
            "--free-text answers in words and --tools api gives the tools to the server; leave one "
            "of them out"
        )
    whole = chosen_suite(arguments, output)
    written = asked_for(arguments.report, arguments.writer)
    _refuse_unwritable(arguments)
    chosen = make_client(arguments, output)
    if isinstance(chosen.client, ReplayClient):
        _refuse_to_record_replay(arguments)
        if not (arguments.ids or arguments.tags or arguments.patterns or arguments.exclude):
            _compare_suites(chosen.client, whole, output)
    report, ended = _run(_shortened(whole, arguments.limit), chosen, arguments, output, begun_with)
    if arguments.json:
        output.result(json_text(summary_object(report)))
    elif report.results:
        output.draw(partial(show, report))
        if (doubt := suspicion(report, chosen.client)) is not None:
            output.result(doubt)
    if (cost := _cost(report, arguments)) is not None:
        output.note(f"tunaeval: the tokens of the run cost {cost:.4f}")
    if arguments.record:
        write_recording(Path(arguments.record), report.run, report.results)
    code = _verdict(report, arguments, output) if ended is None else ended
    faults = [(file.path, fault) for file in written if (fault := file.write([report]))]
    for path, fault in faults:
        output.note(f"tunaeval: {fault}; {_NO_REPORT.format(str(path))}")
    return _UNDONE if faults and ended is None else code


def _cost(report: Report, arguments: argparse.Namespace) -> float | None:
    """Return the cost by the prices of a million tokens; None if prices or counts are missing."""
    summary = report.summary
    counted = (summary.prompt_tokens, summary.completion_tokens)
    prices = (arguments.price_in, arguments.price_out)
    parts: list[float | None] = [
        None if tokens is None else tokens * price / 1e6
        for tokens, price in zip(counted, prices, strict=True)
        if price is not None
    ]
    known = [part for part in parts if part is not None]
    return sum(known) if parts and len(known) == len(parts) else None


def _run(
    suite: Suite,
    chosen: Asked,
    arguments: argparse.Namespace,
    output: Output,
    begun_with: JsonObject,
) -> tuple[Report, int | None]:
    """Return the report, and the exit code if a signal ended the run before its end."""
    options = _options(arguments, chosen)
    live = Live(output.err, in_flight=lambda: suite_run.in_flight)
    suite_run = SuiteRun(
        suite,
        chosen.client,
        sole_parser_for(arguments.format),
        options,
        out=arguments.out,
        on_result=None if arguments.quiet else live,
        told=chosen.told(suite),
        resume=arguments.resume,
        retry_failures=arguments.retry_failures,
        take_over=arguments.take_over,
    )
    suite_run.info = suite_run.info.model_copy(update={"options": begun_with})
    _announce(suite_run, suite, chosen, arguments, output)
    progress = live.progress(suite_run.left, heading=suite_run.info.heading)
    faults: list[str] = []
    try:
        with nullcontext() if arguments.quiet else progress:
            return output.ending.run(_closing(suite_run, chosen.client, faults)), None
    except Ended as end:
        output.note(f"tunaeval: {end.word}; {_kept(suite_run)}")
        return suite_run.report(), end.code
    except TunaevalError:
        if suite_run.report().results:
            output.note(f"tunaeval: {_kept(suite_run)}")
        raise
    finally:
        for fault in faults:
            output.note(f"tunaeval: {fault}; no result is lost")


def _announce(
    run: SuiteRun, suite: Suite, chosen: Asked, arguments: argparse.Namespace, output: Output
) -> None:
    """Print what precedes the first request: a warning, the server's check, what is left to do."""
    if words := expected_bare(suite, run.info.profile):
        output.note(f"tunaeval: warning: {words}")
    if arguments.check_server:
        run.info = checked(run.info, chosen.client, output, network_of(arguments))
    if arguments.resume:
        output.note(
            f"tunaeval: run {run.info.run_id} goes on, with {counted(run.left, 'result')} to come"
        )


async def _closing(run: SuiteRun, client: Client, faults: list[str]) -> Report:
    """Run to the end and close the client; a failure to close it is added to `faults`."""
    try:
        return await run.run()
    finally:
        fault = await closed(client)
        faults += [fault] if fault else []


def _kept(run: SuiteRun) -> str:
    results = run.report().results
    failed = sum(result.outcome in INFRASTRUCTURE for result in results)
    finished = "results" if run.options.repeats > 1 else "finished scenarios"
    words = f"{len(results)} {finished} are kept in {run.directory}"
    return f"{words}, {failed} of them without an answer" if failed else words


def _options(arguments: argparse.Namespace, chosen: Asked) -> RunOptions:
    return RunOptions(
        ask=chosen.ask,
        abstain=tuple(arguments.abstain),
        deadline_seconds=chosen.deadline_seconds,
        concurrency=chosen.concurrency,
        **{name: getattr(arguments, name) for name in _AS_GIVEN},
    )


_AS_GIVEN = (
    "level", "profile", "calls", "attempts", "max_tokens", "temperature", "seed", "repeats",
)  # fmt: skip
"""Options of the command line that are options of a run."""


def _shortened(suite: Suite, limit: int | None) -> Suite:
    """Return a suite of the first `limit` scenarios, which has a digest of its own."""
    if limit is None or limit >= len(suite.scenarios):
        return suite
    return suite.where(limit=limit)


def _refuse_to_record_replay(arguments: argparse.Namespace) -> None:
    if arguments.record:
        raise UsageError(
            f"--record {arguments.record!r} would keep a replay, whose date is not that of its "
            f"replies; copy {arguments.recording!r}, or ask a model"
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
            f"--record {arguments.record!r} is there already; choose another, or remove it"
        )
    try_to_write(Path(arguments.record))


def _verdict(report: Report, arguments: argparse.Namespace, output: Output) -> int:
    summary, bar = report.summary, arguments.fail_under
    if is_over(arguments, summary.failures, output, gate=bar, of=summary.scenarios):
        return TOO_MANY_FAILURES
    rate = summary.final.value
    if rate is None:
        first = next((result.error for result in report.results if result.error), "no results")
        output.note(f"tunaeval: no scenario got an answer, so there is no score; first: {first}")
        return 2
    if bar is not None and 100 * rate < bar:
        output.note(f"tunaeval: {100 * rate:.1f} % passed, which is below the {bar:g} % asked for")
        return 1
    return 0


_SHOWN = 3
_CHECKED = {
    "strict": "by the profile 'strict' such a call passes only without any argument; give "
    'expected_args, or "expect": {"tools": [NAME]} where any arguments will do',
    "tunacode": "by the profile 'tunacode' such a call passes with any arguments; give "
    "expected_args if they matter",
}


def expected_bare(suite: Suite, profile: str) -> str | None:
    """Return a warning on scenarios that expect a tool without required arguments, or None."""
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
