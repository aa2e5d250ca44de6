"""A test is recorded from a real model behind a real server, and played when that is gone."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.servers import llama_server
from tests.testing.pytest_plugin.children import run
from tunaeval.clients.llamacpp import LlamaCppClient

MISSING = LlamaCppClient.available()
TEMPLATE = Path(__file__).parents[2].joinpath("doctor", "echo.jinja").read_text("utf-8")

pytestmark = [
    pytest.mark.local,
    pytest.mark.slow,
    pytest.mark.skipif(MISSING is not None, reason=MISSING or "it is here"),
]

AGENT = '''
import json
from pathlib import Path

import httpx2
from tunaeval import ToolCall, expect

ADD = {"type": "function", "function": {"name": "add", "description": "Add two numbers.",
    "parameters": {"type": "object", "properties": {key: {"type": "integer"} for key in "ab"}}}}
TASK = 'Call the tool add with exactly these arguments: {"a": 2, "b": 40}'


def agent(url):
    """Asks, adds, and asks again; what the model said last."""
    messages = [{"role": "user", "content": TASK}]
    while True:
        asked = {"model": "local", "messages": messages, "tools": [ADD], "temperature": 0,
                 "max_tokens": 48}
        reply = httpx2.post(f"{url}/chat/completions", json=asked, timeout=300).json()
        message = reply["choices"][0]["message"]
        messages.append(message)
        if not message.get("tool_calls") or len(messages) > 6:
            return messages
        for call in message["tool_calls"]:
            given = json.loads(call["function"]["arguments"])
            messages.append({"role": "tool", "tool_call_id": call["id"],
                             "content": str(given["a"] + given["b"])})


def test_it_adds(tunaeval_model):
    messages = agent(tunaeval_model.url)
    assert tunaeval_model.calls[:1] == expect(ToolCall("add", {"a": 2, "b": 40}))
    assert messages[2]["content"] == "42"
    with Path("said.jsonl").open("a") as file:
        file.write(json.dumps(messages) + "\\n")
'''


def test_a_test_records_the_embedded_models_server_and_plays_it_offline(tmp_path: Path) -> None:
    folder = tmp_path / "suite"
    with llama_server(2048, TEMPLATE) as url:
        recording = ("--tunaeval-record", "--tunaeval-base-url", url)
        child = run(folder, *recording, files={"test_model.py": AGENT})
        assert child.counts == {"passed": 1}, child.said
    cassette = folder / "cassettes" / "test_model" / "test_it_adds.jsonl"
    assert len(cassette.read_text("utf-8").splitlines()) >= 3  # the masks, and two exchanges
    # The server has ended; the address that it had leads nowhere.
    child = run(folder, "--tunaeval-base-url", url)
    assert child.counts == {"passed": 1}, child.said
    recorded, played = (folder / "said.jsonl").read_text("utf-8").splitlines()
    assert played == recorded
    child = run(folder, files={"test_model.py": AGENT.replace('"b": 40}\'', '"b": 41}\'')})
    assert child.counts == {"failed": 1, "error": 1}, child.said
    assert "differs in messages[0].content" in child.said
