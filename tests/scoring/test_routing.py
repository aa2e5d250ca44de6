"""A tool that was wrapped once reports to whichever session it runs for, and to no other."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import logging
import weakref
from concurrent.futures import ThreadPoolExecutor

import pytest

import tunaeval
from tests.scoring.sessions import QUERY, Tool, in_a_thread, messages, paths, read_file, task
from tunaeval import ToolCall
from tunaeval.tools.executor import execute
from tunaeval.tools.wrapper import is_recorded


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [one.getMessage() for one in caplog.records if one.levelno == logging.WARNING]


def test_a_host_that_builds_its_agent_once_is_recorded_in_every_session() -> None:
    built: list[Tool] = []
    for number in range(3):
        with task() as session:
            built = built or [session.wrap(read_file)]
            built[0](f"{number}.py")
            assert paths(session) == [f"{number}.py"]
        assert session.score is not None


def test_tasks_at_once_share_a_tool_that_one_of_them_wrapped() -> None:
    built: list[Tool] = []

    async def run(number: int) -> list[object]:
        async with task() as session:
            if not built:
                built.append(session.wrap(read_file))
            for _ in range(3):
                await asyncio.sleep(0)
                await asyncio.to_thread(built[0], f"{number}.py")
            return paths(session)

    async def runs() -> list[list[object]]:
        return await asyncio.gather(*map(run, range(8)))

    assert asyncio.run(runs()) == [[f"{number}.py"] * 3 for number in range(8)]


def test_threads_at_once_share_a_tool_that_one_of_them_wrapped() -> None:
    with task() as first:
        tool = first.wrap(read_file)

    def run(number: int) -> list[object]:
        with task() as session:
            for _ in range(100):
                tool(f"{number}.py")
            return paths(session)

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(run, range(8))) == [[f"{number}.py"] * 100 for number in range(8)]


def test_a_plain_thread_reports_to_the_open_session_that_wrapped_the_tool_last() -> None:
    with task("one") as one, task("two") as two:
        tool = one.wrap(read_file)
        in_a_thread(lambda: tool("of one"))
        assert two.wrap(tool) is tool
        in_a_thread(lambda: tool("of two"))
        assert one.wrap(tool) is tool
        in_a_thread(lambda: tool("of one again"))
        assert paths(two) == ["of two"]
        assert paths(one) == ["of one", "of two", "of one again"]


def test_a_session_that_ended_collects_nothing_and_says_so_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    session = task("the first task")
    with session:
        tool = session.wrap(read_file)
    for _ in range(3):
        assert tool("late.py") == "contents of late.py"
        in_a_thread(lambda: tool("late.py"))
    assert session.executions == ()
    (warning,) = warnings(caplog)
    assert "'read_file' ran for the session 'the first task', which has ended" in warning
    with session:
        tool("in time.py")
        in_a_thread(lambda: tool("in time, too.py"))
        assert paths(session) == ["in time.py", "in time, too.py"]
    tool("late.py")
    assert len(warnings(caplog)) == 2


def test_a_recorder_of_a_session_that_ended_is_none_any_more(
    caplog: pytest.LogCaptureFixture,
) -> None:
    session = task("the first task")
    tool = tunaeval.wrap_tool(read_file, session.recorder)
    tool("early.py")
    with session:
        tool("in time.py")
        assert paths(session) == ["in time.py"]
    assert ["which has not begun" in one for one in warnings(caplog)] == [True]
    tool("late.py")
    tool("late.py")
    assert len(session.recorder) == 0
    assert len(warnings(caplog)) == 2


def test_before_its_block_begins_a_session_collects_nothing_and_says_so_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    session = task()
    tool = session.wrap(read_file)
    tool("early.py")
    tool("early.py")
    with session:
        assert paths(session) == []
        tool("in time.py")
        assert paths(session) == ["in time.py"]
    (warning,) = warnings(caplog)
    assert "the tool 'read_file' ran for the session" in warning
    assert "which has not begun: write `with session:` around it" in warning


def test_whoever_hears_a_plain_thread_is_said_once_where_others_might_have(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with task("outer") as outer, task("inner") as inner:
        tool = inner.wrap(outer.wrap(read_file))
        in_a_thread(lambda: tool("a.py"))
    assert warnings(caplog) == []  # both have heard it

    async def main() -> None:
        begun, done = asyncio.Event(), asyncio.Event()

        async def other() -> None:
            async with task("two") as two:
                two.wrap(tool)
                begun.set()
                await done.wait()

        async with task("one") as one:
            one.wrap(tool)
        running = asyncio.create_task(other(), context=contextvars.Context())
        await begun.wait()
        async with task("three") as three:
            three.wrap(tool)
            for _ in range(2):
                in_a_thread(lambda: tool("a.py"))
            assert paths(three) == ["a.py", "a.py"]
        done.set()
        await running

    asyncio.run(main())
    (warning,) = warnings(caplog)
    assert "ran where no session's context is, as in a thread of a pool, while 2" in warning
    assert "it counts for 'three', which wrapped it last" in warning


def test_what_goes_on_after_a_session_is_not_the_next_ones(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def main() -> list[object]:
        go_on = asyncio.Event()

        async def background(tool: Tool) -> None:
            await go_on.wait()
            tool("late.py")

        async with task("one") as one:
            tool = one.wrap(read_file)
            late = asyncio.create_task(background(tool))
            await asyncio.sleep(0)
        async with task("two") as two:
            two.wrap(tool)("its own.py")
            go_on.set()
            await late
            return paths(two)

    assert asyncio.run(main()) == ["its own.py"]
    assert ["'one', which has ended" in warning for warning in warnings(caplog)] == [True]


def test_what_goes_on_after_an_inner_session_is_still_the_outer_ones() -> None:
    async def main() -> list[object]:
        go_on = asyncio.Event()

        async def background(tool: Tool) -> None:
            await go_on.wait()
            tool("late.py")

        async with task("outer") as outer:
            async with task("inner") as inner:
                late = asyncio.create_task(background(inner.wrap(read_file)))
                await asyncio.sleep(0)
            go_on.set()
            await late
            return paths(outer)

    assert asyncio.run(main()) == ["late.py"]


def test_sessions_may_end_in_any_order() -> None:
    one, two = task("one"), task("two")
    one.__enter__()
    tool = one.wrap(read_file)
    two.__enter__()
    one.__exit__(None, None, None)
    tool("two's.py")
    assert paths(two) == ["two's.py"]
    two.__exit__(None, None, None)
    with task("three") as three:
        tool("three's.py")
        assert paths(three) == ["three's.py"]


def test_a_session_inside_of_itself_hears_once() -> None:
    session = task()
    with session:
        tool = session.wrap(read_file)
        with session:
            tool("a.py")
            assert paths(session) == ["a.py"]


def test_a_block_that_ends_elsewhere_leaves_nothing_open_behind() -> None:
    context = contextvars.copy_context()
    one = task("one")
    context.run(one.__enter__)
    tool = one.wrap(read_file)
    one.__exit__(None, None, None)
    with task("two") as two:
        context.run(tool, "late.py")
        tool("two's.py")
        assert paths(two) == ["two's.py"]

    def later() -> list[object]:
        with task("three") as three:
            tool("three's.py")
            assert not three._inbox.around, "what ended is kept"
            return paths(three)

    assert context.run(later) == ["three's.py"]


@pytest.mark.parametrize("entered", [False, True])
def test_a_tool_keeps_no_session_alive(entered: bool) -> None:
    def wrapped() -> tuple[Tool, weakref.ref[tunaeval.ScoringSession]]:
        session = task()
        tool = session.wrap(read_file)
        if entered:
            with session:
                tool("a.py")
        return tool, weakref.ref(session)

    tool, session = wrapped()
    gc.collect()
    assert session() is None
    tool("late.py")


def test_a_session_that_was_never_ended_takes_nothing_once_it_is_forgotten() -> None:
    def forgotten(tool: Tool) -> None:
        session = task("forgotten")
        in_a_thread(session.__enter__)
        session.wrap(tool)

    with task() as session:
        tool = session.wrap(read_file)
        forgotten(tool)
        gc.collect()
        in_a_thread(lambda: tool("a.py"))
        assert paths(session) == ["a.py"]


def test_of_nested_tools_the_outer_one_answers_the_call() -> None:
    with task() as session:
        inner = session.wrap(read_file)

        def read_all(filepath: str) -> str:
            return inner(filepath)

        outer = session.wrap(read_all)
        with tunaeval.call_id("c1"):
            outer("a.py")
        found = {run.tool: run.call_id for run in session.executions}
    assert found == {"read_all": "c1", "read_file": None}


def test_a_recorder_of_ones_own_hears_as_ever_and_is_told_nothing_twice() -> None:
    recorder = tunaeval.Recorder()
    tool = tunaeval.wrap_tool(read_file, recorder)
    with task("outer") as outer:
        both = outer.wrap(tool)
        with tunaeval.scoring_session(QUERY, recorder=recorder, messages=messages()) as session:
            assert session.wrap(tool) is tool
            assert session.wrap(both) is both
            both("a.py")
            tool("b.py")
            assert paths(session) == ["a.py", "b.py"]
            assert paths(outer) == ["a.py"]
    tool("after.py")
    assert len(recorder) == 1


def test_what_a_session_records_already_is_recorded_once() -> None:
    with task() as session:
        direct = tunaeval.wrap_tool(read_file, session.recorder)
        assert session.wrap(direct) is direct
        routed = session.wrap(read_file)
        assert is_recorded(routed, session.recorder)
        assert tunaeval.wrap_tool(routed, session.recorder) is routed
        calls = [ToolCall("read_file", {"filepath": "a.py"}, "c1")]
        asyncio.run(execute(calls, {"read_file": routed}, recorder=session.recorder))
        direct("b.py")
        assert paths(session) == ["a.py", "b.py"]
