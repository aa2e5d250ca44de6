"""Check whether a suite can be passed: each scenario's own answer is compared with its wish."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from tunaeval.matching.answers import NoExampleError, own_answer
from tunaeval.matching.calls import match
from tunaeval.matching.profiles import profile_of
from tunaeval.runs.driving import not_run
from tunaeval.runs.grading.grades import FinalState, grade
from tunaeval.tools.workspace.space import Workspace
from tunaeval.tools.workspace.toolbox import workspace_tools
from tunaeval.types.calls import Tools
from tunaeval.types.runs import Expectation, Scenario, Suite, Task
from tunaeval.types.wanted import refusal

Found: TypeAlias = Literal["fails its own answer", "no answer found", "tools that nothing runs"]


@dataclass(frozen=True, slots=True)
class Doubt:
    """A reason to doubt a scenario that was found without asking a model."""

    scenario: str
    reason: str
    found: Found = "fails its own answer"

    @property
    def certain(self) -> bool:
        """Whether no model can pass it."""
        return self.found == "fails its own answer"


def check_suite(suite: Suite, *, profile: str | None = None) -> tuple[Doubt, ...]:
    """Return the scenarios that no model can pass under the profile (by default the suite's own),
    and those for which that cannot be decided, in order.

    Examples:
        >>> tunaeval.check_suite(tunaeval.load_suite("smoke"))
        ()
    """
    if not isinstance(suite, Suite):
        raise refusal("suite", suite, "a Suite, as tunaeval.load_suite(...) returns it")
    profile_name = profile_of(profile or suite.profile).name
    found = (_doubt(one, suite, profile_name) for one in suite.scenarios)
    return tuple(doubt for doubt in found if doubt is not None)


def _doubt(scenario: Scenario, suite: Suite, profile: str) -> Doubt | None:
    tools = suite.tools if scenario.tools is None else scenario.tools
    if scenario.task is not None:
        return _idle(scenario, scenario.task, Tools() if suite.mcp else tools)
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
            scenario.prompt, "", turns=1, workspace=workspace, after=workspace.before
        )
        records = grade(task.checks, state)
    broken = next((one for one in records if one.ok is None), None)
    if broken is not None:
        return Doubt(scenario.id, f"{broken.check}: {broken.reason}")
    if scenario.expect == Expectation() and all(one.ok for one in records):
        return Doubt(scenario.id, "doing nothing and answering nothing passes all checks")
    return Doubt(scenario.id, words, "tools that nothing runs") if words else None
