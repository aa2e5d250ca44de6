"""How dictionaries of OpenAI and Anthropic, frameworks' tools and functions become `Tools`.

    {"type": "function", "function": {"name", "description", "parameters"}}     OpenAI, chat
    {"type": "function", "name", "description", "parameters", "strict"}         OpenAI, Responses
    {"name", "description", "parameters"}                                       bare
    {"name", "description", "input_schema"}                                     Anthropic
    {"name", "description", "inputSchema"}                                      MCP
    an object with a name, a description and a schema        LangChain, pydantic-ai, tinyagent, MCP,
                                                             LlamaIndex, agno
    def search(pattern: str, directory: Path = Path(".")) -> str: ...           a function

A list may be JSON text, as data sets keep it, and so may each tool in it. Schemas in the dialects
of data sets become JSON schema; others are left unchanged:

    {"city": {"type": "str, optional", "default": "Oslo"}}     xLAM: bare arguments
    {"type": "dict", "properties": {"n": {"type": "float"}}}   BFCL and ToolACE: Python's names
    {"properties": {"city": {...}, "days": None}}              Arrow: every key in every row

An argument is a path if its schema has `"format": "path"`, which pydantic writes for
`pathlib.Path`; a `ToolSpec` lists its path arguments itself.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias, overload

from tunaeval.errors import ToolsError
from tunaeval.limits import MAX_SCHEMA_PARTS
from tunaeval.showing import brief
from tunaeval.types.calls import JsonObject, JsonValue, Tools, ToolSpec
from tunaeval.types.json_text import decoded

ToolLike: TypeAlias = ToolSpec | Mapping[str, JsonValue] | Callable[..., object] | str

COMMAND_ARGUMENTS = frozenset({
    "args", "argv", "bash", "cmd", "code", "command", "command_line", "commands", "input", "script",
    "shell",
})  # fmt: skip
"""Names of arguments whose values are run: a shell's line, its words, or a program."""

_SCHEMA_KEYS = ("parameters", "input_schema", "inputSchema")
_PATH_FORMATS = frozenset({"path", "file-path", "directory-path"})
_WANTED = "a ToolSpec, a dict of the OpenAI, Anthropic or MCP kind, or a function"
_OBJECT_SCHEMAS: tuple[Callable[[Any], object], ...] = (
    lambda tool: tool.metadata.get_parameters_dict(),  # LlamaIndex
    lambda tool: tool.parameters,  # tinyagent, agno
    lambda tool: tool.function_schema.json_schema,  # pydantic-ai
    lambda tool: tool.tool_call_schema,  # LangChain, for a tool made with a schema
    lambda tool: tool.tool_call_schema.model_json_schema(),  # LangChain, made with a model
    lambda tool: tool.input_schema,  # MCP's SDK, version 2
    lambda tool: tool.inputSchema,  # MCP's SDK, version 1
)
"""How to get the schema of the arguments from a framework's tool."""


@overload
def to_tools(tools: None) -> None: ...
@overload
def to_tools(tools: Tools | Iterable[ToolLike] | str) -> Tools: ...


def to_tools(tools: Tools | Iterable[ToolLike] | str | None) -> Tools | None:
    """Return the tools by name; `Tools`, and None (any name is a tool), are returned unchanged.

    A list may be given as JSON text, and so may each tool. To parse many texts with one list,
    convert it once: `Tools` cache what they prepare. Raises ToolsError for what is no tool.

    Examples:
        >>> tools = tunaeval.to_tools([{"type": "function", "function": {"name": "ls"}}])
        >>> tools["ls"].name
        'ls'
    """
    if tools is None or isinstance(tools, Tools):
        return tools
    if isinstance(tools, str):
        tools = _of_json(tools, "tools", "a list of tools; to give one tool, write [tool]")
    if isinstance(tools, Mapping | ToolSpec) or not isinstance(tools, Iterable):
        raise ToolsError(
            f"tools is {brief(tools)}, wanted a list of tools; to give one tool, write [tool]"
        )
    specs: list[ToolSpec] = []
    at: dict[str, int] = {}
    for index, tool in enumerate(tools):
        spec = spec_of(tool, f"tools[{index}]")
        if spec.name in at:
            raise ToolsError(
                f"tools[{index}]: the name {spec.name!r} is taken by tools[{at[spec.name]}]; "
                "a call could mean either, so rename one or leave one out"
            )
        at[spec.name] = index
        specs.append(spec)
    return Tools(specs)


