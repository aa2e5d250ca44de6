"""A fault of writing is said as one, of the file that is written."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Tuna, environment, here

__all__ = ["here"]

RUN = "run --suite s.json --client scripted --recording a.jsonl"
ON_A_SMALL_DISK = """
import resource, signal, sys
sys.dont_write_bytecode = True  # half a file of byte code would break all that come later
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
from tunaeval.cli import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_a_full_disk_is_no_fault_of_what_is_read(tmp_path: Path, suffix: str) -> None:
    rows = (json.dumps({"text": f"{number * 7919:x}" * 9}) + "\n" for number in range(9000))
    (tmp_path / "rows.jsonl").write_text("".join(rows))
    done = subprocess.run(
        [sys.executable, "-c", ON_A_SMALL_DISK, "parse", "rows.jsonl", "--out", f"o.jsonl{suffix}"],
        cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert f"'o.jsonl{suffix}' cannot be written: File too large" in done.stderr
    assert "cannot be read" not in done.stderr
    assert "Traceback" not in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["rows.jsonl"]


@pytest.mark.parametrize("option", ["--out link", "--out link/runs", "--report link/page.html"])
def test_a_link_to_nothing_is_called_that(here: Tuna, tmp_path: Path, option: str) -> None:
    scenarios = [{"prompt": "p", "expected_tool": None}]
    (tmp_path / "a.jsonl").write_text('"hello"\n')
    (tmp_path / "s.json").write_text(json.dumps({"name": "s", "scenarios": scenarios}))
    (tmp_path / "link").symlink_to("nothing")
    done = here(*RUN.split(), *option.split())
    assert done.returncode == 2
    assert "link" in done.stderr
    assert "a link to nothing has this name" in done.stderr


@pytest.mark.parametrize("at", [0, 1])
def test_a_comparison_refuses_the_outcome_that_show_refuses(
    here: Tuna, tmp_path: Path, at: int
) -> None:
    scenarios = [{"prompt": "p", "expected_tool": None}]
    (tmp_path / "a.jsonl").write_text('"hello"\n')
    (tmp_path / "s.json").write_text(json.dumps({"name": "s", "scenarios": scenarios}))
    for out in ("a", "b"):
        assert here(*RUN.split(), "--out", out).returncode == 0
    (good,), (bad,) = (list((tmp_path / one).iterdir()) for one in ("a", "b"))
    rows = (bad / "results.jsonl").read_text()
    parts = rows.split('"outcome":"no_call"')
    parts[at : at + 2] = ['"outcome":"well"'.join(parts[at : at + 2])]
    (bad / "results.jsonl").write_text('"outcome":"no_call"'.join(parts))
    for command in (["show", str(bad)], ["compare", str(good), str(bad)]):
        done = here(*command)
        assert done.returncode == 2, command
        assert "well" in done.stderr
