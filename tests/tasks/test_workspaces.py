"""A workspace is made from files, compared, used by tools within limits, and removed."""

from __future__ import annotations

import math
import os
import sys
from pathlib import Path
from time import process_time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.faults.runs import eventually, within
from tests.tools.test_launching import is_alive
from tunaeval.errors import UsageError, WorkspaceError
from tunaeval.tasks.confined import path_fits
from tunaeval.tasks.space import Workspace
from tunaeval.tasks.suites.loading import load_catalogue
from tunaeval.tasks.toolbox import workspace_tools
from tunaeval.tools.tool_prompts import tool_spec

NAMES = st.text(alphabet="ab.-_é ", min_size=1, max_size=5).filter(
    lambda name: name.strip(".") != ""
)
PATHS = st.lists(NAMES, min_size=1, max_size=3).map("/".join)
FILES = st.dictionaries(PATHS, st.binary(max_size=20), max_size=6).filter(
    lambda files: not any(b.startswith(f"{a}/") for a in files for b in files)
)


@given(before=FILES, after=FILES)
def test_changes_are_the_difference_of_the_files(
    before: dict[str, bytes], after: dict[str, bytes]
) -> None:
    with Workspace(before) as workspace:
        for path in before.keys() - after.keys():
            (workspace.path / path).unlink()
        for folder, _, _ in os.walk(workspace.path, topdown=False):
            if not os.listdir(folder) and Path(folder) != workspace.path:  # noqa: PTH208 - strings
                os.rmdir(folder)  # noqa: PTH106 - as above
        for path, data in after.items():
            workspace.confined.write(path, data)
        changes = workspace.changes()
    assert set(changes.added) == after.keys() - before.keys()
    assert set(changes.removed) == before.keys() - after.keys()
    both = before.keys() & after.keys()
    assert set(changes.changed) == {path for path in both if before[path] != after[path]}


@given(files=FILES)
def test_what_is_written_is_read_and_nothing_is_left(files: dict[str, bytes]) -> None:
    with Workspace(files) as workspace:
        assert {path: workspace[path].data for path in files} == files
        assert not workspace.changes()
    assert not workspace.path.exists()


def test_a_changed_byte_of_the_same_length_and_time_is_found() -> None:
    with Workspace({"a.bin": b"\x00\x01"}) as workspace:
        path = workspace.path / "a.bin"
        times = path.stat()
        path.write_bytes(b"\x00\x02")
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
        assert workspace.changes().changed == ("a.bin",)


def test_unreadable_huge_and_binary_files_are_compared() -> None:
    with Workspace({"a": b"\xff\xfe", "b": "b"}) as workspace:
        with (workspace.path / "huge").open("wb") as file:
            file.truncate(70 * 1024 * 1024)
        (workspace.path / "b").chmod(0)
        first = workspace.snapshot()
        assert workspace.changes().added == ("huge",)
        with (workspace.path / "huge").open("r+b") as file:
            file.write(b"x")
        assert first.changes(workspace.snapshot()).changed == ("huge",)
        with pytest.raises(WorkspaceError, match="more than"):
            _ = workspace["huge"].data
        with pytest.raises(WorkspaceError, match="is no text"):
            _ = workspace["a"].text
        assert not workspace["a"].contains("x")


def test_too_many_files_are_said_to_be_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tunaeval.tasks.space.MAX_ENTRIES", 3)
    with Workspace({f"{n}": "" for n in range(5)}) as workspace:
        assert not workspace.before.complete


def test_a_deep_and_closed_tree_is_removed() -> None:
    with Workspace({"closed/a": "x"}) as workspace:
        fd = os.open(workspace.path, os.O_RDONLY)
        for _ in range(1500):
            os.mkdir("d", dir_fd=fd)
            inner = os.open("d", os.O_RDONLY, dir_fd=fd)
            os.close(fd)
            fd = inner
        os.close(fd)
        (workspace.path / "closed").chmod(0o500)
        assert workspace.snapshot().complete
    assert not workspace.path.exists()


@pytest.mark.parametrize(
    ("path", "pattern", "fits"),
    [
        ("src/a.py", "*.py", True),
        ("src/a.py", "src/*.py", True),
        ("src/b/a.py", "src/*.py", False),
        ("src/b/a.py", "src/**/*.py", True),
        ("src/a.py", "src/**/*.py", True),
        ("src/a.py", "src/", True),
        ("srcs/a.py", "src/", False),
        ("a.md", "*.{py,md}", True),
        ("a.txt", "?.txt", True),
        ("ab.txt", "?.txt", False),
        ("a/b", "**", True),
        ("[a].py", "[a].py", True),
    ],
)
def test_a_pattern_means_paths(path: str, pattern: str, fits: bool) -> None:
    assert path_fits(path, pattern) is fits


def test_no_pattern_takes_long() -> None:
    began = process_time()
    assert not path_fits("a" * 200 + "/" + "a" * 200, "*a" * 100 + "b")
    assert not path_fits("a/" * 100 + "c", "**/a/" * 60 + "b")
    assert process_time() - began < 1


def test_the_tools_take_what_the_catalogue_says() -> None:
    catalogue = load_catalogue("tunacode-2025-12")
    with Workspace() as workspace:
        for name, tool in workspace_tools(workspace).items():
            ours, theirs = tool_spec(tool).parameters, catalogue[name].parameters
            assert ours["properties"].keys() == theirs["properties"].keys(), name
            assert ours.get("required", []) == theirs.get("required", []), name
            for argument, schema in theirs["properties"].items():
                assert ours["properties"][argument].get("default") == schema.get("default")


