"""Values that swallowed markup where it is not around bare values: between marks, and in elements.

See `marks` for tags around bare values.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from tunaeval.limits import LONG_TAG, SHORTEST_SIGNS, SHOWN_NAME
from tunaeval.repair import Note, member_or_item
from tunaeval.types import JsonObject, JsonValue

from .marks import Halves, nearly_begins

_JOINT = re.compile(r"[\s\]}]{0,8},[\s\[{]{0,8}([\w.-]{1,64}\s{0,4}:[\s\[{]{0,8})?")
"""What is between two texts of an object or a list; its group is the second one's key."""

_ELEMENT = re.compile(r"<([A-Za-z_][\w.:-]{0,127})>")
_SIGNS = re.compile(r"[^\w\s]++")


def note_of(key: str) -> Note:
    """The diagnosis of an argument that swallowed markup."""
    return Note("swallowed-markup", f"{key[:SHOWN_NAME]!r} contains markup, perhaps a lost tag")


# --- texts between marks -------------------------------------------------------------------------


def with_marks(arguments: JsonObject, mark: str) -> Iterator[Note]:
    """The diagnoses of arguments with such texts."""
    return (note_of(key) for key, value in arguments.items() if holds_marks((value,), mark))


def holds_marks(values: Iterable[JsonValue], mark: str) -> bool:
    """Whether a text among the values has swallowed marks, or what is nearly such.

    One alone is nothing: only where two texts would meet, with a comma between them.
    """
    rest, sign = [*values], mark[:1]
    while rest:
        value = rest.pop()
        if type(value) is str:
            if "," in value and (sign in value or mark[-1] in value) and _joined(value, mark):
                return True
        elif type(value) is list:
            rest += value
        elif type(value) is dict:
            rest += value.values()
    return False


def _joined(text: str, mark: str) -> bool:
    text, mark, middle = text.lower(), mark.lower(), len(mark) // 2
    if mark[:middle] not in text and mark[middle:] not in text:
        return False
    edits = 1 if len(mark) < LONG_TAG else 2
    for found in _JOINT.finditer(text):
        before = text[max(0, found.start() - len(mark) - 2) : found.start()][::-1]
        behind = text[found.end() : found.end() + len(mark) + 2]
        ends, begins = nearly_begins(before, mark[::-1], edits), nearly_begins(behind, mark, edits)
        if (ends or begins) if found[1] else (ends and begins):
            return True
    return False


# --- elements ------------------------------------------------------------------------------------


def in_element(text: str, tag: str, prefix: str, schema: object, root: object) -> bool:
    """Whether an element's text has swallowed others: tags without their prefix, or part of it.

    Without all of it a tag may be HTML. So it has to be the end of the element itself in front of
    another beginning, or the name of a member that the schema declares.
    """
    halves, signs = _of_prefix(prefix)
    if any(sign in text for sign in signs) or halves.inside(text.lower()):
        return True
    if "<" not in text:
        return False
    close = text.find(f"</{tag}>")
    if close >= 0 and text.find(f"<{tag}", 0, close) < 0:
        return True
    first = _ELEMENT.search(text)
    return first is not None and member_or_item(schema, first[1], root) is not None


@lru_cache(maxsize=64)
def _of_prefix(prefix: str) -> tuple[Halves, tuple[str, ...]]:
    """The prefix in halves, and the signs in it that are none of other texts."""
    signs = (found for found in _SIGNS.findall(prefix) if len(found) >= SHORTEST_SIGNS)
    return Halves([prefix.lower()]), tuple(signs)
