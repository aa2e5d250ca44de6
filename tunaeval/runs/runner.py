"""Run a suite from its first request to its report: workers, deadlines, files, early ends.

A run ends early if no request can succeed: the client raises `ClientSetupError`, or each of the
first requests was refused or met no server. It can be cancelled at any time. In both cases the
finished results are on disk and in `SuiteRun.report()`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractAsyncContextManager, AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any

from tunaeval.errors import SuiteError, TransportFailure, UsageError
from tunaeval.files.keys import of_environment
from tunaeval.grammar.format import Format
from tunaeval.registry import words_with_place
from tunaeval.reports.replies import keep_tools, kept_tools, reading, tools_of
from tunaeval.types.calls import Tools
from tunaeval.types.copies import copied
from tunaeval.types.deadlines import Deadline
from tunaeval.types.exchange import Reply, Request
from tunaeval.types.messages import Prices
from tunaeval.types.roles import Agent, Client, Parser
from tunaeval.types.runs import Report, Scenario, ScenarioResult, Suite
from tunaeval.types.tables import INFRASTRUCTURE
from tunaeval.types.wanted import refusal, wanted_path

from .budget import Budget, FirstFailureError
from .contact import Contact, Placed, answer_of
from .directory import InterruptedRun, Journal, RunDirectory, begun, report_of, without_secrets
from .driving import Environment, drive, drive_agent
from .episode import Trial, conclude, episode
from .options import RunOptions, model_of, run_info
from .prompts import Asking, asked_by, asking_by, reader_of_bound
from .turns import task_episode

OnResult = Callable[[ScenarioResult], None]


class AsyncHarness:
    """A `Harness` that runs suites with one set of options.

    `out` is the directory in which runs are kept, each under its own id; None keeps nothing. What
    `watched` returns is entered while a run goes on. `more` are further parameters of `SuiteRun`.

    Examples:
        >>> import asyncio
        >>> from tunaeval import ScriptedClient
        >>> from tunaeval import formats
        >>> harness = tunaeval.AsyncHarness(tunaeval.RunOptions(attempts=1))
        >>> silent = ScriptedClient(["I cannot."] * 12)
        >>> suite = tunaeval.load_suite("smoke")
        >>> report = asyncio.run(harness.run(suite, silent, formats.get("hermes")))
        >>> report.passed, report.total
        (2, 12)
    """

    def __init__(
        self,
        options: RunOptions | None = None,
        *,
        out: Path | str | None = None,
        on_result: OnResult | None = None,
        watched: Callable[[SuiteRun], AbstractContextManager[None]] | None = None,
        **more: Any,
    ) -> None:
        self.options, self._more = options, {"out": out, "on_result": on_result, **more}
        self._watched = watched

    def begun(self, suite: Suite, client: Client, parser: Parser | Format) -> SuiteRun:
        """Return the run that `run` would run; nothing is asked yet."""
        return SuiteRun(suite, client, parser, self.options, **self._more)

    async def run(self, suite: Suite, client: Client, parser: Parser | Format) -> Report:
        run = self.begun(suite, client, parser)
        with self._watched(run) if self._watched else nullcontext():
            return await run.run()


class SuiteRun:
    """One run of one suite: await `run()` once, and call `report()` at any time.

    `info` describes the run. The caller closes the client. `asking` replaces the prompts and tools
    that `asking` would make for the suite. `directory` is where the run is kept; by default it is a
    new one below `out`, and without both nothing is kept. `resume` is the directory of an
    interrupted run, which is continued there: finished results are not asked for again, except
    infrastructure failures if `retry_failures` is set. `take_over` continues even if another
    machine has locked the directory. Runs that share the semaphore `turns` wait for each other's
    scenarios. When `budget` is spent, by these `prices` of a million tokens, no further scenario is
    asked.

    Examples:
        >>> import asyncio
        >>> from tunaeval import ScriptedClient
        >>> suite, parser = tunaeval.load_suite("smoke"), tunaeval.parser_for("auto")
        >>> client = ScriptedClient(["I cannot."])
        >>> run = tunaeval.SuiteRun(suite, client, parser, tunaeval.RunOptions(attempts=1))
        >>> asyncio.run(run.run_one(0, 1)).outcome
        'no_call'
    """

    def __init__(
        self,
        suite: Suite,
        client: Client,
        parser: Parser | Format,
        options: RunOptions | None = None,
        *,
        out: Path | str | None = None,
        run_id: str | None = None,
        directory: Path | str | None = None,
        on_result: OnResult | None = None,
        asking: Asking | None = None,
        resume: Path | str | None = None,
        retry_failures: bool = False,
        take_over: bool = False,
        environment: Environment | None = None,
        turns: asyncio.Semaphore | None = None,
        budget: Budget | None = None,
        prices: Prices = (None, None),
    ) -> None:
        _prepare(suite, resume, retry_failures=retry_failures)
        self.options = (options or RunOptions()).for_suite(suite)
        if self.options.constrain and (isinstance(client, Agent) or client.name == "replay"):
            raise UsageError(
                f"a grammar is for a client that asks a server, and {client.name!r} does not; "
                "leave out 'constrain' (--constrain)"
            )
        environment = environment or Environment()
        sandbox = environment.sandbox or getattr(client, "sandbox", None)
        self._environment = replace(environment, sandbox=sandbox)
        parser = reader_of_bound(parser, self.options.constrain)
        self.asking = asking or asking_by(suite, self.options.ask, parser, self.options.constrain)
        self.info = run_info(
            suite, client, parser, options=self.options, asking=self.asking, run_id=run_id,
            sandbox=sandbox,
        )  # fmt: skip
        self.directory = None if out is None else wanted_path(out, "out") / self.info.run_id
        if directory is not None:
            self.directory = wanted_path(directory, "directory")
        self._begun = InterruptedRun(self.info)
        if resume is not None:
            self.directory = wanted_path(resume, "resume")
            self._begun = begun(self.directory, self.info, suite, retry=retry_failures)
            self.info = self._begun.info
        self._suite, self._client, self._parser = suite, client, parser
        self._on_result, self._secrets = on_result, of_environment()
        self._again = self._begun.failed if retry_failures else frozenset()
        self._resumed, self._take_over = resume is not None, take_over
        self._turns: AbstractAsyncContextManager[object] = turns or nullcontext()
        self._budget, self._prices = budget or Budget(), prices
        self._journal = Journal(self._begun, again=self._again)
        self._contact = Contact(
            self.options.concurrency, self._journal.left, was_answered=self._begun.was_answered
        )
        self.in_flight = 0
        """The number of scenarios that are in progress."""
        self.answered: bool | None = None
        """Whether any scenario that was asked got an answer; None if none was asked."""

    async def run(self) -> Report:
        """Run all scenarios and return the report.

        Raises `ClientSetupError` if no request can succeed, `RecordError` if results cannot be
        written or another process writes them, and `PluginError` if the parser fails; finished
        results stay on disk.
        """
        files = None if self.directory is None else self._opened(self.directory)
        self._journal = Journal(self._begun, files, self._again)
        jobs = self._jobs()
        workers = min(self.options.concurrency, self.left)
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(workers):
                    group.create_task(self._work(jobs))
            self._take(self._contact.rest())
        except BaseExceptionGroup as failures:
            first = failures.exceptions[0]
            if not isinstance(first, FirstFailureError):
                raise first from first.__cause__
        finally:
            self._learn()
            if files is not None:
                self.info = files.close(self.info)
        return self.report()

    async def run_one(self, index: int, repeat: int) -> ScenarioResult:
        """Run one scenario once, by its index and repeat (from 1), and add it to the report.

        Writes nothing to disk. Raises the same errors as `run`.
        """
        place = index * self.options.repeats + repeat - 1
        await self._work(iter([(place, repeat, self._suite.scenarios[index])]))
        self._take(self._contact.rest())
        self._learn()
        return self._journal.result(place)

    def report(self) -> Report:
        """Return the report of what has been finished so far, in the order of the suite."""
        summary, results = self._journal.summary(), self._journal.results()
        return report_of(self.info, summary, results, self.left, self.directory)

    @property
    def left(self) -> int:
        """The number of results still to come."""
        return self._journal.left

    @property
    def planned(self) -> tuple[int, int]:
        """How many results there are, and how many there will be."""
        every = len(self._suite.scenarios) * self.options.repeats
        return every - self.left, every

    def _opened(self, directory: Path) -> RunDirectory:
        """Lock the run's directory, and write `run.json` and the tools into it."""
        begun = self._begun if self._resumed else None
        files = RunDirectory(directory, self.info, begun, take_over=self._take_over)
        try:
            if files.note:
                logging.getLogger("tunaeval.runs").warning("%s: %s", directory, files.note)
            if self._resumed:
                self.info = files.update(self.info)
            if not (self._resumed and kept_tools(directory) == tools_of(self._suite)):
                keep_tools(directory, self._suite)
        except BaseException:
            files.abandon()
            raise
        return files

    def _learn(self) -> None:
        """Update `info` with what the client knows about the model by now."""
        model, details = model_of(self._client)
        learned = {"model": model, "model_details": details}
        # A resumed run that had nothing left to ask has learned nothing about the model.
        known = {name: value for name, value in learned.items() if value or not self._resumed}
        reached = self._budget.reached if self.left else None
        self.info = self.info.model_copy(update={**known, "budget_reached": reached})

    def _jobs(self) -> Iterator[tuple[int, int, Scenario]]:
        """Yield the place, repeat and scenario of each result that is still missing."""
        for repeat in range(1, self.options.repeats + 1):
            for index, scenario in enumerate(self._suite.scenarios):
                place = index * self.options.repeats + repeat - 1
                if not self._journal.is_done(place):
                    yield place, repeat, scenario

    async def _work(self, jobs: Iterator[tuple[int, int, Scenario]]) -> None:
        for place, repeat, scenario in jobs:
            if self._budget.reached:
                return
            async with self._turns:
                if self._budget.reached:
                    return
                self.in_flight += 1
                try:
                    result = await self._result(scenario, repeat)
                finally:
                    self.in_flight -= 1
            if self._resumed:
                self._begun.check_model(self._client)
            self._take(self._contact.known(place, result))

    async def _result(self, scenario: Scenario, repeat: int) -> ScenarioResult:
        """Run a scenario: a question with retries, a task of many turns, or a whole agent."""
        options, suite = self.options, self._suite
        tools = suite.tools if scenario.tools is None else scenario.tools
        names = (*options.abstain, *scenario.abstain)
        known = Tools() if suite.as_written else tools
        read = reading(self._parser, known, options.calls, abstain=names)
        trial = Trial(
            scenario, tools, read, options, repeat, suite.unreadable, as_written=suite.as_written
        )
        asking_with = partial(asked_by, self.asking, suite, scenario)
        if scenario.task is None:
            conversation = episode(trial, asking_with(tools))
            deadline = Deadline(options.deadline_seconds)
            return await conclude(conversation, partial(self._ask, deadline=deadline))
        if isinstance(self._client, Agent):
            self._contact.hold_nothing()
            return await drive_agent(trial, self._client, self._environment)
        turns = task_episode(trial, asking_with)
        return await drive(turns, trial, self._ask, self._environment, suite.mcp)

    async def _ask(self, request: Request, deadline: Deadline) -> Reply | TransportFailure:
        self._budget.count_request()
        answer = await answer_of(self._client, request, deadline)
        if isinstance(answer, Reply):
            self._budget.count_reply(answer, self._prices)
        self._contact.heard(answer)
        return answer

    def _take(self, results: Iterable[Placed]) -> None:
        taken = [*results]
        for place, result in taken:
            at = {"index": place // self.options.repeats}
            shown = without_secrets(result, self._secrets).model_copy(update=at)
            self._journal.put(place, shown)
            self.answered = self.answered or shown.outcome not in INFRASTRUCTURE
            if self._on_result is not None:
                self._hear(self._on_result, copied(shown))
        if any(not one.ok and one.outcome not in INFRASTRUCTURE for _, one in taken):
            self._budget.count_failure()

    def _hear(self, on_result: OnResult, result: ScenarioResult) -> None:
        try:
            on_result(result)
        except (Exception, SystemExit) as error:
            raise UsageError(
                f"on_result raised {words_with_place(error)}; the run has ended, and what was "
                "finished is kept"
            ) from error


def _prepare(suite: Suite, resume: Path | str | None, *, retry_failures: bool) -> None:
    """Raise if the arguments cannot be run, and import every module that reading a reply needs."""
    if not isinstance(suite, Suite):
        raise refusal("suite", suite, "a Suite, as tunaeval.load_suite(...) returns it")
    if not suite.scenarios:
        raise SuiteError(
            f"suite {suite.name!r} has no scenarios, so there is nothing to run; add one"
        )
    if retry_failures and resume is None:
        raise UsageError(
            "retry_failures needs a stored run whose failures are asked again; name it with resume"
        )
    # Later, when a reply needs a module, the process may be out of file descriptors to read it.
    for package in ("tunaeval.matching", "tunaeval.parsing", "tunaeval.tools"):
        for module in walk_packages(import_module(package).__path__, f"{package}."):
            import_module(module.name)
