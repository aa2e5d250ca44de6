"""Matchers: objects in the place of an expected value.

    {"$any_of": [value, ...]}       one of these, each a value or a matcher
    {"$regex": "^TODO"}             a string that contains a match
    {"$approx": 50, "tolerance": 5} a number at most 5 away; or "relative": 0.1, a tenth of 50;
                                    with both, either is enough; with neither, a billionth of 50
    {"$contains": value}            a string with this part, or a list with this item;
                                    for a list of values, with all of them
    {"$set": [value, ...]}          a list of these, in any order and any number of times
    {"$path": "src"}                a path (or list of paths) with the same meaning
    {"$default": true}              left out, or given as the schema's default
    {"$ignore": true}               any value, or none

`fits` gets the matcher as it is written, the actual value (`ABSENT` for none), its schema, and the
function that compares nested values. It accepts whatever a model wrote and never raises.

Only paths that a tool declares, or that an expectation calls one, are normalized: never contents or
commands. "src/" is "src", "./src" is "src", "a//b/./c" is "a/b/c", "./" is "."; "/" and "" stay
unchanged, and so does "..", because of links.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any, TypeAlias

from tunaeval.types.calls import JsonObject, JsonValue

from .patterns import compiled

ABSENT = object()
"""Stands for a value that was left out."""

Compare: TypeAlias = Callable[[JsonValue, object, JsonValue], bool]


@dataclass(frozen=True, slots=True)
class Matcher:
    """A matcher: how it compares, how it is validated, and which keys may be beside its own."""

    fits: Callable[[JsonObject, Any, JsonValue, Compare], bool]
    fault: Callable[[JsonObject], str | None]
    options: frozenset[str] = frozenset()


def inner_schema(schema: JsonValue, key: str) -> JsonValue:
    """Return the schema at a key of another schema; an empty one if there is none."""
    inner = schema.get(key) if isinstance(schema, Mapping) else None
    return inner if isinstance(inner, Mapping) else NO_SCHEMA


NO_SCHEMA: Mapping[str, JsonValue] = {}


def _any_of_fault(wish: JsonObject) -> str | None:
    some = isinstance(wish["$any_of"], list) and wish["$any_of"]
    return None if some else "$any_of wants a list of at least one value"


def _regex(wish: JsonObject, have: object, schema: JsonValue, compare: Compare) -> bool:
    del schema, compare
    return isinstance(have, str) and _pattern(wish["$regex"]).found_in(have)


def _regex_fault(wish: JsonObject) -> str | None:
    if not isinstance(wish["$regex"], str):
        return "$regex wants a string"
    try:
        _pattern(wish["$regex"])
    except ValueError as error:
        return f"$regex: {error}"
    return None


def _pattern(written: str) -> Any:
    return compiled(written)


def _approx(wish: JsonObject, have: object, schema: JsonValue, compare: Compare) -> bool:
    """Whether a number is near enough; decimals are exact: 1.1 is exactly 0.1 away from 1."""
    del schema, compare
    if not _is_number(have):
        return False
    wanted = _exact(wish["$approx"])
    allowed = _exact(wish.get("tolerance", 0))
    if "relative" in wish or "tolerance" not in wish:
        allowed = max(allowed, abs(wanted) * _exact(wish.get("relative", 1e-9)))
    return bool(abs(wanted - _exact(have)) <= allowed)


def _approx_fault(wish: JsonObject) -> str | None:
    if not _is_number(wish["$approx"]):
        return "$approx wants a finite number"
    for key in ("tolerance", "relative"):
        if key in wish and not (_is_number(wish[key]) and wish[key] >= 0):
            return f"{key} wants a finite number of at least 0"
    return None


def _is_number(value: object) -> bool:
    return type(value) is int or (type(value) is float and isfinite(value))


def _exact(number: Any) -> Any:
    if type(number) is int:
        return number
    from fractions import Fraction  # noqa: PLC0415 - as above

    return Fraction(repr(number))


def _contains(wish: JsonObject, have: object, schema: JsonValue, compare: Compare) -> bool:
    operand = wish["$contains"]
    parts = operand if isinstance(operand, list) else [operand]
    if isinstance(have, str):
        return all(isinstance(part, str) and part in have for part in parts)
    if isinstance(have, list):
        items = inner_schema(schema, "items")
        return all(any(compare(part, item, items) for item in have) for part in parts)
    return False


def _set(wish: JsonObject, have: object, schema: JsonValue, compare: Compare) -> bool:
    wanted, items = wish["$set"], inner_schema(schema, "items")
    return (
        isinstance(have, list)
        and all(any(compare(one, item, items) for item in have) for one in wanted)
        and all(any(compare(one, item, items) for one in wanted) for item in have)
    )


def _path_fault(wish: JsonObject) -> str | None:
    operand = wish["$path"]
    paths = operand if isinstance(operand, list) else [operand]
    strings = all(isinstance(path, str) for path in paths)
    return None if strings else "$path wants a string or a list of strings"


def is_default(have: object, schema: JsonValue, compare: Compare) -> bool:
    """Whether a value is its schema's default."""
    return (
        isinstance(schema, Mapping)
        and "default" in schema
        and compare(schema["default"], have, schema)
    )


