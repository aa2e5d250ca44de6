"""JSON schemas out of the dialects that data sets use: Arrow's nulls, Python's types, xLAM's lists.

    {"city": {"type": "str, optional", "default": "Oslo"}}     xLAM: bare arguments
    {"type": "dict", "properties": {"n": {"type": "float"}}}   BFCL and ToolACE: Python's names
    {"properties": {"city": {...}, "days": None}}              Arrow: every key in every row

A schema in none of these dialects is returned unchanged.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from tunaeval.limits import MAX_SCHEMA_PARTS
from tunaeval.types.calls import JsonObject, JsonValue

_MAPS = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
"""Keywords whose value is an object that maps names to schemas."""
_LISTS = frozenset({"anyOf", "oneOf", "allOf", "prefixItems"})
_ONE = frozenset({"items", "additionalProperties", "additionalItems", "not", "contains"})
_NULL_IS_A_VALUE = frozenset({"default", "const"})

_KINDS: Mapping[str, JsonObject] = {
    "dict": {"type": "object"},
    "float": {"type": "number"},
    "int": {"type": "integer"},
    "str": {"type": "string"},
    "bool": {"type": "boolean"},
    "list": {"type": "array"},
    "tuple": {"type": "array"},
    "set": {"type": "array"},
    "none": {"type": "null"},
    "any": {},
}
"""JSON schemas for the names of Python's types."""
_JSON_KINDS = frozenset({"object", "number", "integer", "string", "boolean", "array", "null"})
_OF_ITEMS = frozenset({"list", "tuple", "set", "sequence", "iterable"})
_DEEPEST = 64

_Known: TypeAlias = dict[int, JsonObject]


def plain_schema(schema: Mapping[str, JsonValue]) -> JsonObject:
    """Return the schema without Arrow's nulls and with JSON schema's type names, as a copy.

    Examples:
        >>> plain_schema({"city": {"type": "str"}, "days": {"type": "int, optional"}})
        {'type': 'object', 'properties': {'city': {'type': 'string'}, 'days': {'type': 'integer'}},
        'required': ['city']}
    """
    known = {key: inner for key, inner in schema.items() if inner is not None}
    found = _framed(known) if _is_unframed(known) else known
    return _plain(found, 0, {})


def _is_unframed(schema: Mapping[str, JsonValue]) -> bool:
    """Whether `schema` is a bare object of arguments, as xLAM writes it, without `properties`."""
    return bool(schema) and all(
        isinstance(inner, Mapping)
        and (isinstance(inner.get("type"), str) or isinstance(inner.get("description"), str))
        for inner in schema.values()
    )


def _framed(arguments: Mapping[str, JsonValue]) -> JsonObject:
    """Return an object schema; arguments are required unless called optional or with a default."""
    required = [
        name
        for name, inner in arguments.items()
        if inner.get("default") is None and "optional" not in str(inner.get("type", "")).lower()
    ]
    return {"type": "object", "properties": dict(arguments), "required": required}


def is_short(schema: Mapping[str, JsonValue]) -> bool:
    """Whether the schema as JSON has at most `MAX_SCHEMA_PARTS` values; a part that is shared in
    memory counts each time that it is written, so a reference cycle has too many.
    """
    waiting: list[object] = [schema]
    count = 0
    while waiting and count + len(waiting) <= MAX_SCHEMA_PARTS:
        one = waiting.pop()
        count += 1
        if isinstance(one, Mapping):
            waiting += one.values()
        elif isinstance(one, list | tuple):
            waiting += one
    return not waiting


def _plain(schema: Mapping[str, JsonValue], depth: int, known: _Known) -> JsonObject:
    """Return a plain copy; `known` maps ids of schemas to copies: shared parts stay shared."""
    if depth > _DEEPEST:
        return dict(schema)
    if id(schema) in known:
        return known[id(schema)]
    made: JsonObject = {}
    known[id(schema)] = made
    for key, inner in schema.items():
        if inner is None and key not in _NULL_IS_A_VALUE:
            continue
        if key in _MAPS and isinstance(inner, Mapping):
            made[key] = {
                name: _inner(one, depth, known) for name, one in inner.items() if one is not None
            }
        elif key in _LISTS and isinstance(inner, list | tuple):
            made[key] = [_inner(one, depth, known) for one in inner if one is not None]
        elif key in _ONE:
            made[key] = _inner(inner, depth, known)
        else:
            made[key] = inner
    _typed(made)
    return made


def _inner(schema: JsonValue, depth: int, known: _Known) -> JsonValue:
    return _plain(schema, depth + 1, known) if isinstance(schema, Mapping) else schema


def _typed(schema: JsonObject) -> None:
    """Replace Python's type name; drop `"const": null`, which Arrow adds beside any other type."""
    kind = schema.get("type")
    if isinstance(kind, str) and kind not in _JSON_KINDS:
        plain = _kind(kind.split(",")[0] if "[" not in kind else kind)
        if plain is not None:
            del schema["type"]
            schema.update({**plain, **schema})
    if "const" in schema and schema["const"] is None and schema.get("type", "null") != "null":
        del schema["const"]


def _kind(text: str) -> JsonObject | None:
    """Return the schema for a type in Python's spelling (`List[int]`); None if it is unknown."""
    name, bracket, inside = text.strip().partition("[")
    name = name.strip().lower().removeprefix("typing.")
    inner = _parts(inside.rpartition("]")[0]) if bracket else []
    if name in _JSON_KINDS:
        return {"type": name}
    if name in _OF_ITEMS:
        item = _kind(inner[0]) if inner else None
        return {"type": "array", "items": item} if item else {"type": "array"}
    if name in {"union", "optional"} and inner:
        kinds = [found for found in map(_kind, inner) if found is not None]
        kinds += [{"type": "null"}] * (name == "optional")
        return {"anyOf": kinds} if len(kinds) > 1 else kinds[0] if kinds else {}
    return dict(_KINDS[name]) if name in _KINDS else None


def _parts(text: str) -> list[str]:
    """Split at the commas that are outside of brackets."""
    parts, depth = [""], 0
    for character in text:
        depth += (character == "[") - (character == "]")
        if character == "," and not depth:
            parts.append("")
        else:
            parts[-1] += character
    return [part for part in parts if part.strip()]
