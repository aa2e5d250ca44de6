"""Combine a suite of tasks with faults: each task once with each list of faults."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

from pydantic import TypeAdapter, ValidationError

from tunaeval.errors import SuiteError, UnknownNameError, UsageError
from tunaeval.files.plain_files import is_there
from tunaeval.types.runs import Suite, Task
from tunaeval.types.tasks import StatedFault
from tunaeval.types.wanted import refusal

from . import FAULTS
from .files import Place, read_json, read_text
from .loading import packaged
from .scenarios import check_fault_stated

FaultAxis: TypeAlias = Mapping[str, Sequence[Mapping[str, Any]]]
"""Lists of faults as a task states them, by name; an empty list means that nothing goes wrong."""

_AXIS: TypeAdapter[dict[str, tuple[StatedFault, ...]]] = TypeAdapter(
    dict[str, tuple[StatedFault, ...]]
)
_WANTED = '{"late": [{"fault": "delay", "of": "result", "seconds": 2}], "none": []}'


def with_faults(suite: Suite, faults: FaultAxis | str | PathLike[str]) -> Suite:
    """Return the suite with each of its tasks once for each list of faults.

        suite = tunaeval.runs.with_faults(tunaeval.load_suite("repair-tasks"), "model")

    `faults` are lists of faults by name, a JSON file of them, or the name of built-in ones: "model"
    for models whose tools are run here, "agent" for whole agents at an endpoint. New ids are
    `TASK+NAME`, the tag is `fault:NAME`, and each original task is one group. Raises SuiteError for
    a suite with single questions, and UsageError, with the place, for an invalid fault.
    """
    axis, place = _read_axis(faults)
    plain = [one.id for one in suite.scenarios if one.task is None]
    if plain:
        raise SuiteError(
            f"{suite.name}: {plain[0]!r} is a single question, and faults occur in tasks only; "
            "leave it out (--exclude), or use a suite of tasks"
        )
    scenarios = []
    for one in suite.scenarios:
        tools = suite.tools if one.tools is None else one.tools
        task = one.task or Task()
        for name, faults_of in axis.items():
            for index, stated in enumerate(faults_of):
                check_fault_stated(stated, tools, place.at(name, index))
            update = {
                "id": f"{one.id}+{name}",
                "task": task.model_copy(update={"faults": (*task.faults, *faults_of)}),
                "tags": (*one.tags, f"fault:{name}"),
                "group": one.group or one.id,
            }
            scenarios.append(one.model_copy(update=update))
    return suite.with_(name=f"{suite.name}+faults", scenarios=tuple(scenarios))


def _read_axis(
    faults: FaultAxis | str | PathLike[str],
) -> tuple[dict[str, tuple[StatedFault, ...]], Place]:
    written, place = _stated_faults(faults)
    try:
        axis = _AXIS.validate_python(written)
    except ValidationError as error:
        first = error.errors()[0]
        at = place.at(*first["loc"])
        raise at.error(f"found {first['input']!r:.80}: {first['msg']}; wanted {_WANTED}") from error
    if not axis:
        raise refusal("faults", written, f"lists of faults by name, as {_WANTED}")
    return axis, place


def _stated_faults(faults: FaultAxis | str | PathLike[str]) -> tuple[object, Place]:
    if isinstance(faults, Mapping):
        return faults, Place("faults")
    if not isinstance(faults, str | PathLike):
        raise refusal("faults", faults, f"a name ({', '.join(FAULTS)}), a file, or {_WANTED}")
    if isinstance(faults, str) and faults in FAULTS:
        file = FAULTS[faults].file
        place = Place(file)
        return read_json(read_text(packaged(file), place), place), place
    path = Path(faults)
    if not path.suffix and not is_there(path):
        unknown = UnknownNameError("built-in list of faults", str(faults), FAULTS)
        raise UsageError(f"{unknown}; the name of a file of your own must end in .json")
    place = Place(str(path))
    return read_json(read_text(path, place), place), place
