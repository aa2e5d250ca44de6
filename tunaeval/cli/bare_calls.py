"""A warning on scenarios that expect a tool without the arguments that it requires."""

from __future__ import annotations

from collections.abc import Iterator

from tunaeval.types.runs import Scenario, Suite

_SHOWN = 3
_CHECKED = {
    "strict": "by the profile 'strict' such a call passes only without any argument; give "
    'expected_args, or "expect": {"tools": [NAME]} where any arguments will do',
    "tunacode": "by the profile 'tunacode' such a call passes with any arguments; give "
    "expected_args if they matter",
}


def expected_bare(suite: Suite, profile: str) -> str | None:
    """Return a warning on scenarios that expect a tool without required arguments, or None."""
    if profile not in _CHECKED:
        return None
    names = [one.id for one in suite.scenarios if any(_bare(one, suite))]
    if not names:
        return None
    several = "scenarios expect" if len(names) > 1 else "scenario expects"
    listed = ", ".join(names[:_SHOWN]) + ", ..." * (len(names) > _SHOWN)
    return f"{len(names)} {several} a tool without arguments ({listed}): {_CHECKED[profile]}"


def _bare(scenario: Scenario, suite: Suite) -> Iterator[bool]:
    """Yield for each expected call whether it has no arguments although its tool requires some."""
    tools = suite.tools if scenario.tools is None else scenario.tools
    for call in scenario.expect.calls or ():
        spec = None if call.arguments else tools.get(call.name)
        yield spec is not None and bool(spec.parameters.get("required"))
