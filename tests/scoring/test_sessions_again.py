"""A session that is entered more than once, and one whose block catches what was raised in it."""

from __future__ import annotations

import pytest

import tunaeval
from tests.scoring.sessions import QUERY, messages


def test_a_session_that_is_entered_again_begins_anew() -> None:
    session = tunaeval.scoring_session(QUERY)
    with session:
        pass
    assert session.failure
    with session:
        session.messages = messages()
    assert session.failure is None
    assert session.score is not None


def test_a_session_that_is_entered_again_has_nothing_of_the_block_before() -> None:
    session = tunaeval.scoring_session(QUERY, check=lambda _: True)
    totals = []
    for start in (0, 2, 0):
        with session:
            session.messages = [*messages(), *messages()] if start else messages()
            session.start += start
        assert session.score is not None
        totals.append(session.score.weighted_total)
    assert totals == [1.0, 1.0, 1.0]
    with session:
        pass
    assert session.score is None
    assert "was given no messages" in str(session.failure)


def test_a_list_that_grows_is_scored_from_where_it_was_when_entered_again() -> None:
    history: list[object] = []
    session = tunaeval.scoring_session(QUERY, messages=history)
    for length in (0, 4, 8):
        with session:
            assert session.start == length
            history += messages()
        assert session.score is not None
        assert session.score.details.tool_calls == 1


def test_an_exception_that_the_block_itself_catches_is_no_end_of_the_run() -> None:
    with tunaeval.scoring_session(QUERY, check=lambda _: True) as session:
        session.messages = messages()
        with pytest.raises(ZeroDivisionError):
            raise ZeroDivisionError("by 0")
    assert session.score is not None
    assert (session.score.weighted_total, session.failure) == (1.0, None)
