"""Profile `bfcl`: compares calls like the AST checker of the Berkeley Function Calling Leaderboard.

For Python's categories the results are those of `bfcl_eval/eval_checker/ast_eval/ast_checker.py`,
version 2026.3.23 (Apache 2.0). Its odd rules are kept: punctuation in strings is ignored, "" among
the alternatives of a list disables the check of its items, a default that is spelled out fails, 1
is 1.0 for a float but not within a list of floats. Where it crashes, this raises `CheckerCrash`.
The order of steps is the checker's, because it decides between a crash and a failure.

BFCL's expected calls become ours and back without a loss:

    {"area.of": {"base": [10, 10.0], "unit": ["cm", ""], "box": [{"x": [1], "y": [""]}]}}

A list contains the alternatives; "" among them allows the argument to be left out:

    {"base": {"$any_of": [10, 10.0]}, "unit": {"$any_of": ["cm", {"$default": true}]},
     "box": {"$any_of": [{"x": {"$any_of": [1]}, "y": {"$any_of": [{"$default": true}]}}]}}
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import islice

from tunaeval.showing import brief
from tunaeval.types.calls import JsonObject, JsonValue, ToolCall, ToolSpec

from .values import Failure, Miss, extra_argument, wrong_tool

_TYPES: Mapping[str, type] = {
    "string": str,
    "integer": int,
    "number": float,
    "boolean": bool,
    "array": list,
    "object": dict,
}
"""Python's types by the names of JSON schema, to which a suite's schemas are converted."""

_FLAT = frozenset({str, int, float, bool})
_DROPPED = str.maketrans({"'": '"'} | dict.fromkeys(" ,./-_*^"))


class CheckerCrash(Exception):  # noqa: N818 - a finding about the checker, not an error of ours
    """BFCL's checker raises an error on such a call, which ends an evaluation with it."""


def call_misses(
    name: str, gold: Mapping[str, Sequence[JsonValue]], call: ToolCall, spec: ToolSpec | None
) -> tuple[Miss, ...]:
    """Return the first fault of a call, or () if it is as expected. Raises only `CheckerCrash`.

    `gold` maps each argument to its alternatives, as returned by `gold_arguments`.
    """
    try:
        miss = _first_miss(name, gold, call, spec)
    except Exception as error:
        raise CheckerCrash(
            f"the checker crashes on {name!r}: {type(error).__name__}: {error!s:.80}"
        ) from error
    return () if miss is None else (miss,)


def _first_miss(
    name: str, gold: Mapping[str, Sequence[JsonValue]], call: ToolCall, spec: ToolSpec | None
) -> Miss | None:
    if spec is None:
        raise LookupError(f"there is no function {name!r}")
    parameters = spec.parameters
    schemas, required = parameters["properties"], parameters["required"]
    if call.name != name:
        return partial(wrong_tool, name, call.name)
    got = call.arguments
    for key in required:
        if key not in got:
            return partial(_missing, key, gold.get(key, ()))
    for key, value in got.items():
        if key not in schemas or key not in gold:
            return partial(extra_argument, key, value)
        code = _fault(value, schemas[key], gold[key])
        if code is not None:
            return partial(_unlike, code, key, gold[key], value)
    for key, alternatives in gold.items():
        if key not in got and "" not in alternatives:
            return partial(_missing, key, alternatives)
    return None


def _missing(key: str, gold: Sequence[JsonValue]) -> Failure:
    message = f"wanted {key} to be one of {brief(gold, 200)}, it was left out"
    return Failure("missing-argument", message, f"arguments.{key}")


def _unlike(code: str, key: str, gold: Sequence[JsonValue], value: JsonValue) -> Failure:
    message = f"wanted {key} to be one of {brief(gold, 200)}, got {brief(value, 200)}"
    return Failure(code, message, f"arguments.{key}")


def _fault(
    value: JsonValue, schema: Mapping[str, JsonValue], alternatives: Sequence[JsonValue]
) -> str | None:
    kind = _TYPES[schema["type"]]
    if type(value) is kind and kind in _FLAT:  # a shortcut to the same result as below
        if value in alternatives:
            return None
        if kind is not str:
            return "wrong-value"
    item_kind = _TYPES[schema["items"]["type"]] if kind is list else None
    if kind is float and type(value) is int:
        value = float(value)
    if (
        type(value) is kind
        and value in alternatives
        and _are_listed(value, alternatives, item_kind)
    ):
        return None  # a shortcut as well
    variable = _variable(value, alternatives, kind, item_kind)
    if variable is None:
        return "wrong-type"
    named = value in alternatives if variable else _fits(value, alternatives, kind, item_kind)
    return None if named else "wrong-value"


def _fits(
    value: JsonValue, alternatives: Sequence[JsonValue], kind: type, item_kind: type | None
) -> bool:
    if kind is dict:
        return _dict_fits(value, alternatives)
    if kind is list:
        return _list_fits(value, alternatives, item_kind)
    if kind is str:
        return _plain(value) in [_plain(one) for one in alternatives if type(one) is str]
    return value in alternatives


def _are_listed(
    value: JsonValue, alternatives: Sequence[JsonValue], item_kind: type | None
) -> bool:
    """Whether it is sure that BFCL's checker accepts `value`, a list that equals one of the
    alternatives: its items are plain and of the right type, and no alternative makes the checker
    crash.
    """
    return (
        item_kind in _FLAT
        and {item_kind}.issuperset(map(type, value))
        and _LISTED.issuperset(map(type, alternatives))
    )


