"""Fields of dictionaries and objects alike, and the many names of the same things: times, usage,
and whether a tool's result is declared an error.

No function here raises for any value, because transcripts come from outside.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, is_dataclass
from datetime import UTC, datetime

from tunaeval.files.plain_files import table_of
from tunaeval.files.records import TOO_DEEP
from tunaeval.types.calls import JsonObject, JsonValue
from tunaeval.types.messages import Usage

_COST = ("cost_usd", "total_cost", "cost", "total")

KNOWN = table_of(__package__, "kinds.toml")
"""The names that adapters know."""

_UNITS = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3), (1e8, 1.0))
"""The least number that counts as nanoseconds, microseconds, milliseconds and seconds since the
epoch. Smaller numbers count from elsewhere, such as a machine's start."""


def get(thing: object, key: str) -> JsonValue:
    """Return a field of a dictionary or an object; None if it has none, or if reading it raises."""
    try:
        # dict first: isinstance of Mapping is slow
        if isinstance(thing, (dict, Mapping)):
            return thing.get(key)
        return getattr(thing, key, None)
    except Exception:  # noqa: BLE001 - an object's own attributes may raise anything
        return None


def first(thing: object, keys: Iterable[str]) -> JsonValue:
    """Return the first of these fields that is not None."""
    return next((value for key in keys if (value := get(thing, key)) is not None), None)


def has(thing: object, key: str) -> bool:
    """Whether a dictionary or an object has this field, whatever its value."""
    try:
        return key in thing if isinstance(thing, Mapping) else hasattr(thing, key)
    except Exception:  # noqa: BLE001 - an object's own attributes may raise anything
        return False


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


def listed(value: object) -> list[JsonValue]:
    return list(value) if isinstance(value, list | tuple) else []


def word(value: JsonValue) -> str:
    """Return the value if it is a string, else ""."""
    return value if isinstance(value, str) else ""


def identifier(value: JsonValue) -> str | None:
    """Return a call's id, which is a string or a number; None for anything else."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value if isinstance(value, str) and value else None


def json_words(value: JsonValue) -> str:
    """Return any value as JSON text, objects by their fields, or a note why that fails."""
    try:
        return json.dumps(value, default=_plain, ensure_ascii=False)
    except RecursionError:
        return TOO_DEEP
    except Exception as error:  # noqa: BLE001 - an object's own dump may raise anything
        return f"({type(value).__name__} that cannot be written: {type(error).__name__})"


def _plain(value: object) -> JsonValue:
    dump = get(value, "model_dump")
    if callable(dump):
        return dump()
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    return str(value)


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


def usage_of(reported: JsonValue, *, cached: tuple[str, ...] = ()) -> Usage | None:
    """Return the tokens and cost, by any of the names in use; None if all are unknown or zero.

    `cached` are fields with tokens of the prompt that the API counts separately.
    """
    if reported is None:
        return None
    prompt = _count(first(reported, KNOWN["usage"]["prompt"]))
    completion = _count(first(reported, KNOWN["usage"]["completion"]))
    if prompt is not None:
        prompt += sum(_count(get(reported, key)) or 0 for key in cached)
    cost = first(reported, _COST[:-1])
    price = _price(cost if not isinstance(cost, Mapping) else first(cost, _COST))
    return Usage(prompt, completion, price) if prompt or completion or price else None


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


def _count(value: JsonValue) -> int | None:
    whole = isinstance(value, int) and not isinstance(value, bool)
    return value if whole and value >= 0 else None


def _price(value: JsonValue) -> float | None:
    try:
        price = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return price if math.isfinite(price) and price >= 0 else None


def declared(result: object) -> bool | None:
    """Return whether a result declares itself an error; None if it declares nothing."""
    for key in ("is_error", "isError"):
        value = get(result, key)
        if isinstance(value, bool):
            return value
    for key in ("status", "outcome"):
        value = word(get(result, key)).lower()
        if value in _DECLARED["failed"] or value in _DECLARED["fine"]:
            return value in _DECLARED["failed"]
    return True if get(result, "error") else None


_DECLARED = KNOWN["declared"]


def fields_of(text: JsonValue) -> JsonValue:
    """Return the value of JSON text; `text` itself if it is no JSON."""
    if not isinstance(text, str):
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def merged(*records: JsonValue) -> JsonObject:
    """Return the fields of all records; a later record wins."""
    return {key: value for one in records if isinstance(one, Mapping) for key, value in one.items()}
