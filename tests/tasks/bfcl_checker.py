"""The real AST checker and decoder of BFCL, loaded from their files: the package imports a hundred.

What the files import and Python categories never touch is stood in for: the registry of models
(here: all get `_` for the dots in names), the converters and parsers for Java and JavaScript.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

Checker = Callable[[list[Any], list[Any], list[Any], str], bool]
"""Functions, calls as {name: arguments}, possible answers, category -> whether they pass."""

Decoder = Callable[[str], list[dict[str, Any]]]
"""The reply of a prompted model -> calls as {name: arguments}; it raises for most other texts."""

_PACKAGES = (
    "bfcl_eval",
    "bfcl_eval.constants",
    "bfcl_eval.eval_checker",
    "bfcl_eval.eval_checker.ast_eval",
    "bfcl_eval.eval_checker.ast_eval.type_convertor",
    "bfcl_eval.model_handler",
    "bfcl_eval.model_handler.parser",
)
_CONVERTERS = "bfcl_eval.eval_checker.ast_eval.type_convertor."
_PARSER = "bfcl_eval.model_handler.parser."
_PARSERS = {
    "bfcl_eval.constants.default_prompts": (),
    "bfcl_eval.utils": (),
    f"{_PARSER}java_parser": ("parse_java_function_call",),
    f"{_PARSER}js_parser": ("parse_javascript_function_call",),
    f"{_PARSER}json_parser": ("parse_json_function_call",),
    f"{_PARSER}xml_parser": ("parse_concise_xml_function_call", "parse_verbose_xml_function_call"),
}
"""What the decoder imports and does not need for Python."""


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


def load_decoder(folder: Path) -> Decoder:
    """The real one for prompted models, but that it evaluates nothing that a model wrote."""
    with _stand_ins():
        for name in ("constants.enums", "constants.type_mappings"):
            _load(f"bfcl_eval.{name}", folder / f"{name.replace('.', '/')}.py")
        for name, functions in _PARSERS.items():
            _add(name, **dict.fromkeys(functions))
        real = _load("bfcl_eval.model_handler.utils", folder / "model_handler" / "utils.py")
    vars(real)["eval"] = _refuse
    return partial(real.default_decode_ast_prompting, language=real.ReturnFormat.PYTHON)


def _refuse(text: str) -> None:
    raise ValueError(f"{text!r} would have to be evaluated")


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
