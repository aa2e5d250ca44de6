"""Load a `Suite` by its built-in name or from a file; errors name the place in the file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import TypeAlias

from tunaeval.errors import SuiteError, UnknownNameError, UsageError
from tunaeval.files.plain_files import is_there
from tunaeval.matching.profiles import profile_of
from tunaeval.tools.specs import ToolLike, to_tools
from tunaeval.types.calls import JsonObject, Tools
from tunaeval.types.runs import PackedScenarios, Scenario, Suite

from . import DEFAULT_PROMPT, SUITES
from .bfcl import BFCL_PREFIX, DEFECTIVE, read_bfcl
from .files import Place, SuiteFile, inside, read_suite_file, read_text, shown
from .scenarios import read_scenario
from .tools import header_tools, names_tools, packaged, suites_folder

_Which: TypeAlias = Callable[[Scenario], bool]

_BESIDE_A_SELECTION = {"name", "description", "profile", "abstain", "from", "select"}

_EXCLUDES = (("system_prompt", "system_prompt_file"),)


def suite_names() -> tuple[str, ...]:
    """Return the names of the built-in suites.

    Examples:
        >>> tunaeval.suite_names()
        ('repair-tasks', 'smoke', 'tunacode')
    """
    return tuple(SUITES)


def about_suites() -> dict[str, str]:
    """Return a one-line description of each built-in suite, by name."""
    return {name: entry.about for name, entry in SUITES.items()}


def load_suite(
    name_or_path: str | Path,
    *,
    tools: Tools | Iterable[ToolLike] | None = None,
    bfcl: str | Path | None = None,
    exclude: Iterable[str] = (),
) -> Suite:
    """Return the built-in suite of that name, or the suite in a .json, .jsonl, .yaml or .yml file.

    `bfcl:CATEGORY` is a category of the Berkeley Function Calling Leaderboard, read from the
    directory `bfcl` or from the installed package `bfcl-eval`, which is not imported. `tools`
    replace those that the suite names. `exclude` are ids and tags of scenarios to leave out, as
    with `without`; these may expect tools that do not exist. Raises `SuiteError`, naming file, line
    or index, and field, for a file that cannot be used, and for an unknown built-in name.

    Examples:
        >>> suite = tunaeval.load_suite("smoke")
        >>> len(suite.scenarios), suite.scenarios[0].id
        (12, 'bash-pytest-quiet')
    """
    if not isinstance(name_or_path, str | PathLike):
        raise UsageError(
            f"a suite is named by a built-in name ({', '.join(SUITES)}) or the path of a suite "
            f"file, found {name_or_path!r:.60}; scenarios in a program are written to a file first "
            "(tunaeval.run takes a Suite, too)"
        )
    unwanted = frozenset(exclude)
    try:
        if isinstance(name_or_path, str) and name_or_path.startswith(BFCL_PREFIX):
            suite = _bfcl_suite(name_or_path, bfcl)
        else:
            suite = _suite(_find(name_or_path), to_tools(tools), _is_outside(unwanted))
    except RecursionError as error:
        raise SuiteError(f"{name_or_path}: is nested too deeply to be read") from error
    return without(suite, unwanted) if unwanted else suite


def own_tools(name_or_path: str | Path) -> Tools | None:
    """Return the tools that a suite names itself, or None if it names none.

    Does not read its scenarios. Raises `SuiteError`, as `load_suite` does.
    """
    if isinstance(name_or_path, str) and name_or_path.startswith(BFCL_PREFIX):
        return None
    file = _find(name_or_path)
    if "from" in file.header:
        file = _find(_source(file))
    return header_tools(file.header, file.place) if names_tools(file.header) else None


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


def _bfcl_suite(name: str, folder: str | Path | None) -> Suite:
    """Load a BFCL category, whose scenarios have their own tools and, where needed, system message.

    Calls are compared by BFCL's own rules unless a run names others.
    """
    scenarios = read_bfcl(name.removeprefix(BFCL_PREFIX), folder)
    return Suite(
        name=name,
        scenarios=scenarios,
        tools=Tools(),
        system_prompt="",
        profile="bfcl",
    )


def _find(name_or_path: str | Path) -> SuiteFile:
    if isinstance(name_or_path, str) and name_or_path in SUITES:
        file = SUITES[name_or_path].file
        return read_suite_file(packaged(file), suites_folder(), file)
    path = Path(name_or_path)
    if isinstance(name_or_path, str) and not path.suffix and not is_there(path):
        unknown = UnknownNameError("built-in suite", name_or_path, SUITES)
        raise SuiteError(f"{unknown}; a suite file's path ends in .json, .jsonl, .yaml or .yml")
    if not is_there(path) or path.is_dir():
        what = "a directory, no file" if is_there(path) else "no such file"
        raise SuiteError(
            f"{path}: {what}; give a suite file's path or a built-in name: {', '.join(SUITES)}"
        )
    return read_suite_file(path, path.parent, str(path))


def _is_outside(names: frozenset[str]) -> _Which:
    return lambda scenario: names.isdisjoint({scenario.id, *scenario.tags})


def _suite(file: SuiteFile, given: Tools | None, wanted: _Which) -> Suite:
    """Build the suite; only scenarios that are `wanted` are compared with the tools."""
    header, place = file.header, file.place
    _text(header, "description", place)  # for readers of the file: only its type is checked
    name = _text(header, "name", place) or Path(place.file).stem
    if "from" in header or "select" in header:
        return _selection(file, name, given, wanted)
    for one, other in _EXCLUDES:
        if one in header and other in header:
            raise place.at(other).error(f"is given beside {one}; keep the one that is meant")
    tools = given if given is not None else header_tools(header, place)
    prompt = _system_prompt(file)
    scenarios = _scenarios(file, partial(read_scenario, tools=tools, wanted=wanted))
    return Suite(
        name=name,
        scenarios=scenarios,
        tools=tools,
        system_prompt=prompt,
        profile=_profile(header, place),
        abstain=_abstain(header, place),
    )


def _abstain(header: JsonObject, place: Place) -> tuple[str, ...]:
    """Return the names whose calls count as no call, if the file lists any."""
    names = header.get("abstain", [])
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise place.at("abstain").error(f"found {shown(names)}, wanted a list of names of calls")
    return tuple(names)


def _profile(header: JsonObject, place: Place) -> str | None:
    """Return the name of the rules that compare calls, if the file names one."""
    if "profile" not in header:
        return None
    try:
        return profile_of(_text(header, "profile", place)).name
    except UnknownNameError as error:
        raise place.at("profile").error(error) from error


def _scenarios(file: SuiteFile, read: Callable[..., Scenario]) -> PackedScenarios:
    if not file.rows:
        raise file.place.error(
            "has no scenario, and none passed of none is no result; add one or more"
        )
    return PackedScenarios(_read_in_turn(file, read))


def _read_in_turn(file: SuiteFile, read: Callable[..., Scenario]) -> Iterator[Scenario]:
    numbers: dict[str, int] = {}
    for number, (place, row) in enumerate(file.rows, 1):
        scenario = read(row, place, number=number)
        first = numbers.setdefault(scenario.id, number)
        if first != number:
            there, _ = next(islice(file.rows, first - 1, None))
            raise place.at("id").error(f"{scenario.id!r} is taken by {there}; rename one")
        yield scenario


def _selection(file: SuiteFile, name: str, given: Tools | None, wanted: _Which) -> Suite:
    """Select scenarios of a built-in suite by id, so that no scenario is written twice."""
    header, place = file.header, file.place
    extra = sorted(header.keys() - _BESIDE_A_SELECTION)
    if extra or file.rows:
        raise place.at(*extra[:1]).error(
            "from and select are used alone, with nothing beside them but profile and abstain"
        )
    source, ids = _source(file), header.get("select")
    if not isinstance(ids, list) or not ids:
        raise place.at("select").error(f"found {shown(ids)}, wanted a list of scenario ids")
    whole = _suite(_find(source), given, lambda one: one.id in ids and wanted(one))
    by_id = {scenario.id: scenario for scenario in whole.scenarios}
    for index, one in enumerate(ids):
        at = place.at("select", index)
        if not isinstance(one, str) or one not in by_id:
            raise at.error(UnknownNameError(f"scenario of {source}", str(one), by_id))
        if one in ids[:index]:
            raise at.error(f"{one!r} is at {ids.index(one)} already; keep one")
    scenarios = tuple(by_id[one] for one in ids)
    changed: dict[str, object] = {"name": name, "scenarios": scenarios}
    changed["abstain"] = (*whole.abstain, *_abstain(header, place))
    if "profile" in header:
        changed["profile"] = _profile(header, place)
    return whole.with_(**changed)


def _source(file: SuiteFile) -> str:
    """Return the name of the built-in suite from which a selection is taken."""
    source = _text(file.header, "from", file.place)
    if source not in SUITES:
        at = file.place.at("from")
        raise at.error(UnknownNameError("built-in suite", source, SUITES))
    return source


def _system_prompt(file: SuiteFile) -> str:
    header, place = file.header, file.place
    if "system_prompt" in header:
        return _text(header, "system_prompt", place)
    at = place.at("system_prompt_file")
    name = _text(header, "system_prompt_file", place)
    source = inside(file.folder, name, at) if name else packaged(DEFAULT_PROMPT)
    return read_text(source, at).strip()


def _text(header: JsonObject, key: str, place: Place) -> str:
    value = header.get(key, "")
    if not isinstance(value, str):
        raise place.at(key).error(f"found {shown(value)}, wanted a string")
    return value
