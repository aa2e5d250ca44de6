"""What a command in a sandbox cannot do, and runs whose commands are in one."""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import sysconfig
import time
from pathlib import Path
from typing import Any

import pydantic
import pytest

import tunaeval
from tests.runs.tasks import TASK, call, report_of, scripted, suite_of
from tunaeval import CommandClient, Workspace
from tunaeval.cli import main
from tunaeval.errors import UnknownNameError, UsageError
from tunaeval.runs.driving import Environment
from tunaeval.tasks.sandbox import Sandbox, sandbox_of
from tunaeval.types.runs import Suite

HERE, ROOT = Path(__file__).parent, Path(__file__).parent.parent.parent
ESCAPES = (
    "reads", "writes", "sees_the_environment", "sees_processes", "connects_to_a_port",
    "connects_to_a_socket", "traces", "mounts", "fills", "stays", "kills",
)  # fmt: skip


def _works() -> str | None:
    try:
        return None if sandbox_of("bwrap") else "there is none"
    except UsageError as error:
        return str(error)


WHY_NOT = _works()
needs_bwrap = pytest.mark.skipif(WHY_NOT is not None, reason=WHY_NOT or "")


def found() -> Sandbox:
    made = sandbox_of("bwrap")
    assert made is not None
    return made


def _tried(folder: Path, user: str) -> dict[str, Any]:
    """What escapes were tried and succeeded, by this user or by one without rights."""
    python, prefix = sys.executable, []
    if user == "nobody":
        if os.geteuid() != 0 or shutil.which("setpriv") is None:
            pytest.skip("only root can be somebody else")
        prefix = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
        python = "/usr/bin/python3"  # this one's may be in a home that is closed
        usable = [*prefix, python, "-c", "import pydantic, orjson"]
        if subprocess.run(usable, env=_paths(), check=False, capture_output=True).returncode:
            pytest.skip(f"{python} cannot import what this Python does")
    folder.chmod(0o777)
    for above in (folder.parent, folder.parent.parent, folder.parent.parent.parent):
        if above.name.startswith("pytest-"):
            above.chmod(0o755)
    done = subprocess.run(
        [*prefix, python, str(HERE / "sandboxed.py"), str(folder)],
        env=_paths(), cwd="/", capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)  # type: ignore[no-any-return] # as the program says


def _paths() -> dict[str, str]:
    installed = {str(Path(pydantic.__file__).parent.parent), sysconfig.get_path("purelib")}
    paths = os.pathsep.join([str(ROOT), *installed])
    return {"PYTHONPATH": paths, "PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"}


@needs_bwrap
@pytest.mark.parametrize("user", ["the same user", "nobody"])
def test_nothing_escapes(tmp_path: Path, user: str) -> None:
    tried = _tried(tmp_path, user)
    assert tried["escaping"] == dict.fromkeys(ESCAPES, False)
    assert tried["left"] == [], "a process that stayed behind is gone"
    code, _, left, seconds = tried["bomb"]
    assert (code == 0, left) == (False, [])
    assert seconds < 50
    code, words, excess, left = tried["fill"]
    assert (code == 0, left) == (False, [])
    assert "the workspace has more than" in words
    assert "256 MiB" in excess
    assert tried["sandbox"]["shut"] == ["files", "processes", "network", "environment", "disk"]
    assert tried["sandbox"]["open"] == ["memory"]


@needs_bwrap
def test_a_command_takes_little_longer() -> None:
    with Workspace(sandbox=found()) as inside, Workspace() as bare:

        def seconds(workspace: Workspace) -> float:
            began = time.perf_counter()
            assert workspace.run(("true",)).code == 0
            return time.perf_counter() - began

        both = [(seconds(inside), seconds(bare)) for _ in range(15)]
    print(f"{1000 * statistics.median(a - b for a, b in both):.1f} ms")


@needs_bwrap
def test_a_directory_is_hidden_and_a_path_is_shown(tmp_path: Path) -> None:
    (tmp_path / "shown").mkdir()
    (tmp_path / "shown" / "a.txt").write_text("hello")
    made = sandbox_of("bwrap", [tmp_path / "shown"])
    with Workspace(sandbox=made, hidden=str(tmp_path / "shown")) as workspace:
        assert workspace.run(("ls", str(tmp_path / "shown"))).output == ""
    with Workspace(sandbox=made) as workspace:
        assert workspace.run(("cat", str(tmp_path / "shown" / "a.txt"))).output == "hello"
        assert workspace.run(("touch", str(tmp_path / "shown" / "b.txt"))).code != 0


AGENT = """
import json, os, sys, urllib.request
url = os.environ["OPENAI_BASE_URL"]
asked = {"model": "m", "messages": [{"role": "user", "content": sys.argv[1]}]}
request = urllib.request.Request(
    url + "/chat/completions", json.dumps(asked).encode(), {"content-type": "application/json"}
)
said = json.loads(urllib.request.urlopen(request).read())["choices"][0]["message"]["content"]
open("calc.py", "w").write(said)
os.makedirs(os.environ["HOME"] + "/.cache")
print("repaired", os.path.exists(SECRET))
"""
RIGHT = "def add(a, b):\\n    return a + b\\n"


def task(tmp_path: Path, agent: str) -> Suite:
    secret = tmp_path / "secret"
    secret.write_text("x")
    files = {**TASK["files"], "agent.py": agent.replace("SECRET", repr(str(secret)))}
    checks = [*TASK["checks"], {"command": ["python", "-m", "tests.t"]}]
    return suite_of(tmp_path, {**TASK, "files": files, "checks": checks})


