"""Comparison of a call's arguments with the expected ones, in the profiles `tunacode` and `strict`.

An expected value is JSON, or a matcher (`matchers`), at any depth. An argument that is left out
counts as its default in the schema. A failure says why something does not match, as a code, a
message and a place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import repeat
from typing import NamedTuple, TypeAlias
from unicodedata import normalize

from tunaeval.showing import brief
from tunaeval.types.calls import JsonValue, ToolCall, ToolSpec

from .matchers import ABSENT, NO_SCHEMA, Compare, inner_schema, is_default, matcher_of, normalised


@dataclass(frozen=True, slots=True)
class Failure:
    """Why something does not match; `path` is the place, such as `calls[0].arguments.cwd`. The
    codes are in `docs/reference/expectations.md`.
    """

    code: str
    message: str
    path: str = ""


Miss: TypeAlias = Callable[[], Failure]
"""Returns a failure; a function, because the messages of most failures are never needed."""


def wrong_tool(wanted: str, got: str) -> Failure:
    return Failure("wrong-tool", f"wanted {wanted!r}, got {got!r}", "name")


def invalid_arguments(call: ToolCall) -> Failure:
    return Failure("invalid-arguments", f"{call.name}: {call.invalid}", "arguments")


def extra_argument(name: str, value: object) -> Failure:
    message = f"{name}={brief(value, 200)} was not expected"
    return Failure("extra-argument", message, f"arguments.{name}")


Arguments: TypeAlias = Mapping[str, JsonValue]


def call_misses(
    name: str,
    arguments: Arguments,
    call: ToolCall,
    spec: ToolSpec | None,
    *,
    exact: bool,
    literal: bool = False,
) -> Iterator[Miss]:
    """Yield each difference between a call and the expected one.

    With `exact`, types count (True is not 1; 1.0 is 1 unless the schema says integer), and
    unexpected arguments fail unless they equal the schema's default. Without it, Python's ==
    decides, more arguments are allowed, and declared path arguments are normalized first. With
    `literal`, an object with a `$` key is data and not a matcher.
    """
    if name != call.name:
        yield partial(wrong_tool, name, call.name)
        return
    got = call.arguments
    schemas = NO_SCHEMA if spec is None else inner_schema(spec.parameters, "properties")
    paths = spec.paths if spec is not None and not exact else ()
    compare = _LITERALLY if literal else _EXACTLY if exact else _LOOSELY
    for key, want in arguments.items():
        have = got.get(key, ABSENT)
        if type(want) is type(have) and type(want) in _SIMPLE and want == have:
            continue  # a shortcut for the common case
        schema = schemas.get(key, NO_SCHEMA)
        left_out = have is ABSENT
        if left_out and isinstance(schema, Mapping):
            have = schema.get("default", ABSENT)
        if compare(want, have, schema):
            continue
        if key in paths and compare(_plain_wish(want), normalised(have), schema):
            continue
        yield partial(_failure, key, want, ABSENT if left_out else have, schema, compare)
    if exact:
        yield from _extra(arguments, got, schemas)


_SIMPLE = frozenset({str, int, bool, float, type(None)})


class Likeness(NamedTuple):
    """How near a call's arguments are to the expected ones, as four counts of arguments.

    `right` are as expected; `named` are expected and given, with any value; `wanted` are expected;
    `all` are the expected ones plus unexpected ones that differ from their default.
    """

    right: int
    named: int
    wanted: int
    all: int


def likeness(
    wanted: Arguments, got: Arguments, spec: ToolSpec | None, *, literal: bool
) -> Likeness:
    """Return how near the arguments are to the expected ones, by the rules of the profile `strict`.

    With `literal`, an object with a `$` key is data and not a matcher.
    """
    schemas = NO_SCHEMA if spec is None else inner_schema(spec.parameters, "properties")
    compare = _LITERALLY if literal else _EXACTLY
    right = named = 0
    for key, want in wanted.items():
        schema = schemas.get(key, NO_SCHEMA)
        have = got.get(key, ABSENT)
        named += have is not ABSENT
        if have is ABSENT and isinstance(schema, Mapping):
            have = schema.get("default", ABSENT)
        right += compare(want, have, schema)
    extra = sum(1 for _ in _extra(wanted, got, schemas))
    return Likeness(right, named, len(wanted), len(wanted) + extra)


def _extra(arguments: Arguments, got: Arguments, schemas: Arguments) -> Iterator[Miss]:
    """Yield the unexpected arguments, except those whose value is the schema's default."""
    for key, have in got.items():
        if key not in arguments and not is_default(have, schemas.get(key), _EXACTLY):
            yield partial(extra_argument, key, have)


