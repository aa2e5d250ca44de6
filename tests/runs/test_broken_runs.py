"""What goes wrong in a run: each end before time is clear, and keeps what is finished."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.interrupts import heed_interrupts
from tests.runs.whole_runs import GOOD, ONE, Answers, MakeSuite, good, lines, run
from tunaeval.clients.scripted import ScriptedClient
from tunaeval.errors import ClientSetupError, PluginError, RecordError, SuiteError, TransportFailure
from tunaeval.runs.directory import load_report
from tunaeval.runs.options import RunOptions
from tunaeval.runs.runner import SuiteRun
from tunaeval.types.exchange import Reply, Request
from tunaeval.types.roles import Parser


def test_a_scenario_past_its_deadline_is_given_up(make_suite: MakeSuite, parser: Parser) -> None:
    class SecondHangs(Answers):
        async def complete(self, request: Request) -> Reply:
            if request.scenario == "call-2":
                await asyncio.sleep(60)
            return await super().complete(request)

    options = RunOptions(concurrency=1, deadline_seconds=0.1)
    report = run(make_suite(3), SecondHangs(good), parser, options)
    assert [result.outcome for result in report.results] == ["calls", "transport_failure", "calls"]
    assert report.results[1].error == "timeout: the scenario took over 0.1 s"
    assert (report.passed, report.total) == (2, 2)
    assert report.summary.infrastructure_failures == 1


def test_one_failure_ends_no_run(make_suite: MakeSuite, parser: Parser) -> None:
    def answer(request: Request) -> Any:
        return {
            "call-1": TransportFailure("HTTP 500", kind="status", status=500),
            "call-2": ValueError("a client's own mistake"),
            "call-3": None,
        }.get(request.scenario, GOOD)

    report = run(make_suite(4), Answers(answer), parser, ONE)
    assert [result.error for result in report.results] == [
        "status: HTTP 500",
        (
            "body: client 'answers' raised ValueError: a client's own mistake "
            "(runs/whole_runs.py:48)"
        ),
        "body: client 'answers' gave None, wanted a Reply with a message",
        None,
    ]
    assert report.results[3].ok


def test_a_client_that_cannot_work_ends_the_run_and_keeps_what_is_finished(
    make_suite: MakeSuite, parser: Parser, tmp_path: Path
) -> None:
    client = ScriptedClient([GOOD, GOOD, ClientSetupError("the key is wrong"), GOOD])
    suite_run = SuiteRun(make_suite(4), client, parser, ONE, out=tmp_path)
    with pytest.raises(ClientSetupError, match="the key is wrong"):
        asyncio.run(suite_run.run())
    assert len(lines(suite_run.directory)) == 2
    assert (suite_run.report().total, suite_run.report().interrupted) == (2, True)
    assert suite_run.directory is not None
    assert load_report(suite_run.directory).interrupted


@pytest.mark.parametrize(("count", "asked"), [(100, 5), (3, 3)])
def test_an_unreachable_server_is_one_clear_error(
    make_suite: MakeSuite, parser: Parser, count: int, asked: int
) -> None:
    client = Answers(lambda _: TransportFailure("connection refused", kind="connect"))
    with pytest.raises(ClientSetupError, match=r"connection refused.*is the server running"):
        run(make_suite(count), client, parser, ONE)
    assert len(client.asked) == asked


def test_a_server_that_answered_once_may_go_away(make_suite: MakeSuite, parser: Parser) -> None:
    refused = TransportFailure("connection refused", kind="connect")
    client = Answers(lambda request: GOOD if request.scenario == "call-1" else refused)
    report = run(make_suite(30), client, parser, ONE)
    assert report.summary.infrastructure_failures == 29


def test_no_scenarios_are_an_error(make_suite: MakeSuite, parser: Parser) -> None:
    with pytest.raises(SuiteError, match="has no scenarios"):
        run(make_suite(0), Answers(good), parser)


def test_a_run_directory_in_use_is_refused_before_anything_is_asked(
    make_suite: MakeSuite, parser: Parser, tmp_path: Path
) -> None:
    run(make_suite(1), Answers(good), parser, out=tmp_path, run_id="mine")
    client = Answers(good)
    with pytest.raises(RecordError, match="is not empty"):
        run(make_suite(1), client, parser, out=tmp_path, run_id="mine")
    assert client.asked == []


def test_a_directory_that_cannot_be_made_is_told_before_anything_is_asked(
    make_suite: MakeSuite, parser: Parser, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    client = Answers(good)
    with pytest.raises(RecordError, match="cannot make the run directory"):
        run(make_suite(1), client, parser, out=tmp_path / "file")
    assert client.asked == []


def test_a_parser_that_raises_is_named(make_suite: MakeSuite, tmp_path: Path) -> None:
    class Raises:
        name = "raises"

        def parse(self, text: str, **_: object) -> Any:
            raise RuntimeError(text)

    with pytest.raises(PluginError, match="parser 'raises' raised RuntimeError"):
        run(make_suite(1), Answers(good), Raises(), out=tmp_path)


def test_cancelling_keeps_what_is_finished(
    make_suite: MakeSuite, parser: Parser, tmp_path: Path
) -> None:
    begun = asyncio.Event()
    suite_run = SuiteRun(
        make_suite(50), Answers(good, 0.02), parser, ONE, out=tmp_path,
        on_result=lambda _: begun.set(),
    )  # fmt: skip

    async def cancel_soon() -> None:
        task = asyncio.create_task(suite_run.run())
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancel_soon())
    report = suite_run.report()
    assert report.interrupted
    assert 0 < report.total == len(lines(suite_run.directory)) < 50


PROGRAM = """
import asyncio, sys, time
from conftest import OneObject, scenario, TOOLS
from tunaeval import RunOptions
from tunaeval.runs.runner import SuiteRun
from tunaeval.types import Reply
from tunaeval.types.runs import Suite

class Slow:
    name = "slow"
    async def complete(self, request):
        await asyncio.sleep(0.02)
        return Reply({"role": "assistant", "content": "{}"}, "stop")
    async def close(self): ...

suite = Suite(name="s", scenarios=tuple(scenario("call", n) for n in range(500)),
              tools=TOOLS, system_prompt="")
run = SuiteRun(suite, Slow(), OneObject(), RunOptions(concurrency=2), out=sys.argv[1], run_id="r",
               on_result=lambda _: print("done", flush=True))
try:
    asyncio.run(run.run())
except KeyboardInterrupt:
    print("report", run.report().interrupted, len(run.report().results), flush=True)
    sys.exit(130)
"""


def test_ctrl_c_leaves_readable_files(tmp_path: Path) -> None:
    here = str(Path(__file__).parent)
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(tmp_path)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": here},
        preexec_fn=heed_interrupts,  # noqa: PLW1509 - nothing here that a fork could break
    ) as child:
        assert child.stdout is not None
        for _ in range(5):
            assert child.stdout.readline() == "done\n"
        child.send_signal(signal.SIGINT)
        last = child.stdout.read().splitlines()[-1]
    assert child.returncode == 130
    report = load_report(tmp_path / "r")
    assert report.interrupted
    assert last == f"report True {len(report.results)}"
    assert len(report.results) >= 5
