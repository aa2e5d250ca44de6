"""Rename a suite's tools and arguments and rephrase its prompts, to see if models memorised it.

A model that has seen a suite knows its names; it should do as well with new ones. A seed decides
every choice. Ids, tags and argument values stay, so that runs of both suites can be compared. The
synonyms and phrases are in `renamed.toml`.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from tunaeval.errors import SuiteError
from tunaeval.files.plain_files import table_of
from tunaeval.types.calls import JsonObject, JsonValue, Tools, ToolSpec
from tunaeval.types.runs import Expectation, ExpectedCall, Scenario, Suite

_WORDS = table_of(__package__, "renamed.toml")


def renamed(suite: Suite, *, seed: int) -> Suite:
    """Return the suite with other names for its tools and their arguments, and other prompts."""
    tasks = [one.id for one in suite.scenarios if one.task is not None]
    if tasks:
        raise SuiteError(
            f"{suite.name}: {tasks[0]!r} is a task of many turns, whose tools are run by their "
            "names; leave tasks out (--exclude) to rename the rest"
        )
    names = _Names(suite, seed)
    scenarios = tuple(_scenario(one, names, seed) for one in suite.scenarios)
    tools = names.tools(suite.tools)
    return suite.with_(
        name=f"{suite.name}-renamed-{seed}",
        scenarios=scenarios,
        tools=tools,
        system_prompt=names.text(suite.system_prompt),
        prompt_of_tools=suite.prompt_of_tools,
    )


class _Names:
    """The new names by the old ones, the same throughout a suite and never ambiguous."""

    def __init__(self, suite: Suite, seed: int) -> None:
        every = [suite.tools, *(one.tools for one in suite.scenarios if one.tools is not None)]
        specs = [spec for tools in every for spec in tools.values()]
        properties = (spec.parameters.get("properties", ()) for spec in specs)
        self._tools = _other_names([spec.name for spec in specs], seed)
        self._arguments = _other_names([key for keys in properties for key in keys], seed)

    def tool(self, name: str) -> str:
        return self._tools[name]

    def argument(self, name: str) -> str:
        return self._arguments.get(name, name)

    def tools(self, tools: Tools) -> Tools:
        return Tools(map(self._spec, tools.values()))

    def _spec(self, spec: ToolSpec) -> ToolSpec:
        return replace(
            spec,
            name=self.tool(spec.name),
            description=self.text(spec.description),
            parameters=_schema(spec.parameters, self),
            paths=frozenset(map(self.argument, spec.paths)),
        )

    def text(self, text: str) -> str:
        """Return the text with names replaced in backticks or with `_`; other words stay."""
        both = self._arguments | self._tools
        return _SPELLED.sub(lambda found: both.get(found[0], found[0]), text)


_SPELLED = re.compile(r"(?<=`)\w+(?=`)|(?<!\w)[A-Za-z0-9]+_\w+")


def _other_names(names: Iterable[str], seed: int) -> dict[str, str]:
    """Choose each name independently, so that a suite that grows keeps its names if possible."""
    found = dict.fromkeys(names, "")
    taken = set(found)
    for name in found:
        found[name] = _other_name(name, taken, random.Random(f"{seed} {name}"))
        taken.add(found[name])
    return found


def _other_name(name: str, taken: set[str], rng: random.Random) -> str:
    """Replace each word by a synonym if there is one, and add an affix until the name is new."""
    synonyms, known = _WORDS["synonyms"], _WORDS["affixes"]
    candidate = "_".join(rng.choice(synonyms.get(word, (word,))) for word in name.split("_"))
    affixes = rng.sample(known, len(known))
    while candidate in taken:
        candidate = (affixes.pop() if affixes else known[-1]).format(candidate)
    return candidate


_SUBSCHEMAS = frozenset({"allOf", "anyOf", "oneOf", "not", "if", "then", "else"})
_BY_NAME = frozenset({"properties", "dependentRequired", "dependentSchemas"})
_VALUES = frozenset({"const", "default", "enum", "examples"})  # data, in which names stay


def _schema(schema: Mapping[str, JsonValue], names: _Names) -> JsonObject:
    """Return the schema with arguments renamed; names inside an argument's value stay."""
    return {key: _keyword(key, value, names) for key, value in schema.items()}


def _keyword(key: str, value: JsonValue, names: _Names) -> JsonValue:
    if key == "required" and isinstance(value, list):
        return [names.argument(name) for name in value]
    if key in _BY_NAME and isinstance(value, Mapping):
        return {names.argument(name): _below(key, inner, names) for name, inner in value.items()}
    if key in _SUBSCHEMAS and isinstance(value, Mapping):
        return _schema(value, names)
    if key in _SUBSCHEMAS and isinstance(value, list):
        return [_keyword("not", inner, names) for inner in value]
    return _inside(key, value, names)


def _below(key: str, value: JsonValue, names: _Names) -> JsonValue:
    """Return the part below a name: a property's schema, or a dependency's names or schema."""
    if key == "properties":
        return _references(value, names)
    return _keyword("required" if isinstance(value, list) else "not", value, names)


def _references(value: JsonValue, names: _Names) -> JsonValue:
    """Update references to arguments, and argument names in descriptions, in a nested schema."""
    if isinstance(value, list):
        return [_references(item, names) for item in value]
    if not isinstance(value, Mapping):
        return value
    found = {key: _inside(key, item, names) for key, item in value.items()}
    if isinstance(reference := found.get("$ref"), str) and reference.startswith("#/properties/"):
        name, slash, rest = reference.removeprefix("#/properties/").partition("/")
        found["$ref"] = f"#/properties/{names.argument(name)}{slash}{rest}"
    return found


def _inside(key: str, value: JsonValue, names: _Names) -> JsonValue:
    """Return a keyword's value within an argument's schema, where property names stay."""
    if key in _BY_NAME and isinstance(value, Mapping):
        return {name: _references(inner, names) for name, inner in value.items()}
    if key == "description" and isinstance(value, str):
        return names.text(value)
    return value if key in _VALUES else _references(value, names)


def _scenario(scenario: Scenario, names: _Names, seed: int) -> Scenario:
    template = random.Random(f"{seed} {scenario.id}").choice(_WORDS["requests"])
    prompt = scenario.prompt
    values = json.dumps([call.arguments for call in scenario.expect.calls or ()])
    if not any(found in values for found in _SPELLED.findall(prompt)):
        prompt = names.text(prompt)  # no expected argument has to copy a name from it
    return scenario.model_copy(
        update={
            "prompt": template.replace("{}", prompt),
            "tools": None if scenario.tools is None else names.tools(scenario.tools),
            "expect": _expectation(scenario.expect, names),
        }
    )


def _expectation(expect: Expectation, names: _Names) -> Expectation:
    calls = expect.calls and tuple(
        ExpectedCall(
            name=names.tool(call.name),
            arguments={names.argument(key): value for key, value in call.arguments.items()},
        )
        for call in expect.calls
    )
    return expect.model_copy(
        update={
            "calls": calls,
            "tools": expect.tools and tuple(map(names.tool, expect.tools)),
            "forbid": tuple(map(names.tool, expect.forbid)),
        }
    )
