"""Load a `Suite` and its tools by a built-in name or from a file, and write one into a file.

The tools are a built-in catalogue, a part of one, or definitions in the file. Errors name the place
in the file.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from importlib.resources import files
from importlib.resources.abc import Traversable
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import TypeAlias, TypeVar, get_args

from tunaeval.errors import SuiteError, ToolsError, UnknownNameError, UsageError
from tunaeval.files.plain_files import is_directory, is_there, unread
from tunaeval.matching.profiles import profile_of
from tunaeval.showing import brief
from tunaeval.tools.mcp import mcp_tools, read_servers, shown_place
from tunaeval.tools.specs import ToolLike, to_tools
from tunaeval.types.calls import JsonObject, JsonValue, Tools, ToolSpec
from tunaeval.types.runs import PackedScenarios, Scenario, Suite, Unreadable

from . import CATALOGUES, DEFAULT_CATALOGUE, DEFAULT_PROMPT, SUITES
from .bfcl import BFCL_PREFIX, DEFECTIVE, has_many_turns, read_bfcl
from .files import Place, SuiteFile, given_suite, inside, read_json, read_suite_file, read_text
from .scenarios import read_scenario
from .variables import Row, Variables

T = TypeVar("T")

_Which: TypeAlias = Callable[[Scenario], bool]

_BESIDE_A_SELECTION = {"name", "description", "profile", "abstain", "from", "select"}

_EXCLUDES = (("system_prompt", "system_prompt_file"), ("mcp", "catalogue"))


def suite_names() -> tuple[str, ...]:
    """Return the names of the built-in suites.

    Examples:
        >>> tunaeval.suite_names()
        ('everyday', 'repair-tasks', 'smoke', 'tunacode')
    """
    return tuple(SUITES)


def about_suites() -> dict[str, str]:
    """Return a one-line description of each built-in suite, by name."""
    return {name: entry.about for name, entry in SUITES.items()}


def load_suite(
    name_or_path: str | Path | JsonObject | list[JsonValue],
    *,
    tools: Tools | Iterable[ToolLike] | None = None,
    mcp: str | Iterable[str] = (),
    bfcl: str | Path | None = None,
    exclude: Iterable[str] = (),
    system_prompts: Iterable[str] = (),
) -> Suite:
    """Return the suite of that built-in name, or of a .json, .jsonl, .yaml or .yml file.

    An object or a list is read as such a file that has it; its files are in the working directory.
    `bfcl:CATEGORY` is a category of the Berkeley Function Calling Leaderboard, read from the
    directory `bfcl` or from the installed package `bfcl-eval`, of which nothing is imported but the
    classes of the categories of many turns. `tools` replace those that the suite names, and so do
    those of the MCP servers `mcp` (commands or addresses, see `mcp_tools`), which also run the
    calls of tasks of many turns. `exclude` are ids and tags of scenarios to leave out, as with
    `without`; these may expect tools that do not exist.
    `system_prompts` are the texts that will be in place of the suite's own, and use its variables.
    Raises `SuiteError`, naming file, line or index, and field, for a file that cannot be used, and
    for an unknown built-in name; ToolsError for a server that cannot be asked.

    Examples:
        >>> suite = tunaeval.load_suite("smoke")
        >>> len(suite.scenarios), suite.scenarios[0].id
        (12, 'bash-pytest-quiet')
    """
    if not isinstance(name_or_path, str | PathLike | Mapping | list):
        raise UsageError(
            f"found {brief(name_or_path)}, wanted the name of a built-in suite "
            f"({', '.join(SUITES)}), the path of a suite file, or what such a file has: an object "
            "or a list of scenarios"
        )
    unwanted, servers = frozenset(exclude), read_servers(mcp, "mcp")
    if servers:
        theirs = mcp_tools(*servers).values()
        tools = theirs if tools is None else [*to_tools(tools).values(), *theirs]
    try:
        if isinstance(name_or_path, str) and name_or_path.startswith(BFCL_PREFIX):
            # Calls are compared by BFCL's own rules unless a run names others; each scenario has
            # its own tools and, where needed, a system message.
            category = name_or_path.removeprefix(BFCL_PREFIX)
            scenarios, many = read_bfcl(category, bfcl), has_many_turns(category)
            suite = Suite(
                name=name_or_path,
                scenarios=scenarios,
                tools=Tools(),
                system_prompt="",
                profile="bfcl",
                unreadable="end" if many else "retry",
                as_written=many,
            )
        else:
            suite = _suite(
                _find(name_or_path),
                to_tools(tools),
                lambda one: unwanted.isdisjoint({one.id, *one.tags}),
                tuple(system_prompts),
            )
    except RecursionError as error:
        name = name_or_path if isinstance(name_or_path, str | PathLike) else "suite"
        raise SuiteError(f"{name}: is nested too deeply to be read") from error
    if servers:
        suite = served(suite, servers)
    return without(suite, unwanted) if unwanted else suite


def served(suite: Suite, servers: Iterable[str], others: Iterable[str] = ()) -> Suite:
    """Return the suite with MCP servers that run its calls, and where its tools come from: these
    servers, and `others`.
    """
    servers = tuple(servers)
    return suite.with_(mcp=servers, tools_from=(*others, *map(shown_place, servers)))


def own_tools(name_or_path: str | Path) -> Tools | None:
    """Return the tools that a suite names itself, or None if it names none.

    Does not read its scenarios. Raises `SuiteError`, as `load_suite` does.
    """
    if isinstance(name_or_path, str) and name_or_path.startswith(BFCL_PREFIX):
        return None
    file = _find(name_or_path)
    if "from" in file.header:
        file = _find(_source(file))
    names_tools = not {"catalogue", "tools", "mcp"}.isdisjoint(file.header)
    return _header_tools(file.header, file.place) if names_tools else None


def without(suite: Suite, names: Iterable[str]) -> Suite:
    """Return the suite without the scenarios that have one of the names as their id or as a tag.

    Raises `SuiteError` if a name matches no scenario or no scenario is left. Only the tag of BFCL's
    defective entries may match none, because most categories have no such entry.
    """
    unwanted = frozenset(names)
    known = {name for one in suite.scenarios for name in (one.id, *one.tags)}
    if suite.name.startswith(BFCL_PREFIX):
        known.add(DEFECTIVE)
    for name in sorted(unwanted - known):
        raise SuiteError(f"{suite.name}: {UnknownNameError('scenario or tag', name, known)}")
    left = PackedScenarios(one for one in suite.scenarios if not unwanted & {one.id, *one.tags})
    if not left:
        raise SuiteError(f"{suite.name}: nothing is left of it without {sorted(unwanted)}")
    return suite.with_(scenarios=left)


def _find(name_or_path: str | Path | Mapping[str, JsonValue] | list[JsonValue]) -> SuiteFile:
    if isinstance(name_or_path, Mapping | list):
        return given_suite(name_or_path)
    if isinstance(name_or_path, str) and name_or_path in SUITES:
        file = SUITES[name_or_path].file
        return read_suite_file(packaged(file), _suites_folder(), file)
    path = Path(name_or_path)
    if isinstance(name_or_path, str) and not path.suffix and not is_there(path):
        unknown = UnknownNameError("built-in suite", name_or_path, SUITES)
        raise SuiteError(f"{unknown}; a suite file's path ends in .json, .jsonl, .yaml or .yml")
    if not is_there(path) or is_directory(path):
        wanted = f"give a suite file's path or a built-in name: {', '.join(SUITES)}"
        raise SuiteError(f"{str(path)!r} {unread(path, wanted)}")
    return read_suite_file(path, path.parent, str(path))


def _suite(
    file: SuiteFile, given: Tools | None, wanted: _Which, prompts: Sequence[str] = ()
) -> Suite:
    """Build the suite; only scenarios that are `wanted` are compared with the tools."""
    header, place = file.header, file.place
    _text(header, "description", place)  # for readers of the file: only its type is checked
    name = _text(header, "name", place) or Path(place.file).stem
    if "from" in header or "select" in header:
        return _selection(file, name, given, wanted)
    for one, other in _EXCLUDES:
        if one in header and other in header:
            raise place.at(other).error(f"is given beside {one}; keep the one that is meant")
    tools = given if given is not None else _header_tools(header, place)
    prompt = _own_prompt(file)
    belongs = _flag(header, "prompt_of_tools", place, default=prompt is None)
    if belongs and given is not None:
        prompt = ""
    elif prompt is None:
        at = Place(DEFAULT_PROMPT)
        prompt = read_text(packaged(at.file), at).strip() if _is_catalogues(header) else ""
    if next(file.rows(), None) is None:
        raise place.error("has no scenario, so there is nothing to run; add one or more")
    read = partial(read_scenario, tools=tools, wanted=wanted)
    _flag(header, "templates", place, default=True)
    variables = Variables(file, prompt, prompts)
    suite = Suite(
        name=name,
        scenarios=PackedScenarios(_read_in_turn(variables.rows, read)),
        notes=tuple(variables.notes),
        tools=tools,
        system_prompt=prompt,
        prompt_of_tools=belongs and bool(prompt),
        profile=_profile(header, place),
        abstain=_abstain(header, place),
        unreadable=_unreadable(header, place),
    )
    if suite.without_prompt == len(suite.scenarios):
        suite = suite.with_(system_prompt="")
    return served(suite, _servers(header, place)) if "mcp" in header else suite


def _servers(header: JsonObject, place: Place) -> tuple[str, ...]:
    with place.at("mcp").named_in(UsageError):
        servers = read_servers(header["mcp"], "mcp")
    if not servers:
        raise place.at("mcp").error("has no server; give a command or an address, or leave it out")
    return servers


def _abstain(header: JsonObject, place: Place) -> tuple[str, ...]:
    """Return the names whose calls count as no call, if the file lists any."""
    names = header.get("abstain", [])
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise place.at("abstain").error(f"found {brief(names)}, wanted a list of names of calls")
    return tuple(names)


def _unreadable(header: JsonObject, place: Place) -> Unreadable:
    value: Unreadable = header.get("unreadable", "retry")
    place.at("unreadable").refuse_unknown("rule for unreadable calls", value, get_args(Unreadable))
    return value


def _profile(header: JsonObject, place: Place) -> str | None:
    """Return the name of the rules that compare calls, if the file names one."""
    if "profile" not in header:
        return None
    with place.at("profile").named_in(UnknownNameError):
        return profile_of(_text(header, "profile", place)).name


def _read_in_turn(
    rows: Callable[[], Iterator[Row]], read: Callable[..., Scenario]
) -> Iterator[Scenario]:
    numbers: dict[str, int] = {}
    for index, row in enumerate(rows()):
        scenario = read(row.fields, row.place, number=row.number)
        first = numbers.setdefault(scenario.id, index)
        if first != index:
            there = next(islice(rows(), first, None)).place
            raise row.place.at("id").error(f"{scenario.id!r} is taken by {there}; rename one")
        if row.values is not None:
            group = row.group if scenario.group is None else scenario.group
            scenario = scenario.model_copy(update={"vars": row.values, "group": group})
        yield scenario


def _selection(file: SuiteFile, name: str, given: Tools | None, wanted: _Which) -> Suite:
    """Select scenarios of a built-in suite by id, so that no scenario is written twice."""
    header, place = file.header, file.place
    extra = sorted(header.keys() - _BESIDE_A_SELECTION)
    if extra or next(file.rows(), None) is not None:
        raise place.at(*extra[:1]).error(
            "found beside from and select, which allow only profile and abstain; leave it out"
        )
    source, ids = _source(file), header.get("select")
    if not isinstance(ids, list) or not ids:
        raise place.at("select").error(f"found {brief(ids)}, wanted a list of scenario ids")
    whole = _suite(_find(source), given, lambda one: one.id in ids and wanted(one))
    by_id = {scenario.id: scenario for scenario in whole.scenarios}
    scenarios = tuple(_picked(ids, by_id, f"scenario of {source}", place.at("select")))
    changed: dict[str, object] = {"name": name, "scenarios": scenarios}
    changed["abstain"] = (*whole.abstain, *_abstain(header, place))
    if "profile" in header:
        changed["profile"] = _profile(header, place)
    return whole.with_(**changed)


def _source(file: SuiteFile) -> str:
    source = _text(file.header, "from", file.place)
    file.place.at("from").refuse_unknown("built-in suite", source, SUITES)
    return source


def _own_prompt(file: SuiteFile) -> str | None:
    """Return the system prompt that a suite's file gives, or None."""
    header, place = file.header, file.place
    if "system_prompt" in header:
        return _text(header, "system_prompt", place)
    at = place.at("system_prompt_file")
    name = _text(header, "system_prompt_file", place)
    if not name:
        return None
    text = read_text(inside(file.folder, name, at), at).strip()
    if not text:
        raise at.error(f"{name!r} is empty; write a system prompt, or leave it out")
    return text


