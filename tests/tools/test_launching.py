"""A command ends with all that it has started, and cannot read what is hidden from it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.faults.runs import eventually
from tunaeval.tasks.commands import Ran, run_command
from tunaeval.tasks.space import Workspace
from tunaeval.tools.launching import _landlock, can_hide

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


SIGNALS = pytest.mark.skipif(
    not can_hide() or _landlock() < 6, reason="signals are scoped from Linux 6.12"
)


@HIDES
@pytest.mark.parametrize(
    "program",
    [
        "print(open(f'/proc/{PARENT}/environ', 'rb').read())",
        "print(open(f'/proc/{os.getppid()}/environ', 'rb').read())",
        "print(open(f'/proc/{PARENT}/maps', 'rb').read())",
        "print(os.readlink(f'/proc/{PARENT}/fd/0'))",
        pytest.param("os.kill(PARENT, 0)", marks=SIGNALS),
        pytest.param("os.kill(os.getppid(), 9)", marks=SIGNALS),
    ],
)
def test_a_bare_workspace_sees_nothing_of_other_processes(program: str) -> None:
    text = f"import os\nPARENT = {os.getpid()}\n{program}\n"
    with Workspace({"e.py": text}, commands=[["python", "e.py"]]) as workspace:
        found = workspace.run("python e.py")
    assert found.code == 1
    assert found.output.splitlines()[-1].startswith("PermissionError: [Errno 1"), found


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_command_ends_with_the_process_that_runs_it(tmp_path: Path, how: int) -> None:
    program = (
        "import sys; from pathlib import Path\n"
        "from tunaeval.tasks.commands import run_command\n"
        "run_command(('python', '-I', '-S', '-c', sys.argv[1]), Path(sys.argv[2]))"
    )
    words = [sys.executable, "-c", program, ESCAPES + "time.sleep(60)", str(tmp_path)]
    file = tmp_path / "pid"
    with subprocess.Popen(words) as parent:
        assert eventually(lambda: file.exists() and file.read_text() != "")
        parent.send_signal(how)
    assert eventually(lambda: not is_alive(int(file.read_text())))


@HIDES
@pytest.mark.parametrize("hides", [False, True])
def test_all_else_is_read_written_and_moved(tmp_path: Path, *, hides: bool) -> None:
    for name in ("hidden", "work", "work/a", "work/b"):
        (tmp_path / name).mkdir()
    program = (
        "import os, tempfile\nopen('a/x', 'w').write('mine')\nos.rename('a/x', 'b/x')\n"
        "print(open('b/x').read(), os.listdir('..') != [], open('/etc/passwd').read() != '')"
    )
    found = ran(program, tmp_path / "work", hidden=str(tmp_path / "hidden") if hides else "")
    assert found.output == "mine True True"
