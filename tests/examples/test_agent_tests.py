"""The example of an agent with its tests: offline from its cassettes, and recorded anew."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PYTEST = ("pytest", "-q", "-p", "no:cacheprovider", "-p", "tunaeval.testing.pytest_plugin")


def run(folder: Path, *arguments: str) -> str:
    kept = {key: one for key, one in os.environ.items() if not key.startswith(("PYTEST", "OPENAI"))}
    told = {**kept, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, *arguments, str(folder), "-c", os.devnull, "--rootdir", str(folder)],
        capture_output=True, text=True, cwd=folder, env=told, timeout=120, check=False,
    )  # fmt: skip
    return done.stdout + done.stderr


def copied(tmp_path: Path) -> Path:
    folder = tmp_path / "agent_tests"
    skipped = shutil.ignore_patterns("__pycache__")
    return Path(shutil.copytree(ROOT / "examples" / "agent_tests", folder, ignore=skipped))


def test_its_tests_pass_offline_and_recorded_anew(tmp_path: Path) -> None:
    folder = copied(tmp_path)
    assert "5 passed" in (said := run(folder, "-m", *PYTEST)), said
    shutil.rmtree(folder / "cassettes")
    shutil.rmtree(folder / "expectations")
    recording = ("--tunaeval-record", "--tunaeval-update")
    assert "5 passed" in (said := run(folder, "upstream.py", *PYTEST, *recording)), said
    for kind in ("cassettes", "expectations"):
        names = sorted(path.name for path in (folder / kind / "test_agent").iterdir())
        ours = ROOT / "examples" / "agent_tests" / kind / "test_agent"
        assert names == sorted(path.name for path in ours.iterdir())
    assert "5 passed" in (said := run(folder, "-m", *PYTEST)), said


@pytest.mark.parametrize("recorded", [False, True])
def test_they_pass_in_workers_in_any_order_and_without_a_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, recorded: bool
) -> None:
    pytest.importorskip("xdist")
    folder = copied(tmp_path)
    monkeypatch.delenv("HOME", raising=False)
    more = ["-p", "xdist", "-n", "2", "--strict-markers", "-W", "error"]
    if find_spec("pytest_randomly"):
        more += ["-p", "pytest_randomly"]
    begin = ("upstream.py", *PYTEST, "--tunaeval-record") if recorded else ("-m", *PYTEST)
    assert "5 passed" in (said := run(folder, *begin, *more)), said
    if recorded:
        assert "5 passed" in (said := run(folder, "-m", *PYTEST)), said


def test_a_broken_agent_fails_with_what_it_does_otherwise(tmp_path: Path) -> None:
    folder = copied(tmp_path)
    agent = folder / "agent.py"
    text = agent.read_text("utf-8")
    agent.write_text(text.replace('"role": "tool"', '"role": "user"'), "utf-8")
    said = run(folder, "-m", *PYTEST)
    assert "differs in messages[2].role: recorded 'tool', asked 'user'" in said
