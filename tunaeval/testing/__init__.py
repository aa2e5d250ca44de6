"""For authors of formats and parsers: hypothesis strategies, and the parser's laws as checks.

    from tunaeval.testing import check_format, check_parser

    def test_my_format_keeps_the_laws():
        check_format(MY_FORMAT)

    def test_my_parser_keeps_the_laws():
        check_parser(my_parser, examples=["a text with a call in my format"])

Needs hypothesis (`pip install 'tunaeval[test]'`). The laws are those of the design: what is
rendered is read back; chunks do not matter; the events tile the text; nothing raises; levels are
monotone; prose around changes no call; with tools given no other name is a call.
"""

from .laws import LAWS, check_format, check_law, stream_of
from .strategies import (
    calls,
    chunkings,
    damaged,
    fragments,
    json_values,
    literals,
    prose,
    tools_for,
    writable,
)
from .tape import FRAGMENTS

__all__ = [
    "FRAGMENTS",
    "LAWS",
    "calls",
    "check_format",
    "check_law",
    "chunkings",
    "damaged",
    "fragments",
    "json_values",
    "literals",
    "prose",
    "stream_of",
    "tools_for",
    "writable",
]
