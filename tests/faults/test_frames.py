"""A key is in no repr, and in no local of a traceback, as `pytest -l` and Sentry show them."""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import httpx2
import pytest

import tunaeval
from tests.faults import CANARY_KEY, Answer, FaultServer
from tunaeval.clients.openai import OpenAIClient
from tunaeval.clients.server import Server, read_key
from tunaeval.endpoint.connections import HttpRequest, HttpResponse, Loopback, whole
from tunaeval.endpoint.sources import Passing
from tunaeval.files.keys import Secret
from tunaeval.types.exchange import Request

PART = CANARY_KEY[:12]


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TUNAEVAL_API_KEY", CANARY_KEY)


def texts(error: BaseException | None) -> Iterator[str]:
    """The error, all that it came from, and the locals of their frames outside of this file."""
    while error is not None:
        found = traceback.TracebackException.from_exception(error, capture_locals=True)
        yield str(error)
        for frame in found.stack:
            if frame.filename != __file__:
                yield f"{frame.filename}:{frame.lineno}: {frame.locals}"
        error = error.__cause__ or error.__context__


class Broken(httpx2.AsyncBaseTransport):
    """A transport with a defect that nobody foresees."""

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        raise RuntimeError(f"a defect at {request.url}")


async def _asked(client: OpenAIClient) -> object:
    try:
        return await client.complete(Request(({"role": "user", "content": "Hi"},)))
    finally:
        await client.close()


def _with_a_blank(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TUNAEVAL_API_KEY", f"{CANARY_KEY} {CANARY_KEY}")
    read_key()


def _at_no_address(_: pytest.MonkeyPatch) -> None:
    OpenAIClient(base_url="ftp://h", model="m")


def _by_a_broken_transport(_: pytest.MonkeyPatch) -> None:
    client = OpenAIClient(base_url="http://h/v1", model="m", transport=Broken())
    asyncio.run(_asked(client))


def _of_a_server_that_refuses(_: pytest.MonkeyPatch) -> None:
    with FaultServer(then=Answer(b"{}", status=401)) as server:
        asyncio.run(_asked(OpenAIClient(base_url=server.base_url, model="m", max_retries=0)))


def _of_nobody(_: pytest.MonkeyPatch) -> None:
    asyncio.run(_asked(OpenAIClient(base_url="http://127.0.0.1:9/v1", model="m", max_retries=0)))


def _through_an_upstream(_: pytest.MonkeyPatch) -> None:
    never: Any = "never"
    asked = tunaeval.ModelRequest("chat", {"messages": []}, (), None, "m")
    upstream = Passing(
        "http://127.0.0.1:9/v1", None, {}, record=False, model=None, timeout_seconds=never
    )
    asyncio.run(upstream.answer(asked, {"authorization": Secret(f"Bearer {CANARY_KEY}")}))


def _by_switches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENABLE_EVALS2", "true")
    monkeypatch.setenv("OPENAI_API_KEY_FOR_SCORING", f"{CANARY_KEY} {CANARY_KEY}")
    judge = tunaeval.from_environment().judge
    assert judge is not None
    asyncio.run(judge.complete(Request(({"role": "user", "content": "Hi"},))))


ENDS = [
    _with_a_blank, _at_no_address, _by_a_broken_transport, _of_a_server_that_refuses, _of_nobody,
    _through_an_upstream, _by_switches,
]  # fmt: skip


@pytest.mark.parametrize("end", ENDS)
def test_no_local_of_a_traceback_shows_the_key(
    end: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(Exception) as caught:
        end(monkeypatch)
    found = list(texts(caught.value))
    assert len(found) > 1
    assert [one for one in found if PART in one] == []


def _everything(thing: object, depth: int = 4) -> Iterator[str]:
    """The repr of a thing, of all that it holds, and of what that holds."""
    yield repr(thing)
    held = getattr(thing, "__dict__", {})
    for one in [*held.values()] if depth else ():
        yield from _everything(one, depth - 1)


def test_no_repr_shows_the_key_however_deep_one_looks() -> None:
    client = OpenAIClient(base_url="http://h/v1", model="m")
    server = Server("http://h/v1", key=read_key(), attempt_timeout=1.0)
    upstream = Passing("http://h/v1", None, {}, record=False, model=None, timeout_seconds=1.0)
    for thing in (client, server, upstream):
        assert [one for one in _everything(thing) if PART in one] == []


def test_what_an_agent_sends_is_in_no_repr() -> None:
    async def asked() -> HttpRequest:
        seen: list[HttpRequest] = []

        async def respond(request: HttpRequest) -> HttpResponse:
            seen.append(request)
            return whole(200, b"{}")

        loopback = Loopback(respond)
        await loopback.start()
        headers = {"authorization": f"Bearer {CANARY_KEY}", "x-goog-api-key": CANARY_KEY}
        async with httpx2.AsyncClient(trust_env=False) as client:
            await client.post(f"http://127.0.0.1:{loopback.port}/", headers=headers)
        await loopback.stop()
        return seen[0]

    request = asyncio.run(asked())
    assert request.headers["authorization"] == f"Bearer {CANARY_KEY}"
    assert PART not in repr([request, *request.headers.values()])


def test_the_key_is_sent_as_it_is() -> None:
    with FaultServer() as server:
        asyncio.run(_asked(OpenAIClient(base_url=server.base_url, model="m")))
    assert server.seen[-1].headers["authorization"] == f"Bearer {CANARY_KEY}"
