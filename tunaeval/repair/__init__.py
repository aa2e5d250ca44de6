"""Nearly right to right, every repair named."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tunaeval.later import imported_later

if TYPE_CHECKING:
    # For type checkers; at run time each is imported when it is asked for.
    from .braces import BRACE_KEY, BraceReader, object_reader
    from .fitted import Fault, Fitted, fit_types
    from .json import JsonReader
    from .kinds import UNBENT, kind_of, of_text
    from .literals import PYTHON_NAME
    from .python import PythonReader
    from .references import ANY, admitted, member, member_or_item, resolved
    from .repairs import REPAIRS, repair_of
    from .schema import fit
    from .sound import ATOMS, has_long_number, nothing_hidden
    from .values import (
        QUOTES,
        Note,
        Read,
        Unreadable,
        begins_soundly,
        not_json,
        scan,
        too_deep,
    )
    from .whole import read_json

_HOMES = {
    "ANY": "references",
    "ATOMS": "sound",
    "BRACE_KEY": "braces",
    "BraceReader": "braces",
    "Fault": "fitted",
    "Fitted": "fitted",
    "JsonReader": "json",
    "REPAIRS": "repairs",
    "Note": "values",
    "PYTHON_NAME": "literals",
    "PythonReader": "python",
    "QUOTES": "values",
    "Read": "values",
    "UNBENT": "kinds",
    "Unreadable": "values",
    "admitted": "references",
    "begins_soundly": "values",
    "fit": "schema",
    "fit_types": "fitted",
    "has_long_number": "sound",
    "kind_of": "kinds",
    "member": "references",
    "member_or_item": "references",
    "not_json": "values",
    "nothing_hidden": "sound",
    "object_reader": "braces",
    "of_text": "kinds",
    "read_json": "whole",
    "repair_of": "repairs",
    "resolved": "references",
    "scan": "values",
    "too_deep": "values",
}

__all__ = [
    "ANY",
    "ATOMS",
    "BRACE_KEY",
    "PYTHON_NAME",
    "QUOTES",
    "REPAIRS",
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

__getattr__ = imported_later(__name__, _HOMES)
