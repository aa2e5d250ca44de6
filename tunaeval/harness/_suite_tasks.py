"""What a scenario that is a task of many turns has to keep to, beyond the types of its fields."""

from __future__ import annotations

from collections.abc import Mapping

from tunaeval.errors import UnknownNameError, WorkspaceError
from tunaeval.grading import check_fault
from tunaeval.types import JsonObject, Tools
from tunaeval.types.runs import Expectation, Scenario, Task
from tunaeval.types.tasks import ForbidCheck
from tunaeval.workspace import parts_of

from ._suite_files import Place, known_keys


def prepared(data: JsonObject, place: Place) -> JsonObject:
    """The fields of a row that holds a task: what it expects of the calls may be left out."""
    task = data.get("task")
    if task is None:
        return data
    if isinstance(task, Mapping):
        known_keys(task, Task.model_fields, "field of a task", place.at("task"))
    return {**data, "expect": data.get("expect") or {}}


def check_task(scenario: Scenario, tools: Tools, place: Place) -> None:
    """Raise `SuiteError` for a task that could not be run, or that nothing decides."""
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
        for one in check.forbid.calls if isinstance(check, ForbidCheck) else ():
            name = one if isinstance(one, str) else one.name
            if name not in tools:
                raise here.at("forbid", "calls").error(UnknownNameError("tool", name, tools))
    if task.done is not None and task.done.tool is not None and task.done.tool not in tools:
        raise at.at("done", "tool").error(UnknownNameError("tool", task.done.tool, tools))


def _check_files(task: Task, place: Place) -> None:
    """Each path lies inside, and none is a file and a directory."""
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
