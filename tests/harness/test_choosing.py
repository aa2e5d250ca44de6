"""A part of a suite is what was asked for, in the order of the suite, however it was asked."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tunaeval.errors import SuiteError
from tunaeval.runs.suites.choosing import chosen
from tunaeval.runs.suites.loading import load_suite, without

SUITE = load_suite("tunacode")
IDS = st.lists(st.sampled_from([one.id for one in SUITE.scenarios]), max_size=8)
TAGS = st.lists(st.sampled_from(sorted({tag for one in SUITE.scenarios for tag in one.tags})))


@given(ids=IDS, tags=TAGS)
def test_a_scenario_is_chosen_by_its_id_and_by_one_of_the_tags(
    ids: list[str], tags: list[str]
) -> None:
    wanted = [
        one.id
        for one in SUITE.scenarios
        if (not ids or one.id in ids) and (not tags or set(tags) & set(one.tags))
    ]
    if not wanted:
        with pytest.raises(SuiteError, match="none of 156 scenarios fits"):
            chosen(SUITE, ids=ids, tags=tags)
        return
    assert [one.id for one in chosen(SUITE, ids=ids, tags=tags).scenarios] == wanted


def test_the_digest_is_that_of_the_scenarios_however_they_were_chosen() -> None:
    named = chosen(SUITE, tags=["no-call"])
    rest = without(SUITE, {one.id for one in SUITE.scenarios} - {one.id for one in named.scenarios})
    assert [one.id for one in rest.scenarios] == [one.id for one in named.scenarios]
    assert named.digest == rest.digest != SUITE.digest
    assert chosen(SUITE, patterns=["*"]).digest == SUITE.digest


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("READ-FILE", {"read-file-readme"}),
        ("read-file-*", {"read-file-readme"}),
        ("*-readme", {"read-file-readme"}),
        ("pytest -q", {"bash-pytest-quiet"}),
    ],
)
def test_a_pattern_is_a_part_of_id_or_prompt_or_all_of_an_id(pattern: str, found: set[str]) -> None:
    assert {one.id for one in chosen(load_suite("smoke"), patterns=[pattern]).scenarios} == found


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ({"ids": ["read-file-redme"]}, "did you mean 'read-file-readme'"),
        ({"tags": ["no-cal"]}, "did you mean 'no-call'"),
        ({"patterns": ["zebra"]}, "none of 12 scenarios fits"),
    ],
)
def test_what_is_not_there_is_said(names: dict[str, list[str]], said: str) -> None:
    with pytest.raises(SuiteError, match=said):
        chosen(load_suite("smoke"), **names)
