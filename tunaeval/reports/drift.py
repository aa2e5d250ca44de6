"""Find drift: a tool's description names arguments that the tool does not have, or omits some.

Two descriptions of a tool are compared, too, such as an installed agent's and a catalogue's.

An agent described its update_file with `old_string` and `new_string`, but it took `target` and
`patch`. `_EVIDENCE` is the table of what counts as a mention of an argument in prose; words in
quotes, in a path or before a bracket are values, files or functions. No reading of prose is
certain: a drift is a finding to look at, not a proof, and names its evidence.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from os import PathLike
from typing import TypeAlias

from tunaeval.parsing.repair.schema import ANY, admitted, resolved
from tunaeval.showing import brief
from tunaeval.tools.specs import ToolLike, to_tools
from tunaeval.tools.tool_prompts import ToolPrompt, read_tool_prompt
from tunaeval.types.calls import JsonValue, Tools, ToolSpec
from tunaeval.types.wanted import wanted_items

_LONGEST_NAME = 64
_DEEPEST_INDENT = 40
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*+")
_KINDS = ("required", "optional", "string", "str", "int", "bool", "number", "array", "object")
_BOUND = frozenset("-./\\@$&?:")
"""Directly before a word, these make it part of a path, an option, an address or a variable."""


@dataclass(frozen=True, slots=True)
class Mention:
    """A name in a line of the prompt that is written like an argument, but is none.

    `evidence` says how it was written, and `near` lists parameters that may be meant.
    """

    name: str
    line: int
    evidence: str
    near: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Drift:
    """How a tool's description differs from its parameters, or from another description.

    `only_in_prompt` are names written like arguments that the tool lacks, `only_in_schema`
    parameters that the prompt does not mention.

    Examples:
        >>> ours = {"name": "ls", "parameters": {"properties": {"path": {"type": "string"}}}}
        >>> tunaeval.find_drift({**ours, "description": "Lists a `directory`."}).only_in_schema
        ('path',)
    """

    tool: str
    only_in_prompt: tuple[Mention, ...] = ()
    only_in_schema: tuple[str, ...] = ()
    changes: tuple[Change, ...] = ()

    def __bool__(self) -> bool:
        """Whether a model would be misled: by a name that the tool does not have, or by a change
        that `misleads`. Parameters without a mention and other wording do not mislead.
        """
        return bool(self.only_in_prompt) or any(change.misleads for change in self.changes)

    def __str__(self) -> str:
        mentions = [
            f"{self.tool}: line {one.line} names {one.name!r} ({one.evidence}), "
            + (f"did you mean {' or '.join(map(repr, one.near))}?" if one.near else self._others())
            for one in self.only_in_prompt
        ]
        return "\n".join([*mentions, *(f"{self.tool}: {change}" for change in self.changes)])

    def _others(self) -> str:
        others = ", ".join(self.only_in_schema)
        return f"which it does not take; never named: {others}" if others else "which it lacks"


def find_drift(
    tool: ToolLike,
    prompt: str | PathLike[str] | ToolPrompt | ToolLike | None = None,
    *,
    tools: Iterable[str] = (),
) -> Drift:
    """Compare the names in a prompt file with the parameters of `tool`.

    `prompt` is the file, or the result of reading it; by default the tool's own description is
    used. `tools` are the names of other tools, which a description may mention.

    `prompt` may also be another description of the same tool, in any shape that `to_tools` reads:
    then the drift has only the `changes` between both, where `tool` is "ours". Raises ToolsError
    for what is neither a tool nor a prompt.

    Examples:
        >>> spec = {"name": "ls", "parameters": {"properties": {"path": {"type": "string"}}}}
        >>> tunaeval.find_drift({**spec, "description": "Give it a `directory`."}).only_in_schema
        ('path',)
    """
    (spec,) = to_tools([tool]).values()
    match prompt:
        case None:
            return _names_astray(spec, ToolPrompt(spec.description), tools)
        case ToolPrompt():
            return _names_astray(spec, prompt, tools)
        case str() | PathLike():
            return _names_astray(spec, read_tool_prompt(prompt), tools)
    (other,) = to_tools([prompt]).values()
    return Drift(spec.name, changes=changes_between(spec, other))


def compare_tools(
    ours: Tools | Iterable[ToolLike], theirs: Tools | Iterable[ToolLike]
) -> tuple[Drift, ...]:
    """Return the drift of each tool that two lists describe differently or only one contains.

    Tools are paired by name. Those of `ours` come first, in their order; equal tools are left out.

    Examples:
        >>> [drift.tool for drift in tunaeval.compare_tools([{"name": "ls"}], [{"name": "cat"}])]
        ['ls', 'cat']
    """
    mine, others = to_tools(ours) or Tools(), to_tools(theirs) or Tools()
    drifts = [
        find_drift(spec, others[name])
        if name in others
        else Drift(name, changes=(Change("name", name, ..., breaks=True),))
        for name, spec in mine.items()
    ]
    new = [name for name in others if name not in mine]
    drifts += [Drift(name, changes=(Change("name", ..., name),)) for name in new]
    return tuple(drift for drift in drifts if drift.changes)


def _names_astray(spec: ToolSpec, given: ToolPrompt, tools: Iterable[str]) -> Drift:
    parameters = tuple(spec.parameters.get("properties") or ())
    named = [*tools] if isinstance(tools, Mapping) else tools  # the keys of `Tools` are names
    others = wanted_items(named, "tools", str, "names of tools")
    known = {spec.name, *others, *_names(spec.parameters)}
    found: dict[str, Mention] = {}
    for name, line, evidence in _mentions(given, parameters):
        if name not in known and name not in found:
            found[name] = Mention(name, line, evidence, _near(name, parameters))
    met = {*given.parameters, *_WORD.findall(given.description)}
    return Drift(spec.name, tuple(found.values()), tuple(p for p in parameters if p not in met))


def _mentions(given: ToolPrompt, parameters: tuple[str, ...]) -> Iterator[tuple[str, int, str]]:
    """Yield each name that is written like an argument, its line, and the evidence."""
    for name, number in given.lines.items():
        yield name, number, "parameter element"
    for number, line in enumerate(given.description.split("\n"), given.line):
        quotes = at = 0
        for word in _WORD.finditer(line):
            quotes += line.count('"', at, word.start())
            at = word.start()
            for evidence, shows in _QUOTED if quotes % 2 else _EVIDENCE:
                if shows(line, word, parameters):
                    yield word[0], number, evidence
                    break


def _is_key(line: str, word: re.Match[str], _parameters: tuple[str, ...]) -> bool:
    """Whether the word is a key: `{"word": ...}`."""
    return line.startswith('":', word.end()) and line.endswith('"', 0, word.start())


def _is_assigned(line: str, word: re.Match[str], _parameters: tuple[str, ...]) -> bool:
    """Whether the word is assigned (`word=true`), and is no option, variable or comparison."""
    assigned = line.startswith("=", word.end()) and not line.startswith("==", word.end())
    return assigned and _preceding(line, word) not in _BOUND and not word[0].isupper()


def _is_listed(line: str, word: re.Match[str], _parameters: tuple[str, ...]) -> bool:
    """Whether the word is an item of a list: `- word (required): ...`."""
    first = word.start() <= _DEEPEST_INDENT and not line[: word.start()].strip("-* `\t")
    opened = first and line.startswith((" (", "("), word.end())
    return opened and line[word.end() :][:12].strip(" (").startswith(_KINDS)


def _is_snake(line: str, word: re.Match[str], _parameters: tuple[str, ...]) -> bool:
    """Whether the word is in snake case, and neither quoted, called, nor part of a path."""
    if "_" not in word[0].strip("_") or not word[0].islower():
        return False
    after = line[word.end() : word.end() + 2]
    in_path = after[:1] in {".", "/", ":"} and after[1:].isalnum()
    return not (in_path or after[:1] in {"(", "'"} or _preceding(line, word) in _BOUND | {"'"})


def _is_ticked(line: str, word: re.Match[str], parameters: tuple[str, ...]) -> bool:
    """Whether the word is in backticks and similar to the name of a parameter."""
    ticked = line.startswith("`", word.end()) and _preceding(line, word) == "`"
    return ticked and bool(_near(word[0], parameters))


_Shows: TypeAlias = Callable[[str, "re.Match[str]", "tuple[str, ...]"], bool]
_QUOTED: tuple[tuple[str, _Shows], ...] = (("key", _is_key),)
_EVIDENCE: tuple[tuple[str, _Shows], ...] = (
    ("assignment", _is_assigned),
    ("list", _is_listed),
    ("snake case", _is_snake),
    ("backticks", _is_ticked),
)


def _preceding(line: str, word: re.Match[str]) -> str:
    return line[word.start() - 1 : word.start()] if word.start() else ""


def _near(name: str, parameters: tuple[str, ...]) -> tuple[str, ...]:
    """Return parameters that `name` may mean: spelled alike, or one is within the other."""
    if not 3 <= len(name) <= _LONGEST_NAME:
        return ()
    inside = [one for one in parameters if name in one or (len(one) >= 3 and one in name)]
    alike = get_close_matches(name, parameters, n=3, cutoff=0.7)
    return tuple(dict.fromkeys([*alike, *inside]))


def _names(schema: JsonValue) -> Iterator[str]:
    """Yield all names of properties and all strings in a schema; prompts may mention them."""
    waiting = [schema]
    while waiting:
        match waiting.pop():
            case dict() as inner:
                yield from inner.get("properties") or ()
                waiting += inner.values()
            case list() as inner:
                waiting += inner
            case str() as text:
                yield text


_MOST_STEPS = 2_000
_DEEPEST = 40
"""Limits for schemas that refer to themselves; no schema that a model could read has more."""

_HARMLESS = frozenset({"default", "description", "format"})
_UNIONS = ("anyOf", "oneOf", "allOf")
_UNSAID = frozenset({
    *_UNIONS, "$anchor", "$comment", "$defs", "$id", "$ref", "$schema", "additionalProperties",
    "definitions", "deprecated", "discriminator", "examples", "items", "nullable", "prefixItems",
    "properties", "title", "type",
})  # fmt: skip
"""Keywords that are followed, implied by the type, or without an effect on calls."""


@dataclass(frozen=True, slots=True)
class Change:
    """A difference between two descriptions of one tool.

    `ours` and `theirs` are the values at the same place of each; `...` stands for a value that one
    of them lacks.

    It `misleads` if a call that is right by one may be wrong by the other: other names, types,
    choices or required arguments. Other wording, defaults and formats do not mislead. It `breaks`
    if a call that is right by ours may be wrong by theirs: a tool or an argument is missing there,
    a type or a choice is no longer admitted, or something is required that was not. What is only
    added, or admits more, does not break.

    Examples:
        >>> ours = {"name": "ls", "parameters": {"properties": {"depth": {"type": "integer"}}}}
        >>> theirs = {"name": "ls", "parameters": {"properties": {"depth": {"type": "string"}}}}
        >>> change = tunaeval.find_drift(ours, theirs).changes[0]
        >>> change.ours, change.theirs, change.misleads
        ('integer', 'string', True)
    """

    place: str
    ours: JsonValue
    theirs: JsonValue
    misleads: bool = True
    breaks: bool = field(default=False, compare=False)

    def __str__(self) -> str:
        if self.theirs is ...:
            return f"{self.place}: only ours, {brief(self.ours)}"
        if self.ours is ...:
            return f"{self.place}: only theirs, {brief(self.theirs)}"
        return f"{self.place}: ours {brief(self.ours)}, theirs {brief(self.theirs)}"


def changes_between(ours: ToolSpec, theirs: ToolSpec) -> tuple[Change, ...]:
    """Return all differences, in the order of our parameters, each with its place:

        name, description, required              of the tool itself
        parameters.why                           a parameter that one of them lacks
        parameters.timeout.default               a keyword of a parameter: .type, .enum, ...
        parameters.at.properties.line.type       a keyword of a nested schema

    Schemas that mean the same (`anyOf` or a list of types, `$ref` or the schema itself, another
    order) are no difference, nor are titles, examples, and whether further arguments are refused.
    White space in descriptions does not matter.
    """
    found = [*_changed("", dict(_about(ours)), dict(_about(theirs)))]
    mine, others = _parameters(ours), _parameters(theirs)
    for name in {**mine, **others}:
        place = f"parameters.{name}"
        if name in mine and name in others:
            one = _facts(mine[name], ours.parameters)
            found += _changed(f"{place}.", one, _facts(others[name], theirs.parameters))
        else:
            one, other = mine.get(name, ...), others.get(name, ...)
            found.append(Change(place, one, other, breaks=other is ...))
    return tuple(found)


def _about(spec: ToolSpec) -> Iterator[tuple[str, JsonValue]]:
    yield "name", spec.name
    if words := _one_line(spec.description):
        yield "description", words
    yield "required", sorted(spec.parameters.get("required", ()))


def _parameters(spec: ToolSpec) -> Mapping[str, JsonValue]:
    properties: Mapping[str, JsonValue] = spec.parameters.get("properties") or {}
    return properties


def _changed(
    place: str, ours: Mapping[str, JsonValue], theirs: Mapping[str, JsonValue]
) -> Iterator[Change]:
    for key in {**ours, **theirs}:
        one, other = ours.get(key, ...), theirs.get(key, ...)
        if one != other:
            misleads = key.rpartition(".")[2] not in _HARMLESS
            breaks = misleads and not _is_new(key, ours) and _narrows(key, one, other)
            yield Change(f"{place}{key}", one, other, misleads, breaks)


def _is_new(key: str, ours: Mapping[str, JsonValue]) -> bool:
    """Whether `key` is within a nested property that `ours` lacks, so that no old call has it."""
    parts = key.split(".")
    return any(
        part == "properties" and ".".join([*parts[: index + 2], "type"]) not in ours
        for index, part in enumerate(parts[:-2])
    )


def _narrows(key: str, ours: JsonValue, theirs: JsonValue) -> bool:
    """Whether a value that our schema's `key` admits may be refused by theirs."""
    match key.rpartition(".")[2]:
        case "required":
            return not {*_items(theirs)} <= {*_items(ours)}
        case "enum" if ours is not ... and theirs is not ...:
            return any(value not in theirs for value in ours)
        case "type" if theirs is ...:
            return "properties." in key  # the property is gone, not only what was said about it
        case "type" if ours is not ...:
            admits = {*theirs.split(" or ")}
            admits |= {"integer"} if "number" in admits else set()
            return theirs != "any" and not {*ours.split(" or ")} <= admits
    return theirs is not ...