def test_the_tools_work() -> None:
    files = {
        "calc.py": "def add(a, b):\n    return a - b\n",
        "docs/x.md": "Add numbers\n",
        ".env": "K=1",
    }
    pages = {"http://docs.example/add": "add adds"}
    with Workspace(files, commands=[["python", "{path}"]], pages=pages) as workspace:
        tools = workspace_tools(workspace)
        assert tools["list_dir"]() == "calc.py\ndocs/"
        assert tools["glob"]("**/*.MD") == "docs/x.md"
        assert tools["grep"]("add") == "calc.py:1: def add(a, b):\ndocs/x.md:1: Add numbers"
        assert tools["grep"]("^def .*:$", use_regex=True, include_files="*.py") == (
            "calc.py:1: def add(a, b):"
        )
        assert tools["read_file"]("calc.py", offset=1, limit=1) == "    return a - b\n"
        assert tools["read_file"](f"{workspace.path}/calc.py", limit=1) == "def add(a, b):\n"
        tools["update_file"]("calc.py", "a - b", "a + b")
        tools["write_file"]("sub/new.py", "from sys import path\nprint(6 * 7)\n")
        assert tools["bash"]("python sub/new.py") == "42\nExit Code: 0"
        assert tools["web_fetch"]("http://docs.example/add") == "add adds"
        assert str(workspace.changes()) == "1 added (sub/new.py), 1 changed (calc.py)"
        with pytest.raises(WorkspaceError, match="is there 3 times"):
            tools["update_file"]("calc.py", "a", "b")
        with pytest.raises(WorkspaceError, match="exists already"):
            tools["write_file"]("calc.py", "x")


def test_a_command_ends_with_its_time_and_all_that_it_started() -> None:
    program = (
        "import subprocess, sys, time\n"
        "started = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        "print('begun', started.pid, flush=True); time.sleep(60)\n"
    )
    with Workspace({"a.py": program}, commands=[["python", "a.py"]], seconds=4.0) as workspace:
        with within(20):
            ran = workspace.run("python a.py")
        assert ran.code is None
        assert "took too long" in str(ran)
        words, process = ran.output.split()
        assert words == "begun"
        assert eventually(lambda: not is_alive(int(process)))


@pytest.mark.parametrize(
    "timeout", [-1, 0, -0.5, 301, 10**400, math.inf, math.nan, True, "30", [30], {"a": 1}], ids=repr
)
def test_a_timeout_that_is_none_is_refused_in_a_sentence(timeout: Any) -> None:
    with Workspace(commands=[["true"]]) as workspace:
        with pytest.raises(WorkspaceError, match=r"the timeout is .*; wanted seconds, above 0 and"):
            workspace_tools(workspace)["bash"]("true", timeout=timeout)
        for fine in (None, 1, 0.9, 300):
            ran = workspace_tools(workspace)["bash"]("true", timeout=fine)
            assert "Exit Code: 0" in ran


@pytest.mark.parametrize("seconds", [-1, 0, math.nan, "30", True])
def test_a_workspace_gives_commands_a_time_above_0(seconds: Any) -> None:
    with pytest.raises(UsageError, match="seconds is "):
        Workspace(seconds=seconds)
    allowed = Workspace(commands=[["true"]])
    with allowed as workspace, pytest.raises(UsageError, match="seconds is "):
        workspace.run("true", seconds=seconds)


def test_a_command_s_output_is_cut_and_its_environment_is_bare(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    program = "import os\nprint(sorted(os.environ))\nprint('x' * 10_000_000)\n"
    with Workspace(
        {"a.py": program}, commands=[["python", "a.py"]], output_bytes=1000
    ) as workspace:
        ran = workspace.run("python a.py")
    assert ran.code == 0
    assert ran.cut
    assert len(ran.output) <= 1000
    assert "OPENAI_API_KEY" not in ran.output


def test_a_program_that_is_not_there_is_named() -> None:
    with (
        Workspace(commands=[["no-such-program"]]) as workspace,
        pytest.raises(WorkspaceError, match="no program 'no-such-program'"),
    ):
        workspace.run("no-such-program")


def test_files_that_lead_out_are_refused_and_nothing_is_left() -> None:
    with pytest.raises(WorkspaceError, match="leads out"):
        Workspace({"a": "x", "../b": "y"})
    with pytest.raises(UsageError, match="files is"):
        Workspace(["a.txt"])  # type: ignore[arg-type] # what a caller may get wrong


@pytest.mark.parametrize("content", [3, None, ("x",), ["x"], {"text": "x"}])
def test_a_file_that_is_neither_text_nor_bytes_is_refused(content: Any) -> None:
    with pytest.raises(UsageError, match=r"the file 'a' is .*; wanted its text, or bytes"):
        Workspace({"a": content})
    with pytest.raises(UsageError, match="the file 'a' contains a lone surrogate"):
        Workspace({"a": "\ud800"})


def test_the_interpreter_is_ours() -> None:
    with Workspace(commands=[["python", "-c", "import sys; print(sys.executable)"]]) as workspace:
        ran = workspace.run(("python", "-c", "import sys; print(sys.executable)"))
    assert ran.output == sys.executable
