"""A part of a suite: the scenarios of these ids, with these tags, or that fit these patterns."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from fnmatch import fnmatchcase

from tunaeval.errors import SuiteError, UnknownNameError
from tunaeval.showing import counted
from tunaeval.types.runs import PackedScenarios, Scenario, Suite

from .loading import suite_digest


def chosen(
    suite: Suite,
    *,
    ids: Sequence[str] = (),
    tags: Sequence[str] = (),
    patterns: Sequence[str] = (),
) -> Suite:
    """The scenarios that have one of the ids, one of the tags, and fit one of the patterns.

    What is empty asks for nothing. A pattern is a part of an id or of the prompt, in upper or lower
    case; with `*`, `?` or `[` it is all of an id. The digest is that of the same scenarios, however
    they were chosen. Raises `SuiteError` for an id or tag that there is not, and where none fits.
    """
    if not (ids or tags or patterns):
        return suite
    _known("scenario", ids, [one.id for one in suite.scenarios], suite)
    _known("tag", tags, {tag for one in suite.scenarios for tag in one.tags}, suite)
    asked = [
        fits
        for names, fits in (
            (ids, lambda one: one.id in ids),
            (tags, lambda one: not set(tags).isdisjoint(one.tags)),
            (patterns, _fitting(patterns)),
        )
        if names
    ]
    left = PackedScenarios(one for one in suite.scenarios if all(fits(one) for fits in asked))
    if not left:
        words = ", ".join(map(repr, (*ids, *tags, *patterns)))
        raise SuiteError(
            f"{suite.name}: none of {counted(len(suite.scenarios), 'scenario')} fits all that "
            f"was asked for ({words}); `tunaeval suites {suite.name}` lists them with their tags"
        )
    if len(left) == len(suite.scenarios):
        return suite
    digest = suite_digest(left, suite.tools, suite.system_prompt)
    return suite.model_copy(update={"scenarios": left, "digest": digest})


def _known(kind: str, names: Sequence[str], known: Collection[str], suite: Suite) -> None:
    for name in names:
        if name not in known:
            raise SuiteError(f"{suite.name}: {UnknownNameError(kind, name, known)}")


def _fitting(patterns: Sequence[str]) -> Callable[[Scenario], bool]:
    lowered = [pattern.lower() for pattern in patterns]

    def fits(scenario: Scenario) -> bool:
        name, prompt = scenario.id.lower(), scenario.prompt.lower()
        return any(
            fnmatchcase(name, one) if set("*?[") & set(one) else one in name or one in prompt
            for one in lowered
        )

    return fits
