"""`tunaeval stream`: events while stdin arrives."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable

Tuna = Callable[..., subprocess.CompletedProcess[str]]
CALL = '<tool_call>{"name": "bash", "arguments": {"command": "ls é"}}</tool_call>'


def test_each_event_is_a_line_of_json(tuna: Tuna) -> None:
    done = tuna("stream", "--json", stdin=f"Sure. {CALL}".encode())
    events = [json.loads(line) for line in done.stdout.splitlines()]
    finished = [event["call"] for event in events if event["kind"] == "call_finished"]
    assert [call["arguments"] for call in finished] == [{"command": "ls é"}]
    assert "calls, 1 call\n" in done.stderr


def test_a_servers_stream_is_read_line_by_line(tuna: Tuna) -> None:
    chunk = {"choices": [{"index": 0, "delta": {"content": CALL}}]}
    body = f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n"
    done = tuna("stream", "--sse", stdin=body.encode())
    assert "call_started 1   bash" in done.stdout
    assert "call_finished 1  bash(command='ls é')" in done.stdout


def test_what_is_certain_is_told_before_the_end() -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "tunaeval", "stream"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(CALL[:40].encode())
        child.stdin.flush()
        assert child.stdout.readline() == b"call_started 1   bash\n"
        child.stdin.close()


def test_a_servers_stream_without_a_byte_is_diagnosed(tuna: Tuna) -> None:
    done = tuna("stream", "--sse", stdin=b"")
    assert done.stdout == "diagnosis        stream-cut: there is no event in the stream\n"
