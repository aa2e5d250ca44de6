"""The embedded model asked in two ways, and compared with itself."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tunaeval.clients.llamacpp import LlamaCppClient
from tunaeval.runs.directory import load_report

SCRIPT = Path(__file__).parents[2] / "examples/two_settings.sh"
MISSING = LlamaCppClient.available()


@pytest.mark.local
@pytest.mark.skipif(MISSING is not None, reason=MISSING or "it is here")
def test_one_model_at_two_settings_is_run_and_compared(tmp_path: Path) -> None:
    few = ("--limit", "2", "--max-tokens", "16", "--attempts", "1", "--timeout", "300")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", SCRIPT, *few],
        capture_output=True, text=True, cwd=tmp_path, timeout=600, check=False,
        env={**os.environ, "PATH": path, "PYTHONIOENCODING": "utf-8"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "2 scenarios paired at level standard" in done.stdout
    assert "ask: prompt in A, schema in B" in done.stdout
    for run in tmp_path.glob("runs/*/*"):
        for result in load_report(run).results:
            assert result.attempts[0].completion_tokens  # somebody really answered
    assert len(list(tmp_path.glob("runs/*/*"))) == 2
