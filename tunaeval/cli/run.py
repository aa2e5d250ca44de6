"""`tunaeval run`: checks all that can fail before a request is sent, runs, and reports.

With `--resume RUN` a run goes on with the options that its `run.json` has. Options on the command
line take precedence; if they would change the results, the run refuses to continue and names the
difference. The doctor is asked before the run (`--check-server`), or hinted at after it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Iterator
from contextlib import nullcontext
from functools import partial
from pathlib import Path

from tunaeval.errors import RecordError, TunaevalError, UsageError
from tunaeval.files.keys import COVER
from tunaeval.files.plain_files import is_there
from tunaeval.models.clients.network import Network
from tunaeval.models.clients.replay import ReplayClient, write_recording
from tunaeval.parsing.api import sole_parser_for
from tunaeval.registry import closed
from tunaeval.reports.console import Live, show
from tunaeval.reports.files import try_to_write
from tunaeval.reports.json import json_text, summary_object
from tunaeval.reports.summary import INFRASTRUCTURE
from tunaeval.runs.directory import read_info
from tunaeval.runs.options import RunOptions
from tunaeval.runs.runner import SuiteRun
from tunaeval.runs.suites import SUITES
from tunaeval.showing import counted, visible
from tunaeval.types.calls import JsonObject, JsonValue
from tunaeval.types.roles import Client
from tunaeval.types.runs import Report, RunInfo, Scenario, ScenarioResult, Suite

from .budget import TOO_MANY_FAILURES, ErrorBudget, is_over
from .clients import ClientChoice, make_client, network_of
from .ending import Terminated
from .output import Output
from .report import asked_for
from .settings import visible_value
from .tools import chosen_suite

_NO_REPORT = "report {!r} is not written, and the score is as reported"
_UNDONE = 2
"""The exit code of a command that could not do all that it was asked for."""


def run(arguments: argparse.Namespace, output: Output) -> int:
    """Run the suite, print the results, and return the exit code."""
    begun_with = resumed_options(arguments)
    if arguments.free_text and arguments.tools == "api":
        raise UsageError(
            "with --free-text the model writes its calls as text, and with --tools api the server "
            "gets the tools; leave one of them out"
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
    chosen: ClientChoice,
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
    except Terminated as end:
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
    run: SuiteRun, suite: Suite, chosen: ClientChoice, arguments: argparse.Namespace, output: Output
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


def _options(arguments: argparse.Namespace, chosen: ClientChoice) -> RunOptions:
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
    """Return a warning on expected calls that lack arguments which their tool requires, or None."""
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


_NOT_KEPT = frozenset(
    {"out", "resume", "retry_failures", "take_over", "record"}
    | {"quiet", "json", "given", "check_server"}
)
"""Options of one command that are not part of the run."""

_GATE = ("fail_under", "max_errors")
"""The run's gate: a continued run has to pass it, too, so it is not lost by resuming."""

_PATHS = ("suite", "bfcl", "model_file", "recording", "faults", "ca", "cert", "cert_key")
"""Options that may be paths: kept as paths from the root, so that a run goes on from anywhere."""

_BY_FIELD = {
    **{name: name for name in ("suite", "client", "model", "format", "level", "profile", "calls")},
    **{name: name for name in ("abstain", "attempts", "repeats", "max_tokens", "temperature")},
    **{name: name for name in ("seed", "concurrency", "tools_from")},
    "timeout": "deadline_seconds",
}
"""The fields that stand for options in runs of versions that stored no `options`."""


def resumed_options(arguments: argparse.Namespace) -> JsonObject:
    """Fill in the options that a run was begun with, unless they are given anew; return all of
    them. Raise RecordError for a directory that is no run, UsageError for options that need
    `--resume`.
    """
    if arguments.resume is None:
        for name in ("retry_failures", "take_over"):
            if getattr(arguments, name):
                option = f"--{name.replace('_', '-')}"
                raise UsageError(f"{option} needs a run to continue; name it with --resume RUN")
        return _as_kept(arguments)

    info = read_info(Path(arguments.resume))
    if "report" in arguments.given:
        arguments.given |= {"writer"}  # that of then was for a report of then
    refuse_unkept(info.options or {}, arguments.given)
    for name, value in (info.options or _of_fields(info)).items():
        is_no_bar = name in _GATE and value is None
        if name not in arguments.given and hasattr(arguments, name) and not is_no_bar:
            setattr(arguments, name, ErrorBudget.read(value) if name == "max_errors" else value)
    if not info.options and "suite" not in arguments.given and _has_own_suite(info):
        raise RecordError(
            f"{arguments.resume}: an earlier version made this run and did not keep the file name "
            f"of its suite {info.suite!r:.60}; give the file with --suite"
        )
    if info.rescored is None and info.client == "replay" and arguments.recording is None:
        raise RecordError(
            f"{arguments.resume}: this run replayed a recording, but did not keep its name; give "
            "it with --recording"
        )
    return info.options or _as_kept(arguments)


def _has_own_suite(info: RunInfo) -> bool:
    """Whether the run's suite is the user's own, which only a file contains."""
    return info.suite not in SUITES and not info.suite.startswith("bfcl:")


