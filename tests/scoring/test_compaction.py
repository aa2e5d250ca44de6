"""A conversation that is compacted while its task runs is scored from what is left, and says so."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

import tunaeval
from tests.data.adapters.writers import WRITERS, Asked, Step, as_object, conversations
from tests.scoring.sessions import QUERY, MuteError, messages
from tunaeval.errors import UsageError

SUMMARY: dict[str, object] = {"role": "user", "content": "Summary: all went well."}


def earlier() -> list[dict[str, object]]:
    """Two turns, which end in words of their own."""
    return [*messages(), {"role": "user", "content": "And?"}, {"role": "assistant", "content": "!"}]


def reasoning_of(session: tunaeval.ScoringSession) -> str:
    assert session.score is not None, session.failure
    return session.score.details.reasoning


def test_a_task_behind_a_summary_is_scored_as_it_was(caplog: pytest.LogCaptureFixture) -> None:
    history = earlier()
    with tunaeval.scoring_session(QUERY, messages=history) as session:
        history[:-1] = [SUMMARY]
        history += messages()
    assert session.start == 2
    assert session.score is not None
    assert session.score.categories == tunaeval.score(history, QUERY, start=2).categories
    assert reasoning_of(session).endswith(
        "; the conversation was compacted while the task ran; the task begins at message 2 now"
    )
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert "'What is in a.py?': the conversation was compacted" in record.getMessage()


def test_where_nothing_from_before_is_left_all_is_scored(caplog: pytest.LogCaptureFixture) -> None:
    history = earlier()
    with tunaeval.scoring_session(QUERY, messages=history) as session:
        history[:] = [SUMMARY, *messages()[1:]]
    assert session.start == 0
    assert session.score is not None
    assert session.score.details.tool_calls == 1
    assert "is gone; all 4 messages that are left were scored" in reasoning_of(session)
    assert len(caplog.records) == 1


def test_one_that_has_grown_past_its_old_length_is_noticed() -> None:
    history = earlier()
    with tunaeval.scoring_session(QUERY, messages=history) as session:
        history[:-1] = [SUMMARY]
        history += [*messages(), *messages()[1:]]
    assert len(history) > len(earlier())
    assert session.start == 2
    assert session.score is not None
    assert session.score.details.tool_calls == 2


def test_another_list_in_the_place_of_the_first_is_looked_through() -> None:
    with tunaeval.scoring_session(QUERY, messages=earlier()) as session:
        session.messages = json.loads(json.dumps([SUMMARY, earlier()[-1], *messages()]))
    assert session.start == 2
    with tunaeval.scoring_session(QUERY, messages=earlier()) as session:
        session.messages = messages()
    assert session.start == 0
    assert "all 4 messages" in reasoning_of(session)


def test_what_holds_the_messages_may_replace_them() -> None:
    holder = SimpleNamespace(messages=earlier())
    with tunaeval.scoring_session(QUERY, messages=holder) as session:
        holder.messages = [SUMMARY, holder.messages[-1], *messages()]
    assert session.start == 2


def test_a_start_that_was_said_moves_with_its_message() -> None:
    history = earlier()
    with tunaeval.scoring_session(QUERY, messages=history, start=4) as session:
        history[:3] = [SUMMARY]
    assert session.start == 2
    assert "begins at message 2 now" in reasoning_of(session)


@pytest.mark.parametrize("start", [-1, 5, 99])
def test_a_start_that_never_was_is_a_failure(start: int) -> None:
    with tunaeval.scoring_session(QUERY, messages=messages(), start=start) as session:
        pass
    assert f"start is {start}, wanted the index of one of the 4 messages" in (session.failure or "")


def test_a_start_that_the_host_says_in_the_block_is_meant() -> None:
    history = earlier()
    with tunaeval.scoring_session(QUERY, messages=history) as session:
        history[:-1] = [SUMMARY]
        history += messages()
        session.start = 1
    assert session.start == 1
    assert "compacted" not in reasoning_of(session)


def test_only_sessions_are_lenient() -> None:
    with pytest.raises(UsageError, match="start is 14, wanted the index of one of the 2 messages"):
        tunaeval.score(messages()[:2], QUERY, start=14)


@given(conversations(), conversations(), st.sampled_from(sorted(WRITERS)), st.data(), st.booleans())
def test_in_any_shape_the_task_is_found_behind_what_was_said_last(
    before: list[Step], after: list[Step], shape: str, data: st.DataObject, objects: bool
) -> None:
    write = WRITERS[shape]
    kept, history = write(before), write([*before, *after])
    assume(shape != "otel" and history[: len(kept)] == kept)  # a span says all of it again
    made: list[Any] = [as_object(one) if objects else one for one in history]
    live = made[: len(kept)]
    cut = data.draw(st.integers(1, len(kept))) - 1
    with tunaeval.scoring_session(QUERY, messages=live) as session:
        live[:cut] = write([Asked("Summary.")] * data.draw(st.integers(0, 2)))
        start = len(live)
        live += made[len(kept) :]
    assert session.start == start
    wanted = tunaeval.score(live, QUERY, start=start)
    assert session.score is not None
    assert session.score.categories == wanted.categories
    is_moved = start != len(kept)
    assert ("compacted" in reasoning_of(session)) == is_moved
    assert reasoning_of(session).startswith(wanted.details.reasoning)


@given(conversations(), st.sampled_from(sorted(WRITERS)))
@example([Asked("x"), Asked("")], "tau2")
def test_a_dumped_conversation_is_the_same_one(before: list[Step], shape: str) -> None:
    """Held as objects when the block begins, and as dictionaries when it ends."""
    history = WRITERS[shape](before)
    assume(shape != "otel")
    with tunaeval.scoring_session(QUERY, messages=[*map(as_object, history)]) as session:
        session.messages = [*history, *history]
    assert session.start == len(history)
    assert "compacted" not in reasoning_of(session)


class Odd:
    """A message that cannot be compared."""

    role = "user"
    content = "Odd."
    __hash__ = None  # type: ignore[assignment] # it is equal to nothing

    def __eq__(self, other: object) -> bool:
        raise MuteError


@pytest.mark.parametrize("make", [Odd, lambda: {"role": "user", "content": "Odd."}])
def test_messages_that_cannot_be_compared_are_looked_at_all_the_same(
    make: Callable[[], Any],
) -> None:
    history = [*messages(), make()]
    with tunaeval.scoring_session(QUERY, messages=history) as session:
        history[:4] = [SUMMARY]
        history += messages()
    assert session.start == 2
