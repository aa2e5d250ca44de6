"""Compares values with JSON schemas, and converts values to a schema's types without loss.

Keywords read: type (one or a list), enum, const, nullable, $ref, allOf, anyOf, oneOf, properties,
required, additionalProperties, items, prefixItems, additionalItems. No other keyword is checked. A
`$ref` may be `#` or a JSON pointer into the root schema (`#/$defs/Point`, with its escapes); other
references are not followed, and no schema is fetched. Schemas are not trusted: whatever a schema
contains, nothing here raises an error or loops for ever.

`fit` does the whole comparison. `fits` checks a call's arguments, most of which fit, by functions
into which each tool's schema is compiled once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from math import isfinite
from operator import is_not
from typing import Any, TypeAlias

from tunaeval.limits import MAX_DIGITS, MAX_SCHEMA_DEPTH, SCALAR_TEXT, SHOWN_NAME
from tunaeval.showing import brief
from tunaeval.types.calls import ARGUMENTS_KEYS, JsonObject, JsonValue, Repair, Span, Tools
from tunaeval.types.parsing import Level

from .machine import read_json
from .values import NUMBER, Note, Read, Unreadable, repair_of

Schema: TypeAlias = Mapping[str, object]

CLASSES: dict[object, tuple[type, ...]] = {
    "null": (type(None),), "boolean": (bool,), "integer": (int,), "number": (int, float),
    "array": (list,), "object": (dict,), "string": (str,),
}  # fmt: skip
"""The types of JSON schema, narrowest first, and the Python classes of their values."""

ANY = frozenset(map(str, CLASSES))
"""The names of all types of JSON schema."""

UNBENT: JsonValue = object()
"""Returned in place of a value that cannot be converted without loss."""

_WORDS: dict[str, dict[str, JsonValue]] = {
    "boolean": {"true": True, "false": False},
    "null": {"null": None, "none": None},
}


def kind_of(value: JsonValue) -> str:
    """Return the narrowest schema type of a value; "" if it is no JSON value."""
    return next((str(kind) for kind in CLASSES if is_of(value, kind)), "")


def is_of(value: JsonValue, kind: object) -> bool:
    """Whether a value has the schema type `kind`. True is no number, and 3.0 no integer."""
    accepted = CLASSES.get(kind) if isinstance(kind, str) else None
    if accepted is None:
        return True  # a type that JSON schema does not know allows anything
    return isinstance(value, accepted) and (type(value) is not bool or bool in accepted)


def kinds_named(schema: Schema) -> list[str]:
    """Return the types in a schema's `type`, in lower case, as some providers write capitals. What
    is no name is there as its text, which is that of no type.
    """
    named = schema.get("type")
    if type(named) is str:
        return [named.lower()]
    several = [*named] if isinstance(named, list | tuple) else [] if named is None else [named]
    return [each.lower() if isinstance(each, str) else brief(each) for each in several]


def choices_of(schema: Schema) -> list[object] | None:
    """Return the values that `const` or `enum` allows; None if the schema has neither."""
    if "const" in schema:
        return [schema["const"]]
    listed = schema.get("enum")
    return [*listed] if isinstance(listed, list | tuple) else None


def bent(value: JsonValue, kind: object) -> JsonValue:
    """Return `value` converted to the type `kind`, or `UNBENT` if that would lose something."""
    match kind, value:
        case "null", str() if value.strip().lower() == "none":
            return UNBENT  # a guess: the word itself may be meant
        case _, str():
            return of_text(value, kind)
        case "integer", float() if value.is_integer() and abs(value) < 2**53:
            return int(value)
        case "string", bool():
            return UNBENT
        case "string", int() if value.bit_length() <= 3 * MAX_DIGITS:
            return str(value)
    return UNBENT


def of_text(text: str, kind: object) -> JsonValue:
    """Return the value of the type `kind` that a text spells ("3", "true", "[1]"), or `UNBENT`."""
    match kind:
        case "array" | "object":
            inner = read_json(text) if text.lstrip()[:1] in ("[", "{") else None
            sound = isinstance(inner, Read) and not inner.repairs and is_of(inner.value, kind)
            return inner.value if isinstance(inner, Read) and sound else UNBENT
        case "boolean" | "null" if len(text) <= SCALAR_TEXT:
            return _WORDS[kind].get(text.strip().lower(), UNBENT)
        case "integer" | "number" if len(text) <= SCALAR_TEXT:
            found = NUMBER.fullmatch(text.strip())
            if found and not found["real"]:
                return int(found[0])
            if found and kind == "number" and isfinite(number := float(found[0])):
                return number
    return UNBENT


_ALTERNATIVES = ("anyOf", "oneOf")
_COMBINING = frozenset({"$ref", "allOf", *_ALTERNATIVES})
_ITEM_KEYWORDS = ("items", "prefixItems", "additionalItems")
_PERCENTS = re.compile(r"(?:%[0-9A-Fa-f]{2})++")


def resolved(reference: object, root: object) -> object | LookupError:
    """Return the schema that a `$ref` names; if there is none, return (not raise) an error."""
    name = f"$ref {brief(reference)}"
    if not isinstance(reference, str) or not reference.startswith("#"):
        return LookupError(
            f"{name} leads out of the schema; only '#/...' is followed, none is fetched"
        )
    if reference not in ("#", "#/") and not reference.startswith("#/"):
        return LookupError(f"{name} names an anchor; only '#' and '#/...' are followed")
    found = root
    for step in reference[2:].split("/") if len(reference) > 2 else ():
        key = _PERCENTS.sub(_bytes_named, step).replace("~1", "/").replace("~0", "~")
        if isinstance(found, Mapping) and key in found:
            found = found[key]
        elif isinstance(found, list) and key.isdecimal() and len(key) < 9 and int(key) < len(found):
            found = found[int(key)]
        else:
            return LookupError(f"{name} leads nowhere: there is no {brief(key)}")
    return found


def _bytes_named(signs: re.Match[str]) -> str:
    return bytes.fromhex(signs[0].replace("%", "")).decode(errors="replace")


def parts_of(schema: Schema, root: object) -> Iterator[object | LookupError]:
    """Yield the schemas that apply in addition to this one: those of `$ref` and `allOf`."""
    if "$ref" in schema:
        yield resolved(schema["$ref"], root)
    yield from _items_of(schema.get("allOf"))


def alternatives_of(schema: Schema) -> Iterator[list[object]]:
    """Yield the lists of schemas of which one has to fit: `anyOf`, and `oneOf` treated alike."""
    for keyword in _ALTERNATIVES:
        if options := _items_of(schema.get(keyword)):
            yield options


def _items_of(keyword: object) -> list[object]:
    return [*keyword] if isinstance(keyword, list | tuple) else []


def _asked(schema: object, root: object, join: Callable[..., Any], unknown: Any) -> Any:
    """Compute a property of a schema from itself and all schemas that it combines.

    `join(schema, parts, options)` gets the results of `parts_of`, and a list of results for each
    list of `alternatives_of`. `unknown` is the result where there is no schema, where schemas are
    nested too deeply, and where a schema refers back to itself.
    """
    if type(schema) is dict and _COMBINING.isdisjoint(schema):  # most are no more than that
        return join(schema, (), ())
    known: dict[int, Any] = {}

    def ask(schema: object, depth: int) -> Any:
        if not isinstance(schema, (dict, Mapping)) or depth > MAX_SCHEMA_DEPTH:
            return unknown
        if _COMBINING.isdisjoint(schema):
            return join(schema, (), ())
        if id(schema) not in known:
            known[id(schema)] = unknown
            parts = [ask(part, depth + 1) for part in parts_of(schema, root)]
            lists = alternatives_of(schema)
            options = [[ask(one, depth + 1) for one in each] for each in lists]
            known[id(schema)] = join(schema, parts, options)
        return known[id(schema)]

    return ask(schema, 0)


def admitted(schema: object, root: object) -> frozenset[str]:
    """Return the types that a schema admits; all types if it does not restrict them."""
    types: frozenset[str] = _asked(schema, root, _types, ANY)
    return types


def _types(
    schema: Schema, parts: Iterable[frozenset[str]], options: Iterable[list[frozenset[str]]]
) -> frozenset[str]:
    named, found = kinds_named(schema), ANY
    if named and ANY.issuperset(named):
        found = frozenset((*named, "integer") if "number" in named else named)
    if (choices := choices_of(schema)) is not None:
        found &= {kind_of(choice) for choice in choices}
    for part in (*parts, *(frozenset[str]().union(*each) for each in options)):
        found &= part
    return found | {"null"} if schema.get("nullable") is True else found


def member(schema: object, key: str, root: object, *, or_item: bool = False) -> object:
    """Return the schema of the property `key`, or None if `schema` says nothing of it.

    With `or_item`, `key` may also be a name of a list's items, whose schema is returned then.
    """

    def joined(schema: Schema, parts: Iterable[object], options: Iterable[list[object]]) -> object:
        own = _properties(schema).get(key, schema)
        if own is schema:
            others = schema.get("additionalProperties")
            own = others if isinstance(others, Mapping) else None
            own = schema["items"] if or_item and "items" in schema else own
        if not (parts or options):
            return own
        found = [own, *parts]
        for each in options:
            some = [one for one in each if one is not None]
            found.append({"anyOf": some} if some[1:] else some[0] if some else None)
        found = [one for one in found if one is not None]
        return {"allOf": found} if found[1:] else found[0] if found else None

    return _asked(schema, root, joined, None)


def _properties(schema: Schema) -> Mapping[str, object]:
    properties = schema.get("properties")
    return properties if isinstance(properties, (dict, Mapping)) else {}


TYPE_REPAIRS: dict[str, Level] = {"type": "standard", "guessed-type": "lenient"}
"""The codes of repairs that change a value's type, each with its level."""