@needs_bwrap
def test_an_agent_reaches_its_endpoint_and_the_report_says_where_it_was(tmp_path: Path) -> None:
    command = [sys.executable, "agent.py", "{prompt}"]
    client = CommandClient(command, script=["a + b = 'def add(a, b): return a + b'"] * 2)
    suite = task(tmp_path, AGENT.replace("said)", "'def add(a, b):\\n    return a + b\\n')"))
    report = tunaeval.run(suite, client=client, sandbox="bwrap", out=tmp_path / "runs")
    (result,) = report.results
    assert result.ok, result.reason
    assert result.task is not None
    assert result.task.answer == "repaired False"
    kept = json.loads(next(tmp_path.glob("runs/*/run.json")).read_text())
    assert kept["sandbox"]["tool"] == "bwrap"
    assert {*kept["sandbox"]} == {"tool", "version", "shut", "open"}
    assert "in a sandbox (bwrap" in kept["heading"]
    assert "not isolated" not in kept["heading"]
    own = CommandClient(command, script=["Done."], sandbox="bwrap", sandbox_bind=[tmp_path])
    again = report_of(suite, own)
    assert again.run.sandbox == {**kept["sandbox"]}
    assert again.results[0].task is not None
    assert again.results[0].task.answer == "repaired True", "what is bound can be read"


@needs_bwrap
@pytest.mark.parametrize(
    ("program", "why"),
    [
        ("import os\nos.kill(os.getppid(), 9)\nos.kill(1, 9)\nos.kill(-1, 9)\nos.abort()", "exits"),
        ("for n in range(99): open(f'f{n}', 'wb').write(bytes(1 << 24))", "outgrew its sandbox"),
    ],
)  # fmt: skip
def test_an_agent_that_does_harm_fails_and_the_run_goes_on(
    tmp_path: Path, program: str, why: str
) -> None:
    suite = task(tmp_path, program)
    report = report_of(
        suite, CommandClient([sys.executable, "agent.py"]), sandbox="bwrap", repeats=2
    )
    assert [one.ok for one in report.results] == [False, False]
    assert all(why in json.dumps(one.model_dump(mode="json")) for one in report.results)
    assert all(one.error is None for one in report.results)


@needs_bwrap
def test_a_model_that_fills_the_workspace_ends_its_episode(tmp_path: Path) -> None:
    fill = "for n in range(99): open(f'f{n}', 'wb').write(bytes(1 << 24))"
    one = {**TASK, "files": {**TASK["files"], "fill.py": fill}, "commands": [["python", "fill.py"]]}
    script = scripted(call("bash", command="python fill.py"), "Done.")
    environment = Environment(sandbox=found())
    (result,) = report_of(suite_of(tmp_path, one), script, environment=environment).results
    assert result.task is not None
    assert (result.ok, result.error, result.task.ended) == (False, None, "disk")
    assert [check.check for check in result.task.checks if not check.ok][-1] == "workspace"


@needs_bwrap
def test_what_is_returned_is_computed_inside(tmp_path: Path) -> None:
    outside = tmp_path / "written"
    files = {"calc.py": f"def add(a, b):\n    open({str(outside)!r}, 'w')\n    return a + b\n"}
    one = {
        "files": files, "checks": [{"returns": "calc:add", "arguments": [1, 2]}],
        "reference": {"files": {"calc.py": "def add(a, b):\n    return a + b\n"}},
    }  # fmt: skip
    suite = suite_of(tmp_path, one)
    (result,) = report_of(suite, scripted("Done."), sandbox="bwrap").results
    assert not outside.exists()
    assert "raises" in result.reason
    assert report_of(suite, scripted("Done.")).results[0].ok


def test_without_a_sandbox_nothing_is_said(tmp_path: Path) -> None:
    report = report_of(suite_of(tmp_path, TASK), scripted("Done."), sandbox="none")
    assert report.run.sandbox is None
    assert "sandbox" not in str(report.run.heading)


@pytest.mark.parametrize("how", ["missing", "broken", "unknown", "bind", "bind alone"])
def test_nothing_runs_without_a_sandbox_that_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], how: str
) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    if how == "broken":
        (tools / "bwrap").write_text("#!/bin/sh\necho 'bwrap: No permissions' >&2\nexit 1\n")
        (tools / "bwrap").chmod(0o755)
    if how in {"missing", "broken"}:
        monkeypatch.setenv("PATH", str(tools))
    more = {
        "unknown": ["--sandbox", "bwarp"],
        "bind": ["--sandbox", "bwrap", "--sandbox-bind", str(tmp_path / "none")],
        "bind alone": ["--sandbox-bind", str(tmp_path)],
    }.get(how, ["--sandbox", "bwrap"])
    words = {
        "missing": "not on the PATH", "broken": "No permissions", "unknown": "bwarp",
        "bind": "does not exist", "bind alone": "there is no sandbox",
    }[how]  # fmt: skip
    suite = suite_of(tmp_path, TASK)
    file = str(tmp_path / f"{suite.name}.json")
    client = f"command:{sys.executable} -c open('{tmp_path}/ran','w')"
    out = ["--out", str(tmp_path / "runs"), "--suite", file, "--client", client]
    assert main(["run", *out, *more]) == 2
    assert words in capsys.readouterr().err
    assert not (tmp_path / "ran").exists()
    assert not (tmp_path / "runs").exists()
    if how == "unknown":
        with pytest.raises(UnknownNameError, match="no sandbox is called 'bwarp'"):
            CommandClient([sys.executable], sandbox="bwarp")
