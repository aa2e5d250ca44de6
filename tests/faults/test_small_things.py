"""What is legal and rare, or wrong and small: each read, or refused in words."""

from __future__ import annotations

import asyncio
import gzip
import json
import logging
import shutil
import ssl
import subprocess
import time
from pathlib import Path

import httpx2
import pytest

import tunaeval
from tests.clients.asking import GOOD, HELLO, ask, failure
from tests.faults import CANARY_KEY, Answer, FaultServer
from tests.faults.runs import within
from tunaeval.clients.openai import OpenAIClient
from tunaeval.errors import (
    ClientSetupError,
    ExpectationError,
    SuiteError,
    ToolsError,
    TunaevalError,
    UsageError,
)
from tunaeval.runs.directory import load_report
from tunaeval.tasks.suites.loading import load_suite
from tunaeval.tools.tool_prompts import read_tool_prompt
from tunaeval.types.exchange import Reply


def gzipped(body: bytes) -> Answer:
    return Answer(body, headers={"content-encoding": "gzip"})


@pytest.mark.parametrize("cut", [1, 40, len(GOOD) - 1])
def test_a_gzip_of_several_members_is_read(cut: int) -> None:
    body = gzip.compress(GOOD[:cut]) + gzip.compress(GOOD[cut:]) + b"\0" * 9
    with FaultServer(gzipped(body)) as server:
        assert ask(server).message["content"] == "hello"


def test_members_without_end_are_no_way_around_the_limit() -> None:
    bomb = gzip.compress(b" " * (9 << 20))
    assert "larger than" in str(failure(then=gzipped(bomb * 2)))
    with within(3):
        failure(then=gzipped(gzip.compress(b"") * 20_000), max_retries=0)


@pytest.mark.parametrize("end", [b"\x1f", b"\x1f\x8b\x08", b"rest"])
def test_what_follows_a_gzip_and_is_none_is_a_broken_body(end: bytes) -> None:
    assert failure(then=gzipped(gzip.compress(GOOD) + end)).kind == "body"


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[Path, ssl.SSLContext]:
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not here to make a certificate")
    key, made = tmp_path / "key.pem", tmp_path / "certificate.pem"
    subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-days", "1"]
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", *subject]
    subprocess.run([*command, "-keyout", key, "-out", made], check=True, capture_output=True)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(made, key)
    return made, context


def test_a_private_authority_is_named_by_ssl_cert_file(
    certificate: tuple[Path, ssl.SSLContext], monkeypatch: pytest.MonkeyPatch
) -> None:
    made, context = certificate
    monkeypatch.setenv("SSL_CERT_FILE", str(made))

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%b" % (len(GOOD), GOOD))
        await writer.drain()
        writer.close()

    async def talk() -> Reply:
        server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)
        port = server.sockets[0].getsockname()[1]
        client = OpenAIClient(base_url=f"https://localhost:{port}/v1", model="m")
        try:
            return await client.complete(HELLO)
        finally:
            await client.close()
            server.close()

    assert asyncio.run(talk()).message["content"] == "hello"


def test_an_authority_that_cannot_be_read_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for words in (None, "no certificate"):
        if words is not None:
            (tmp_path / "ca.pem").write_text(words)
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
        with pytest.raises(ClientSetupError, match=r"SSL_CERT_FILE.*ca\.pem"):
            OpenAIClient(base_url="https://localhost:9/v1", model="m")


def test_a_key_that_a_server_echoes_is_in_no_log(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TUNAEVAL_API_KEY", CANARY_KEY)
    caplog.set_level(logging.DEBUG)
    echo = Answer(GOOD, headers={"x-key": CANARY_KEY, "set-cookie": f"k={CANARY_KEY}"})
    with FaultServer(echo) as server:
        ask(server, transport=httpx2.AsyncHTTPTransport())  # which logs all that comes
    said = "\n".join(record.getMessage() for record in caplog.records)
    assert "receive_response_headers" in said
    assert "x-key" in said
    assert CANARY_KEY not in said


EVENTS = [
    {"choices": [{"delta": {"content": "Hel"}}]},
    {"choices": [{"delta": {"content": "lo"}, "finish_reason": "stop"}]},
]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("start", ["", "\ufeff"])
@pytest.mark.parametrize("size", [1, 2, 3, 1000])
def test_a_stream_of_events_is_read_whatever_ends_its_lines(
    end: str, start: str, size: int
) -> None:
    text = start + "".join(f"data: {json.dumps(one)}{end}{end}" for one in EVENTS)
    data = (text + f"data: [DONE]{end}").encode()
    stream = tunaeval.stream()
    for at in range(0, len(data), size):
        stream.feed_sse(data[at : at + size])
    result = stream.finish()
    assert (result.content, result.truncated, result.diagnoses) == ("Hello", False, ())


def test_streamed_calls_have_the_order_of_their_indices() -> None:
    def fragment(index: int, name: str) -> str:
        function = {"name": name, "arguments": "{}"}
        call = {"index": index, "id": f"c{index}", "function": function}
        return f"data: {json.dumps({'choices': [{'delta': {'tool_calls': [call]}}]})}\n\n"

    stream = tunaeval.stream()
    stream.feed_sse(fragment(1, "second") + fragment(0, "first") + "data: [DONE]\n\n")
    assert [call.name for call in stream.finish().calls] == ["first", "second"]


@pytest.mark.parametrize("expect", [None, 3, "ls", ["ls"], [("calls", [])], object()])
def test_an_expectation_that_is_no_mapping_is_refused_in_words(expect: object) -> None:
    with pytest.raises(ExpectationError, match="an expectation is a mapping"):
        tunaeval.match(expect, [])  # type: ignore[arg-type] # that is the point


def test_nul_in_a_path_is_refused_in_words(tmp_path: Path) -> None:
    name = str(tmp_path / "a\0b.json")
    with pytest.raises((ToolsError, UsageError), match="NUL"):
        read_tool_prompt(name)
    with pytest.raises(UsageError, match="NUL"):
        load_report(name)
    with pytest.raises(TunaevalError):
        load_suite(name)


def test_many_keys_and_one_of_them_twice_take_no_time(tmp_path: Path) -> None:
    def seconds(count: int) -> float:
        keys = ", ".join(f'"k{n}": 1' for n in range(count))
        (tmp_path / "s.json").write_text(f'{{{keys}, "k{count - 1}": 2}}')
        started = time.process_time()
        with pytest.raises(SuiteError, match=f"the key 'k{count - 1}' twice"):
            load_suite(tmp_path / "s.json")
        return time.process_time() - started

    assert any(seconds(40_000) < 8 * seconds(10_000) + 0.05 for _ in range(3))


@pytest.mark.parametrize(
    "value", ["!!int ''", "!!int '-'", "!!float ''", "!!bool 'maybe'", "!!int x", "!!float '1:x'",
              "!!null 'x'", "!!int {a: 1}", "!!timestamp 'x'", "!!binary '*'", "!!foo 1"]
)  # fmt: skip
def test_a_tag_that_its_text_does_not_fit_is_an_error_of_the_suite(
    tmp_path: Path, value: str
) -> None:
    pytest.importorskip("yaml")
    (tmp_path / "s.yaml").write_text(f"name: s\nscenarios:\n  - {{id: a, prompt: {value}}}\n")
    with pytest.raises(SuiteError, match=r"s\.yaml"):
        load_suite(tmp_path / "s.yaml")
