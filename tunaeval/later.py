"""Names of a package whose modules are imported when one of them is asked for (PEP 562)."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module


def imported_later(package: str, homes: Mapping[str, str]) -> Callable[[str], object]:
    """The `__getattr__` of `package`; `homes` has for each of its names the module it is in.

    So whoever needs one name waits for one module. A name that is found is kept in the package.

        __getattr__ = imported_later(__name__, {"fit": "schema"})
    """

    def found(name: str) -> object:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        thing: object = getattr(import_module(f".{homes[name]}", package), name)
        setattr(sys.modules[package], name, thing)
        return thing

    return found


def import_all(*packages: str) -> None:
    """Import every module of these packages now.

    For a run: when a reply needs a module, there may be no descriptor left to read its file with.
    """
    from pkgutil import walk_packages  # noqa: PLC0415 - a parse alone does without it

    for package in packages:
        for module in walk_packages(import_module(package).__path__, f"{package}."):
            import_module(module.name)
