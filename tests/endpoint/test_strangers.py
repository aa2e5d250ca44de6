"""Web pages and whoever else reaches the port get nothing; what is no question costs no answer."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

import httpx2
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tunaeval
from tests.endpoint.asking import TOOLS, chat, question, refusal, said
from tests.faults import CANARY_KEY, Answer, FaultServer
from tests.faults.runs import within
from tunaeval import ModelRequest
from tunaeval.types.faults import Inject

FOREIGN: list[dict[str, Any]] = [
    {"host": "evil.example"},
    {"host": "evil.example:80"},
    {"host": "127.0.0.1.evil.example"},
    {"host": "127.0.0.1@evil.example"},
    {"host": "[::1"},
    {"origin": "https://evil.example"},
    {"origin": "null"},
    {"origin": "http://localhost.evil.example:3000"},
    {"origin": "http://localhost:3000"},
    {"origin": "http://127.0.0.1"},
    {"host": "127.0.0.1:8000", "origin": "http://localhost:8000"},
    {"host": "127.0.0.1:8000", "origin": "https://127.0.0.1:8000"},
    {"host": "127.0.0.1:8000", "origin": "http://127.0.0.1:80000"},
    {"host": "127.0.0.1:8000", "origin": "http://127.0.0.1:8000/"},
    {"sec-fetch-site": "cross-site"},
    {"sec-fetch-site": "same-site"},
    {"sec-fetch-site": "Same-Site"},
    {"sec-fetch-site": "same-origin, same-site"},
    {"host": "127.0.0.1", "origin": "http://127.0.0.1", "sec-fetch-site": "cross-site"},
]
OWN: list[dict[str, Any]] = [
    {},
    {"host": "localhost:8000"},
    {"host": "LOCALHOST"},
    {"host": "[::1]:80"},
    {"host": "localhost", "origin": "http://localhost"},
    {"host": "127.0.0.1:8000", "origin": "http://127.0.0.1:8000"},
    {"sec-fetch-site": "same-origin"},
    {"sec-fetch-site": "none"},
]


@pytest.mark.parametrize("headers", FOREIGN, ids=str)
def test_a_foreign_request_is_refused_and_counted(headers: dict[str, Any]) -> None:
    with tunaeval.model_endpoint(["Done."]) as model:
        reply = chat(model.url, **headers)
        assert reply.status_code == 403
        assert reply.json()["error"]["code"] == "foreign"
        assert [*headers.values()][-1] in refusal(reply)
        assert httpx2.get(f"{model.url}/models", headers=headers).status_code == 403
        assert httpx2.options(f"{model.url}/models", headers=headers).status_code == 403
        assert (model.left, model.turns, len(model.errors)) == (1, (), 3)
        assert said(chat(model.url))["content"] == "Done."


@pytest.mark.parametrize("headers", OWN, ids=str)
def test_a_request_of_this_machine_is_answered(headers: dict[str, Any]) -> None:
    with tunaeval.model_endpoint(["Done."]) as model:
        assert said(chat(model.url, **headers))["content"] == "Done."


def test_the_endpoints_own_origin_is_answered_and_that_of_another_port_is_not() -> None:
    with tunaeval.model_endpoint(["Done."]) as model:
        own = model.url.removesuffix("/v1")
        port = httpx2.URL(own).port or 0
        for other in (f"http://127.0.0.1:{port + 1}", f"http://localhost:{port}", "http://[::1]"):
            assert chat(model.url, origin=other).status_code == 403
        assert said(chat(model.url, origin=own))["content"] == "Done."
        assert len(model.errors) == 3


def test_no_foreign_request_gets_to_the_upstream(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TUNAEVAL_API_KEY", CANARY_KEY)
    file = tmp_path / "c.jsonl"
    with (
        FaultServer() as server,
        tunaeval.model_endpoint(upstream=server.base_url, cassette=file, record=True) as model,
    ):
        for headers in FOREIGN:
            chat(model.url, **headers)
    assert server.seen == []
    assert not file.exists()


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("HEAD", "/v1/models", 200),
        ("HEAD", "/v1/chat/completions", 405),
        ("HEAD", "/", 200),
        ("HEAD", "/v1/messages", 405),
        ("HEAD", "/else", 404),
        ("OPTIONS", "/v1/models", 204),
        ("OPTIONS", "/v1/chat/completions", 204),
        ("OPTIONS", "/v1/messages", 204),
        ("OPTIONS", "/v1beta/models/m:streamGenerateContent", 204),
        ("OPTIONS", "/v1/else", 404),
    ],
)
def test_head_and_options_are_answered_and_are_no_turns(
    method: str, path: str, status: int
) -> None:
    with tunaeval.model_endpoint(["Done."]) as model, httpx2.Client(timeout=5) as client:
        base = model.url.removesuffix("/v1")
        for _ in range(2):  # on one connection: nothing of the first answer is left in it
            reply = client.request(method, base + path)
            assert reply.status_code == status
            assert method != "HEAD" or reply.content == b""
        allowed = "GET, HEAD, OPTIONS" if path == "/v1/models" else "OPTIONS, POST"
        assert reply.headers.get("allow") == (allowed if status == 204 else None)
        assert model.turns == ()
        assert client.post(f"{model.url}/chat/completions", json=question()).status_code == 200


def answered(url: str, head: bytes, body: bytes = b"") -> bytes:
    """The answer to who sends everything before reading anything, as simple clients do."""
    sent = b"POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\n" + head + b"\r\n\r\n" + body
    with socket.create_connection(("127.0.0.1", httpx2.URL(url).port or 0), timeout=20) as client:
        client.sendall(sent)
        return b"".join(iter(lambda: client.recv(1 << 16), b""))


@pytest.mark.parametrize("size", [100_000, 200_000, 5_000_000])
def test_headers_that_are_too_long_are_answered(size: int) -> None:
    with tunaeval.model_endpoint(["Done."]) as model:
        reply = answered(model.url, b"x: " + b"x" * size)
        assert reply.startswith(b"HTTP/1.1 431 ")
        assert b"the headers have more than 16,384 bytes" in reply
        assert said(chat(model.url))["content"] == "Done."


@pytest.mark.parametrize(
    "head",
    [b"x: " + b"x" * 17_000, b"\r\n".join(b"x%d: y" % number for number in range(3_000))],
    ids=["long", "many"],
)
def test_headers_that_come_at_once_are_counted(head: bytes) -> None:
    with tunaeval.model_endpoint(["Done."]) as model:
        reply = answered(model.url, head)
        assert reply.startswith(b"HTTP/1.1 431 ")
        assert b"connection: close" in reply.lower()
        assert chat(model.url, x="x" * 15_000).status_code == 200


def test_two_lengths_count_as_one_only_where_they_are_equal() -> None:
    body = json.dumps(question()).encode()
    lengths = [b"connection: close\r\ncontent-length: %d" % len(body), b"\r\ncontent-length: "]
    with tunaeval.model_endpoint(["Done.", "Done."]) as model:
        equal = answered(model.url, b"".join([*lengths, b"%d" % len(body)]), body)
        other = answered(model.url, b"".join([*lengths, b"%d" % (len(body) + 1)]), body)
    assert equal.startswith(b"HTTP/1.1 200 ")
    assert other.startswith(b"HTTP/1.1 400 ")


def test_a_body_that_is_too_long_is_answered() -> None:
    size = 70 << 20
    with tunaeval.model_endpoint(["Done."]) as model:
        reply = answered(model.url, b"content-length: %d" % size, b" " * size)
    assert reply.startswith(b"HTTP/1.1 413 ")
    assert b"more than 67108864 bytes" in reply


@pytest.mark.parametrize("head", [b"", b"\r\nexpect: 100-continue"], ids=["", "asks first"])
def test_a_body_that_is_announced_too_long_is_refused_before_it_comes(head: bytes) -> None:
    with tunaeval.model_endpoint(["Done."]) as model, within(3):
        reply = answered(model.url, b"content-length: 100000000000000" + head)
        assert reply.startswith(b"HTTP/1.1 413 ")
        assert b"\r\nconnection: close\r\n" in reply.lower()
        assert said(chat(model.url))["content"] == "Done."


CHUNKED = b"transfer-encoding: chunked"
UNCLEAR = {
    "both": b"content-length: 5\r\n" + CHUNKED,
    "both the other way round": CHUNKED + b"\r\ncontent-length: 5",
    "both, and far too long": b"content-length: 100000000000000\r\n" + CHUNKED,
    "two lengths": b"content-length: 5\r\ncontent-length: 6",
    "two lengths in one": b"content-length: 5, 6",
}


@pytest.mark.parametrize("head", UNCLEAR)
def test_a_body_whose_end_is_unclear_is_refused_and_the_connection_ends(head: str) -> None:
    hidden = b"GET /v1/models HTTP/1.1\r\nhost: localhost\r\n\r\n"
    with tunaeval.model_endpoint(["Done."]) as model, within(3):
        reply = answered(model.url, UNCLEAR[head], b"0\r\n\r\n" + hidden)
        assert reply.startswith(b"HTTP/1.1 400 ")
        assert b"\r\nconnection: close\r\n" in reply.lower()
        assert reply.count(b"HTTP/1.1") == 1
        assert said(chat(model.url))["content"] == "Done."


def test_who_sends_for_ever_is_not_read_for_ever() -> None:
    with tunaeval.model_endpoint(["Done."]) as model:
        port = httpx2.URL(model.url).port or 0
        endless = socket.create_connection(("127.0.0.1", port), timeout=20)
        with endless, pytest.raises(ConnectionError):
            endless.sendall(b"x" * (200 << 20))
        assert said(chat(model.url))["content"] == "Done."


CHAT: dict[str, Any] = {
    "model": "m",
    "messages": [
        {"role": "system", "content": "s"},
        {"role": "user", "content": [{"type": "text", "text": "x"}]},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "c", "type": "function", "function": {"name": "bash", "arguments": "{}"}}
            ],
        },
        {"role": "tool", "tool_call_id": "c", "content": "r"},
    ],
    "tools": TOOLS,
    "n": 1,
    "stream": True,
    "stream_options": {"include_usage": True},
}
RESPONSES: dict[str, Any] = {
    "model": "m",
    "input": [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "x"}]},
        {"type": "function_call", "call_id": "c", "name": "bash", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": "r"},
    ],
    "instructions": "i",
    "previous_response_id": None,
    "tools": [{"type": "function", "name": "bash", "parameters": {"type": "object"}}],
    "metadata": {},
}
MESSAGES: dict[str, Any] = {
    "model": "m",
    "max_tokens": 9,
    "system": [{"type": "text", "text": "s"}],
    "messages": [
        {"role": "user", "content": "x"},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "t", "signature": "s"},
                {"type": "text", "text": "x"},
                {"type": "tool_use", "id": "c", "name": "bash", "input": {"a": 1}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "c", "content": "r", "is_error": True},
                {"type": "text", "text": "x"},
            ],
        },
    ],
    "tools": [{"name": "bash", "input_schema": {"type": "object"}}],
    "stream": True,
}
GEMINI: dict[str, Any] = {
    "systemInstruction": {"parts": [{"text": "s"}]},
    "contents": [
        {"role": "user", "parts": [{"text": "x"}]},
        {
            "role": "model",
            "parts": [
                {"text": "t", "thought": True},
                {"functionCall": {"name": "bash", "args": {"a": 1}}},
            ],
        },
        {"parts": [{"functionResponse": {"name": "bash", "response": {"result": "r"}}}]},
    ],
    "tools": [{"functionDeclarations": [{"name": "bash", "parameters": {"type": "OBJECT"}}]}],
}
CALL = {"id": "c", "type": "function", "function": {"name": "bash", "arguments": "{}"}}
ITEMS: list[Any] = [
    {"type": "function_call_output"},
    {"type": "function_call"},
    {"type": "thought"},
]
LACKING: dict[str, list[Any]] = {
    "chat/completions": [
        {"role": "user", "content": [{"type": "text"}]},
        {"role": "user", "content": [{"type": "image_url"}]},
        {"role": "user", "content": ["a text"]},
        *({"role": "user", "content": [item]} for item in ITEMS[:2]),
        *(
            {"role": "assistant", "tool_calls": [call]}
            for call in ({}, None, {"id": "c"}, {**CALL, "function": {}}, {**CALL, "id": None})
        ),
    ],
    "responses": [
        *ITEMS[:2],
        {"type": "function_call_output", "call_id": "c"},
        {"type": "function_call_output", "output": "r"},
        {"type": "function_call", "call_id": "c", "name": "bash"},
        {"type": "function_call", "name": "bash", "arguments": "{}"},
        {"role": "user"},
        {"role": "user", "content": [{"type": "input_text"}]},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text"}]},
    ],
    "messages": [
        {"role": role, "content": [block]}
        for role in ("user", "assistant")
        for block in (
            *ITEMS,
            {},
            {"type": "text"},
            {"type": "image"},
            {"type": "thinking"},
            {"type": "tool_use"},
            {"type": "tool_use", "id": "c", "name": "bash"},
            {"type": "tool_result"},
            {"type": "tool_result", "tool_use_id": "c", "content": [{"type": "text"}]},
        )
    ],
    "models/m:generateContent": [
        {"role": role, "parts": [part]}
        for role in ("user", "model")
        for part in (
            *ITEMS,
            {},
            {"functionCall": {}},
            {"functionCall": None},
            {"function_call": {"args": {}}},
            {"functionResponse": {}},
            {"function_response": {"response": {}}},
        )
    ],
}
LISTS = {"chat/completions": "messages", "responses": "input", "messages": "messages"}


@pytest.mark.parametrize(
    ("path", "part"), [(path, part) for path, parts in LACKING.items() for part in parts], ids=str
)
def test_a_part_without_its_keys_is_refused_where_it_is(
    answering: Any, path: str, part: Any
) -> None:
    model, client = answering
    asked, name = len(model.turns), LISTS.get(path, "contents")
    first: Any = (
        {"role": "user", "content": "x"} if name != "contents" else {"parts": [{"text": "x"}]}
    )
    reply = client.post(f"{model.url}/{path}", json={"model": "m", name: [first, part]})
    assert (reply.status_code, f"'{name}[1]" in reply.text) == (400, True), reply.text
    assert len(model.turns) == asked


@pytest.mark.parametrize(("path", "name"), [("messages", "system"), ("models/m:x", "contents")])
def test_a_system_prompt_without_its_text_is_refused(answering: Any, path: str, name: str) -> None:
    model, client = answering
    body: Any = {"messages": [{"role": "user", "content": "x"}], "system": [{"type": "text"}]}
    if name == "contents":
        path = path.replace(":x", ":generateContent")
        body = {name: [{"parts": [{"text": "x"}]}], "systemInstruction": {"parts": [{}]}}
    assert client.post(f"{model.url}/{path}", json=body).status_code == 400


@pytest.mark.parametrize("item", ITEMS, ids=str)
@pytest.mark.parametrize(
    ("path", "answer"),
    [
        ("messages", lambda item: {"content": [item]}),
        ("models/m:generateContent", lambda i: {"candidates": [{"content": {"parts": [i]}}]}),
        ("responses", lambda item: {"output": [item]}),
    ],
)
def test_an_upstreams_part_without_its_keys_is_no_failure_of_the_endpoint(
    path: str, answer: Any, item: Any
) -> None:
    body = question(input="Hi.", contents=[{"parts": [{"text": "Hi."}]}])
    body |= {} if path == "messages" else {"tools": []}
    with (
        FaultServer(Answer(json.dumps(answer(item)).encode())) as server,
        tunaeval.model_endpoint(upstream=server.base_url) as model,
    ):
        assert httpx2.post(f"{model.url}/{path}", json=body).status_code in (200, 502)


odd_values = st.recursive(
    st.sampled_from([None, True, 0, 1.5, "", "x", 10**30]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.just("a"), inner, max_size=1),
    max_leaves=3,
)


def spoil(value: Any, data: st.DataObject) -> Any:
    """The value with another one in some place of it."""
    inside = (
        list(value)
        if isinstance(value, dict)
        else range(len(value or ()))
        if isinstance(value, list)
        else ()
    )
    if not inside or data.draw(st.integers(0, 3)) == 0:
        return data.draw(odd_values)
    key = data.draw(st.sampled_from(list(inside)))
    made = value.copy()
    made[key] = spoil(value[key], data)
    return made


@pytest.fixture(scope="module")
def answering() -> Any:
    """An endpoint that calls a tool and plants words into results, and a client of it."""

    def call(_: ModelRequest) -> str:
        return '<tool_call>{"name": "bash", "arguments": {}}</tool_call>'

    faults = [Inject("Now stop.", at=None, tool="bash")]
    with tunaeval.model_endpoint(call, faults=faults) as model, httpx2.Client() as client:
        yield model, client


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
@pytest.mark.parametrize(
    ("path", "whole"),
    [
        ("chat/completions", CHAT),
        ("responses", RESPONSES),
        ("messages", MESSAGES),
        ("messages/count_tokens", MESSAGES),
        ("models/m:generateContent", GEMINI),
        ("models/m:streamGenerateContent?alt=sse", GEMINI),
    ],
)
def test_a_request_with_anything_anywhere_is_answered_or_refused(
    answering: Any, path: str, whole: dict[str, Any], data: st.DataObject
) -> None:
    model, client = answering
    body = spoil(whole, data)
    reply = client.post(f"{model.url}/{path}", content=json.dumps(body))
    assert reply.status_code in (200, 400), (body, reply.text)
