r"""JSON text as values, by the same rules wherever it comes from.

Integers have any size, lone surrogates are kept, and bytes are UTF-8. NaN, Infinity, numbers beyond
all floats and nesting that Python cannot follow are no JSON. Of a key that an object has twice, the
last value counts, or the text is refused.

Values outside plain JSON are written so that they can be read again:

- lone surrogates, which models do write, as the escape `\udXXX`;
- integers beyond 64 bits unchanged, beyond 2,000 bits as a string in hexadecimal;
- NaN and infinities as null, as orjson does;
- values nested deeper than `MAX_DEPTH` as the string `TOO_DEEP`.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping
from typing import Any, Literal, NoReturn, TypeAlias

from tunaeval.limits import TOO_DEEP
from tunaeval.showing import brief, visible

from .calls import JsonObject, JsonValue

MAX_DEPTH = 200

Duplicates: TypeAlias = Literal["last", "refuse"]

_MAX_BITS = 2_000  # 603 digits: Python reads 640 at any setting of its limit
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
    import orjson  # noqa: PLC0415 - --help, which reads options, needs none

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


def encode(record: Mapping[str, JsonValue]) -> bytes:
    """Return the record as one line of JSON, with its newline."""
    import orjson  # noqa: PLC0415 - as above

    try:
        line = orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE)
    except TypeError:  # orjson takes no lone surrogates, wide integers or deep nesting
        line = b""
    # Deep nesting needs as many brackets, and counting those takes almost no time.
    most = line.count(b"{") + line.count(b"[")
    if line and (most <= MAX_DEPTH or not _deeper_than(record, MAX_DEPTH)):
        return line
    text = json.dumps(_plain(record, MAX_DEPTH), separators=(",", ":"), allow_nan=False)
    return text.encode("ascii") + b"\n"


def call_words(name: str, arguments: JsonObject) -> str:
    """Return a call on a line, as a programmer would write it."""
    # Encoded first, because repr fails for integers of 5,000 digits and for very deep lists.
    plain = decoded(encode(arguments))
    return visible(f"{name}({', '.join(f'{key}={value!r}' for key, value in plain.items())})")


def json_object(text: object) -> JsonObject | None:
    """Return the object that JSON text consists of, or None if it is anything else."""
    found = decoded_or(text)
    return found if isinstance(found, dict) else None


def _deeper_than(value: JsonValue, depth: int) -> bool:
    if not isinstance(value, (dict, list, tuple)):
        return False
    if depth == 0:
        return True
    for item in (
        value.values() if isinstance(value, dict) else value
    ):  # a loop is faster than any(), and this runs for every record
        if isinstance(item, (dict, list, tuple)) and _deeper_than(item, depth - 1):
            return True
    return False


def _plain(value: JsonValue, depth: int) -> JsonValue:
    """Return a copy that `json` can write and read back, by the rules at the top of this file."""
    match value:
        case bool() | str() | None:
            return value
        case int():
            return value if value.bit_length() <= _MAX_BITS else hex(value)
        case float():
            return value if math.isfinite(value) else None
        case _ if depth < 0:
            return TOO_DEEP
        case Mapping():
            return {str(key): _plain(item, depth - 1) for key, item in value.items()}
        case list() | tuple():
            return [_plain(item, depth - 1) for item in value]
        case _:
            raise TypeError(f"a record has JSON values, not {type(value).__name__}: {brief(value)}")


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