def fit(
    value: JsonValue,
    schema: object,
    *,
    span: Span | None = None,
    root: object = None,
    level: Level = "standard",
) -> Read:
    """Convert `value` to the types of `schema`, with as few changes as possible.

    Only lossless changes are made ("3" to 3, "true" to True, and a string without a comma to a list
    of one where the schema asks for a list of strings); `repairs` lists them. At level "lenient",
    any single item becomes a list of one, and "None" becomes None. A value that does not fit stays
    unchanged and is listed in `notes`. Messages begin with a path like `$.items[0].name`.
    References are resolved in `root`, by default `schema`. `span` is that of the repairs.
    """
    try:
        fitting = _Fitting(schema if root is None else root, guesses=level == "lenient")
        fitted, found = fitting.fit(value, schema, 0)
    except RecursionError:  # the caller has used most of the stack
        deep = Note("too-deep", "$: nested too deeply to be compared with its schema")
        return Read(value, (), (deep,))
    repairs, notes = list[Repair](), list[Note]()
    for path, code, message in found:
        if code in TYPE_REPAIRS:
            repairs.append(repair_of(code, f"${path}: {message}", span, TYPE_REPAIRS[code]))
        else:
            notes.append(Note(code, f"${path}: {message}"))
    return Read(fitted, (*repairs,), (*notes,))


