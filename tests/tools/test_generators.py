"""A wrapped generator is driven as the bare one, and timed only while it runs itself."""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator, Iterator
from typing import Any, TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tools.samples import BrokenError, only
from tunaeval.tools.frameworks import wrap_tool
from tunaeval.tools.recorder import Recorder

Reply: TypeAlias = str
"""What a generator does when it is resumed: yield, return, raise, or let what was thrown pass."""

ERRORS = {error.__name__: error for error in (ValueError, BrokenError, KeyboardInterrupt)}
ERRORS |= {"StopIteration": StopIteration, "StopAsyncIteration": StopAsyncIteration}  # type: ignore[dict-item] # any will do
replies = st.lists(st.sampled_from(["yield", "return", "raise", "pass"]), max_size=6)
acts = st.lists(
    st.sampled_from(["next", "send", "close", *(f"throw {name}" for name in ERRORS)]), max_size=8
)


def steps(script: list[Reply], seen: list[object]) -> Generator[Any, Any, Any]:
    """Does as the script says, one word for each resumption, and notes what it was given."""
    for number, word in enumerate(script):
        try:
            if word == "return":
                return number
            if word == "raise":
                raise BrokenError(number)  # noqa: TRY301 - it is raised where it may be caught
            seen.append((yield number))
        except BaseException as error:
            seen.append(type(error))
            if word == "pass" or isinstance(error, BrokenError | GeneratorExit):
                raise
    return "end"


async def steps_later(script: list[Reply], seen: list[object]) -> AsyncGenerator[Any, Any]:
    for number, word in enumerate(script):
        await asyncio.sleep(0)
        try:
            if word == "return":
                return
            if word == "raise":
                raise BrokenError(number)  # noqa: TRY301 - it is raised where it may be caught
            seen.append((yield number))
        except BaseException as error:
            seen.append(type(error))
            if word == "pass" or isinstance(error, BrokenError | GeneratorExit):
                raise


def told(error: BaseException) -> tuple[str, object]:
    return type(error).__name__, getattr(error, "value", str(error))


def driven(generator: Generator[Any, Any, Any], does: list[str]) -> list[object]:
    story: list[object] = []
    ended: Callable[[], Any] = generator.close  # what it returned, from 3.13 on
    for number, act in enumerate(does):
        word, _, name = act.partition(" ")
        try:
            match word:
                case "next":
                    story.append(next(generator))
                case "send":
                    story.append(generator.send(number))
                case "close":
                    story.append(ended())
                case _:
                    story.append(generator.throw(ERRORS[name]("thrown")))
        except BaseException as error:  # noqa: BLE001 - whatever it is, it has to be the same
            story.append(told(error))
    return story


async def driven_later(generator: AsyncGenerator[Any, Any], does: list[str]) -> list[object]:
    story: list[object] = []
    for number, act in enumerate(does):
        word, _, name = act.partition(" ")
        try:
            match word:
                case "next":
                    story.append(await anext(generator))
                case "send":
                    story.append(await generator.asend(number))
                case "close":
                    await generator.aclose()
                case _:
                    story.append(await generator.athrow(ERRORS[name]("thrown")))
        except BaseException as error:  # noqa: BLE001 - as above
            story.append(told(error))
    return story


@given(script=replies, does=acts)
def test_a_wrapped_generator_is_driven_alike(script: list[str], does: list[str]) -> None:
    recorder, one, other = Recorder(), list[object](), list[object]()
    to_the_end = [*does, "close"]  # one that is left open is closed whenever
    bare = driven(steps(script, one), to_the_end)
    wrapped = driven(wrap_tool(steps, recorder)(script, other), to_the_end)
    assert (bare, one) == (wrapped, other)
    assert len(recorder) <= 1


@given(script=replies, does=acts)
def test_a_wrapped_async_generator_is_driven_alike(script: list[str], does: list[str]) -> None:
    async def both() -> None:
        recorder, one, other = Recorder(), list[object](), list[object]()
        to_the_end = [*does, "close"]
        bare = await driven_later(steps_later(script, one), to_the_end)
        wrapped = await driven_later(wrap_tool(steps_later, recorder)(script, other), to_the_end)
        assert (bare, one) == (wrapped, other)
        assert len(recorder) <= 1

    asyncio.run(both())


