"""Values against JSON schemas: bent where nothing is lost, with every change named.

Keywords read: type (one or a list), properties, required, additionalProperties false, items, enum,
const, anyOf, oneOf, allOf, nullable. What a schema says beyond that is not checked.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite

from tunaeval.types import JsonObject, JsonValue, Repair, Span

from .json import Read, read_json

MAX_SCHEMA_DEPTH = 64

_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]{0,400})")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,400})(?:\.[0-9]{1,400})?(?:[eE][+-]?[0-9]{1,3})?")
_BOOLEANS = {"true": True, "false": False}


@dataclass(frozen=True, slots=True)
class Fault:
    """What does not fit, and where: `path` is like `$.items[0].name`."""

    code: str
    path: str
    message: str


@dataclass(frozen=True, slots=True)
class Fitted:
    """A value after fitting, what was changed, and what still does not fit."""

    value: JsonValue
    repairs: tuple[Repair, ...] = ()
    faults: tuple[Fault, ...] = ()


def fit(value: JsonValue, schema: object, *, span: Span | None = None) -> Fitted:
    """Bend `value` to `schema` as little as possible.

    Only changes that lose nothing are made ("3" to 3, "true" to True, a lone item to a list of
    one); each is listed in `repairs`. What cannot be bent is left alone and listed in `faults`.
    """
    fitting = _Fitting(span)
    fitted = fitting.value(value, schema, "$", 0)
    return Fitted(fitted, tuple(fitting.repairs), tuple(fitting.faults))


class _Fitting:
    """One walk down a value and its schema."""

    def __init__(self, span: Span | None) -> None:
        self.repairs: list[Repair] = []
        self.faults: list[Fault] = []
        self._span = span

    def value(self, value: JsonValue, schema: object, path: str, depth: int) -> JsonValue:
        if not isinstance(schema, Mapping) or depth > MAX_SCHEMA_DEPTH:
            return value
        for keyword in ("anyOf", "oneOf"):
            if isinstance(schema.get(keyword), list):
                value = self._any_of(value, schema[keyword], path, depth)
        for part in _listed(schema.get("allOf")):
            value = self.value(value, part, path, depth + 1)
        value = self._typed(value, schema, path)
        if isinstance(value, dict):
            value = self._object(value, schema, path, depth)
        elif isinstance(value, list) and "items" in schema:
            items = enumerate(value)
            value = [self.value(v, schema["items"], f"{path}[{i}]", depth + 1) for i, v in items]
        self._enumerated(value, schema, path)
        return value

    def _any_of(self, value: JsonValue, options: list[object], path: str, depth: int) -> JsonValue:
        """The first option that fits as it is; else the first that fits when bent."""
        tried = []
        for option in options:
            trial = _Fitting(self._span)
            bent = trial.value(value, option, path, depth + 1)
            if not trial.faults and not trial.repairs:
                return value
            tried.append((trial, bent))
        for trial, bent in tried:
            if not trial.faults:
                self.repairs += trial.repairs
                return bent
        self._fault("wrong-type", path, f"{_shown(value)} fits none of {len(options)} alternatives")
        return value

    def _typed(self, value: JsonValue, schema: Mapping[str, object], path: str) -> JsonValue:
        types = schema.get("type")
        wanted = [types] if isinstance(types, str) else types
        if not isinstance(wanted, list) or any(_is(value, each) for each in wanted):
            return value
        if value is None and schema.get("nullable") is True:
            return value
        for each in wanted:
            bent = _bent(value, each)
            if bent is not _UNBENT:
                message = f"{path}: {_shown(value)} read as {each} {_shown(bent)}"
                self.repairs.append(Repair("type", message, self._span))
                return bent
        names = " or ".join(map(str, wanted))
        self._fault("wrong-type", path, f"{_shown(value)} is not of type {names}")
        return value

    def _object(
        self, value: JsonObject, schema: Mapping[str, object], path: str, depth: int
    ) -> JsonObject:
        properties = schema.get("properties")
        properties = properties if isinstance(properties, Mapping) else {}
        for name in _listed(schema.get("required")):
            if isinstance(name, str) and name not in value:
                self._fault("missing-argument", path, f"{name!r} is required")
        if schema.get("additionalProperties") is False:
            for name in value:
                if name not in properties:
                    self._fault("unknown-argument", path, f"{name[:60]!r} is no argument")
        return {
            name: self.value(inner, properties[name], f"{path}.{name}", depth + 1)
            if name in properties
            else inner
            for name, inner in value.items()
        }

    def _enumerated(self, value: JsonValue, schema: Mapping[str, object], path: str) -> None:
        choices = schema.get("enum")
        if "const" in schema:
            choices = [schema["const"]]
        if isinstance(choices, list) and not any(
            type(choice) is type(value) and choice == value for choice in choices
        ):
            self._fault("not-allowed", path, f"{_shown(value)} is none of {_shown(choices)}")

    def _fault(self, code: str, path: str, message: str) -> None:
        self.faults.append(Fault(code, path, message))


def _listed(keyword: object) -> list[object]:
    return keyword if isinstance(keyword, list) else []


class _Unbent:
    pass


_UNBENT = _Unbent()


def _is(value: JsonValue, wanted: object) -> bool:
    """Whether a value is of a schema's type. True is no number; 3.0 is no integer as it stands."""
    match wanted:
        case "string":
            return isinstance(value, str)
        case "integer":
            return isinstance(value, int) and not isinstance(value, bool)
        case "number":
            return isinstance(value, (int, float)) and not isinstance(value, bool)
        case "boolean":
            return isinstance(value, bool)
        case "array":
            return isinstance(value, list)
        case "object":
            return isinstance(value, dict)
        case "null":
            return value is None
    return True  # a type that JSON schema does not know asks for nothing


def _bent(value: JsonValue, wanted: object) -> JsonValue | _Unbent:
    """`value` as the wanted type if nothing is lost by it."""
    match wanted, value:
        case "integer", float() if value.is_integer() and abs(value) < 2**53:
            return int(value)
        case (("integer" | "number"), str()) if _INTEGER.fullmatch(value.strip()):
            return int(value)
        case "number", str() if _NUMBER.fullmatch(value.strip()):
            number = float(value)
            return number if isfinite(number) else _UNBENT
        case "boolean", str():
            return _BOOLEANS.get(value.strip().lower(), _UNBENT)
        case "string", bool():
            return _UNBENT
        case "string", int():
            return str(value)
        case (("array" | "object"), str()):
            inner = read_json(value)
            sound = isinstance(inner, Read) and not inner.repairs and _is(inner.value, wanted)
            if isinstance(inner, Read) and sound:
                return inner.value
            return [value] if wanted == "array" and value[:1] not in "[{" else _UNBENT
        case "array", (int() | float() | dict()):
            return [value]
    return _UNBENT


def _shown(value: JsonValue) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
