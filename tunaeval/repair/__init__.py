"""Reads nearly-JSON and fits values to schemas, with every repair named."""

from __future__ import annotations

from .braces import BRACE_KEY, BraceReader, object_reader
from .fitting import (
    TYPE_REPAIRS,
    Fault,
    Signature,
    fit,
    fits,
    misplaced,
    undeclared,
    unwrapped,
)
from .python import PYTHON_NAME, PythonReader, plain_arguments
from .reader import ARITHMETIC, JsonReader, read_json
from .repairs import REPAIRS, repair_of
from .schema import ANY, UNBENT, admitted, kind_of, member, member_or_item, of_text, resolved
from .values import (
    ATOMS,
    NUMBER,
    ODD_SPACES,
    QUOTES,
    SPACES,
    Note,
    Read,
    Unreadable,
    begins_soundly,
    decode_at,
    not_json,
    nothing_hidden,
    scan,
)

__all__ = [
    "ANY",
    "ARITHMETIC",
    "ATOMS",
    "BRACE_KEY",
    "NUMBER",
    "ODD_SPACES",
    "PYTHON_NAME",
    "QUOTES",
    "REPAIRS",
    "SPACES",
    "TYPE_REPAIRS",
    "UNBENT",
    "BraceReader",
    "Fault",
    "JsonReader",
    "Note",
    "PythonReader",
    "Read",
    "Signature",
    "Unreadable",
    "admitted",
    "begins_soundly",
    "decode_at",
    "fit",
    "fits",
    "kind_of",
    "member",
    "member_or_item",
    "misplaced",
    "not_json",
    "nothing_hidden",
    "object_reader",
    "of_text",
    "plain_arguments",
    "read_json",
    "repair_of",
    "resolved",
    "scan",
    "undeclared",
    "unwrapped",
]
