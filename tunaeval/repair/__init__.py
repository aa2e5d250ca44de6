"""Nearly right to right, every mend named."""

from .json import JsonReader, Read, read_json
from .kinds import UNBENT, kind_of, of_text
from .mends import MENDS
from .references import ANY, admitted, member
from .schema import Fault, Fitted, fit
from .values import LONG_NUMBER, MAX_DEPTH, MAX_DIGITS, Note, Unreadable, not_json, scan, too_deep

__all__ = [
    "ANY",
    "LONG_NUMBER",
    "MAX_DEPTH",
    "MAX_DIGITS",
    "MENDS",
    "UNBENT",
    "Fault",
    "Fitted",
    "JsonReader",
    "Note",
    "Read",
    "Unreadable",
    "admitted",
    "fit",
    "kind_of",
    "member",
    "not_json",
    "of_text",
    "read_json",
    "scan",
    "too_deep",
]
