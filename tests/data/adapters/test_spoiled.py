"""A sound transcript of any shape with odd values in it is read with warnings, or refused."""

from __future__ import annotations

import json
import random
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tunaeval
from tests.data.adapters.agent_writers import AGENT_WRITERS
from tests.data.adapters.steps import Answered, Asked, Called, Step
from tests.data.adapters.test_agents import EVENTS, OPENHANDS, OPENHANDS_0, ROLLOUT
from tests.data.adapters.test_places import DOCUMENTS
from tests.data.adapters.test_written_twice import COPIED, FIRST, SECOND, acting, export, request
from tests.data.adapters.writers import WRITERS, as_object
from tests.fuzz.hostile_values import damaged
from tunaeval.data import as_atif
from tunaeval.data.adapters.documents import read_conversations, read_file
from tunaeval.data.adapters.reading import NOTICES
from tunaeval.errors import UsageError
from tunaeval.types.conversations import Conversation

STEPS: list[Step] = [
    Asked("Fix it."), Called("I look.", (("read", {"path": "a"}, "c0"), ("bash", {}, "c1"))),
    Answered((("c0", "text of a", False), ("c1", "no", True))), Asked("And?"),
    Called("Done.", (("done", {"n": [1, {"a": None}]}, "c2"),)),
]  # fmt: skip
_WHOLE = {"role": "assistant", "content": "Done.", "reasoning_content": "hm"}
SOUND: dict[str, Any] = {
    **{name: write(STEPS) for name, write in {**WRITERS, **AGENT_WRITERS}.items()},
    "codex exec": EVENTS, "codex rollout": ROLLOUT, "openhands 1": OPENHANDS,
    "openhands first": OPENHANDS_0, "atif copied": [*COPIED, acting(4, copied=False)],
    "otlp": export(request(1, FIRST), request(2, SECOND, "s1"), request(3, SECOND, "s2")),
    "openai answer": {"id": "x", "usage": {"prompt_tokens": 1}, "choices": [
        {"index": 0, "message": _WHOLE}]},
    "held": {"history": WRITERS["openai-chat"](STEPS), "traj": [_WHOLE], "query": "Fix it."},
    "several": [{"messages": WRITERS["anthropic"](STEPS)}, {"conversation": [_WHOLE]}],
    "swe-agent": {"trajectory": [{"action": "ls"}], "info": {"exit_status": "submitted"},
                  "history": [{"role": "user", "content": "Fix it."},
                              {"role": "assistant", "content": "I look.", "action": "ls"},
                              {"role": "user", "content": "a", "message_type": "observation"}]},
    "smolagents": {"steps": [{"task": "Fix it.", "task_images": None}, {
        "step_number": 1, "model_output": "I look.", "observations": "a", "error": None,
        "token_usage": {"input_tokens": 3}, "timing": {"end_time": 1.0},
        "tool_calls": [{"id": "c0", "function": {"name": "read", "arguments": {"path": "a"}}}]}]},
    **{f"document {at}": document for at, (document, _) in enumerate(DOCUMENTS)},
}  # fmt: skip


def assert_whole(read: Conversation) -> None:
    """What is read has the types that it is declared with, whatever was written."""
    assert len(read.sources) == len(read.messages)
    assert {type(read.shape), type(read.name)} == {str}
    for message in read.messages:
        assert {type(message.role), type(message.content)} == {str}
        assert isinstance(message.tool_call_id, str | None)
        assert isinstance(message.at, float | None)
        for call in message.tool_calls:
            assert isinstance(call.name, str)
            assert isinstance(call.arguments, dict)
            assert isinstance(call.id, str | None)
    for notice in read.warnings:
        assert notice.code in NOTICES
        assert notice.path is None or notice.path == "" or notice.path.startswith("/")
        assert notice.source is None or 0 <= notice.source < max(read.length, 1)


def assert_read_or_refused(document: Any) -> None:
    try:
        reads = read_conversations(document)
    except UsageError:
        return
    for read in reads:
        assert_whole(read)
        with suppress(UsageError):  # nothing can be read of some
            tunaeval.score(read, "Fix it.", preset="evals2")


@pytest.mark.parametrize("name", SOUND)
@settings(max_examples=max(settings().max_examples // 4, 10))
@given(dice=st.randoms(use_true_random=False), places=st.integers(1, 3))
def test_odd_values_are_told_and_never_raise(name: str, dice: random.Random, places: int) -> None:
    document = SOUND[name]
    for _ in range(places):
        document = damaged(document, dice, is_json=True)
    assert_read_or_refused(document)
    assert_read_or_refused(as_object(document))
    try:
        text = json.dumps(document).encode()
    except RecursionError:
        return
    try:
        for read in read_file(text):
            assert_whole(read)
            json.dumps(as_atif(read))
    except UsageError:
        pass


def test_what_is_no_transcript_is_one_clear_error() -> None:
    for document in ({}, {"a": 1}, 5, "text", None, [1], [[1]], {"messages": "none"}, [{"a": 1}]):
        with pytest.raises(UsageError):
            tunaeval.read_conversation(document)
