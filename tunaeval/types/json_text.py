"""JSON text as values, by the same rules wherever it comes from.

Integers have any size, lone surrogates are kept, and bytes are UTF-8. NaN, Infinity, numbers beyond
all floats and nesting that Python cannot follow are no JSON. Of a key that an object has twice, the
last value counts, or the text is refused.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from typing import Any, Literal, NoReturn, TypeAlias

import orjson

from .calls import JsonObject, JsonValue

Duplicates: TypeAlias = Literal["last", "refuse"]

_WIDE_INTEGER = b"0" * 19  # orjson would silently read more than 64 bits as a float
_DIGITS = bytes.maketrans(b"123456789", b"0" * 9)
"""Turns every digit into a 0: then a search for 19 of them is 20 times as fast as a regex."""


class RepeatedKeyError(ValueError):
    """An object has a key twice."""


def decoded(
    text: str | bytes, *, duplicates: Duplicates = "last", constants: bool = False
) -> JsonValue:
    """Return the value of JSON text. Raise ValueError for any other text (`json.JSONDecodeError`
    where the fault has a position), and RepeatedKeyError for a repeated key that is refused.

    With `constants`, NaN and Infinity are read as Python writes them, for files of other programs.
    """
    if duplicates == "last":  # orjson, which cannot see the others, is several times as fast
        try:
            data = text if isinstance(text, bytes) else text.encode()
            if _WIDE_INTEGER not in data.translate(_DIGITS):
                return orjson.loads(data)
        except ValueError:  # lone surrogates, numbers beyond floats, deep nesting, or no JSON
            pass
    if isinstance(text, bytes):
        text = text.decode("utf-8-sig")
    try:
        return _DECODERS[duplicates, constants].decode(text)
    except RecursionError:
        raise ValueError("it is nested too deeply to be read") from None


def decoded_at(text: str, at: int = 0, *, duplicates: Duplicates = "last") -> tuple[JsonValue, int]:
    """Return the JSON value at an index of a text, and its end. Raise as `decoded` does."""
    try:
        return _DECODERS[duplicates, False].raw_decode(text, at)
    except RecursionError:
        raise ValueError("it is nested too deeply to be read") from None


def decoded_or(text: object, default: JsonValue = None) -> JsonValue:
    """Return the value of JSON text; `default` for a text that is no JSON, and for no text."""
    try:
        return decoded(text) if isinstance(text, str | bytes) else default
    except ValueError:
        return default


def written(value: JsonValue) -> str:
    """Return a text as it is, and anything else as JSON writes it."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def json_object(text: object) -> JsonObject | None:
    """Return the object that JSON text consists of, or None if it is anything else."""
    found = decoded_or(text)
    return found if isinstance(found, dict) else None


def _unique(pairs: list[tuple[str, JsonValue]]) -> JsonObject:
    found = dict(pairs)
    if len(found) < len(pairs):
        counts = Counter(key for key, _ in pairs)
        twice = next(key for key in found if counts[key] > 1)
        raise RepeatedKeyError(f"found the key {twice!r} twice in one object; keep one")
    return found


def _finite(digits: str) -> float:
    if math.isinf(number := float(digits)):
        raise ValueError(f"found {digits[:40]}, which is beyond all floats; write a smaller number")
    return number


def _refused(word: str) -> NoReturn:
    raise ValueError(f"found {word}, which is no JSON; leave it out or write null")


def _decoder(duplicates: Duplicates, *, constants: bool) -> json.JSONDecoder:
    more: dict[str, Any] = {} if constants else {"parse_constant": _refused}
    more |= {"object_pairs_hook": _unique} if duplicates == "refuse" else {}
    return json.JSONDecoder(parse_float=float if constants else _finite, **more)


_WAYS: tuple[Duplicates, ...] = ("last", "refuse")
_DECODERS = {(way, is_kept): _decoder(way, constants=is_kept)
             for way in _WAYS for is_kept in (False, True)}  # fmt: skip
