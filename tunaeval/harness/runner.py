"""A suite from the first request to the report: workers, deadlines, files, and ends before time.

A run ends early when no request can succeed: the client says so (`ClientSetupError`), or nothing
but failures to connect has come back. It can be cancelled at any time. Either way what was
finished is on disk, and `SuiteRun.report` tells it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from tunaeval.errors import ClientSetupError, PluginError, SuiteError, TransportFailure
from tunaeval.registry import reply_of
from tunaeval.reports import summarise
from tunaeval.types import Reply, Request, Tools
from tunaeval.types.roles import Agent, Client, Parser
from tunaeval.types.runs import Report, Scenario, ScenarioResult, Suite
from tunaeval.wanted import refusal, wanted_path

from .agents import drive_agent
from .directory import RunDirectory
from .driving import Environment, drive
from .episode import Episode, episode
from .options import RunOptions, model_of, run_info
from .prompts import Asking, asking
from .reading import reading
from .resume import Begun, Place, begun
from .tools import keep_tools, kept_tools, tools_of
from .turns import task_episode

_PATIENCE = 5
"""So many failures to connect, and no answer, and the server is held to be unreachable."""


Told = Callable[[ScenarioResult], None]


class AsyncHarness:
    """Runs suites one way; a `Harness`.

    `out` is the directory that runs are kept in, each under its own id; None keeps nothing.
    """

    def __init__(
        self,
        options: RunOptions | None = None,
        *,
        out: Path | str | None = None,
        on_result: Told | None = None,
    ) -> None:
        self.options = options or RunOptions()
        self.out = out
        self.on_result = on_result

    async def run(self, suite: Suite, client: Client, parser: Parser) -> Report:
        run = SuiteRun(suite, client, parser, self.options, out=self.out, on_result=self.on_result)
        return await run.run()


class SuiteRun:
    """One run of one suite: `await run()` once, ask for its `report()` at any time.

    `info` says how the run is made, `directory` where it is kept (None: nowhere). The client is
    the caller's to close. `told` replaces how the suite is asked, made by `asking`. `resume` is the
    directory of a run that was cut off: it goes on there, and what is finished is not asked again.
    """

    def __init__(
        self,
        suite: Suite,
        client: Client,
        parser: Parser,
        options: RunOptions | None = None,
        *,
        out: Path | str | None = None,
        run_id: str | None = None,
        on_result: Told | None = None,
        told: Asking | None = None,
        resume: Path | str | None = None,
        environment: Environment | None = None,
    ) -> None:
        if not isinstance(suite, Suite):
            raise refusal("suite", suite, "a Suite, as tunaeval.load_suite(...) returns it")
        if not suite.scenarios:
            raise SuiteError(
                f"suite {suite.name!r} has no scenarios; a run of none would say nothing"
            )
        self.options = (options or RunOptions()).for_suite(suite)
        self.asking = told or asking(suite, self.options.ask)
        self.info = run_info(
            suite, client, parser, options=self.options, told=self.asking, run_id=run_id
        )
        self.directory = None if out is None else wanted_path(out, "out") / self.info.run_id
        self._begun = Begun(self.info)
        if resume is not None:
            self.directory = wanted_path(resume, "resume")
            self._begun = begun(self.directory, self.info, suite)
            self.info = self._begun.info
        self._suite = suite
        self._client = client
        self._parser = parser
        self._rules = self.options.rules()
        self._on_result = on_result
        self._results: dict[Place, ScenarioResult] = dict(self._begun.results)
        self._resumed, self._environment = resume is not None, environment or Environment()
        self._files: RunDirectory | None = None
        self._answered = self._refused = 0

    async def run(self) -> Report:
        """Run all scenarios and report.

        Raises `ClientSetupError` when no request can succeed, `RecordError` when results cannot
        be kept, `PluginError` when the parser fails; results so far stay.
        """
        if self.directory is not None:
            self._files = RunDirectory(self.directory, self.info, resumed=self._resumed)
            if not (self._resumed and kept_tools(self.directory) == tools_of(self._suite)):
                keep_tools(self.directory, self._suite)
        jobs = self._jobs()
        workers = min(self.options.concurrency, self.left)
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(workers):
                    group.create_task(self._work(jobs))
        except BaseExceptionGroup as failures:
            first = failures.exceptions[0]
            raise first from first.__cause__
        finally:
            model, details = model_of(self._client)
            learned = {"model": model, "model_details": details}
            # Whoever had nothing left to ask has learned nothing of the model.
            known = {name: value for name, value in learned.items() if value or not self._resumed}
            self.info = self.info.model_copy(update=known)
            if self._files is not None:
                self._files.close(self.info)
        return self.report()

    async def run_one(self, index: int, repeat: int) -> ScenarioResult:
        """Ask one scenario once, by its index and repeat (from 1); it counts in the `report()`.

        Nothing is written. Raises as `run`.
        """
        await self._work(iter([(index, repeat, self._suite.scenarios[index])]))
        return self._results[index, repeat]

    def report(self) -> Report:
        """What has been finished so far, in the order of the suite."""
        results = tuple(result for _, result in sorted(self._results.items(), key=lambda at: at[0]))
        return Report.model_construct(
            run=self.info,
            summary=summarise(results, repeats=self.options.repeats),
            results=results,
            interrupted=self.left > 0,
            directory=None if self.directory is None else str(self.directory),
        )

    @property
    def left(self) -> int:
        """How many results are still to come."""
        return len(self._suite.scenarios) * self.options.repeats - len(self._results)

    def _jobs(self) -> Iterator[tuple[int, int, Scenario]]:
        for repeat in range(1, self.options.repeats + 1):
            for index, scenario in enumerate(self._suite.scenarios):
                if (index, repeat) not in self._begun.results:
                    yield index, repeat, scenario

    async def _work(self, jobs: Iterator[tuple[int, int, Scenario]]) -> None:
        for index, repeat, scenario in jobs:
            told, tools = self.asking, self._suite.tools
            if scenario.tools is not None:
                tools = scenario.tools
                told = told.remade(self._suite.model_copy(update={"tools": tools}))
            result = await self._result(scenario, told, tools, repeat)
            if self._resumed:
                self._begun.check_model(self._client)
            if self._files is not None:
                self._files.append(result)
            self._results[index, repeat] = result
            if self._on_result is not None:
                self._on_result(result)
            self._check_reachable(result)

    async def _result(
        self, scenario: Scenario, told: Asking, tools: Tools, repeat: int
    ) -> ScenarioResult:
        """One question, or a task of many turns."""
        read = reading(self._parser, tools, self.options.calls)
        asked: dict[str, Any] = {
            "asking": told,
            "read": read,
            "rules": self._rules,
            "repeat": repeat,
        }
        if scenario.task is None:
            return await self._converse(episode(scenario, tools=tools, **asked))
        if isinstance(self._client, Agent):
            return await drive_agent(
                scenario, tools, self._client, read=read, rules=self._rules, repeat=repeat,
                environment=self._environment, seconds=self.options.deadline_seconds,
            )  # fmt: skip
        return await drive(
            task_episode(scenario, **asked), scenario, tools, ask=self._ask,
            environment=self._environment, turn_seconds=self.options.deadline_seconds,
            profile=self._rules.profile,
        )  # fmt: skip

    async def _converse(self, conversation: Episode) -> ScenarioResult:
        """The only place where an episode meets a client."""
        deadline = asyncio.get_running_loop().time() + self.options.deadline_seconds
        request = next(conversation)
        while True:
            answer = await self._ask(request, deadline)
            try:
                request = conversation.send(answer)
            except StopIteration as end:
                result: ScenarioResult = end.value
                return result

    async def _ask(self, request: Request, deadline: float) -> Reply | TransportFailure:
        """The client's answer. It knows how long it is waited for, so that it can say in time what
        a server answered instead; only one that keeps silent is cut off.
        """
        clock, seconds = asyncio.get_running_loop().time, self.options.deadline_seconds
        late = TransportFailure(f"the scenario took over {seconds:g} s", kind="timeout")
        request = replace(request, within_seconds=max(0.0, deadline - clock()))
        try:
            async with asyncio.timeout_at(deadline + _grace(seconds)):
                reply = await reply_of(self._client, request)
        except TimeoutError:
            return late
        except TransportFailure as failure:
            self._refused += failure.kind == "connect"
            self._answered += failure.kind != "connect"
            return late if failure.kind == "timeout" and clock() >= deadline else failure
        except PluginError as error:  # a plug-in's failure ends no run
            return TransportFailure(str(error), kind="body")
        self._answered += 1
        return reply

    def _check_reachable(self, result: ScenarioResult) -> None:
        asked = len(self._results) - len(self._begun.results)
        if not self._answered and self._refused >= min(
            asked + self.left, max(_PATIENCE, self.options.concurrency)
        ):
            raise ClientSetupError(
                f"no request came through; the first {self._refused} failed to connect "
                f"({result.error}); is the server running at this address?"
            )


def _grace(seconds: float) -> float:
    """How long after the deadline a client may still say what has happened."""
    return min(0.5, max(0.05, 0.1 * seconds))


async def run_suite(
    suite: Suite,
    client: Client,
    parser: Parser,
    options: RunOptions | None = None,
    *,
    out: Path | str | None = None,
    run_id: str | None = None,
    on_result: Told | None = None,
) -> Report:
    """Run a suite and report; `SuiteRun` with nothing kept in hand."""
    run = SuiteRun(suite, client, parser, options, out=out, run_id=run_id, on_result=on_result)
    return await run.run()
