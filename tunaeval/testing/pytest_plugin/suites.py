"""Suite files as tests, and gates on the suites of a session.

A suite has an item for each scenario and repeat, asked in a separate event loop. A gate is a paired
comparison, pass^k, or a lower bound of the rate.
"""

from __future__ import annotations

import asyncio
import threading
from collections import defaultdict
from collections.abc import Coroutine, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import pytest

from tunaeval.errors import TunaevalError, UsageError
from tunaeval.files.plain_files import entries, is_there
from tunaeval.parsing.api import parser_for
from tunaeval.plugins import registries
from tunaeval.reports.summary import summarise
from tunaeval.runs.api import usual_options
from tunaeval.runs.comparing import compare
from tunaeval.runs.directory import RUN_FILE, load_report
from tunaeval.runs.runner import SuiteRun
from tunaeval.tasks.suites.loading import load_suite
from tunaeval.types.roles import Client
from tunaeval.types.runs import Report, RunInfo, ScenarioResult, Suite
from tunaeval.types.tables import is_unanswered
from tunaeval.types.third_party import closed, made_client
from tunaeval.types.wanted import wanted_count

from .options import ASKER, SuiteLine, gates_asked, option, read_pass_k

T = TypeVar("T")


class CollectedSuite(pytest.File):
    """A file with a suite."""

    def collect(self) -> Iterator[SuiteItem]:
        try:
            suite = load_suite(self.path)
            repeats = wanted_count(option(self.config, "repeats"), "--tunaeval-repeats")
        except TunaevalError as error:
            raise self.CollectError(str(error)) from error
        for index, scenario in enumerate(suite.scenarios):
            for repeat in range(1, repeats + 1):
                name = scenario.id if repeats == 1 else f"{scenario.id}[{repeat}]"
                item: SuiteItem = SuiteItem.from_parent(self, name=name)
                item.asks = (suite, index, repeat)
                yield item


class SuiteItem(pytest.Item):
    """One repeat of one scenario."""

    asks: tuple[Suite, int, int]
    tunaeval_measured: dict[str, Any] | None = None

    def runtest(self) -> None:
        suite, index, repeat = self.asks
        asker = _asker(self.config)
        run = asker.run_of(self.path, suite)
        result = asker.wait(run.run_one(index, repeat))
        self.user_properties += [
            ("tunaeval.suite", suite.name),
            ("tunaeval.scenario", result.scenario),
            ("tunaeval.repeat", repeat),
            ("tunaeval.outcome", result.outcome),
            ("tunaeval.attempts", len(result.attempts)),
            ("tunaeval.latency_seconds", result.latency_seconds),
        ]
        self.tunaeval_measured = {
            "file": str(self.path),
            "repeats": run.options.repeats,
            "run": run.info.model_dump_json(),
            "result": result.model_dump_json(),
        }
        if is_unanswered(result.outcome):
            raise NotAnswered(result)
        if not result.ok and gates_asked(self.config):
            pytest.xfail(f"counted by the gate: {result.reason}")
        if not result.ok:
            raise NotPassed(result)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return what was wanted and got, without a traceback of the plug-in."""
        error = excinfo.value
        if isinstance(error, NotPassed | NotAnswered | TunaevalError):
            return str(error)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        return self.path, None, self.name


class NotPassed(AssertionError):  # noqa: N818 - the result of a test, not an error in code
    """A scenario whose answer was not the expected one."""

    def __init__(self, result: ScenarioResult) -> None:
        wanted = result.expected.model_dump(exclude_defaults=True)
        got = [f"{call.name}({call.arguments})" for call in result.got]
        text = result.attempts[-1].message.get("content") if result.attempts else None
        lines = [
            f"{result.reason} ({result.outcome})",
            f"prompt: {result.prompt!r:.300}",
            f"wanted: {wanted}",
            f"got:    {', '.join(got) or 'no call'}",
            *([f"text:   {text!r:.300}"] if text and not got else []),
        ]
        super().__init__("\n".join(lines))


class NotAnswered(Exception):  # noqa: N818 - as above
    """A scenario that the infrastructure left without an answer: it neither passed nor failed."""

    def __init__(self, result: ScenarioResult) -> None:
        super().__init__(f"no answer was had: {result.error}")


class Asker:
    """The session's client, in an event loop of its own thread, so that tests need no loop."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._runs: dict[Path, SuiteRun] = {}
        self._client: Client | None = None

    def wait(self, work: Coroutine[Any, Any, T]) -> T:
        waiting = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return waiting.result()
        except BaseException:
            waiting.cancel()
            raise

    def run_of(self, path: Path, suite: Suite) -> SuiteRun:
        """Return the run of a suite, made once for a test session."""
        if path not in self._runs:
            client = self._made()
            options = replace(usual_options(client), repeats=option(self._config, "repeats"))
            self._runs[path] = SuiteRun(suite, client, parser_for("auto"), options)
        return self._runs[path]

    def close(self) -> None:
        if self._client is not None:
            self.wait(closed(self._client))
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _made(self) -> Client:
        given = {
            key: option(self._config, name)
            for key, name in (("base_url", "base-url"), ("model", "model"), ("path", "recording"))
        }
        settings = {key: one for key, one in given.items() if one is not None}
        implied = "replay" if "path" in settings else "openai" if "base_url" in settings else None
        name = option(self._config, "client") or implied or "llamacpp"
        if self._client is None:
            self._client = made_client(registries()["clients"].get(name), name, settings)
        return self._client


