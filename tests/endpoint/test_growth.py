"""Many requests over each API leave no descriptor, no thread and no memory."""

from __future__ import annotations

import gc
import json
import threading
import tracemalloc
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path

import pytest

import tunaeval
from tests.endpoint.asking import question
from tests.endpoint.test_parts import GENERATE
from tests.endpoint.test_strangers import GEMINI, MESSAGES

BODIES = {
    "/v1/chat/completions": question(),
    "/v1/responses": {"model": "m", "input": "Fix add()."},
    "/v1/messages": MESSAGES,
    GENERATE: GEMINI,
}
FILES = Path("/proc/self/fd")
_KEPT = 150_000
"""Bytes that caches of Python's own may take; 200 turns take six times as many."""


def ask(requests: int) -> None:
    """Send as many requests over each API, ten on each connection."""
    with tunaeval.model_endpoint(lambda _: "Fine.") as model:
        host = model.anthropic_url.removeprefix("http://")
        for path, body in BODIES.items():
            text = json.dumps(body)
            for _ in range(requests // 10):
                with closing(HTTPConnection(host, timeout=10)) as connection:
                    for _ in range(10):
                        connection.request("POST", path, text)
                        reply = connection.getresponse()
                        assert b"Fine." in reply.read()
        assert len(model.turns) == len(BODIES) * requests


@pytest.mark.skipif(not FILES.is_dir(), reason="counts descriptors in /proc")
@pytest.mark.parametrize("requests", [50, pytest.param(10_000, marks=pytest.mark.slow)])
def test_requests_leave_nothing(requests: int) -> None:
    tracemalloc.start()
    try:
        ask(20)
        gc.collect()  # this empties the lists of free tuples, too
        before = tracemalloc.get_traced_memory()[0]
        files, threads = [*FILES.iterdir()], threading.active_count()
        ask(requests)
        gc.collect()
        kept = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert kept < _KEPT
    assert len([*FILES.iterdir()]) == len(files)
    assert threading.active_count() == threads
