"""What a sound object says of itself: a call with nothing unusual about it, or something else.

`judge` knows aliases, wrapped calls, encoded arguments and more; here is only what
it takes without a word.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from tunaeval.grammar import CallObject, Format
from tunaeval.repair import begins_soundly, fits, has_long_number, nothing_hidden, scan
from tunaeval.types import JsonValue, ToolCall, Tools

from .made import call_of

Claim: TypeAlias = Callable[[JsonValue, str | None, int, int, Tools | None], ToolCall | None]
"""The call that a value is; None if it is none, or an unusual one.

Given are the value, the JSON text it was decoded from if something may be hidden in that, the span,
and the tools.
"""

_IDS = ("id", "tool_call_id")


def claim_of(form: Format, word: CallObject) -> Claim:
    """What reads the objects of that format."""
    name_key, arguments_key, keyed, format_name = word.name, word.arguments, word.keyed, form.name
    keys: tuple[str, ...] = (name_key, arguments_key)

    def claim(
        value: JsonValue, piece: str | None, start: int, end: int, tools: Tools | None
    ) -> ToolCall | None:
        if type(value) is not dict:
            return None
        outer, id_ = keys, None
        if len(value) == 2:
            name, arguments = value.get(name_key), value.get(arguments_key)
        elif keyed and len(value) == 1:
            ((name, arguments),) = value.items()
            outer = ()
        else:
            id_key = next((key for key in _IDS if key in value), None)
            id_ = value[id_key] if id_key else None
            if len(value) != 3 or id_key is None or type(id_) is not str:
                return None
            name, arguments, outer = (
                value.get(name_key),
                value.get(arguments_key),
                (*keys, id_key, id_),
            )
        if piece is not None and not (
            type(arguments) is dict and type(name) is str
            and nothing_hidden(arguments, piece, (name, *outer))
        ):  # fmt: skip
            return None
        return sound_call(name, arguments, format_name, (start, end), tools, id_=id_)

    return claim


def sound_call(
    name: JsonValue,
    arguments: JsonValue,
    format_name: str,
    where: tuple[int, int] | None,
    tools: Tools | None,
    *,
    id_: str | None,
) -> ToolCall | None:
    """The call of this name with these arguments; None if anything is unusual about them."""
    if type(name) is not str or not name or type(arguments) is not dict:
        return None
    if "properties" in arguments:  # perhaps the echo of a schema
        return None
    if tools is not None and not fits(name, arguments, tools):
        return None
    return call_of(name, arguments, format_name, where, id_)


def scanned(text: str, start: int) -> tuple[JsonValue, int] | None:
    """The object that begins there and its end, if nothing is odd about it."""
    found = scan(text, start) if begins_soundly(text, start) else None
    if not isinstance(found, tuple) or found[2]:
        return None
    value, end, _ = found
    return None if has_long_number(text, start, end) else (value, end)