def _flag(header: JsonObject, key: str, place: Place, *, default: bool) -> bool:
    value = header.get(key, default)
    if not isinstance(value, bool):
        raise place.at(key).error(f"found {brief(value)}, wanted true or false")
    return value


def _text(header: JsonObject, key: str, place: Place) -> str:
    value = header.get(key, "")
    if not isinstance(value, str):
        raise place.at(key).error(f"found {brief(value)}, wanted a string")
    return value


def catalogue_names() -> tuple[str, ...]:
    return tuple(CATALOGUES)


def load_catalogue(name: str) -> Tools:
    """Return a built-in tool catalogue. Raises `UnknownNameError`."""
    if name not in CATALOGUES:
        raise UnknownNameError("tool catalogue", name, CATALOGUES)
    place = Place(CATALOGUES[name].file)
    data = read_json(read_text(packaged(place.file), place), place)
    return _with_paths(to_tools(data["tools"]), data["paths"], place)


def packaged(file: str) -> Traversable:
    """Return a file that comes with the package, by its path in `suites_folder`."""
    return _suites_folder().joinpath(*file.split("/"))


def _suites_folder() -> Traversable:
    return files("tunaeval.tasks.suites")


def _is_catalogues(header: JsonObject) -> bool:
    """Whether the tools of a suite with this header come from a catalogue, if from nowhere else."""
    return "mcp" not in header and ("catalogue" in header or "tools" not in header)


