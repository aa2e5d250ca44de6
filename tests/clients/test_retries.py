"""Which faults of a server are asked again, how long that is waited for, and when it ends."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.clients.asking import GOOD, HELLO, ask, failure
from tests.faults import Answer, FaultServer
from tests.faults.runs import within
from tunaeval.clients.openai import OpenAIClient
from tunaeval.clients.pace import read_retry_after
from tunaeval.errors import TransportFailure
from tunaeval.types.exchange import Reply

BROKEN_BODIES = {
    "null": (b"null", "wanted a JSON object"),
    "nothing": (b"", "(nothing)"),
    "HTML": (b"<!DOCTYPE html><html>Sign in</html>", "found HTML"),
    "not UTF-8": (b"\xff\xfe{}", "wanted a JSON object"),
    "cut JSON": (GOOD[:60], "wanted a JSON object"),
    "too deep": (b"[" * 100_000, "wanted a JSON object"),
    "no choices": (b'{"choices": []}', "empty list"),
    "choices null": (b'{"choices": null}', "wanted a chat completion"),
    "message null": (b'{"choices": [{"message": null}]}', "wanted a chat completion"),
    "an error in the choice": (
        b'{"choices": [{"message": {"content": "I wi"}, "error": {"message": "upstream died"}}]}',
        "ended the reply with an error",
    ),
    "an error as the reason": (
        b'{"choices": [{"message": {"content": "I wi"}, "finish_reason": "error"}]}',
        "ended the reply with an error",
    ),
    "an error": (b'{"error": {"message": "overloaded"}}', "overloaded"),
}


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504, 529])
def test_a_passing_status_is_retried(status: int) -> None:
    with FaultServer(Answer(status=status, headers={"Retry-After": "0.01"})) as server:
        assert ask(server).retries == 1
    assert len(server.seen) == 2


@pytest.mark.parametrize("status", [400, 402, 413, 422])
def test_a_refused_request_is_not_retried(status: int) -> None:
    body = b'{"error": {"message": "context is 4096 tokens"}}'
    with (
        FaultServer(Answer(body, status=status)) as server,
        pytest.raises(TransportFailure, match="context is 4096 tokens") as caught,
    ):
        ask(server)
    assert (caught.value.kind, caught.value.status) == ("status", status)
    assert len(server.seen) == 1


@pytest.mark.parametrize(
    ("status", "advice"),
    [(401, "set $TUNAEVAL_API_KEY"), (403, "set $TUNAEVAL_API_KEY"), (404, "name of the model")],
)
def test_what_no_retry_mends_is_refused_once(status: int, advice: str) -> None:
    body = json.dumps({"error": {"message": "model 'x'\x1b[31m does not exist" + "!" * 500}})
    with (
        FaultServer(Answer(body.encode(), status=status)) as server,
        pytest.raises(TransportFailure) as caught,
    ):
        ask(server)
    words = str(caught.value)
    assert (caught.value.kind, caught.value.status) == ("refused", status)
    assert advice in words
    assert str(status) in words
    assert r"\x1b[31m does not exist" in words
    assert words.count("!") < 200
    assert len(server.seen) == 1


@pytest.mark.parametrize(
    "fault",
    [
        Answer(GOOD, cut_after=20, reset=True),
        Answer(GOOD, cut_after=20),
        Answer(GOOD, cut_after=0, reset=True),
        Answer(b"not HTTP", headers={"content-length": "x"}),
    ],
    ids=["reset in the body", "cut in the body", "reset after the head", "not HTTP"],
)
def test_a_broken_connection_is_retried(fault: Answer) -> None:
    with FaultServer(fault) as server:
        reply = ask(server)
    assert reply.retries == 1
    assert reply.message["content"] == "hello"


@pytest.mark.parametrize("name", BROKEN_BODIES)
def test_a_broken_body_is_retried_once_and_then_named(name: str) -> None:
    body, words = BROKEN_BODIES[name]
    with (
        FaultServer(then=Answer(body)) as server,
        pytest.raises(TransportFailure) as caught,
    ):
        ask(server)
    assert caught.value.kind == "body"
    assert words in str(caught.value)
    assert len(str(caught.value)) < 500
    assert len(server.seen) == 2


def test_a_body_that_was_broken_once_does_no_harm() -> None:
    with FaultServer(Answer(b"null")) as server:
        assert ask(server).retries == 1


def test_a_slow_drip_does_not_outlast_a_try() -> None:
    drip = Answer(GOOD, seconds_per_byte=0.05)
    with within(2):
        failed = failure(then=drip, attempt_timeout=0.3, max_retries=0)
    assert failed.kind == "timeout"


def test_silence_is_retried() -> None:
    with FaultServer(Answer(GOOD, seconds_before=30)) as server:
        assert ask(server, attempt_timeout=1.5).retries == 1


def test_all_tries_together_end_at_the_deadline() -> None:
    with within(2):
        failed = failure(then=Answer(status=503), deadline=0.7, max_retries=1000)
    assert failed.kind in {"timeout", "status"}


def test_a_pause_that_ends_after_the_deadline_is_not_begun() -> None:
    busy = Answer(status=429, headers={"Retry-After": "100"})
    with within(2):
        assert failure(then=busy, deadline=5).status == 429


def test_retry_after_is_waited_for() -> None:
    with FaultServer(Answer(status=429, headers={"Retry-After": "0.8"})) as server:
        started = time.monotonic()
        ask(server)
    assert time.monotonic() - started >= 0.8


def ends(server: FaultServer, count: int, **options: Any) -> list[float]:
    """When each of so many requests, asked at once, had its reply: seconds after the start."""

    async def run() -> list[float]:
        client = OpenAIClient(base_url=server.base_url, model="m", **options)
        started = time.monotonic()

        async def one(number: int) -> float:
            await client.complete(replace(HELLO, scenario=str(number)))
            return time.monotonic() - started

        try:
            return await asyncio.gather(*map(one, range(count)))
        finally:
            await client.close()

    return asyncio.run(run())


@pytest.mark.parametrize("status", [429, 503])
def test_a_pause_that_one_request_is_asked_for_is_kept_by_all(status: int) -> None:
    busy = Answer(status=status, headers={"Retry-After": "0.6"})
    with FaultServer(busy) as server:
        assert min(ends(server, 4, connections=1)) >= 0.6
    assert len(server.seen) == 5


def test_a_pause_of_one_request_alone_is_kept_by_no_other() -> None:
    with FaultServer(Answer(status=500, headers={"Retry-After": "2"})) as server:
        assert sorted(ends(server, 4, connections=1))[2] < 2


def test_a_rest_longer_than_a_request_may_take_is_not_waited_for() -> None:
    busy = Answer(status=429, headers={"Retry-After": "100"})

    async def two(base_url: str) -> None:
        client = OpenAIClient(base_url=base_url, model="m", deadline=5)
        try:
            with pytest.raises(TransportFailure):
                await client.complete(HELLO)
            await client.complete(HELLO)
        finally:
            await client.close()

    with FaultServer(busy) as server, within(2):
        asyncio.run(two(server.base_url))


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("1", 1.0),
        ("0.5", 0.5),
        ("120", 120.0),
        ("Sat, 21 Nov 2026 12:00:30 GMT", 30.0),
        ("Sat, 21 Nov 2026 11:59:00 GMT", None),
        ("0", None),
        ("-5", None),
        ("121", None),
        ("1e9", None),
        ("NaN", None),
        ("inf", None),
        ("soon", None),
        ("", None),
        (None, None),
    ],
)
def test_a_pause_that_makes_sense_is_read(header: str | None, seconds: float | None) -> None:
    noon = 1795262400.0  # 2026-11-21T12:00:00Z
    assert read_retry_after(header, now=noon) == seconds


@given(st.one_of(st.text(), st.floats().map(str), st.integers().map(str)))
def test_no_header_makes_a_pause_that_is_endless_or_negative(header: str) -> None:
    seconds = read_retry_after(header)
    assert seconds is None or 0 < seconds <= 120


def test_a_server_that_answered_before_is_waited_for_longer() -> None:
    """A restart in the middle of a run takes longer than a wrong address takes to notice."""
    from tunaeval.clients.pace import Patience, TryFailed

    async def tries(*, reached: bool) -> int:
        count = 0

        async def refuse() -> None:
            nonlocal count
            count += 1
            raise TryFailed("refused", kind="connect", retry_after=0.001)

        with pytest.raises(TryFailed):
            await Patience(max_retries=6, deadline=None).tries(reached=lambda: reached)(refuse)
        return count

    assert asyncio.run(tries(reached=False)) == 3
    assert asyncio.run(tries(reached=True)) == 7


def test_a_burst_of_faults_loses_no_request() -> None:
    """Whatever happens to single tries, every request ends, and gives its connection back."""
    faults = [
        Answer(status=503, headers={"Retry-After": "0.01"}),
        Answer(GOOD, cut_after=9, reset=True),
        Answer(GOOD, cut_after=9),
    ]

    async def run(base_url: str) -> list[Reply]:
        client = OpenAIClient(base_url=base_url, model="m", connections=8)
        try:
            return await asyncio.gather(
                *(client.complete(replace(HELLO, scenario=str(n))) for n in range(40))
            )
        finally:
            await client.close()

    with FaultServer(*(faults * 5)) as server:
        replies = asyncio.run(run(server.base_url))
    assert [reply.message["content"] for reply in replies] == ["hello"] * 40
    assert sum(reply.retries for reply in replies) == 15
    assert server.most_open <= 8


@pytest.mark.parametrize("header", ["3600", "Fri, 31 Dec 2100 23:59:59 GMT"])
def test_a_pause_that_is_too_long_to_wait_for_is_named(header: str) -> None:
    busy = Answer(status=429, headers={"Retry-After": header})
    failed = failure(then=busy, max_retries=0)
    assert "429 Too Many Requests (Retry-After asks for over 120 s)" in str(failed)


@pytest.mark.parametrize("header", ["0.01", "soon", "-5", "nan"])
def test_a_pause_that_is_kept_or_is_nonsense_is_not_named(header: str) -> None:
    busy = Answer(status=429, headers={"Retry-After": header})
    assert "Retry-After" not in str(failure(then=busy, max_retries=0))
