"""The patch for TunaCode applies to what is installed; its test file passes with and without."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.hosts.environments import ROOT, hosts, interpreter

pytestmark = pytest.mark.hosts

GIVEN = ROOT / "examples" / "tunacode"
OPTIONS = ("-o", "asyncio_mode=auto", "-o", "asyncio_default_fixture_loop_scope=function")


@pytest.fixture
def python() -> str:
    found = interpreter(hosts()["tunacode-0.2.3"])
    if found is None:
        pytest.skip("not installed; python tests/hosts/environments.py tunacode-0.2.3")
    return found


def ran(command: list[str], folder: Path, more: Mapping[str, str] | None = None) -> str:
    kept = {key: one for key, one in os.environ.items() if not key.startswith(("PYTEST", "OPENAI"))}
    kept = {key: one for key, one in kept.items() if "_proxy" not in key.lower()}
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=300, check=False,
        env={**kept, **(more or {})},
    )  # fmt: skip
    return done.stdout + done.stderr


def printed(python: str, folder: Path, source: Path | None = None) -> str:
    """What pytest prints of the file that TunaCode is given, in an empty home."""
    home, place = folder / "home", folder / "tests"
    home.mkdir()
    place.mkdir()
    shutil.copy(GIVEN / "test_tunaeval.py", place)
    path = os.pathsep.join(str(one) for one in (source, ROOT) if one is not None)
    command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--strict-markers", *OPTIONS]
    return ran([*command, "."], place, {"HOME": str(home), "PYTHONPATH": path})


def patched(python: str, folder: Path) -> Path:
    """A copy of the installed package with the patch, in the layout of TunaCode's repository."""
    says = "import tunacode, pathlib; print(pathlib.Path(tunacode.__file__).parent)"
    installed = ran([python, "-c", says], folder).strip()
    skipped = shutil.ignore_patterns("__pycache__")
    shutil.copytree(installed, folder / "src" / "tunacode", ignore=skipped)
    said = ran(["patch", "-p1", "--fuzz=0", "-i", str(GIVEN / "tunaeval.patch")], folder)
    assert said.count("patching file") == 3, said
    assert "FAILED" not in said
    return folder / "src"


def test_the_file_passes_with_what_is_installed(python: str, tmp_path: Path) -> None:
    said = printed(python, tmp_path)
    assert re.search(r"^3 passed, 2 skipped", said, re.MULTILINE), said


@pytest.mark.skipif(shutil.which("patch") is None, reason="there is no program patch")
def test_the_patch_applies_and_the_whole_file_passes(python: str, tmp_path: Path) -> None:
    said = printed(python, tmp_path, patched(python, tmp_path))
    assert re.search(r"^5 passed", said, re.MULTILINE), said


@pytest.mark.skipif(shutil.which("patch") is None, reason="there is no program patch")
def test_patched_it_works_without_tunaeval(python: str, tmp_path: Path) -> None:
    source = patched(python, tmp_path)
    program = tmp_path / "without.py"
    program.write_text(
        "import asyncio, sys\n"
        "sys.modules['tunaeval'] = None\n"
        "from tunacode.core import scoring\n"
        "from tunacode.core.agents.agent_components.agent_config import _build_tools\n"
        "async def main():\n"
        "    async with scoring.session('q', None):\n"
        "        return len(_build_tools())\n"
        "print(scoring.RECORDER, asyncio.run(main()))\n"
    )
    more = {"HOME": str(tmp_path), "PYTHONPATH": str(source)}
    assert ran([python, str(program)], tmp_path, more) == "None 6\n"


def test_the_patch_is_a_few_lines() -> None:
    lines = (GIVEN / "tunaeval.patch").read_text("utf-8").splitlines()
    added = [line for line in lines if line.startswith("+") and not line.startswith("+++")]
    removed = [line for line in lines if line.startswith("-") and not line.startswith("---")]
    assert (len(added), len(removed)) == (34, 2)
