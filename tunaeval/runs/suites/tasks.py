"""The rules for a scenario that is a task of many turns, beyond the types of its fields."""

from __future__ import annotations

from collections.abc import Mapping

from tunaeval.errors import UnknownNameError, UsageError, WorkspaceError
from tunaeval.runs.grading.checks import check_fault
from tunaeval.tools.workspace.confined import parts_of, path_fits
from tunaeval.types.calls import JsonObject, Tools
from tunaeval.types.faults import read_fault
from tunaeval.types.runs import Expectation, Scenario, Task
from tunaeval.types.tasks import AnswerCheck, ForbidCheck, Forbidden, StatedFault

from .files import Place, known_keys


def prepared(data: JsonObject, place: Place) -> JsonObject:
    """Return the row with an empty `expect` added if it is a task without one."""
    task = data.get("task")
    if task is None:
        return data
    if isinstance(task, Mapping):
        known_keys(task, Task.model_fields, "field of a task", place.at("task"))
    return {**data, "expect": data.get("expect") or {}}


def check_task(scenario: Scenario, tools: Tools, place: Place) -> None:
    """Raise `SuiteError` for a task that cannot be run, or that no check decides."""
    task = scenario.task
    if task is None:
        return
    at = place.at("task")
    _check_files(task, at.at("files"))
    if not task.checks and scenario.expect == Expectation():
        raise at.at("checks").error("is empty, and nothing is expected of the calls; give a check")
    for index, check in enumerate(task.checks):
        here = at.at("checks", index)
        if fault := check_fault(check):
            raise here.error(fault)
        if isinstance(check, ForbidCheck):
            _check_forbidden(check.forbid, tools, here)
    for index, stated in enumerate(task.faults):
        check_fault_stated(stated, tools, at.at("faults", index))
    if task.done is not None and task.done.tool is not None and task.done.tool not in tools:
        raise at.at("done", "tool").error(UnknownNameError("tool", task.done.tool, tools))


def _check_forbidden(forbidden: Forbidden, tools: Tools, place: Place) -> None:
    for one in forbidden.calls:
        name = one if isinstance(one, str) else one.name
        if name not in tools:
            raise place.at("forbid", "calls").error(UnknownNameError("tool", name, tools))


def check_fault_stated(stated: StatedFault, tools: Tools, place: Place) -> None:
    """Raise `SuiteError` for an invalid fault, or for fields that have no effect with it."""
    try:
        read_fault(stated.written())
    except UsageError as error:
        raise place.error(error) from error
    given = [name for name in ("forbid", "reported") if getattr(stated, name) is not None]
    if given and stated.fault != "inject":
        raise place.at(given[0]).error("is of an injection, and of no other fault; leave it out")
    if stated.forbid is not None:
        try:
            any(path_fits("", one) for one in stated.forbid.paths)
        except WorkspaceError as error:
            raise place.at("forbid", "paths").error(error) from error
        if fault := check_fault(ForbidCheck(forbid=stated.forbid)):
            raise place.at("forbid").error(fault)
        _check_forbidden(stated.forbid, tools, place)
    if stated.reported is not None and (fault := check_fault(AnswerCheck(answer=stated.reported))):
        raise place.at("reported").error(fault)


def _check_files(task: Task, place: Place) -> None:
    """Raise unless each path is inside the workspace and none is both a file and a directory."""
    found: dict[tuple[str, ...], str] = {}
    for path in task.files:
        try:
            parts = parts_of(path)
        except WorkspaceError as error:
            raise place.error(error) from error
        if not parts or parts in found:
            raise place.at(path).error("is no file of its own; wanted a path such as src/a.py")
        found[parts] = path
    for parts, path in found.items():
        for end in range(1, len(parts)):
            if parts[:end] in found:
                raise place.at(path).error(f"lies below the file {found[parts[:end]]!r}")
