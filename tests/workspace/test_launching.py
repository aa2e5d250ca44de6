"""A command ends with all that it has started, and cannot read what is hidden from it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.faults.runs import eventually
from tunaeval.tools.workspace.commands import Ran, run_command
from tunaeval.tools.workspace.launching import can_hide

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="supervisors need Linux")
ESCAPES = (
    "import os, sys, time\nif not os.fork():\n    os.setsid()\n    if not os.fork():\n"
    "        os.closerange(0, 3)\n        os.environ.clear()\n"
    "        open('pid', 'w').write(str(os.getpid()))\n        time.sleep(60)\n    os._exit(0)\n"
    "while not os.path.exists('pid') or not open('pid').read():\n    time.sleep(0.01)\n"
)


def ran(program: str, folder: Path, *, hidden: str = "", seconds: float = 20.0) -> Ran:
    words = ("python", "-I", "-S", "-c", program)
    return run_command(words, folder, hidden=hidden, seconds=seconds)


@pytest.mark.parametrize("rest", ["raise SystemExit(3)", "time.sleep(60)"])
def test_a_process_of_a_session_of_its_own_ends_with_the_command(tmp_path: Path, rest: str) -> None:
    found = ran(ESCAPES + rest, tmp_path, seconds=60.0 if "exit" in rest.lower() else 4.0)
    assert found.code == (3 if "exit" in rest.lower() else None)
    process = int((tmp_path / "pid").read_text())
    assert eventually(lambda: not is_alive(process))


def is_alive(process: int) -> bool:
    """Whether a process runs; one that has ended may still be listed until it is collected."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


@pytest.mark.parametrize(
    ("program", "code"),
    [
        ("raise SystemExit(7)", 7),
        ("import os; os.kill(os.getpid(), 15)", -15),
        ("import os; os.kill(os.getpid(), 9)", -9),
        ("import signal; print(signal.getsignal(13) == signal.SIG_IGN)", 0),
    ],
)
def test_a_command_ends_as_it_would_alone(tmp_path: Path, program: str, code: int) -> None:
    assert ran(program, tmp_path).code == code


HIDES = pytest.mark.skipif(not can_hide(), reason="this system has no Landlock")


@HIDES
@pytest.mark.parametrize(
    "program",
    [
        "print(open(SECRET + '/a.txt').read())",
        "import os; os.symlink(SECRET, 'link'); print(open('link/a.txt').read())",
        "import os; os.link(SECRET + '/a.txt', 'b.txt'); print(open('b.txt').read())",
        "import os; os.rename(SECRET + '/a.txt', 'b.txt'); print(open('b.txt').read())",
        "import os; os.rename(SECRET, 'here'); print(open('here/a.txt').read())",
        "import subprocess; subprocess.run(['cat', SECRET + '/a.txt'], check=True)",
        "import os; print(open(f'/proc/{PARENT}/environ', 'rb').read())",
        "import os; print(open(f'/proc/{os.getppid()}/environ', 'rb').read())",
        "import os; print(os.readlink(f'/proc/{PARENT}/fd/0'))",
        "import os; os.kill(PARENT, 0); print('secret')",
    ],
)
def test_what_is_hidden_is_not_read_in_any_way(tmp_path: Path, program: str) -> None:
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / "a.txt").write_text("secret")
    folder = tmp_path / "work"
    folder.mkdir()
    head = f"SECRET, PARENT = {str(hidden)!r}, {os.getpid()}\n"
    found = ran(head + program, folder, hidden=str(hidden))
    assert found.code == 1, found
    assert "secret" not in found.output.replace(str(program), "").replace("'secret'", "")
    assert (hidden / "a.txt").read_text() == "secret"


@HIDES
def test_all_else_is_read_written_and_moved(tmp_path: Path) -> None:
    for name in ("hidden", "work", "work/a", "work/b"):
        (tmp_path / name).mkdir()
    program = (
        "import os, tempfile\nopen('a/x', 'w').write('mine')\nos.rename('a/x', 'b/x')\n"
        "print(open('b/x').read(), os.listdir('..') != [], open('/etc/passwd').read() != '')"
    )
    found = ran(program, tmp_path / "work", hidden=str(tmp_path / "hidden"))
    assert found.output == "mine True True"
