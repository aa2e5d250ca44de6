"""Expected arguments against got ones: profiles, argument matchers, defaults of the schema.

An expected value is JSON, or a matcher, at any depth:

    {"$any_of": [value, ...]}   one of these, each a value or a matcher
    {"$contains": value}        a string with this part, or a list with this item;
                                a list of values: with all of them
    {"$ignore": true}           anything, or nothing at all

Under both profiles an argument that is left out counts as its default in the schema.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from reprlib import Repr

from tunaeval.types import JsonValue, ToolSpec

from .paths import normalised


@dataclass(frozen=True, slots=True)
class Profile:
    """How strictly arguments are compared."""

    name: str
    exact: bool
    """Types count (True is not 1; 1 is 1.0 only where the schema says number), and arguments
    that were not expected fail unless they equal the schema's default."""
    paths: bool
    """Declared path arguments are compared in their plain form."""


PROFILES: Mapping[str, Profile] = {
    # The rule of the TunaCode mini harness: the expected arguments match, as Python's == has it.
    "tunacode": Profile("tunacode", exact=False, paths=True),
    "strict": Profile("strict", exact=True, paths=False),
}


@dataclass(frozen=True, slots=True)
class Failure:
    """Why something does not match: `path` is where, as in `calls[0].arguments.cwd`."""

    code: str
    message: str
    path: str = ""


_ABSENT = object()
_NO_SCHEMA: Mapping[str, JsonValue] = {}


def argument_failures(
    expected: Mapping[str, JsonValue],
    got: Mapping[str, JsonValue],
    *,
    spec: ToolSpec | None,
    profile: Profile,
) -> Iterator[Failure]:
    """Every way in which the arguments got are not those expected."""
    schemas = spec.parameters.get("properties") if spec is not None else None
    schemas = schemas if isinstance(schemas, Mapping) else _NO_SCHEMA
    paths = spec.paths if spec is not None and profile.paths else ()
    for name, want in expected.items():
        schema = schemas.get(name, _NO_SCHEMA)
        have = got.get(name, _ABSENT)
        default = have is _ABSENT
        if default:
            have = schema.get("default", _ABSENT) if isinstance(schema, Mapping) else _ABSENT
        if not (
            _fits(want, have, schema, profile.exact)
            or (name in paths and _fits(_plain_wish(want), normalised(have), schema, profile.exact))
        ):
            yield _argument_failure(name, want, _ABSENT if default else have)
    if profile.exact:
        for name, have in got.items():
            if name not in expected and not _is_default(have, schemas.get(name)):
                yield Failure(
                    "extra-argument", f"nobody asked for {name}={shown(have)}", f"arguments.{name}"
                )


def matcher_faults(value: JsonValue, path: str) -> Iterator[str]:
    """What is wrong with the matchers in an expected value, each with where it stands."""
    if isinstance(value, Mapping):
        matchers = [key for key in value if isinstance(key, str) and key.startswith("$")]
        for key in matchers:
            if key not in MATCHERS:
                known = ", ".join(sorted(MATCHERS))
                yield f"{path}: there is no matcher {key!r}; supported are {known}"
        if matchers and len(value) > 1:
            yield f"{path}: a matcher stands alone in its object, here are {', '.join(value)}"
        if "$any_of" in value and not (isinstance(value["$any_of"], list) and value["$any_of"]):
            yield f"{path}: $any_of wants a list of at least one value"
        for key, item in value.items():
            yield from matcher_faults(item, f"{path}.{key}")
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from matcher_faults(item, f"{path}[{index}]")


def _fits(want: JsonValue, have: object, schema: JsonValue, exact: bool) -> bool:
    if isinstance(want, dict):
        if len(want) == 1:
            ((key, operand),) = want.items()
            matcher = _MATCHERS.get(key)
            if matcher is not None:
                return matcher(operand, have, schema, exact)
        return isinstance(have, dict) and _objects_fit(want, have, schema, exact)
    if isinstance(want, list):
        return (
            isinstance(have, list)
            and len(want) == len(have)
            and all(
                _fits(one, other, _inner(schema, "items"), exact)
                for one, other in zip(want, have, strict=True)
            )
        )
    if not exact or type(want) is type(have):
        return bool(want == have)
    return {type(want), type(have)} == {int, float} and want == have and _says_number(schema)


def _objects_fit(
    want: Mapping[str, JsonValue], have: Mapping[str, JsonValue], schema: JsonValue, exact: bool
) -> bool:
    schemas = _inner(schema, "properties")
    return all(key in want for key in have) and all(
        _fits(item, have.get(key, _ABSENT), _inner(schemas, key), exact)
        for key, item in want.items()
    )


def _any_of(operand: JsonValue, have: object, schema: JsonValue, exact: bool) -> bool:
    return isinstance(operand, list) and any(_fits(one, have, schema, exact) for one in operand)


def _contains(operand: JsonValue, have: object, schema: JsonValue, exact: bool) -> bool:
    parts = operand if isinstance(operand, list) else [operand]
    if isinstance(have, str):
        return all(isinstance(part, str) and part in have for part in parts)
    if isinstance(have, list):
        items = _inner(schema, "items")
        return all(any(_fits(part, item, items, exact) for item in have) for part in parts)
    return False


def _ignore(operand: JsonValue, have: object, schema: JsonValue, exact: bool) -> bool:
    del operand, have, schema, exact
    return True


_MATCHERS: Mapping[str, Callable[[JsonValue, object, JsonValue, bool], bool]] = {
    "$any_of": _any_of,
    "$contains": _contains,
    "$ignore": _ignore,
}
MATCHERS: frozenset[str] = frozenset(_MATCHERS)


def _plain_wish(want: JsonValue) -> JsonValue:
    if isinstance(want, dict) and isinstance(want.get("$any_of"), list):
        return {"$any_of": [_plain_wish(one) for one in want["$any_of"]]}
    return normalised(want)


def _inner(schema: JsonValue, key: str) -> JsonValue:
    inner = schema.get(key) if isinstance(schema, Mapping) else None
    return inner if isinstance(inner, Mapping) else _NO_SCHEMA


def _is_default(have: JsonValue, schema: JsonValue) -> bool:
    return (
        isinstance(schema, Mapping)
        and "default" in schema
        and _fits(schema["default"], have, schema, True)
    )


def _says_number(schema: JsonValue) -> bool:
    if not isinstance(schema, Mapping):
        return False
    kind = schema.get("type")
    if kind == "number" or (isinstance(kind, list) and "number" in kind):
        return True
    branches = [*(schema.get("anyOf") or ()), *(schema.get("oneOf") or ())]
    return any(_says_number(branch) for branch in branches)


def _argument_failure(name: str, want: JsonValue, have: object) -> Failure:
    path = f"arguments.{name}"
    if have is _ABSENT:
        return Failure("missing-argument", f"wanted {name}={shown(want)}, it was left out", path)
    return Failure("wrong-value", f"wanted {name}={shown(want)}, got {shown(have)}", path)


class _Shown(Repr):
    """Short, and safe for whatever a model writes: any depth, any length, any integer."""

    def __init__(self) -> None:
        super().__init__()
        self.maxstring = self.maxother = 60

    def repr_int(self, x: int, level: int) -> str:
        del level
        return repr(x) if x.bit_length() <= 256 else f"(an integer of {x.bit_length()} bits)"


def shown(value: object) -> str:
    """A value for people, in at most about 60 characters a part."""
    return _SHOWN.repr(value)


_SHOWN = _Shown()
