"""A check of what an agent left behind: its yes and no, and each way in which it fails itself."""

from __future__ import annotations

import asyncio
import contextvars
import json
import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tunaeval
from tests.faults.runs import eventually, within
from tests.scoring.transcripts import FINE, batches
from tunaeval.errors import UsageError
from tunaeval.scoring.checks import Checking
from tunaeval.types.conversations import Checked, Conversation
from tunaeval.types.runs import ScoreResult

MESSAGES = batches([("read", FINE)])
CONVERSATION = tunaeval.read_conversation(MESSAGES)
POSIX = pytest.mark.skipif(sys.platform == "win32", reason="a POSIX shell's commands")


def made(check: Any, seconds: float = 20.0) -> Checked:
    """What a check comes to; the same for code that waits and for code that awaits."""
    checking = Checking(check, seconds)
    found = checking.made(CONVERSATION, "do it")
    later = asyncio.run(checking.made_later(CONVERSATION, "do it"))
    assert found.ok == later.ok
    return found


def scored(check: Any, **more: Any) -> ScoreResult:
    return tunaeval.score(MESSAGES, "do it", check=check, **more)


async def later(conversation: Conversation) -> bool:
    await asyncio.sleep(0)
    return len(conversation.messages) == 3


def boom(_: Conversation) -> bool:
    raise ValueError("no such file")


@POSIX
@pytest.mark.parametrize("code", [0, 1])
def test_what_a_command_leaves_running_ends_with_it(tmp_path: Path, code: int) -> None:
    file = tmp_path / "pid"
    assert made(f"sleep 60 & echo $! > {file}; exit {code}").ok == (code == 0)
    left, until = int(file.read_text()), time.monotonic() + 30
    while time.monotonic() < until and is_running(left):
        time.sleep(0.02)
    assert not is_running(left)


def is_running(number: int) -> bool:
    stat = Path(f"/proc/{number}/stat")
    try:
        return stat.read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize("seconds", [float("inf"), 1e300, 10**20])
def test_a_check_may_take_as_long_as_it_wants(seconds: float) -> None:
    assert made("true", seconds).ok
    assert made(later, seconds).ok


@pytest.mark.parametrize(
    ("check", "found"),
    [
        (lambda _: True, Checked(True, "")),
        (lambda _: (False, "calc.py is gone"), Checked(False, "calc.py is gone")),
        (lambda _: (True, ""), Checked(True, "")),
        (later, Checked(True, "")),
        (boom, Checked(None, "it raised ValueError: no such file")),
        (lambda _: None, Checked(None, "it returned None, wanted True, False or (bool, reason)")),
        (lambda _: 1, Checked(None, "it returned 1, wanted True, False or (bool, reason)")),
        (lambda _: sys.exit(3), Checked(None, "it raised SystemExit: 3")),
        (lambda _one, _other: True, None),
    ],
)
def test_a_callable_says_yes_or_no_or_has_failed_itself(check: Any, found: Checked | None) -> None:
    said = made(check)
    if found is None:
        assert said.ok is None
        assert said.words.startswith("it raised TypeError: ")
    else:
        assert said == found


@POSIX
@pytest.mark.parametrize(
    ("check", "ok", "words"),
    [
        ("true", True, "'true' exits with 0"),
        (["sh", "-c", "exit 3"], False, "'sh -c exit 3' exits with 3"),
        ("echo one; echo two; false", False, "it printed: 'two'"),
        ("no-such-command-at-all", None, "the command 'no-such-command-at-all' was not found"),
        (["./no-such-file"], None, "cannot run: No such file or directory"),
        ("kill -9 $$", None, "was ended by signal 9"),
        ("printf '\\377\\n'; false", False, "it printed: '\ufffd'"),
    ],
)
def test_a_command_says_it_with_its_exit_code(check: Any, ok: bool | None, words: str) -> None:
    found = made(check)
    assert found.ok is ok
    assert words in found.words


@POSIX
def test_a_file_that_is_not_executable_is_no_verdict(tmp_path: Path) -> None:
    file = tmp_path / "check.sh"
    file.write_text("exit 0\n")
    file.chmod(0o644)
    assert "is not executable" in made(str(file)).words
    assert "cannot run: Permission denied" in made([str(file)]).words
    assert scored(str(file)).details.outcome == "check_failure"


@POSIX
def test_megabytes_that_a_command_prints_are_not_kept() -> None:
    found = made("yes 0123456789 | head -c 20000000; echo; echo done; exit 1", 60.0)
    assert (found.ok, found.words.endswith("it printed: 'done'")) == (False, True)
    assert len(found.words) < 500


@POSIX
def test_a_command_reads_the_transcript_on_its_standard_input(tmp_path: Path) -> None:
    told = tmp_path / "told.json"
    assert made(f"cat > {told}").ok
    given = json.loads(told.read_text())
    assert given["query"] == "do it"
    assert [message["role"] for message in given["messages"]] == ["user", "assistant", "tool"]
    assert given["messages"][1]["tool_calls"][0]["name"] == "read"