@pytest.mark.parametrize(
    ("script", "does", "reason"),
    [
        (["yield"], ["next", "next"], "assumed"),
        (["return"], ["next"], "assumed"),
        (["raise"], ["next"], "exception"),
        (["pass", "yield"], ["next", "throw BrokenError"], "exception"),
        (["pass", "yield"], ["next", "throw KeyboardInterrupt"], "cancelled"),
        (["pass", "yield"], ["next", "close"], "closed"),
    ],
)
def test_a_generator_is_recorded_by_how_it_ended(
    script: list[str], does: list[str], reason: str
) -> None:
    recorder = Recorder()
    driven(wrap_tool(steps, recorder)(script, []), does)
    assert only(recorder).ok_reason == reason
    recorder.clear()
    asyncio.run(driven_later(wrap_tool(steps_later, recorder)(script, []), does))
    assert only(recorder).ok_reason == reason
    assert only(recorder).ok == (reason in {"assumed", "closed"})


def test_a_generator_that_will_not_be_closed_says_so() -> None:
    def tool() -> Iterator[int]:
        try:
            yield 1
        except GeneratorExit:
            yield 2

    recorder = Recorder()
    generator = wrap_tool(tool, recorder)()
    next(generator)
    with pytest.raises(RuntimeError, match="generator ignored GeneratorExit"):
        generator.close()  # type: ignore[attr-defined] # it says only that it is an iterator
    assert only(recorder).ok_reason == "exception"


def test_a_generator_that_nobody_began_did_not_run() -> None:
    recorder = Recorder()
    wrap_tool(steps, recorder)(["yield"], []).close()
    assert not recorder.executions


def test_a_generator_that_is_dropped_was_closed() -> None:
    recorder = Recorder()
    for _ in wrap_tool(steps, recorder)(["pass", "pass"], []):
        break
    gc.collect()
    assert only(recorder).ok_reason == "closed"


def test_a_result_of_a_generator_is_judged() -> None:
    def tool() -> Generator[int, None, str]:
        yield 1
        return "Error: gone"

    recorder = Recorder()
    assert list(wrap_tool(tool, recorder)()) == [1]
    assert only(recorder).ok_reason == "error-prefix"


def test_the_consumers_time_is_not_the_generators() -> None:
    def tool() -> Iterator[int]:
        for number in range(3):
            time.sleep(0.01)
            yield number

    recorder, spent, began = Recorder(), 0.0, time.perf_counter()
    for _ in wrap_tool(tool, recorder)():
        since = time.perf_counter()
        time.sleep(0.1)
        spent += time.perf_counter() - since
    whole = time.perf_counter() - began
    assert 0.025 < (only(recorder).duration_seconds or 0) <= whole - spent


def test_the_consumers_time_is_not_the_async_generators() -> None:
    async def tool() -> AsyncIterator[int]:
        for number in range(3):
            await asyncio.sleep(0.01)
            yield number

    async def consume(generator: Callable[[], AsyncIterator[int]]) -> float:
        spent, began = 0.0, time.perf_counter()
        async for _ in generator():
            since = time.perf_counter()
            await asyncio.sleep(0.1)
            spent += time.perf_counter() - since
        return time.perf_counter() - began - spent

    recorder = Recorder()
    rest = asyncio.run(consume(wrap_tool(tool, recorder)))
    assert 0.025 < (only(recorder).duration_seconds or 0) <= rest


def test_a_cancelled_async_generator_is_recorded() -> None:
    async def tool() -> AsyncIterator[int]:
        await asyncio.sleep(60)
        yield 1

    async def cancel(generator: AsyncIterator[int]) -> bool:
        task = asyncio.ensure_future(anext(generator))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
        return task.cancelled()

    recorder = Recorder()
    assert asyncio.run(cancel(wrap_tool(tool, recorder)()))
    assert only(recorder).ok_reason == "cancelled"
