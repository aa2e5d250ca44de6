"""Whether a suite can be passed at all: each scenario's own answer, held against its wish."""

from __future__ import annotations

from dataclasses import dataclass

from tunaeval.grading import FinalState, grade
from tunaeval.matching import NoExampleError, match, own_answer, profile_of
from tunaeval.types.runs import Expectation, Scenario, Suite, Task
from tunaeval.wanted import refusal
from tunaeval.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Doubt:
    """A scenario that its own answer fails; or, not `certain`, one that no answer was found for."""

    scenario: str
    reason: str
    certain: bool = True


def check_suite(suite: Suite, *, profile: str | None = None) -> tuple[Doubt, ...]:
    """The scenarios that nobody can pass under the profile (the suite's own, where none is named),
    in order; none if all is well.
    """
    if not isinstance(suite, Suite):
        raise refusal("suite", suite, "a Suite, as tunaeval.load_suite(...) returns it")
    named = profile_of(profile or suite.profile).name
    found = (_doubt(one, suite, named) for one in suite.scenarios)
    return tuple(doubt for doubt in found if doubt is not None)


def _doubt(scenario: Scenario, suite: Suite, profile: str) -> Doubt | None:
    tools = suite.tools if scenario.tools is None else scenario.tools
    if scenario.task is not None:
        return _idle(scenario, scenario.task)
    try:
        answer = own_answer(scenario.expect, tools)
    except NoExampleError as error:
        return Doubt(scenario.id, str(error), certain=False)
    verdict = match(scenario.expect, answer, profile=profile, tools=tools)
    return None if verdict.ok else Doubt(scenario.id, verdict.reason)


def _idle(scenario: Scenario, task: Task) -> Doubt | None:
    """A task that is done when nothing is done, or whose checks fail themselves."""
    with Workspace(task.contents()) as workspace:
        state = FinalState(
            scenario.prompt, "", turns=1, workspace=workspace, after=workspace.before
        )
        records = grade(task.checks, state)
    broken = next((one for one in records if one.ok is None), None)
    if broken is not None:
        return Doubt(scenario.id, f"{broken.check}: {broken.reason}")
    if scenario.expect == Expectation() and all(one.ok for one in records):
        return Doubt(scenario.id, "doing nothing and answering nothing passes all checks")
    return None
