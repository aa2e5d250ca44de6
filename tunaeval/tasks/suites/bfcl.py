"""Turn the data of the Berkeley Function Calling Leaderboard (BFCL) into scenarios.

A directory has `BFCL_v4_CATEGORY.json`, with one JSON object a line: `id`, `question` (turns of
messages) and `function` (schemas with BFCL's own type names). Beside it, `possible_answer/` has
files of the same names. The directory is given, or that of the installed package `bfcl-eval`, which
needs a hundred others: only its classes are imported (see `bfcl_classes`). Instead of `function` an
entry of many turns has the classes whose functions `multi_turn_func_doc/` describes, their
`initial_config`, and by turn the functions that are missing until then. Until August 2024 files
were called `gorilla_openfunctions_v1_test_CATEGORY.json`, a question was a string, a single
function was not in a list, and the answer was one object whose keys had numbers if a function was
called twice: `{"spotify.play_1": {...}, "spotify.play_2": {...}}`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeAlias

from tunaeval.errors import SuiteError, ToolsError, UnknownNameError
from tunaeval.files.plain_files import entries, is_directory, table_of
from tunaeval.matching.bfcl import wanted_arguments
from tunaeval.showing import brief
from tunaeval.tools.specs import to_tools
from tunaeval.types.calls import JsonObject, JsonValue, Tools
from tunaeval.types.runs import Expectation, Scenario, Task
from tunaeval.types.tasks import Limits, PythonCheck, UserMessage

from .bfcl_classes import BFCL_TASK, CHECK, CLASS_FILES, NEEDED, check_installed
from .files import Place, json_lines, read_text

BFCL_PREFIX = "bfcl:"

_DATA = table_of(__package__, "bfcl.toml")
BFCL_CATEGORIES: Mapping[str, JsonObject] = _DATA["categories"]
"""The single-turn categories for Python, and the part of their expectations beside the calls."""
BFCL_MULTI_TURN: Mapping[str, Any] = _DATA["multi_turn"]
"""The `categories` of many turns for Python, the cap of `steps`, and BFCL's words for `added`
functions.
"""
BFCL_DEFECTS: Mapping[str, str] = _DATA["defects"]
"""Entries whose own answer BFCL's checker rejects, and why."""
DEFECTIVE = "defective-gold"
"""The tag of scenarios made from these defective entries."""

_JUDGED = (*BFCL_CATEGORIES, *BFCL_MULTI_TURN["categories"])
_FILES: Mapping[str, list[str]] = _DATA["files"]
_TYPES: dict[str, str] = _DATA["types"]
_CATEGORIES = {name: category for category, names in _FILES.items() for name in names}
BFCL_FILE = re.compile(r"(?:BFCL_v(\d+)|gorilla_openfunctions_v1_test)_(\w+)\.json")
"""Matches the name of a file: its version, if it has one, and the file's name of its category."""


def category_of(name: str) -> str | None:
    """Return the category for a file's name of it, or None if tunaeval does not judge it."""
    category = _CATEGORIES.get(name, name)
    return category if category in _JUDGED else None


def has_many_turns(category: str) -> bool:
    return category in BFCL_MULTI_TURN["categories"]


def read_bfcl(
    category: str,
    folder: str | Path | None = None,
    *,
    dots: bool = False,
    unusable: dict[str, str] | None = None,
) -> tuple[Scenario, ...]:
    """Return the scenarios of a category. Raises `SuiteError` with file and line.

    Dots in function names become `_`, as BFCL itself does for servers that forbid dots, unless
    `dots` is true. An entry that cannot be a scenario is left out, with its id and the reason in
    `unusable`, if that is given: the files of 2024 have two whose answers name no function.
    """
    category = _DATA["aliases"].get(category, category)
    if category not in _JUDGED:
        raise SuiteError(str(UnknownNameError("BFCL category", category, _JUDGED)))
    if has_many_turns(category):
        check_installed()
    path = bfcl_file(category, folder)
    template = BFCL_CATEGORIES.get(category)
    answers: dict[str, JsonObject] = {}
    if template is None or "match" in template:
        answers = {row["id"]: row for _, row in _rows(path.parent / "possible_answer" / path.name)}
    called: _Called = str if dots else lambda name: name.replace(".", "_")
    functions = cache(partial(_class_functions, path.parent))
    scenarios = []
    for place, row in _rows(path):
        answer = answers.get(row["id"])
        try:
            scenarios.append(
                _task_scenario(row, place, functions, category=category, answer=answer)
                if template is None
                else _scenario(row, place, called, category=category, answer=answer)
            )
        except SuiteError as error:
            if unusable is None:
                raise
            unusable[row["id"]] = str(error)
    return tuple(scenarios)


