"""`tunaeval view` as its users start it: pages and events, also of what is written meanwhile."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx2
import pytest

from tests.interrupts import heed_interrupts
from tests.reports.page.made_runs import ANSWERS, PASSED, made_run
from tunaeval.cli import main

SUITE = {
    "name": "slow",
    "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}],
    "scenarios": [{"id": f"s{n}", "prompt": f"Call {n}.", "expected_tool": "f"} for n in range(6)],
}
View = Callable[..., str]


@contextmanager
def viewed(folder: Path, *arguments: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """The address that the command prints first, and its process."""
    process = started(folder, "view", *arguments, "--no-browser")
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip(), process
    finally:
        process.kill()
        process.communicate()


def started(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tunaeval", *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=heed_interrupts,  # noqa: PLW1509 - it only sets a handler
    )


def events(url: str) -> Iterator[tuple[str, dict[str, object]]]:
    """What a server sends, as it comes."""
    with httpx2.stream("GET", f"{url}events", timeout=60) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        name = ""
        for line in response.iter_lines():
            if line.startswith("event: "):
                name = line.removeprefix("event: ")
            elif line.startswith("data: "):
                yield name, json.loads(line.removeprefix("data: "))


def test_a_run_is_the_page_of_its_report_and_says_what_it_has(tmp_path: Path) -> None:
    run = made_run(tmp_path)
    assert main(["report", str(run), "--html", "-o", str(tmp_path / "page.html")]) == 0
    with viewed(tmp_path, "made") as (url, _):
        assert url.startswith("http://127.0.0.1:")
        response = httpx2.get(url)
        (policy,) = set(response.headers.get_list("content-security-policy"))
        stream = events(url)
        results = [next(stream) for _ in ANSWERS]
        assert next(stream) == ("state", {"state": "finished", "done": 8, "of": 8})
    report = (tmp_path / "page.html").read_text()
    live = response.text.replace("; connect-src &#39;self&#39;", "").replace(" data-live", "")
    assert live == report
    assert policy.endswith("; connect-src 'self'")
    assert results == [
        ("result", {"scenario": name, "repeat": 1, "verdict": "PASS" if name in PASSED else "FAIL"})
        for name in ANSWERS
    ]


def test_runs_are_listed_newest_first_and_damaged_ones_are_named(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    for number, name in enumerate(("old", "مساعد", "n" * 200, "torn", "worse")):
        run = made_run(tmp_path / "made" / str(number)).rename(tmp_path / "runs" / name)
        info = json.loads((run / "run.json").read_text())
        info["started_at"] = f"2026-11-0{number + 1}T10:00:00+00:00"
        (run / "run.json").write_text(json.dumps(info))
    (tmp_path / "runs" / "torn" / "results.jsonl").write_text("no record\n")
    (tmp_path / "runs" / "worse" / "run.json").write_text("{")
    with viewed(tmp_path) as (url, _):
        page = httpx2.get(url).text
        places = [page.index(f"<bdi>runs/{name}<") for name in ("torn", "n" * 200, "مساعد", "old")]
        assert places == sorted(places)
        assert page.count("damaged: ") == 2
        assert page.index("<bdi>runs/worse<") < page.rindex("damaged: ")
        link = page.partition('<a href="')[2].partition('"')[0]
        assert 'data-scenario="' not in page
        assert "wrong-value" in httpx2.get(url.rstrip("/") + link).text
        name, first = next(events(url.rstrip("/") + link))
        assert (name, first["scenario"]) == ("result", "right")


def test_only_this_machine_may_read(tmp_path: Path) -> None:
    made_run(tmp_path)
    with viewed(tmp_path, "made") as (url, _):
        for headers in (
            {"Host": "example.test"},
            {"Origin": "http://example.test"},
            {"Origin": "http://127.0.0.1:1"},
            {"Sec-Fetch-Site": "cross-site"},
        ):
            for path in ("", "events"):
                assert httpx2.get(url + path, headers=headers).status_code == 403
        for method in ("POST", "PUT", "PATCH", "DELETE", "OPTIONS", "BREW"):
            assert httpx2.request(method, url).status_code == 405
        assert httpx2.head(url).status_code == 200
        for path in ("nothing", "runs/other/", "..%2f..%2fetc/passwd", "made/run.json"):
            assert httpx2.get(url + path).status_code == 404
        port = httpx2.URL(url).port
        assert httpx2.get(url, headers={"Host": f"localhost:{port}"}).status_code == 200


def test_a_port_may_be_chosen_and_a_taken_one_is_refused(tmp_path: Path) -> None:
    made_run(tmp_path)
    with viewed(tmp_path, "made") as (url, _):
        port = str(httpx2.URL(url).port)
        second = started(tmp_path, "view", "made", "--port", port, "--no-browser")
        out, err = second.communicate(timeout=60)
    assert (second.returncode, out) == (2, "")
    assert f"port {port} cannot be used" in err
    with viewed(tmp_path, "made", "--port", port) as (again, _):
        assert again == url


@pytest.mark.parametrize("arguments", [(), ("nowhere",), ("empty",)])
def test_without_a_run_it_says_so(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    (tmp_path / "empty").mkdir()
    done = started(tmp_path, "view", *arguments, "--no-browser")
    out, err = done.communicate(timeout=60)
    assert (done.returncode, out) == (2, "")
    assert "tunaeval run" in err


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_an_interrupt_ends_it_also_while_it_is_watched(tmp_path: Path) -> None:
    made_run(tmp_path)
    with viewed(tmp_path, "made") as (url, process):
        next(events(url))
        stream = events(url)
        next(stream)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=5) == 130


class _Listener(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing of a client that was killed."""


