"""`tunaeval rescore`, as it is typed."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Tuna


def kept(here: Tuna, suite: str, folder: Path) -> str:
    """A run of the suite with a script in the model's place, kept below `runs`."""
    replies = ["```json\n{'name': 'bash', 'arguments': {'command': 'ls'}}\n```"] * 8
    (folder / "script.jsonl").write_text("\n".join(map(json.dumps, replies)))
    asked = ("run", "--suite", suite, "--client", "scripted", "--recording", "script.jsonl")
    assert here(*asked, "--attempts", "1", "--quiet").returncode == 0
    (directory,) = (folder / "runs").iterdir()
    return str(directory.relative_to(folder))


def test_a_run_is_rescored_at_another_level(here: Tuna, suite: str, tmp_path: Path) -> None:
    old = kept(here, suite, tmp_path)
    done = here("rescore", old, "--level", "strict")
    assert done.returncode == 0
    assert "read again; no model was asked" in done.stdout
    assert "against the old run: 0 more passed, 1 no longer pass" in done.stdout
    assert len(list((tmp_path / "runs").iterdir())) == 1, "a gate reads this folder"
    assert len(list((tmp_path / old / "rescored").iterdir())) == 1


def test_machines_are_told_the_same(here: Tuna, suite: str, tmp_path: Path) -> None:
    old = kept(here, suite, tmp_path)
    told = json.loads(here("rescore", old, "--json", "--out", "again").stdout)
    assert told["changes"] == {"gained": 0, "lost": 0, "unasked": 0}
    assert told["summary"]["final"]["passed"] == 1
    assert told["run"]["rescored"]["directory"] == old
    assert Path(told["directory"]).parent == Path("again")


def test_what_is_no_run_is_said(here: Tuna, suite: str, tmp_path: Path) -> None:
    assert here("rescore", "nowhere").returncode == 2
    old = kept(here, suite, tmp_path)
    done = here("rescore", old, "--format", "hermess")
    assert (done.returncode, done.stdout) == (2, "")
    assert "did you mean 'hermes'" in done.stderr
