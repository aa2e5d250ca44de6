"""Fields of dictionaries and of objects alike, whatever their types.

No function here raises for any value, because what is read comes from outside.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, is_dataclass

from tunaeval.limits import TOO_DEEP
from tunaeval.types.calls import JsonValue


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


def listed(value: object) -> list[JsonValue]:
    """Return the items of a list or tuple; no items for anything else."""
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
        return json.dumps(value, default=_dumped, ensure_ascii=False)
    except RecursionError:
        return TOO_DEEP
    except Exception as error:  # noqa: BLE001 - an object's own dump may raise anything
        return f"({type(value).__name__} that cannot be written: {type(error).__name__})"


def _dumped(value: object) -> JsonValue:
    dump = get(value, "model_dump")
    if callable(dump):
        return dump()
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    return str(value)