def _items(value: JsonValue) -> Iterable[JsonValue]:
    return () if value is ... else value


def _facts(schema: JsonValue, root: JsonValue) -> dict[str, JsonValue]:
    """Return what a schema says about a value and its parts, by place ("items.type")."""
    reading = _SchemaFacts(root)
    reading.read(schema, "", ())
    return reading.facts


class _SchemaFacts:
    """Collects what a schema says, in a bounded number of steps."""

    def __init__(self, root: JsonValue) -> None:
        self.root = root
        self.facts: dict[str, JsonValue] = {}
        self.types: dict[int, str] = {}
        self.steps = iter(range(_MOST_STEPS))

    def read(self, schema: JsonValue, at: str, path: tuple[int, ...]) -> None:
        if id(schema) not in self.types:  # references may lead to one schema from many places
            self.types[id(schema)] = _type_of(schema, self.root)
        self.facts.setdefault(f"{at}type", self.types[id(schema)])
        circular = id(schema) in path or len(path) > _DEEPEST
        if not isinstance(schema, Mapping) or circular or next(self.steps, None) is None:
            return
        # A schema's own keywords win over those of its unions and references.
        keywords = sorted(schema.items(), key=lambda item: (item[0] in _UNIONS, str(item[0])))
        for key, value in keywords:
            for name, fact in _facts_in(key, value):
                self.facts.setdefault(f"{at}{name}", fact)
        path = (*path, id(schema))
        for key, value in keywords:
            for place, inner in _inside(key, value):
                self.read(inner, at + place, path)
        if "$ref" in schema:
            meant = resolved(schema["$ref"], self.root)
            if isinstance(meant, Mapping):
                self.read(meant, at, path)
            else:
                self.facts.setdefault(f"{at}$ref", schema["$ref"])


