"""For authors of formats and parsers: hypothesis strategies, and checks of the laws of a parser.
For authors of rewards: exploits that must not be paid.

    from tunaeval.testing import check_format, check_parser

    def test_my_format_keeps_the_laws():
        check_format(MY_FORMAT)

    def test_my_parser_keeps_the_laws():
        check_parser(my_parser, examples=["a text with a call in my format"])

    @pytest.mark.parametrize("exploit", exploits(), ids=str)
    def test_no_exploit_is_paid(exploit):
        check_exploit(exploit, my_reward)

All but the exploits needs hypothesis (`pip install hypothesis`). The laws: rendered calls are
parsed back; prose around calls changes none; nothing raises; chunks do not matter; the events cover
the text exactly once, and the pieces of a growing call add up to the final call; what a level
accepts, higher levels accept, too; if tools are given, no other name is called.
"""

from __future__ import annotations

from importlib import import_module

# hypothesis is heavy, and the pytest plug-in and the self-test, which are within this package, do
# without it: so a name is imported when it is asked for. Type checkers read `__init__.pyi`.
_NAMES = {
    "laws": "LAWS LAWS_OF_CALLS LAWS_OF_TEXTS check_format check_law check_laws check_parser"
    " check_text",
    "strategies": "calls chunkings damaged fragments json_values literals prose taped tools_for"
    " writable",
    "streams": "stream_of",
    "stress": "Exploit check_exploit exploits",
    "tape": "FRAGMENTS",
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names.split()}


def __getattr__(name: str) -> object:
    """Import a public name. Raises ModuleNotFoundError, with a remedy, without hypothesis."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(import_module(f".{_HOMES[name]}", __name__), name)
    except ModuleNotFoundError as error:
        if error.name != "hypothesis":
            raise
        raise ModuleNotFoundError(
            "tunaeval.testing needs hypothesis; run pip install hypothesis", name="hypothesis"
        ) from None