@POSIX
def test_a_command_that_hangs_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    with within(30):
        command = f"echo waiting; sleep 60 & echo $! > {pids}; wait"
        found = Checking(command, 3.0).made(CONVERSATION, "")
    assert found == Checked(None, "it took over 3 s and was ended; it printed: 'waiting'")
    child = int(pids.read_text())
    assert eventually(lambda: not is_alive(child))


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        return not Path("/proc").exists()
    return state != "Z"


@pytest.mark.parametrize("kind", ["callable", "coroutine"])
def test_a_check_that_hangs_is_given_up(kind: str) -> None:
    go_on = threading.Event()

    async def hangs_later(_: Conversation) -> bool:
        await asyncio.sleep(60)
        return True

    def hangs(_: Conversation) -> bool:
        go_on.wait(60)
        return True

    check: Callable[..., Any] = hangs if kind == "callable" else hangs_later
    result = asyncio.run(tunaeval.ascore(MESSAGES, "do it", check=check, check_timeout=0.2))
    assert (result.weighted_total, result.details.outcome) == (None, "check_failure")
    assert "the check failed: it took over 0.2 s" in result.details.reasoning
    if kind == "callable":
        result = scored(check, check_timeout=0.2)
        assert "it runs on in a thread of its own" in result.details.reasoning
    go_on.set()


def test_a_check_that_fails_itself_leaves_no_total_and_the_others_their_verdicts() -> None:
    result = scored(boom)
    assert (result.weighted_total, result.goal_completion) == (None, None)
    assert result.details.outcome == "check_failure"
    goal = result.categories["goal-completion"]
    assert goal.failure == "it raised ValueError: no such file"
    assert result.success_ratio == 1.0
    assert scored(boom, preset="none").details.outcome == "check_failure"


def test_a_check_runs_in_the_context_of_its_caller() -> None:
    variable = contextvars.ContextVar("variable", default="none")
    variable.set("mine")
    assert scored(lambda _: (variable.get() == "mine", "?")).goal_completion == 1.0


def test_a_coroutine_function_wants_an_awaiting_caller_inside_a_loop() -> None:
    async def inside() -> None:
        with pytest.raises(UsageError, match=r"cannot wait for the check .* await tunaeval.ascore"):
            scored(later)
        assert scored(lambda _: True).goal_completion == 1.0
        assert (await tunaeval.ascore(MESSAGES, "do it", check=later)).goal_completion == 1.0

    asyncio.run(inside())
    assert scored(later).goal_completion == 1.0


@POSIX
def test_a_cancelled_caller_takes_its_command_along(tmp_path: Path) -> None:
    pids = tmp_path / "pids"

    async def main() -> None:
        work = asyncio.create_task(
            tunaeval.ascore(MESSAGES, "do it", check=f"echo $$ > {pids}; exec sleep 60")
        )
        while not (pids.exists() and pids.read_text().strip()):  # noqa: ASYNC110 - a process says it
            await asyncio.sleep(0.01)
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work

    asyncio.run(main())
    child = int(pids.read_text())
    assert eventually(lambda: not is_alive(child))


@pytest.mark.parametrize("milliseconds", [0, 1, 2, 3, 5, 8])
def test_a_caller_that_is_cancelled_while_the_command_starts_leaves_none_behind(
    tmp_path: Path, milliseconds: int
) -> None:
    pids = tmp_path / "pids"

    async def main() -> None:
        check = f"echo $$ > {pids}; exec sleep 60"
        before = threading.active_count()
        work = asyncio.create_task(tunaeval.ascore(MESSAGES, "do it", check=check))
        while threading.active_count() == before:  # noqa: ASYNC110 - nothing tells of a thread
            await asyncio.sleep(0)
        await asyncio.sleep(milliseconds / 1000)
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work

    asyncio.run(main())
    time.sleep(0.5)  # one that is left behind would say so about now
    pid = pids.read_text().strip() if pids.exists() else ""
    assert not pid or eventually(lambda: not is_alive(int(pid)))


@pytest.mark.parametrize("check", [42, "", "  ", [], [1], bool, b"true"])
def test_what_is_no_check_is_refused(check: Any) -> None:
    with pytest.raises(UsageError, match=r"check is .*; wanted a callable that is given the conv"):
        scored(check)


@pytest.mark.parametrize("seconds", [0, -1, "60", True, float("nan")])
def test_a_time_that_is_none_is_refused(seconds: Any) -> None:
    with pytest.raises(UsageError, match=r"check_timeout is .*; wanted seconds above 0"):
        scored(lambda _: True, check_timeout=seconds)


def test_a_check_is_not_made_where_nothing_hangs_on_it() -> None:
    """An idle agent is worth nothing, and so is one that called what is forbidden."""
    made_: list[object] = []

    def look(conversation: Conversation) -> bool:
        made_.append(conversation)
        return True

    tunaeval.score([], "do it", check=look)
    tunaeval.score(MESSAGES, "do it", check=look, forbid=["read"])
    assert not made_
