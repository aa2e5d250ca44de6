"""Nearly right to right, every repair named."""

from .braces import BRACE_KEY, BraceReader, object_reader
from .fitted import Fault, Fitted, fit_types
from .json import JsonReader
from .kinds import UNBENT, kind_of, of_text
from .literals import PYTHON_NAME
from .machine import Read
from .mends import MENDS, repair_of
from .python import PythonReader
from .references import ANY, admitted, member, member_or_item, resolved
from .schema import fit
from .sound import flat_texts, nothing_hidden
from .strings import QUOTES
from .values import Note, Unreadable, begins_soundly, has_long_number, not_json, scan, too_deep
from .whole import read_json

__all__ = [
    "ANY",
    "BRACE_KEY",
    "MENDS",
    "PYTHON_NAME",
    "QUOTES",
    "UNBENT",
    "BraceReader",
    "Fault",
    "Fitted",
    "JsonReader",
    "Note",
    "PythonReader",
    "Read",
    "Unreadable",
    "admitted",
    "begins_soundly",
    "fit",
    "fit_types",
    "flat_texts",
    "has_long_number",
    "kind_of",
    "member",
    "member_or_item",
    "not_json",
    "nothing_hidden",
    "object_reader",
    "of_text",
    "read_json",
    "repair_of",
    "resolved",
    "scan",
    "too_deep",
]
