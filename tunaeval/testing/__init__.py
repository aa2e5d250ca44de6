"""For authors of formats and parsers: hypothesis strategies, and the parser's laws as checks.

    from tunaeval.testing import check_format, check_parser

    def test_my_format_keeps_the_laws():
        check_format(MY_FORMAT)

    def test_my_parser_keeps_the_laws():
        check_parser(my_parser, examples=["a text with a call in my format"])

Needs hypothesis (`pip install hypothesis`). The laws are those of the design: what is
rendered is read back; prose around changes no call; nothing raises; chunks do not matter; the
events tile the text, and what they report of a call while it grows is what it is in the end; levels
are monotone; with tools given no other name is a call.
"""

try:
    import hypothesis as hypothesis
except ModuleNotFoundError:
    raise ModuleNotFoundError(
        "tunaeval.testing needs hypothesis; run pip install hypothesis", name="hypothesis"
    ) from None

from .laws import (
    LAWS,
    LAWS_OF_CALLS,
    LAWS_OF_TEXTS,
    check_format,
    check_law,
    check_laws,
    check_text,
    stream_of,
)
from .parsers import check_parser
from .strategies import (
    calls,
    chunkings,
    damaged,
    fragments,
    json_values,
    literals,
    prose,
    taped,
    tools_for,
    writable,
)
from .tape import FRAGMENTS

__all__ = [
    "FRAGMENTS",
    "LAWS",
    "LAWS_OF_CALLS",
    "LAWS_OF_TEXTS",
    "calls",
    "check_format",
    "check_law",
    "check_laws",
    "check_parser",
    "check_text",
    "chunkings",
    "damaged",
    "fragments",
    "json_values",
    "literals",
    "prose",
    "stream_of",
    "taped",
    "tools_for",
    "writable",
]
