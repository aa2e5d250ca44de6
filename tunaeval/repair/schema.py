"""What a JSON schema says of a value: its types, its choices, its members, its references.

`#` and JSON pointers (`#/$defs/Point`, with their escapes) lead into the root schema. Nothing else
is followed: a schema is never fetched. Schemas come from anybody, so whatever they contain, nothing
here raises or runs in a circle.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from math import isfinite
from reprlib import Repr
from typing import TypeAlias

from tunaeval.limits import MAX_DIGITS, MAX_SCHEMA_DEPTH, SCALAR_TEXT, SHOWN_VALUE
from tunaeval.types import JsonValue

from .machine import read_json
from .values import NUMBER, Read

Schema: TypeAlias = Mapping[str, object]

# --- types ---------------------------------------------------------------------------------------

CLASSES: dict[object, tuple[type, ...]] = {
    "null": (type(None),),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "array": (list,),
    "object": (dict,),
    "string": (str,),
}
"""The types that JSON schema knows, from the narrowest on, and the classes of their values."""

ANY = frozenset(map(str, CLASSES))
"""Every type."""

UNBENT: JsonValue = object()
"""Instead of a value: no value of the type that was asked for is written the same."""

_WORDS: dict[str, dict[str, JsonValue]] = {
    "boolean": {"true": True, "false": False},
    "null": {"null": None, "none": None},
}


def kind_of(value: JsonValue) -> str:
    """Return the narrowest type of a value; "" for what is no JSON value."""
    return next((str(kind) for kind in CLASSES if is_of(value, kind)), "")


def is_of(value: JsonValue, kind: object) -> bool:
    """Whether a value is of a schema's type. True is no number; 3.0 is no integer as it is."""
    accepted = CLASSES.get(kind) if isinstance(kind, str) else None
    if accepted is None:
        return True  # a type that JSON schema does not know allows anything
    return isinstance(value, accepted) and (type(value) is not bool or bool in accepted)


def kinds_named(schema: Schema) -> list[object]:
    """Return what a schema's `type` names, one or several; some providers write capitals."""
    named = schema.get("type")
    if type(named) is str:
        return [named.lower()]
    several = [*named] if isinstance(named, list | tuple) else [] if named is None else [named]
    return [each.lower() if isinstance(each, str) else each for each in several]


def choices_of(schema: Schema) -> list[object] | None:
    """Return the values that `const` or `enum` leaves; None if there is neither."""
    if "const" in schema:
        return [schema["const"]]
    listed = schema.get("enum")
    return [*listed] if isinstance(listed, list | tuple) else None


def bent(value: JsonValue, kind: object) -> JsonValue:
    """Return `value` as that type if nothing is lost by it, else `UNBENT`."""
    match kind, value:
        case "null", str() if value.strip().lower() == "none":
            return UNBENT  # a guess: the word may be meant as it is
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
    """Return the value of that type that a text writes out ("3", "true", "[1]"), or `UNBENT`."""
    match kind:
        case "array" | "object":
            inner = read_json(text) if text.lstrip()[:1] in ("[", "{") else None
            sound = isinstance(inner, Read) and not inner.repairs and is_of(inner.value, kind)
            return inner.value if isinstance(inner, Read) and sound else UNBENT
        case "boolean" | "null" if len(text) <= SCALAR_TEXT:
            return _WORDS[kind].get(text.strip().lower(), UNBENT)
        case "integer" | "number" if len(text) <= SCALAR_TEXT:
            return _number_of(text.strip(), kind)
    return UNBENT


def _number_of(word: str, kind: str) -> JsonValue:
    found = NUMBER.fullmatch(word)
    if found and not found["real"]:
        return int(word)
    number = float(word) if found and kind == "number" else float("inf")
    return number if isfinite(number) else UNBENT


_REPR = Repr()
_REPR.maxstring = _REPR.maxlong = _REPR.maxother = SHOWN_VALUE
_REPR.maxlevel = 2


def shown(value: object) -> str:
    """Return the beginning of a value for people, at a bounded cost."""
    try:
        text = _REPR.repr(value)
    except (ValueError, TypeError):  # an integer beyond Python's limit; keys of no order
        return f"a {type(value).__name__}"
    return text if len(text) <= SHOWN_VALUE else text[: SHOWN_VALUE - 3] + "..."


# --- schemas that are combined -------------------------------------------------------------------

_ALTERNATIVES = ("anyOf", "oneOf")
_COMBINING = frozenset({"$ref", "allOf", *_ALTERNATIVES})
_PERCENT = re.compile(rb"%([0-9A-Fa-f]{2})")


