"""The real AST checker of BFCL, loaded from its file: its package imports a hundred others.

What the file imports and Python categories never touch is stood in for: the registry of models
(here: all get `_` for the dots in names) and the converters for Java and JavaScript.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

Checker = Callable[[list[Any], list[Any], list[Any], str], bool]
"""Functions, calls as {name: arguments}, possible answers, category -> whether they pass."""

_PACKAGES = (
    "bfcl_eval",
    "bfcl_eval.constants",
    "bfcl_eval.eval_checker",
    "bfcl_eval.eval_checker.ast_eval",
    "bfcl_eval.eval_checker.ast_eval.type_convertor",
)
_CONVERTERS = "bfcl_eval.eval_checker.ast_eval.type_convertor."


def package() -> Path | None:
    """Where the package is; None where it is not installed (pip install --no-deps bfcl-eval)."""
    spec = find_spec("bfcl_eval")
    return None if spec is None or spec.origin is None else Path(spec.origin).parent


def load_checker(folder: Path) -> Checker:
    """The real one, of the package in that folder."""
    with _stand_ins():
        for name in ("constants.enums", "constants.type_mappings"):
            _load(f"bfcl_eval.{name}", folder / f"{name.replace('.', '/')}.py")
        python = sys.modules["bfcl_eval.constants.enums"].Language.PYTHON
        file = folder / "eval_checker" / "ast_eval" / "ast_checker.py"
        real = _load("bfcl_eval.eval_checker.ast_eval.ast_checker", file)

    def check(functions: list[Any], calls: list[Any], gold: list[Any], category: str) -> bool:
        found = real.ast_checker(functions, calls, gold, python, category, "any")
        return bool(found["valid"])

    return check


@contextmanager
def _stand_ins() -> Iterator[None]:
    before = {name: module for name, module in sys.modules.items() if name.startswith("bfcl_eval")}
    for name in _PACKAGES:
        _add(name).__path__ = []
    names_with_underscores = SimpleNamespace(underscore_to_dot=True)
    registry = {"any": names_with_underscores}
    _add("bfcl_eval.constants.model_config", MODEL_CONFIG_MAPPING=registry)
    _add(f"{_CONVERTERS}java_type_converter", java_type_converter=None)
    _add(f"{_CONVERTERS}js_type_converter", js_type_converter=None)
    try:
        yield
    finally:
        for name in [name for name in sys.modules if name.startswith("bfcl_eval")]:
            del sys.modules[name]
        sys.modules.update(before)


def _add(name: str, **contents: object) -> ModuleType:
    module = sys.modules[name] = ModuleType(name)
    vars(module).update(contents)
    return module


def _load(name: str, file: Path) -> ModuleType:
    spec = spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
