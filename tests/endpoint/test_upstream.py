"""The upstream is asked as every server is: bounded, at its own address, without proxies."""

from __future__ import annotations

import gzip
import json
import tracemalloc
from pathlib import Path
from typing import Any

import httpx2
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tunaeval
from tests.endpoint.asking import chat, question, refusal, said
from tests.endpoint.test_strangers import spoil
from tests.faults import Answer, FaultServer, completion
from tests.faults import chat as answer
from tunaeval.clients.answers import MAX_BODY_BYTES
from tunaeval.errors import UsageError
from tunaeval.types.faults import Cut

CALL = {"id": "c", "type": "function", "function": {"name": "bash", "arguments": "{}"}}


def asked(server: FaultServer, url: str = "", **options: Any) -> Any:
    """The reply to one question that is passed on."""
    with tunaeval.model_endpoint(upstream=url or server.base_url, **options) as model:
        return chat(model.url)


@pytest.mark.parametrize("packs", [True, False])
def test_an_upstreams_answer_is_bounded(packs: bool) -> None:
    block = b" " * MAX_BODY_BYTES
    bomb = Answer(block, times=4)
    if packs:
        bomb = Answer(gzip.compress(block * 4), headers={"content-encoding": "gzip"})
    with FaultServer(then=bomb) as server:
        tracemalloc.start()
        try:
            reply = asked(server)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert reply.status_code == 502
    assert "larger than 16,777,216 bytes" in refusal(reply)
    assert peak < 5 * MAX_BODY_BYTES


def test_a_packed_answer_is_read() -> None:
    packed = Answer(gzip.compress(answer("Yes.").body), headers={"content-encoding": "gzip"})
    with FaultServer(packed) as server:
        assert said(asked(server))["content"] == "Yes."


@pytest.mark.parametrize(
    ("address", "path"),
    [
        ("/v1?token=abc", "/v1/chat/completions?token=abc"),
        ("/v1/?a=1&b=2", "/v1/chat/completions?a=1&b=2"),
        ("/openai/deployments/d/", "/openai/deployments/d/chat/completions"),
        ("", "/chat/completions"),
    ],
)
def test_path_and_query_of_the_base_url_are_kept(address: str, path: str) -> None:
    with FaultServer() as server:
        asked(server, f"http://127.0.0.1:{server.port}{address}")
    assert [seen.path for seen in server.seen] == [path]


def test_a_key_in_the_query_is_in_no_cassette(tmp_path: Path) -> None:
    file = tmp_path / "c.jsonl"
    with FaultServer(answer("I am asked with query-secret-44.")) as server:
        url = f"{server.base_url}?token=query-secret-44"
        reply = asked(server, url, cassette=file, record=True)
    assert "query-secret-44" in said(reply)["content"]
    assert "I am asked with <key>." in file.read_text("utf-8")


def test_proxies_of_the_environment_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1,localhost")
    with FaultServer() as proxy, FaultServer() as server:
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{proxy.port}")
        assert said(asked(server, f"http://localhost:{server.port}/v1"))["content"] == "hello"
        assert proxy.connections == 0
        assert said(asked(server, "http://server.invalid/v1"))["content"] == "hello"
        assert proxy.connections == 1


@pytest.mark.parametrize(
    ("fault", "status", "words"),
    [
        (Answer(answer("x").body, seconds_before=3), 504, "no whole reply within 0.2 s"),
        (Answer(answer("x").body, cut_after=9), 502, "the connection broke"),
        (Answer(b"{", status=200), 502, "the upstream says: '{'"),
        (Answer(b'{"error": {"message": "too busy"}}', status=503), 503, "says: too busy"),
        (Answer(b"no", status=404), 404, "says: 'no'"),
        (Answer(b"", status=307, headers={"location": "http://x/"}), 400, "says: ''"),
    ],
)
def test_an_upstream_without_an_answer_is_named(fault: Answer, status: int, words: str) -> None:
    with FaultServer(then=fault) as server:
        reply = asked(server, timeout_seconds=0.2 if status == 504 else 60)
    assert (reply.status_code, words in refusal(reply)) == (status, True), reply.text


