"""Check the server before a run (`--check-server`), and point to it after a run with odd calls."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from tunaeval.clients.network import Network
from tunaeval.doctor.examination import examine
from tunaeval.doctor.runner import DoctorSettings
from tunaeval.errors import UsageError
from tunaeval.showing import counted, visible
from tunaeval.types.calls import JsonObject, JsonValue
from tunaeval.types.json_text import json_object
from tunaeval.types.roles import Client
from tunaeval.types.runs import Report, RunInfo, ScenarioResult

from .output import Output

_STRUCTURED = "structured"
_LOST = "says finish_reason 'tool_calls' and sends no call"
"""Part of a scenario's error if a reply announced calls and had none."""


def checked(
    info: RunInfo, client: Client, output: Output, network: Network, key_variables: Sequence[str]
) -> RunInfo:
    """Examine the client's server quickly; return the run's description with the verdict.

    Raises UsageError if the client has no server.
    """
    address, model = _server_of(client)
    if address is None:
        raise UsageError(
            f"--check-server needs a server to examine, and the client {info.client!r} has none; "
            "give --base-url URL, or leave it out"
        )
    settings = DoctorSettings(model=model, quick=True, allow_plain_http=True)  # as the run does
    found = asyncio.run(examine(address, settings, network=network, key_variables=key_variables))
    faults = [finding.check for finding in found.findings if finding.verdict == "server"]
    verdict = {"exit": found.exit, "server": found.server["name"], "faults": faults}
    if found.exit:
        failed = found.failures and f"{found.failures} of {found.answers} answers failed"
        weak = "the model cannot copy a call"
        what = ", ".join(faults) or str(found.stopped or failed or weak)
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
            _has_broken_arguments(result, report.run.max_tokens) for result in report.results
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


def _has_broken_arguments(result: ScenarioResult, max_tokens: int) -> bool:
    return any(
        attempt.finish_reason == "tool_calls"
        and (attempt.completion_tokens or 0) < max_tokens  # else the call was cut off
        and any(map(_is_broken, _calls_of(attempt.message)))
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
    return isinstance(text, str) and json_object(text) is None


def _with_both_sources(report: Report) -> int:
    """Count scenarios whose calls were read from text, if other scenarios had structured ones."""
    formats = [call.format for result in report.results for call in result.got]
    if _STRUCTURED not in formats:
        return 0
    return sum(any(call.format != _STRUCTURED for call in result.got) for result in report.results)