def _fits(
    want: JsonValue, have: object, schema: JsonValue, *, exact: bool, literal: bool = False
) -> bool:
    compare = _LITERALLY if literal else _EXACTLY if exact else _LOOSELY
    kind = type(want)
    if kind is str and kind is type(have) and exact:
        return bool(want == have) or _are_one_text(want, have)
    if kind in _SIMPLE and kind is type(have):
        return bool(want == have)
    if kind is dict:
        matcher = None if literal else matcher_of(want)
        if matcher is not None:
            return matcher.fits(want, have, schema, compare)
        return isinstance(have, dict) and _objects_fit(want, have, schema, compare)
    if kind is list:
        if not isinstance(have, list) or len(want) != len(have):
            return False
        kinds = list(map(type, want))
        if want == have and kinds == list(map(type, have)) and _SIMPLE.issuperset(kinds):
            return True
        items = inner_schema(schema, "items")
        return all(map(compare, want, have, repeat(items)))
    if not exact or kind is type(have):
        return bool(want == have)
    if want != have or {kind, type(have)} != {int, float}:
        return False
    return type(have) is int or "integer" not in (named := kinds_of(schema)) or "number" in named


_EXACTLY: Compare = partial(_fits, exact=True)
_LOOSELY: Compare = partial(_fits, exact=False)
_LITERALLY: Compare = partial(_fits, exact=True, literal=True)


def _objects_fit(want: Arguments, have: Arguments, schema: JsonValue, compare: Compare) -> bool:
    schemas = inner_schema(schema, "properties")
    return all(key in want for key in have) and all(
        compare(item, have.get(key, ABSENT), inner_schema(schemas, key))
        for key, item in want.items()
    )


def _plain_wish(want: JsonValue) -> JsonValue:
    if isinstance(want, dict) and isinstance(want.get("$any_of"), list):
        return {"$any_of": [_plain_wish(one) for one in want["$any_of"]]}
    return normalised(want)


def _are_one_text(want: str, have: object) -> bool:
    """Whether two texts are the same in Unicode's normal form NFC, where an accent is part of its
    letter. No other sign is taken for one of ASCII.
    """
    if want.isascii() or not isinstance(have, str) or have.isascii():
        return False
    return normalize("NFC", want) == normalize("NFC", have)


def kinds_of(schema: JsonValue) -> list[JsonValue]:
    """Return the type names in a schema, also those in its `anyOf` and `oneOf`."""
    kinds: list[JsonValue] = []
    waiting, seen = [schema], set[int]()  # it may contain itself
    for one in waiting:
        if isinstance(one, Mapping) and id(one) not in seen:
            seen.add(id(one))
            kind = one.get("type", [])
            kinds += kind if isinstance(kind, list) else [kind]
            listed = (one.get(key) for key in ("anyOf", "oneOf"))
            waiting += (
                branch for some in listed if isinstance(some, list | tuple) for branch in some
            )
    return kinds


def _failure(
    key: str, want: JsonValue, have: object, schema: JsonValue, compare: Compare
) -> Failure:
    """Return the failure at the innermost place that explains the whole mismatch."""
    path = key
    inner = _first_below(want, have, schema, compare)
    while inner is not None:
        step, want, have, schema = inner
        path += step
        inner = _first_below(want, have, schema, compare)
    if have is ABSENT:
        message = f"wanted {path}={brief(want, 200)}, it was left out"
        return Failure("missing-argument", message, f"arguments.{path}")
    message = f"wanted {path}={brief(want, 200)}, got {brief(have, 200)}"
    return Failure("wrong-value", message, f"arguments.{path}")


def _first_below(
    want: JsonValue, have: object, schema: JsonValue, compare: Compare
) -> tuple[str, JsonValue, object, JsonValue] | None:
    """Return (path, want, have, schema) of the first unequal part; None if there is none."""
    if isinstance(want, dict) and isinstance(have, dict) and matcher_of(want) is None:
        if any(key not in want for key in have):
            return None
        schemas = inner_schema(schema, "properties")
        for key, item in want.items():
            part, inner = have.get(key, ABSENT), inner_schema(schemas, key)
            if not compare(item, part, inner):
                return f".{key}", item, part, inner
    if isinstance(want, list) and isinstance(have, list) and len(want) == len(have):
        inner = inner_schema(schema, "items")
        for index, (item, part) in enumerate(zip(want, have, strict=True)):
            if not compare(item, part, inner):
                return f"[{index}]", item, part, inner
    return None
