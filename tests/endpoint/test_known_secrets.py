"""A secret that is known to us is in no cassette and no run directory, wherever it was said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tunaeval
from tests.endpoint.asking import chat, question, said
from tests.harness.tasks import ONE, TASK, call, suite_of
from tests.harness.whole_runs import Answers
from tunaeval.errors import UsageError
from tunaeval.files.keys import COVER, long_enough, of_environment, of_headers, without
from tunaeval.models.endpoint.cassettes import MASKS, key_of
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
