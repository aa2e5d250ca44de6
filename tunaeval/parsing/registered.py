"""The registry of formats and parsers, and what only it knows: those that others have brought.

No parse by a built-in name asks for it.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any

from tunaeval.errors import UsageError
from tunaeval.formats import FORMATS, REFUSED, SET_ALIASES, SETS
from tunaeval.registry import Registry, guarded, instance_of
from tunaeval.showing import brief
from tunaeval.types.roles import Parser


def _constant(name: str) -> str:
    """What a format's constant is called."""
    return name.upper().replace("-", "_").replace(".", "")


_IS_PARSER = instance_of(Parser)


class _Formats(ModuleType, Registry[Parser]):
    """The package `tunaeval.formats`, whose constants are formats, as the registry of all formats.

    `import tunaeval.formats as F` gives what `tunaeval.formats` is, so they are one object.
    """

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *filter(str.isalpha, dir(Registry))})

    def __reduce__(self) -> tuple[object, tuple[str]]:
        """In another process it is imported there."""
        return import_module, (self.__name__,)


def _registry(group: str, kind: str, **settings: Any) -> Registry[Parser]:
    """The package of formats, made a registry."""
    package: Any = import_module("tunaeval.formats")
    Registry.__init__(package, group, kind, **settings)
    package.__class__ = _Formats  # last: what another thread finds is a registry, or makes it one
    found: Registry[Parser] = package
    return found


formats = _registry(
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