Findings: TypeAlias = dict[tuple[str, str, str], None]
"""The findings about a value as (path in the value, code, message), in order.

The keys of a dict are an ordered set, so the same finding of several schemas is there once.
"""


def _is_sound(found: Findings) -> bool:
    return all(code in TYPE_REPAIRS for _, code, _ in found)


def _is_wrong(found: Findings) -> bool:
    """Whether the value itself, not only a part of it, has a wrong type."""
    return any(code == "wrong-type" and not path for path, code, _ in found)


class _Fitting:
    """One call of `fit`: a walk down a value and its schema. Each step returns the converted value.

    Each pair of a value and a schema is compared at most once (`_branch`), so that the work stays
    linear in the size of the value, however the alternatives are nested and shared.
    """

    def __init__(self, root: object, *, guesses: bool) -> None:
        self._root = root
        self._guesses = guesses
        self._met: dict[tuple[int, int], tuple[JsonValue, object, JsonValue, Findings]] = {}

    def fit(self, value: JsonValue, schema: object, depth: int) -> tuple[JsonValue, Findings]:
        found: Findings = {}
        if not isinstance(schema, (dict, Mapping)):  # dict first: a check for `Mapping` is slow
            if schema is False:
                found["", "not-allowed", "nothing is allowed here"] = None
        elif depth > MAX_SCHEMA_DEPTH:
            found["", "too-deep", f"more than {MAX_SCHEMA_DEPTH} steps into its schema"] = None
        elif value is not None or schema.get("nullable") is not True:
            value = self._typed(value, schema, depth, found)
            if not (_COMBINING.isdisjoint(schema) or _is_wrong(found)):
                value = self._combined(value, schema, depth, found)
            if isinstance(value, dict):
                value = self._object(value, schema, depth, found)
            elif isinstance(value, list):
                value = self._array(value, schema, depth, found)
            if not _is_wrong(found):
                value = _chosen(value, schema, found)
        return value, found

    def _combined(self, value: JsonValue, schema: Schema, depth: int, found: Findings) -> JsonValue:
        for part in parts_of(schema, self._root):
            if isinstance(part, LookupError):
                found["", "unresolved-ref", str(part)] = None
            else:
                value, more = self._branch(value, part, depth)
                found.update(more)
        for options in alternatives_of(schema) if not _is_wrong(found) else ():
            value = self._any_of(value, options, depth, found)
        wanted = kinds_named(schema)
        if wanted and not _is_wrong(found) and not any(is_of(value, kind) for kind in wanted):
            found["", "wrong-type", f"{brief(value)} cannot be of all types wanted"] = None
        return value

    def _branch(self, value: JsonValue, schema: object, depth: int) -> tuple[JsonValue, Findings]:
        """Fit a value to a schema, once for each pair; a circle of schemas is a finding."""
        met = (id(value), id(schema))
        if met not in self._met:
            circle = "the schema leads back to itself and asks for nothing"
            # Value and schema are kept, so that no other object can get their ids.
            self._met[met] = value, schema, value, {("", "unresolved-ref", circle): None}
            fitted, found = self.fit(value, schema, depth + 1)
            self._met[met] = value, schema, fitted, found
        _, _, fitted, found = self._met[met]
        return fitted, found

    def _any_of(
        self, value: JsonValue, options: list[object], depth: int, found: Findings
    ) -> JsonValue:
        """Fit a value to the first option that fits unchanged, or else after conversion.

        If no option fits, but exactly one has the right type, report the findings of that option.
        """
        each = []
        for option in options:
            each.append(self._branch(value, option, depth))
            if not each[-1][1]:
                return value
        sound = [one for one in each if _is_sound(one[1])]
        near = sound or [one for one in each if not _is_wrong(one[1])]
        if sound or len(near) == 1:
            found.update(near[0][1])
            return near[0][0]
        found["", "wrong-type", f"{brief(value)} fits none of {len(options)} alternatives"] = None
        return value

    def _typed(self, value: JsonValue, schema: Schema, depth: int, found: Findings) -> JsonValue:
        wanted = kinds_named(schema)
        if not wanted or any(is_of(value, kind) for kind in wanted):
            return value
        for kind in wanted:
            if (made := bent(value, kind)) is not UNBENT:
                found["", "type", f"{brief(value)} read as {kind} {brief(made)}"] = None
                return made
        if self._guesses and "null" in wanted and _is_none(value):
            found["", "guessed-type", f"{brief(value)} read as null"] = None
            return None
        if "array" in wanted and self._is_lone_item(value, schema, depth):
            items = _item_schema(schema, 0)
            sure = isinstance(value, str) and "," not in value and not _is_none(value)
            sure = sure and isinstance(items, Mapping) and kinds_named(items) == ["string"]
            if sure or self._guesses:
                code = "type" if sure else "guessed-type"
                found["", code, f"{brief(value)} read as array {brief([value])}"] = None
                return [value]
        names = " or ".join(str(kind)[:SHOWN_NAME] for kind in wanted)
        found["", "wrong-type", f"{brief(value)} is not of type {names}"] = None
        return value

    def _is_lone_item(self, value: JsonValue, schema: Schema, depth: int) -> bool:
        """Whether a value could be an item of the list that the schema asks for."""
        if value is None or value == "" or (isinstance(value, str) and value.lstrip()[:1] in "[{"):
            return False
        return _is_sound(self._branch(value, _item_schema(schema, 0), depth)[1])

    def _object(self, value: JsonObject, schema: Schema, depth: int, found: Findings) -> JsonValue:
        properties, required = _properties(schema), schema.get("required")
        for name in required if isinstance(required, list | tuple) else ():
            if isinstance(name, str) and name not in value:
                found["", "missing-argument", f"{name[:SHOWN_NAME]!r} is required"] = None
        # The patterns of `patternProperties` are not trusted and not run: any name may match one.
        others = True if schema.get("patternProperties") else schema.get("additionalProperties")
        members: dict[Any, JsonValue] = value  # one that does not come from JSON may have any key
        changed: dict[Any, JsonValue] = {}
        for name, inner in members.items():
            path = str(name)[:SHOWN_NAME]
            if name not in properties and others is False:
                found["", "unknown-argument", f"{path!r} is no argument"] = None
                continue
            part = properties.get(name, others)
            if (made := self._part(f".{path}", inner, part, depth, found)) is not inner:
                changed[name] = made
        return {**value, **changed} if changed else value

    def _array(
        self, value: list[JsonValue], schema: Schema, depth: int, found: Findings
    ) -> JsonValue:
        if schema.keys().isdisjoint(_ITEM_KEYWORDS):
            return value
        fitted = [
            self._part(f"[{index}]", inner, _item_schema(schema, index), depth, found)
            for index, inner in enumerate(value)
        ]
        return fitted if any(map(is_not, fitted, value)) else value

    def _part(
        self, step: str, value: JsonValue, schema: object, depth: int, found: Findings
    ) -> JsonValue:
        """Fit a member or an item; `step` (".name" or "[0]") precedes the paths of its findings."""
        if _fits_plainly(value, schema):
            return value
        # Several schemas may lead to a container, so its result is cached; a scalar is cheaper.
        if isinstance(value, dict | list):
            value, more = self._branch(value, schema, depth)
        else:
            value, more = self.fit(value, schema, depth + 1)
        for path, code, message in more:
            found[step + path, code, message] = None
        return value