_LISTED = frozenset({list, str})
"""Types that can be alternatives of a list, and be read by index."""


def _variable(
    value: JsonValue, alternatives: Sequence[JsonValue], kind: type, item_kind: type | None
) -> bool | None:
    """Return None if the type is wrong; else whether the value counts as a variable's name.

    It counts as one if the type of the first alternative is not the one that the schema says.
    """
    first = next((type(one) for one in alternatives if one != ""), None)
    if type(value) is not kind:
        return True if first is not None and type(value) is first else None
    if item_kind is not None and not any(_items_fit(value, one, item_kind) for one in alternatives):
        return None
    return first is not None and first is not kind


def _items_fit(values: JsonValue, alternative: JsonValue, kind: type) -> bool:
    """Whether all items are of type `kind`, or the alternative is no list to compare them with."""
    return type(alternative) is not list or all(
        _variable(value, alternative, kind, None) is not None for value in values
    )


def _plain(value: JsonValue) -> JsonValue:
    """Return a string in lower case without the ignored characters; other values unchanged."""
    # Lowering first or last is equivalent: no letter becomes one of the dropped characters.
    return value.translate(_DROPPED).lower() if type(value) is str else value


def _all_plain(values: Sequence[JsonValue]) -> list[JsonValue]:
    # By index, like the checker: an object in place of a list has no item 0, and crashes.
    return [_plain(values[index]) for index in range(len(values))]


def _list_fits(
    value: Sequence[JsonValue], alternatives: Sequence[JsonValue], item_kind: type | None
) -> bool:
    if item_kind is not dict:
        return _all_plain(value) in [_all_plain(one) for one in alternatives]
    return any(
        len(value) == len(one)
        and all(_dict_fits(item, [one[index]]) for index, item in enumerate(value))
        for one in alternatives
    )


def _dict_fits(value: Mapping[str, JsonValue], alternatives: Sequence[JsonValue]) -> bool:
    for one in alternatives:
        if one == "":
            continue
        # Both are evaluated, even if the first is false: the second may crash.
        known = all(
            key in one and _plain(item) in _all_plain(one[key]) for key, item in value.items()
        )
        whole = all(key in value or "" in options for key, options in one.items())
        if known and whole:
            return True
    return False


_LEFT_OUT = ""


def wanted_arguments(gold: Mapping[str, list[JsonValue]]) -> JsonObject:
    """Return an expected call's arguments for BFCL's possible answer, which lists alternatives."""
    return {name: _one_of(alternatives) for name, alternatives in gold.items()}


def gold_arguments(wanted: Mapping[str, JsonValue]) -> Mapping[str, list[JsonValue]]:
    """Return BFCL's possible answer for wanted arguments: for each a list of its alternatives."""
    return {
        name: _alternatives(want["$any_of"] if _is_one_of(want) else [want])
        for name, want in wanted.items()
    }


def plain_arguments(gold: Mapping[str, Sequence[JsonValue]]) -> Iterator[JsonObject]:
    """Yield arguments without alternatives, so that each alternative is in one of them.

    `gold` maps each argument to its alternatives, as returned by `gold_arguments`.
    """
    return _one_changed(
        {
            name: (plain for one in options if one != _LEFT_OUT for plain in _plain_values(one))
            for name, options in gold.items()
        }
    )


def _one_changed(values: Mapping[str, Iterator[JsonValue]]) -> Iterator[JsonObject]:
    """Yield the first value of each name, then all others, each beside the first of the rest."""
    first = {name: value for name, found in values.items() for value in islice(found, 1)}
    yield first
    for name, others in values.items():
        yield from ({**first, name: value} for value in others)


def _plain_values(alternative: JsonValue) -> Iterator[JsonValue]:
    """Yield the values that an alternative has, if there are alternatives inside it."""
    if type(alternative) is dict:
        yield from plain_arguments(
            {key: one if type(one) is list else [one] for key, one in alternative.items()}
        )
    elif type(alternative) is list:
        items = {str(at): _plain_values(item) for at, item in enumerate(alternative)}
        yield from ([*one.values()] for one in _one_changed(items))
    else:
        yield alternative


def _one_of(alternatives: JsonValue) -> JsonValue:
    if not isinstance(alternatives, list):
        return alternatives  # a mistake in the data, kept because the checker crashes on it
    return {"$any_of": [_wish(one) for one in alternatives]}


def _wish(alternative: JsonValue) -> JsonValue:
    if alternative == _LEFT_OUT:
        return {"$default": True}
    return _below(alternative)


def _below(value: JsonValue) -> JsonValue:
    """Replace BFCL's lists of alternatives inside objects by matchers, also within lists."""
    if isinstance(value, dict):
        return {key: _one_of(inner) for key, inner in value.items()}
    return [_below(item) for item in value] if isinstance(value, list) else value


def _is_one_of(want: JsonValue) -> bool:
    return type(want) is dict and "$any_of" in want


def _alternatives(wishes: list[JsonValue]) -> list[JsonValue]:
    for one in wishes:
        if type(one) is dict or type(one) is list:
            return [_alternative(one) for one in wishes]
    return wishes  # not copied: that would cost time, and no caller changes it


def _alternative(wish: JsonValue) -> JsonValue:
    if type(wish) is list:
        return _alternatives(wish)
    if type(wish) is not dict:
        return wish
    if "$default" in wish:
        return _LEFT_OUT
    return {
        key: _alternatives(want["$any_of"]) if _is_one_of(want) else want
        for key, want in wish.items()
    }
