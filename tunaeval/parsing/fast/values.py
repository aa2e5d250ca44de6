"""Bare text to a value: what most values are at once, anything else as `typed` does it."""

from __future__ import annotations

import re

from tunaeval.repair import Signature, member
from tunaeval.types import JsonValue

from ..typing import typed

ODD = object()
"""Instead of a value: something had to be repaired in it, or needs a diagnosis."""

_STARTS = frozenset("-0123456789{[tfnNI")
"""What anything but a text begins with, white space in front of it apart."""

_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]{0,17}+)")
_BOOLEANS = {"true": True, "false": False}


def value_of(text: str, key: str, signature: Signature | None, said: str | None) -> JsonValue:
    """The value of `text`, or `ODD`; see `typed`, which has the last word."""
    if said == "text":
        return text
    schema: object = None
    root: object = None
    if signature is not None and said is None:
        wanted = signature.types.get(key)
        if wanted == "string":
            return text
        if wanted == "integer" and _INTEGER.fullmatch(text):
            return int(text)
        if wanted == "boolean" and text in _BOOLEANS:
            return _BOOLEANS[text]
        root = signature.schema
        schema = member(root, key, root)
    if not schema:
        first = text[:1]
        if first not in _STARTS and not first.isspace():
            return text
        if _INTEGER.fullmatch(text):
            return int(text)
        if text in _BOOLEANS:
            return _BOOLEANS[text]
    made = typed(text, schema, said, root)
    return ODD if made.repairs or made.notes else made.value