def _as_kept(arguments: argparse.Namespace) -> JsonObject:
    """Return the options as `run.json` stores them: without secrets, and with absolute paths."""
    options = {key: value for key, value in vars(arguments).items() if key not in _NOT_KEPT}
    for name in _PATHS:
        value = options.get(name)
        # A name without a suffix is a packaged suite, or a packaged list of faults.
        is_name = name in {"suite", "faults"} and not Path(str(value)).suffix
        if isinstance(value, str) and not is_name and is_there(value):
            options[name] = str(Path(value).absolute())
    for name in ("header", "proxy"):
        options[name] = visible_value(name, options.get(name))
    options["report"] = [str(Path(file).absolute()) for file in arguments.report]
    if options["max_errors"] is not None:
        options["max_errors"] = str(options["max_errors"])
    address = options.get("base_url")
    if isinstance(address, str) and ("?" in address or "@" in address):
        del options["base_url"]  # it may contain a key, so it has to be given again
    return options


def _of_fields(info: RunInfo) -> JsonObject:
    document = info.model_dump()
    options = {name: document[field] for name, field in _BY_FIELD.items()}
    options["base_url"] = info.model_details.get("base_url")
    if info.client != "openai":
        del options["model"]
    if info.ask in ("api", "prompt"):
        options["tools"] = info.ask
    return options


def refuse_unkept(options: JsonObject, given: set[str]) -> None:
    """Raise UsageError where a run was begun with a secret, which no file has, and lacks it now."""
    for option in {"header", "proxy"} - given:
        value = options.get(option)
        words = ", ".join(map(repr, value)) if isinstance(value, list) else repr(value)
        if COVER in words:
            raise UsageError(
                f"the run was started with --{option} {words}, and its secrets were not kept; "
                f"give --{option} again"
            )


_STRUCTURED = "structured"
_LOST = "says finish_reason 'tool_calls' and sends no call"
"""Part of a scenario's error if a reply announced calls and had none."""


def checked(info: RunInfo, client: Client, output: Output, network: Network) -> RunInfo:
    """The run's words with the verdict of the quick check on its server.

    Raises UsageError where the client has no server.
    """
    from tunaeval.doctor.examination import examine  # noqa: PLC0415 - only where it is asked for
    from tunaeval.doctor.runner import DoctorSettings  # noqa: PLC0415 - only where it is asked for

    address, model = _server_of(client)
    if address is None:
        raise UsageError(
            f"--check-server needs a server to examine, and the client {info.client!r} has none; "
            "give --base-url URL, or leave out --check-server"
        )
    found = asyncio.run(examine(address, DoctorSettings(model=model, quick=True), network=network))
    faults = [finding.check for finding in found.findings if finding.verdict == "server"]
    verdict = {"exit": found.exit, "server": found.server["name"], "faults": faults}
    if found.exit:
        what = ", ".join(faults) or str(found.stopped or "the model cannot copy a call")
        output.note(f"tunaeval: the server's check: {visible(what)}; {command(address, model)}")
    return info.model_copy(update={"server_check": verdict})


def suspicion(report: Report, client: Client) -> str | None:
    """Return a line for the user if a run's calls look like a fault of the server, else None."""
    address, model = _server_of(client)
    if address is None or report.run.ask != "api":
        return None
    counts = {
        "calls left in the text": sum(result.leaked_calls > 0 for result in report.results),
        "invalid arguments beside the finish reason tool_calls": sum(
            map(_has_broken_arguments, report.results)
        ),
        "the finish reason tool_calls without a call": sum(map(_lost_its_calls, report.results)),
        "calls from two sources": _with_both_sources(report),
    }
    seen = [f"{what} ({counted(count, 'scenario')})" for what, count in counts.items() if count]
    if not seen:
        return None
    return f"{', '.join(seen)}: is it the server? Ask it: {command(address, model)}"


def command(address: str, model: str | None) -> str:
    """Return the command line that examines this server."""
    named = f" --model {visible(model)}" if model else ""
    return f"tunaeval doctor --base-url {visible(address)}{named}"


def _server_of(client: Client) -> tuple[str | None, str | None]:
    details = getattr(client, "details", None)
    found = details if isinstance(details, dict) else {}
    address, model = found.get("base_url"), found.get("model")
    return (
        address if isinstance(address, str) else None,
        model if isinstance(model, str) else None,
    )


def _has_broken_arguments(result: ScenarioResult) -> bool:
    return any(
        attempt.finish_reason == "tool_calls" and any(map(_is_broken, _calls_of(attempt.message)))
        for attempt in result.attempts
    )


def _lost_its_calls(result: ScenarioResult) -> bool:
    return _LOST in (result.error or "") or any(
        attempt.finish_reason == "tool_calls" and not _calls_of(attempt.message)
        for attempt in result.attempts
    )


def _calls_of(message: JsonObject) -> list[JsonValue]:
    listed = message.get("tool_calls")
    return listed if isinstance(listed, list) else []


def _is_broken(call: JsonValue) -> bool:
    """Whether a call's arguments are no JSON object."""
    function = call.get("function") if isinstance(call, dict) else None
    text = function.get("arguments") if isinstance(function, dict) else None
    try:
        return not isinstance(json.loads(text), dict) if isinstance(text, str) else False
    except (ValueError, RecursionError):
        return True


def _with_both_sources(report: Report) -> int:
    """Count scenarios whose calls were read from text, if other scenarios had structured ones."""
    formats = [call.format for result in report.results for call in result.got]
    if _STRUCTURED not in formats:
        return 0
    return sum(any(call.format != _STRUCTURED for call in result.got) for result in report.results)