def spec_of(tool: object, where: str, name: str | None = None) -> ToolSpec:
    """Return the description of one tool; `where` is what errors call it."""
    match tool:
        case ToolSpec():
            _checked_name(tool.name, where)
            _checked_schema(tool.parameters, f"{where}.parameters")
            return tool
        case Mapping():
            return _from_mapping(tool, where)
        case str():
            found = _of_json(tool, where, _WANTED)
            if isinstance(found, Mapping):
                return _from_mapping(found, where)
    schema = None if isinstance(tool, type) or inspect.isroutine(tool) else _object_schema(tool)
    if schema is not None:
        named = tool if hasattr(tool, "name") else getattr(tool, "metadata", None)
        about = {key: getattr(named, key, None) for key in ("name", "description")}
        return _from_mapping({**about, "parameters": schema}, where)
    if callable(tool) and not isinstance(tool, type):
        return _from_function(tool, where, name)
    raise ToolsError(f"{where} is {brief(tool)}, wanted {_WANTED}")


def _of_json(text: str, where: str, wanted: str) -> Any:
    """Return the list or the object that `text` contains as JSON, or raise ToolsError."""
    try:
        found = decoded(text)
    except ValueError as error:
        raise ToolsError(
            f"{where} is {brief(text)}, wanted {wanted}, or JSON text of it"
        ) from error
    if isinstance(found, list | dict):
        return found
    raise ToolsError(f"{where} is {brief(text)}, wanted {wanted}")


def _object_schema(tool: object) -> Mapping[str, JsonValue] | None:
    """Return the schema of the arguments of a framework's tool, or None if it is no such tool."""
    for schema_of in _OBJECT_SCHEMAS:
        try:
            schema = schema_of(tool)
        except AttributeError:
            continue
        if isinstance(schema, Mapping):
            return schema
    return None


def _from_mapping(tool: Mapping[str, JsonValue], where: str) -> ToolSpec:
    if tool.get("function") is not None:
        tool, where = tool["function"], f"{where}.function"
        if not isinstance(tool, Mapping):
            raise ToolsError(f"{where} is {brief(tool)}, wanted an object with a name")
    name = _checked_name(tool.get("name"), f"{where}.name")
    description = tool.get("description")
    if not isinstance(description, str | None):
        raise ToolsError(f"{where}.description is {brief(description)}, wanted a string")
    given = [key for key in _SCHEMA_KEYS if tool.get(key) is not None]
    if len(given) > 1:
        raise ToolsError(f"{where} has both {given[0]} and {given[1]}; keep the one that is meant")
    schema = _checked_schema(tool[given[0]], f"{where}.{given[0]}") if given else {}
    return ToolSpec(name, description or "", schema, _paths(schema))


def _from_function(function: Callable[..., object], where: str, name: str | None) -> ToolSpec:
    from .signatures import read_signature, schema_of  # noqa: PLC0415 - imports pydantic

    try:
        signature = read_signature(function, name)
        schema = schema_of(signature)
    except ValueError as error:
        raise ToolsError(f"{where} is {brief(function)}: {error}") from error
    return ToolSpec(signature.name, signature.docstring.description, schema, _paths(schema))


def _checked_name(name: object, where: str) -> str:
    if isinstance(name, str) and name.strip():
        return name
    found = "missing" if name is None else brief(name)
    raise ToolsError(f"{where} is {found}, wanted the tool's name, a string with characters")


