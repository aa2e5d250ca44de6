"""The plug-in keeps out of the way: whatever pytest is started with, and in its time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.testing.pytest_plugin.children import ROOT, run

PLAIN = "def test_it():\n    assert [1, 2] == [1, 2]\n"
USED = """\
import pytest
@pytest.mark.tunaeval(script=["Done."], allow_unasked=True)
def test_it(tunaeval_model):
    assert tunaeval_model.url and not tunaeval_model.calls
"""


@pytest.mark.parametrize(
    ("arguments", "without", "autoload"),
    [
        ((), (), False),
        ((), (), True),
        ((), ("HOME", "USER", "LOGNAME", "TMPDIR"), False),
        (("-p", "no:terminal"), (), False),
        (("-p", "no:junitxml", "-p", "no:assertion", "-p", "no:capture"), (), False),
        (("-p", "xdist", "-n", "1"), (), False),
        (("-p", "randomly"), (), False),
    ],
    ids=["alone", "autoload", "no HOME", "no terminal", "little", "xdist", "random order"],
)
def test_it_works_with(
    tmp_path: Path, arguments: tuple[str, ...], without: tuple[str, ...], autoload: bool
) -> None:
    child = run(
        tmp_path, *arguments, files={"test_it.py": USED}, without=without, autoload=autoload
    )
    assert child.code == 0, child.said


def test_it_can_be_left_out(tmp_path: Path) -> None:
    blocked = run(tmp_path, "-p", "no:tunaeval", files={"test_it.py": PLAIN}, autoload=True)
    assert blocked.code == 0, blocked.said
    assert "tunaeval" not in run(tmp_path, "-p", "no:tunaeval", "--help", autoload=True).said


def test_a_test_in_a_running_loop_can_use_it(tmp_path: Path) -> None:
    text = """\
import asyncio, pytest
@pytest.mark.tunaeval(script=["Done."], allow_unasked=True)
def test_it(request):
    async def inside():
        return request.getfixturevalue("tunaeval_model").url
    assert asyncio.run(inside())
"""
    child = run(tmp_path, files={"test_it.py": text})
    assert child.code == 0, child.said


def test_a_session_that_does_not_use_it_loads_nothing_for_it(tmp_path: Path) -> None:
    text = """\
import sys
def test_it():
    heavy = {"httpx2", "h11", "pydantic", "orjson", "tunaeval.models", "tunaeval.runs"}
    assert not heavy & set(sys.modules)
"""
    child = run(tmp_path, files={"test_it.py": text})
    assert child.code == 0, child.said


def test_nothing_phones_home(tmp_path: Path) -> None:
    """No socket is opened in a session that has the plug-in and does not use it."""
    text = """\
import sys
opened = []
sys.addaudithook(lambda event, _: opened.append(event) if event.startswith("socket.") else None)
def pytest_unconfigure():
    print("sockets", opened, file=sys.stderr)
"""
    child = run(tmp_path, "-s", files={"conftest.py": text, "test_it.py": PLAIN})
    assert "sockets []" in child.said


def test_an_own_comparison_is_explained_as_ever(tmp_path: Path) -> None:
    child = run(tmp_path, files={"test_it.py": PLAIN.replace("== [1, 2]", "== [1, 3]")})
    assert "At index 1 diff: 2 != 3" in child.said


def test_the_plug_in_itself_imports_only_pytest() -> None:
    program = (
        "import sys, pytest; before = set(sys.modules); import tunaeval.testing.pytest_plugin; "
        "print(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, check=True
    )
    ours = {name for name in done.stdout.split() if not name.startswith("tunaeval")}
    assert not ours & {"httpx2", "h11", "pydantic", "orjson", "rich", "tenacity", "asyncio"}
