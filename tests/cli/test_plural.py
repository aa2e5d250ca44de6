"""What is counted is named in the singular where there is one of it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.conftest import Tuna
from tests.faults import FaultServer
from tests.faults.runs import suite_file
from tunaeval.showing import counted

THINGS = (
    "rows|turns|calls|scenarios|results|attempts|requests|tools|messages|replies|clusters|checks"
)
ONE_OF_SEVERAL = re.compile(rf"(?<![\d.,@^=])\b1 (?:{THINGS})\b")


@pytest.mark.parametrize(
    ("count", "words"), [(0, "0 rows"), (1, "1 row"), (2, "2 rows"), (12_345, "12,345 rows")]
)
def test_one_row_is_no_rows(count: int, words: str) -> None:
    assert counted(count, "row") == words


def test_a_plural_of_its_own_is_given() -> None:
    assert [counted(n, "reply", "replies") for n in (1, 2)] == ["1 reply", "2 replies"]


def test_a_run_of_one_scenario_says_so(here: Tuna, tmp_path: Path) -> None:
    """Every command that counts, with one of each."""
    suite, rows = suite_file(tmp_path, 1), tmp_path / "rows.jsonl"
    rows.write_text('{"text": "no call"}\n')
    with FaultServer() as server:
        ran = here("run", "--suite", str(suite), "--model", "m", "--base-url", server.base_url,
                   "--out", "runs")  # fmt: skip
    (run,) = (tmp_path / "runs").iterdir()
    said = [
        ran,
        here("show", str(run)),
        here("report", str(run), "--markdown"),
        here("compare", str(run), str(run)),
        here("parse", str(rows)),
        here("suites", "--check", str(suite)),
    ]
    for done in said:
        assert not ONE_OF_SEVERAL.findall(done.stdout + done.stderr), done.stdout + done.stderr
