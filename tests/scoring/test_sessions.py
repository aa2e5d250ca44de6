"""A session wraps and scores, and whatever goes wrong in that never reaches the run."""

from __future__ import annotations

import asyncio
import json
import logging
from collections import deque
from collections.abc import Callable, Coroutine, Iterator
from inspect import signature
from pathlib import Path
from typing import Any, NoReturn

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tunaeval
from tests.data.adapters.writers import WRITERS, Step, as_object, conversations
from tests.scoring.sessions import QUERY, MuteError, messages, read_file
from tunaeval.files import records
from tunaeval.scoring.keywords import ScoreKeywords


def test_what_ran_in_a_session_is_scored_at_its_end() -> None:
    with tunaeval.scoring_session(QUERY) as session:
        assert session.wrap(read_file)("a.py") == "contents of a.py"
        assert session.score is None
        session.messages = messages()
    assert session.score is not None
    assert session.score.details.tool_calls == 1
    assert session.failure is None


def test_what_a_wrapper_saw_counts_and_is_then_forgotten() -> None:
    with tunaeval.scoring_session(QUERY) as session:
        with pytest.raises(FileNotFoundError):
            session.wrap(read_file)("gone")
        session.messages = messages(result="")
    assert session.score is not None
    assert session.score.details.failed_calls == 1
    assert session.recorder.executions == ()


def test_an_asynchronous_run_is_scored_as_well() -> None:
    async def agent() -> tunaeval.ScoringSession:
        async with tunaeval.scoring_session(QUERY) as session:
            session.messages = messages()
        return session

    with tunaeval.scoring_session(QUERY) as session:
        session.messages = messages()
    assert asyncio.run(agent()).score == session.score


def test_a_run_that_fails_has_signals_and_no_total_and_its_exception_passes(
    tmp_path: Path,
) -> None:
    out = tmp_path / "new" / "scores.jsonl"
    session = tunaeval.scoring_session(QUERY, out=out, check=lambda _: True)

    def run() -> None:
        with session:
            session.messages = messages()
            raise ZeroDivisionError("by 0")

    with pytest.raises(ZeroDivisionError):
        run()
    assert session.score is not None
    assert session.failure == "the run ended in an error: ZeroDivisionError: by 0"
    assert (session.score.weighted_total, session.score.goal_completion) == (None, 1.0)
    assert session.score.details.outcome == "run_failure"
    assert session.failure in session.score.details.reasoning
    (record,) = records.read(out)
    assert record["query"] == QUERY
    assert record["score"]["weighted_total"] is None
    assert record["ended_by"] == "ZeroDivisionError: by 0"
    assert record["failure"] == session.failure
    assert "T" in record["timestamp"]


def test_the_typed_keywords_of_a_session_are_those_of_a_score() -> None:
    given_by_the_session = {"messages", "query", "executions", "start"}
    wanted = {*signature(tunaeval.score).parameters} - given_by_the_session
    assert {*ScoreKeywords.__annotations__} == wanted


def test_a_setting_that_nobody_knows_is_named() -> None:
    misspelt: Any = {"chek": "true"}
    with tunaeval.scoring_session("q", messages=[], **misspelt) as session:
        pass
    assert session.failure == (
        "UnknownNameError: no setting of a scoring session is called 'chek'; did you mean 'check'?"
    )


