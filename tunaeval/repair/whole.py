"""A whole text that is one JSON value: read at once when it is sound, else by steps."""

from __future__ import annotations

import orjson

from tunaeval.limits import MAX_FAST
from tunaeval.window import Window

from .sound import has_long_number, nothing_hidden
from .values import Read, Unreadable, scan


def read_json(text: str) -> Read | Unreadable:
    """Read a text that is one object or array, white space around it apart."""
    start = len(text) - len(text.lstrip())
    if (sound := _sound(text, start)) is not None:
        return sound
    from .json import JsonReader  # noqa: PLC0415 - its patterns take 20 ms; sound texts need none

    window = Window(text, final=True)
    window.pos = start
    result = JsonReader(window).advance()
    if result is None:
        raise AssertionError(f"a reader asked for more than all of {text[:60]!r}")
    rest = text[window.pos :].strip() if window.pos < len(text) else ""
    if rest and isinstance(result, Read):
        return Unreadable("invalid-json", f"{rest[:40]!r} comes after the value", window.pos)
    return result


def _sound(text: str, start: int) -> Read | None:
    """The value of a text that needs no repair and holds nothing odd, as most do."""
    if not text.startswith(("{", "["), start):
        return None
    if text[start] == "{" and len(text) <= MAX_FAST:
        try:
            value = orjson.loads(text)
        except orjson.JSONDecodeError:
            if "\\u" not in text and text.isascii():  # no half of a surrogate pair, so no JSON
                return None
        else:
            if nothing_hidden(value, text, ()):
                return Read(value)
    found = scan(text, start)
    if isinstance(found, Unreadable) or found[2] or text[found[1] :].strip():
        return None
    return None if has_long_number(text, start, len(text)) else Read(found[0])
