"""Whether arguments fit a tool's schema as they are, told from the types it names for each.

So are lists of one plain type and choices of texts. What a schema says beyond that is asked of
`fit`, for that argument alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from tunaeval.types import ARGUMENTS_KEYS, JsonObject, JsonValue, Repair, Span, Tools

if TYPE_CHECKING:
    from tunaeval.repair import Fitted

_TYPES: dict[object, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
    "array": (list,),
    "object": (dict,),
}
_UNREAD = (
    {"description", "title", "default", "examples", "format", "deprecated"}
    | {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}
    | {"minLength", "maxLength", "pattern", "minItems", "maxItems", "uniqueItems"}
)
"""Keywords that `fit` does not read."""

_PLAIN_KEYWORDS = _UNREAD | {"type"}
_SILENT_ON_OTHERS = frozenset(
    {"type", "properties", "required", "title", "description"}
    | {"$schema", "$id", "$defs", "definitions"}
)
_USUAL = _SILENT_ON_OTHERS | {"additionalProperties"}

Asked: TypeAlias = Callable[[JsonValue], bool]
"""Whether a value fits a schema as it is."""


class Signature(NamedTuple):
    """A tool's parameters, prepared.

    `accepted` has for each argument the Python types that its schema takes as they are; none if
    it says more than a type, and then `asked` has what it says. `types` has the one type of those
    that name one and no more.
    """

    accepted: dict[str, tuple[type, ...]]
    asked: dict[str, Asked]
    required: frozenset[str]
    types: dict[str, str]
    schema: Mapping[str, JsonValue]
    most: int
    """So many arguments that are accepted are all there are, and all that are required."""


def signature_of(name: str, tools: Tools) -> Signature | None:
    """The prepared parameters of that tool; None if there is no such tool."""
    known: Signature | None = tools.prepared.get(name)
    if known is None and name in tools:
        known = tools.prepared[name] = _signature(tools[name].parameters)
    return known


def fits(name: str, arguments: JsonObject, tools: Tools) -> bool:
    """Whether the call is of a known tool and its arguments fit as they are."""
    signature = tools.prepared.get(name) or signature_of(name, tools)
    if signature is None:
        return False
    accepted = signature.accepted
    try:
        for key, value in arguments.items():
            if type(value) not in accepted[key] and (
                accepted[key] or not signature.asked[key](value)
            ):
                return False
    except KeyError:
        return _fits_schema(arguments, signature.schema)
    return len(arguments) == signature.most or arguments.keys() >= signature.required


def bent(
    name: str, arguments: JsonObject, tools: Tools, span: Span
) -> tuple[JsonObject, list[Repair]] | None:
    """The arguments of a known tool as the types that it names, and the repairs.

    None where there is more to say.
    """
    signature = tools.prepared.get(name) or signature_of(name, tools)
    if signature is None or signature.schema.get("type", "object") != "object":
        return None
    if len(arguments) != signature.most and not arguments.keys() >= signature.required:
        return None
    return _later()[0](arguments, signature.types, signature.accepted, signature.asked, span)


def misplaced(
    tool: str, arguments: JsonObject, beside: JsonObject, tools: Tools | None
) -> list[str]:
    """Keys beside the arguments that the tool declares as one, or that have arguments, too."""
    declared = tools[tool].parameters.get("properties") if tools is not None else None
    known = declared if isinstance(declared, Mapping) else {}
    lost = [key for key in beside if key in known and key not in arguments]
    more = [key for key in beside if key in ARGUMENTS_KEYS and key not in lost]
    return lost + [
        key for key in more if isinstance(beside[key], dict) and beside[key] not in ({}, arguments)
    ]


def undeclared(arguments: JsonObject, schema: Mapping[str, JsonValue]) -> list[str]:
    """The arguments that are not among the properties of a schema that says nothing of others."""
    properties = schema.get("properties")
    if not isinstance(properties, Mapping) or not schema.keys() <= _SILENT_ON_OTHERS:
        return []
    return [name for name in arguments if name not in properties]


def unwrapped(arguments: JsonObject, schema: Mapping[str, JsonValue]) -> JsonObject | None:
    """The arguments inside of the only one, where that is certain.

    The tool declares none of that name, and every one that is inside. It may be JSON as a text.
    """
    properties = schema.get("properties")
    if len(arguments) != 1 or not isinstance(properties, Mapping):
        return None
    ((name, inner),) = arguments.items()
    if name in properties or schema.get("additionalProperties", False) is not False:
        return None
    if isinstance(inner, str) and inner.lstrip()[:1] == "{":
        inner = _read_soundly(inner)
    if not isinstance(inner, dict) or not inner or not inner.keys() <= properties.keys():
        return None
    return inner


def _read_soundly(text: str) -> JsonValue:
    from tunaeval.repair import Unreadable, read_json  # noqa: PLC0415 - as in `_later`

    read = read_json(text)
    return None if isinstance(read, Unreadable) or read.repairs or read.notes else read.value


@cache
def _later() -> tuple[Callable[..., tuple[JsonObject, list[Repair]] | None], Callable[..., Fitted]]:
    """`fit_types` and `fit`: arguments that fit the types that a schema names need neither."""
    from tunaeval.repair import fit, fit_types  # noqa: PLC0415 - see above

    return fit_types, fit


def _fits_schema(arguments: JsonObject, schema: Mapping[str, JsonValue]) -> bool:
    """The same where the schema says more than types."""
    fitted = _later()[1](arguments, schema)
    return not (fitted.repairs or fitted.faults or undeclared(arguments, schema))


def _signature(schema: Mapping[str, JsonValue]) -> Signature:
    properties, required = schema.get("properties"), schema.get("required")
    properties = properties if isinstance(properties, dict) else {}
    usual = properties if schema.keys() <= _USUAL else {}
    wanted = frozenset(filter(_is_text, required if isinstance(required, list) else ()))
    return Signature(
        {key: _accepted(value) for key, value in usual.items()},
        {key: _asked(key, value, schema) for key, value in usual.items() if not _accepted(value)},
        wanted,
        {key: value["type"] for key, value in usual.items() if _names_one_type(value)},
        schema,
        len(usual) if wanted <= usual.keys() else -1,
    )


def _accepted(schema: JsonValue) -> tuple[type, ...]:
    if not isinstance(schema, Mapping) or not schema.keys() <= _PLAIN_KEYWORDS:
        return ()
    types = schema.get("type")
    names = types if isinstance(types, list) else [types]
    return tuple(kind for name in filter(_is_text, names) for kind in _TYPES.get(name, ()))


def _asked(key: str, schema: JsonValue, root: Mapping[str, JsonValue]) -> Asked:
    """Whether a value fits the schema of the argument `key`, which says more than a type."""
    if isinstance(schema, Mapping):
        choices, items = schema.get("enum"), schema.get("items")
        if isinstance(choices, list) and _is_only(schema, "string", "enum"):
            texts = frozenset(filter(_is_text, choices))
            return lambda value: type(value) is str and value in texts
        if (kinds := _accepted(items)) and _is_only(schema, "array", "items"):
            return lambda value: type(value) is list and all(type(each) in kinds for each in value)
    alone = {"properties": {key: schema}}

    def fitted(value: JsonValue) -> bool:
        found = _later()[1]({key: value}, alone, root=root)
        return not (found.repairs or found.faults)

    return fitted


def _is_only(schema: Mapping[str, JsonValue], kind: str, word: str) -> bool:
    """Whether a schema asks for this type, and says `word` of it, and no more."""
    return schema.get("type") == kind and schema.keys() <= _PLAIN_KEYWORDS | {word}


def _is_text(value: JsonValue) -> bool:
    return isinstance(value, str)


def _names_one_type(schema: JsonValue) -> bool:
    plain = isinstance(schema, Mapping) and schema.keys() <= _PLAIN_KEYWORDS
    return plain and isinstance(schema.get("type"), str)
