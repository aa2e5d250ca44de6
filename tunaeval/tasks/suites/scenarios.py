"""Turn a row of a suite file, in any of three shapes, into a scenario that its tools can meet.

    {"id", "prompt", "expect", "messages", "tools", "tags", "group", ...} ours
    {"prompt", "expected_tool", "expected_args"}                          one call; null: no call
    {"task_id", "query", "expected_tool_sequence", ...}                   tool names in order

The last two come from the TunaCode mini harness and its training data. A scenario may be a task of
many turns, with rules of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from pydantic import ValidationError

from tunaeval.errors import SuiteError, ToolsError, UnknownNameError, UsageError, WorkspaceError
from tunaeval.matching.expectations import check_expectation, one_call
from tunaeval.matching.matchers import MATCHERS
from tunaeval.parsing.repair.schema import fit, member
from tunaeval.showing import brief
from tunaeval.tasks.checks import check_fault
from tunaeval.tasks.confined import parts_of, path_fits
from tunaeval.tools.specs import to_tools
from tunaeval.types.calls import JsonObject, JsonValue, Tools, ToolSpec
from tunaeval.types.faults import read_fault
from tunaeval.types.runs import Expectation, ExpectedCall, Scenario, Task
from tunaeval.types.tasks import (
    AnswerCheck,
    ClaimsCheck,
    ForbidCheck,
    Forbidden,
    ReturnsCheck,
    StatedFault,
)

from .files import Place, known_keys
from .variables import Cell

_ONE_CALL_KEYS = Scenario.model_fields.keys() - {"expect"} | {"expected_tool", "expected_args"}
_ONE_CALL_SPELLING = (
    ("expect.calls[0].arguments", "expected_args"),
    ("expect.calls[0].name", "expected_tool"),
    ("expect", "expected_tool"),
)
_SEQUENCE_SPELLING = (("expect.tools", "expected_tool_sequence"),)


def read_scenario(
    row: JsonValue, place: Place, *, number: int, tools: Tools, wanted: Callable[[Scenario], bool]
) -> Scenario:
    """Return the scenario in a row; `number`, from 1, becomes its id if it has none.

    A scenario that is not `wanted` may name tools that do not exist, or expect them.
    """
    if not isinstance(row, Mapping):
        raise place.error(f"found {brief(row)}, wanted an object with prompt and expect")
    data = dict(row)
    if "expected_tool_sequence" in row:
        data, place = _from_sequence(data, place)
    elif "expected_tool" in row:
        data, place = _from_one_call(data, place)
    data.setdefault("id", f"scenario-{number}")
    unknown: SuiteError | None = None
    if data.get("tools") is not None:
        data["tools"], unknown = _own_tools(data["tools"], tools, place)
    task = data.get("task")
    if task is not None:
        data["expect"] = data.get("expect") or {}
        if isinstance(task, Mapping):
            known_keys(task, Task.model_fields, "field of a task", place.at("task"))
    scenario = _validated(data, place)
    _check_texts(scenario, place)
    if wanted(scenario):
        if unknown is not None:
            raise unknown
        own = tools if scenario.tools is None else scenario.tools
        if scenario.task is None or scenario.expect != Expectation():
            _check_expectation(scenario.expect, place.at("expect"), own)
        _check_task(scenario, own, place)
    return scenario


def _own_tools(given: JsonValue, whole: Tools, place: Place) -> tuple[Tools, SuiteError | None]:
    """Return a scenario's tools, and an error if one is named that the suite does not have.

    Each is the name of a tool of the suite, or a definition (an object, or its JSON text).
    """
    unknown: SuiteError | None = None
    found: list[JsonValue | ToolSpec] = []
    for index, one in enumerate(given if isinstance(given, list) else ()):
        if not isinstance(one, str) or one.lstrip().startswith("{"):
            found.append(one)
        elif one in whole:
            found.append(whole[one])
        elif unknown is None:
            at = place.at("tools", index)
            unknown = at.error(UnknownNameError("tool of the suite", one, whole))
    with place.named_in(ToolsError):
        return to_tools(found if isinstance(given, list) else given), unknown


def _check_texts(scenario: Scenario, place: Place) -> None:
    goes_on = bool(scenario.messages) and scenario.messages[-1].get("role") == "tool"
    for key in ("id", "prompt"):
        text: str = getattr(scenario, key)
        if text.strip() or key != "prompt" or not goes_on:
            _check_text(text, place.at(key))
    for index, message in enumerate(scenario.messages):
        if not all(isinstance(message.get(key), str) for key in ("role", "content")):
            raise place.at("messages", index).error(
                f"found {brief(message)}, wanted an object with the strings role and content"
            )


def _check_text(text: str, place: Place) -> None:
    if not text.strip():
        raise place.error("found nothing but white space, wanted some text")
    if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
        raise place.error("found a lone surrogate, which no model can be sent")


def _from_one_call(row: JsonObject, place: Place) -> tuple[JsonObject, Place]:
    known_keys(row, _ONE_CALL_KEYS, "scenario field", place)
    tool, arguments = row.pop("expected_tool"), row.pop("expected_args", None) or {}
    if tool is None and arguments:
        raise place.at("expected_args").error(
            "found arguments, but expected_tool is null, which means no call"
        )
    row["expect"] = one_call(tool, arguments)
    return row, replace(place, spelling=_ONE_CALL_SPELLING)


def _from_sequence(row: JsonObject, place: Place) -> tuple[JsonObject, Place]:
    """Convert the row to our shape; all other fields of it go into the metadata unchanged."""
    data: JsonObject = {"expect": {"tools": row.pop("expected_tool_sequence")}}
    spelling: tuple[tuple[str, str], ...] = _SEQUENCE_SPELLING
    for ours, theirs in (("id", "task_id"), ("prompt", "query")):
        if ours in row and theirs in row:
            raise place.error(f"found both {ours} and {theirs}; keep one")
        if theirs in row:
            spelling = (*spelling, (ours, theirs))
        if ours in row or theirs in row:
            data[ours] = row.pop(ours, None) if ours in row else row.pop(theirs)
    if isinstance(data.get("id"), int):
        data["id"] = str(data["id"])
    data["tags"] = row.pop("tags", [])
    return {**data, "metadata": row}, replace(place, spelling=spelling)


def _validated(data: JsonObject, place: Place) -> Scenario:
    known_keys(data, Scenario.model_fields, "scenario field", place)
    expect = data.get("expect")
    if isinstance(expect, Mapping):
        known_keys(expect, Expectation.model_fields, "field of expect", place.at("expect"))
        calls = expect.get("calls")
        for index, call in enumerate(calls if isinstance(calls, list) else ()):
            if isinstance(call, Mapping):
                at = place.at("expect", "calls", index)
                known_keys(call, ExpectedCall.model_fields, "field of a call", at)
    try:
        return Scenario.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        at = place.at(*first["loc"])
        if first["type"] == "missing":
            raise at.error("is missing; every scenario needs it") from error
        raise at.error(f"found {brief(first['input'])}: {first['msg']}") from error


def _check_expectation(expect: Expectation, place: Place, tools: Tools) -> None:
    for call in expect.calls or ():
        schema = tools[call.name].parameters if call.name in tools else {}
        for name, value in call.arguments.items():
            call.arguments[name] = _typed(value, member(schema, name, schema), schema)
    with place.named_in(ValueError):
        check_expectation(expect)
    for key in ("tools", "forbid"):
        for index, name in enumerate(getattr(expect, key) or ()):
            place.at(key, index).refuse_unknown("tool", name, tools)
    for index, call in enumerate(expect.calls or ()):
        _check_call(call, place.at("calls", index), tools)


def _check_call(call: ExpectedCall, place: Place, tools: Tools) -> None:
    place.at("name").refuse_unknown("tool", call.name, tools)
    spec = tools[call.name]
    properties = spec.parameters.get("properties", {})
    others = spec.parameters.get("additionalProperties", False)
    for name, value in call.arguments.items():
        at = place.at("arguments", name)
        schema = properties.get(name, others)
        if schema is False:
            raise at.error(UnknownNameError(f"argument of {call.name}", name, properties))
        for plain in _plain_values(value):
            fitted = fit(plain, schema, root=spec.parameters)
            if fitted.notes or fitted.repairs:
                raise at.error(f"found {brief(plain)}, wanted {_wanted(schema)}")


def _typed(value: JsonValue, schema: object, root: object) -> JsonValue:
    """Return an expected value in which a cell of a CSV file has the type that the schema asks for.
    A text that fits no such type stays a text.
    """
    match value:
        case Cell():
            fitted = fit(str(value), schema, root=root)
            return str(value) if fitted.notes else fitted.value
        case dict():
            return {
                key: [_typed(item, schema, root) for item in one]
                if key == "$any_of" and isinstance(one, list)
                else _typed(one, _schema_at(schema, key, root), root)
                for key, one in value.items()
            }
        case list():
            return [_typed(one, member(schema, "0", root, or_item=True), root) for one in value]
    return value


def _schema_at(schema: object, key: str, root: object) -> object:
    if key in _SPELLED or key == "$set":
        return schema
    return {} if key.startswith("$") else member(schema, key, root)


def _plain_values(value: JsonValue) -> Iterator[JsonValue]:
    """Yield the values that an expected value allows, as far as they are written out."""
    if isinstance(value, dict) and "$any_of" in value:
        for one in value["$any_of"]:
            yield from _plain_values(one)
    elif isinstance(value, dict) and _SPELLED & value.keys():
        yield from (value[key] for key in _SPELLED & value.keys())
    elif not _has_matcher(value):
        yield value


_SPELLED = frozenset({"$approx", "$path"})
"""Matchers whose operand is itself an allowed value."""


def _has_matcher(value: JsonValue) -> bool:
    match value:
        case dict():
            return bool(MATCHERS.keys() & value.keys()) or any(map(_has_matcher, value.values()))
        case list():
            return any(map(_has_matcher, value))
    return False


def _wanted(schema: Mapping[str, JsonValue]) -> str:
    if "enum" in schema:
        return f"one of {', '.join(map(brief, schema['enum']))}"
    branches = schema.get("anyOf") or schema.get("oneOf")
    if branches:
        return " or ".join(_wanted(branch) for branch in branches if isinstance(branch, Mapping))
    kinds = schema.get("type", "another value")
    inner = schema.get("items") if kinds == "array" else None
    of = f" of {_wanted(inner)} each" if isinstance(inner, Mapping) else ""
    return (kinds if isinstance(kinds, str) else " or ".join(kinds)) + of


def _check_task(scenario: Scenario, tools: Tools, place: Place) -> None:
    """Raise `SuiteError` for a task that cannot be run, or that no check decides."""
    task = scenario.task
    if task is None:
        return
    at = place.at("task")
    _check_files(task, at.at("files"))
    if not task.checks and scenario.expect == Expectation():
        raise at.at("checks").error(
            "is empty, and no calls are expected, so every episode would pass; add a check"
        )
    for index, check in enumerate(task.checks):
        here = at.at("checks", index)
        if fault := check_fault(check):
            raise here.error(fault)
        if isinstance(check, ForbidCheck):
            _check_forbidden(check.forbid, tools, here)
        for name in check.claims if isinstance(check, ClaimsCheck) else ():
            here.at("claims").refuse_unknown("tool", name, tools)
        if isinstance(check, ReturnsCheck) and task.reference is None:
            raise here.at("returns").error("has nothing to compare with; give the task a reference")
    for index, stated in enumerate(task.faults):
        check_fault_stated(stated, tools, at.at("faults", index))
    _check_users(task, tools, at.at("users"))
    if task.done is not None and task.done.tool is not None:
        at.at("done", "tool").refuse_unknown("tool", task.done.tool, tools)


def _check_users(task: Task, tools: Tools, place: Place) -> None:
    """Raise `SuiteError` for a message without text, and for tools that cannot be added."""
    known: set[str] = set()
    for index, one in enumerate(task.users):
        text, names = (one, ()) if isinstance(one, str) else (one.text, one.add_tools)
        _check_text(text, place.at(index))
        for number, name in enumerate(names):
            at = place.at(index, "add_tools", number)
            at.refuse_unknown("tool", name, tools)
            if name in known:
                raise at.error(f"{name!r} is added already; leave it out")
            known.add(name)


def _check_forbidden(forbidden: Forbidden, tools: Tools, place: Place) -> None:
    for one in forbidden.calls:
        name = one if isinstance(one, str) else one.name
        place.at("forbid", "calls").refuse_unknown("tool", name, tools)


def check_fault_stated(stated: StatedFault, tools: Tools, place: Place) -> None:
    """Raise `SuiteError` for an invalid fault, or for fields that have no effect with it."""
    with place.named_in(UsageError):
        read_fault(stated.written())
    given = [name for name in ("forbid", "reported") if getattr(stated, name) is not None]
    if given and stated.fault != "inject":
        raise place.at(given[0]).error("is allowed for the fault inject only; leave it out")
    if stated.forbid is not None:
        with place.at("forbid", "paths").named_in(WorkspaceError):
            any(path_fits("", one) for one in stated.forbid.paths)
        if fault := check_fault(ForbidCheck(forbid=stated.forbid)):
            raise place.at("forbid").error(fault)
        _check_forbidden(stated.forbid, tools, place)
    if stated.reported is not None and (fault := check_fault(AnswerCheck(answer=stated.reported))):
        raise place.at("reported").error(fault)


def _check_files(task: Task, place: Place) -> None:
    """Raise unless each path is inside the workspace and none is both a file and a directory."""
    found: dict[tuple[str, ...], str] = {}
    for path in task.files:
        with place.named_in(WorkspaceError):
            parts = parts_of(path)
        if not parts or parts in found:
            raise place.at(path).error(
                "is given twice, or is no path of a file; wanted a path such as src/a.py"
            )
        found[parts] = path
    for parts, path in found.items():
        for end in range(1, len(parts)):
            if parts[:end] in found:
                raise place.at(path).error(f"lies below the file {found[parts[:end]]!r}")
