"""The mutants that the tests are tried with are drawn and made as `mutants.py` says."""

from __future__ import annotations

import ast
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

pytest.importorskip("cosmic_ray", reason="cosmic-ray is not installed; pip install cosmic-ray")

from tests.mutants import Copy, Tried, Verdict, tries
from tests.mutants_drawn import drawn
from tests.mutants_loaded import take

ROOT = Path(__file__).parents[2]
STEPS = "tunaeval/parsing/blocks/steps.py"
NEXT_CHAR = "return window.text[pos : pos + 1]"
SOURCE = '''from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    A = 1 + 1


@dataclass(frozen=True, slots=True)
class C:
    """-1 é"""

    __slots__ = ("a" + "b",)
    a: int | None


def f(é: int | None, *, b: int | str) -> int | None: return 7 if é == b else None
'''

LOADED = """
LIMIT = 5

def over(n):
    return [n + 1 for _ in range(1)][0]

class Box:
    size = 7

    def twice(self, n):
        return n * 2
"""


def test_a_seed_draws_the_same_sample_and_a_larger_one_goes_on() -> None:
    five = list(drawn(ROOT, [STEPS], number=5, seed=7))
    assert len({mutant.key for mutant in five}) == 5
    assert list(drawn(ROOT, [STEPS], number=3, seed=7)) == five[:3]
    assert list(drawn(ROOT, [STEPS], number=5, seed=8)) != five
    sound = (ROOT / STEPS).read_text("utf-8")
    for mutant in five:
        assert ast.dump(ast.parse(mutant.text)) != ast.dump(ast.parse(sound))
        assert mutant.diff(ROOT).startswith(f"@@ -{mutant.line}")


def test_what_cannot_matter_is_not_drawn(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text(SOURCE, "utf-8")
    mutants = list(drawn(tmp_path, ["one.py"], number=99, seed=0))
    kinds = sorted(mutant.operator.partition("_")[0] for mutant in mutants)
    assert kinds == ["AddNot", "NumberReplacer", "RemoveDecorator", "ReplaceComparisonOperator"]


def test_a_mutant_is_made_and_killed_and_the_copy_is_sound_again(tmp_path: Path) -> None:
    """Without the next character no JSON is read, and so no fixture."""
    sound = (ROOT / STEPS).read_text("utf-8")
    mutants = list(drawn(ROOT, [STEPS], number=99, seed=7))
    deadly = next(mutant for mutant in mutants if NEXT_CHAR not in mutant.text)
    verdict, _ = Copy(tmp_path).tried(deadly, 1)
    assert verdict == "killed"
    assert (tmp_path / STEPS).read_text("utf-8") == sound == (ROOT / STEPS).read_text("utf-8")


def test_what_is_known_is_not_tried_again(tmp_path: Path) -> None:
    [mutant] = drawn(ROOT, [STEPS], number=1, seed=7)
    copy = Copy(tmp_path)
    ends: list[tuple[Verdict, int]] = [("killed", 0), ("timed out", 1), ("survived", 3)]
    for verdict, stage in ends:
        known = {mutant.key: Tried(mutant.key, stage, verdict, "")}
        assert list(tries([mutant], known, copy)) == []


def test_loaded_functions_take_the_code_of_a_mutant_and_what_is_made_at_import_does_not(
    tmp_path: Path,
) -> None:
    path = tmp_path / "one.py"
    path.write_text(LOADED, "utf-8")
    spec = spec_from_file_location("one", path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    assert not take(path, LOADED.replace("LIMIT = 5", "LIMIT = 6"))
    assert not take(path, LOADED.replace("size = 7", "size = 8"))
    assert take(path, LOADED.replace("n + 1", "n - 1").replace("n * 2", "n * 3"))
    assert (module.over(1), module.Box().twice(1)) == (0, 3)