@pytest.mark.parametrize("given", [None, "no list", [1], [{"content": "no role"}], Iterator])
def test_a_failure_to_score_is_a_record_and_a_warning(
    given: object, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with tunaeval.scoring_session(QUERY, out=tmp_path / "scores.jsonl") as session:
        session.messages = given
    assert session.score is None
    assert session.failure
    (record,) = records.read(tmp_path / "scores.jsonl")
    assert record["score"] is None
    assert record["failure"] == session.failure
    assert [one.levelno for one in caplog.records] == [logging.WARNING]


def test_an_output_that_cannot_be_written_is_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("")
    with tunaeval.scoring_session(QUERY, out=tmp_path / "file" / "scores.jsonl") as session:
        session.messages = messages()
    assert session.score is not None
    assert "could not be written" in caplog.text


def test_records_are_appended_behind_a_torn_one(tmp_path: Path) -> None:
    out = tmp_path / "scores.jsonl"
    out.write_bytes(b'{"query": "kept"}\n{"query": "to')
    with tunaeval.scoring_session(QUERY, out=out) as session:
        session.messages = messages()
    assert [json.loads(line)["query"] for line in out.read_text().splitlines()] == ["kept", QUERY]


def test_executions_can_be_read_until_the_block_ends() -> None:
    with tunaeval.scoring_session(QUERY) as session:
        session.wrap(read_file)("a.py")
        (run,) = session.executions
        session.messages = messages()
    assert (run.tool, run.arguments) == ("read_file", {"filepath": "a.py"})
    assert session.executions == ()


def test_a_tool_that_cannot_be_wrapped_runs_as_it_is(caplog: pytest.LogCaptureFixture) -> None:
    with tunaeval.scoring_session(QUERY) as session:
        assert session.wrap(int) is int
        session.messages = messages()
    assert session.score is not None
    assert "without being recorded" in caplog.text


# What a block raises, and how it raises it.

ENDINGS: list[Callable[[], BaseException]] = [
    lambda: ZeroDivisionError("by 0"),
    lambda: OSError(2, "gone"),
    lambda: StopIteration(3),
    StopAsyncIteration,
    lambda: ExceptionGroup("two", [ValueError(1), MuteError()]),
    MuteError,
    AssertionError,
    TimeoutError,
    RecursionError,
    GeneratorExit,
    KeyboardInterrupt,
    lambda: SystemExit(3),
    lambda: asyncio.CancelledError("stop"),
    lambda: BaseExceptionGroup("stops", [KeyboardInterrupt()]),
]
ERRORS = st.builds(lambda make: make(), st.sampled_from(ENDINGS))


def blocks(session: tunaeval.ScoringSession, error: BaseException) -> list[BaseException | None]:
    """What comes out of a block that raises, with `with` and with `async with`."""

    def at_once() -> BaseException | None:
        try:
            with session:
                session.messages = messages()
                throw(error)
        except BaseException as caught:  # noqa: BLE001 - it is looked at
            return caught

    async def later() -> BaseException | None:
        try:
            async with session:
                session.messages = messages()
                throw(error)
        except BaseException as caught:  # noqa: BLE001 - as above
            return caught

    return [at_once(), driven(later())]


def throw(error: BaseException) -> NoReturn:
    raise error


def driven(work: Coroutine[Any, None, BaseException | None]) -> BaseException | None:
    """What a coroutine returns that waits for nothing; no loop sees what it raises."""
    try:
        work.send(None)
    except StopIteration as finished:
        caught: BaseException | None = finished.value
        return caught
    raise AssertionError("it waited")


@given(ERRORS, st.none() | ERRORS)
def test_an_exception_of_the_run_comes_out_as_it_is(
    error: BaseException, cause: BaseException | None
) -> None:
    error.__cause__ = cause
    session = tunaeval.scoring_session(QUERY)
    for caught in blocks(session, error):
        assert caught is error
        assert (caught.__cause__, caught.__context__) == (cause, None)
        assert session.score is not None
        assert session.score.details.outcome == "run_failure"
        assert session.failure is not None
        assert session.failure.startswith(f"the run ended in an error: {type(error).__name__}")


class Failing:
    """Raises whenever it is looked into: as messages, and as a scoring category."""

    name, weight = "failing", 1.0

    def __init__(self, error: Exception) -> None:
        self.error = error

    def __iter__(self) -> Iterator[object]:
        raise self.error

    async def score(self, _: object) -> object:
        raise self.error


FAILURES = st.sampled_from([MuteError(), ValueError("x"), StopIteration(), RecursionError()])
ODD = st.none() | st.integers() | st.text() | st.builds(Failing, FAILURES)
SETTINGS = {
    "messages": ODD | st.lists(ODD | st.dictionaries(st.text(), ODD)),
    "preset": ODD,
    "categories": ODD | st.lists(ODD),
    "judge": ODD,
    "start": st.integers(-9, 9),
    "no such setting": ODD,
}


@given(st.fixed_dictionaries({}, optional=SETTINGS), ODD, st.sampled_from(["", "\0", "file/x"]))
def test_no_failure_to_score_comes_out(
    tmp_path_factory: pytest.TempPathFactory, settings: dict[str, Any], said: object, out: str
) -> None:
    folder = tmp_path_factory.getbasetemp()
    (folder / "file").touch()
    session = tunaeval.scoring_session(QUERY, out=folder / out, **settings)

    async def later() -> None:
        async with session:
            session.messages = said

    with session:
        session.messages = said
    assert (session.score is None) == (session.failure is not None)
    asyncio.run(later())
    assert (session.score is None) == (session.failure is not None)


# Messages of any shape, and where the task begins in them.


@given(conversations(), conversations(), st.sampled_from(sorted(WRITERS)), st.booleans())
def test_a_task_begins_where_a_live_list_ended(
    before: list[Step], after: list[Step], shape: str, objects: bool
) -> None:
    earlier, history = WRITERS[shape](before), WRITERS[shape]([*before, *after])
    if shape == "otel" or history[: len(earlier)] != earlier:
        return  # a span tells again what was said before
    told = [as_object(one) for one in history] if objects else list(history)
    live: list[object] = told[: len(earlier)]
    with tunaeval.scoring_session(QUERY, messages=live) as session:
        live += told[len(earlier) :]
    assert session.start == len(earlier)
    assert session.score == tunaeval.score(told, QUERY, start=len(earlier))


@pytest.mark.parametrize(
    "held",
    [messages(), {"messages": messages()}, deque(messages()), as_object({"messages": messages()})],
    ids=lambda held: type(held).__name__,
)
def test_whatever_holds_the_messages_can_be_handed_in(held: Any) -> None:
    live = held["messages"] if isinstance(held, dict) else getattr(held, "messages", held)
    with tunaeval.scoring_session(QUERY, messages=held) as session:
        live.extend(messages())
    assert session.start == len(messages())
    assert session.score == tunaeval.score([*messages(), *messages()], QUERY, start=session.start)


def test_where_the_task_begins_may_be_said() -> None:
    with tunaeval.scoring_session(QUERY, messages=messages(), start=0) as session:
        pass
    with tunaeval.scoring_session(QUERY) as other:
        other.messages, other.start = [*messages(), *messages()], len(messages())
    assert [session.start, other.start] == [0, len(messages())]
    assert session.score is not None
    assert other.score is not None
    assert session.score.weighted_total == other.score.weighted_total


def test_messages_that_come_one_by_one_are_read_once() -> None:
    with tunaeval.scoring_session(QUERY, messages=iter(messages())) as session:
        pass
    assert session.score == tunaeval.score(messages(), QUERY)