def _only_true(key: str) -> Callable[[JsonObject], str | None]:
    return lambda wish: None if wish[key] is True else f"{key} wants true"


MATCHERS: Mapping[str, Matcher] = {
    "$any_of": Matcher(
        lambda wish, have, schema, compare: any(
            compare(one, have, schema) for one in wish["$any_of"]
        ),
        _any_of_fault,
    ),
    "$regex": Matcher(_regex, _regex_fault),
    "$approx": Matcher(_approx, _approx_fault, frozenset({"tolerance", "relative"})),
    "$contains": Matcher(_contains, lambda _: None),
    "$set": Matcher(
        _set, lambda wish: None if isinstance(wish["$set"], list) else "$set wants a list"
    ),
    "$path": Matcher(
        lambda wish, have, schema, compare: compare(
            normalised(wish["$path"]), normalised(have), schema
        ),
        _path_fault,
    ),
    "$default": Matcher(
        lambda _, have, schema, compare: have is ABSENT or is_default(have, schema, compare),
        _only_true("$default"),
    ),
    "$ignore": Matcher(lambda *_: True, _only_true("$ignore")),
}
"""Every matcher by its key."""


def matcher_of(wish: Mapping[str, JsonValue]) -> Matcher | None:
    """Return the matcher that an expected object is an instance of, or None for a plain object."""
    for key in wish:
        if key in MATCHERS:
            return MATCHERS[key]
    return None


def matcher_faults(value: JsonValue, path: str) -> Iterator[str]:
    """Yield what is wrong with the matchers in an expected value, each with its place."""
    if isinstance(value, Mapping):
        yield from _faults_of(value, path)
        for key, item in value.items():
            yield from matcher_faults(item, f"{path}.{key}")
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from matcher_faults(item, f"{path}[{index}]")


def _faults_of(value: Mapping[Any, JsonValue], path: str) -> Iterator[str]:
    if odd := [key for key in value if not isinstance(key, str)]:
        yield f"{path}: there is the key {odd[0]!r:.40}, wanted texts"
        return
    keys = [key for key in value if key.startswith("$")]
    unknown = [key for key in keys if key not in MATCHERS]
    for key in unknown:
        yield f"{path}: there is no matcher {key!r}; supported are {', '.join(sorted(MATCHERS))}"
    if not keys or unknown:
        return
    beside = value.keys() - {keys[0]} - MATCHERS[keys[0]].options
    if beside:
        others = ", ".join(sorted(beside))
        yield f"{path}: {keys[0]} has to be alone in its object, not with {others}"
        return
    fault = MATCHERS[keys[0]].fault(dict(value))
    if fault is not None:
        yield f"{path}: {fault}"


def normalised(value: JsonValue) -> JsonValue:
    """Return a path, or a list of paths, in normal form ("a/b" for "./a//b/"); else the value."""
    if isinstance(value, str):
        return _normalised_path(value)
    if isinstance(value, list):
        return [_normalised_path(item) if isinstance(item, str) else item for item in value]
    return value


def _normalised_path(path: str) -> str:
    root = "/" if path.startswith("/") else ""
    parts = [part for part in path.split("/") if part not in {"", "."}]
    return root + "/".join(parts) or ("." if path else "")
