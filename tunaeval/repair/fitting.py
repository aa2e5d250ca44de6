"""Values against JSON schemas: bent where nothing is lost, with every change named.

Keywords read: type (one or a list), enum, const, nullable, $ref (local), allOf, anyOf, oneOf,
properties, required, additionalProperties, items, prefixItems, additionalItems. What a schema says
beyond that is not checked. Schemas come from anybody: whatever they contain, nothing here raises.

`fit` does all of it. `fits` is the shortcut for the arguments of a call, most of which fit: where
a tool's schema names plain types, it compares them, and asks `fit` only where one differs or the
schema says more.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

from tunaeval.limits import MAX_SCHEMA_DEPTH, SHOWN_NAME
from tunaeval.types import ARGUMENTS_KEYS, JsonObject, JsonValue, Level, Repair, Span, Tools

from .machine import read_json
from .schema import (
    CLASSES,
    UNBENT,
    Schema,
    alternatives_of,
    bent,
    choices_of,
    is_of,
    kind_of,
    kinds_named,
    parts_of,
    shown,
)
from .values import Unreadable, repair_of

TYPE_REPAIRS: Mapping[str, Level] = MappingProxyType(
    {"type": "standard", "guessed-type": "lenient"}
)
"""The codes of repairs that change a value's type, each with its level."""


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


def fit(
    value: JsonValue,
    schema: object,
    *,
    span: Span | None = None,
    root: object = None,
    level: Level = "standard",
) -> Fitted:
    """Bend `value` to `schema` as little as possible.

    Only changes that lose nothing are made ("3" to 3, "true" to True, one plain text to a list of
    one where a list of texts is asked for); each is listed in `repairs`. At level "lenient" any
    lone item becomes a list of one, and "None" becomes None. What cannot be bent is left alone
    and listed in `faults`. References lead into `root`, which is `schema` itself unless it is
    given.
    """
    repairs: list[Repair] = []
    faults: list[Fault] = []
    try:
        fitting = _Fitting(schema if root is None else root, guesses=level == "lenient")
        outcome = fitting.fit(value, schema, 0)
        if not outcome.findings:
            return Fitted(outcome.value)
        for path, code, message in _listed(outcome, "$", set()):
            if code in TYPE_REPAIRS:
                repairs.append(repair_of(code, f"{path}: {message}", span, TYPE_REPAIRS[code]))
            else:
                faults.append(Fault(code, path, message))
    except RecursionError:  # a caller deep in its own stack
        deep = Fault("too-deep", "$", "nested too deeply to be compared with its schema")
        return Fitted(value, (), (deep,))
    return Fitted(outcome.value, tuple(repairs), tuple(faults))


@dataclass(slots=True)
class _Outcome:
    """A value as it came out, and what was found: in it (a code and a message) and inside it (a
    step and what came out there). Never changed once it has been returned.
    """

    value: JsonValue
    findings: list[tuple[str, str | _Outcome]] = field(default_factory=list)
    fits: bool = True
    wrong: bool = False
    """It is not even of the type that was asked for."""

    def repair(self, value: JsonValue, message: str, code: str = "type") -> None:
        self.value = value
        self.findings.append((code, message))

    def fault(self, code: str, message: str) -> None:
        self.fits = False
        self.wrong = self.wrong or code == "wrong-type"
        self.findings.append((code, message))

    def adopt(self, other: _Outcome) -> None:
        """Take over what came out of another schema for the same value."""
        self.value = other.value
        self.wrong = self.wrong or other.wrong
        self.inside("", other)

    def inside(self, step: str, inner: _Outcome) -> None:
        if inner.findings:
            self.findings.append((step, inner))
            self.fits = self.fits and inner.fits


def _listed(outcome: _Outcome, path: str, seen: set[tuple[str, int]]) -> list[tuple[str, str, str]]:
    """List path, code and message of all findings; what several schemas say comes once."""
    if (path, id(outcome)) in seen:
        return []
    seen.add((path, id(outcome)))
    found: list[tuple[str, str, str]] = []
    for what, more in outcome.findings:
        if isinstance(more, _Outcome):
            found += _listed(more, path + what, seen)
        else:
            found.append((path, what, more))
    return found


