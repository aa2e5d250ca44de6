"""Harnesses: what runs a suite. Ours is `tunaeval`; a plug-in's may leave scheduling to others.

A harness is made by a class or a function, which is called with those of the parameters in
`PARAMETERS` that it names. What the caller gives and it does not name is refused, except `out`:
then the report that it returns is stored.
"""

from __future__ import annotations

import inspect
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, cast

from tunaeval.errors import PluginError, TunaevalError, UsageError
from tunaeval.files.keys import of_environment
from tunaeval.registry import Registry, who, words_with_place
from tunaeval.reports.replies import keep_tools
from tunaeval.showing import brief
from tunaeval.types.roles import Client, Harness, Parser
from tunaeval.types.runs import Report, Suite
from tunaeval.types.shapes import instance_of, maker_of
from tunaeval.types.wanted import wanted_path

from .directory import RunDirectory, without_secrets

PARAMETERS = (
    "options", "out", "resume", "retry_failures", "take_over", "environment", "on_result", "budget",
)  # fmt: skip
"""The parameters that a harness may name."""

OURS = "tunaeval"
_KIND = "harness"
_no_harness, _no_maker = instance_of(Harness), maker_of(Harness)

harnesses: Registry[Any] = Registry(
    "tunaeval.harnesses",
    _KIND,
    builtins={OURS: "tunaeval.runs.runner:AsyncHarness"},
    check=_no_maker,
)


def made_harness(
    harness: object, values: Mapping[str, object], given: Collection[str], **ours: object
) -> Harness:
    """Return a harness: made by a name, a class or a function, or one that is made already.

    `values` are the values of `PARAMETERS`, and `given` those of them that the caller gives; `ours`
    are further ones that only our own harness takes. Raises UsageError for parameters that it does
    not take, PluginError if it cannot be made.
    """
    given = {*given} - {"out"}
    if not isinstance(harness, str | type) and _no_harness(harness) is None:
        _refuse(given, harness, None)
        return cast("Harness", harness)
    name = harness if isinstance(harness, str) else None
    maker: Any = harnesses.get(harness) if isinstance(harness, str) else harness
    if fault := _no_maker(maker):
        raise UsageError(f"harness is {brief(harness)}; {fault}")
    takes = takes_of(maker)
    _refuse(given - takes, maker, name)
    wanted = {one: value for one, value in values.items() if one in takes}
    try:
        made = maker(**wanted, **(ours if harness == OURS else {}))
    except TunaevalError:
        raise
    except (Exception, SystemExit) as error:
        this = who(maker, _KIND, name)
        raise PluginError(f"{this} cannot be made: {words_with_place(error)}") from error
    if fault := _no_harness(made):
        raise PluginError(f"{who(maker, _KIND, name)} made something that is no harness: {fault}")
    return cast("Harness", made)


def name_of(harness: object) -> str:
    """Return the name by which a harness is kept in `run.json`."""
    name = harness if isinstance(harness, str) else getattr(harness, "name", None)
    return name if isinstance(name, str) else getattr(harness, "__name__", type(harness).__name__)


def takes_of(maker: object) -> frozenset[str]:
    """Return those of `PARAMETERS` that a maker names; none for what is made already."""
    if isinstance(maker, str):
        maker = harnesses.get(maker)
    elif not isinstance(maker, type) and _no_harness(maker) is None:
        return frozenset()
    try:
        parameters = inspect.signature(cast("Any", maker)).parameters.values()
    except (TypeError, ValueError):  # written in C, without a signature
        return frozenset()
    if any(one.kind is one.VAR_KEYWORD for one in parameters):
        return frozenset(PARAMETERS)
    return frozenset(one.name for one in parameters).intersection(PARAMETERS)


def _refuse(given: Collection[str], harness: object, name: str | None) -> None:
    if given:
        what = " and no ".join(sorted(given))
        raise UsageError(
            f"{who(harness, _KIND, name)} takes no {what}; leave it out, or use another harness"
        )


async def run_by(
    harness: Harness, suite: Suite, client: Client, parser: Parser, *,
    name: str, out: Path | str | None,
) -> Report:  # fmt: skip
    """Run a suite by a harness and return its report; store it below `out`, if that is given.

    Raises PluginError for an exception, or for what is no report.
    """
    try:
        report: object = await harness.run(suite, client, parser)
    except TunaevalError:
        raise
    except (Exception, SystemExit) as error:
        why = f"raised {words_with_place(error)}; wanted a Report"
        raise PluginError(f"{who(harness, _KIND, name)} {why}") from error
    if not isinstance(report, Report):
        why = f"returned {brief(report)}; wanted a Report"
        raise PluginError(f"{who(harness, _KIND, name)} {why}")
    report = report.model_copy(update={"run": report.run.model_copy(update={"harness": name})})
    return report if out is None else _stored(report, suite, wanted_path(out, "out"))


def _stored(report: Report, suite: Suite, out: Path) -> Report:
    """Store a report as a run below `out`, and return it with its directory."""
    directory, secrets = out / report.run.run_id, of_environment()
    files = RunDirectory(directory, report.run)
    keep_tools(directory, suite)
    try:
        for result in report.results:
            files.append(without_secrets(result, secrets))
    finally:
        info = files.close(report.run)
    return report.model_copy(update={"run": info, "directory": str(directory)})