def _header_tools(header: JsonObject, place: Place) -> Tools:
    """Return the tools that a suite's header selects, by default those of the default catalogue."""
    if "mcp" in header or _is_catalogues(header):
        tools = _chosen_tools(header, place)
    elif header["tools"] is None:
        tools = Tools()  # every scenario has its own
    else:
        with place.named_in(ToolsError):
            tools = to_tools(header["tools"] or [])
        if not tools:
            raise place.at("tools").error("has no tool; give some, or leave it out")
    if not _flag(header, "parameter_descriptions", place, default=True):
        tools = Tools(map(_undescribed, tools.values()))
    return _with_paths(tools, header.get("paths", {}), place.at("paths"))


def _chosen_tools(header: JsonObject, place: Place) -> Tools:
    """Return the tools of MCP servers or of a catalogue: all, or those that the header names."""
    key, source, kind, name = "mcp", "an MCP server", "tool of the MCP servers", ""
    if "mcp" not in header:
        name = _text(header, "catalogue", place) or DEFAULT_CATALOGUE
        key, source, kind = "catalogue", f"the catalogue {name!r}", f"tool of {name}"
    chosen = header.get("tools", [])
    is_list = isinstance(chosen, list) and all(isinstance(name, str) for name in chosen)
    if not is_list or ("tools" in header and not chosen):
        raise place.at("tools").error(
            f"found {brief(chosen)}, wanted names of tools in {source}; leave {key} out to "
            "describe tools of your own"
        )
    with place.at(key).named_in(ToolsError, UnknownNameError):
        whole = load_catalogue(name) if name else mcp_tools(*_servers(header, place))
    return Tools(_picked(chosen, whole, kind, place.at("tools"))) if chosen else whole


