"""A secret that is known to us is in no cassette and no run directory, wherever it was said."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tunaeval
from tests.endpoint.asking import chat, question, said
from tests.faults import Answer, FaultServer, Seen
from tests.faults import chat as answer
from tests.runs.tasks import ONE, TASK, call, suite_of
from tests.runs.whole_runs import Answers
from tunaeval.endpoint.cassettes import MASKS, key_of
from tunaeval.errors import RecordError, TunaevalError, UsageError
from tunaeval.files.keys import (
    COVER,
    long_enough,
    of_environment,
    of_fields,
    of_headers,
    without,
)
from tunaeval.types.exchange import Request

ENVIRONMENT = {
    "OPENAI_API_KEY": "plain-words-that-are-a-key",
    "MY_SERVICE_TOKEN": 'a "quoted\\ one',
    "DB_PASSWORD": "hunter2hunter2",
    "APP_SECRET": "schön-geheim",
}
HEADERS = {"x-api-key": "header-secret-1", "authorization": "Basic basic-secret-2"}
ADDRESS = ("who-asks-here", "url-secret-33")
EVERY = [*ENVIRONMENT.values(), "header-secret-1", "basic-secret-2", *ADDRESS]


@pytest.fixture(autouse=True)
def _set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)


def in_text(text: str) -> list[str]:
    """The secrets that stand in what was written, as they are or inside of JSON, twice nested."""
    forms = {one: one for one in EVERY}
    for one in EVERY:
        once = json.dumps(one)[1:-1]
        forms |= {once: one, json.dumps(once)[1:-1]: one, json.dumps(one, ensure_ascii=False): one}
    return sorted({one for form, one in forms.items() if form in text})


def test_no_known_secret_is_in_a_cassette_and_it_is_played(tmp_path: Path) -> None:
    words = " ; ".join(EVERY)
    arguments = {"command": f"curl -H {words}", EVERY[0]: [{"deep": words}]}
    script: Any = [tunaeval.ToolCall("bash", arguments), f"I saw {words}"]
    asked = question(f"Use {words}", metadata={"m": words}, extra={words: words})
    cassette = tmp_path / "c.jsonl"
    with tunaeval.model_endpoint(script) as upstream:
        address = upstream.url.replace("://", f"://{':'.join(ADDRESS)}@")
        with tunaeval.model_endpoint(upstream=address, cassette=cassette, record=True) as model:
            got = said(chat(model.url, asked, **HEADERS))["tool_calls"][0]["function"]["arguments"]
            assert json.loads(got) == arguments  # the agent is given what was said
            said(chat(model.url, question(words), **HEADERS))
    kept = cassette.read_text("utf-8")
    assert in_text(kept) == []
    assert kept.count(COVER) >= 2 * len(EVERY)
    with tunaeval.model_endpoint(cassette=cassette) as played:
        # The address is not known when nobody is asked.
        words = words.replace(ADDRESS[0], COVER).replace(ADDRESS[1], COVER)
        changed = question(f"Use {words}", extra={words: words})
        assert COVER in json.dumps(said(chat(played.url, changed, **HEADERS)))
        said(chat(played.url, question(words), **HEADERS))


def test_a_cassette_of_when_fewer_keys_were_known_is_played(tmp_path: Path) -> None:
    asked = question("Ask postgres://who:pw@db with sk-proj-abcdefghijklmnop0123456789.")
    old = {**MASKS, COVER: r"\b(?:sk|pk|rk|xai|gsk|hf|ghp)[-_][A-Za-z0-9_-]{16,}"}
    content = f"Ask postgres://who:pw@db with {COVER}."
    request = {"api": "chat", **asked, "messages": [{"role": "user", "content": content}]}
    message = {"role": "assistant", "content": "Done."}
    line = {"key": key_of(request), "request": request, "message": message, "finish_reason": "stop"}
    cassette = tmp_path / "c.jsonl"
    lines = ({"cassette": 1, "masks": old}, line)
    cassette.write_text("".join(json.dumps(one) + "\n" for one in lines))
    with tunaeval.model_endpoint(cassette=cassette) as played:
        assert said(chat(played.url, asked))["content"] == "Done."


def test_no_known_secret_is_in_a_run_directory(tmp_path: Path) -> None:
    own = [ENVIRONMENT[name] for name in ENVIRONMENT]
    words = " ; ".join(own)

    def answer(request: Request) -> str:
        called = call("write_file", filepath="out.txt", content=words)
        return called if request.attempt == 1 else f"They are {words}."

    suite = suite_of(tmp_path, {**TASK, "files": {**TASK["files"], "env.txt": words}})
    client = Answers(answer)
    report = tunaeval.run(suite, client=client, format="hermes", options=ONE, out=tmp_path / "runs")
    files = [path for path in (tmp_path / "runs").rglob("*") if path.is_file()]
    assert [in_text(path.read_text("utf-8")) for path in files] == [[]] * len(files)
    assert len(files) >= 2
    again = tunaeval.rescore(report.directory or "")
    assert again.report.total == 1
    assert again.unasked == 0


@given(
    st.recursive(st.text() | st.none(), lambda of: st.lists(of) | st.dictionaries(st.text(), of))
)
def test_what_holds_no_secret_stays_as_it_is(value: Any) -> None:
    secrets = long_enough(["never-in-a-text-like-this"])
    assert without(value, secrets) == value
    covered = json.dumps(without({"a": [value, "x never-in-a-text-like-this"]}, secrets))
    assert "never-in" not in covered


def test_what_is_short_or_named_otherwise_is_no_secret() -> None:
    told = {"KEYBOARD": "a-long-value", "API_KEY": "short", "TOKENS": "a-long-value"}
    assert of_environment({**told, "key": "12345678"}) == {"12345678"}
    assert of_headers({"accept": "application/json", "cookie": "a=1; session=2"}) == {
        "a=1; session=2"
    }


def test_an_address_that_cannot_be_used_is_said_without_its_password() -> None:
    with pytest.raises(UsageError) as caught:
        tunaeval.model_endpoint(upstream="ftp://who:url-secret-33@example.org/v1")
    assert "url-secret-33" not in str(caught.value)
    assert "ftp://<key>@example.org" in str(caught.value)


KEY = "Qm4xT9vLr2Zc8Wk5Yp1NhB7s"
PARTS = {
    "whole": [KEY],
    "its beginning": [KEY[:14], KEY[:18]],
    "its end": [KEY[-14:], KEY[-18:]],
    "its middle": [KEY[5:19]],
    "whole, and parts": [KEY, KEY[:14], KEY[-18:]],
}


def is_shown(text: str) -> bool:
    """Whether a text has twelve characters of the key, side by side."""
    return any(KEY[at : at + 12] in text for at in range(len(KEY) - 11))


def echoing(quoted: list[str]) -> Any:
    """A server that refuses the key, and repeats it in its message and in a header."""
    words = f"Incorrect API key provided: {', '.join(quoted)}. No such key."
    body = json.dumps({"error": {"message": words}}).encode()

    def refusing(_: Seen) -> Answer:
        return Answer(body, status=401, headers={"x-key": " ".join(quoted)})

    return refusing


WHERE: dict[str, tuple[dict[str, str], dict[str, Any]]] = {
    "a header": ({"authorization": f"Bearer {KEY}"}, {}),
    "another header": ({"x-api-key": KEY}, {}),
    "a field": ({}, {"api_key": KEY}),
    "an inner field": ({}, {"extra_headers": {"X-Auth-Token": KEY}}),
}


@pytest.mark.parametrize("quoted", PARTS)
@pytest.mark.parametrize("where", WHERE)
def test_no_error_repr_or_log_has_a_part_of_the_agents_key(
    where: str, quoted: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    headers, more = WHERE[where]
    cassette = tmp_path / "c.jsonl"
    caplog.set_level(logging.DEBUG)
    with (
        FaultServer(choose=echoing(PARTS[quoted])) as server,
        pytest.raises(RecordError) as caught,
        tunaeval.model_endpoint(upstream=server.base_url, cassette=cassette, record=True) as model,
    ):
        reply = chat(model.url, question(**more), **headers)
    assert reply.status_code == 401
    assert f"provided: {COVER}" in reply.text
    assert f"provided: {COVER}" in str(caught.value)
    told = [reply.text, *model.errors, *model.unanswered, str(caught.value), caplog.text]
    told += [repr(model.turns), repr(model.requests), *(turn.error or "" for turn in model.turns)]
    assert [one for one in told if is_shown(one)] == []
    assert "(b'x-key', b'" in caplog.text  # the library logs the response's headers


@pytest.mark.parametrize("quoted", PARTS)
def test_no_error_or_log_has_a_part_of_a_key_of_the_environment(
    quoted: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("TUNAEVAL_API_KEY", KEY)
    caplog.set_level(logging.DEBUG)
    suite = suite_of(tmp_path, TASK)
    with FaultServer(choose=echoing(PARTS[quoted])) as server:
        client = tunaeval.OpenAIClient(base_url=server.base_url, model="m")
        with pytest.raises(TunaevalError) as caught:
            tunaeval.run(suite, client=client, options=ONE, out=tmp_path / "runs")
        with tunaeval.model_endpoint(upstream=server.base_url) as model:
            chat(model.url)
    assert len(server.seen) == 2
    told = [str(caught.value), *model.errors, repr(model.turns), caplog.text]
    told += [path.read_text("utf-8") for path in tmp_path.rglob("*") if path.is_file()]
    assert [one for one in told if is_shown(one)] == []


FIELDS: list[dict[str, Any]] = [
    {"api_key": KEY},
    {"apiKey": KEY},
    {"password": KEY},
    {"extra_headers": {"Authorization": f"Bearer {KEY}"}},
    {"extra_body": {"deep": [{"x-goog-api-key": KEY}]}},
    {"mcp_servers": [{"type": "url", "url": "http://h", "authorization_token": KEY}]},
    {"metadata": {"access_token": KEY}},
]


@pytest.mark.parametrize("fields", FIELDS, ids=str)
def test_fields_with_the_names_of_headers_are_in_no_cassette(
    fields: dict[str, Any], tmp_path: Path
) -> None:
    cassette = tmp_path / "c.jsonl"
    asked = question(f"Use {KEY}", **fields)
    with (
        FaultServer(answer(f"I use {KEY}, {KEY[:14]}.")) as server,
        tunaeval.model_endpoint(upstream=server.base_url, cassette=cassette, record=True) as model,
    ):
        assert KEY in said(chat(model.url, asked))["content"]
    assert server.seen[0].json == asked | {"stream": False}
    assert not is_shown(cassette.read_text("utf-8"))
    assert "Use <key>" in cassette.read_text("utf-8")
    with tunaeval.model_endpoint(cassette=cassette) as played:
        assert said(chat(played.url, asked))["content"] == f"I use {COVER}, {COVER}."


def test_arguments_and_results_of_calls_are_no_fields_with_keys() -> None:
    call = {"name": "put", "args": {"key": "background", "token": "some-long-word"}}
    body = {
        "contents": [{"parts": [{"functionCall": call}]}],
        "messages": [{"content": [{"type": "tool_use", "input": {"key": "background"}}]}],
        "input": [{"role": "user", "content": "Basic questions of many words"}],
        "tools": [{"parameters": {"properties": {"api_key": {"type": "string"}}}}],
        "prompt_cache_key": "one-for-all-sessions",
        "max_tokens": "many-of-them",
    }
    assert of_fields(body) == frozenset()


def test_an_agent_that_says_its_key_is_kept_without_it(tmp_path: Path) -> None:
    def agent(_prompt: str, _workspace: str, base_url: str) -> str:
        chat(base_url, authorization=f"Bearer {KEY}")
        return f"I asked with {KEY}, which begins with {KEY[:14]}."

    suite = suite_of(tmp_path, TASK)
    client = tunaeval.AgentClient(agent, script=[f"Your key is {KEY}."])
    tunaeval.run(suite, client=client, options=ONE, out=tmp_path / "runs")
    files = [path for path in (tmp_path / "runs").rglob("*") if path.is_file()]
    assert [path.name for path in files if is_shown(path.read_text("utf-8"))] == []
    assert any(f"I asked with {COVER}" in path.read_text("utf-8") for path in files)
