"""A search that leaves words out, or is one of two patterns, finds what the whole one finds."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tunaeval.grammar.formats import AUTO, FORMATS
from tunaeval.parsing.finder import Finder, finder_of
from tunaeval.parsing.search import Search
from tunaeval.parsing.window import Window

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
    assert spans(finder.search_of(text), text) == spans(finder.search, text)


TAGGED = finder_of(AUTO, wants_tools=True, more=()).tagged(("ls", "tool", "functions", "f"))
"""A finder of tools' tags, which looks for them beside what the finder of the formats finds."""
WHOLE = Finder((*TAGGED.formats, *TAGGED.wholes), wants_tools=True)
"""The same in one pattern."""
NEAR = st.sampled_from(
    [*TAGGED.tokens, "<ls", "<tool", "</", "<", '{"name": ', "[f(", "<a:tools>", " word ", "\n"]
)


@settings(max_examples=300)
@given(pieces=st.lists(NEAR, max_size=6))
def test_tags_of_tools_are_found_as_by_one_pattern(pieces: list[str]) -> None:
    text = "".join(pieces)
    assert TAGGED.bare.keys() == WHOLE.bare.keys()
    assert spans(TAGGED.search, text) == spans(WHOLE.search, text)
    assert spans(TAGGED.search_on, text) == spans(WHOLE.search_on, text)
    assert TAGGED.held(Window(text)) == WHOLE.held(Window(text))


def spans(search: Search, text: str) -> list[tuple[int, int]]:
    found, at = list[tuple[int, int]](), 0
    while hit := search.search(text, at):
        found.append(hit.span())
        at = hit.end()
    return found


def test_words_are_left_out_only_where_there_are_none() -> None:
    assert ALL.search_of(LONG) is not ALL.search
    assert ALL.search_of(f"{LONG}Action:") is ALL.search
    assert ALL.search_of("short") is ALL.search
