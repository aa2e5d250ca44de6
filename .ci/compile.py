"""A wheel whose engine is compiled with mypyc: a build hook of hatchling, off by default.

    HATCH_BUILD_HOOKS_ENABLE=1 python -m pip wheel --no-deps -w dist COPY

The modules are those that `pyproject.toml` lists beside this hook. The sources stay in the wheel,
for tracebacks and debuggers; Python prefers the compiled module beside each. Nothing is written
into the tree.
"""

from __future__ import annotations

import tempfile
from contextlib import chdir
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from mypyc.build import mypycify
from setuptools import Distribution


class CompiledEngine(BuildHookInterface[Any]):
    """Adds the compiled modules to a wheel, and the tag of the interpreter that it is for."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, unless the wheel is an editable one, which shows the sources as they change."""
        if version != "standard":
            return
        folder = Path(tempfile.mkdtemp(prefix="tunaeval-compiled-"))
        build_data["pure_python"], build_data["infer_tag"] = False, True
        for built in compiled(Path(self.root), self.config["modules"], folder):
            build_data["force_include"][str(built)] = str(built.relative_to(folder / "lib"))


def compiled(root: Path, modules: list[str], folder: Path) -> list[Path]:
    """Compile the modules of the tree at `root`; return the libraries, all of them below `lib`."""
    options = ["--follow-imports=silent", "--ignore-missing-imports", "--config-file="]
    with chdir(root):
        extensions = mypycify(
            [*options, f"--cache-dir={folder / 'cache'}", *modules],
            opt_level="1",  # 3 takes three times as long, and buys little
            debug_level="0",
            multi_file=True,
            target_dir=str(folder / "c"),
        )
        command: Any = Distribution({"ext_modules": extensions}).get_command_obj("build_ext")
        command.build_lib, command.build_temp = str(folder / "lib"), str(folder / "temp")
        command.ensure_finalized()
        command.run()
    return [path for path in (folder / "lib").rglob("*") if path.is_file()]
