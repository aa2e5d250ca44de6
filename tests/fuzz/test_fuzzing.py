"""The fuzzers themselves: they find nothing in a short run, and they can find something."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.fuzz import entrances, hostile_values
from tests.fuzz.random_texts import fuzz, main
from tunaeval.parsing.reader import Reader
from tunaeval.testing.selftest.measured import subject_of, subjects
from tunaeval.types.parsing import Level, ParseResult

HERE = Path(__file__).parent


def test_random_texts_break_no_law(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--executions", "400", "--seed", "7"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["executions"] == 400
    assert said["formats"] == len(subjects())


def test_random_texts_show_a_reader_that_forgets() -> None:
    hermes = subjects(["hermes"])[0]

    class Forgetful(Reader):
        """Loses the last character of the content, whole but not streamed."""

        def parse(
            self, text: str, *, tools: Any = None, level: Level = "standard", **more: Any
        ) -> ParseResult:
            result = super().parse(text, tools=tools, level=level, **more)
            return replace(result, content=result.content[:-1])

    found = fuzz(
        [subject_of("forgetful", Forgetful("forgetful", hermes.forms))],
        executions=100, seconds=20, seed=0,
    )  # fmt: skip
    assert {fault.kind for fault in found.faults} == {"stream differs"}


def test_random_texts_show_a_reader_that_never_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    class Endless(Reader):
        """Waits for what does not come."""

        def parse(
            self, text: str, *, tools: Any = None, level: Level = "standard", **more: Any
        ) -> ParseResult:
            while text:
                pass
            return super().parse(text, tools=tools, level=level, **more)

    monkeypatch.setattr("tests.fuzz.random_texts._PATIENCE_SECONDS", 0.05)
    endless = subject_of("endless", Endless("endless", subjects(["hermes"])[0].forms))
    found = fuzz([endless], executions=3, seconds=20, seed=0)
    assert {(fault.kind, fault.detail) for fault in found.faults} == {
        ("raised", "TimeoutError: not read after 0.05 s")
    }


def test_hostile_values_end_in_documented_errors_at_every_entrance() -> None:
    found = hostile_values.fuzz(executions=500, seconds=60, seed=7)
    assert not found.faults, json.dumps([*found.faults.values()], indent=1)
    assert found.executions > 2 * len({*entrances.ENTRANCES, *entrances.FILES})


def test_what_is_sound_is_taken_at_every_entrance() -> None:
    """Else nothing beyond the first check would be met."""
    for name, entrance in entrances.ENTRANCES.items():
        if name not in {"read_scores", "read_tool_prompt"}:  # their files are no JSON lines of ours
            with hostile_values.quiet():
                entrance.call(**entrance.sound())


def test_hostile_values_show_an_entrance_that_breaks(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = entrances.Entrance(lambda text: text.strip(), {"text": "a"})
    monkeypatch.setitem(entrances.ENTRANCES, "broken", broken)
    found = hostile_values.fuzz(executions=60, seconds=20, seed=0, names=["broken"])
    assert any("AttributeError" in fault["error"] for fault in found.faults.values())


@pytest.mark.skipif(find_spec("atheris") is None, reason="atheris is not installed")
def test_guided_texts_break_no_law(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(HERE / "guided_texts.py"), "-runs=300", "-seed=1"],
        capture_output=True, text=True, cwd=tmp_path, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
