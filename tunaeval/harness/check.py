"""Whether a suite can be passed at all: each scenario's own answer, held against its wish."""

from __future__ import annotations

from dataclasses import dataclass

from tunaeval.matching import NoExampleError, match, own_answer
from tunaeval.types.runs import Scenario, Suite


@dataclass(frozen=True, slots=True)
class Doubt:
    """A scenario that its own answer fails; or, not `certain`, one that no answer was found for."""

    scenario: str
    reason: str
    certain: bool = True


def check_suite(suite: Suite, *, profile: str = "tunacode") -> tuple[Doubt, ...]:
    """The scenarios that nobody can pass under the profile, in order; none if all is well."""
    found = (_doubt(one, suite, profile) for one in suite.scenarios)
    return tuple(doubt for doubt in found if doubt is not None)


def _doubt(scenario: Scenario, suite: Suite, profile: str) -> Doubt | None:
    tools = suite.tools if scenario.tools is None else scenario.tools
    try:
        answer = own_answer(scenario.expect, tools)
    except NoExampleError as error:
        return Doubt(scenario.id, str(error), certain=False)
    verdict = match(scenario.expect, answer, profile=profile, tools=tools)
    return None if verdict.ok else Doubt(scenario.id, verdict.reason)