class _Fitting:
    """One walk down a value and its schema.

    A value meets a schema at most once (`_branch`), so the work is linear in the value, whatever
    alternatives are nested in each other and shared.
    """

    def __init__(self, root: object, *, guesses: bool) -> None:
        self._root = root
        self._guesses = guesses
        self._met: dict[tuple[int, int], tuple[JsonValue, object, _Outcome | None]] = {}

    def fit(self, value: JsonValue, schema: object, depth: int) -> _Outcome:
        outcome = _Outcome(value)
        if not isinstance(schema, (dict, Mapping)):  # dict first: the abstract class is slow
            if schema is False:
                outcome.fault("not-allowed", "nothing is allowed here")
            return outcome
        if depth > MAX_SCHEMA_DEPTH:
            outcome.fault("too-deep", f"more than {MAX_SCHEMA_DEPTH} steps into its schema")
            return outcome
        if value is None and schema.get("nullable") is True:
            return outcome
        if not _is_of_named_type(value, schema):
            self._typed(outcome, schema, depth)
        if not (outcome.wrong or _COMBINING.isdisjoint(schema)):
            self._combined(outcome, schema, depth)
        if isinstance(outcome.value, dict):
            self._object(outcome, outcome.value, schema, depth)
        elif isinstance(outcome.value, list):
            self._array(outcome, outcome.value, schema, depth)
        if not outcome.wrong:
            _choose(outcome, choices_of(schema))
        return outcome

    def _combined(self, outcome: _Outcome, schema: Schema, depth: int) -> None:
        for part in parts_of(schema, self._root):
            if isinstance(part, LookupError):
                outcome.fault("unresolved-ref", str(part))
            else:
                outcome.adopt(self._branch(outcome.value, part, depth))
        for options in alternatives_of(schema) if not outcome.wrong else ():
            self._any_of(outcome, options, depth)
        wanted = kinds_named(schema)
        if wanted and not outcome.wrong and not any(is_of(outcome.value, kind) for kind in wanted):
            outcome.fault("wrong-type", f"{shown(outcome.value)} cannot be of all types wanted")

    def _branch(self, value: JsonValue, schema: object, depth: int) -> _Outcome:
        """Fit a value to one of several schemas: once, and never in a circle."""
        met = (id(value), id(schema))
        if met in self._met:
            outcome = self._met[met][2]
            if outcome is None:
                outcome = _Outcome(value)
                circle = "the schema leads back to itself and asks for nothing"
                outcome.fault("unresolved-ref", circle)
            return outcome
        self._met[met] = (value, schema, None)  # both are kept, so that their ids stay theirs
        outcome = self.fit(value, schema, depth + 1)
        self._met[met] = (value, schema, outcome)
        return outcome

    def _typed(self, outcome: _Outcome, schema: Schema, depth: int) -> None:
        wanted, value = kinds_named(schema), outcome.value
        if not wanted or any(is_of(value, kind) for kind in wanted):
            return
        for kind in wanted:
            found = bent(value, kind)
            if found is not UNBENT:
                outcome.repair(found, f"{shown(value)} read as {kind} {shown(found)}")
                return
        if self._guesses and "null" in wanted and _is_none(value):
            outcome.repair(None, f"{shown(value)} read as null", "guessed-type")
            return
        if "array" in wanted and self._is_lone_item(value, schema, depth):
            sure = isinstance(value, str) and "," not in value and not _is_none(value)
            sure = sure and _asks_for_texts(schema)
            if sure or self._guesses:
                code = "type" if sure else "guessed-type"
                outcome.repair([value], f"{shown(value)} read as array {shown([value])}", code)
                return
        names = " or ".join(str(kind)[:SHOWN_NAME] for kind in wanted)
        outcome.fault("wrong-type", f"{shown(value)} is not of type {names}")

    def _is_lone_item(self, value: JsonValue, schema: Schema, depth: int) -> bool:
        """Whether a value could be an item of the list that is asked for."""
        if value is None or value == "" or (isinstance(value, str) and value.lstrip()[:1] in "[{"):
            return False
        return self._branch(value, _item_schema(schema, 0), depth).fits

    def _any_of(self, outcome: _Outcome, options: list[object], depth: int) -> None:
        """Adopt the first option that fits as it is; else the first that fits when bent; else, for
        its findings, the only one that is of the right type at least.
        """
        value = outcome.value
        found = []
        for option in options:
            found.append(self._branch(value, option, depth))
            if not found[-1].findings:
                return
        near = [each for each in found if each.fits] or [each for each in found if not each.wrong]
        if near and (near[0].fits or len(near) == 1):
            outcome.adopt(near[0])
        else:
            many = len(options)
            outcome.fault("wrong-type", f"{shown(value)} fits none of {many} alternatives")

    def _object(self, outcome: _Outcome, value: JsonObject, schema: Schema, depth: int) -> None:
        properties = schema.get("properties")
        properties = properties if isinstance(properties, (dict, Mapping)) else {}
        required = schema.get("required")
        for name in required if isinstance(required, list | tuple) else ():
            if isinstance(name, str) and name not in value:
                outcome.fault("missing-argument", f"{name[:SHOWN_NAME]!r} is required")
        # Patterns are the schema's own, and are not run: what may match one is left alone.
        others = True if schema.get("patternProperties") else schema.get("additionalProperties")
        changed = {}
        for name, inner in value.items():
            shown_name = str(name)[:SHOWN_NAME]  # objects that were never JSON may have any key
            if name not in properties and others is False:
                outcome.fault("unknown-argument", f"{shown_name!r} is no argument")
                continue
            found = self._part(
                outcome, f".{shown_name}", inner, properties.get(name, others), depth
            )
            if found is not inner:
                changed[name] = found
        if changed:
            outcome.value = {**value, **changed}

    def _array(self, outcome: _Outcome, value: list[JsonValue], schema: Schema, depth: int) -> None:
        if schema.keys().isdisjoint(_ITEM_KEYWORDS):
            return
        fitted = [
            self._part(outcome, f"[{index}]", inner, _item_schema(schema, index), depth)
            for index, inner in enumerate(value)
        ]
        if any(new is not old for new, old in zip(fitted, value, strict=True)):
            outcome.value = fitted

    def _part(
        self, outcome: _Outcome, step: str, value: JsonValue, schema: object, depth: int
    ) -> JsonValue:
        """Return what comes of a value inside another one, and add the findings to `outcome`."""
        if _fits_plainly(value, schema):
            return value
        # Several schemas may lead to a container, so it is remembered; lone values are cheaper.
        contains = isinstance(value, dict | list)
        found = (
            self._branch(value, schema, depth) if contains else self.fit(value, schema, depth + 1)
        )
        outcome.inside(step, found)
        return found.value