def _picked(names: list[JsonValue], known: Mapping[str, T], kind: str, place: Place) -> Iterator[T]:
    """Yield the named ones, in the order of the names, each of which may be there once."""
    for index, name in enumerate(names):
        place.at(index).refuse_unknown(kind, name, known)
        if name in names[:index]:
            raise place.at(index).error(f"{name!r} is at {names.index(name)} already; keep one")
        yield known[name]


def _undescribed(spec: ToolSpec) -> ToolSpec:
    properties: Mapping[str, JsonValue] = spec.parameters.get("properties", {})
    bare = {
        name: {key: value for key, value in schema.items() if key != "description"}
        if isinstance(schema, Mapping)
        else schema
        for name, schema in properties.items()
    }
    parameters = {**spec.parameters, "properties": bare} if bare else spec.parameters
    return replace(spec, parameters=parameters)


def _with_paths(tools: Tools, paths: JsonValue, place: Place) -> Tools:
    """Return the tools with arguments declared as file paths; `paths` lists them by tool."""
    if not isinstance(paths, dict):
        raise place.error(f'found {brief(paths)}, wanted an object like {{"tool": ["argument"]}}')
    specs: dict[str, ToolSpec] = dict(tools)
    for name, arguments in paths.items():
        place.at(name).refuse_unknown("tool", name, specs)
        if not isinstance(arguments, list):
            raise place.at(name).error(f"found {brief(arguments)}, wanted a list of arguments")
        known = specs[name].parameters.get("properties", {})
        for index, argument in enumerate(arguments):
            place.at(name, index).refuse_unknown(f"argument of {name}", argument, known)
        specs[name] = replace(specs[name], paths=specs[name].paths | set(arguments))
    return Tools(specs.values())


