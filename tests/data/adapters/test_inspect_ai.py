"""Logs of Inspect, written here by hand as version 0.3.285 of inspect-ai writes them: it is too
large to be a dependency of tests.
"""

from __future__ import annotations

import io
import json
import re
import sys
import zipfile
from importlib.util import find_spec
from typing import Any

import pytest

from tunaeval.data.adapters.documents import read_conversations, read_file
from tunaeval.errors import UsageError
from tunaeval.types.messages import Usage

LONG = "x" * 200
MESSAGES: list[dict[str, Any]] = [
    {"id": "m0", "role": "system", "content": "sys"},
    {"id": "m1", "role": "user", "content": "Read a.", "source": "input"},
    {"id": "m2", "role": "assistant", "source": "generate", "model": "m", "content": [
        {"type": "reasoning", "reasoning": "hm", "redacted": False},
        {"type": "text", "text": "I look."}],
     "tool_calls": [
        {"id": "c1", "function": "read", "arguments": {"path": "a"}, "type": "function"},
        {"id": "c2", "function": "read", "arguments": {"path": "b"}, "type": "function"},
        {"id": "c3", "function": "read", "arguments": {}, "parse_error": "no JSON"}]},
    {"role": "tool", "tool_call_id": "c1", "function": "read", "content": "attachment://h1"},
    {"role": "tool", "tool_call_id": "c2", "function": "read", "content": "",
     "error": {"type": "file_not_found", "message": "no b"}},
    {"role": "user", "tool_call_id": ["c1"], "content": [{"type": "image", "image": "data:"}]},
    {"role": "assistant", "content": [
        {"type": "tool_use", "tool_type": "web_search", "id": "s1", "name": "search",
         "arguments": "tuna", "result": "fish"},
        {"type": "text", "text": "done"}]},
]  # fmt: skip


def sample(number: int = 1) -> dict[str, Any]:
    return {
        "id": number, "epoch": 1, "input": "Read a.", "target": "", "messages": MESSAGES,
        "model_usage": {
            "m": {"input_tokens": 5, "input_tokens_cache_read": 2, "output_tokens": 3,
                  "total_cost": 0.5},
            "n": {"input_tokens": 1, "output_tokens": 1},
        },
        "attachments": {"h1": LONG}, "scores": {"accuracy": {"value": float("nan")}},
    }  # fmt: skip


def log(*samples: dict[str, Any]) -> dict[str, Any]:
    return {"version": 2, "status": "success", "eval": {"task": "t"}, "samples": list(samples)}


def archive(method: int = zipfile.ZIP_DEFLATED, name: str = "samples/1_epoch_1.json") -> bytes:
    kept = io.BytesIO()
    with zipfile.ZipFile(kept, "w", method) as file:
        file.writestr("header.json", json.dumps({"eval": {}}))
        file.writestr(name, json.dumps(sample()))
    return kept.getvalue()


@pytest.mark.parametrize("data", [json.dumps(log(sample())).encode(), archive()])
def test_all_that_a_sample_holds_arrives(data: bytes) -> None:
    (told,) = read_file(data)
    assert (told.shape, told.name, told.query) == ("inspect-ai", "1 (epoch 1)", "Read a.")
    assert told.usage == Usage(8, 4, 0.5)
    reply = told.messages[2]
    assert (reply.content, reply.reasoning) == ("I look.", "hm")
    assert [(call.id, call.arguments) for call in reply.tool_calls] == [
        ("c1", {"path": "a"}), ("c2", {"path": "b"}), ("c3", {}),
    ]  # fmt: skip
    assert [(m.tool_call_id, m.content, m.is_error) for m in told.messages[3:5]] == [
        ("c1", LONG, False), ("c2", "no b", True),
    ]  # fmt: skip
    assert (told.messages[5].content, told.messages[5].tool_call_id) == ("[image]", None)
    assert told.messages[6].tool_calls[0].arguments == {"arguments": "tuna"}
    assert [(m.role, m.content) for m in told.messages[7:]] == [
        ("tool", "fish"), ("assistant", "done"),
    ]  # fmt: skip
    assert told.sources == (0, 1, 2, 3, 4, 5, 6, 6, 6)
    assert [notice.code for notice in told.warnings] == ["invalid-arguments", "dangling-call"]


def test_every_sample_is_a_conversation() -> None:
    told = read_conversations(log(sample(1), sample(2)))
    assert [one.name for one in told] == ["1 (epoch 1)", "2 (epoch 1)"]


def test_a_text_that_is_not_among_the_attachments_is_told() -> None:
    (told,) = read_conversations(log({**sample(), "attachments": {}}))
    assert ("missing-attachment", 3) in [(one.code, one.source) for one in told.warnings]


def test_an_archive_in_pieces_is_refused_with_the_way_out() -> None:
    with pytest.raises(UsageError, match=r"run.eval: .*inspect log convert"):
        read_file(archive(name="samples/1_epoch_1/sample.json"), file="run.eval")


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="reads zstd by itself")
@pytest.mark.skipif(find_spec("zipfile_zstd") is not None, reason="reads zstd with zipfile-zstd")
def test_samples_that_this_python_cannot_unpack_say_what_is_missing() -> None:
    zstd = (93).to_bytes(2, "little")
    data = bytearray(archive(zipfile.ZIP_STORED))
    for entry, method in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        for found in re.finditer(re.escape(entry), bytes(data)):
            data[found.start() + method : found.start() + method + 2] = zstd
    with pytest.raises(UsageError, match=r"run.eval: its samples are compressed with zstd"):
        read_file(bytes(data), file="run.eval")


def test_an_archive_that_was_cut_is_named() -> None:
    with pytest.raises(UsageError, match=r"run.eval: the archive cannot be read"):
        read_file(archive()[:-40], file="run.eval")
