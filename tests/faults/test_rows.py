"""The table of what shows which fault names tests that there are."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.faults.rows import SHOWN

TESTS = Path(__file__).parents[1]


@pytest.mark.parametrize("row", SHOWN)
def test_every_row_is_shown_by_a_test_that_there_is(row: str) -> None:
    file, _, name = SHOWN[row].partition("::")
    tree = ast.parse((TESTS / file).read_text("utf-8"))
    tests = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    assert name in tests if name else any(one.startswith("test_") for one in tests)


def test_all_forty_are_shown() -> None:
    numbers: set[int] = set()
    for row in SHOWN:
        for first, last in re.findall(r"(\d+)(?: to (\d+))?", row.partition(":")[0]):
            if row[0].isdigit():
                numbers.update(range(int(first), int(last or first) + 1))
    assert numbers == set(range(1, 41))
