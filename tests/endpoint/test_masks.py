"""Masks take linear time, whoever wrote them, and find what they say."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from tempfile import gettempdir

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tunaeval
from tests.endpoint.asking import chat, question
from tunaeval.endpoint.cassettes import MASKS, Masker, checked_masks
from tunaeval.errors import RecordError, UsageError
from tunaeval.matching.patterns import Pattern

EVIL = ["(a+)+$", "(a|a)*b", "(a|aa)+$", r"a+a+a+b", "a*a*a*a*c", "(?:a?){30}a{30}b", "[^b]*b"]


def seconds(pattern: str, text: str) -> float:
    """The time of the fastest of three."""
    masker = Masker({"<x>": pattern})
    taken = []
    for _ in range(3):
        started = time.process_time()
        masker.text(text)
        taken.append(time.process_time() - started)
    return min(taken)


@pytest.mark.parametrize("pattern", EVIL)
def test_a_mask_takes_linear_time(pattern: str) -> None:
    short, long = (seconds(pattern, "a" * size + "!") for size in (1_000, 8_000))
    assert long < 5
    assert long < 24 * short + 0.05


def test_a_mask_of_a_cassette_does_not_hang(tmp_path: Path) -> None:
    file = tmp_path / "c.jsonl"
    file.write_text(json.dumps({"cassette": 1, "masks": {**MASKS, "<x>": EVIL[0]}}) + "\n")
    with tunaeval.model_endpoint(cassette=file) as model:
        started = time.process_time()
        assert chat(model.url, question("a" * 10_000 + "!")).status_code == 400
    assert time.process_time() - started < 5


@pytest.mark.parametrize("shown", MASKS)
@pytest.mark.parametrize("unit", ["1", "a", "-", "2026-11-22 ", "0x", "sk-", "127.0.0.1:", "TMP/"])
def test_our_own_masks_are_linear(shown: str, unit: str) -> None:
    short, long = (
        seconds(MASKS[shown], unit.replace("TMP", gettempdir()) * size) for size in (4_000, 32_000)
    )
    assert long < 24 * short + 0.05


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("(", "cannot be used"),
        (r"(?<=id )\d+", "a kind of group that is not supported"),
        (r"(a)\1", "an escape that is not supported"),
        ("<.*?>", "name the characters instead"),
        ("a" * 2000, "at most 1000"),
    ],
)
def test_a_mask_that_goes_back_is_refused(tmp_path: Path, pattern: str, words: str) -> None:
    with pytest.raises(UsageError, match="mask") as caught:
        checked_masks({"<x>": pattern})
    assert words in str(caught.value)
    file = tmp_path / "c.jsonl"
    file.write_text(json.dumps({"cassette": 1, "masks": {"<x>": pattern}}) + "\n")
    with pytest.raises(RecordError, match="line 1: the mask"):
        tunaeval.model_endpoint(cassette=file)


PATTERNS = st.sampled_from(
    [r"pid \d+", r"\bb+\b", "^a+", "a+$", r"(?m)^b+$", "[^a]+", r"a(?:b+a)+", r"\Aab|b\Z", "a|b",
     "(ab)*", r"\Bb", "a{2,3}b?", "(?i)A+"]
)  # fmt: skip


@given(pattern=PATTERNS, text=st.text("ab \n", max_size=150))
def test_a_mask_finds_what_python_finds(pattern: str, text: str) -> None:
    found = list(Pattern(pattern).spans(text))
    assert found == [one.span() for one in re.finditer(pattern, text) if one[0]]


@given(pattern=PATTERNS, text=st.text("ab \n", max_size=20), size=st.integers(0, 200))
def test_what_is_remembered_changes_nothing(pattern: str, text: str, size: int) -> None:
    whole = "a" * size + text + "b" * size + text
    found = list(Pattern(pattern).spans(whole))
    assert found == [one.span() for one in re.finditer(pattern, whole) if one[0]]


def test_the_longest_is_masked() -> None:
    assert Masker({"<x>": "foo|foobar"}).text("a foobar and foo") == "a <x> and <x>"


def test_what_replaces_a_mask_is_no_template() -> None:
    assert Masker({r"\g<0>": "a+"}).text("baab") == r"b\g<0>b"
