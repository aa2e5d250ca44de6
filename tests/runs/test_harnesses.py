"""Harnesses of others: what they are called with, what is refused, and what is kept of a run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import tunaeval
from tests.runs.whole_runs import Answers, good
from tunaeval import RunOptions, ScriptedClient
from tunaeval.errors import ClientSetupError, PluginError, UnknownNameError, UsageError
from tunaeval.registry import Registry
from tunaeval.runs import harnesses
from tunaeval.types.exchange import Reply, Request
from tunaeval.types.roles import Client, Harness, Parser
from tunaeval.types.runs import Report, Suite
from tunaeval.types.shapes import maker_of

SILENT = ["No."] * 12


def silent() -> ScriptedClient:
    return ScriptedClient(SILENT)


class Backwards:
    """Asks the last scenario first."""

    def __init__(self, options: RunOptions) -> None:
        self.options = options

    async def run(self, suite: Suite, client: Client, parser: Parser) -> Report:
        run = tunaeval.SuiteRun(suite, client, parser, self.options)
        for repeat in range(1, self.options.repeats + 1):
            for index in reversed(range(len(suite.scenarios))):
                await run.run_one(index, repeat)
        return run.report()


class Told(Backwards):
    """Remembers what it was called with."""

    given: dict[str, Any]

    def __init__(self, options: RunOptions, **more: Any) -> None:
        super().__init__(options)
        type(self).given = more


class Wrong(Backwards):
    async def run(self, suite: Suite, client: Client, parser: Parser) -> Any:  # noqa: ARG002 - as it is called
        return 3


class Raising(Backwards):
    async def run(self, suite: Suite, client: Client, parser: Parser) -> Report:  # noqa: ARG002 - as it is called
        raise ValueError("no such thing")


class Leaving(Backwards):
    async def run(self, suite: Suite, client: Client, parser: Parser) -> Report:  # noqa: ARG002 - as it is called
        raise SystemExit(3)


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> Registry[Any]:
    registry: Registry[Any] = Registry(
        "tunaeval.harnesses",
        "harness",
        builtins={"tunaeval": "tunaeval.runs.runner:AsyncHarness"},
        check=maker_of(Harness),
    )
    monkeypatch.setattr(harnesses, "harnesses", registry)
    for name, kind in {
        "backwards": Backwards, "told": Told, "wrong": Wrong, "raising": Raising,
        "leaving": Leaving,
    }.items():  # fmt: skip
        registry.add(name, kind)
    return registry


def run(harness: Any, **more: Any) -> Report:
    return tunaeval.run("smoke", client=silent(), harness=harness, **{"out": None, **more})


def test_each_way_to_name_a_harness_runs_the_suite() -> None:
    ours = run("tunaeval", attempts=1)
    made = Backwards(RunOptions(attempts=1))
    every = [run("backwards", attempts=1), run(Backwards, attempts=1), run(made)]
    for report in every:
        assert [one.outcome for one in report.results] == [one.outcome for one in ours.results]
        assert report.passed == ours.passed
    assert [one.run.harness for one in (ours, *every)] == [
        "tunaeval", "backwards", "Backwards", "Backwards",
    ]  # fmt: skip


def test_what_is_no_parameter_of_a_harness_is_stored_or_refused(tmp_path: Path) -> None:
    report = run("backwards", attempts=1, out=tmp_path)
    assert report.directory is not None
    kept = tunaeval.load_report(report.directory)
    assert (kept.run.harness, kept.passed, kept.total) == ("backwards", report.passed, 12)
    assert [one.scenario for one in kept.results] == [one.scenario for one in report.results]
    for more in ({"resume": tmp_path}, {"environment": tunaeval.Environment()},
                 {"take_over": True}, {"retry_failures": True}):  # fmt: skip
        with pytest.raises(UsageError, match=f"'backwards' takes no {next(iter(more))}"):
            run("backwards", **more)


def test_a_harness_that_names_everything_gets_everything() -> None:
    run("told", attempts=1)
    assert set(Told.given) == {*harnesses.PARAMETERS} - {"options", "budget"}


def test_options_beside_a_harness_that_is_made_are_refused() -> None:
    for more in ({"attempts": 1}, {"options": RunOptions()}):
        with pytest.raises(UsageError, match="takes no options"):
            run(Backwards(RunOptions()), **more)


@pytest.mark.parametrize(
    ("harness", "said"),
    [("wrong", "'wrong' returned 3; wanted a Report"),
     ("raising", "'raising' raised ValueError: no such thing"),
     ("leaving", "'leaving' raised SystemExit: 3")],
)  # fmt: skip
def test_what_a_harness_does_wrong_is_a_plug_ins_error(harness: str, said: str) -> None:
    with pytest.raises(PluginError, match=said):
        run(harness)


def test_what_is_no_harness_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="no harness is called 'forwards'"):
        run("forwards")
    with pytest.raises(UsageError, match="wanted what makes a Harness"):
        run(3)
    with pytest.raises(PluginError, match="made something that is no harness"):
        run(lambda: 3)


PLUG_IN = """
import tunaeval
from tests.runs.whole_runs import Answers, good
from tunaeval.types import Reply
class Backwards:
    name = "backwards"
    def __init__(self, options):
        self.options = options
    async def run(self, suite, client, parser):
        run = tunaeval.SuiteRun(suite, client, parser, self.options)
        for index in reversed(range(len(suite.scenarios))):
            await run.run_one(index, 1)
        return run.report()
class Silent:
    name = "silent"
    async def complete(self, request):
        return Reply({"role": "assistant", "content": "No."})
    async def close(self):
        pass
"""


def test_the_command_line_runs_an_installed_harness_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "backwards.py").write_text(PLUG_IN)
    info = tmp_path / "backwards-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: backwards\nVersion: 1.0\n")
    entry = "[tunaeval.harnesses]\nbackwards = backwards:Backwards\n"
    entry += "[tunaeval.clients]\nsilent = backwards:Silent\n"
    (info / "entry_points.txt").write_text(entry)
    root = str(Path(tunaeval.__file__).parents[1])

    def command(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "tunaeval", *words],
            capture_output=True, text=True, check=False, cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), root])},
        )  # fmt: skip

    asked = ("run", "--suite", "smoke", "--client", "silent")
    done = command(*asked, "--harness", "backwards", "--attempts", "1", "--out", "runs")
    assert done.returncode in (0, 1), done.stderr
    (kept,) = (tmp_path / "runs").iterdir()
    assert tunaeval.load_report(kept).run.harness == "backwards"
    assert "harness backwards" in command("show", str(kept)).stdout
    refused = command(*asked, "--harness", "backwards", "--max-requests", "3")
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    assert "'backwards' of backwards 1.0 takes no budget" in refused.stderr


def test_looking_for_an_event_loop_is_no_context_of_what_a_run_raises() -> None:
    """Inspect AI reports the innermost context of an exception, which would be that look."""

    class Refused(ScriptedClient):
        async def complete(self, request: Request) -> Reply:  # noqa: ARG002 - as it is called
            raise ClientSetupError("no key")

    with pytest.raises(ClientSetupError, match="no key") as caught:
        tunaeval.run("smoke", client=Refused([]), out=None)
    error: BaseException | None = caught.value
    while error is not None:
        assert not isinstance(error, RuntimeError)
        error = error.__context__


def test_the_report_of_a_harness_has_what_its_client_learned_about_the_model() -> None:
    reports = [
        tunaeval.run("smoke", client=Answers(good), harness=one, out=None, attempts=1)
        for one in ("tunaeval", Backwards)
    ]
    assert [one.run.model for one in reports] == ["tuna-1", "tuna-1"]
