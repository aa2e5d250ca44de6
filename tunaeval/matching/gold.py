"""Conversion between BFCL's expected calls and ours, lossless in both directions.

    {"area.of": {"base": [10, 10.0], "unit": ["cm", ""], "box": [{"x": [1], "y": [""]}]}}

A list contains the alternatives; "" among them allows the argument to be left out:

    {"base": {"$any_of": [10, 10.0]}, "unit": {"$any_of": ["cm", {"$default": true}]},
     "box": {"$any_of": [{"x": {"$any_of": [1]}, "y": {"$any_of": [{"$default": true}]}}]}}
"""

from __future__ import annotations

from collections.abc import Mapping

from tunaeval.types.calls import JsonObject, JsonValue

_LEFT_OUT = ""


def wanted_arguments(gold: Mapping[str, list[JsonValue]]) -> JsonObject:
    """Return the arguments of an expected call, from BFCL's possible answer."""
    return {name: _one_of(alternatives) for name, alternatives in gold.items()}


def gold_arguments(wanted: Mapping[str, JsonValue]) -> Mapping[str, list[JsonValue]]:
    """Return BFCL's possible answer; a value without `$any_of` is its only alternative."""
    return {
        name: _alternatives(want["$any_of"] if _is_one_of(want) else [want])
        for name, want in wanted.items()
    }


def _one_of(alternatives: JsonValue) -> JsonValue:
    if not isinstance(alternatives, list):
        return alternatives  # a mistake in the data, kept because the checker crashes on it
    return {"$any_of": [_wish(one) for one in alternatives]}


def _wish(alternative: JsonValue) -> JsonValue:
    if alternative == _LEFT_OUT:
        return {"$default": True}
    return _below(alternative)


def _below(value: JsonValue) -> JsonValue:
    """Convert the alternatives in objects, also within lists; other values stay unchanged."""
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
