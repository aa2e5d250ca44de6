"""Transcripts that say nothing: refused, by the name of the shape that they were taken for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tunaeval
from tests.data.adapters.test_inspect_ai import log, sample
from tunaeval.errors import UsageError

UNKNOWN: list[dict[str, Any]] = [
    {"role": "user", "pieces": [{"say": "Run the tests."}]},
    {"role": "model", "pieces": [{"doing": {"name": "bash", "with": {"command": "pytest"}}}]},
]


def test_messages_of_an_unknown_shape_are_no_zero() -> None:
    for use in (tunaeval.read_conversation, lambda told: tunaeval.score(told, "Run the tests.")):
        with pytest.raises(UsageError) as caught:
            use(UNKNOWN)
        words = str(caught.value)
        assert words.startswith("messages: 2 messages were read as openai-chat and have neither")
        assert "pieces" in words or "another shape" in words


@given(st.lists(st.sampled_from(["user", "assistant", "system"]), min_size=1, max_size=4))
def test_a_transcript_without_a_word_or_a_call_is_refused(roles: list[str]) -> None:
    messages = [{"role": role, "content": " "} for role in roles]
    with pytest.raises(UsageError, match="and have neither a word nor a call"):
        tunaeval.score(messages, "q")
    spoken = [*messages, {"role": "user", "content": "Hello."}]
    assert tunaeval.score(spoken, "q").details.outcome in {"scored", "undecided"}


def test_no_message_at_all_is_a_task_in_which_nothing_was_done() -> None:
    result = tunaeval.score([], "q")
    assert result.weighted_total == 0
    assert "nothing was done" in result.categories["goal-completion"].reason


def test_the_command_line_refuses_it_and_names_the_file(tmp_path: Path, capsys: Any) -> None:
    from tunaeval.cli import main

    file = tmp_path / "unknown.json"
    file.write_text(json.dumps(UNKNOWN))
    assert main(["score", str(file)]) == 2
    assert "were read as openai-chat" in capsys.readouterr().err


# --- Inspect -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "words"),
    [
        ({"message": "TimeoutError: the sandbox", "traceback": "..."}, "TimeoutError: the sandbox"),
        ("RuntimeError()", "RuntimeError()"),
        ({}, "an unknown error"),
    ],
)
@pytest.mark.parametrize("preset", ["default", "evals2"])
def test_a_sample_that_ended_in_an_error_has_that_outcome(
    error: object, words: str, preset: str
) -> None:
    (failed,) = tunaeval.read_conversations(log({**sample(), "error": error}))
    assert failed.failure == words
    assert [notice.code for notice in failed.warnings][-1] == "failed-run"
    result = tunaeval.score(failed, "Read a.", preset=preset)
    assert result.weighted_total is None
    assert result.details.outcome == "run_failure"
    assert f"the run ended in an error: {words}" in result.details.reasoning


def test_a_sample_that_ended_well_has_no_failure() -> None:
    (fine,) = tunaeval.read_conversations(log({**sample(), "error": None}))
    assert fine.failure is None
    assert tunaeval.score(fine, "Read a.").details.outcome == "undecided"
