"""Marks are where they were found: no character is lost, whatever was found and however it lies."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

import tunaeval
from tunaeval.reports.page.scenario import CALL, DIAGNOSIS, REPAIR, Mark, marks_of, pieces_of
from tunaeval.types.calls import Span

KINDS = st.sampled_from([CALL, REPAIR, DIAGNOSIS])
SPANS = st.tuples(st.integers(-5, 60), st.integers(-5, 60)).map(lambda at: Span(*at))


@st.composite
def marks(draw: st.DrawFn) -> list[Mark]:
    found = draw(st.lists(st.tuples(KINDS, SPANS | st.none()), max_size=6))
    return [Mark(number, kind, "code", "", span) for number, (kind, span) in enumerate(found, 1)]


@given(text=st.text(max_size=50), found=marks())
def test_every_character_is_in_one_piece(text: str, found: list[Mark]) -> None:
    assert "".join(piece.text for piece in pieces_of(text, found)) == text


@given(text=st.text(max_size=50), found=marks())
def test_a_character_has_the_kinds_of_the_marks_around_it(text: str, found: list[Mark]) -> None:
    kinds = [piece.kinds for piece in pieces_of(text, found) for _ in piece.text]
    for at in range(len(text)):
        around = {mark.kind for mark in found if mark.span and mark.span[0] <= at < mark.span[1]}
        assert kinds[at] == around


@given(text=st.text(max_size=50), found=marks())
def test_each_note_is_referred_to_once(text: str, found: list[Mark]) -> None:
    ends = [number for piece in pieces_of(text, found) for number in piece.ends]
    assert sorted(ends) == [mark.number for mark in found if mark.span and mark.kind != CALL]


def test_a_repaired_call_is_marked_with_its_repairs() -> None:
    text = "So: <tool_call>{'name': 'ls', 'arguments': {}}</tool_call>"
    found = marks_of(tunaeval.parse(text))
    assert (found[0].number, found[0].kind) == (1, CALL)
    assert {mark.code for mark in found if mark.kind == REPAIR} == {"single-quotes"}
    pieces = pieces_of(text, found)
    assert (pieces[0].text, pieces[0].kinds) == ("So: <tool_call>", frozenset())
    assert {piece.text for piece in pieces if REPAIR in piece.kinds} == {"'"}
