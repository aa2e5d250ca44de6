"""Objects of a text, each read once: at every level, and by every block that begins there."""

from __future__ import annotations

from typing import TypeAlias

from tunaeval.limits import KEPT_OBJECTS
from tunaeval.repair import JsonReader, Read, Unreadable, begins_soundly, has_long_number, scan
from tunaeval.window import Window

Objects: TypeAlias = dict[tuple[int, tuple[str, ...]], tuple[Read | Unreadable, int]]
"""By the offset of an object and the texts that may end it: what was read there, and its end."""


def object_at(
    text: str, at: int, base: int, stops: tuple[str, ...], known: Objects | None
) -> tuple[Read | Unreadable, int]:
    """Read the object at index `at` of a text that is all there; return it and its end.

    `base` is the offset of the text's first character in the whole. Sound JSON is decoded, as
    nothing around it can change where it ends; anything else is read with repairs.
    """
    key = base + at, stops
    if known is not None and (before := known.get(key)):
        return before[0], before[1] - base
    sound = scan(text, at) if begins_soundly(text, at) else None
    if isinstance(sound, tuple) and not has_long_number(text, at, sound[1]):
        read: Read | Unreadable = _new_tuple(Read, (sound[0], (), sound[2], False))
        end = sound[1]
    else:
        window = Window(text, final=True)
        window.pos, window.base = at, base
        found = JsonReader(window, stops).advance()
        if found is None:
            raise AssertionError(f"a reader asked for more than all of {text[at : at + 60]!r}")
        read, end = found, window.pos
    if known is not None and len(known) < KEPT_OBJECTS:
        known[key] = read, base + end
    return read, end


_new_tuple = tuple.__new__
