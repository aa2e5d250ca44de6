"""Pauses and outages: waits are bounded by time, and one that is for all is nobody's time."""

from __future__ import annotations

import asyncio
import logging
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.clients.asking import HELLO, ask, failure
from tests.faults import Answer, FaultServer, Seen, chat
from tests.faults.runs import asked, small_suite, within
from tunaeval.clients.openai import OpenAIClient
from tunaeval.clients.pace import Breaker, Pace, TryFailed
from tunaeval.errors import TransportFailure
from tunaeval.runs.options import RunOptions
from tunaeval.types.deadlines import Deadline
from tunaeval.types.exchange import Reply


def during(seconds: float, answer: Answer, *, after: float = 0.0) -> FaultServer:
    """A server that gives one answer for so many seconds from the first request on."""
    began: list[float] = []

    def choose(seen: Seen) -> Answer | None:
        del seen
        now = time.monotonic()
        began.append(now)
        return answer if after <= now - began[0] < after + seconds else None

    return FaultServer(choose=choose)


def busy(seconds: float, status: int = 429) -> Answer:
    return Answer(status=status, headers={"Retry-After": str(seconds)})


@pytest.mark.parametrize("status", [429, 503])
def test_a_shared_rest_longer_than_the_deadline_fails_no_scenario(
    tmp_path: Path, status: int
) -> None:
    options = RunOptions(concurrency=4, deadline_seconds=1)
    with FaultServer(busy(2.5, status)) as server, within(4):
        report = asked(small_suite(tmp_path, 24), server, options, connections=4)
    assert (report.passed, report.total) == (24, 24)
    assert len(server.seen) == 25


def test_the_deadline_goes_on_where_nobody_asked_for_a_rest(tmp_path: Path) -> None:
    options = RunOptions(concurrency=4, deadline_seconds=1)
    with FaultServer(then=Answer(status=500)) as server, within(2):
        report = asked(small_suite(tmp_path, 4), server, options)
    assert report.summary.infrastructure_failures == 4


def test_rests_without_end_do_not_stop_the_clock_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tunaeval.clients.pace.MAX_RESTING_SECONDS", 1.0)
    with FaultServer(then=busy(0.4)) as server, within(3), pytest.raises(TransportFailure) as late:
        ask(server, replace(HELLO, within_seconds=1.0))
    assert late.value.status == 429


def test_an_outage_shorter_than_the_deadline_fails_nothing(tmp_path: Path) -> None:
    """By number, the tries of some would have been over before the outage was."""
    options = RunOptions(concurrency=12, deadline_seconds=12)
    with during(5, Answer(status=503)) as server, within(12):
        report = asked(small_suite(tmp_path, 12), server, options, connections=12)
    assert (report.passed, report.total) == (12, 12)


def test_tries_end_by_time_and_not_by_number() -> None:
    """Twenty faults in a row are one too many for any number; not for the time there is."""
    faults = [Answer(status=503, headers={"Retry-After": "0.01"})] * 20
    with FaultServer(*faults) as server, within(5):
        assert ask(server, replace(HELLO, within_seconds=5.0)).retries == 20
    with FaultServer(*faults) as server, within(2), pytest.raises(TransportFailure):
        ask(server, max_retries=8)
    assert len(server.seen) == 9


def test_the_last_try_is_made_before_the_deadline() -> None:
    """No pause swallows all the time that is left."""
    with during(1.2, Answer(status=500)) as server, within(2):
        assert ask(server, replace(HELLO, within_seconds=2.0)).message["content"] == "hello"


