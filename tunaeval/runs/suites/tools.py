"""The tools of a suite: a built-in catalogue, a part of one, or definitions in the file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from importlib.resources import files
from importlib.resources.abc import Traversable

from tunaeval.errors import ToolsError, UnknownNameError
from tunaeval.tools.specs import to_tools
from tunaeval.types.calls import JsonObject, JsonValue, Tools, ToolSpec

from . import CATALOGUES, DEFAULT_CATALOGUE
from .files import Place, read_json, read_text, shown


def catalogue_names() -> tuple[str, ...]:
    """Return the names of the built-in tool catalogues."""
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
    return suites_folder().joinpath(*file.split("/"))


def suites_folder() -> Traversable:
    """Return the folder of the built-in suites and catalogues."""
    return files("tunaeval.runs.suites")


def names_tools(header: JsonObject) -> bool:
    """Whether a suite's header names its tools."""
    return "catalogue" in header or "tools" in header


def header_tools(header: JsonObject, place: Place) -> Tools:
    """Return the tools that a suite's header selects, by default those of the default catalogue."""
    if "catalogue" in header or "tools" not in header:
        tools = _of_catalogue(header, place)
    elif header["tools"] is None:
        tools = Tools()  # every scenario has its own
    else:
        tools = _of_file(header["tools"], place)
    described = header.get("parameter_descriptions", True)
    if not isinstance(described, bool):
        at = place.at("parameter_descriptions")
        raise at.error(f"found {shown(described)}, wanted true or false")
    if not described:
        tools = Tools(map(_undescribed, tools.values()))
    return _with_paths(tools, header.get("paths", {}), place.at("paths"))


def _of_file(tools: JsonValue, place: Place) -> Tools:
    try:
        found = to_tools(tools or [])
    except ToolsError as error:
        raise place.error(error) from error
    if not found:
        raise place.at("tools").error("has no tool; give some, or leave it out")
    return found


def _of_catalogue(header: JsonObject, place: Place) -> Tools:
    name = header.get("catalogue", "")
    if not isinstance(name, str):
        raise place.at("catalogue").error(f"found {shown(name)}, wanted a string")
    name, at = name or DEFAULT_CATALOGUE, place.at("tools")
    chosen = header.get("tools", [name])
    if not isinstance(chosen, list) or not chosen or not all(isinstance(a, str) for a in chosen):
        raise at.error(
            f"found {shown(chosen)}, wanted names of tools in the catalogue {name!r}; leave "
            "catalogue out to describe tools of your own"
        )
    try:
        whole = load_catalogue(name)
    except UnknownNameError as error:
        raise place.at("catalogue").error(error) from error
    return Tools(_chosen(chosen, whole, name, at)) if "tools" in header else whole


def _chosen(names: list[str], whole: Tools, catalogue: str, place: Place) -> Iterator[ToolSpec]:
    """Yield the named tools of a catalogue, in the order of the names."""
    for index, name in enumerate(names):
        if name not in whole:
            unknown = UnknownNameError(f"tool of {catalogue}", name, whole)
            raise place.at(index).error(unknown)
        if name in names[:index]:
            at = place.at(index)
            raise at.error(f"{name!r} is at {names.index(name)} already; keep one")
        yield whole[name]


def _undescribed(spec: ToolSpec) -> ToolSpec:
    """Return the tool without the descriptions of its parameters."""
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
    """Return the tools, with the arguments that `paths` lists by tool declared as paths."""
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
