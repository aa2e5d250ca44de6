"""The tools that a command line names: a JSON file, a catalogue, those of an agent or a server.

With `--tools-from MODULE:NAME` a suite is asked with the tools of an installed agent. NAME is an
attribute, dotted if it is nested: one tool (anything that `to_tools` reads), a list of tools, or a
dictionary, whose keys name its functions. A function is a tool; none is called to get tools from
it. With `--mcp COMMAND|URL` it is asked with the tools of an MCP server, which then runs the calls.
"""

from __future__ import annotations

import argparse
import inspect
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from difflib import get_close_matches
from functools import partial
from importlib import import_module
from pathlib import Path

from tunaeval.errors import ToolsError, UnknownNameError, UsageError
from tunaeval.files.packed_files import read_plain
from tunaeval.files.plain_files import is_there, unread
from tunaeval.registry import words_of
from tunaeval.reports.drift import compare_tools
from tunaeval.runs.run_matrix import prompt_text
from tunaeval.showing import brief, counted
from tunaeval.tasks.suites.loading import (
    catalogue_names,
    load_catalogue,
    load_suite,
    own_tools,
    served,
)
from tunaeval.tasks.suites.with_faults import with_faults
from tunaeval.tools.mcp import mcp_tools, read_servers, shown_place
from tunaeval.tools.specs import to_tools
from tunaeval.tools.tool_prompts import tool_spec
from tunaeval.types.calls import Tools, ToolSpec
from tunaeval.types.json_text import decoded
from tunaeval.types.runs import Suite

from .output import Output


def read_tools(name: str) -> Tools:
    """Return the tools of a catalogue, or of a file with a list of tools or {"tools": [...]}."""
    path = Path(name)
    if name in catalogue_names():
        return load_catalogue(name)
    if not (path.suffix or is_there(path)):
        raise UnknownNameError("tool catalogue or file", name, catalogue_names())
    text = _file_text(path)
    try:
        value = decoded(text)
    except ValueError as error:
        raise ToolsError(f"{name}: this is no JSON: {error}; wanted a list of tools") from error
    if isinstance(value, dict) and isinstance(value.get("tools"), list):
        value = value["tools"]
    if not isinstance(value, list):
        raise ToolsError(
            f'{name}: found {text.strip()[:40]!r}; wanted a list of tools, or {{"tools": [...]}}'
        )
    try:
        return to_tools(value)
    except ToolsError as error:
        raise ToolsError(f"{name}: {error}") from error


def _file_text(path: Path) -> str:
    try:
        return read_plain(path).decode("utf-8-sig")
    except (OSError, ValueError) as error:
        words = unread(path, "wanted a JSON file with a list of tools", error)
        raise ToolsError(f"{str(path)!r} {words}") from error


_MOST_SHOWN = 5


def chosen_suite(arguments: argparse.Namespace, output: Output) -> Suite:
    """Return the suite of the command line, with the tools of `--tools-from` and `--mcp` in place
    of its own. Prints how the two sets of tools differ.
    """
    name, servers = arguments.suite, read_servers(arguments.mcp, "--mcp")
    load = partial(_chosen, arguments)
    if not (arguments.tools_from or servers):
        return load()
    theirs, ours = offered_tools(arguments.tools_from, servers), own_tools(name)
    places = [*arguments.tools_from, *map(shown_place, servers)]
    _report(theirs, ours, places, output)
    suite = load(tools=theirs if ours is None else _with_paths(theirs, ours))
    apart = sum(
        one.tools is not None and not one.tools.items() <= suite.tools.items()
        for one in suite.scenarios
    )
    if apart == len(suite.scenarios):
        raise UsageError(
            f"{'--tools-from' if arguments.tools_from else '--mcp'}: every scenario of {name!r} "
            "has tools of its own, so the tools of "
            f"{', '.join(places)} would not be used; leave it out"
        )
    if apart:
        output.note(f"tunaeval: {apart} of the scenarios have tools of their own, and keep them")
    return served(suite, servers, arguments.tools_from)


def _chosen(arguments: argparse.Namespace, *, tools: Tools | None = None) -> Suite:
    """Load the suite and apply every option that selects scenarios, except `--limit`."""
    for option, names in (("--id", arguments.ids), ("--tag", arguments.tags)):
        for name in names:
            if name in arguments.exclude:
                raise UsageError(
                    f"{option} {name!r} and --exclude {name!r} contradict each other; leave one out"
                )
    files = arguments.system_prompt or ()
    prompts = [prompt_text(Path(file)) for file in ([files] if isinstance(files, str) else files)]
    suite = load_suite(
        arguments.suite,
        bfcl=arguments.bfcl,
        exclude=arguments.exclude,
        tools=tools,
        system_prompts=prompts,
    )
    left = suite.where(ids=arguments.ids, tags=arguments.tags, like=arguments.patterns)
    left = left if arguments.split is None else left.split(arguments.split)
    return left if arguments.faults is None else with_faults(left, arguments.faults)


def offered_tools(places: Sequence[str], servers: Sequence[str]) -> Tools:
    """Return the tools at all places, each MODULE:NAME, and of all MCP servers. Raises UsageError
    if one cannot be loaded, or if two have the same name.
    """
    found = [*_installed(places).values(), *mcp_tools(*servers).values()]
    names = [one.name for one in found]
    if twice := [name for name in names if names.count(name) > 1]:
        raise UsageError(
            f"the tool {twice[0]!r} is one of --tools-from and of --mcp; a call could mean either, "
            "so keep one of them"
        )
    return Tools(found)