def write_suite(suite: Suite, path: Path | str) -> None:
    """Write the suite into a new `.jsonl` file. Raises `SuiteError` if that is not possible.

    The file is removed if it cannot be read back: some of BFCL's expectations violate the schemas
    of their tools, which `load_suite` refuses.
    """
    path = Path(path)
    if path.suffix.lower() != ".jsonl":
        raise SuiteError(f"{path}: a suite is written as JSON lines; give it a name in .jsonl")
    if suite.as_written:
        raise SuiteError(f"{suite.name}: needs BFCL's classes, and so cannot be written as a file")
    rows = [_header(suite)]
    for scenario in suite.scenarios:
        row = scenario.model_dump(exclude={"tools"}, exclude_defaults=True)
        if scenario.tools is not None:
            is_part = scenario.tools.items() <= suite.tools.items()
            row["tools"] = [*scenario.tools] if is_part else scenario.tools.as_openai()
        rows.append(row)
    text = "".join(json.dumps(row, allow_nan=False) + "\n" for row in rows)
    try:
        with path.open("x", encoding="ascii") as file:
            file.write(text)
    except OSError as error:
        raise SuiteError(f"{path}: cannot be written: {error.strerror or error}") from error
    try:
        load_suite(path)
    except SuiteError:
        path.unlink()
        raise


def _header(suite: Suite) -> JsonObject:
    """Return the header; `tools` is null if every scenario has its own."""
    return {
        "name": suite.name,
        "tools": [*suite.tools] if suite.mcp else suite.tools.as_openai() or None,
        **({"mcp": [*suite.mcp]} if suite.mcp else {}),
        "paths": {one.name: sorted(one.paths) for one in suite.tools.values() if one.paths},
        "system_prompt": suite.system_prompt,
        **({"templates": False} if any(one.vars for one in suite.scenarios) else {}),
        **({"prompt_of_tools": True} if suite.prompt_of_tools else {}),
        **({"profile": suite.profile} if suite.profile else {}),
        **({"unreadable": suite.unreadable} if suite.unreadable != "retry" else {}),
        **({"abstain": [*suite.abstain]} if suite.abstain else {}),
    }
