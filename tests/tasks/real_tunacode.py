"""The real TunaCode, of two versions, each in an environment of its own: found, and asked."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tunaeval.types.calls import JsonValue

ROOT = Path(__file__).parent.parent.parent
VERSIONS = {"tunacode-2025-12": "tunacode-0.1.19", "tunacode-0.2": "tunacode-0.2.3"}
"""The environment that has the agent of each catalogue."""


def python_of(environment: str) -> str:
    """The interpreter of an environment; skips the test where there is none."""
    folders = [os.environ.get("TUNAEVAL_HOST_ENVS"), str(ROOT / ".host-envs")]
    for folder in filter(None, folders):
        for place in ("bin/python", "Scripts/python.exe"):
            found = Path(folder, environment, place)
            if found.exists():
                return str(found)
    pytest.skip(f"needs {environment}: python tests/hosts/environments.py {environment}")


def answer_of(environment: str, program: str, *arguments: str, home: Path) -> JsonValue:
    """What a program prints last, as JSON, when that environment runs it."""
    kept = {key: value for key, value in os.environ.items() if "OPENAI" not in key}
    done = subprocess.run(
        [python_of(environment), "-c", program, *arguments],
        capture_output=True, text=True, timeout=120, check=False, cwd=home,
        env={**kept, "HOME": str(home), "PYTHONPATH": "", "PYTHONIOENCODING": "utf-8"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])