def _asker(config: pytest.Config) -> Asker:
    if ASKER not in config.stash:
        config.stash[ASKER] = Asker(config)
    asker: Asker = config.stash[ASKER]
    return asker


def judged(config: pytest.Config, measured: Sequence[dict[str, Any]]) -> list[SuiteLine]:
    """Return a line for each suite, and one for each gate that was requested."""
    if not measured:
        return [SuiteLine("no scenario was asked", "too little data")]
    files: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for one in measured:
        files[one["file"]].append(one)
    verdicts: list[SuiteLine] = []
    for several in files.values():
        report = _report(several)
        final = report.summary.final
        verdicts.append(SuiteLine(f"{report.run.suite}: {final.passed} of {final.total} passed"))
        try:
            verdicts += _gates(config, report)
        except TunaevalError as error:
            verdicts.append(SuiteLine(f"{report.run.suite}: {error}", "failed"))
    return verdicts


def _report(measured: Sequence[dict[str, Any]]) -> Report:
    results = [ScenarioResult.model_validate_json(one["result"]) for one in measured]
    results.sort(key=lambda result: (result.repeat, result.scenario))
    run = RunInfo.model_validate_json(measured[0]["run"])
    summary = summarise(results, repeats=measured[0]["repeats"])
    return Report.model_construct(
        run=run,
        summary=summary,
        results=tuple(results),
        interrupted=len(results) < run.scenarios * run.repeats,
        directory=None,
    )


def _gates(config: pytest.Config, report: Report) -> Iterator[SuiteLine]:
    baseline = option(config, "baseline")
    if baseline is not None:
        yield _against(report, Path(baseline), option(config, "margin") / 100)
    wanted = option(config, "pass-k")
    if wanted is not None:
        yield _pass_k(report, *read_pass_k(wanted))
    bound = option(config, "min-bound")
    if bound is not None:
        yield _bound(report, bound)


def _against(report: Report, directory: Path, margin: float) -> SuiteLine:
    base = _baseline(report, directory)
    found = compare(base, report, intersect=report.interrupted)
    overall = found.overall
    clears = overall.clears(margin)
    lost = ", ".join(flip.scenario for flip in found.lost[:5])
    return _verdict(
        clears,
        overall.value > -margin,
        f"{report.run.suite}: {100 * overall.value:+.1f} points against the baseline "
        f"{base.run.run_id} (between {100 * overall.low:+.1f} and {100 * overall.high:+.1f}), "
        f"{'surely not' if clears else 'may be'} worse by {100 * margin:g} or more"
        + (f"; lost: {lost}" if lost else "")
        + "".join(f"; the baseline: {words}" for words in found.a.warnings),
    )


def _baseline(report: Report, directory: Path) -> Report:
    """Return the run in the directory, or the latest of its runs of this suite."""
    if is_there(directory / RUN_FILE):
        return load_report(directory)
    found = [load_report(path.parent) for path in entries(directory, f"*/{RUN_FILE}")]
    same = [one for one in found if one.run.suite == report.run.suite]
    if not same:
        raise UsageError(
            f"{str(directory)!r} has no run of {report.run.suite!r}; make one with "
            f"tunaeval run --suite FILE --out {directory}"
        )
    return max(same, key=lambda one: one.run.started_at)


def _pass_k(report: Report, k: int, percent: float) -> SuiteLine:
    repeats = report.summary.repeats
    at = {one.k: one for one in repeats.at} if repeats is not None else {}
    value = at[k].all_pass if k in at else report.summary.final.value if k == 1 else None
    if value is None:
        raise UsageError(f"pass^{k} wants {k} repeats or more; ask with --tunaeval-repeats {k}")
    words = f"{report.run.suite}: pass^{k} is {100 * value:.1f} %, wanted {percent:g} %"
    passed = 100 * value >= percent
    return _verdict(passed, passed, words)


def _bound(report: Report, percent: float) -> SuiteLine:
    suite, final = report.run.suite, report.summary.final
    if final.value is None or final.low is None:
        return SuiteLine(f"{suite}: nothing was answered, wanted {percent:g} %", "too little data")
    return _verdict(
        100 * final.low >= percent,
        100 * final.value >= percent,
        f"{suite}: {100 * final.value:.1f} % passed, so that the rate is at least "
        f"{100 * final.low:.1f} %, wanted {percent:g} %",
    )


def _verdict(is_sure: bool, is_measured: bool, words: str) -> SuiteLine:
    """Return the verdict of a gate: passed if the value is certain to suffice, "too little data" if
    it suffices only as measured, else failed.
    """
    return SuiteLine(words, "passed" if is_sure else "too little data" if is_measured else "failed")
