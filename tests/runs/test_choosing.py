"""A part of a suite is what was asked for, in the order of the suite, however it was asked."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tunaeval.errors import SuiteError, UsageError
from tunaeval.tasks.suites.loading import load_suite, without

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
        with pytest.raises(SuiteError, match="none of 156 scenarios matches"):
            SUITE.where(ids=ids, tags=tags)
        return
    assert [one.id for one in SUITE.where(ids=ids, tags=tags).scenarios] == wanted


def test_the_digest_is_that_of_the_scenarios_however_they_were_chosen() -> None:
    named = SUITE.where(tags=["no-call"])
    rest = without(SUITE, {one.id for one in SUITE.scenarios} - {one.id for one in named.scenarios})
    assert [one.id for one in rest.scenarios] == [one.id for one in named.scenarios]
    assert named.digest == rest.digest != SUITE.digest
    assert SUITE.where(like="*").digest == SUITE.digest


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
    assert {one.id for one in load_suite("smoke").where(like=pattern).scenarios} == found


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ({"ids": ["read-file-redme"]}, "did you mean 'read-file-readme'"),
        ({"tags": ["no-cal"]}, "did you mean 'no-call'"),
        ({"like": ["zebra"]}, "none of 12 scenarios matches"),
    ],
)
def test_what_is_not_there_is_said(names: dict[str, Any], said: str) -> None:
    with pytest.raises(SuiteError, match=said):
        load_suite("smoke").where(**names)


@given(limit=st.integers(1, 200))
def test_a_limit_takes_the_first(limit: int) -> None:
    assert [*SUITE.where(limit=limit).scenarios] == [*SUITE.scenarios][:limit]


@pytest.mark.parametrize("limit", [0, -1, True])
def test_a_limit_of_nothing_is_refused(limit: int) -> None:
    with pytest.raises(UsageError, match="wanted a number of scenarios, 1 or more"):
        SUITE.where(limit=limit)


def test_a_digest_is_never_carried_along() -> None:
    brief = SUITE.with_(system_prompt="Be brief.")
    assert brief.digest != SUITE.digest
    assert brief.with_(system_prompt=SUITE.system_prompt).digest == SUITE.digest
    assert SUITE.model_copy(update={"system_prompt": "Be brief."}).digest == brief.digest


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"prompt": "x"}, "a suite has no field 'prompt'; it has name, scenarios, tools"),
        ({"digest": "x"}, "a suite has no field 'digest'"),
        ({"system_prompt": 5}, "a suite cannot have that system_prompt"),
        ({"scenarios": [5]}, "a suite cannot have that scenarios"),
        ({"tools": 5}, "a suite cannot have that tools"),
    ],
)
def test_a_field_that_cannot_be_is_refused(fields: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        SUITE.with_(**fields)
