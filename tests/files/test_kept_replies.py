"""Recordings, cassettes and caches keep replies in one record, and read what was kept before it."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tunaeval
from tunaeval.clients.replay import read_recording, write_recording
from tunaeval.errors import RecordError
from tunaeval.files.kept_replies import KeptReply, checked
from tunaeval.files.records import decode
from tunaeval.files.reply_store import FILE, ReplyStore, digest_of
from tunaeval.types.exchange import Reply
from tunaeval.types.json_text import encode
from tunaeval.types.messages import Usage

MESSAGE = '{"role":"assistant","content":"\\u00e9 \\ud800"}'
LINE = (
    '{"scenario":"a","repeat":1,"attempt":2,"message":' + MESSAGE + ',"finish_reason":"stop",'
    '"prompt_tokens":3,"completion_tokens":null,"latency_seconds":0.5,"source":"text"}\n'
)
"""A line of a recording as it was written before replies had a record of their own."""
STORED = (
    '{"message":' + MESSAGE + ',"finish_reason":"stop","prompt_tokens":3,"completion_tokens":null,'
    '"source":"text","notes":["odd"]}\n'
)
TABLE = (
    "CREATE TABLE replies (asked BLOB PRIMARY KEY, reply BLOB NOT NULL, at TEXT NOT NULL) "
    "WITHOUT ROWID"
)
EXCHANGE = (
    '{"cassette":1,"masks":{}}\n{"key":"%s","request":%s,"message":{"role":"assistant",'
    '"content":"Hi"},"finish_reason":"stop","prompt_tokens":1,"completion_tokens":2}\n'
)
REPLY = Reply(json.loads(MESSAGE), "stop", Usage(3, None), source="text")


def test_a_recording_that_was_made_before_is_replayed(tmp_path: Path) -> None:
    report = tunaeval.run("smoke", client=tunaeval.ScriptedClient([""] * 24), out=None)
    write_recording(tmp_path / "now", report.run, ())
    (tmp_path / "old").write_bytes((tmp_path / "now").read_bytes() + LINE.encode())
    assert read_recording(tmp_path / "old").replies == {("a", 1, 2): REPLY}


def test_a_cache_that_was_filled_before_is_used(tmp_path: Path) -> None:
    asked = digest_of({"a": 1})
    with closing(sqlite3.connect(tmp_path / FILE)) as base:
        base.execute(TABLE)
        row = (asked, STORED.encode(), "2026-11-28T10:00:00+00:00")
        base.execute("INSERT INTO replies VALUES (?, ?, ?)", row)
        base.commit()
    with ReplyStore(tmp_path) as store:
        kept = store.get(asked)
        assert kept == Reply(
            json.loads(MESSAGE), "stop", Usage(3, None), source="text", notes=("odd",),
            cached_at="2026-11-28T10:00:00+00:00",
        )  # fmt: skip
        store.put(asked, kept)
        assert store.get(asked).message == kept.message  # type: ignore[union-attr]  # it is there
    with closing(sqlite3.connect(tmp_path / FILE)) as base:
        (stored,) = base.execute("SELECT reply FROM replies").fetchone()
    assert decode(stored) == decode(STORED.encode())


def test_a_cassette_that_was_recorded_before_is_played(tmp_path: Path) -> None:
    request = {"api": "chat", "messages": [{"role": "user", "content": "Hi"}], "model": "m"}
    key = "ecda5748a8e9045e"
    path = tmp_path / "old.jsonl"
    path.write_text(EXCHANGE % (key, json.dumps(request)))
    body = json.dumps({"model": "m", "messages": request["messages"]}).encode()

    async def ask() -> Any:
        async with tunaeval.model_endpoint(cassette=path) as model:
            import httpx2

            async with httpx2.AsyncClient() as client:
                answer = await client.post(f"{model.url}/chat/completions", content=body)
        return answer.json()

    found = asyncio.run(ask())
    assert found["choices"][0]["message"]["content"] == "Hi"
    assert found["usage"]["completion_tokens"] == 2


@given(
    content=st.text(st.characters()), reason=st.none() | st.text(max_size=3),
    tokens=st.none() | st.integers(0, 2**40), notes=st.lists(st.text(max_size=3), max_size=2),
)  # fmt: skip
def test_what_is_kept_is_what_was_given(
    content: str, reason: str | None, tokens: int | None, notes: list[str]
) -> None:
    given_reply = Reply(
        {"role": "assistant", "content": content}, reason, Usage(tokens, None),
        source="structured", notes=tuple(notes),
    )  # fmt: skip
    record = decode(encode(KeptReply.of(given_reply).as_record()))
    assert checked(KeptReply, record, "here", "again").as_reply("here") == given_reply


@pytest.mark.parametrize("changed", [{"message": []}, {"source": "air"}, {"more": 1}, {"notes": 3}])
def test_a_damaged_record_is_named_with_its_place(changed: dict[str, Any]) -> None:
    record = {**json.loads(STORED), **changed}
    (name,) = changed
    with pytest.raises(RecordError, match=f"^line 3: '{name}.*; do it again$"):
        checked(KeptReply, record, "line 3", "do it again")
