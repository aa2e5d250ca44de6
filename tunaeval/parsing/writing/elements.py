"""Arguments written as nested elements."""

from __future__ import annotations

from tunaeval.grammar import Elements
from tunaeval.types import JsonObject, JsonValue

from ..elements import TAG
from ..typing import as_json, typed


def written_elements(arguments: JsonObject, word: Elements) -> str:
    """The arguments as nested elements; what elements cannot say stands in them as JSON."""
    between = "" if word.prefix else "\n"
    return between.join(_element(key, value, word) for key, value in arguments.items())


def _element(key: str, value: JsonValue, word: Elements) -> str:
    return f"{word.prefix}<{key}>{_body(key, value, word)}{word.prefix}</{key}>"


def _body(key: str, value: JsonValue, word: Elements) -> str:
    if isinstance(value, str):
        return value if word.prefix or "\n" not in value else f"\n{value}\n"
    if not word.prefix:
        return as_json(value, key)
    if isinstance(value, dict) and _sayable(value, word):
        return written_elements(value, word)
    if isinstance(value, list) and _sayable(value, word):
        return "".join(_element(word.item, item, word) for item in value)
    return as_json(value, key)


def _sayable(value: JsonValue, word: Elements) -> bool:
    """Whether elements say it so that it is read back the same without a schema."""
    if isinstance(value, dict):
        keys = [key for key in value if (tag := TAG.fullmatch(f"<{key}>")) and not tag[1]]
        said = len(keys) == len(value) > 0 and any(key != word.item for key in keys)
        return said and all(_sayable(inner, word) for inner in value.values())
    if isinstance(value, list):
        return bool(value) and all(_sayable(inner, word) for inner in value)
    if isinstance(value, str):
        return word.prefix not in value and typed(value, None, None).value == value
    return True