_Called: TypeAlias = Callable[[str], str]
"""Maps a function's name in the file to the name that the model sees."""
_Functions: TypeAlias = Callable[[tuple[str, ...]], Tools]
"""Maps the names of classes to the tools that they have."""


def bfcl_file(category: str, folder: str | Path | None = None) -> Path:
    """Return the newest version of a category's file. Raises `SuiteError` if there is none."""
    place = bfcl_directory(folder)
    names = _FILES.get(category, [category])
    found = {
        (bfcl_version(match), path)
        for path in entries(place, "*.json")
        if (match := BFCL_FILE.fullmatch(path.name)) and match[2] in names
    }
    if not found:
        needed = f"; {NEEDED}" if has_many_turns(category) else ""
        raise SuiteError(f"{place}: there is no BFCL_v4_{names[0]}.json in this directory{needed}")
    return max(found)[1]


def bfcl_version(match: re.Match[str]) -> int:
    """Return the version in a file's name; files from before versions count as version 1."""
    return int(match[1] or 1)


def bfcl_directory(folder: str | Path | None) -> Path:
    """Return the given directory, or that of the package. Raises `SuiteError` without one."""
    if folder is not None:
        return Path(folder)
    spec = find_spec("bfcl_eval")
    places = spec.submodule_search_locations if spec is not None else None
    if not places:
        raise SuiteError(
            "BFCL's data are not here; give their directory (--bfcl DIR), or run "
            "pip install --no-deps bfcl-eval"
        )
    return Path(next(iter(places))) / "data"


def _rows(path: Path) -> Iterator[tuple[Place, JsonObject]]:
    place = Place(path.name)
    for at, row in json_lines(read_text(path, place), place):
        if not isinstance(row, dict) or not isinstance(row.get("id"), str):
            raise at.error(f"found {brief(row)}, wanted an object with an id")
        yield at, row


def _scenario(
    row: JsonObject, place: Place, called: _Called, *, category: str, answer: JsonObject | None
) -> Scenario:
    tools = _tools(row.get("function"), place.at("function"), called)
    *before, last = _messages(row.get("question"), place.at("question"))
    template = BFCL_CATEGORIES[category]
    if "match" in template:
        if answer is None:
            raise place.error(f"there is no possible answer for {row['id']!r}")
        template = {**template, "calls": _calls(answer, place.at("possible_answer"), tools, called)}
    return Scenario(
        id=row["id"],
        prompt=last["content"],
        messages=tuple(before),
        tools=tools,
        expect=Expectation.model_validate(template),
        tags=(category, DEFECTIVE) if row["id"] in BFCL_DEFECTS else (category,),
        notes=BFCL_DEFECTS.get(row["id"], ""),
    )


_DOCUMENTS = "multi_turn_func_doc"


def _class_functions(folder: Path, classes: tuple[str, ...]) -> Tools:
    """Return the tools of these classes, in order, as described beside the data or in the package.

    Raises `SuiteError`.
    """
    data, rows = folder if is_directory(folder / _DOCUMENTS) else None, list[JsonValue]()
    for name in classes:
        file = f"{_DOCUMENTS}/{CLASS_FILES[name]}.json"
        text = read_text(bfcl_directory(data) / file, Place(file))
        rows += [row for _, row in json_lines(text, Place(file))]
    return _tools(rows, Place(_DOCUMENTS), str)


