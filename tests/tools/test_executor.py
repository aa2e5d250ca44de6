"""The executor's order, attempts and pauses, whatever is called; no test takes a real pause."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tools.executing import KINDS, Time, calls_of, execute_all, run
from tunaeval import Backoff, Executor, Recorder, ToolCall, ToolResult
from tunaeval.errors import ToolsError, UnknownNameError, UsageError


@dataclass(frozen=True)
class Script:
    """What one call does: how often it fails, and for how many turns of the loop it runs."""

    name: str
    failures: int
    turns: int


scripts = st.lists(
    st.builds(Script, st.sampled_from(sorted(KINDS)), st.integers(0, 4), st.integers(0, 3)),
    max_size=7,
)


def acting(scripts: Sequence[Script], log: list[tuple[str, int]]) -> dict[str, Any]:
    """Tools that do as `scripts` say, and write down when they begin and end."""
    left = [script.failures for script in scripts]

    async def act(index: int) -> int:
        log.append(("begin", index))
        for _ in range(scripts[index].turns):
            await asyncio.sleep(0)
        log.append(("end", index))
        left[index] -= 1
        if left[index] >= 0:
            raise OSError(index)
        return index

    return dict.fromkeys(KINDS, act)


backoffs = st.builds(Backoff, st.integers(1, 5), st.floats(0, 2), st.floats(0, 5))


@given(scripts, backoffs, st.none() | st.integers(1, 3), st.floats(0, 1))
def test_the_executor_keeps_its_laws(
    scripts: list[Script], backoff: Backoff, parallel: int | None, chance: float
) -> None:
    log: list[tuple[str, int]] = []
    time = Time(chance=chance)
    attempts = backoff.max_attempts
    calls = calls_of(*(script.name for script in scripts))
    results = execute_all(
        calls, acting(scripts, log), categories=KINDS, backoff=backoff,
        max_parallel=parallel, pace=time.pace,
    )  # fmt: skip

    assert [result.call for result in results] == calls
    for result, script in zip(results, scripts, strict=True):
        assert result.ok == (script.failures < attempts)
        assert result.attempts == min(script.failures + 1, attempts)
        assert [one.ok for one in result.executions[:-1]] == [False] * (result.attempts - 1)
    retries = sum(result.attempts - 1 for result in results)
    assert len(time.pauses) == retries
    pauses = {backoff.pause_seconds(n, chance) for n in range(1, attempts)}
    assert set(time.pauses) <= pauses

    stages = ("research", "read-only", "write")
    order = [stages.index(KINDS[scripts[index].name]) for _, index in log]
    assert order == sorted(order)
    writes = [(what, index) for what, index in log if scripts[index].name == "change"]
    assert [what for what, _ in writes] == ["begin", "end"] * (len(writes) // 2)
    assert [index for _, index in writes] == sorted(index for _, index in writes)


@given(st.integers(1, 2000), st.floats(0, 1), st.floats(0, 100), st.floats(0, 100), st.floats(0, 1))
def test_a_pause_is_doubled_up_to_its_cap_and_longer_by_its_jitter_at_most(
    attempt: int, chance: float, base: float, cap: float, jitter: float
) -> None:
    pause = Backoff(3, base, cap, jitter).pause_seconds(attempt, chance)
    least = min(base * 2.0 ** min(attempt - 1, 1000), cap)
    assert least <= pause <= least * (1 + jitter)


def test_the_constants_are_those_of_the_agent() -> None:
    def fails() -> None:
        raise OSError

    time = Time(chance=1.0)
    (result,) = execute_all([ToolCall("fails", {})], [fails], pace=time.pace)
    assert result.attempts == 3
    assert time.pauses == pytest.approx([0.55, 1.1])
    assert [Backoff().pause_seconds(n, 0) for n in range(1, 7)] == [0.5, 1, 2, 4, 5, 5]


def named(name: str, base: type[Exception] = Exception) -> type[Exception]:
    return type(name, (base,), {})


FINAL = [
    *(named(name) for name in ("ModelRetry", "ToolRetryError", "ValidationError", "CallDeferred")),
    *(named("Own", named(name)) for name in ("FileOperationError", "ToolExecutionError")),
    TypeError, PermissionError, FileNotFoundError,
]  # fmt: skip


@pytest.mark.parametrize("kind", FINAL)
def test_what_would_fail_again_is_not_retried(kind: type[Exception]) -> None:
    def tool() -> None:
        raise kind("no")

    time = Time()
    (result,) = execute_all([ToolCall("tool", {})], [tool], pace=time.pace)
    assert (result.ok, result.reason, result.attempts) == (False, "exception", 1)
    assert result.error == f"{kind.__name__}: no"
    assert isinstance(result.exception, kind)
    assert time.pauses == []


def test_whoever_runs_tools_says_what_is_retried() -> None:
    def tool() -> None:
        raise TypeError

    backoff = Backoff(max_attempts=5, is_retried=lambda error: isinstance(error, TypeError))
    (result,) = execute_all([ToolCall("tool", {})], [tool], backoff=backoff)
    assert result.attempts == 5


def test_what_is_called_wrongly_is_not_run() -> None:
    ran: list[int] = []

    def look(index: int) -> None:
        ran.append(index)

    wrong: Any = ["index"]
    calls = [
        ToolCall("lokk", {}),
        ToolCall("look", {"index": "many"}),
        ToolCall("look", {"place": 1}),
        ToolCall("look", wrong),
        ToolCall("look", {"index": "7"}),
    ]
    results = execute_all(calls, [look])
    assert [result.reason for result in results] == [
        "unknown-tool", *["invalid-arguments"] * 3, "assumed",
    ]  # fmt: skip
    assert [result.attempts for result in results] == [0, 0, 0, 0, 1]
    assert results[0].error == "no tool is called 'lokk'; did you mean 'look'?"
    assert "index: Input should be a valid integer" in (results[1].error or "")
    assert "place: Unexpected" in (results[2].error or "")
    assert ran == [7]


def test_what_a_tool_declares_is_believed() -> None:
    def tool() -> dict[str, bool]:
        return {"ok": False}

    (result,) = execute_all([ToolCall("tool", {})], [tool])
    assert (result.ok, result.reason, result.value, result.attempts) == (
        False, "ok-false", {"ok": False}, 1,
    )  # fmt: skip


def test_executions_tell_the_call_and_how_long_it_waited() -> None:
    time = Time()
    recorder = Recorder()
    failing = [OSError(), None, None]

    def change(index: int) -> int:
        time.seconds += 2.0
        if error := failing.pop(0):
            raise error
        return index

    execute_all(calls_of("change", "change"), [change], recorder=recorder, pace=time.pace)
    told = [
        (one.call_id, one.arguments["index"], one.ok, one.queued_seconds, one.duration_seconds)
        for one in recorder.executions
    ]
    assert told == [("0", 0, False, 0.0, 2.0), ("0", 0, True, 0.5, 2.0), ("1", 1, True, 4.5, 2.0)]
    assert [one.started_at for one in recorder.executions] == [1000.0, 1002.5, 1004.5]


def test_an_executor_runs_many_batches() -> None:
    executor = Executor([lambda_free], pace=Time().pace)

    async def twice() -> list[list[ToolResult]]:
        return [await executor.execute(calls_of("lambda_free")) for _ in range(2)]

    assert [[one.value for one in results] for results in run(twice())] == [[0], [0]]
    assert execute_all([], [lambda_free]) == []


def lambda_free(index: int) -> int:
    return index


async def coroutine(index: int) -> None: ...


def needs(ctx: asyncio.Event, index: int) -> None: ...


REFUSED: list[tuple[Callable[[], object], type[UsageError], str]] = [
    (lambda: Executor([lambda_free, lambda_free]), ToolsError, "'lambda_free' is taken"),
    (lambda: Executor([lambda: 1]), ToolsError, "no name; pass a dict"),
    (lambda: Executor([int]), ToolsError, "cannot be run"),
    (lambda: Executor({"a": 3}), ToolsError, r"tools\['a'\] is 3"),
    (lambda: Executor("bash"), ToolsError, "wanted a list"),
    (lambda: Executor([needs]), ToolsError, r"'ctx'.*functools\.partial"),
    (lambda: Executor([], {"a": "wrote"}), UnknownNameError, "did you mean 'write'"),  # type: ignore[dict-item] # the point
    (lambda: Executor([], max_parallel=0), UsageError, "max_parallel is 0; wanted"),
    (lambda: Backoff(max_attempts=0), UsageError, "max_attempts is 0; wanted"),
    (lambda: Backoff(jitter=float("nan")), UsageError, "jitter is nan; wanted"),
]


@pytest.mark.parametrize(("make", "kind", "words"), REFUSED, ids=[row[2] for row in REFUSED])
def test_a_setting_that_cannot_be_is_refused(
    make: Callable[[], object], kind: type[UsageError], words: str
) -> None:
    with pytest.raises(kind, match=words):
        make()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("as it is", "as it is"),
        ({"a": [1, None]}, '{"a":[1,null]}'),
        ({1: 2}, '{"1":2}'),
        (None, "null"),
        (1 << 70, str(1 << 70)),
        (Time, str(Time)),
    ],
)
def test_a_result_becomes_a_message(value: object, text: str) -> None:
    (result,) = execute_all([ToolCall("tool", {}, "c1")], {"tool": lambda: value})
    assert result.as_openai()["tool_call_id"] == "c1"
    assert result.as_openai()["content"].strip('"') == text


def test_a_failure_becomes_a_message() -> None:
    async def tool() -> None:
        raise PermissionError("not here")

    results = execute_all([ToolCall("tool", {}), ToolCall("other", {})], [tool])
    assert [one.as_openai()["content"] for one in results] == [
        "Error: PermissionError: not here",
        "Error: no tool is called 'other'; known: tool",
    ]


def test_a_recorder_that_fails_changes_nothing(caplog: pytest.LogCaptureFixture) -> None:
    class Refusing:
        def record(self, execution: object) -> None:
            raise KeyError(execution)

    (result,) = execute_all(calls_of("lambda_free"), [lambda_free], recorder=Refusing())
    assert result.ok
    assert "could not be recorded: KeyError" in caplog.text


def _awaitable(index: int) -> Awaitable[int]:
    async def later() -> int:
        return index

    return later()


def test_a_function_that_gives_back_a_coroutine_is_awaited() -> None:
    (result,) = execute_all([ToolCall("t", {"index": 4})], {"t": _awaitable})
    assert result.value == 4
