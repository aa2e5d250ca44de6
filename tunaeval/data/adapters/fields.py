"""Fields of dictionaries and objects alike, and the many names of the same things: times, usage,
and whether a tool's result is declared an error.

No function here raises for any value, because transcripts come from outside.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime

from tunaeval.files.plain_files import table_of
from tunaeval.types.calls import JsonObject, JsonValue
from tunaeval.types.messages import Usage
from tunaeval.wire.endings import usage_of as tokens_of
from tunaeval.wire.fields import first, get, has, identifier, json_words, listed, word
from tunaeval.wire.parts import declared

__all__ = [
    "KNOWN", "declared", "fields_of", "first", "get", "has", "identifier", "instant", "json_words",
    "known", "listed", "merged", "plain", "pointer", "pointers", "total_usage", "usage_of", "word",
]  # fmt: skip

_COST = ("cost_usd", "total_cost", "cost", "total")

KNOWN = table_of(__package__, "kinds.toml")
"""The names that adapters know."""

_UNITS = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3), (1e8, 1.0))
"""The least number that counts as nanoseconds, microseconds, milliseconds and seconds since the
epoch. Smaller numbers count from elsewhere, such as a machine's start."""


def plain(value: object) -> str:
    """Return a value as text, an object or a list as JSON."""
    if isinstance(value, dict | list | tuple):
        return json_words(value)
    try:
        return str(value)
    except Exception:  # noqa: BLE001 - an object's own code may raise anything
        return json_words(value)


def pointer(path: str, *keys: object) -> str:
    """Return the JSON Pointer (RFC 6901) of what is under these keys below `path`."""
    return path + "".join("/" + str(key).replace("~", "~0").replace("/", "~1") for key in keys)


def pointers(whole: object) -> dict[int, str]:
    """Return the JSON Pointer of each object and list in `whole`, by its identity."""
    found = {id(whole): ""}
    left = [whole]
    while left:
        one = left.pop()
        inner = one if isinstance(one, Mapping) else getattr(one, "__dict__", {})
        items = enumerate(one) if isinstance(one, list | tuple) else inner.items()
        for key, value in items:
            if id(value) not in found and not isinstance(value, str | int | float | None):
                found[id(value)] = pointer(found[id(one)], key)
                left.append(value)
    return found


def instant(value: JsonValue) -> float | None:
    """Return a time in seconds since the epoch, from a date, its ISO text, or a number in any unit.

    A date without a zone is UTC. Returns None for what is no time, or counts from elsewhere.
    """
    try:
        if isinstance(value, str):
            value = datetime.fromisoformat(value)
        if isinstance(value, datetime):
            return (value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return next((value / unit for least, unit in _UNITS if least <= value < least * 1e5), None)


def usage_of(reported: JsonValue) -> Usage | None:
    """Return the tokens and cost, by any of the names in use; None if all are unknown or zero."""
    if reported is None:
        return None
    tokens = tokens_of(reported)
    cost = first(reported, _COST[:-1])
    price = _price(cost if not isinstance(cost, Mapping) else first(cost, _COST))
    return known(replace(tokens, cost_usd=price))


def known(usage: Usage | None) -> Usage | None:
    """Return the usage, or None if all of it is unknown or zero."""
    if usage is None or not (usage.prompt_tokens or usage.completion_tokens or usage.cost_usd):
        return None
    return usage


def total_usage(reports: Iterable[Usage | None]) -> Usage | None:
    """Return the sum of all reports; a number that none of them has stays unknown."""
    known = [one for one in reports if one]
    if not known:
        return None
    costs = [one.cost_usd for one in known if one.cost_usd is not None]
    return Usage(
        _sum(one.prompt_tokens for one in known),
        _sum(one.completion_tokens for one in known),
        math.fsum(costs) if costs else None,
    )


def _sum(counts: Iterable[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def _price(value: JsonValue) -> float | None:
    try:
        price = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return price if math.isfinite(price) and price >= 0 else None


def fields_of(text: JsonValue) -> JsonValue:
    """Return the value of JSON text; `text` itself if it is no JSON."""
    if not isinstance(text, str):
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def merged(*records: JsonValue) -> JsonObject:
    """Return the fields of all records, which are read by this; a later record wins."""
    return {key: one.get(key) for one in records if isinstance(one, Mapping) for key in one}
