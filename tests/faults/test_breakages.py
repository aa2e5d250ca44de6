"""The breakages that the tests are tried with can be done today, and stand in the README."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.faults.breakages import BREAKAGES, Breakage, main, places

HERE = Path(__file__).parents[1]


@pytest.mark.parametrize("breakage", BREAKAGES, ids=lambda breakage: breakage.what)
def test_what_a_breakage_breaks_is_there(breakage: Breakage) -> None:
    gone = f"find the line that does what {breakage.line!r} did, in tests/faults/breakages.py"
    assert places(breakage, HERE.parent), gone
    files = [word for word in breakage.tests if word.startswith("tests/")]
    assert all((HERE.parent / file).exists() for file in files)


def test_the_readme_lists_every_breakage() -> None:
    text = (HERE / "README.md").read_text("utf-8").partition("| broken |")[2]
    rows = re.findall(r"^\| ([^|]+) \| [`(]", text, re.MULTILINE)
    assert rows == [breakage.what for breakage in BREAKAGES]


def test_words_that_mean_no_breakage_are_no_success() -> None:
    assert main(["no such breakage"]) == 2
