"""Sessions side by side, inside of each other, stopped half-way, and with a judge to wait for."""

from __future__ import annotations

import asyncio
import contextvars
import subprocess
import sys
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from threading import Barrier

import pytest

import tunaeval
from tests.scoring.sessions import QUERY, VERDICT, messages, read_file
from tunaeval.clients.scripted import ScriptedClient
from tunaeval.files import records
from tunaeval.types.exchange import Reply, Request

MANY = 8


class Slow:
    """A judge that never comes to an end."""

    name = "slow"

    def __init__(self) -> None:
        self.asked = asyncio.Event()

    async def complete(self, request: Request) -> Reply:
        del request
        self.asked.set()
        await asyncio.Event().wait()
        raise AssertionError

    async def close(self) -> None:
        """Nothing is open."""


def paths(session: tunaeval.ScoringSession) -> set[object]:
    return {run.arguments["filepath"] for run in session.executions if run.arguments}


def test_an_outer_session_hears_of_an_inner_one() -> None:
    with tunaeval.scoring_session("outer", messages=messages(), start=0) as outer:
        tool = outer.wrap(read_file)
        with tunaeval.scoring_session("inner", messages=messages(), start=0) as inner:
            inner.wrap(tool)("b.py")
            assert paths(inner) == {"b.py"}
        tool("a.py")
        assert paths(outer) == {"a.py", "b.py"}
    assert inner.score is not None
    assert outer.score is not None


def test_sessions_in_threads_keep_to_themselves() -> None:
    together = Barrier(MANY)

    def run(number: int) -> set[object]:
        with tunaeval.scoring_session(QUERY) as session:
            tool = session.wrap(read_file)
            together.wait(60)
            for _ in range(100):
                tool(f"{number}.py")
            session.messages = messages()
            return paths(session)

    with ThreadPoolExecutor(MANY) as pool:
        assert list(pool.map(run, range(MANY))) == [{f"{number}.py"} for number in range(MANY)]


def test_tools_that_were_wrapped_once_serve_sessions_at_the_same_time() -> None:
    recorder = tunaeval.ContextRecorder()
    tool = tunaeval.wrap_tool(read_file, recorder)

    async def run(number: int) -> set[object]:
        async with tunaeval.scoring_session(QUERY, recorder=recorder) as session:
            assert session.wrap(tool) is tool
            for _ in range(3):
                tool(f"{number}.py")
                await asyncio.sleep(0)
            session.messages = messages()
            return paths(session)

    async def runs() -> list[set[object]]:
        return await asyncio.gather(*map(run, range(MANY)))

    assert asyncio.run(runs()) == [{f"{number}.py"} for number in range(MANY)]
    tool("outside.py")
    assert len(recorder) == 1


def test_a_block_may_end_in_another_context_than_it_began_in() -> None:
    session = tunaeval.scoring_session(QUERY, recorder=tunaeval.ContextRecorder())
    session.messages = messages()
    contextvars.copy_context().run(session.__enter__)
    session.__exit__(None, None, None)
    assert session.score is not None


@pytest.mark.parametrize("moment", ["in the block", "while it is judged"])
def test_a_cancelled_task_ends_so_and_is_scored_without_the_judge(
    moment: str, tmp_path: Path
) -> None:
    out = tmp_path / "scores.jsonl"

    async def main() -> None:
        judge, working = Slow(), asyncio.Event()
        session = tunaeval.scoring_session(QUERY, judge=judge, out=out)

        async def agent() -> None:
            async with session:
                session.messages = iter(messages())
                working.set()
                await asyncio.sleep(0 if moment == "while it is judged" else 3600)

        task = asyncio.create_task(agent())
        await (judge.asked if moment == "while it is judged" else working).wait()
        task.cancel("enough")
        with pytest.raises(asyncio.CancelledError, match="enough"):
            await task
        assert task.cancelled()
        assert judge.asked.is_set() == (moment == "while it is judged")
        scored = tunaeval.score(messages(), QUERY)
        if moment == "in the block":
            scored = tunaeval.score(ended("CancelledError: enough"), QUERY)
            assert scored.details.outcome == "run_failure"
        assert session.score == scored
        assert (session.failure is None) == (moment == "while it is judged")

    asyncio.run(main())
    (record,) = records.read(out)
    assert record["ended_by"] == "CancelledError: enough"


def test_a_timeout_around_a_session_is_a_timeout() -> None:
    async def main() -> tunaeval.ScoringSession:
        session = tunaeval.scoring_session(QUERY, judge=Slow())
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05), session:
                session.messages = messages()
        return session

    assert asyncio.run(main()).score == tunaeval.score(messages(), QUERY)


def test_a_generator_that_is_closed_in_a_session_closes() -> None:
    session = tunaeval.scoring_session(QUERY, judge=ScriptedClient([VERDICT] * 2))

    @asynccontextmanager
    async def task() -> AsyncIterator[None]:
        async with session:
            session.messages = messages()
            yield

    async def main() -> None:
        generator = task().gen  # what a host has that never gets to the end of its `async with`
        await anext(generator)
        await generator.aclose()

    asyncio.run(main())
    assert session.score == tunaeval.score(ended("GeneratorExit: "), QUERY)


def ended(error: str) -> tunaeval.Conversation:
    """The messages of a run that ended in an error."""
    return replace(tunaeval.read_conversation(messages()), failure=error)


def test_a_judge_is_asked_with_and_without_a_loop() -> None:
    async def agent(session: tunaeval.ScoringSession) -> None:
        async with session:
            session.messages = messages()

    one, two = (
        tunaeval.scoring_session(QUERY, judge=ScriptedClient([VERDICT] * 2)) for _ in range(2)
    )
    with one:
        one.messages = messages()
    asyncio.run(agent(two))
    for session in (one, two):
        assert session.score is not None, session.failure
        assert session.score.goal_completion == 0.9
        assert "I have looked." in session.score.categories["goal-completion"].reason


def test_a_judge_that_cannot_be_waited_for_is_a_failure_with_advice() -> None:
    async def agent(session: tunaeval.ScoringSession) -> None:
        with session:
            session.messages = messages()

    session = tunaeval.scoring_session(QUERY, judge=ScriptedClient([VERDICT] * 2))
    asyncio.run(agent(session))
    assert session.score is None
    assert "async with" in (session.failure or "")


WRITER = """\
import sys, threading, tunaeval
from tests.scoring.sessions import messages
def work(number):
    for task in range(int(sys.argv[3])):
        query = f"{sys.argv[2]}-{number}-{task} " + "x" * 200_000
        with tunaeval.scoring_session(query, out=sys.argv[1]) as session:
            session.messages = messages()
threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""


def test_threads_and_processes_append_to_one_file(tmp_path: Path) -> None:
    out, tasks = tmp_path / "scores.jsonl", 20
    out.write_bytes(b'{"query": "to')
    command = [sys.executable, "-W", "error", "-c", WRITER, str(out)]
    writers = [
        subprocess.Popen(
            [*command, name, str(tasks)], cwd=Path(__file__).parents[2], stderr=subprocess.PIPE
        )
        for name in "abc"
    ]
    said = b"".join(writer.communicate(timeout=120)[1] for writer in writers).splitlines()
    assert [b"removed 13 bytes" in line for line in said] == [True]  # by the first of them
    wanted = {
        f"{name}-{thread}-{task}" for name in "abc" for thread in range(3) for task in range(tasks)
    }
    found = [record["query"].split()[0] for record in records.read(out)]
    assert len(found) == len(wanted)
    assert set(found) == wanted
