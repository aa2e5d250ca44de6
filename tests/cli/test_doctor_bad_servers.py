"""`tunaeval doctor` against servers that are none, or bad: a row each, sound JSON, its exit."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Callable
from contextlib import AbstractContextManager, contextmanager
from io import StringIO
from subprocess import CompletedProcess
from typing import Any

import pytest

from tests.doctor.loopback import Loopback
from tests.doctor.other_defects import DEFECTS
from tests.doctor.other_server import OtherServer
from tests.doctor.other_wire import Habits
from tests.faults import Answer, FaultServer
from tunaeval.doctor.examination import examine
from tunaeval.doctor.report import show_examination
from tunaeval.doctor.runner import DoctorSettings

Tuna = Callable[..., CompletedProcess[str]]


@contextmanager
def nobody() -> Any:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    yield f"http://127.0.0.1:{port}/v1"


@contextmanager
def at(server: Any) -> Any:
    with server:
        yield server.url if isinstance(server, OtherServer) else server.base_url


def saying(body: bytes, status: int = 200, **headers: str) -> AbstractContextManager[str]:
    return at(FaultServer(then=Answer(body, status, headers)))


_LIMIT = b'{"error": {"message": "slow down"}}'
_MESSAGE = b'{"choices": [{"message": {"role": "assistant", "content": "hello"}}]}'
_BROKEN = next(defect for defect in DEFECTS if defect.name == "500 with the text")

ROWS: dict[str, tuple[Callable[[], AbstractContextManager[str]], int, str]] = {
    "no server": (nobody, 2, "no connection"),
    "HTML": (lambda: saying(b"<!doctype html><p>Welcome"), 2, "HTML"),
    "HTML and 404": (lambda: saying(b"<!doctype html><p>Lost", 404), 2, "404"),
    "LM Studio": (lambda: saying(b'{"error":"Unexpected endpoint or method. (GET /x)"}'), 2,
                  "Unexpected endpoint"),
    "nothing": (lambda: saying(b""), 2, "no chat completion came"),
    "a list": (lambda: saying(b"[1, 2]"), 2, "no chat completion came"),
    "deep JSON": (lambda: saying(b"[" * 100_000), 2, "no chat completion came"),
    "one answer to all": (lambda: saying(_MESSAGE), 1, "hello"),
    "a wrong key": (lambda: at(Loopback(key="sk-right")), 2, "refuses the key"),
    "no key": (lambda: at(OtherServer(Habits(key="sk-right"))), 2, "refuses the key"),
    "no models, no name": (lambda: at(OtherServer(Habits(models="none"))), 0, "exit 0"),
    "looping": (lambda: at(Loopback(model="looping")), 2, "model too weak"),
    "strips": (lambda: at(Loopback("gateway-strips")), 1, "tools-in-prompt"),
    "limits": (lambda: at(Loopback(busy_every=3)), 0, "exit 0"),
    "a limit for good": (lambda: saying(_LIMIT, 429, retry_after="0"), 2, "429"),
    "500": (lambda: saying(b"Internal Server Error", 500), 2, "Internal Server Error"),
    "500 at calls": (lambda: at(OtherServer(defect=_BROKEN)), 1, "error parsing tool call"),
    "a redirect": (lambda: saying(b"", 307, location="http://127.0.0.1:9/"), 2, "307: redirects"),
    "a model wanted": (lambda: saying(b'{"error": "field required"}', 422), 2, "--model NAME"),
    "dies at once": (lambda: at(Loopback(lives=4)), 2, "no chat completion"),
    "dies in the middle": (lambda: at(Loopback(lives=25)), 3, "does not answer any more"),
    "dies with a fault": (lambda: at(Loopback("index-always-0", lives=29)), 3, "index"),
}  # fmt: skip


@pytest.mark.parametrize("row", ROWS)
def test_a_bad_server_is_a_row_and_never_a_traceback(row: str, here: Tuna) -> None:
    start, exit_, words = ROWS[row]
    for shape in ("--json", "--markdown", "--quiet"):
        with start() as url:
            done = here(
                "doctor", "--base-url", url, "--quick", "--deadline", "30", "--quiet",
                *([] if shape == "--quiet" else [shape]),
            )  # fmt: skip
        assert done.returncode == exit_, done.stdout + done.stderr
        assert "Traceback" not in done.stderr
        assert done.stderr == ""
        if shape == "--json":
            told = json.loads(done.stdout)
            assert told["exit"] == exit_
            assert {"server", "findings", "exit", "requests", "stopped"} <= told.keys()
            assert told["findings"] or exit_ == 0
            blamed = any(finding["verdict"] == "server" for finding in told["findings"])
            assert blamed == (exit_ == 1 or row == "dies with a fault")
        else:
            assert words in done.stdout or shape == "--markdown"


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("columns", [30, 40, 80, 200])
@pytest.mark.parametrize("defect", ["", "no-parser", "empty-history-500"])
def test_a_report_is_no_wider_than_the_terminal(
    columns: int, defect: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Loopback(defect, seed=1) as server:
        found = asyncio.run(examine(server.base_url, DoctorSettings(quick=True), environment={}))
    monkeypatch.setenv("COLUMNS", str(columns))
    page = Terminal()
    show_examination(found, page)
    lines = page.getvalue().splitlines()
    assert max(map(len, lines)) <= columns
    assert "\x1b" not in page.getvalue(), "no colour, whatever NO_COLOR says"
    words = " ".join(page.getvalue().split())
    assert f"(exit {found.exit})" in words
    for number, line in enumerate(lines):
        if line.strip(" ^") == "" and "^" in line:
            assert lines[number - 1][line.index("^")] == "{", "carets are below what they mark"