_ITEM_KEYWORDS = ("items", "prefixItems", "additionalItems")
_COMBINING = frozenset({"$ref", "allOf", "anyOf", "oneOf"})
_MORE_THAN_A_TYPE = _COMBINING.union(
    ("enum", "const", "nullable", "properties", "required", "additionalProperties"),
    ("patternProperties", *_ITEM_KEYWORDS),
)
"""The keywords that are read, beside `type`."""


def _is_none(value: JsonValue) -> bool:
    """Whether a text is the word for no value, in Python or in JSON."""
    return isinstance(value, str) and value.strip().lower() in ("none", "null")


def _asks_for_texts(schema: Schema) -> bool:
    """Whether the items of a list may be texts and nothing else."""
    items = _item_schema(schema, 0)
    return isinstance(items, Mapping) and kinds_named(items) == ["string"]


def _is_of_named_type(value: JsonValue, schema: Schema) -> bool:
    """Whether a value is of the one type that is asked for, as nearly all are."""
    kind = schema.get("type")
    return type(kind) is str and type(value) in CLASSES.get(kind, ())


def _fits_plainly(value: JsonValue, schema: object) -> bool:
    """Whether a lone value is of the one type that is asked for, and a choice if there are any."""
    if type(schema) is not dict:
        return schema is None
    if type(value) is dict or type(value) is list or not _COMBINING.isdisjoint(schema):
        return False
    if not _is_of_named_type(value, schema):
        return False
    choices = choices_of(schema)
    return choices is None or any(_same(value, choice) for choice in choices)


def _item_schema(schema: Schema, index: int) -> object:
    """Return what a schema says of the item at `index`. Older drafts wrote `items` as a list."""
    first, rest = schema.get("prefixItems"), schema.get("items")
    if isinstance(rest, list | tuple):
        first, rest = rest, schema.get("additionalItems")
    return first[index] if isinstance(first, list | tuple) and index < len(first) else rest


def _choose(outcome: _Outcome, choices: list[object] | None) -> None:
    """Compare the value with `enum` or `const`; bend one that only differs in type."""
    value = outcome.value
    if choices is None or any(_same(value, choice) for choice in choices):
        return
    for example in {type(choice): choice for choice in choices}.values():
        found = bent(value, kind_of(example))
        if found is not UNBENT and any(_same(found, choice) for choice in choices):
            outcome.repair(found, f"{shown(value)} read as {shown(found)}")
            return
    outcome.fault("not-allowed", f"{shown(value)} is none of {shown(choices)}")


