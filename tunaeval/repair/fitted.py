"""What comes of holding a value against a schema; all of it where only types are asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from tunaeval.limits import SHOWN_NAME
from tunaeval.types import JsonObject, JsonValue, Level, Repair, Span

from .kinds import Unbent, bent, shown
from .repairs import repair_of


@dataclass(frozen=True, slots=True)
class Fault:
    """What does not fit, and where: `path` is like `$.items[0].name`."""

    code: str
    path: str
    message: str


@dataclass(frozen=True, slots=True)
class Fitted:
    """A value after fitting, what was changed, and what still does not fit."""

    value: JsonValue
    repairs: tuple[Repair, ...] = ()
    faults: tuple[Fault, ...] = ()


def fit_types(
    value: JsonObject,
    types: Mapping[str, str],
    accepted: Mapping[str, tuple[type, ...]],
    asked: Mapping[str, Callable[[JsonValue], bool]],
    span: Span,
) -> tuple[JsonObject, list[Repair]] | None:
    """An object and the repairs, as of `fit`, where only the type of members has to change.

    `accepted` has the Python types of each; `asked` says whether one that is asked for more fits
    as it is. None where a member is neither, or cannot become that type.
    """
    fitted, repairs = value.copy(), []
    for name, inner in value.items():
        kind = types.get(name)
        if kind is None:
            if name in asked and asked[name](inner):
                continue
            return None
        if type(inner) in accepted[name]:
            continue
        found = bent(inner, kind)
        if isinstance(found, Unbent):
            return None
        fitted[name] = found
        path = f"$.{name[:SHOWN_NAME]}"
        repairs.append(type_repair(path, bending(inner, kind, found), span))
    return fitted, repairs


TYPE_REPAIRS: Mapping[str, Level] = MappingProxyType(
    {"type": "standard", "guessed-type": "lenient"}
)
"""The codes of repairs that change a value's type, each with its level."""


def type_repair(path: str, message: str, span: Span | None, code: str = "type") -> Repair:
    """Make the repair of a value that was bent at `path`, which is as in `Fault`."""
    return repair_of(code, f"{path}: {message}", span, TYPE_REPAIRS[code])


def bending(value: JsonValue, kind: object, found: object) -> str:
    """What is said of a value that was read as one of another type."""
    return f"{shown(value)} read as {kind} {shown(found)}"