class Slow:
    """A model that answers when it is allowed to."""

    def __init__(self) -> None:
        turns = self.turns = threading.Semaphore(0)

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                turns.acquire()
                call = {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
                message = {"role": "assistant", "content": None, "tool_calls": [call]}
                choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
                body = json.dumps({"model": "m", "choices": [choice]}).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None: ...

        self._server = _Listener(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def slow() -> Iterator[Slow]:
    model = Slow()
    yield model
    model.close()


@contextmanager
def running(folder: Path, model: Slow, *more: str) -> Iterator[subprocess.Popen[str]]:
    (folder / "slow.json").write_text(json.dumps(SUITE))
    process = started(
        folder, "run", "--suite", "slow.json", "--base-url", model.url, "--model", "m",
        "--concurrency", "1", "--quiet", *more,
    )  # fmt: skip
    try:
        while not [*folder.glob("runs/*/run.json"), *folder.glob("runs/*/cells/*/run.json")]:
            assert process.poll() is None
            time.sleep(0.05)
        yield process
    finally:
        process.kill()
        process.communicate()


def state(stream: Iterator[tuple[str, dict[str, object]]], **wanted: object) -> dict[str, object]:
    """The first state that is wanted; what comes before it is left out."""
    for name, data in stream:
        if name == "state" and wanted.items() <= data.items():
            return data
    raise AssertionError("the stream has ended")


def test_results_come_as_they_are_written_and_a_killed_run_is_stopped(
    tmp_path: Path, slow: Slow
) -> None:
    with running(tmp_path, slow) as process, viewed(tmp_path) as (url, _):
        stream = events(url)
        assert next(stream) == ("state", {"state": "running", "done": 0, "of": 6})
        slow.turns.release()
        assert next(stream) == ("result", {"scenario": "s0", "repeat": 1, "verdict": "PASS"})
        assert next(stream) == ("state", {"state": "running", "done": 1, "of": 6})
        assert "interrupted" not in httpx2.get(url).text
        process.kill()
        began = time.monotonic()
        assert state(stream, state="stopped") == {"state": "stopped", "done": 1, "of": 6}
        assert time.monotonic() - began < 15
        assert "interrupted" in httpx2.get(url).text
        process.wait()
        (run,) = (tmp_path / "runs").iterdir()
        slow.turns.release(6)
        resumed = started(tmp_path, "run", "--resume", str(run), "--quiet")
        resumed.communicate(timeout=60)
        assert resumed.returncode == 0
        assert state(stream, state="finished") == {"state": "finished", "done": 6, "of": 6}


def test_a_matrix_says_of_which_cell_a_result_is(tmp_path: Path, slow: Slow) -> None:
    slow.turns.release(12)
    with running(tmp_path, slow, "--model", "other") as process, viewed(tmp_path) as (url, _):
        stream = events(url)
        found = []
        for name, data in stream:
            if name == "result":
                found.append((data["cell"], data["scenario"], data["verdict"]))
            elif data["state"] == "finished":
                break
        assert process.wait(60) == 0
    assert sorted(found) == [(cell, f"s{n}", "PASS") for cell in ("01", "02") for n in range(6)]