def _same(value: JsonValue, choice: object) -> bool:
    return type(choice) is type(value) and bool(choice == value)


# --- the arguments of a call ---------------------------------------------------------------------

_SILENT_ON_OTHERS = frozenset(
    {"type", "properties", "required", "title", "description"}
    | {"$schema", "$id", "$defs", "definitions"}
)
_USUAL = _SILENT_ON_OTHERS | {"additionalProperties"}


class Signature(NamedTuple):
    """A tool's parameters, prepared.

    `accepted` has for each argument the classes of values that fit as they are; none if its schema
    says more than a type. `types` has the one type of those that name one and no more.
    """

    accepted: dict[str, tuple[type, ...]]
    required: frozenset[str]
    types: dict[str, str]
    schema: Mapping[str, JsonValue]


def signature_of(name: str, tools: Tools) -> Signature | None:
    """Return the prepared parameters of that tool; None if there is no such tool."""
    known: Signature | None = tools.prepared.get(name)
    if known is None and name in tools:
        known = tools.prepared[name] = _signature(tools[name].parameters)
    return known


def _signature(schema: Mapping[str, JsonValue]) -> Signature:
    properties, required = schema.get("properties"), schema.get("required")
    usual = properties if isinstance(properties, dict) and schema.keys() <= _USUAL else {}
    wanted = required if isinstance(required, list) else ()
    plain = {
        key: value
        for key, value in usual.items()
        if isinstance(value, Mapping) and _MORE_THAN_A_TYPE.isdisjoint(value)
    }
    return Signature(
        {key: _accepted(value.get("type")) for key, value in plain.items()},
        frozenset(each for each in wanted if isinstance(each, str)),
        {key: value["type"] for key, value in plain.items() if isinstance(value.get("type"), str)},
        schema,
    )


def _accepted(named: JsonValue) -> tuple[type, ...]:
    """Return the classes of the types that a schema names, one or several."""
    names = named if isinstance(named, list) else [named]
    texts = [name for name in names if isinstance(name, str)]
    return tuple(each for name in texts for each in CLASSES.get(name, ()))


def fits(name: str, arguments: JsonObject, tools: Tools) -> bool:
    """Whether the call is of a known tool and its arguments fit as they are."""
    signature = tools.prepared.get(name) or signature_of(name, tools)
    if signature is None:
        return False
    for key, value in arguments.items():
        accepted = signature.accepted.get(key)
        if not accepted:  # the schema says more, or nothing, of this argument
            fitted = fit(arguments, signature.schema)
            return not (fitted.repairs or fitted.faults or undeclared(arguments, signature.schema))
        if type(value) not in accepted:
            return False
    return arguments.keys() >= signature.required


def misplaced(
    tool: str, arguments: JsonObject, beside: JsonObject, tools: Tools | None
) -> list[str]:
    """List keys beside the arguments that the tool declares as one, or that have arguments, too."""
    declared = tools[tool].parameters.get("properties") if tools is not None else None
    known = declared if isinstance(declared, Mapping) else {}
    lost = [key for key in beside if key in known and key not in arguments]
    more = [key for key in beside if key in ARGUMENTS_KEYS and key not in lost]
    return lost + [
        key for key in more if isinstance(beside[key], dict) and beside[key] not in ({}, arguments)
    ]


def undeclared(arguments: JsonObject, schema: Mapping[str, JsonValue]) -> list[str]:
    """List arguments that are not among the properties of a schema that says nothing of others."""
    properties = schema.get("properties")
    if not isinstance(properties, Mapping) or not schema.keys() <= _SILENT_ON_OTHERS:
        return []
    return [name for name in arguments if name not in properties]


def unwrapped(arguments: JsonObject, schema: Mapping[str, JsonValue]) -> JsonObject | None:
    """Return the arguments inside of the only one, where that is certain.

    The tool declares none of that name, and every one that is inside. It may be JSON as a text.
    """
    properties = schema.get("properties")
    if len(arguments) != 1 or not isinstance(properties, Mapping):
        return None
    ((name, inner),) = arguments.items()
    if name in properties or schema.get("additionalProperties", False) is not False:
        return None
    if isinstance(inner, str) and inner.lstrip()[:1] == "{":
        read = read_json(inner)
        if isinstance(read, Unreadable) or read.repairs or read.notes:
            return None
        inner = read.value
    if not isinstance(inner, dict) or not inner or not inner.keys() <= properties.keys():
        return None
    return inner
