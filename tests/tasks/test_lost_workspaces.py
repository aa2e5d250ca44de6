"""What an agent does to its own directory is its doing: failed checks, and no failure of ours."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tunaeval
from tests.runs.tasks import CALC, EIGHT, TASK, suite_of
from tunaeval.errors import WorkspaceError
from tunaeval.tasks.named import checks
from tunaeval.types.runs import ScenarioResult

GOOD = CALC.replace("-", "+")


def removed(folder: Path, _other: Path) -> None:
    shutil.rmtree(folder)


def a_file(folder: Path, _other: Path) -> None:
    shutil.rmtree(folder)
    folder.write_text("gone")


def a_link(folder: Path, other: Path) -> None:
    shutil.rmtree(folder)
    folder.symlink_to(other)


def closed(folder: Path, _other: Path) -> None:
    folder.chmod(0)


def elsewhere(tmp_path: Path) -> Path:
    """A directory in which every check would hold."""
    other = tmp_path / "other"
    (other / "tests").mkdir(parents=True)
    (other / "calc.py").write_text(GOOD)
    (other / "tests" / "t.py").write_text("from calc import add\nassert add(2, 3) == 5\n")
    return other


ALL: dict[str, Any] = {
    **TASK,
    "checks": [
        *TASK["checks"],
        {"absent": "*.bak"},
        {"command": ["python", "-m", "tests.t"]},
        {"command": ["python", "-c", "open('ran', 'w')"]},
        {"python": "reads-calc"},
    ],
}


def reads_calc(state: tunaeval.FinalState) -> bool:
    assert state.workspace is not None
    return "a + b" in state.workspace["calc.py"].text


def result_of(tmp_path: Path, work: Callable[[Path], object]) -> ScenarioResult:
    if "reads-calc" not in checks.names():
        checks.add("reads-calc", reads_calc)
    agent = tunaeval.AgentClient(lambda _prompt, workspace, _url: str(work(Path(workspace))))
    suite = suite_of(tmp_path, ALL)
    return tunaeval.run(suite, client=agent, out=None).results[0]


@pytest.mark.parametrize(
    ("does", "words"),
    [
        (removed, "the workspace was removed"),
        (a_file, "the workspace was replaced by a file"),
        (a_link, "the workspace was replaced by a link"),
        pytest.param(
            closed,
            "the workspace cannot be",
            marks=pytest.mark.skipif(os.geteuid() == 0, reason="nothing is closed to root"),
        ),
    ],
)
def test_a_workspace_that_its_agent_takes_away_fails_all_that_looks_at_it(
    tmp_path: Path, does: Callable[[Path, Path], None], words: str
) -> None:
    other = elsewhere(tmp_path)
    above = Path(os.environ.get("TMPDIR", "/tmp"))  # noqa: S108 - where workspaces are made
    mode = above.stat().st_mode
    result = result_of(tmp_path, lambda folder: does(folder, other))
    assert result.outcome == "no_call", result.reason
    assert result.task is not None
    assert [one.ok for one in result.task.checks] == [False] * 6
    assert all(words in one.reason for one in result.task.checks)
    assert words in result.reason
    assert result.task.wrong_turn == 1
    assert (other / "calc.py").read_text() == GOOD
    assert not (other / "ran").exists()
    assert above.stat().st_mode == mode


def test_a_directory_made_afresh_in_its_place_is_the_workspace(tmp_path: Path) -> None:
    other = elsewhere(tmp_path)

    def again(folder: Path) -> None:
        shutil.rmtree(folder)
        shutil.copytree(other, folder)

    result = result_of(tmp_path, again)
    assert result.ok, result.reason
    assert result.task is not None
    assert set(result.task.changed) == {"calc.py"}


def test_tools_of_a_workspace_that_is_gone_say_so() -> None:
    with tunaeval.Workspace({"a.txt": "a"}, commands=[["ls"]]) as workspace:
        tools = tunaeval.workspace_tools(workspace)
        assert set(tools) == set(EIGHT)
        shutil.rmtree(workspace.path)
        with pytest.raises(WorkspaceError, match="the workspace was removed"):
            tools["bash"]("ls")
        with pytest.raises(WorkspaceError, match="is not there"):
            tools["read_file"]("a.txt")
        assert workspace.changes().removed == ("a.txt",)


@pytest.mark.parametrize("becomes", ["nothing", "file", "link"])
def test_closing_what_is_gone_touches_nothing_above_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, becomes: str
) -> None:
    above = tmp_path / "above"
    above.mkdir(mode=0o755)
    above.chmod(0o1777)
    monkeypatch.setattr("tempfile.tempdir", str(above))
    other = elsewhere(tmp_path)
    workspace = tunaeval.Workspace({"a.txt": "a"})
    shutil.rmtree(workspace.path)
    if becomes == "file":
        workspace.path.write_text("x")
    if becomes == "link":
        workspace.path.symlink_to(other)
    workspace.close()
    assert list(above.iterdir()) == []
    assert above.stat().st_mode & 0o7777 == 0o1777
    assert (other / "calc.py").exists()
