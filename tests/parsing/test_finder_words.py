"""A search that leaves words out finds what the whole search finds."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tunaeval.grammar.formats import FORMATS
from tunaeval.parsing.finder import Finder

ALL = Finder(tuple(FORMATS.values()))
FINDERS = {"all": ALL} | {name: Finder((form,)) for name, form in FORMATS.items()}
PIECES = st.sampled_from(
    [*ALL.tokens, '{"name": ', "[f(", "to", "func", "Act", " and so on. ", "\n"]
)
LONG = "It is a long text. " * 40


@pytest.mark.parametrize("name", FINDERS)
@settings(max_examples=20)
@given(pieces=st.lists(PIECES, max_size=8))
def test_the_same_is_found_without_looking_for_words(name: str, pieces: list[str]) -> None:
    finder, text = FINDERS[name], LONG.join(["", *pieces, ""])
    found = [hit.span() for hit in finder.search_of(text).finditer(text)]
    assert found == [hit.span() for hit in finder.search.finditer(text)]


def test_words_are_left_out_only_where_there_are_none() -> None:
    assert ALL.search_of(LONG) is not ALL.search
    assert ALL.search_of(f"{LONG}Action:") is ALL.search
    assert ALL.search_of("short") is ALL.search