def _task_scenario(
    row: JsonObject, place: Place, functions: _Functions, *, category: str, answer: JsonValue
) -> Scenario:
    """Return an entry of many turns; its classes, their state and the wanted calls are metadata."""
    gold = answer and answer.get("ground_truth")
    classes, turns = row.get("involved_classes"), row.get("question")
    state, missing = row.get("initial_config", {}), row.get("missed_function", {})
    if not isinstance(classes, list) or not classes:
        raise place.at("involved_classes").error(f"found {brief(classes)}, wanted names of classes")
    if not isinstance(state, dict) or not isinstance(missing, dict):
        raise place.error(f"found {brief(state)} and {brief(missing)}, wanted two objects")
    for name in classes:
        place.at("involved_classes").refuse_unknown("class of BFCL", name, CLASS_FILES)
    if not (isinstance(turns, list) and isinstance(gold, list) and 0 < len(gold) == len(turns)):
        raise place.at("question").error(
            f"found {brief(turns)} and the wanted calls {brief(gold)}; wanted a list of turns each"
        )
    tools = functions(tuple(classes))
    users: list[UserMessage] = []
    for at, turn in enumerate(turns):
        if names := missing.get(str(at)):
            for name in names:
                place.at("missed_function", at).refuse_unknown("function", name, tools)
            users.append(UserMessage(text=BFCL_MULTI_TURN["added"], add_tools=tuple(names)))
        else:
            *_, message = _messages([turn], place.at("question", at))
            users.append(UserMessage(text=message["content"]))
    first, *others = users
    steps = BFCL_MULTI_TURN["steps"]
    task = Task(
        users=tuple(one if one.add_tools else one.text for one in others),
        limits=Limits(turns=(steps + 1) * len(turns), steps=steps),
        checks=(PythonCheck(python=CHECK),),
    )
    known = {"classes": classes, "state": state, "ground_truth": gold}
    return Scenario(
        id=row["id"],
        prompt=first.text,
        tools=tools,
        expect=Expectation(),
        task=task,
        tags=(category,),
        metadata={BFCL_TASK: {**known, "long_context": "long_context" in category}},
    )


def _messages(turns: JsonValue, place: Place) -> list[JsonObject]:
    if isinstance(turns, str):
        return [{"role": "user", "content": turns}]
    if isinstance(turns, list) and turns and isinstance(turns[0], dict):
        turns = [turns]  # version 2 has a single turn, not in a list
    if not isinstance(turns, list) or len(turns) != 1:
        raise place.error(f"found {brief(turns)}, wanted a list of one turn")
    messages = turns[0]
    sound = isinstance(messages, list) and all(
        isinstance(one, dict) and isinstance(one.get("content"), str) for one in messages
    )
    if not sound or not messages or messages[-1].get("role") != "user":
        raise place.error(f"found {brief(messages)}, wanted messages that end with the user's")
    return [{"role": one["role"], "content": one["content"]} for one in messages]


def _tools(functions: JsonValue, place: Place, called: _Called) -> Tools:
    if isinstance(functions, dict):
        functions = [functions]
    if not isinstance(functions, list):
        raise place.error(f"found {brief(functions)}, wanted a list of functions")
    try:
        return to_tools(
            {
                "name": called(function["name"]),
                "description": function.get("description", ""),
                "parameters": _schema(function["parameters"], place.at(index, "parameters")),
            }
            for index, function in enumerate(functions)
        )
    except (ToolsError, KeyError, AttributeError, TypeError) as error:
        raise place.error(f"a function cannot be understood: {error!r}") from error


def _schema(schema: JsonObject, place: Place) -> JsonObject:
    kind: JsonValue = schema.get("type")
    place.at("type").refuse_unknown("BFCL type", kind, _TYPES)
    converted = {key: value for key, value in schema.items() if key != "optional"}
    converted["type"] = _TYPES[kind]
    if "properties" in schema:
        converted["properties"] = {
            name: _schema(inner, place.at("properties", name))
            for name, inner in schema["properties"].items()
        }
    if "items" in schema:
        converted["items"] = _schema(schema["items"], place.at("items"))
    return converted


def _calls(answer: JsonObject, place: Place, tools: Tools, called: _Called) -> list[JsonObject]:
    calls: list[JsonObject] = []
    truth = answer.get("ground_truth")
    if isinstance(truth, dict):
        # In the data of 2024, `spotify.play_1` is the first call of `spotify.play`.
        names = {one: one if called(one) in tools else _NUMBERED.sub("", one) for one in truth}
        truth = [{names[one]: gold} for one, gold in truth.items()]
    for index, one in enumerate(truth if isinstance(truth, list) else ()):
        at = place.at("ground_truth", index)
        if not isinstance(one, dict) or len(one) != 1:
            raise at.error(f"found {brief(one)}, wanted an object with one function")
        ((name, gold),) = one.items()
        name = called(name)
        at.refuse_unknown("function", name, tools)
        if not isinstance(gold, dict) or not all(isinstance(v, list) for v in gold.values()):
            raise at.error(f"found {brief(gold)}, wanted a list of alternatives for each argument")
        calls.append({"name": name, "arguments": wanted_arguments(gold)})
    if not calls:
        raise place.at("ground_truth").error(f"found {brief(truth)}, wanted a list of calls")
    return calls


_NUMBERED = re.compile(r"[_ ]\d+$")
