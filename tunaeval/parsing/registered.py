"""The registry of formats and parsers, and what only it knows: those that others have brought.

No parse by a built-in name asks for it.
"""

from __future__ import annotations

from tunaeval.errors import UsageError
from tunaeval.formats import FORMATS, REFUSED, SET_ALIASES, SETS
from tunaeval.registry import Registry, guarded, instance_of
from tunaeval.showing import brief
from tunaeval.types.roles import Parser


def _constant(name: str) -> str:
    """What a format's constant is called."""
    return name.upper().replace("-", "_").replace(".", "")


_IS_PARSER = instance_of(Parser)

formats: Registry[Parser] = Registry(
    "tunaeval.parsers",
    "format or parser",
    builtins={
        **{
            name: f"tunaeval.parsing.by_name:{name.replace('-', '_')}"
            for name in ("auto", "qwen25", *SETS)
        },
        **{name: f"tunaeval.formats:{_constant(name)}" for name in FORMATS},
    },
    aliases={
        **SET_ALIASES,
        **{alias: name for name, form in FORMATS.items() for alias in form.aliases},
    },
    refused=REFUSED,
    check=_IS_PARSER,
    command="tunaeval formats",
)
"""Formats and parsers by name."""


def other_parser(format: str | Parser) -> Parser:  # noqa: A002 - as in `parse`
    """A parser that is none of ours, by its name or as it was given; raises `PluginError` for
    whatever it does wrong.
    """
    if isinstance(format, str):
        return guarded(formats.get(format))
    if isinstance(format, type):
        raise UsageError(f"{brief(format)} is no format: {_IS_PARSER(format)}")
    # Whoever says it is a parser is not asked for each attribute: that takes longer than to parse.
    if Parser in type(format).__mro__ or isinstance(format, Parser):
        return guarded(format)
    raise UsageError(f"{brief(format)} is no format: wanted a name, a Format or a Parser")
