"""Nearly right to right, every mend named."""

from .json import JsonReader, Read, read_json
from .mends import MENDS
from .schema import Fault, Fitted, fit
from .values import LONG_NUMBER, MAX_DEPTH, MAX_DIGITS, Note, Unreadable, not_json, scan, too_deep

__all__ = [
    "LONG_NUMBER",
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
    "not_json",
    "read_json",
    "scan",
    "too_deep",
]