def _is_none(value: JsonValue) -> bool:
    """Whether a value is the string "None" or "null", in any case."""
    return isinstance(value, str) and value.strip().lower() in ("none", "null")


def _fits_plainly(value: JsonValue, schema: object) -> bool:
    """Whether a scalar has the schema's one type, and is among its choices, if it has any."""
    if type(schema) is not dict:
        return schema is None
    kind = schema.get("type")
    if type(kind) is not str or type(value) not in CLASSES.get(kind, ()):
        return False
    if type(value) is dict or type(value) is list or not _COMBINING.isdisjoint(schema):
        return False
    choices = choices_of(schema)
    return choices is None or any(_same(value, choice) for choice in choices)


def _item_schema(schema: Schema, index: int) -> object:
    """Return the schema of a list's item at `index`. In older drafts `items` may be a list."""
    first, rest = schema.get("prefixItems"), schema.get("items")
    if isinstance(rest, list | tuple):
        first, rest = rest, schema.get("additionalItems")
    return first[index] if isinstance(first, list | tuple) and index < len(first) else rest


def _chosen(value: JsonValue, schema: Schema, found: Findings) -> JsonValue:
    """Compare a value with `enum` or `const`; convert it if it only differs in type."""
    choices = choices_of(schema)
    if choices is None or any(_same(value, choice) for choice in choices):
        return value
    for example in {type(choice): choice for choice in choices}.values():
        made = bent(value, kind_of(example))
        if made is not UNBENT and any(_same(made, choice) for choice in choices):
            found["", "type", f"{brief(value)} read as {brief(made)}"] = None
            return made
    found["", "not-allowed", f"{brief(value)} is none of {brief(choices)}"] = None
    return value


