"""How BFCL writes an expected call, and how that is said here; each way back gives the same.

    {"area.of": {"base": [10, 10.0], "unit": ["cm", ""], "box": [{"x": [1], "y": [""]}]}}

A list contains what may be given, "" among it that the argument may be left out:

    {"base": {"$any_of": [10, 10.0]}, "unit": {"$any_of": ["cm", {"$default": true}]},
     "box": {"$any_of": [{"x": {"$any_of": [1]}, "y": {"$any_of": [{"$default": true}]}}]}}
"""

from __future__ import annotations

from collections.abc import Mapping

from tunaeval.types.calls import JsonObject, JsonValue

_LEFT_OUT = ""


def wanted_arguments(gold: Mapping[str, list[JsonValue]]) -> JsonObject:
    """The arguments of an expected call, from those of BFCL's possible answer."""
    return {name: _one_of(alternatives) for name, alternatives in gold.items()}


def gold_arguments(wanted: Mapping[str, JsonValue]) -> Mapping[str, list[JsonValue]]:
    """The same, back. An argument's value that is no `$any_of` is its only alternative."""
    return {
        name: _alternatives(want["$any_of"] if _is_one_of(want) else [want])
        for name, want in wanted.items()
    }


def _one_of(alternatives: JsonValue) -> JsonValue:
    if not isinstance(alternatives, list):
        return alternatives  # a mistake in the data, which the checker stumbles over, kept as it is
    return {"$any_of": [_wish(one) for one in alternatives]}


def _wish(alternative: JsonValue) -> JsonValue:
    if alternative == _LEFT_OUT:
        return {"$default": True}
    return _below(alternative)


def _below(value: JsonValue) -> JsonValue:
    """Objects contain alternatives again, also those in lists; strings in lists are strings."""
    if isinstance(value, dict):
        return {key: _one_of(inner) for key, inner in value.items()}
    return [_below(item) for item in value] if isinstance(value, list) else value


def _is_one_of(want: JsonValue) -> bool:
    return type(want) is dict and "$any_of" in want


def _alternatives(wishes: list[JsonValue]) -> list[JsonValue]:
    for one in wishes:
        if type(one) is dict or type(one) is list:
            return [_alternative(one) for one in wishes]
    return wishes  # as it mostly is; nobody writes into it


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
