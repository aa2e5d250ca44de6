"""Call a function of a directory's program, and write what it returns: the process that is graded.

    python -I -S -B calling.py DESCRIPTOR MODULE:NAME ARGUMENTS

ARGUMENTS is a JSON list with the arguments of each call. The outcomes are written to the descriptor
as JSON: {"value": ...}, {"raised": TYPE}, {"missing": NAME}, or {"no_json": TYPE}. Without a NAME
the module's tests are run, and the value is "passed" or "failed".

Modules that are nowhere in the directory are read from the descriptor first, as a JSON object of
their texts by path: those of the reference, which no other program is to find in a file.

All that a graded process knows is what it is to be called with, so whoever forges a report has to
know the right values. This file runs without the package: it imports the standard library alone.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from collections.abc import Mapping
from importlib.machinery import ModuleSpec, SourceFileLoader
from typing import Any


def _outcome(module: str, name: str, arguments: list[Any]) -> dict[str, Any]:
    try:
        program = importlib.import_module(module)
        if not name:
            return _tested(vars(program))
        if not hasattr(program, name):
            return {"missing": name}
        value = getattr(program, name)(*arguments)
    except BaseException as error:  # noqa: BLE001 - a program may raise anything, SystemExit too
        return {"raised": type(error).__name__} if name else {"value": "failed"}
    try:
        return {"value": json.loads(json.dumps(value))}
    except (TypeError, ValueError, RecursionError):
        return {"no_json": type(value).__name__}


def _tested(names: dict[str, Any]) -> dict[str, Any]:
    for name, test in [*names.items()]:
        if name.startswith("test_"):
            test()
    return {"value": "passed"}


class _Kept(SourceFileLoader):
    """Loads a module from its text, which is in no file."""

    texts: Mapping[str, str] = {}

    def get_data(self, path: str) -> bytes:
        return self.texts[path].encode()

    def path_stats(self, path: str) -> Mapping[str, Any]:
        raise OSError(path)  # so that no compiled file is looked for

    @classmethod
    def find_spec(cls, name: str, *_: object) -> ModuleSpec | None:
        path = name.replace(".", "/")
        for tail in (".py", "/__init__.py"):
            if (file := path + tail) in cls.texts:
                return ModuleSpec(name, cls(name, file), origin=file, is_package="init" in tail)
        if any(one.startswith(f"{path}/") for one in cls.texts):
            return ModuleSpec(name, None, is_package=True)
        return None


if __name__ == "__main__":
    descriptor, (module, _, name) = int(sys.argv[1]), sys.argv[2].partition(":")
    cases = json.loads(sys.argv[3])
    with open(descriptor, encoding="utf-8", closefd=False) as channel:
        texts = channel.read()
    os.lseek(descriptor, 0, os.SEEK_SET)
    os.ftruncate(descriptor, 0)
    if texts:
        _Kept.texts = json.loads(texts)
        sys.meta_path.insert(0, _Kept)
    sys.path.insert(0, os.getcwd())  # noqa: PTH109 - as Python does it
    report = memoryview(json.dumps([_outcome(module, name, one) for one in cases]).encode())
    while report:
        report = report[os.write(descriptor, report) :]
