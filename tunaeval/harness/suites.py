"""How a built-in name or a path becomes a `Suite`; what is wrong with it is said with its place."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from tunaeval.errors import SuiteError, ToolsError, UnknownNameError
from tunaeval.suites import CATALOGUES, DEFAULT_CATALOGUE, DEFAULT_PROMPT, SUITES
from tunaeval.tools import ToolLike, to_tools
from tunaeval.types import JsonObject, JsonValue, Tools, ToolSpec
from tunaeval.types.runs import Scenario, Suite

from ._suite_bfcl import BFCL_PREFIX, DEFECTIVE, read_bfcl
from ._suite_files import Place, SuiteFile, inside, read_json, read_suite_file, read_text, shown
from ._suite_scenarios import read_scenario

_EXCLUDES = (("catalogue", "tools"), ("system_prompt", "system_prompt_file"))


def suite_names() -> tuple[str, ...]:
    """The names of the built-in suites."""
    return tuple(SUITES)


def about_suites() -> dict[str, str]:
    """One line on each built-in suite."""
    return {name: entry.about for name, entry in SUITES.items()}


def catalogue_names() -> tuple[str, ...]:
    """The names of the built-in tool catalogues."""
    return tuple(CATALOGUES)


def load_catalogue(name: str) -> Tools:
    """A built-in tool catalogue. Raises `UnknownNameError`."""
    if name not in CATALOGUES:
        raise UnknownNameError("tool catalogue", name, CATALOGUES)
    place = Place(CATALOGUES[name].file)
    data = read_json(read_text(_house().joinpath(*place.file.split("/")), place), place)
    return _with_paths(to_tools(data["tools"]), data["paths"], place)


def load_suite(
    name_or_path: str | Path,
    *,
    tools: Tools | Iterable[ToolLike] | None = None,
    bfcl: str | Path | None = None,
) -> Suite:
    """The built-in suite of that name, or the suite in that .json, .jsonl, .yaml or .yml file.

    `bfcl:CATEGORY` is a category of the Berkeley Function Calling Leaderboard, from its data in
    the directory `bfcl`, or in the installed package `bfcl-eval`, which is not imported.
    `tools` stand in for those that the suite names. Raises `SuiteError` for a file that cannot be
    used, with file, line or index, and field, and for a name that is not built in.
    """
    try:
        if isinstance(name_or_path, str) and name_or_path.startswith(BFCL_PREFIX):
            return _bfcl_suite(name_or_path, bfcl)
        return _suite(_find(name_or_path), to_tools(tools))
    except RecursionError as error:
        raise SuiteError(f"{name_or_path}: is nested too deeply to be read") from error


def without(suite: Suite, names: Iterable[str]) -> Suite:
    """The suite but for the scenarios that have one of the names as their id or as a tag.

    A name that meets no scenario, and a suite of which nothing is left, raise `SuiteError`; only
    the tag of BFCL's defective entries may meet none, because most of its categories have none.
    """
    unwanted = frozenset(names)
    known = {name for one in suite.scenarios for name in (one.id, *one.tags)}
    if suite.name.startswith(BFCL_PREFIX):
        known.add(DEFECTIVE)
    for name in sorted(unwanted - known):
        raise SuiteError(f"{suite.name}: {UnknownNameError('scenario or tag', name, known)}")
    left = tuple(one for one in suite.scenarios if not unwanted & {one.id, *one.tags})
    if not left:
        raise SuiteError(f"{suite.name}: nothing is left of it without {sorted(unwanted)}")
    digest = suite_digest(left, suite.tools, suite.system_prompt)
    return suite.model_copy(update={"scenarios": left, "digest": digest})


def _bfcl_suite(name: str, folder: str | Path | None) -> Suite:
    """Its questions come with all that is said to the model: tools, and now and then a system."""
    scenarios = read_bfcl(name.removeprefix(BFCL_PREFIX), folder)
    digest = suite_digest(scenarios, Tools(), "")
    return Suite(name=name, scenarios=scenarios, tools=Tools(), system_prompt="", digest=digest)


def _find(name_or_path: str | Path) -> SuiteFile:
    if isinstance(name_or_path, str) and name_or_path in SUITES:
        file = SUITES[name_or_path].file
        return read_suite_file(_house().joinpath(file), _house(), file)
    path = Path(name_or_path)
    if isinstance(name_or_path, str) and not path.suffix and not path.exists():
        unknown = UnknownNameError("built-in suite", name_or_path, SUITES)
        raise SuiteError(f"{unknown}; a suite file's path ends in .json, .jsonl, .yaml or .yml")
    if not path.is_file():
        what = "a directory, no file" if path.is_dir() else "no such file"
        raise SuiteError(
            f"{path}: {what}; give a suite file's path or a built-in name: {', '.join(SUITES)}"
        )
    return read_suite_file(path, path.parent, str(path))


def _suite(file: SuiteFile, given: Tools | None) -> Suite:
    header, place = file.header, file.place
    _text(header, "description", place)  # for those who read the file; only its type is checked
    name = _text(header, "name", place) or Path(place.file).stem
    if "from" in header or "select" in header:
        return _selection(file, name, given)
    for one, other in _EXCLUDES:
        if one in header and other in header:
            raise place.at(other).error(f"stands beside {one}; keep the one that is meant")
    tools = given if given is not None else _tools(header, place)
    prompt = _system_prompt(file)
    scenarios = _scenarios(file, tools)
    return Suite(
        name=name,
        scenarios=scenarios,
        tools=tools,
        system_prompt=prompt,
        digest=suite_digest(scenarios, tools, prompt),
    )


def _scenarios(file: SuiteFile, tools: Tools) -> tuple[Scenario, ...]:
    if not file.rows:
        raise file.place.error(
            "holds no scenario, and none passed of none is no result; add one or more"
        )
    places: dict[str, Place] = {}
    scenarios: list[Scenario] = []
    for number, (place, row) in enumerate(file.rows, 1):
        scenario = read_scenario(row, place, number=number, tools=tools)
        first = places.setdefault(scenario.id, place)
        if first is not place:
            raise place.at("id").error(f"{scenario.id!r} is taken by {first}; rename one")
        scenarios.append(scenario)
    return tuple(scenarios)


def _selection(file: SuiteFile, name: str, given: Tools | None) -> Suite:
    """Scenarios of a built-in suite, chosen by id: nothing is written twice."""
    header, place = file.header, file.place
    beside = sorted(header.keys() - {"name", "description", "from", "select"})
    if beside or file.rows:
        raise place.at(*beside[:1]).error("from and select stand alone, with nothing beside them")
    source, ids = _text(header, "from", place), header.get("select")
    if source not in SUITES:
        raise place.at("from").error(UnknownNameError("built-in suite", source, SUITES))
    if not isinstance(ids, list) or not ids:
        raise place.at("select").error(f"found {shown(ids)}, wanted a list of scenario ids")
    whole = _suite(_find(source), given)
    by_id = {scenario.id: scenario for scenario in whole.scenarios}
    for index, one in enumerate(ids):
        at = place.at("select", index)
        if not isinstance(one, str) or one not in by_id:
            raise at.error(UnknownNameError(f"scenario of {source}", str(one), by_id))
        if one in ids[:index]:
            raise at.error(f"{one!r} stands at {ids.index(one)} already; keep one")
    scenarios = tuple(by_id[one] for one in ids)
    digest = suite_digest(scenarios, whole.tools, whole.system_prompt)
    return whole.model_copy(update={"name": name, "scenarios": scenarios, "digest": digest})


def _tools(header: JsonObject, place: Place) -> Tools:
    if "tools" in header and header["tools"] is None:
        tools = Tools()  # where every scenario has its own
    elif "tools" in header:
        try:
            tools = to_tools(header["tools"] or [])
        except ToolsError as error:
            raise place.error(error) from error
        if not tools:
            raise place.at("tools").error("holds no tool; give some, or leave it out")
    else:
        name = _text(header, "catalogue", place) or DEFAULT_CATALOGUE
        try:
            tools = load_catalogue(name)
        except UnknownNameError as error:
            raise place.at("catalogue").error(error) from error
    return _with_paths(tools, header.get("paths", {}), place.at("paths"))


def _with_paths(tools: Tools, paths: JsonValue, place: Place) -> Tools:
    """The tools, with the arguments that `paths` lists by tool declared to be paths."""
    if not isinstance(paths, dict):
        raise place.error(f'found {shown(paths)}, wanted an object like {{"tool": ["argument"]}}')
    specs: dict[str, ToolSpec] = dict(tools)
    for name, arguments in paths.items():
        if name not in specs:
            raise place.at(name).error(UnknownNameError("tool", name, specs))
        if not isinstance(arguments, list):
            raise place.at(name).error(f"found {shown(arguments)}, wanted a list of arguments")
        known = specs[name].parameters.get("properties", {})
        for index, argument in enumerate(arguments):
            if argument not in known:
                unknown = UnknownNameError(f"argument of {name}", str(argument), known)
                raise place.at(name, index).error(unknown)
        specs[name] = replace(specs[name], paths=specs[name].paths | set(arguments))
    return Tools(specs.values())


def _system_prompt(file: SuiteFile) -> str:
    header, place = file.header, file.place
    if "system_prompt" in header:
        return _text(header, "system_prompt", place)
    at = place.at("system_prompt_file")
    name = _text(header, "system_prompt_file", place)
    source = (
        inside(file.folder, name, at) if name else _house().joinpath(*DEFAULT_PROMPT.split("/"))
    )
    return read_text(source, at).strip()


def _text(header: JsonObject, key: str, place: Place) -> str:
    value = header.get(key, "")
    if not isinstance(value, str):
        raise place.at(key).error(f"found {shown(value)}, wanted a string")
    return value


def _house() -> Traversable:
    return files("tunaeval.suites")


def suite_digest(scenarios: Sequence[Scenario], tools: Tools, system_prompt: str) -> str:
    """SHA-256 of canonical JSON: sorted keys, no white space, ASCII."""
    data = {
        "scenarios": [_digested(scenario) for scenario in scenarios],
        "tools": _tools_digested(tools),
        "system_prompt": system_prompt,
    }
    text = json.dumps(data, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def _digested(scenario: Scenario) -> JsonObject:
    """The fields that came later count where they are used: older digests stay as they are."""
    data = scenario.model_dump(exclude={"tools", "messages"})
    for later in ("group", "weight", "difficulty", "sources"):
        if data[later] == Scenario.model_fields[later].default:
            del data[later]
    if scenario.tools is not None:
        data["tools"] = _tools_digested(scenario.tools)
    if scenario.messages:
        data["messages"] = list(scenario.messages)
    if scenario.expect.min_calls is None:
        del data["expect"]["min_calls"]
    return data


def _tools_digested(tools: Tools) -> list[JsonObject]:
    return [{**spec.as_openai(), "paths": sorted(spec.paths)} for spec in tools.values()]
