"""The gateway reads the calls that a server leaves in the text, whole and streamed in four APIs."""

from __future__ import annotations

import asyncio
import contextlib
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

import tunaeval
from tests.endpoint.test_growing_answers import ASKED, asked, post, read
from tests.faults import Answer, FaultServer, Seen

GATEWAY = Path(__file__).parents[2] / "examples/gateway.py"
BROKEN = '<tool_call>\n{"name": "bash", "arguments": {"command": "ls -la",}}\n</tool_call>'
USAGE = {"prompt_tokens": 21, "completion_tokens": 9, "total_tokens": 30}


@contextlib.contextmanager
def gateway(upstream: str, *options: str) -> Iterator[str]:
    """Run the program; yield the address in its first line, without the /v1 at its end."""
    command = [sys.executable, "-W", "error", str(GATEWAY), "--upstream", upstream, *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            url = process.stdout.readline().strip()
            assert url.endswith("/v1")
            yield url.removesuffix("/v1")
        finally:
            process.terminate()


def server(seen: Seen) -> Answer:
    """A server without a tool parser: what the model says is content, streamed if that is asked."""
    body = seen.json
    text = f"I look.{BROKEN}" if body["messages"][-1]["content"] == "Hi." else "Hello."
    if seen.headers.get("authorization"):
        text += seen.headers["authorization"]
    head = {"id": "x", "object": "chat.completion.chunk", "model": body["model"]}
    choices: list[Any] = [{"delta": {"role": "assistant", "content": ""}}]
    choices += [{"delta": {"content": text[at : at + 3]}} for at in range(0, len(text), 3)]
    choices += [{"delta": {}, "finish_reason": "stop"}]
    events = [head | {"choices": [{"index": 0, **one}]} for one in choices]
    events += [head | {"choices": [], "usage": USAGE}]
    lines = "".join(f"data: {json.dumps(event)}\n\n" for event in events)
    return Answer(
        f"{lines}data: [DONE]\n\n".encode(), headers={"content-type": "text/event-stream"}
    )


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[str, FaultServer]]:
    with FaultServer(choose=server) as upstream, gateway(upstream.base_url) as url:
        yield url, upstream


@pytest.mark.parametrize("api", ASKED)
@pytest.mark.parametrize("streams", [False, True])
def test_each_api_gets_the_calls(served: tuple[str, FaultServer], api: str, streams: bool) -> None:
    url, upstream = served
    path, body = asked(api, streams=streams)
    reply = post(f"{url}/{path}", body)
    result = read(reply.text, streams=streams)
    assert [(one.name, one.arguments) for one in result.calls] == [("bash", {"command": "ls -la"})]
    assert (result.content, result.diagnoses) == ("I look.", ())
    said = reply.text if streams else str(reply.headers)
    assert "trailing-comma" in said.rpartition("x-tunaeval-repairs")[2]
    assert [one["function"]["name"] for one in upstream.seen[-1].json["tools"]] == [
        "read_file",
        "bash",
    ]
    if api == "chat" and not streams:
        assert reply.json()["usage"] == USAGE
        assert reply.json()["choices"][0]["finish_reason"] == "tool_calls"


@pytest.mark.parametrize("choice", ["none", {"type": "none"}])
def test_where_no_call_is_wanted_the_text_stays(
    served: tuple[str, FaultServer], choice: Any
) -> None:
    path, body = ASKED["chat" if choice == "none" else "messages"]
    reply = post(f"{served[0]}/{path}", {**body, "tool_choice": choice})
    assert json.dumps(BROKEN)[1:-1] in json.dumps(reply.json())
    assert served[1].seen[-1].json["tool_choice"] == "none"


@pytest.mark.parametrize(
    ("answer", "status", "words"),
    [
        (
            Answer(b'{"error": {"message": "slow down"}}', 429, {"retry-after": "9"}),
            429,
            "slow down",
        ),
        (Answer(b"no", 500), 500, "no"),
        (Answer(b'data: {"choices": [{"delta": {}}]}\n\n', cut_after=9), 502, "no whole"),
        (Answer(b"<html>"), 502, "no whole answer"),
    ],
)
def test_an_upstream_that_fails_is_told_as_it_failed(
    answer: Answer, status: int, words: str
) -> None:
    with FaultServer(then=answer) as upstream, gateway(upstream.base_url) as url:
        for streams in (False, True):
            path, body = asked("chat", streams=streams)
            reply = post(f"{url}/{path}", body)
            assert (reply.status_code, words in reply.text) == (status, True), reply.text
            assert reply.headers.get("retry-after") == answer.headers.get("retry-after")


def test_a_dead_upstream_is_a_502() -> None:
    with FaultServer() as upstream:
        address = upstream.base_url
    with gateway(address) as url:
        reply = post(f"{url}/v1/chat/completions", ASKED["chat"][1])
    assert (reply.status_code, "no whole answer" in reply.text) == (502, True)


def test_a_server_that_does_not_stream_is_read() -> None:
    message = {"role": "assistant", "content": BROKEN}
    body = {"choices": [{"message": message, "finish_reason": "stop"}], "usage": USAGE}
    with (
        FaultServer(then=Answer(json.dumps(body).encode())) as upstream,
        gateway(upstream.base_url, "--format", "hermes") as url,
    ):
        reply = post(f"{url}/v1/chat/completions", {**ASKED["chat"][1], "stream": True})
    assert [one.name for one in read(reply.text, streams=True).calls] == ["bash"]


def test_a_client_that_leaves_lets_the_upstream_go() -> None:
    left = threading.Event()

    async def grow(_: tunaeval.ModelRequest) -> Any:
        try:
            while True:
                yield {"content": "more "}
                await asyncio.sleep(0.001)
        finally:
            left.set()

    with tunaeval.model_endpoint(grow) as upstream, gateway(upstream.url) as url:
        body = {**ASKED["chat"][1], "stream": True}
        with httpx2.stream("POST", f"{url}/v1/chat/completions", json=body) as reply:
            next(reply.iter_text())
        assert left.wait(60)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--format", "no-such"), "no-such"),
        (("--level", "odd"), "odd"),
        (("--port", "99999999"), "port"),
        (("--port", "x"), "port"),
    ],
)
def test_wrong_use_is_a_2(options: tuple[str, ...], words: str) -> None:
    command = [sys.executable, str(GATEWAY), "--upstream", "http://127.0.0.1:1/v1", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout, words in done.stderr) == (2, "", True)


def test_a_gateway_is_read_in_two_minutes() -> None:
    assert len(GATEWAY.read_text("utf-8").splitlines()) <= 120
