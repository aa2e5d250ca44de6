"""Whether what was read is a call with nothing odd about it."""

from __future__ import annotations

from typing import TypeGuard

from tunaeval.repair import BraceReader, PythonReader, Read, fits
from tunaeval.types import JsonObject, JsonValue, Tools


def holds(arguments: object, name: str, tools: Tools | None) -> TypeGuard[JsonObject]:
    """Whether it is a call with nothing odd about it. "properties" may echo a schema."""
    if type(arguments) is not dict or not name or "properties" in arguments:
        return False
    return tools is None or fits(name, arguments, tools)


def sound(reader: BraceReader | PythonReader) -> JsonValue:
    """What is read in a text that is all there, if nothing is odd about it; None if anything is."""
    read = reader.advance()
    if not isinstance(read, Read) or read.repairs or read.notes or read.truncated:
        return None
    return read.value
