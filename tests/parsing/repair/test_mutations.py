"""The corpus of damaged calls: repeatable, really damaged, and never in a way nobody can see."""

from __future__ import annotations

import json

import pytest
from selftests.mutations import KINDS, Damaged, cut_calls, damaged_calls

from tunaeval.parsing.repair.machine import read_json
from tunaeval.parsing.repair.values import Read

LAYERS = {"fence", "encoded"}
"""Kinds that leave what is inside of them sound."""


def test_the_same_seed_gives_the_same_samples() -> None:
    assert list(damaged_calls(200, 5)) == list(damaged_calls(200, 5))
    assert list(damaged_calls(200, 5)) != list(damaged_calls(200, 6))
    assert list(cut_calls(50, 5)) == list(cut_calls(50, 5))


def test_every_kind_of_damage_is_done() -> None:
    samples = list(damaged_calls(1500))
    assert {kind for sample in samples for kind in sample.kinds} == set(KINDS)
    assert any(len(sample.kinds) == 2 for sample in samples)


def is_sound(sample: Damaged) -> bool:
    try:
        json.loads(sample.text)
    except ValueError:
        return False
    return True


def test_no_sample_is_sound_and_means_something_else() -> None:
    """Nobody could see such damage."""
    sound = [sample for sample in damaged_calls(1500) if is_sound(sample)]
    assert all(LAYERS & {*sample.kinds} for sample in sound)


def test_a_cut_call_has_lost_its_last_bracket() -> None:
    for sample in cut_calls(300):
        assert sample.cut
        assert not is_sound(sample)


@pytest.mark.parametrize("seed", range(3))
def test_what_is_read_wrong_says_so(seed: int) -> None:
    """A value that is not the one meant has a repair that guesses, not only such that lose none."""
    samples = [s for s in damaged_calls(700, seed) if not LAYERS & {*s.kinds}]
    wrong = [sample for sample in samples if is_wrong_without_a_flag(sample)]
    assert len(wrong) <= len(samples) * 0.015, [sample.text for sample in wrong]


def is_wrong_without_a_flag(sample: Damaged) -> bool:
    read = read_json(sample.text)
    if not isinstance(read, Read) or read.value == sample.meant:
        return False
    return "lenient" not in {repair.level for repair in read.repairs}


def test_a_cut_call_is_never_read_as_a_whole_one() -> None:
    for sample in cut_calls(300):
        read = read_json(sample.text)
        assert not isinstance(read, Read) or read.truncated
