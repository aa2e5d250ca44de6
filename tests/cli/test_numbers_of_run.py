"""Numbers that no server could be asked with are refused before anything is asked, in words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import tunaeval
from tests.cli.conftest import Tuna
from tunaeval.clients.scripted import ScriptedClient
from tunaeval.errors import UsageError
from tunaeval.runs.options import RunOptions


@pytest.mark.parametrize(
    ("option", "value", "wanted"),
    [
        ("--timeout", "0", "seconds above 0"),
        ("--timeout", "-3", "seconds above 0"),
        ("--timeout", "nan", "seconds above 0"),
        ("--timeout", "x", "seconds above 0"),
        ("--temperature", "nan", "a number, 0 or more"),
        ("--temperature", "-1", "a number, 0 or more"),
        ("--temperature", "inf", "a number, 0 or more"),
        ("--temperature", "warm", "a number, 0 or more"),
        ("--seed", "x", "a whole number"),
        ("--seed", "1.5", "a whole number"),
    ],
)
def test_a_number_out_of_bounds_is_refused(
    here: Tuna, option: str, value: str, wanted: str
) -> None:
    done = here("run", f"{option}={value}", "--suite", "smoke")
    assert done.returncode == 2
    assert f"argument {option}: found {value!r}; wanted {wanted}" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("value", [float("nan"), -1, -0.1, float("inf"), True, "0"])
def test_a_temperature_is_a_number_from_0_up(value: Any) -> None:
    with pytest.raises(UsageError, match=r"temperature is .*; wanted a number from 0 up"):
        tunaeval.run("smoke", client=ScriptedClient([]), out=None, temperature=value)


@pytest.mark.parametrize("value", [None, 0, 0.0, 1.5])
def test_a_temperature_may_be_left_to_the_server(value: float | None) -> None:
    assert RunOptions(temperature=value).temperature == value


@pytest.mark.parametrize("old", ["-1.0", "null"])
def test_a_run_of_before_with_an_odd_temperature_is_rescored(here: Tuna, old: str) -> None:
    report = tunaeval.run("smoke", client=ScriptedClient(["No."] * 99), temperature=0.25)
    path = Path(str(report.directory)) / "run.json"
    kept = path.read_text()
    assert '"temperature":0.25' in kept.replace(": ", ":")
    path.write_text(kept.replace("0.25", old))
    assert here("rescore", str(report.directory)).returncode == 0
