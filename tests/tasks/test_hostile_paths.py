"""Nothing outside of a workspace is read or written, whatever a model calls its paths, tools and
ids.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tunaeval.tasks.space import Snapshot, Workspace
from tunaeval.tasks.toolbox import workspace_tools
from tunaeval.tools.executor import Backoff, Executor
from tunaeval.types.calls import ToolCall

HIDDEN = "a-text-that-nobody-reads"


class Scene(NamedTuple):
    """A workspace with traps in it, beside a directory that holds a secret."""

    outside: Path
    workspace: Workspace

    def seen(self) -> dict[str, tuple[int, bytes]]:
        """All that is outside, with the time and bytes of each."""
        files = (path for path in sorted(self.outside.rglob("*")) if path.is_file())
        return {str(path): (path.stat().st_mtime_ns, path.read_bytes()) for path in files}


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.txt").write_text(HIDDEN)  # of one name, so that nothing but links guards it
    (outside / "twin.txt").write_text(HIDDEN)
    commands = [["cat", "{path}"], ["ls"]]
    with Workspace({"a.txt": "inside\n", "src/b.txt": "b\n"}, commands=commands) as workspace:
        root = workspace.path
        (root / "link.txt").symlink_to(outside / "secret.txt")
        (root / "linked").symlink_to(outside)
        (root / "round").symlink_to("round")
        (root / "up").symlink_to("..")
        os.link(outside / "twin.txt", root / "hard.txt")
        os.mkfifo(root / "pipe")
        (root / "dangling").symlink_to(outside / "new.txt")
        yield Scene(outside, workspace)


OUT = "OUTSIDE"
"""Stands for the path of the directory outside."""

READS: list[str] = [
    "../outside/secret.txt",
    "src/../../outside/secret.txt",
    "./src/../.././outside/secret.txt",
    "/etc/passwd",
    "//etc/passwd",
    "~/.bashrc",
    "~root/.bashrc",
    f"{OUT}/secret.txt",
    "link.txt",
    "linked/secret.txt",
    "up/outside/secret.txt",
    "linked/../outside/secret.txt",
    "round",
    "round/x",
    "hard.txt",
    "pipe",
    "a.txt\0.png",
    "\0",
    "",
    ".",
    "/",
    "..",
    "../" * 60 + "etc/passwd",
    "x" * 300,
    "d/" * 100 + "x",
    "\ud800",
    "/proc/self/environ",
    "/dev/zero",
]
WRITES: list[str] = [
    "../new.txt",
    "src/../../new.txt",
    f"{OUT}/new.txt",
    f"{OUT}/secret.txt",
    "linked/new.txt",
    "up/new.txt",
    "dangling",
    "link.txt",
    "hard.txt",
    "linked/../../outside/secret.txt",
    "x" * 300,
    "a\0b",
    "/",
]
COMMANDS: list[str] = [
    "cat ../outside/secret.txt",
    "cat link.txt",
    "cat hard.txt",
    "cat linked/secret.txt",
    f"cat {OUT}/secret.txt",
    "cat a.txt; cat /etc/passwd",
    "cat a.txt && touch ../new.txt",
    "cat $(echo /etc/passwd)",
    "cat a.txt > ../new.txt",
    "cat -A",
    "cat 'unclosed",
    "ls ..",
    "sh -c ls",
    "\0",
]
OTHERS: list[ToolCall] = [
    ToolCall("../../outside/secret.txt", {}),
    ToolCall("__class__", {}),
    ToolCall("read_file\0", {"filepath": "a.txt"}),
    ToolCall("read_file; cat /etc/passwd", {}),
    ToolCall("", {}),
    ToolCall("read_file", {"filepath": "link.txt"}, id="../../outside/new.txt"),
    ToolCall("read_file", {"filepath": "link.txt"}, id="\0" * 9),
    ToolCall("glob", {"pattern": "../*"}),
    ToolCall("glob", {"pattern": "*", "directory": ".."}),
    ToolCall("glob", {"pattern": "**/" * 90 + "*secret*"}),
    ToolCall("grep", {"pattern": HIDDEN}),
    ToolCall("grep", {"pattern": "(a+)+$", "use_regex": True, "path": "link.txt"}),
    ToolCall("grep", {"pattern": HIDDEN, "directory": "linked"}),
    ToolCall("list_dir", {"directory": "linked"}),
    ToolCall("list_dir", {"directory": "../outside"}),
    ToolCall("update_file", {"filepath": "hard.txt", "target": "the", "patch": "a"}),
    ToolCall("update_file", {"filepath": "link.txt", "target": "the", "patch": "a"}),
    ToolCall("web_fetch", {"url": "file:///etc/passwd"}),
    ToolCall("bash", {"command": "ls", "cwd": "linked"}),
    ToolCall("bash", {"command": "ls", "env": {"LD_PRELOAD": "x.so"}}),
]


def hostile() -> list[ToolCall]:
    reads = [ToolCall("read_file", {"filepath": path}) for path in READS]
    writes = [ToolCall("write_file", {"filepath": path, "content": "x"}) for path in WRITES]
    return [*reads, *writes, *(ToolCall("bash", {"command": one}) for one in COMMANDS), *OTHERS]


PAYLOADS = hostile()


def meant(value: Any, outside: Path) -> Any:
    if isinstance(value, str):
        return value.replace(OUT, str(outside))
    return (
        {key: meant(one, outside) for key, one in value.items()}
        if isinstance(value, dict)
        else value
    )


def run(scene: Scene, call: ToolCall) -> Any:
    tools = workspace_tools(scene.workspace)
    executor = Executor(tools, backoff=Backoff(max_attempts=1))
    made = ToolCall(call.name, meant(call.arguments, scene.outside), call.id)
    (result,) = asyncio.run(executor.execute([made]))
    return result


def test_there_are_forty_payloads_and_more() -> None:
    assert len(PAYLOADS) >= 40


@pytest.mark.parametrize(
    "call", PAYLOADS, ids=lambda call: ascii(f"{call.name} {call.arguments}")[:60]
)
def test_nothing_outside_is_read_or_written(scene: Scene, call: ToolCall) -> None:
    before = scene.seen()
    result = run(scene, call)
    said = repr((result.value, result.error))
    assert HIDDEN not in said.replace(repr(call.arguments.get("pattern")), "")
    assert "root:" not in said
    assert "secret.txt" not in str(result.value)
    assert scene.seen() == before
    (inside := scene.workspace.path / "hard.txt").stat()
    assert inside.read_text() in {HIDDEN, "x"}


@pytest.mark.parametrize(
    "call", PAYLOADS, ids=lambda call: ascii(f"{call.name} {call.arguments}")[:60]
)
def test_a_refusal_says_why_and_breaks_nothing(scene: Scene, call: ToolCall) -> None:
    result = run(scene, call)
    assert result.ok or result.error or "No " in str(result.value)
    after = run(scene, ToolCall("read_file", {"filepath": "a.txt"}))
    assert after.value == "inside\n"


def test_a_write_takes_the_place_of_a_hard_link_and_leaves_the_other_name(scene: Scene) -> None:
    scene.workspace.confined.write("hard.txt", b"x")
    assert (scene.outside / "twin.txt").read_text() == HIDDEN
    assert (scene.workspace.path / "hard.txt").read_text() == "x"


def test_a_snapshot_follows_no_link(scene: Scene) -> None:
    found: Snapshot = scene.workspace.snapshot()
    assert {found.entries[name].kind for name in ("link.txt", "linked", "up", "round")} == {"link"}
    assert found.entries["pipe"].kind == "other"
    assert not any("secret" in path for path in found.entries)


def test_closing_removes_links_and_not_what_they_lead_to(scene: Scene) -> None:
    scene.workspace.close()
    assert not scene.workspace.path.exists()
    assert (scene.outside / "secret.txt").read_text() == HIDDEN