def _checked_schema(schema: object, where: str) -> JsonObject:
    """Return the schema as a dict, or raise ToolsError if it cannot describe arguments."""
    if not isinstance(schema, Mapping):
        raise ToolsError(f"{where} is {brief(schema)}, wanted a JSON schema of type object")
    if not is_short(schema):
        raise ToolsError(
            f"{where} has more than {MAX_SCHEMA_PARTS:,} parts when it is written, or leads back "
            "to itself; name what is shared in $defs, and refer to it with $ref"
        )
    schema = plain_schema(schema)
    if schema.get("type", "object") != "object":
        raise ToolsError(
            f"{where}.type is {brief(schema['type'])}, wanted 'object': "
            "arguments have names, so put this schema under a property"
        )
    properties = schema.get("properties", {})
    if not isinstance(properties, Mapping):
        raise ToolsError(f"{where}.properties is {brief(properties)}, wanted an object of schemas")
    for key, inner in properties.items():
        if not isinstance(inner, Mapping | bool):
            raise ToolsError(f"{where}.properties.{key} is {brief(inner)}, wanted a schema")
    required = schema.get("required", [])
    if not isinstance(required, list | tuple) or not all(isinstance(key, str) for key in required):
        raise ToolsError(f"{where}.required is {brief(required)}, wanted a list of argument names")
    return schema


def _paths(schema: JsonObject) -> frozenset[str]:
    properties: Mapping[str, JsonValue] = schema.get("properties", {})
    return frozenset(name for name, inner in properties.items() if _is_path(inner))


def _is_path(schema: JsonValue) -> bool:
    branches = [schema]
    for key in ("anyOf", "oneOf") if isinstance(schema, Mapping) else ():
        inner = schema.get(key)
        branches += inner if isinstance(inner, list | tuple) else ()
    named = (one.get("format") for one in branches if isinstance(one, Mapping))
    return any(isinstance(name, str) and name in _PATH_FORMATS for name in named)


_MAPS = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
"""Keywords whose value is an object that maps names to schemas."""
_LISTS = frozenset({"anyOf", "oneOf", "allOf", "prefixItems"})
_ONE = frozenset({"items", "additionalProperties", "additionalItems", "not", "contains"})
_NULL_IS_A_VALUE = frozenset({"default", "const"})

_KINDS = {
    "dict": "object", "float": "number", "int": "integer", "str": "string", "bool": "boolean",
    "list": "array", "tuple": "array", "set": "array", "none": "null",
}  # fmt: skip
"""Types of JSON schema by the names of Python's types; "any" has none."""
_JSON_KINDS = frozenset({"object", "number", "integer", "string", "boolean", "array", "null"})
_OF_ITEMS = frozenset({"list", "tuple", "set", "sequence", "iterable"})
_DEEPEST = 64

_Known: TypeAlias = dict[int, JsonObject]


def plain_schema(schema: Mapping[str, JsonValue]) -> JsonObject:
    """Return the schema without Arrow's nulls and with JSON schema's type names, as a copy."""
    known = {key: inner for key, inner in schema.items() if inner is not None}
    found = _framed(known) if _is_unframed(known) else known
    return _plain_copy(found, 0, {})


def _is_unframed(schema: Mapping[str, JsonValue]) -> bool:
    """Whether `schema` is a bare object of arguments, as xLAM writes it, without `properties`."""
    return bool(schema) and all(
        isinstance(inner, Mapping)
        and (isinstance(inner.get("type"), str) or isinstance(inner.get("description"), str))
        for inner in schema.values()
    )


def _framed(arguments: Mapping[str, JsonValue]) -> JsonObject:
    """Return an object schema; arguments called optional, or with a default, are not required."""
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


def _plain_copy(schema: Mapping[str, JsonValue], depth: int, known: _Known) -> JsonObject:
    """Return a plain copy. `known` has copies by the schemas' ids: shared parts stay shared."""
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
    return _plain_copy(schema, depth + 1, known) if isinstance(schema, Mapping) else schema


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
    return {"type": _KINDS[name]} if name in _KINDS else {} if name == "any" else None


def _parts(text: str) -> list[str]:
    """Return the parts of the text between commas that are outside of brackets."""
    parts, depth = [""], 0
    for character in text:
        depth += (character == "[") - (character == "]")
        if character == "," and not depth:
            parts.append("")
        else:
            parts[-1] += character
    return [part for part in parts if part.strip()]
