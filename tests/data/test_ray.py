"""A million rows over two local nodes of Ray; a worker and then a node are killed: each row once.

`pytest -m ray` wants Ray in this environment, or in one that TUNAEVAL_RAY_PYTHON names;
TUNAEVAL_RAY_ROWS says how many rows (1,000,000).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parent / "programs" / "killed.py"
ROOT = PROGRAM.parents[3]


@pytest.mark.ray
def test_no_row_is_lost_or_doubled_when_a_worker_and_a_node_are_killed(tmp_path: Path) -> None:
    named = os.environ.get("TUNAEVAL_RAY_PYTHON") or (find_spec("ray") and sys.executable)
    if not named:
        pytest.skip("ray is not installed: pip install '.[ray]'")
    rows = os.environ.get("TUNAEVAL_RAY_ROWS", "1000000")
    done = subprocess.run(
        [named, str(PROGRAM), rows],
        capture_output=True, text=True, timeout=1800, check=False, cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout.splitlines()[-1])
    print(found)
    assert found["rows"] == found["ids"] == found["input"] > 0
    assert found["sum"] == found["plain_sum"]
    assert found["killed"] == ["worker", "node"]