def _same(value: JsonValue, choice: object) -> bool:
    return type(choice) is type(value) and bool(choice == value)


_SILENT_ON_OTHERS = frozenset({
    "type", "properties", "required", "title", "description", "$schema", "$id", "$defs",
    "definitions",
})  # fmt: skip

Check: TypeAlias = Callable[[Any], bool]
"""Says whether a value fits a schema unchanged."""

_Checks: TypeAlias = tuple[frozenset[type], Check]
"""The types all of whose values fit a schema, and the check of other values."""

_COMPILED_DEPTH = 8
"""How deep a schema is compiled: real ones are not deeper, and no schema takes long to compile."""

_ANYTHING: _Checks = frozenset(), lambda _: True
_NOTHING: _Checks = frozenset(), lambda _: False
_OF_OBJECTS = frozenset({"properties", "required", "additionalProperties", "patternProperties"})


def fits(name: str, arguments: JsonObject, tools: Tools) -> bool:
    """Whether `name` is one of the tools and the arguments fit its schema unchanged."""
    check: Check | None = tools.prepared.get(name)
    if check is None:
        if name not in tools:
            return False
        schema = tools[name].parameters
        check = tools.prepared[name] = _compiled(schema, schema, 0, closed=_is_closed(schema))[1]
    try:
        return check(arguments)
    except RecursionError:  # as in `fit`
        return False


