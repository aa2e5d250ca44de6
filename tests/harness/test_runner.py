"""Whole runs: files, order, deadlines, ends before time. The clients are real, none is a mock."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tunaeval.clients import ScriptedClient
from tunaeval.errors import (
    ClientSetupError,
    PluginError,
    RecordError,
    SuiteError,
    TransportFailure,
    UnknownNameError,
    UsageError,
)
from tunaeval.harness import (
    RESULTS_FILE,
    RUN_FILE,
    AsyncHarness,
    RunOptions,
    SuiteRun,
    load_report,
    run_suite,
)
from tunaeval.types import JsonObject, Reply, Request
from tunaeval.types.roles import Client, Harness, Parser
from tunaeval.types.runs import Report, ScenarioResult, Suite

GOOD = '{"name": "read_file", "arguments": {"filepath": "a.py"}}'
ONE = RunOptions(concurrency=1)
MakeSuite = Callable[..., Suite]


class Answers:
    """A client that gives each scenario what `answer` says, after `seconds`."""

    name = "answers"
    heading = "not a model"

    def __init__(self, answer: Callable[[Request], Any], seconds: float = 0.0) -> None:
        self.answer = answer
        self.seconds = seconds
        self.asked: list[str] = []
        self.model: str | None = None
        self.at_once = self.most_at_once = 0

    async def complete(self, request: Request) -> Reply:
        self.asked.append(request.scenario)
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            await asyncio.sleep(self.seconds)
        finally:
            self.at_once -= 1
        self.model = "tuna-1"
        answer = self.answer(request)
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, str):
            return Reply({"role": "assistant", "content": answer}, "stop")
        reply: Reply = answer
        return reply

    async def close(self) -> None:
        return


def good(request: Request) -> str:
    del request
    return GOOD


def run(suite: Suite, client: Client, parser: Parser, *options: RunOptions, **more: Any) -> Report:
    return asyncio.run(run_suite(suite, client, parser, *options, **more))


def lines(directory: str | Path | None) -> list[JsonObject]:
    assert directory is not None
    return [json.loads(line) for line in (Path(directory) / RESULTS_FILE).read_bytes().splitlines()]


def test_a_suite_is_run_and_reported(make_suite: MakeSuite, parser: Parser, tmp_path: Path) -> None:
    client = ScriptedClient([GOOD, "Well...", GOOD, '{"name": "list_dir", "arguments": {}}'])
    report = run(make_suite(3), client, parser, ONE, out=tmp_path)
    assert (report.passed, report.total, report.interrupted) == (2, 3, False)
    assert report.summary.first_attempt.passed == 1
    assert [result.scenario for result in report.results] == ["call-1", "call-2", "call-3"]
    assert [record["ok"] for record in lines(report.directory)] == [True, True, False]


def test_a_run_is_read_back_from_its_directory(
    make_suite: MakeSuite, parser: Parser, tmp_path: Path
) -> None:
    report = run(make_suite(3), ScriptedClient([GOOD] * 3), parser, ONE, out=tmp_path)
    assert report.directory is not None
    assert load_report(report.directory) == report


def test_run_json_tells_how_the_run_was_made(
    make_suite: MakeSuite, parser: Parser, tmp_path: Path
) -> None:
    options = RunOptions(ask="schema", seed=3, level="strict", repeats=2)
    report = run(make_suite(2), Answers(good), parser, options, out=tmp_path, run_id="mine")
    told = json.loads((tmp_path / "mine" / RUN_FILE).read_text())
    assert told["heading"] == "constrained decoding; not a model"
    assert (told["suite"], told["suite_digest"], told["seed"]) == ("small", "d", 3)
    assert (told["client"], told["model"]) == ("answers", "tuna-1")  # known after the first reply
    assert (told["format"], told["level"], told["ask"]) == ("one-object", "strict", "schema")
    assert {"python", "tunaeval", "pydantic", "orjson"} <= set(told["versions"])
    assert told == report.run.model_dump()


def test_without_a_directory_nothing_is_kept(
    make_suite: MakeSuite, parser: Parser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(make_suite(1), Answers(good), parser).directory is None
    assert list(tmp_path.iterdir()) == []


def test_the_report_has_the_order_of_the_suite_and_the_file_that_of_completion(
    make_suite: MakeSuite, parser: Parser, tmp_path: Path
) -> None:
    class FirstIsSlow(Answers):
        async def complete(self, request: Request) -> Reply:
            await asyncio.sleep(0.1 if request.scenario == "call-1" else 0)
            return await super().complete(request)

    report = run(make_suite(4), FirstIsSlow(good), parser, RunOptions(concurrency=4), out=tmp_path)
    assert [result.scenario for result in report.results] == [f"call-{n}" for n in (1, 2, 3, 4)]
    assert lines(report.directory)[-1]["scenario"] == "call-1"


def test_no_more_than_asked_for_are_in_flight(make_suite: MakeSuite, parser: Parser) -> None:
    client = Answers(good, 0.01)
    report = run(make_suite(20), client, parser, RunOptions(concurrency=3))
    assert (report.passed, client.most_at_once) == (20, 3)


def test_repeats_are_asked_and_counted(make_suite: MakeSuite, parser: Parser) -> None:
    report = run(make_suite(2), Answers(good), parser, RunOptions(repeats=3))
    assert report.total == 6
    assert [(result.scenario, result.repeat) for result in report.results] == [
        (f"call-{number}", repeat) for number in (1, 2) for repeat in (1, 2, 3)
    ]


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
        "body: client 'answers' raised ValueError: a client's own mistake",
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


def test_two_runs_never_share_an_id(make_suite: MakeSuite, parser: Parser) -> None:
    suite = make_suite(1)
    ids = {SuiteRun(suite, Answers(good), parser).info.run_id for _ in range(20)}
    assert len(ids) == 20


@pytest.mark.parametrize("run_id", ["", "../up", "a/b", "/"])
def test_a_run_id_is_no_path(make_suite: MakeSuite, parser: Parser, run_id: str) -> None:
    with pytest.raises(UsageError, match="without a path"):
        SuiteRun(make_suite(1), Answers(good), parser, run_id=run_id)


@pytest.mark.parametrize(
    "options",
    [{"attempts": 0}, {"repeats": 0}, {"concurrency": 0}, {"max_tokens": 0},
     {"deadline_seconds": 0}, {"deadline_seconds": float("nan")}],
)  # fmt: skip
def test_options_that_cannot_be_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="wanted"):
        RunOptions(**options)


def test_unknown_words_in_options_are_refused() -> None:
    with pytest.raises(UnknownNameError, match="lenient"):
        RunOptions(level="lenien")  # type: ignore[arg-type] # the mistake that is tested
    with pytest.raises(UnknownNameError, match="strict"):
        RunOptions(profile="strct")


def test_a_parser_that_raises_is_named(make_suite: MakeSuite, tmp_path: Path) -> None:
    class Raises:
        name = "raises"

        def parse(self, text: str, **_: object) -> Any:
            raise RuntimeError(text)

    with pytest.raises(PluginError, match="parser 'raises' raised RuntimeError"):
        run(make_suite(1), Answers(good), Raises(), out=tmp_path)


def test_progress_is_told_after_it_is_kept(
    make_suite: MakeSuite, parser: Parser, tmp_path: Path
) -> None:
    seen: list[int] = []

    def told(result: ScenarioResult) -> None:
        assert result.ok
        seen.append(len(lines(tmp_path / "mine")))

    run(make_suite(3), Answers(good), parser, ONE, out=tmp_path, run_id="mine", on_result=told)
    assert seen == [1, 2, 3]


def test_lone_surrogates_from_a_model_are_kept(
    make_suite: MakeSuite, parser: Parser, tmp_path: Path
) -> None:
    report = run(make_suite(1), Answers(lambda _: "odd \ud800"), parser, out=tmp_path)
    assert report.directory is not None
    kept = load_report(report.directory).results[0].attempts[0].message["content"]
    assert kept == "odd \ud800"


def test_cancelling_keeps_what_is_finished(
    make_suite: MakeSuite, parser: Parser, tmp_path: Path
) -> None:
    suite_run = SuiteRun(make_suite(50), Answers(good, 0.02), parser, ONE, out=tmp_path)

    async def cancel_soon() -> None:
        task = asyncio.create_task(suite_run.run())
        await asyncio.sleep(0.15)
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
from tunaeval.harness import RunOptions, SuiteRun
from tunaeval.types import Reply
from tunaeval.types.runs import Suite

class Slow:
    name = "slow"
    async def complete(self, request):
        await asyncio.sleep(0.02)
        return Reply({"role": "assistant", "content": "{}"}, "stop")
    async def close(self): ...

suite = Suite(name="s", scenarios=tuple(scenario("call", n) for n in range(500)),
              tools=TOOLS, system_prompt="", digest="d")
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


def test_it_is_a_harness(make_suite: MakeSuite, parser: Parser) -> None:
    harness = AsyncHarness(ONE)
    assert isinstance(harness, Harness)
    assert asyncio.run(harness.run(make_suite(2), Answers(good), parser)).passed == 2


def test_a_scenario_costs_little_beside_its_request(
    make_suite: MakeSuite, parser: Parser, tmp_path: Path
) -> None:
    suite = make_suite(300)
    start = time.process_time()
    run(suite, Answers(good), parser, out=tmp_path)
    spent = (time.process_time() - start) / 300
    assert spent < 1.2e-3  # measured: 0.2 ms; the limit leaves room for a busy machine