def _type_of(schema: JsonValue, root: JsonValue) -> str:
    """Return the JSON types that a schema admits, in words; numbers include integers."""
    kinds = admitted(schema, root)
    if kinds == ANY:
        return "any"
    named = kinds - {"integer"} if "number" in kinds else kinds
    return " or ".join(sorted(named, key=lambda kind: (kind == "null", kind)))


def _facts_in(key: str, value: JsonValue) -> Iterator[tuple[str, JsonValue]]:
    """Yield what a keyword says, as names and values, unless it contains further schemas."""
    match key:
        case "const":
            yield "enum", [value]
        case "description":
            if words := _one_line(value):
                yield key, words
        case "enum" | "required" if isinstance(value, list | tuple):
            yield key, sorted(value, key=repr)
        case _ if key not in _UNSAID:
            yield key, value


def _inside(key: str, value: JsonValue) -> Iterator[tuple[str, JsonValue]]:
    """Yield the schemas inside a keyword, each with its place."""
    if key in _UNIONS and isinstance(value, list):
        # Branches with nothing but a type are in the fact `type` already.
        detailed = [one for one in value if isinstance(one, Mapping) and one.keys() - {"type"}]
        for index, branch in enumerate(detailed):
            yield f"{key}[{index}]." if detailed[1:] else "", branch
    elif key in {"items", "additionalProperties"} and isinstance(value, Mapping) and value:
        yield f"{key}.", value
    elif key == "prefixItems" and isinstance(value, list):
        for index, item in enumerate(value):
            yield f"{key}[{index}].", item
    elif key == "properties" and isinstance(value, Mapping):
        for name, inner in value.items():
            yield f"{key}.{name}.", inner


def _one_line(words: object) -> str:
    return " ".join(words.split()) if isinstance(words, str) else ""
