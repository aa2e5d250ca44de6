"""A server that means harm gets no memory, no second address and no key out of a client."""

from __future__ import annotations

import asyncio
import gzip
import json
import logging
import traceback
import tracemalloc

import pytest

from tests.clients.asking import GOOD, HELLO, ask, failure
from tests.faults import CANARY_KEY, Answer, FaultServer
from tunaeval.clients.answers import MAX_BODY_BYTES
from tunaeval.clients.openai import OpenAIClient
from tunaeval.errors import ClientError, TransportFailure


def test_a_huge_body_is_not_read_to_its_end() -> None:
    block = b" " * (1 << 20)
    with (
        FaultServer(then=Answer(block, times=100)) as server,
        pytest.raises(TransportFailure, match="larger than 16,777,216 bytes"),
    ):
        ask(server)
    assert len(server.seen) == 1


def test_a_compressed_bomb_is_not_unpacked() -> None:
    bomb = gzip.compress(b" " * (4 * MAX_BODY_BYTES))
    tracemalloc.start()
    try:
        failed = failure(then=Answer(bomb, headers={"Content-Encoding": "gzip"}))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert failed.kind == "body"
    assert peak < 3 * MAX_BODY_BYTES


def test_a_compressed_reply_is_read() -> None:
    answer = Answer(gzip.compress(GOOD), headers={"Content-Encoding": "gzip"})
    with FaultServer(answer) as server:
        assert ask(server).message["content"] == "hello"


@pytest.mark.parametrize(
    "answer",
    [
        Answer(gzip.compress(GOOD)[:-10], headers={"Content-Encoding": "gzip"}),
        Answer(GOOD, headers={"Content-Encoding": "gzip"}),
        Answer(GOOD, headers={"Content-Encoding": "zstd"}),
    ],
    ids=["cut", "not gzip", "not asked for"],
)
def test_a_body_that_cannot_be_unpacked_is_named(answer: Answer) -> None:
    failed = failure(then=answer)
    assert failed.kind == "body"
    assert answer.headers["Content-Encoding"] in str(failed)


@pytest.mark.parametrize("status", [200, 400, 401, 403, 404, 405, 418, 429, 500, 503])
def test_the_keys_of_others_are_shown_with_no_status(
    status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = ["sk-ant-api03-" + "Zx9aQ7" * 7, "ghp_" + "Zx9aQ7" * 6, "AKIAIOSFODNN7EXAMPLE"]
    monkeypatch.setenv("OTHER_TOKEN", "just-some-words")
    words = f"bad key {' '.join(keys)} just-some-words"
    for body in (json.dumps({"error": {"message": words}}).encode(), words.encode()):
        said = str(failure(Answer(body, status=status), max_retries=0))
        assert "bad key <key> <key> <key> <key>" in said
        assert not any(key in said for key in keys)
    for at in range(120, 200, 8):
        cut = Answer(("x" * at + " " + words).encode(), status=status)
        assert keys[0][:20] not in str(failure(cut, max_retries=0))


def test_the_keys_of_others_are_shown_of_no_header() -> None:
    key = "sk-ant-api03-" + "Zx9aQ7" * 7
    moved = Answer(b"{}", status=307, headers={"location": f"http://h/?key={key}"})
    for answer in (moved, Answer(b"{}", headers={"content-encoding": key})):
        said = str(failure(answer, max_retries=0))
        assert "<key>" in said
        assert key[:20] not in said.lower()
        assert key[:20].lower() not in said.lower()


def test_redirects_are_not_followed() -> None:
    with FaultServer() as other:
        answer = Answer(status=307, headers={"Location": f"{other.base_url}/chat/completions"})
        with (
            FaultServer(then=answer) as server,
            pytest.raises(TransportFailure, match="redirects are not followed"),
        ):
            ask(server)
    assert other.connections == 0


def test_a_redirect_with_the_key_in_it_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TUNAEVAL_API_KEY", CANARY_KEY)
    there = Answer(status=302, headers={"Location": f"http://x/?key={CANARY_KEY}"})
    with FaultServer(then=there) as server, pytest.raises(TransportFailure) as caught:
        ask(server)
    assert CANARY_KEY not in str(caught.value)


ECHO = json.dumps({"error": {"message": f"Bearer {CANARY_KEY} is wrong"}}).encode()
LEAKS = {
    "refused": Answer(ECHO, status=401),
    "unknown model": Answer(ECHO, status=404),
    "bad request": Answer(ECHO, status=400),
    "broken body": Answer(b"x" * 190 + CANARY_KEY.encode()),
    "HTML": Answer(b"<html>" + CANARY_KEY.encode()),
    "an error with status 200": Answer(ECHO),
    "reset": Answer(GOOD, cut_after=5, reset=True),
    "good": Answer(GOOD),
}


@pytest.mark.parametrize("name", LEAKS)
def test_the_key_is_shown_nowhere(
    name: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("TUNAEVAL_API_KEY", CANARY_KEY)
    shown = []

    async def run(base_url: str) -> None:
        client = OpenAIClient(base_url=base_url, model="m", max_retries=1)
        shown.extend([repr(client), str(client.details), repr(vars(client))])
        try:
            shown.append(repr(await client.complete(HELLO)))
        except ClientError as error:
            shown.extend([repr(error), *traceback.format_exception(error)])
        finally:
            await client.close()

    with caplog.at_level(logging.DEBUG), FaultServer(then=LEAKS[name]) as server:
        asyncio.run(run(server.base_url))
    assert server.seen[0].headers["authorization"] == f"Bearer {CANARY_KEY}"
    assert CANARY_KEY[:12] not in "".join([*shown, caplog.text])
