"""Nearly right to right, every mend named."""

from .json import JsonReader, Read, read_json
from .mends import MENDS
from .schema import Fault, Fitted, fit
from .values import MAX_DEPTH, MAX_DIGITS, Note, Unreadable, scan, too_deep

__all__ = [
    "MAX_DEPTH",
    "MAX_DIGITS",
    "MENDS",
    "Fault",
    "Fitted",
    "JsonReader",
    "Note",
    "Read",
    "Unreadable",
    "fit",
    "read_json",
    "scan",
    "too_deep",
]
