"""What holds for the logs of agents and for traces: nothing is lost, and ATIF keeps all of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings

from tests.data.adapters.agent_writers import AGENT_WRITERS
from tests.data.adapters.file_writers import FILE_WRITERS, SPENT, UNMARKED
from tests.data.adapters.steps import Answered, Asked, Called, Step, conversations
from tunaeval.data import as_atif
from tunaeval.data.adapters.documents import read_conversation, read_file
from tunaeval.types.conversations import Conversation


def results_in(read: Conversation) -> list[tuple[str | None, str, bool]]:
    return sorted(
        (str(m.tool_call_id), m.content.partition("Output:\n")[2] or m.content, bool(m.is_error))
        for m in read.messages
        if m.role == "tool"
    )


def said(steps: Sequence[Step]) -> list[str]:
    return [step.text for step in steps if isinstance(step, Asked) and step.text]


WRITERS = {**AGENT_WRITERS, **FILE_WRITERS}


@pytest.mark.parametrize("name", WRITERS)
@settings(max_examples=15)
@given(steps=conversations())
def test_nothing_is_lost_and_the_shape_is_found(name: str, steps: list[Step]) -> None:
    written = WRITERS[name](steps)
    lines = "\n".join(map(json.dumps, written)).encode()
    shape = name.partition(" ")[0]
    (read,) = read_file(lines)
    for again in (read_file(lines, shape=shape), read_file(json.dumps(written).encode())):
        assert [replace(one, warnings=()) for one in again] == [replace(read, warnings=())]
    assert read.shape == shape
    made = [(c.name, c.arguments, c.id) for m in read.messages for c in m.tool_calls]
    assert made == [call for step in steps if isinstance(step, Called) for call in step.calls]
    told = [one for step in steps if isinstance(step, Answered) for one in step.results]
    if name in UNMARKED:
        assert [one[:2] for one in results_in(read)] == sorted(one[:2] for one in told)
    elif name == "codex":  # its results have a heading
        assert [one[::2] for one in results_in(read)] == sorted(one[::2] for one in told)
    else:
        assert results_in(read) == sorted(told)
    assert [m.content for m in read.messages if m.role == "user" and m.content] == said(steps)
    texts = [m.reasoning if "interactions" in name else m.content for m in read.messages
             if m.role == "assistant"]  # fmt: skip
    replied = [step.text for step in steps if isinstance(step, Called) and step.text]
    assert [text for text in texts if text] == replied + ["Done."] * (name == "promptfoo")
    spent = [m.usage for m in read.messages if m.role == "assistant" and m.tool_calls]
    if name in SPENT:
        assert {(one.prompt_tokens, one.completion_tokens) for one in spent if one} == {(100, 5)}
    assert {notice.code for notice in read.warnings} <= {"dangling-call"}
    assert list(read.sources) == sorted(read.sources)


@pytest.mark.parametrize("name", ["codex", "openhands", "langfuse"])
@settings(max_examples=15)
@given(steps=conversations())
def test_a_trajectory_keeps_everything(name: str, steps: list[Step]) -> None:
    (read,) = read_file("\n".join(map(json.dumps, AGENT_WRITERS[name](steps))).encode())
    trajectory = json.loads(json.dumps(as_atif(read)))
    back = read_conversation(trajectory)
    assert back.shape == "atif"
    assert results_in(back) == results_in(read)
    kept = [(m.role, m.content, m.reasoning, m.usage, m.at,
             [(c.name, c.arguments, c.id) for c in m.tool_calls])
            for m in read.messages if m.role != "tool"]  # fmt: skip
    again = [(m.role, m.content, m.reasoning, m.usage, m.at,
              [(c.name, c.arguments, c.id) for c in m.tool_calls])
             for m in back.messages if m.role != "tool"]  # fmt: skip
    assert again == kept
