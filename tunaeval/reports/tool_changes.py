"""Differences between two descriptions of a tool, each with its place.

    name, description, required              of the tool itself
    parameters.why                           a parameter that one of them lacks
    parameters.timeout.default               a keyword of a parameter: .type, .enum, ...
    parameters.at.properties.line.type       a keyword of a nested schema

Schemas that mean the same (`anyOf` or a list of types, `$ref` or the schema itself, another order)
are no difference, nor are titles, examples, and whether further arguments are refused. White space
in descriptions does not matter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tunaeval.parsing.repair.schema import ANY, admitted, resolved
from tunaeval.types.calls import JsonValue, ToolSpec

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
    """A difference between two descriptions of a tool; `...` stands for a missing value.

    It `misleads` if a call that is right by one may be wrong by the other: other names, types,
    choices or required arguments. Other wording, defaults and formats do not mislead.

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

    def __str__(self) -> str:
        if self.theirs is ...:
            return f"{self.place}: only ours, {_short(self.ours)}"
        if self.ours is ...:
            return f"{self.place}: only theirs, {_short(self.theirs)}"
        return f"{self.place}: ours {_short(self.ours)}, theirs {_short(self.theirs)}"


def changes_between(ours: ToolSpec, theirs: ToolSpec) -> tuple[Change, ...]:
    """Return all differences, in the order of our parameters."""
    found = [*_changed("", dict(_about(ours)), dict(_about(theirs)))]
    mine, others = _parameters(ours), _parameters(theirs)
    for name in {**mine, **others}:
        place = f"parameters.{name}"
        if name in mine and name in others:
            one = _facts(mine[name], ours.parameters)
            found += _changed(f"{place}.", one, _facts(others[name], theirs.parameters))
        else:
            found.append(Change(place, mine.get(name, ...), others.get(name, ...)))
    return tuple(found)


def _about(spec: ToolSpec) -> Iterator[tuple[str, JsonValue]]:
    yield "name", spec.name
    if words := _plain(spec.description):
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
            yield Change(f"{place}{key}", one, other, misleads)


def _facts(schema: JsonValue, root: JsonValue) -> dict[str, JsonValue]:
    """Return what a schema says about a value and its parts, by place."""
    reading = _Reading(root)
    reading.read(schema, "", ())
    return reading.facts


class _Reading:
    """Collects the facts of a schema in a bounded number of steps."""

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
    """Yield the facts in a keyword, except in keywords that lead to further schemas."""
    match key:
        case "const":
            yield "enum", [value]
        case "description":
            if words := _plain(value):
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


def _plain(words: object) -> str:
    return " ".join(words.split()) if isinstance(words, str) else ""


def _short(value: JsonValue) -> str:
    """Return a value in at most 60 characters, on one line."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
