"""Check whether a suite can be passed, and passed by work alone.

Each scenario's own answer is compared with its wish. Of a task with a reference, the reference has
to pass, and no cheat may (see `cheats`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from typing import Literal, NamedTuple, TypeAlias

from tunaeval.matching.answers import NoExampleError, own_answer
from tunaeval.matching.calls import match
from tunaeval.matching.profiles import profile_of
from tunaeval.tasks.grades import grade
from tunaeval.tasks.space import Workspace, file_bytes
from tunaeval.tasks.state import FinalState
from tunaeval.tasks.toolbox import not_run, workspace_tools
from tunaeval.tools.launching import can_hide
from tunaeval.types.calls import Tools
from tunaeval.types.runs import CheckRecord, Episode, Expectation, Scenario, Suite, Task
from tunaeval.types.tasks import Solution
from tunaeval.types.wanted import refusal

from .cheats import READS_THE_PACKAGE, Cheat, cheats

Found: TypeAlias = Literal[
    "fails its own answer", "a cheat passes", "no answer found", "tools that nothing runs",
    "not hidden here",
]  # fmt: skip
_CERTAIN = ("fails its own answer", "a cheat passes")


@dataclass(frozen=True, slots=True)
class Doubt:
    """A reason to doubt a scenario that was found without asking a model."""

    scenario: str
    reason: str
    found: Found = "fails its own answer"

    @property
    def certain(self) -> bool:
        """Whether the scenario has to be changed: no model can pass it, or a cheat can."""
        return self.found in _CERTAIN


class Checked(NamedTuple):
    """A scenario that was checked, whether it has a reference, and how many cheats were tried."""

    doubts: tuple[Doubt, ...]
    references: int = 0
    cheats: int = 0


def check_suite(suite: Suite, *, profile: str | None = None) -> tuple[Doubt, ...]:
    """Return the scenarios that no model can pass under the profile (by default the suite's own),
    the tasks that a cheat passes, and those for which that cannot be decided, in order.

    Examples:
        >>> tunaeval.check_suite(tunaeval.load_suite("smoke"))
        ()
    """
    return tuple(doubt for one in checked(suite, profile=profile) for doubt in one.doubts)


def checked(suite: Suite, *, profile: str | None = None) -> Iterator[Checked]:
    if not isinstance(suite, Suite):
        raise refusal("suite", suite, "a Suite, as tunaeval.load_suite(...) returns it")
    profile_name = profile_of(profile or suite.profile).name
    for scenario in suite.scenarios:
        doubt = _doubt(scenario, suite, profile_name)
        task = scenario.task
        if task is None or task.reference is None or (doubt is not None and doubt.certain):
            yield Checked(() if doubt is None else (doubt,))
            continue
        tools = suite.tools if scenario.tools is None else scenario.tools
        found = _solved(scenario, task, tools, profile_name)
        yield found if doubt is None else found._replace(doubts=(doubt, *found.doubts))


def _solved(scenario: Scenario, task: Task, tools: Tools, profile: str) -> Checked:
    reference = task.reference or Solution()
    hidden = str(files("tunaeval.tasks.suites").joinpath("tasks"))
    right = Cheat("the reference", reference.contents(), reference.answer)
    failed = tried(scenario, right, tools, hidden=hidden, profile=profile)
    if failed is not None:
        words = f"the reference fails: {failed.check}: {failed.reason}"
        return Checked((Doubt(scenario.id, words),), 1)
    doubts: list[Doubt] = []
    every = list(cheats(task, reference, tools, scenario.prompt, hidden))
    for cheat in every:
        if tried(scenario, cheat, tools, hidden=hidden, profile=profile) is not None:
            continue
        found: Found = "a cheat passes"
        if cheat.name == READS_THE_PACKAGE and not can_hide():
            found = "not hidden here"
        doubts.append(Doubt(scenario.id, f"{cheat.name} passes all checks", found))
    return Checked(tuple(doubts), 1, len(every))


def tried(
    scenario: Scenario, cheat: Cheat, tools: Tools, *, hidden: str = "", profile: str | None = None
) -> CheckRecord | None:
    """Return the first check that fails for what a cheat, or the reference, leaves behind."""
    task = scenario.task or Task()
    with Workspace(task.contents(), hidden=hidden) as workspace:
        for path, content in cheat.files.items():
            workspace.confined.write(path, file_bytes(path, content))
        state = FinalState(
            scenario.prompt, cheat.answer, cheat.calls, turns=1,
            call_turns=(1,) * len(cheat.calls), results=tuple((1, one) for one in cheat.results),
            workspace=workspace, after=workspace.snapshot(), tools=tools, profile=profile,
            reference=task.solved(), seed=scenario.id, episode=Episode(scenario),
        )  # fmt: skip
        for check in sorted(task.checks, key=lambda one: hasattr(one, "seconds")):  # processes last
            (record,) = grade([check], state)
            if not record.ok:
                return record
    return None


def _doubt(scenario: Scenario, suite: Suite, profile: str) -> Doubt | None:
    tools = suite.tools if scenario.tools is None else scenario.tools
    if scenario.task is not None:
        run_elsewhere = bool(suite.mcp) or suite.as_written
        return _idle(scenario, scenario.task, Tools() if run_elsewhere else tools)
    try:
        answer = own_answer(scenario.expect, tools)
    except NoExampleError as error:
        return Doubt(scenario.id, str(error), "no answer found")
    verdict = match(scenario.expect, answer, profile=profile, tools=tools)
    return None if verdict.ok else Doubt(scenario.id, verdict.reason)


def _idle(scenario: Scenario, task: Task, tools: Tools) -> Doubt | None:
    """Return a doubt about a task: doing nothing passes, a check itself fails, or no tool runs."""
    with Workspace(task.contents()) as workspace:
        words = not_run(tools, workspace_tools(workspace))
        state = FinalState(
            scenario.prompt, "", turns=1, workspace=workspace, after=workspace.before,
            reference=task.solved(), episode=Episode(scenario),
        )  # fmt: skip
        records = grade(task.checks, state)
    broken = next((one for one in records if one.ok is None), None)
    if broken is not None:
        return Doubt(scenario.id, f"{broken.check}: {broken.reason}")
    if scenario.expect == Expectation() and all(one.ok for one in records):
        return Doubt(scenario.id, "doing nothing and answering nothing passes all checks")
    return Doubt(scenario.id, words, "tools that nothing runs") if words else None
