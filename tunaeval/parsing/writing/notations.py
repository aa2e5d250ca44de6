"""Calls and objects written in notations other than JSON's: as Python, and in braces."""

from __future__ import annotations

import json
import keyword
from collections.abc import Sequence

from tunaeval.repair import BRACE_KEY, PYTHON_NAME
from tunaeval.types import JsonObject, JsonValue


def python_call(name: str, arguments: JsonObject) -> str:
    """A call with literals for arguments; names that Python has no words for are unpacked."""
    plain = {key: value for key, value in arguments.items() if _is_word(key)}
    other = {key: value for key, value in arguments.items() if key not in plain}
    written = [f"{key}={value!r}" for key, value in plain.items()]
    return f"{name}({', '.join([*written, f'**{other!r}'] if other else written)})"


def _is_word(key: str) -> bool:
    known = bool(PYTHON_NAME.fullmatch(key)) and key.isascii()
    return known and key.isidentifier() and not keyword.iskeyword(key)


def python_calls(calls: Sequence[str], *, listed: bool) -> str:
    """Calls in a list, or one on each line."""
    return f"[{', '.join(calls)}]" if listed else "\n".join(calls)


def braces(value: JsonValue, mark: str) -> str:
    """A value with bare keys, and texts between two marks.

    A text that holds the mark itself is written in quotes, which is read as a repair.
    """
    match value:
        case str():
            return json.dumps(value) if mark in value else f"{mark}{value}{mark}"
        case dict():
            members = [f"{_key(key, mark)}:{braces(item, mark)}" for key, item in value.items()]
            return f"{{{','.join(members)}}}"
        case list():
            return f"[{','.join(braces(item, mark) for item in value)}]"
    return json.dumps(value)


def _key(key: str, mark: str) -> str:
    return key if BRACE_KEY.fullmatch(key) else braces(key, mark)