def _compiled(schema: object, root: object, depth: int, *, closed: bool = False) -> _Checks:
    """Return the checks of values for which `fit` has nothing to change or to say.

    `closed` is for `_members`.
    """
    if not isinstance(schema, (dict, Mapping)):
        return _NOTHING if schema is False else _ANYTHING
    listed, nullable = isinstance(schema.get("items"), list | tuple), schema.get("nullable") is True
    if depth > _COMPILED_DEPTH or listed or not _WALKED.isdisjoint(schema):
        return (
            frozenset(),
            lambda value: not _Fitting(root, guesses=False).fit(value, schema, depth)[1],
        )
    wanted, choices = kinds_named(schema), choices_of(schema)
    types = frozenset(each for kind in wanted for each in CLASSES.get(kind, ()))
    named, members, items = types, _ANYTHING[1], _ANYTHING
    if not _OF_OBJECTS.isdisjoint(schema):
        members, types = _members(schema, root, depth, closed=closed), types - {dict}
        if wanted == ["object"] and choices is None and not nullable:
            return frozenset(), members
    if "items" in schema:
        items, types = _compiled(schema["items"], root, depth + 1), types - {list}
    check = partial(_fits_in, named, wanted, members, items)
    if choices is None and not nullable:
        return types, check
    return (
        frozenset(),
        lambda value: (
            (value is None and nullable)
            or (check(value) and (choices is None or any(_same(value, one) for one in choices)))
        ),
    )


def _fits_in(
    named: frozenset[type], wanted: list[str], members: Check, items: _Checks, value: Any
) -> bool:
    """Whether a value has a type that is wanted, and its members or items fit."""
    if type(value) not in named and wanted and not any(is_of(value, kind) for kind in wanted):
        return False
    if isinstance(value, dict):
        return members(value)
    types, fitting = items
    return not isinstance(value, list) or all(type(x) in types or fitting(x) for x in value)


_WALKED = _COMBINING | {"prefixItems"}


def _members(schema: Schema, root: object, depth: int, *, closed: bool) -> Check:
    """Return a check of an object; if it is `closed`, all of its members have to be declared."""
    others = True if schema.get("patternProperties") else schema.get("additionalProperties")
    known = {key: _compiled(one, root, depth + 1) for key, one in _properties(schema).items()}
    rest = _compiled(False if closed else others, root, depth + 1)
    listed = schema.get("required")
    named = listed if isinstance(listed, list | tuple) else ()
    required = frozenset(name for name in named if isinstance(name, str))

    def check(value: JsonValue) -> bool:
        if not isinstance(value, dict):
            return False
        for key, inner in value.items():
            types, fitting = known.get(key, rest)
            if type(inner) not in types and not fitting(inner):
                return False
        return required <= value.keys()

    return check


def _is_closed(schema: Mapping[str, JsonValue]) -> bool:
    """Whether arguments that the schema does not declare are reported as `undeclared`."""
    return isinstance(schema.get("properties"), Mapping) and schema.keys() <= _SILENT_ON_OTHERS


def misplaced(
    tool: str, arguments: JsonObject, beside: JsonObject, tools: Tools | None
) -> list[str]:
    """List the keys beside a call's arguments that probably belong to the arguments.

    These are arguments that the tool declares and that were not given, and other usual keys for
    arguments (`ARGUMENTS_KEYS`) whose object is different and not empty.
    """
    known = _properties(tools[tool].parameters) if tools is not None else {}
    lost = [key for key in beside if key in known and key not in arguments]
    more = [key for key in beside if key in ARGUMENTS_KEYS and key not in lost]
    return lost + [
        key for key in more if isinstance(beside[key], dict) and beside[key] not in ({}, arguments)
    ]


def undeclared(arguments: JsonObject, schema: Mapping[str, JsonValue]) -> list[str]:
    """List the arguments that a schema does not declare, unless it has keywords on further ones."""
    declared = schema["properties"] if _is_closed(schema) else arguments
    return [name for name in arguments if name not in declared]


def unwrapped(arguments: JsonObject, schema: Mapping[str, JsonValue]) -> JsonObject | None:
    """Return the arguments that are wrapped in a single argument; None if that is not certain.

    It is certain if the schema has no argument of the outer name and has all of the inner ones. The
    outer argument is an object, or a string that is the JSON of one.
    """
    properties = schema.get("properties")
    if len(arguments) != 1 or not isinstance(properties, Mapping):
        return None
    ((name, inner),) = arguments.items()
    if name in properties or schema.get("additionalProperties", False) is not False:
        return None
    if isinstance(inner, str) and inner.lstrip()[:1] == "{":
        read = read_json(inner)
        if isinstance(read, Unreadable) or read.notes:
            return None
        if any(repair.level != "standard" for repair in read.repairs):
            return None
        inner = read.value
    if not isinstance(inner, dict) or not inner or not inner.keys() <= properties.keys():
        return None
    return inner