def resolved(reference: object, root: object) -> object | LookupError:
    """Return the schema that a `$ref` means, or an error, not raised, if it leads to none."""
    name = f"$ref {shown(reference)}"
    if not isinstance(reference, str) or not reference.startswith("#"):
        return LookupError(
            f"{name} leads out of the schema; only '#/...' is followed, none is fetched"
        )
    if reference not in ("#", "#/") and not reference.startswith("#/"):
        return LookupError(f"{name} names an anchor; only '#' and '#/...' are followed")
    found = root
    for step in reference[2:].split("/") if len(reference) > 2 else ():
        key = _unescaped(step)
        if isinstance(found, Mapping) and key in found:
            found = found[key]
        elif isinstance(found, list) and key.isdecimal() and len(key) < 9 and int(key) < len(found):
            found = found[int(key)]
        else:
            return LookupError(f"{name} leads nowhere: there is no {shown(key)}")
    return found


def _unescaped(step: str) -> str:
    """Return the key that a step of a pointer means: percent signs first, then ~1 and ~0."""
    if "%" in step:
        raw = _PERCENT.sub(
            lambda hit: bytes.fromhex(hit[1].decode()), step.encode("utf-8", "surrogatepass")
        )
        step = raw.decode("utf-8", "replace")
    return step.replace("~1", "/").replace("~0", "~")


def parts_of(schema: Schema, root: object) -> Iterator[object | LookupError]:
    """Yield the schemas that apply beside this one: what `$ref` means, and all of `allOf`."""
    if "$ref" in schema:
        yield resolved(schema["$ref"], root)
    yield from _listed(schema.get("allOf"))


def alternatives_of(schema: Schema) -> Iterator[list[object]]:
    """Yield the lists of which one schema has to fit: `anyOf`, and `oneOf` read in the same way."""
    for keyword in _ALTERNATIVES:
        if options := _listed(schema.get(keyword)):
            yield options


def _listed(keyword: object) -> list[object]:
    return [*keyword] if isinstance(keyword, list | tuple) else []


def admitted(schema: object, root: object) -> frozenset[str]:
    """Return the types that a schema admits; all of them when it says nothing."""
    if isinstance(schema, dict) and schema.keys() <= _PLAIN:
        return _own_kinds(schema)
    return _admitted(schema, root, {}, 0)


def _admitted(
    schema: object, root: object, known: dict[int, frozenset[str]], depth: int
) -> frozenset[str]:
    if not isinstance(schema, (dict, Mapping)) or depth > MAX_SCHEMA_DEPTH:
        return ANY
    if id(schema) in known:
        return known[id(schema)]
    known[id(schema)] = ANY  # what a circle says of itself
    found = _own_kinds(schema)
    for part in parts_of(schema, root):
        found &= _admitted(part, root, known, depth + 1)
    for options in alternatives_of(schema):
        each = [_admitted(option, root, known, depth + 1) for option in options]
        found &= frozenset[str]().union(*each)
    if schema.get("nullable") is True:
        found |= {"null"}
    known[id(schema)] = found
    return found


_PLAIN = frozenset({"type", "description", "title", "default"})
"""Keywords of a schema that names a type, and says nothing else of it."""


def _own_kinds(schema: Schema) -> frozenset[str]:
    named = kinds_named(schema)
    kinds = ANY
    if named and all(isinstance(name, str) and name in ANY for name in named):
        wider = {"integer": "number"}
        kinds = frozenset(kind for kind in ANY if kind in named or wider.get(kind) in named)
    choices = choices_of(schema)
    return kinds if choices is None else kinds & {kind_of(choice) for choice in choices}


def member(schema: object, key: str, root: object) -> object:
    """Return what a schema says of the property `key`: a schema, or None if it says nothing."""
    return _inner(schema, partial(_own_member, key=key), root, set(), 0)


def member_or_item(schema: object, key: str, root: object) -> object:
    """Like `member`, where a value may as well be a list whose items have that name."""
    return _inner(schema, partial(_own_member_or_items, key=key), root, set(), 0)


def _inner(
    schema: object, own: Callable[[Schema], object], root: object, seen: set[int], depth: int
) -> object:
    """Return what `own` finds in a schema and in all that apply beside it, as one schema."""
    if not isinstance(schema, (dict, Mapping)) or id(schema) in seen or depth > MAX_SCHEMA_DEPTH:
        return None
    if _COMBINING.isdisjoint(schema):
        return own(schema)
    seen.add(id(schema))
    found = [own(schema)]
    found += [_inner(part, own, root, seen, depth + 1) for part in parts_of(schema, root)]
    for options in alternatives_of(schema):
        each = [_inner(option, own, root, seen, depth + 1) for option in options]
        if some := [one for one in each if one is not None]:
            found.append({"anyOf": some} if some[1:] else some[0])
    found = [one for one in found if one is not None]
    return {"allOf": found} if found[1:] else found[0] if found else None


def _own_member(schema: Schema, key: str) -> object:
    properties = schema.get("properties")
    if isinstance(properties, Mapping) and key in properties:
        return properties[key]
    others = schema.get("additionalProperties")
    return others if isinstance(others, Mapping) else None


def _own_member_or_items(schema: Schema, key: str) -> object:
    properties = schema.get("properties")
    if "items" in schema and not (isinstance(properties, Mapping) and key in properties):
        return schema["items"]
    return _own_member(schema, key)
