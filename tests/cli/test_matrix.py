"""Several models and system prompts in one command, against a real server on loopback."""

from __future__ import annotations

import csv
import json
import re
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import tunaeval
from tunaeval.errors import RecordError, UsageError
from tunaeval.reports.ranking import Confusion

Tuna = Callable[..., subprocess.CompletedProcess[str]]

TOOLS = [
    {"type": "function", "function": {"name": name, "parameters": {
        "type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}}}
    for name in ("add", "drop")
]  # fmt: skip
COUNT = 24


class Models:
    """Chat completions by several models: "good" does what is asked, "poor" calls another tool
    unless the system prompt begs, "gone" is refused.
    """

    def __init__(self) -> None:
        self.asked: list[tuple[str, str, str]] = []
        self.keys: set[str | None] = set()
        self.in_flight = self.most_in_flight = 0
        self.pause_seconds = 0.0
        lock, models = threading.Lock(), self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with lock:
                    models.in_flight += 1
                    models.most_in_flight = max(models.most_in_flight, models.in_flight)
                model, messages = request["model"], request["messages"]
                system = next((m["content"] for m in messages if m["role"] == "system"), "")
                models.asked.append((model, system, messages[-1]["content"]))
                models.keys.add(self.headers["Authorization"])
                number = int(messages[-1]["content"].split()[1].rstrip("."))
                name = "drop" if model == "poor" and "please" not in system else "add"
                call = {"name": name, "arguments": json.dumps({"x": number})}
                message = {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [{"id": "c1", "type": "function", "function": call}],
                }
                usage = {"prompt_tokens": 100, "completion_tokens": 10}
                answer = {
                    "model": model,
                    "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}],
                    "usage": usage,
                }
                body, status = json.dumps(answer).encode(), 200
                if model == "gone":
                    body, status = b'{"error": {"message": "no such model"}}', 404
                time.sleep(models.pause_seconds)
                with lock:
                    models.in_flight -= 1
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None: ...

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def models() -> Iterator[Models]:
    found = Models()
    yield found
    found.close()


@pytest.fixture
def numbers(tmp_path: Path) -> str:
    scenarios = [
        {"id": f"n{number}", "prompt": f"Add {number}.", "expected_tool": "add",
         "expected_args": {"x": number}}
        for number in range(COUNT)
    ]  # fmt: skip
    suite = {"name": "numbers", "system_prompt": "Call.", "tools": TOOLS, "scenarios": scenarios}
    (tmp_path / "numbers.json").write_text(json.dumps(suite))
    (tmp_path / "terse.md").write_text("Be terse.")
    (tmp_path / "kind.md").write_text("Be kind, please.")
    return "numbers.json"


def matrix_of(tmp_path: Path) -> Path:
    (only,) = (tmp_path / "runs").iterdir()
    return only


BOTH = ("--system-prompt", "terse.md", "--system-prompt", "kind.md")


def test_every_model_is_asked_with_every_prompt_and_ranked(
    here: Tuna, models: Models, numbers: str, tmp_path: Path
) -> None:
    done = here(
        "run", "--suite", numbers, "--base-url", models.url, "--model", "good", "--model", "poor",
        *BOTH, "--price-in", "2", "--price-out", "10", "--concurrency", "4",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert len(models.asked) == 4 * COUNT
    assert models.most_in_flight <= 4
    matrix = tunaeval.load_matrix(matrix_of(tmp_path))
    ranked = {one.name.words: one for one in matrix.ranking.cells}
    assert {words: (one.score.passed, one.ties) for words, one in ranked.items()} == {
        "good, terse": (COUNT, "a"),
        "good, kind": (COUNT, "a"),
        "poor, kind": (COUNT, "a"),
        "poor, terse": (0, "b"),
    }
    assert ranked["poor, terse"].confused == (Confusion("add", "drop", COUNT),)
    assert f"03 (poor, terse):\n  expected add, called drop: {COUNT}" in done.stdout
    assert ranked["good, kind"].cost == pytest.approx(COUNT * (100 * 2 + 10 * 10) / 1e6)
    assert len(matrix.ranking.separating) == COUNT
    assert "good, terse" in done.stdout
    assert "Same letter in `ties`: these scenarios cannot tell them apart." in done.stdout
    cells = matrix_of(tmp_path) / "cells"
    assert [path.name for path in sorted(cells.iterdir())] == ["01", "02", "03", "04"]
    assert tunaeval.load_report(cells / "02").passed == COUNT


def test_the_ranking_is_json_markdown_and_csv(
    here: Tuna, models: Models, numbers: str, tmp_path: Path
) -> None:
    done = here(
        "run", "--suite", numbers, "--base-url", models.url, "--model", "good", "--model", "poor",
        "--json", "--report", "r.md", "--report", "r.csv", "--report", "r.json",
    )  # fmt: skip
    found = json.loads(done.stdout)
    assert [cell["model"] for cell in found["cells"]] == ["good", "poor"]
    assert [cell["ties"] for cell in found["ranking"]["cells"]] == ["a", "b"]
    assert [pair["real"] for pair in found["ranking"]["pairs"]] == [True]
    assert found["directory"] == str(Path("runs") / matrix_of(tmp_path).name)
    assert json.loads((tmp_path / "r.json").read_text()) == found
    rows = list(csv.DictReader((tmp_path / "r.csv").read_text().splitlines()))
    assert [(row["model"], row["ties"]) for row in rows] == [("good", "a"), ("poor", "b")]
    assert "| `good` |" in (tmp_path / "r.md").read_text()
    matrix = matrix_of(tmp_path)
    shown = json.loads(here("show", "runs", "--json").stdout)
    assert shown["directory"] == found["directory"], "the only one in this directory"
    refused = here("compare", "runs", str(matrix / "cells" / "01"))
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "is a matrix of several runs; rank them by `tunaeval show runs/" in refused.stderr
    both = [str(matrix / "cells" / cell) for cell in ("01", "02")]
    assert "A: good, run" in here("compare", *both).stdout


def test_a_cell_that_cannot_be_reached_says_so_and_the_rest_is_judged(
    here: Tuna, models: Models, numbers: str, tmp_path: Path
) -> None:
    done = here(
        "run", "--suite", numbers, "--base-url", models.url, "--model", "gone", "--model", "good"
    )
    assert done.returncode == 2
    assert "01 (gone) could not be asked" in done.stdout
    assert tunaeval.load_matrix(matrix_of(tmp_path)).ranking.cells[0].score.passed == COUNT


def test_the_gate_holds_for_every_cell(here: Tuna, models: Models, numbers: str) -> None:
    asked = ("run", "--suite", numbers, "--base-url", models.url, "--fail-under", "50")
    assert here(*asked, "--model", "good", *BOTH).returncode == 0
    done = here(*asked, "--model", "good", "--model", "poor")
    assert done.returncode == 1
    assert "02 (poor): 0.0 % passed" in done.stderr


def test_one_prompt_replaces_that_of_the_suite_in_a_plain_run(
    here: Tuna, models: Models, numbers: str, tmp_path: Path
) -> None:
    asked = ("run", "--suite", numbers, "--base-url", models.url, "--model", "poor")
    done = here(*asked, "--system-prompt", "kind.md")
    assert done.returncode == 0
    assert {system for _, system, _ in models.asked} == {"Be kind, please."}
    assert tunaeval.load_report(matrix_of(tmp_path)).passed == COUNT


def test_an_interrupted_matrix_asks_only_what_is_missing(
    here: Tuna, models: Models, numbers: str, tmp_path: Path
) -> None:
    asked = ("run", "--suite", numbers, "--base-url", models.url, "--model", "good")
    here(*asked, "--model", "poor", *BOTH)
    directory = matrix_of(tmp_path)
    rows = directory / "cells" / "03" / "results.jsonl"
    kept = rows.read_bytes().splitlines(keepends=True)
    rows.write_bytes(b"".join(kept[:-5]))
    for path in (directory / "cells" / "04").iterdir():
        path.unlink()
    models.asked.clear()
    done = here("run", "--resume", str(directory), "--json")
    assert done.returncode == 0, done.stderr
    assert len(models.asked) == 5 + COUNT
    assert [cell["summary"]["scenarios"] for cell in json.loads(done.stdout)["cells"]] == [24] * 4


def test_a_column_of_the_settings_has_options_and_a_key_of_its_own(
    here: Tuna, models: Models, numbers: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAST_KEY", "sk-fast-0123456789")
    (tmp_path / "tunaeval.toml").write_text(
        f'[columns.fast]\nmodel = "good"\nbase-url = "{models.url}"\nkey-variable = "FAST_KEY"\n'
        f'[columns.slow]\nmodel = "poor"\nbase-url = "{models.url}"\ntemperature = 0.5\n'
    )
    done = here("run", "--suite", numbers, "--model", "fast", "--model", "slow", "--json")
    assert done.returncode == 0, done.stderr
    cells = json.loads(done.stdout)["cells"]
    assert [cell["model"] for cell in cells] == ["fast", "slow"]
    assert [cell["run"]["model"] for cell in cells] == ["good", "poor"]
    assert [cell["run"]["temperature"] for cell in cells] == [0.0, 0.5]
    assert models.keys == {"Bearer sk-fast-0123456789", None}
    text = "".join(path.read_text() for path in (tmp_path / "runs").rglob("*.json"))
    assert "sk-fast-0123456789" not in text


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--model", "a", "--model", "a"), "named twice"),
        (("--model", "a", "--model", "b", "--model", "c", "--base-url", "http://h/v1"), "2 addres"),
        (("--system-prompt", "none.md", "--system-prompt", "terse.md"), "none.md"),
        (("--model", "a", "--model", "b", "--record", "r.jsonl"), "--record"),
    ],
)
def test_what_makes_no_matrix_is_refused_before_a_request(
    here: Tuna, models: Models, numbers: str, options: tuple[str, ...], words: str
) -> None:
    done = here("run", "--suite", numbers, "--base-url", models.url, *options)
    assert done.returncode == 2
    assert words in done.stderr
    assert not models.asked


def test_an_unfinished_matrix_names_what_is_missing_on_every_page(
    here: Tuna, models: Models, numbers: str, tmp_path: Path
) -> None:
    here("run", "--suite", numbers, "--base-url", models.url, "--model", "good", *BOTH)
    directory = matrix_of(tmp_path)
    rows = directory / "cells" / "01" / "results.jsonl"
    rows.write_bytes(b"".join(rows.read_bytes().splitlines(keepends=True)[:8]))
    again = f"tunaeval run --resume {Path('runs') / directory.name} finishes it"
    unfinished = f"interrupted, 32 of 48 results; {again}"
    shown = here("show", "runs").stdout
    assert unfinished in shown
    assert f"passed by all: {8} (" in shown, "the second cell alone answered the others"
    (directory / "cells" / "02" / "run.json").unlink()
    for asked in (("show", "runs"), ("show", "runs", "--json"), ("report", "runs", "--markdown")):
        shown = here(*asked).stdout
        assert "cell 02 (good, kind) was not begun or its run.json is missing" in shown
        assert f"interrupted, 8 of 24 results; {again}" in shown
        assert "passed by all" not in shown
    (directory / "cells" / "01" / "run.json").unlink()
    done = here("report", "runs", "--html", "-o", "page.html")
    assert done.returncode == 0, done.stderr
    assert "cell 01 (good, terse) was not begun" in (tmp_path / "page.html").read_text()


def test_a_kept_matrix_remembers_why_a_cell_could_not_be_asked(
    here: Tuna, models: Models, numbers: str
) -> None:
    done = here(
        "run", "--suite", numbers, "--base-url", models.url, "--model", "gone", "--model", "good"
    )
    assert "so there is no score; first: " in done.stderr
    assert "no results" not in done.stderr
    shown = here("show", "runs").stdout
    assert "01 (gone) could not be asked: " in shown
    assert "interrupted" not in shown
    assert "passed by all" not in shown, "one cell answered nothing"


@pytest.mark.parametrize(
    ("cell", "words"),
    [("../../x", "'cells.1.cell' is '../../x'"), ("01", "two cells are called '01'")],
)
def test_a_cell_whose_name_is_no_number_of_its_own_is_refused(
    tmp_path: Path, cell: str, words: str
) -> None:
    cells = [{"cell": name, "model": "good"} for name in ("01", cell)]
    matrix = {"schema_version": 1, "name": "m", "started_at": "", "suite": "s", "cells": cells}
    (tmp_path / "matrix.json").write_text(json.dumps(matrix))
    with pytest.raises(RecordError, match=f"{re.escape(words)}[^\n]*$"):
        tunaeval.load_matrix(tmp_path)


def test_two_prompts_of_a_suite_need_one_option_to_be_compared(
    here: Tuna, models: Models, numbers: str, tmp_path: Path
) -> None:
    here("run", "--suite", numbers, "--base-url", models.url, "--model", "poor", *BOTH)
    both = [str(matrix_of(tmp_path) / "cells" / cell) for cell in ("01", "02")]
    refused = here("compare", *both)
    assert "other prompts or tools" in refused.stderr
    assert "another suite" not in refused.stderr
    shown = here("compare", *both, "--different-prompts").stdout
    assert "A: poor, terse, run" in shown
    assert "B: poor, kind, run" in shown


def test_a_ranking_says_how_many_replies_are_from_the_cache(
    here: Tuna, models: Models, numbers: str
) -> None:
    asked = ("run", "--suite", numbers, "--base-url", models.url, "--cache", "kept")
    here(*asked, "--model", "good", "--system-prompt", "kind.md")
    words = f"{COUNT} of {2 * COUNT} replies are from the cache, the oldest of 20"
    assert words in here(*asked, "--model", "good", *BOTH).stdout


def test_models_as_a_text_are_refused() -> None:
    with pytest.raises(UsageError, match="models is the text 'good'; wanted a list"):
        tunaeval.run_matrix("smoke", models="good", out=None)
