"""Suite files as tests: an item for each scenario and repeat, asked in a separate event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest

from tunaeval.api.extensions import registries
from tunaeval.api.running import EMBEDDED
from tunaeval.errors import TunaevalError
from tunaeval.parsing.api import parser_for
from tunaeval.registry import closed, made_client
from tunaeval.runs.options import RunOptions
from tunaeval.runs.runner import SuiteRun
from tunaeval.runs.suites.loading import load_suite
from tunaeval.types.roles import Client
from tunaeval.types.runs import ScenarioResult, Suite
from tunaeval.types.wanted import wanted_count

from .options import ASKER, gates_asked, option

T = TypeVar("T")


class SuiteFile(pytest.File):
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
        if result.outcome == "transport_failure":
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
            name, client = self._made()
            usual = EMBEDDED if name == "llamacpp" else RunOptions()
            reported: dict[str, Any] = {"repeats": option(self._config, "repeats")}
            settings = {**{name: getattr(usual, name) for name in usual.__slots__}, **reported}
            self._runs[path] = SuiteRun(suite, client, parser_for("auto"), RunOptions(**settings))
        return self._runs[path]

    def close(self) -> None:
        if self._client is not None:
            self.wait(closed(self._client))
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _made(self) -> tuple[str, Client]:
        given = {
            key: option(self._config, name)
            for key, name in (("base_url", "base-url"), ("model", "model"), ("path", "recording"))
        }
        settings = {key: one for key, one in given.items() if one is not None}
        implied = "replay" if "path" in settings else "openai" if "base_url" in settings else None
        name = option(self._config, "client") or implied or "llamacpp"
        if self._client is None:
            self._client = made_client(registries()["clients"].get(name), name, settings)
        return name, self._client


def _asker(config: pytest.Config) -> Asker:
    if ASKER not in config.stash:
        config.stash[ASKER] = Asker(config)
    asker: Asker = config.stash[ASKER]
    return asker
