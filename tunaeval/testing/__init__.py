"""For authors of formats and parsers: hypothesis strategies, and checks of the laws of a parser.

    from tunaeval.testing import check_format, check_parser

    def test_my_format_keeps_the_laws():
        check_format(MY_FORMAT)

    def test_my_parser_keeps_the_laws():
        check_parser(my_parser, examples=["a text with a call in my format"])

Needs hypothesis (`pip install hypothesis`). The laws: rendered calls are parsed back; prose around
calls changes none; nothing raises; chunks do not matter; the events tile the text, and the pieces
of a growing call add up to the final call; levels are monotone; if tools are given, no other name
is called.
"""

from .laws import LAWS as LAWS
from .laws import LAWS_OF_CALLS as LAWS_OF_CALLS
from .laws import LAWS_OF_TEXTS as LAWS_OF_TEXTS
from .laws import check_format as check_format
from .laws import check_law as check_law
from .laws import check_laws as check_laws
from .laws import check_text as check_text
from .laws import stream_of as stream_of
from .parsers import check_parser as check_parser
from .strategies import calls as calls
from .strategies import chunkings as chunkings
from .strategies import damaged as damaged
from .strategies import fragments as fragments
from .strategies import json_values as json_values
from .strategies import literals as literals
from .strategies import prose as prose
from .strategies import taped as taped
from .strategies import tools_for as tools_for
from .strategies import writable as writable
from .tape import FRAGMENTS as FRAGMENTS

try:
    import hypothesis as hypothesis
except ModuleNotFoundError:
    raise ModuleNotFoundError(
        "tunaeval.testing needs hypothesis; run pip install hypothesis", name="hypothesis"
    ) from None
