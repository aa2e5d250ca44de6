"""Import paths of version 0.1 that moved: they work, and warn with the path that replaces them.

`import tunaeval.clients` returns a module that looks up each name where it is now. The finder is
the last one asked, so existing paths cost nothing. Remove this with the release after the next.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.abc import Loader, MetaPathFinder

    class _Hook(MetaPathFinder, Loader): ...

else:
    # `import tunaeval` imports this file, and `importlib.abc` takes longer than all the rest of
    # it. The import system asks a hook for its methods alone.
    _Hook = object

MOVED = {
    "tunaeval.adapters": "tunaeval.data.adapters",
    "tunaeval.busy": "tunaeval.tools.recorder",
    "tunaeval.clients": "tunaeval.models.clients",
    "tunaeval.columns": "tunaeval.data.columns",
    "tunaeval.convert": "tunaeval.data.convert",
    "tunaeval.endpoint": "tunaeval.models.endpoint",
    "tunaeval.faults": "tunaeval.types.faults",
    "tunaeval.formats": "tunaeval.grammar.formats",
    "tunaeval.grading": "tunaeval.runs.grading",
    "tunaeval.grammar.words": "tunaeval.grammar.format",
    "tunaeval.harness": "tunaeval.runs",
    "tunaeval.judging": "tunaeval.scoring.judging",
    "tunaeval.pytest_plugin": "tunaeval.testing.pytest_plugin",
    "tunaeval.records": "tunaeval.files",
    "tunaeval.repair": "tunaeval.parsing.repair",
    "tunaeval.selftest": "tunaeval.testing.selftest",
    "tunaeval.sse": "tunaeval.parsing.sse",
    "tunaeval.success": "tunaeval.tools.success",
    "tunaeval.viewer": "tunaeval.runs.viewer",
    "tunaeval.workspace": "tunaeval.tools.workspace",
}
"""The old path of each public module that moved, with its new one."""


class OldPaths(_Hook):
    """An import hook that finds modules under their old names."""

    def find_spec(self, fullname: str, *_: Sequence[str] | ModuleType | None) -> ModuleSpec | None:
        old = next((old for old in MOVED if f"{fullname}.".startswith(f"{old}.")), None)
        if old is None:
            return None
        from importlib.util import find_spec  # noqa: PLC0415 - only an old path needs it

        new = MOVED[old] + fullname.removeprefix(old)
        if find_spec(new) is None:
            return None
        return ModuleSpec(fullname, self, loader_state=new, is_package=True)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        new = str(spec.loader_state)
        warnings.warn(
            f"{spec.name} has moved; import it from {new}",
            DeprecationWarning,
            stacklevel=2,  # the frames of the import system do not count
        )
        return _Moved(spec.name, import_module(new))

    def exec_module(self, module: ModuleType) -> None:
        """Let `import tunaeval.formats` return the registry, which keeps that name."""
        if module.__name__ == "tunaeval.formats":
            sys.modules["tunaeval.formats"] = import_module("tunaeval").formats


class _Moved(ModuleType):
    def __init__(self, name: str, new: ModuleType) -> None:
        super().__init__(name, new.__doc__)
        self._new = new

    def __getattr__(self, name: str) -> object:
        """Return an attribute of the module that replaces this one, or of a module inside it.

        Names of the import system (`__path__` most of all) are this module's own: a module that was
        found by them would be a second copy.
        """
        from pkgutil import walk_packages  # noqa: PLC0415 - only an old path needs it

        if not name.startswith("__"):
            if hasattr(self._new, name):
                return getattr(self._new, name)
            inner = f"{self._new.__name__}."
            for found in walk_packages(getattr(self._new, "__path__", ()), inner):
                module = import_module(found.name)
                if name in vars(module):
                    return getattr(module, name)
        raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