def test_a_breaker_slows_down_and_says_so(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    options = RunOptions(concurrency=16, deadline_seconds=10)
    with during(3, Answer(status=500)) as server, within(10):
        report = asked(small_suite(tmp_path, 64), server, options, connections=16)
    assert report.passed == 64
    refused = len(server.seen) - 64
    assert refused < 40  # without a breaker: 16 of them, each 8 times
    down, up = (record.getMessage() for record in caplog.records)
    assert "requests in a row failed (500 Internal Server Error)" in down
    assert "one at a time until it answers" in down
    assert "answers again, after " in up


def test_while_the_breaker_is_open_nobody_waits_longer_than_its_deadline(tmp_path: Path) -> None:
    """And who was never asked says by what the server is taken to be down."""
    options = RunOptions(concurrency=16, deadline_seconds=1.5)
    with FaultServer(then=Answer(b"boom", status=500)) as server, within(3):
        report = asked(small_suite(tmp_path, 30), server, options, connections=16)
    assert report.summary.infrastructure_failures == 30
    assert all("500" in (result.error or "") for result in report.results)
    assert all("boom" in (result.error or "") for result in report.results)


@given(left=st.lists(st.floats(0, 60), min_size=1, max_size=12))
def test_the_next_probe_comes_while_the_last_one_has_time(left: list[float]) -> None:
    """Pauses that double would else outlast the deadline of all that wait, by chance."""
    logging.getLogger("tunaeval.clients").setLevel(logging.ERROR)
    breaker = Breaker("here")
    for _ in range(10):
        breaker.failed(TryFailed("gone", kind="timeout"), is_probe=False)
    for seconds in left:
        breaker.probe()
        breaker.failed(TryFailed("gone", kind="timeout"), is_probe=True, left=seconds)
        assert breaker.wait() <= 0.7 * seconds
    logging.getLogger("tunaeval.clients").setLevel(logging.NOTSET)


@pytest.mark.parametrize("answered", [False, True])
def test_only_a_server_that_answered_once_is_waited_for(answered: bool) -> None:
    """A wrong address would else be asked one request at a time, at growing intervals."""

    async def course() -> bool:
        pace = Pace("here", 16)

        async def ask() -> None:
            raise TryFailed("nobody", kind="connect")

        if answered:
            await pace.in_turn(lambda: asyncio.sleep(0), None, 10)
        for _ in range(12):
            if pace.breaker.is_open:
                break
            with pytest.raises(TryFailed):
                await pace.in_turn(ask, None, 10)
        return pace.breaker.is_open

    assert asyncio.run(course()) is answered


def test_fewer_are_asked_at_once_after_429_and_more_again_after_replies() -> None:
    async def course() -> list[int]:
        pace, limits = Pace("here", 64), []
        clock = Deadline(10)

        async def request(fault: TryFailed | None = None) -> None:
            async def ask() -> None:
                if fault is not None:
                    raise fault

            with suppress(TryFailed):
                await pace.in_turn(ask, clock, 10)

        for _ in range(3):
            await request(TryFailed("busy", kind="status", status=429))
            limits.append(pace.limit)
        for _ in range(100):
            await request()
        limits.append(pace.limit)
        return limits

    *fallen, risen = asyncio.run(course())
    assert fallen == [32, 16, 8]
    assert 14 <= risen <= 18  # about one more after as many replies as there are at once


def test_requests_of_before_the_cut_cut_it_no_further() -> None:
    async def course() -> int:
        pace = Pace("here", 64)

        async def ask() -> None:
            await asyncio.sleep(0.05)
            raise TryFailed("slow", kind="timeout")

        async def request() -> None:
            with suppress(TryFailed):
                await pace.in_turn(ask, None, 10)

        await asyncio.gather(*(request() for _ in range(8)))
        return pace.limit

    assert asyncio.run(course()) == 32


def test_waiting_for_a_turn_is_not_the_scenarios_time(tmp_path: Path) -> None:
    """One at a time, each slower than half a deadline, and none is late."""
    options = RunOptions(concurrency=3, deadline_seconds=1.8)
    slow = replace(chat("hello"), seconds_before=1.0)
    with FaultServer(then=slow) as server:
        report = asked(small_suite(tmp_path, 3), server, options, connections=1)
    assert report.passed == 3


def test_no_more_are_begun_in_a_minute_than_rpm_says(tmp_path: Path) -> None:
    options = RunOptions(concurrency=8, deadline_seconds=1.5)
    started = time.monotonic()
    with FaultServer() as server, within(3):
        report = asked(small_suite(tmp_path, 11), server, options, rpm=300)
    assert report.passed == 11  # the wait for one's part is not the scenario's time
    assert time.monotonic() - started >= 2.0


def test_a_request_that_is_given_up_leaves_its_turn_to_the_next() -> None:
    async def course(server: FaultServer) -> Reply:
        client = OpenAIClient(base_url=server.base_url, model="m", connections=1)
        first = asyncio.create_task(client.complete(HELLO))
        while not server.seen:  # noqa: ASYNC110 - a thread of its own sees it
            await asyncio.sleep(0.01)
        waiting = [asyncio.create_task(client.complete(HELLO)) for _ in range(3)]
        await asyncio.sleep(0.05)
        waiting[0].cancel()
        first.cancel()
        try:
            return await asyncio.wait_for(waiting[1], 30)
        finally:
            await asyncio.gather(first, *waiting, return_exceptions=True)
            await client.close()

    with FaultServer(Answer(seconds_before=60)) as server:
        assert asyncio.run(course(server)).message["content"] == "hello"


def test_a_probe_that_is_given_up_leaves_the_next_one_to_find_out() -> None:
    async def course() -> None:
        pace = Pace("here", 4)

        async def fail() -> None:
            raise TryFailed("gone", kind="timeout")

        for _ in range(10):
            with pytest.raises(TryFailed):
                await pace.in_turn(fail, None, 10)
        assert pace.breaker.is_open

        task = asyncio.create_task(pace.in_turn(lambda: asyncio.sleep(60), None, 10))
        await asyncio.sleep(0.6)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        async with asyncio.timeout(30):
            await pace.in_turn(lambda: asyncio.sleep(0), None, 10)
        assert not pace.breaker.is_open

    logging.getLogger("tunaeval.clients").setLevel(logging.ERROR)
    try:
        asyncio.run(course())
    finally:
        logging.getLogger("tunaeval.clients").setLevel(logging.NOTSET)


def test_a_hard_deadline_is_kept_whatever_a_server_asks_for() -> None:
    with within(1):
        failed = failure(then=busy(30), deadline=1)
    assert failed.status == 429
