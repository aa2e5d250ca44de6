"""Nearly right to right, every mend named."""

from .braces import BRACE_KEY, BraceReader, object_reader
from .json import JsonReader, Read, read_json
from .mends import MENDS
from .python import PYTHON_NAME, PythonReader
from .schema import Fault, Fitted, fit
from .values import LONG_NUMBER, MAX_DEPTH, MAX_DIGITS, Note, Unreadable, not_json, scan, too_deep

__all__ = [
    "BRACE_KEY",
    "LONG_NUMBER",
    "MAX_DEPTH",
    "MAX_DIGITS",
    "MENDS",
    "PYTHON_NAME",
    "BraceReader",
    "Fault",
    "Fitted",
    "JsonReader",
    "Note",
    "PythonReader",
    "Read",
    "Unreadable",
    "fit",
    "not_json",
    "object_reader",
    "read_json",
    "scan",
    "too_deep",
]
