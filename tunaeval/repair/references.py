"""Where a schema's local references lead, and what it says of a value when they are followed.

`#` and JSON pointers (`#/$defs/Point`, with their escapes) lead into the root schema. Nothing else
is followed: a schema is never fetched. Schemas come from anybody, so whatever they hold, nothing
here raises or runs in a circle.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

from tunaeval.limits import MAX_SCHEMA_DEPTH

from .kinds import KINDS, choices_of, kind_of, kinds_named, shown

Schema: TypeAlias = Mapping[str, object]

_Own: TypeAlias = Callable[[Schema], object]

ANY = frozenset(KINDS)

_ALTERNATIVES = ("anyOf", "oneOf")
_PERCENT = re.compile(rb"%([0-9A-Fa-f]{2})")


@dataclass(frozen=True, slots=True)
class Nowhere:
    """Why a reference leads to no schema."""

    message: str


def resolved(reference: object, root: object) -> object | Nowhere:
    """The schema that a `$ref` means."""
    told = f"$ref {shown(reference)}"
    if not isinstance(reference, str) or not reference.startswith("#"):
        return Nowhere(f"{told} leads out of the schema; only '#/...' is followed, none is fetched")
    if reference not in ("#", "#/") and not reference.startswith("#/"):
        return Nowhere(f"{told} names an anchor; only '#' and '#/...' are followed")
    found = root
    for step in reference[2:].split("/") if len(reference) > 2 else ():
        key = _unescaped(step)
        if isinstance(found, Mapping) and key in found:
            found = found[key]
        elif isinstance(found, list) and key.isdecimal() and len(key) < 9 and int(key) < len(found):
            found = found[int(key)]
        else:
            return Nowhere(f"{told} leads nowhere: there is no {shown(key)}")
    return found


def parts_of(schema: Schema, root: object) -> Iterator[object | Nowhere]:
    """The schemas that hold beside this one: what `$ref` means, and all of `allOf`."""
    if "$ref" in schema:
        yield resolved(schema["$ref"], root)
    yield from _listed(schema.get("allOf"))


def alternatives_of(schema: Schema) -> Iterator[list[object]]:
    """The lists of which one schema has to hold: `anyOf`, and `oneOf` read in the same way."""
    for keyword in _ALTERNATIVES:
        if options := _listed(schema.get(keyword)):
            yield options


def admitted(schema: object, root: object) -> frozenset[str]:
    """The types that a schema admits; all of them when it says nothing."""
    return _admitted(schema, root, {}, 0)


def member(schema: object, key: str, root: object) -> object:
    """What a schema says of the property `key`: a schema, or None if it says nothing."""
    return _inner(schema, partial(_own_member, key=key), root, set(), 0)


def member_or_item(schema: object, key: str, root: object) -> object:
    """As `member`, where a value may as well be a list whose items have that name."""
    return _inner(schema, partial(_own_member_or_items, key=key), root, set(), 0)


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


def _own_kinds(schema: Schema) -> frozenset[str]:
    named = kinds_named(schema)
    kinds = ANY
    if named and all(name in KINDS for name in named):
        kinds = frozenset(kind for kind in KINDS if kind in named or _widened(kind) in named)
    choices = choices_of(schema)
    return kinds if choices is None else kinds & {kind_of(choice) for choice in choices}


def _widened(kind: str) -> str:
    return "number" if kind == "integer" else kind


def _inner(schema: object, own: _Own, root: object, seen: set[int], depth: int) -> object:
    """What `own` finds in a schema and in all that hold beside it, as one schema."""
    if not isinstance(schema, (dict, Mapping)) or id(schema) in seen or depth > MAX_SCHEMA_DEPTH:
        return None
    seen.add(id(schema))
    said = [own(schema)]
    said += [_inner(part, own, root, seen, depth + 1) for part in parts_of(schema, root)]
    for options in alternatives_of(schema):
        each = [_inner(option, own, root, seen, depth + 1) for option in options]
        if some := [one for one in each if one is not None]:
            said.append({"anyOf": some} if some[1:] else some[0])
    said = [one for one in said if one is not None]
    return {"allOf": said} if said[1:] else said[0] if said else None


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


def _listed(keyword: object) -> list[object]:
    return [*keyword] if isinstance(keyword, list | tuple) else []


def _unescaped(step: str) -> str:
    """A step of a pointer as the key it means: percent signs first, then ~1 and ~0."""
    if "%" in step:
        raw = _PERCENT.sub(_byte, step.encode("utf-8", "surrogatepass"))
        step = raw.decode("utf-8", "replace")
    return step.replace("~1", "/").replace("~0", "~")


def _byte(hit: re.Match[bytes]) -> bytes:
    return bytes.fromhex(hit[1].decode())