def test_the_agents_own_key_is_passed_on_where_there_is_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("TUNAEVAL_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    with FaultServer() as server:
        with tunaeval.model_endpoint(upstream=server.base_url) as model:
            chat(model.url, authorization="Bearer of-the-agent")
            chat(model.url)
        url = server.base_url.replace("://", "://who:is%20it@")
        with tunaeval.model_endpoint(upstream=url) as model:
            chat(model.url, authorization="Bearer of-the-agent")
    got = [seen.headers.get("authorization") for seen in server.seen]
    assert got == ["Bearer of-the-agent", None, "Basic d2hvOmlzIGl0"]


KEYS = {
    "chat/completions": ("OPENAI_API_KEY", "authorization", "Bearer "),
    "messages": ("ANTHROPIC_API_KEY", "x-api-key", ""),
    "models/m:generateContent": ("GOOGLE_API_KEY", "x-goog-api-key", ""),
}
REQUEST = question(contents=[{"parts": [{"text": "Hi."}]}])


@pytest.mark.parametrize("path", KEYS)
def test_each_api_is_asked_with_its_own_key_and_no_other(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TUNAEVAL_API_KEY", raising=False)
    for name, *_ in KEYS.values():
        monkeypatch.setenv(name, f"secret-of-{name}")
    name, header, scheme = KEYS[path]
    tools = [] if path.startswith("models") else REQUEST["tools"]
    with FaultServer() as server:
        for is_known in (True, False):
            if not is_known:
                monkeypatch.delenv(name)
            with tunaeval.model_endpoint(upstream=server.base_url) as model:
                sent = {header: "of-the-agent", "anthropic-version": "2023-06-01"}
                httpx2.post(f"{model.url}/{path}", json=REQUEST | {"tools": tools}, headers=sent)
    own, agents = (seen.headers for seen in server.seen)
    assert own[header] == f"{scheme}secret-of-{name}"
    assert agents[header] == "of-the-agent"
    assert own["anthropic-version"] == "2023-06-01"
    for headers in (own, agents):
        assert [one for _, one, _ in KEYS.values() if one in headers] == [header]


def test_a_key_in_a_query_of_google_is_passed_on_and_in_no_cassette(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("TUNAEVAL_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    file = tmp_path / "c.jsonl"
    candidate = {"content": {"parts": [{"text": "I know query-secret-44."}]}}
    answered = Answer(json.dumps({"candidates": [candidate]}).encode())
    with (
        FaultServer(answered) as server,
        tunaeval.model_endpoint(upstream=server.base_url, cassette=file, record=True) as model,
    ):
        url = f"{model.google_url}/v1beta/models/m:generateContent?key=query-secret-44"
        reply = httpx2.post(url, json=REQUEST | {"tools": []})
    assert reply.status_code == 200
    assert server.seen[0].headers["x-goog-api-key"] == "query-secret-44"
    assert server.seen[0].path == "/v1/models/m:generateContent"
    assert "I know <key>." in file.read_text("utf-8")


@pytest.mark.parametrize(
    "address", ["http://127.0.0.1:99999/v1", "http://.../v1", f"http://{'a' * 300}/v1", "", "x"]
)
def test_an_address_that_cannot_be_is_refused(address: str) -> None:
    with pytest.raises(UsageError, match="upstream"):
        tunaeval.model_endpoint(upstream=address)


def test_the_choice_of_index_0_is_passed_on() -> None:
    choices = [
        {"index": index, "message": {"role": "assistant", "content": content}}
        for index, content in ((1, "b"), (0, "a"))
    ]
    with FaultServer(Answer(json.dumps({"choices": choices}).encode())) as server:
        assert said(asked(server))["content"] == "a"


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    deadline=None,
    max_examples=settings().max_examples // 4,  # each starts two servers
)
@given(data=st.data())
@pytest.mark.parametrize(
    "api", ["chat/completions", "responses", "messages", "models/m:generateContent"]
)
def test_whatever_an_upstream_answers_is_passed_on_or_refused(
    api: str, data: st.DataObject
) -> None:
    message = {"role": "assistant", "content": "c", "tool_calls": [CALL], "reasoning_content": "r"}
    document: Any = json.loads(completion(message).body)
    usage = {"input_tokens": 1, "output_tokens": 2}
    if api == "responses":
        text = {"type": "output_text", "text": "t", "annotations": []}
        items = [
            {"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": "s"}]},
            {"type": "message", "id": "m", "role": "assistant", "content": [text]},
            {"type": "function_call", "id": "f", "call_id": "c", "name": "x", "arguments": "{}"},
        ]
        document = {"id": "i", "status": "completed", "output": items, "usage": usage}
    if api == "messages":
        blocks = [
            {"type": "thinking", "thinking": "t", "signature": "s"},
            {"type": "text", "text": "t"},
            {"type": "tool_use", "id": "c", "name": "x", "input": {}},
        ]
        document = {"id": "i", "content": blocks, "stop_reason": "tool_use", "usage": usage}
    if api.startswith("models"):
        parts = [{"text": "t", "thought": True}, {"functionCall": {"name": "x", "args": {}}}]
        candidate = {"content": {"parts": parts}, "finishReason": "STOP"}
        document = {"candidates": [candidate], "usageMetadata": {"promptTokenCount": 1}}
    given_ = json.dumps(spoil(document, data)).encode()
    streams = data.draw(st.booleans())
    faults = data.draw(st.sampled_from([[], [Cut(at=1, by="length")]]))
    body = question(input="Hi.", contents=[{"parts": [{"text": "Hi."}]}], stream=streams)
    body |= {} if api in ("chat/completions", "messages") else {"tools": []}
    if streams:
        api = api.replace(":g", ":streamG")
    with (
        FaultServer(then=Answer(given_)) as server,
        tunaeval.model_endpoint(upstream=server.base_url, faults=faults) as model,
    ):
        reply = httpx2.post(f"{model.url}/{api}", json=body)
        assert reply.status_code in (200, 502), (given_, reply.text)
        assert model.usage.prompt_tokens is not None
        assert len(model.transcript) in (1, 2)
