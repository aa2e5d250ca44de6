"""The JSON schema of all answers that some tools allow, for constrained decoding.

A grammar made from it binds a small model to the syntax, not to the meaning. The schema is kept
small: an argument that may be null may be left out instead, and strings and lists are bounded,
because a model that repeats itself inside an unbounded string never ends.
"""

from __future__ import annotations

from collections.abc import Mapping

from tunaeval.types.calls import JsonObject, JsonValue, Tools, ToolSpec

MAX_STRING = 240  # characters of a string argument
MAX_ITEMS = 8
MAX_CALLS = 4

_KEPT = ("type", "enum", "const", "minimum", "maximum", "minItems")
_MAX_DEPTH = 8  # levels of a schema; anything is allowed below


def call_schema(tools: Tools) -> JsonObject:
    """Return a schema for one call, a list of two to four calls, or {"answer": text}."""
    calls = [_call(spec) for spec in tools.values()]
    answer = _object({"answer": {"type": "string", "maxLength": MAX_STRING}}, ["answer"])
    if not calls:
        return answer
    several = {
        "type": "array",
        "items": {"anyOf": calls},
        "minItems": 2,
        "maxItems": MAX_CALLS,
    }
    return {"anyOf": [*calls, several, answer]}


def plain_type(schema: object) -> str:
    """Return the type of an argument in a word or two, for people and small models."""
    plain = _plain(schema, 0)
    kind = plain.get("type", "any")
    if kind == "array":
        return f"list of {plain_type(plain['items'])}" if "items" in plain else "list"
    return "/".join(map(str, kind)) if isinstance(kind, list) else str(kind)


def _call(spec: ToolSpec) -> JsonObject:
    properties = spec.parameters.get("properties", {})
    arguments = _object(
        {name: _plain(schema, 0) for name, schema in properties.items()},
        [name for name in spec.parameters.get("required", ()) if name in properties],
    )
    return _object({"name": {"const": spec.name}, "arguments": arguments}, ["name", "arguments"])


def _object(properties: Mapping[str, JsonValue], required: list[str]) -> JsonObject:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": required,
        "additionalProperties": False,
    }


def _plain(schema: object, depth: int) -> JsonObject:
    """Return the part of a schema that a grammar can express, without null and with bounds."""
    if not isinstance(schema, Mapping) or depth > _MAX_DEPTH:
        return {}
    for key in ("anyOf", "oneOf"):
        if isinstance(schema.get(key), list):
            branches = [_plain(one, depth + 1) for one in schema[key] if one != {"type": "null"}]
            return branches[0] if len(branches) == 1 else {"anyOf": branches}
    plain: JsonObject = {key: schema[key] for key in _KEPT if key in schema}
    kind = plain.get("type")
    if isinstance(kind, list):
        kinds = [one for one in kind if one != "null"]
        kind = plain["type"] = kinds[0] if len(kinds) == 1 else kinds
    if kind == "string" and "enum" not in plain:
        plain["maxLength"] = min(MAX_STRING, schema.get("maxLength", MAX_STRING))
    if kind == "array":
        plain["items"] = _plain(schema.get("items"), depth + 1)
        plain["maxItems"] = min(MAX_ITEMS, schema.get("maxItems", MAX_ITEMS))
    if kind == "object":
        plain |= _plain_object(schema, depth)
    return plain


def _plain_object(schema: Mapping[str, JsonValue], depth: int) -> JsonObject:
    properties = schema.get("properties")
    if isinstance(properties, Mapping) and properties:
        inner = {name: _plain(item, depth + 1) for name, item in properties.items()}
        return _object(inner, [name for name in schema.get("required", ()) if name in inner])
    extra = schema.get("additionalProperties", True)
    return {"additionalProperties": _plain(extra, depth + 1) if isinstance(extra, dict) else extra}
