"""The programs in `benchmarks/` that read published replies do what they say, on a few of them."""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from tests.runs.bfcl_folders import FUNCTION, write_prompts, write_results, write_scores

PROGRAMS = Path(__file__).parents[2] / "benchmarks"
REPLIES: dict[str, tuple[str, list[Any] | None]] = {
    "read": ("[area.of(base=0)]", [{"area.of": {"base": 0}}]),
    "read, another type": ('[area.of(base="1")]', [{"area.of": {"base": "1"}}]),
    "rest": ("[area.of(base=2), area.of(base=3)]", [{"area.of": {"base": 2}}]),
    "evaluated": ("[area.of(base=3 + 4)]", [{"area.of": {"base": 7}}]),
    "BFCL lost arguments": ("[area.of(4, 5)]", [{"area.of": {}}]),
    "false attempt": ('<tool_call>{"name": "rm", "arguments": {}}</tool_call>', None),
}
"""A text, what BFCL read of it, and under what it is counted."""


def pack(path: Path, rows: Iterable[Any]) -> None:
    path.parent.mkdir(exist_ok=True)
    with gzip.open(path, "wt") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = [
        {"model": "m-7b", "category": "simple", "index": number, "dots_as_underscores": False,
         "text": text, "bfcl": calls, "bfcl_passed": calls is not None}
        for number, (text, calls) in enumerate(REPLIES.values())
    ]  # fmt: skip
    prompts = [
        {"category": "simple", "index": number, "id": f"simple_{number}",
         "question": f"The area of {number}?", "functions": [FUNCTION]}
        for number in range(len(rows))
    ]  # fmt: skip
    pack(tmp_path / "published" / "replies.jsonl.gz", rows)
    pack(tmp_path / "published" / "prompts.jsonl.gz", prompts)
    return tmp_path / "published"


def run(program: str, *words: object) -> str:
    command = [sys.executable, PROGRAMS / f"{program}.py", *words]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_each_reply_is_counted_once_under_what_it_is(folder: Path) -> None:
    counted = json.loads(run("real_replies", folder, "--json"))["models"]["m-7b"]
    assert {what: counted[what] for what in REPLIES} == dict.fromkeys(REPLIES, 1)
    assert counted["share"] == pytest.approx(2 / 3)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of the library and the programs, with a commit of its own."""
    root = tmp_path / "checkout"
    for part in ("tunaeval", "benchmarks"):
        shutil.copytree(
            PROGRAMS.parent / part, root / part, ignore=shutil.ignore_patterns("__pycache__")
        )
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "first"]):
        subprocess.run([*git, *words], cwd=root, check=True)
    return root


def against(checkout: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """What `real_replies.py` says of a checkout beside its last commit."""
    program = checkout / "benchmarks" / "real_replies.py"
    command = [sys.executable, str(program), str(folder), "--against", "HEAD", "--json"]
    path = {**os.environ, "PYTHONPATH": str(checkout)}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=path)


def test_an_older_commit_reads_the_same_texts_by_its_own_code(folder: Path, checkout: Path) -> None:
    judge = checkout / "tunaeval" / "parsing" / "judge.py"
    judge.write_text(judge.read_text() + "\nAFTER_THE_COMMIT = 1\n")
    done = against(checkout, folder)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["differences"] == []
    here, older = re.findall(r": (\S+), digest (\w{12})\n", done.stderr)
    assert here[1] != older[1]
    assert Path(here[0]).parts[-3:] == ("here", "tunaeval", "__init__.py")
    assert Path(older[0]).parts[-3:] == ("older", "tunaeval", "__init__.py")


def test_a_commit_is_not_compared_with_itself(folder: Path, checkout: Path) -> None:
    done = against(checkout, folder)
    assert done.returncode == 1
    assert "nothing would be compared" in done.stderr


def test_each_text_is_timed(folder: Path) -> None:
    found = json.loads(run("real_replies", folder, "--speed", "--rounds", "1", "--json"))["speed"]
    assert found["here"][0] > 0


def test_the_figures_of_a_page_are_written_between_its_markers(folder: Path) -> None:
    prompts = write_prompts(folder.parent / "prompts", "v4", "simple", 6)
    for category in ("multiple", "parallel", "parallel_multiple", "irrelevance"):
        write_prompts(prompts, "v4", category, 1)
    page = folder.parent / "page.md"
    page.write_text("Before.\n<!-- figures: begin -->\nold\n<!-- figures: end -->\nAfter.\n")
    run("format_or_ability", folder, "--prompts", prompts, "--write", page)
    text = page.read_text()
    assert text.startswith("Before.\n<!-- figures: begin -->\n\n1 models, 6 replies")
    assert text.endswith("<!-- figures: end -->\nAfter.\n")
    assert "old" not in text
    assert "list of calls 83 %; tag 17 %" in text


def test_any_folder_of_results_has_figures(tmp_path: Path) -> None:
    prompts = write_prompts(tmp_path / "prompts", "v3", "simple", 2)
    fenced = '```json\n{"name": "area_of", "arguments": {"base": 0}}\n```'
    path = write_results(tmp_path, "v3", "simple", [fenced, "[{'name': 'area_of', 'args': 1"])
    write_scores(path, ["simple_0", "simple_1"], 2)
    whole = json.loads(run("format_or_ability", tmp_path, "--prompts", prompts, "--json"))
    (model,) = whole["models"]
    assert (model["scores"]["BFCL"], model["scores"]["standard"]) == (0.0, 50.0)
    assert model["forms"] == {"fence, JSON": 1, "JSON": 1}


def test_labelled_replies_are_counted_for_each_form(tmp_path: Path) -> None:
    tool = {"type": "function", "function": FUNCTION}
    name = FUNCTION["name"]
    texts: list[tuple[str, str, list[Any]]] = [
        ("list", f"[{name}(base=0)]", [[name, {"base": 0}]]),
        ("list", f"[{name}(base=1)]", [[name, {"base": "1"}]]),
        ("prose", f"{name} is nothing that I call.", [[name, {"base": 0}]]),
        ("none", f"[{name}(base=1)]", []),
    ]
    rows = [
        {"model": "m-7b", "kind": kind, "text": text, "tools": [tool], "want": want}
        for kind, text, want in texts
    ]
    pack(tmp_path / "labelled" / "replies.jsonl.gz", rows)
    counted = json.loads(run("real_replies", tmp_path / "labelled", "--json"))["models"]
    assert counted["form list"]["share"] == 1
    assert counted["form prose"]["silent loss"] == 1
    assert counted["all"]["false call"] == 1
