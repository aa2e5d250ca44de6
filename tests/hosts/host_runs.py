"""Runs a host's agent with a scripted model, bare and wrapped, and says what came of it.

A program of `programs/` hands its agent in, and prints what comes back as JSON. A host builds its
agent once for all its cases; wrapped, it does so in the first case's session, whose tools then
report to the sessions of the later ones.
"""

from __future__ import annotations

import asyncio
import atexit
import json
import logging
import os
import re
import shutil
import sys
from collections.abc import Awaitable, Callable, Iterable
from contextlib import nullcontext
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, NamedTuple

import tunaeval
from tests.hosts.scripted_server import Call, Exchange, ScriptedModel, Turn, scripted_model
from tunaeval.types.messages import ToolExecution

Wrap = Callable[[Any], Any]
Ask = Callable[[str], Awaitable[str]]
"""A task for the agent, and its answer."""
Build = Callable[[str, Wrap], Ask]
"""An agent whose model is at this URL and whose tools are wrapped so."""
Report = dict[str, Any]

_VARYING = re.compile(
    r"\d{4}-\d\d-\d\d[T ]?[\d:.+]*"
    r"|[\da-f]{8}-[\da-f]{4}-[\da-f-]{22}"
    r"|0x[\da-f]+"
    r"|\d+(?:\.\d+)? ?m?s\b"
)
"""Dates, random identifiers, addresses and durations, which differ from run to run."""


class Case(NamedTuple):
    """What is tried, and what the model says in it, before it is done."""

    name: str
    turns: tuple[Turn, ...]


def cases(read: Call, read_too: Call, raises: Call, fails: Call) -> tuple[Case, ...]:
    """What every host is tried with, by its own tools."""
    unknown = Call("call_unknown", "no_such_tool", {"path": "a.txt"})
    return (
        Case("answers", ((read,),)),
        Case("raises", ((raises,),)),
        Case("fails by its text", ((fails,),)),
        Case("in parallel", ((read, read_too),)),
        Case("unknown", ((unknown,),)),
        Case("one after another", ((read,), (fails,), (read_too,))),
    )


def main(build: Build, tried: Iterable[Case], *, done: Turn = "Done.") -> None:
    """Print, for the agent bare and wrapped, what came of each case; `done` is how each ends."""
    logging.disable()
    out = sys.stdout
    sys.stdout = sys.stderr  # what hosts print is no report
    listed = [case._replace(turns=(*case.turns, done)) for case in tried]
    reports = {mode: asyncio.run(_run(build, listed, mode == "wrapped")) for mode in MODES}
    json.dump(reports, out)
    out.flush()


MODES = ("bare", "wrapped")


def in_a_workplace() -> None:
    """Go to a new directory with two files, which is the home of whatever is configured there."""
    place = Path(mkdtemp(prefix="host-"))
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    os.environ.update(HOME=str(place), XDG_DATA_HOME=str(place), XDG_CONFIG_HOME=str(place))
    os.chdir(place)
    for name in ("a.txt", "b.txt"):
        Path(name).write_text(f"contents of {name}\n", "utf-8")


async def _run(build: Build, tried: Iterable[Case], is_wrapped: bool) -> dict[str, Report]:
    reports = {}
    ask: Ask | None = None
    with scripted_model() as model:
        for case in tried:
            query = f"What is tried: {case.name}."
            model.plays(*case.turns)
            session = tunaeval.scoring_session(query, enabled=is_wrapped)
            with session if is_wrapped else nullcontext():
                ask = ask or build(model.url, session.wrap)
                reports[case.name] = await _asked(ask, query, model)
                reports[case.name]["executions"] = [_executed(run) for run in session.executions]
                session.messages = _transcript(query, model.exchanges)
            reports[case.name]["score"] = _scored(session)
    return reports


async def _asked(ask: Ask, query: str, model: ScriptedModel) -> Report:
    answer = exception = None
    try:
        answer = await ask(query)
    except Exception as error:  # noqa: BLE001 - whatever a host raises is compared
        exception = f"{type(error).__name__}: {_masked(str(error))}"
    asked = [_masked(json.dumps(_sorted(one.request))) for one in model.exchanges]
    return {"answer": answer, "exception": exception, "requests": asked}


def _sorted(request: dict[str, Any]) -> dict[str, Any]:
    """Answers to calls made in parallel come in any order."""
    messages = request.get("messages", [])
    calls = [one.get("tool_call_id") or "" for one in messages]
    order = sorted(range(len(messages)), key=lambda at: (_block(calls, at), calls[at]))
    return {**request, "messages": [messages[at] for at in order]}


def _block(calls: list[str], at: int) -> int:
    while calls[at] and at and calls[at - 1]:
        at -= 1
    return at


def _masked(text: str) -> str:
    return _VARYING.sub("~", text)


def _executed(run: ToolExecution) -> Report:
    return {
        "tool": run.tool,
        "call_id": run.call_id,
        "arguments": run.arguments,
        "ok": run.ok,
        "reason": run.ok_reason,
        "is_timed": run.duration_seconds is not None,
    }


def _transcript(query: str, exchanges: Iterable[Exchange]) -> list[dict[str, Any]]:
    """What was asked, each reply, and each answer to a call, as it went over the wire."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": query}]
    seen: set[str] = set()
    for exchange in exchanges:
        for message in exchange.request["messages"]:
            call_id = message.get("tool_call_id")
            if call_id is not None and call_id not in seen:
                seen.add(call_id)
                messages.append(message)
        messages.append(exchange.reply)
    return messages


def _scored(session: tunaeval.ScoringSession) -> Report | None:
    if session.score is None:
        return None if session.failure is None else {"failure": session.failure}
    details = session.score.details
    return {
        "tool_calls": details.tool_calls,
        "failed_calls": details.failed_calls,
        "reasoning": details.reasoning,
    }
