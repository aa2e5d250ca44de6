"""What runs on every system, and what is refused where a system cannot do it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="it takes away what Linux has")
SYSTEMS = ("win32", "darwin", "linux", "wasi")
ROOT = Path(__file__).parents[1]


def said(system: str, program: str, place: Path) -> str:
    """Return what a program prints in a process that lacks what a system lacks."""
    (place / "program.py").write_text(program, "utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "tests.other_system", system, "program.py"],
        capture_output=True, text=True, check=False, cwd=place, timeout=300,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


CORE = """
import tunaeval
from tunaeval import rewards

text = '<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>'
wanted = [{"name": "f", "arguments": {"a": 1}}]
stream = tunaeval.stream()
stream.feed(text)
assert tunaeval.parse(text).calls == stream.finish().calls == tunaeval.parse_many([text])[0].calls
assert tunaeval.parse(tunaeval.render(tunaeval.parse(text).calls, format="hermes")).calls
assert rewards.reward(text, wanted).value == 1
assert tunaeval.match({"calls": wanted}, tunaeval.parse(text).calls)
said = [{"role": "user", "content": "x"}, {"role": "assistant", "content": text}]
assert 0 <= tunaeval.score(said, "x", expect={"calls": wanted}).weighted_total <= 1
"""

RUN = """
import tunaeval
from tunaeval.cli import main

recording = ["--recording", "smollm2-135m-free-text"]
shown = ["--quiet", "--out", "cli", "--report", "page.html"]
assert main(["run", *recording, "--suite", "smoke", *shown]) == 0
clients = [tunaeval.ScriptedClient([words] * 48) for words in ("", "Hi.")]
a, b = (tunaeval.run("smoke", client=client, out="runs") for client in clients)
assert tunaeval.compare(a.directory, b.directory).overall.scenarios == 12
assert main(["compare", a.directory, b.directory]) == 0
assert main(["show", a.directory]) == 0
assert main(["report", a.directory, b.directory, "-o", "both.html"]) == 0
matrix = tunaeval.run_matrix("smoke", models=clients, repeats=1, out="matrices")
assert len(matrix.ranking.cells) == 2
"""


@pytest.mark.parametrize("system", SYSTEMS)
def test_the_core_needs_no_name_of_one_system(system: str, tmp_path: Path) -> None:
    said(system, CORE, tmp_path)


@pytest.mark.parametrize("system", SYSTEMS)
def test_runs_and_their_pages_need_no_name_of_one_system(system: str, tmp_path: Path) -> None:
    said(system, RUN, tmp_path)
    for page in ("page.html", "both.html"):
        assert "<html" in (tmp_path / page).read_text("utf-8")
    assert [*tmp_path.glob("runs/*/results.jsonl")]


FILES = """
from tunaeval import Workspace
from tunaeval.errors import WorkspaceError

try:
    with Workspace({"a.txt": "x"}) as workspace:
        print(workspace["a.txt"].text)
except WorkspaceError as error:
    print(error)
"""
COMMANDS = FILES.replace('"x"})', '"x"}, commands=[["cat", "{path}"]])').replace(
    'workspace["a.txt"].text', 'workspace.run("cat a.txt").output'
)


@pytest.mark.parametrize("system", ["win32", "linux", "wasi"])
@pytest.mark.parametrize("program", [FILES, COMMANDS], ids=["files", "commands"])
def test_a_workspace_is_refused_where_paths_cannot_be_confined(
    system: str, program: str, tmp_path: Path
) -> None:
    found = said(system, program, tmp_path)
    assert found.count("\n") == 1
    assert "need Linux" in found or "needs Linux" in found


def test_a_mac_has_workspaces_and_refuses_their_commands(tmp_path: Path) -> None:
    assert said("darwin", FILES, tmp_path) == "x\n"
    refused = said("darwin", COMMANDS, tmp_path)
    assert refused.startswith("this system (darwin) can neither end all that a command starts ")
    words = COMMANDS.replace(', commands=[["cat", "{path}"]]', "").replace(
        '"cat a.txt"', '["cat", "a.txt"]'
    )
    assert said("darwin", words, tmp_path) == refused


TASKS = """
import tunaeval

suite = tunaeval.load_suite("repair-tasks")
client = tunaeval.ScriptedClient(["Done."] * 200)
report = tunaeval.run(suite, client=client, out=None, repeats=1)
commanding = {one.id for one in suite.scenarios if one.task.commands}
found = [one for one in report.results if one.scenario in commanding]
assert found and {one.outcome for one in found} == {"transport_failure"}
print(found[0].error)
"""


@pytest.mark.parametrize("system", ["win32", "darwin"])
def test_tasks_that_cannot_be_run_are_failures_of_the_system_and_not_of_the_model(
    system: str, tmp_path: Path
) -> None:
    assert "Linux" in said(system, TASKS, tmp_path)
