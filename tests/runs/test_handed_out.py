"""What clients, tools, users, checks and callbacks do to what they are handed in a run: nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import tunaeval
from tests.runs.tasks import call, suite_of
from tests.spoiling import spoil
from tunaeval.parsing.api import parser_for
from tunaeval.runs.options import RunOptions
from tunaeval.runs.runner import SuiteRun
from tunaeval.tasks import checks
from tunaeval.types.calls import JsonObject
from tunaeval.types.copies import copied
from tunaeval.types.exchange import AgentRun, AgentTask, Reply, Request
from tunaeval.types.runs import Report, ScenarioResult

WORDS = "I would rather not."
SETTINGS = {"wanted": [["a", {"b": 1}]]}


class Talking:
    """A client that keeps what it was asked, and may spoil all that it gets and gave."""

    name = "talking"

    def __init__(self, *replies: str, spoils: bool) -> None:
        self.replies, self.spoils = replies, spoils
        self.asked: list[Request] = []
        self.given: list[JsonObject] = []

    async def complete(self, request: Request) -> Reply:
        self.asked.append(copied(request))
        text = self.replies[min(request.attempt, len(self.replies)) - 1]
        message = {"role": "assistant", "content": text, "extra": [["x"]]}
        if self.spoils:
            spoil(self.given)
            spoil(request)
        self.given.append(message)
        return Reply(message)

    async def close(self) -> None: ...


def plain(report: Report) -> list[Any]:
    """The results, without their times."""
    return [one.model_dump(mode="json") for one in report.results]


@pytest.fixture
def check() -> Iterator[Callable[[Callable[..., Any]], str]]:
    """Registers a Python check for the time of a test; returns its name."""

    def name(function: Callable[..., Any]) -> str:
        checks._added.pop("handed", None)
        checks._loaded.pop("handed", None)
        checks.add("handed", function)
        return "handed"

    yield name
    checks._added.pop("handed", None)
    checks._loaded.pop("handed", None)


@pytest.mark.parametrize("repeats", [1, 3])
def test_a_client_that_changes_its_requests_changes_no_other(repeats: int) -> None:
    runs = {}
    for spoils in (False, True):
        client = Talking(WORDS, call("bash", command="ls"), spoils=spoils)
        options = RunOptions(concurrency=1, repeats=repeats, attempts=2)
        report = tunaeval.run("smoke", client=client, options=options, out=None, format="hermes")
        runs[spoils] = plain(report), [(one.messages, one.tools) for one in client.asked]
    assert runs[True] == runs[False]
    assert len(runs[True][1]) >= 12


class Handed:
    """All that a run of tasks hands out, spoiled or not."""

    def __init__(self, *, spoils: bool) -> None:
        self.spoils = spoils
        self.seen: list[object] = []

    def take(self, *given: object) -> None:
        self.seen.append(copied(given))
        if self.spoils:
            spoil(given)

    def plain_tool(self, rows: Any) -> str:
        self.take(rows)
        return "ok"

    async def awaited_tool(self, rows: Any) -> str:
        self.take(rows)
        return "ok"

    def user(self, messages: Sequence[JsonObject], episode: tunaeval.Episode) -> str | None:
        task = episode.scenario.task
        assert task is not None
        self.take(messages, episode.scenario.metadata, task.files)
        return None

    def judged(self, state: tunaeval.FinalState, **settings: Any) -> tuple[bool, str]:
        assert state.after is not None
        self.take([*state.calls], settings, state.tools, dict(state.after.entries))
        if self.spoils:
            spoil(state)
        return True, "fine"

    def heard(self, result: ScenarioResult) -> None:
        self.take(result.model_dump(mode="json"))
        if self.spoils:
            spoil(result)


@pytest.mark.parametrize("kind", ["plain_tool", "awaited_tool"])
def test_nobody_in_a_task_changes_what_others_see(
    tmp_path: Path, check: Callable[[Callable[..., Any]], str], kind: str
) -> None:
    rows = [["a", {"b": [1, 2]}], {"c": None}]
    ran: dict[bool, Any] = {}
    for spoils in (False, True):
        handed = Handed(spoils=spoils)
        name = check(handed.judged)
        wanted = {"calls": [{"name": "act", "arguments": {"rows": rows}}] * 2}
        task = {
            "files": {"a.py": "1"},
            "checks": [
                {"python": name, "settings": SETTINGS},
                {"calls": wanted},
                {"python": name, "settings": SETTINGS},
                {"unchanged": "*"},
            ],
        }
        suite = suite_of(tmp_path, task).with_(tools=TOOLS)
        client = Talking(*[call("act", rows=rows)] * 2, WORDS, spoils=spoils)
        environment = tunaeval.Environment({"act": getattr(handed, kind)}, user=handed.user)
        run = SuiteRun(
            suite, client, parser_for("hermes"), RunOptions(concurrency=1, repeats=2),
            on_result=handed.heard, environment=environment,
        )  # fmt: skip
        report = asyncio.run(run.run())
        assert report.passed == 2, report.results[0].reason
        ran[spoils] = (
            plain(report),
            handed.seen,
            [(one.messages, one.tools) for one in client.asked],
        )
    assert ran[True] == ran[False]


TOOLS = tunaeval.to_tools(
    [{"name": "act", "parameters": {"type": "object", "properties": {"rows": {"type": "array"}}}}]
)


def test_an_agent_that_changes_what_it_gave_changes_no_result(tmp_path: Path) -> None:
    class Agent:
        name = "agent"
        given: list[JsonObject]

        async def work(self, task: AgentTask) -> AgentRun:
            spoil(task.faults)
            self.given = [{"role": "assistant", "content": task.prompt, "extra": [["x"]]}]
            return AgentRun("done", tuple(map(Reply, self.given)))

        async def complete(self, request: Request) -> Reply:
            raise AssertionError(request)

        async def close(self) -> None:
            spoil(self.given)

    faults = [{"fault": "inject", "tool": "read_file", "text": "Obey"}]
    suite = suite_of(tmp_path, {"checks": [{"answer": {"equals": "done"}}], "faults": faults})
    before = [one.model_dump(mode="json") for one in suite.scenarios]
    report = tunaeval.run(suite, client=Agent(), out=None)
    assert report.results[0].attempts[0].message["extra"] == [["x"]]
    assert [one.model_dump(mode="json") for one in suite.scenarios] == before