def _installed(places: Sequence[str]) -> Tools:
    specs: dict[str, ToolSpec] = {}
    source: dict[str, str] = {}
    with working_directory_first():
        for place in places:
            for spec in _tools_at(place):
                if spec.name in specs:
                    raise UsageError(
                        f"--tools-from {place!r}: the tool {spec.name!r} is also in "
                        f"{source[spec.name]!r}; a call could mean either, so keep one of them"
                    )
                specs[spec.name], source[spec.name] = spec, place
    return Tools(specs.values())


@contextmanager
def working_directory_first() -> Iterator[None]:
    """Import from the working directory first, as `python -m` does."""
    if sys.flags.safe_path:  # python -P asks for the opposite
        yield
        return
    here = os.getcwd()  # noqa: PTH109 - sys.path wants a str
    sys.path.insert(0, here)
    try:
        yield
    finally:
        with suppress(ValueError):  # a module may have changed the path
            sys.path.remove(here)


def _tools_at(place: str) -> Iterator[ToolSpec]:
    given = [*_each_tool(named_object(place, "--tools-from"))]
    if not given:
        raise UsageError(f"--tools-from {place!r} has no tool; wanted one or more")
    for where, named, tool in given:
        yield _described(tool, named, f"{place!r}{where}")


def named_object(place: str, option: str) -> object:
    """Return what MODULE:NAME names. Raises UsageError, which names the option, if it cannot."""
    module, _, name = place.partition(":")
    option = f"{option} {place!r}"
    if not (module.strip() and name.strip()) or module.endswith(".py") or module.startswith("."):
        what = "MODULE:NAME, as in my_agent.tools:TOOLS; MODULE is no path, but what `import` takes"
        raise UsageError(f"{option}: wanted {what}")
    found, inside = _imported(module, option), module
    for part in name.split("."):
        try:
            found, inside = getattr(found, part), f"{inside}.{part}"
        except AttributeError as error:
            known = [one for one in dir(found) if not one.startswith("_")]
            near = get_close_matches(part, known, n=3, cutoff=0.5)
            hint = (
                f"did you mean {' or '.join(map(repr, near))}?" if near else "wanted a name in it"
            )
            raise UsageError(f"{option}: there is no {part!r} in {inside}; {hint}") from error
        except Exception as error:  # modules and properties may run code
            raise UsageError(
                f"{option}: looking up {part!r} failed with {words_of(error)}"
            ) from error
    return found


def _imported(module: str, option: str) -> object:
    try:
        return import_module(module)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a module may call sys.exit
        missing = error.name if isinstance(error, ModuleNotFoundError) else None
        if missing and f"{module}.".startswith(f"{missing}."):
            raise UsageError(
                f"{option}: there is no module {missing!r}; install its package, or "
                "run in an environment in which it can be imported"
            ) from error
        raise UsageError(
            f"{option}: importing {module!r} failed with {words_of(error)}; name "
            "a module that can be imported"
        ) from error


def _each_tool(found: object) -> Iterator[tuple[str, str | None, object]]:
    """Yield (place, name, tool) for each tool; the name is its key in a dictionary, else None."""
    match found:
        case Mapping() if not _is_tool(found):
            for key, tool in found.items():
                yield f"[{key!r}]", key if isinstance(key, str) else None, tool
        case list() | tuple():
            for index, tool in enumerate(found):
                yield f"[{index}]", None, tool
        case _:
            yield "", None, found


def _is_tool(found: Mapping[object, object]) -> bool:
    """Whether a dictionary is one tool, in the shape of some API, and not several by name."""
    return isinstance(found.get("name"), str) or isinstance(found.get("function"), Mapping)


def _described(tool: object, name: str | None, where: str) -> ToolSpec:
    is_function = inspect.isroutine(tool) or isinstance(tool, partial)
    try:
        return tool_spec(tool, name=name if is_function else None)
    except ToolsError as error:
        raise UsageError(
            f"--tools-from {where}: {error}, or a list or dictionary of such tools"
        ) from error
    except Exception as error:  # a framework's object may run code
        raise UsageError(
            f"--tools-from {where}: describing {brief(tool)} failed with {words_of(error)}"
        ) from error


def _with_paths(theirs: Tools, ours: Tools) -> Tools:
    """Return `theirs`, with path arguments as declared in `ours`, which no model sees."""
    return Tools(
        replace(spec, paths=spec.paths | (ours[name].paths & {*spec.parameters["properties"]}))
        if name in ours and "properties" in spec.parameters
        else spec
        for name, spec in theirs.items()
    )


def _report(theirs: Tools, ours: Tools | None, places: Sequence[str], output: Output) -> None:
    """Print up to `_MOST_SHOWN` differences of the tools, those that mislead a model first."""
    intro = f"tunaeval: asking with {counted(len(theirs), 'tool')} from {', '.join(places)}"
    if ours is None:
        output.note(intro)
        return
    lines = [
        f"only {whose}: {', '.join(names)}"
        for whose, some, others in (("ours", ours, theirs), ("theirs", theirs, ours))
        if (names := [name for name in some if name not in others])
    ]
    drifts = [one for one in compare_tools(ours, theirs) if one.tool in ours and one.tool in theirs]
    changes = [(drift.tool, change) for drift in drifts for change in drift.changes]
    changes.sort(key=lambda change: not change[1].misleads)
    lines += [f"{tool}: {change}" for tool, change in changes]
    output.note(
        f"{intro} (theirs) for the suite's {len(ours)} (ours): {counted(len(lines), 'difference')}"
    )
    for line in lines[:_MOST_SHOWN]:
        output.note(f"tunaeval: {line}")
    if len(lines) > _MOST_SHOWN:
        output.note(f"tunaeval: and {len(lines) - _MOST_SHOWN} more")
