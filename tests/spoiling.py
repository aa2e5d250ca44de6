"""Code of others that changes all that it is handed, at any depth."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel


def spoil(value: Any, seen: set[int] | None = None) -> None:
    """Change everything in a value that can be changed: of lists, dictionaries and objects."""
    seen = set() if seen is None else seen
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, dict):
        for one in [*value.values()]:
            spoil(one, seen)
        for key in value:
            if isinstance(value[key], str | int | float | None):
                value[key] = "spoiled"
        value["forged"] = "forged"
    elif isinstance(value, list):
        for one in [*value]:
            spoil(one, seen)
        value.append("forged")
    elif isinstance(value, tuple | set | frozenset):
        for one in value:
            spoil(one, seen)
    else:
        names = getattr(type(value), "__dataclass_fields__", ())
        if isinstance(value, BaseModel):
            names = type(value).model_fields
        for name in names:
            spoil(getattr(value, name), seen)
        specs = getattr(value, "values", None)  # the tools of a request
        if type(value).__name__ == "Tools" and specs is not None:
            for one in specs():
                spoil(one.parameters, seen)
