"""What agents of smolagents keep: the steps of their memory, and the messages made of them."""

from __future__ import annotations

import enum
import json
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tunaeval
from tests.data.adapters.writers import as_object
from tests.scoring.transcripts import scored, yes
from tunaeval.errors import UsageError
from tunaeval.testing.strategies import json_values


class Role(str, enum.Enum):  # noqa: UP042 - as the framework has it
    USER = "user"
    ASSISTANT = "assistant"
    TOOL_CALL = "tool-call"
    TOOL_RESPONSE = "tool-response"


def call(name: str, arguments: Any, call_id: str) -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def said(role: Role, text: str) -> Any:
    parts = [{"type": "text", "text": text}]
    return SimpleNamespace(role=role, content=parts, tool_calls=None, raw=None, token_usage=None)


def calling(*calls: dict[str, Any]) -> Any:
    return said(Role.TOOL_CALL, f"Calling tools:\n{list(calls)}")


def step(**more: Any) -> dict[str, Any]:
    empty: dict[str, Any] = dict.fromkeys(
        ("error", "model_output", "model_output_message", "observations", "token_usage")
    )
    return {
        "step_number": 1,
        "timing": {"end_time": 1795357693.5},
        "tool_calls": [],
        **empty,
        **more,
    }


READ, OTHER = call("read", {"path": "a"}, "c1"), call("t2", {"x": "it's"}, "c2")
CODE = call("python_interpreter", "print(read('a'))", "c3")
MESSAGES = [
    said(Role.USER, "New task:\ngo"),
    said(Role.ASSISTANT, "I'll read."),
    calling(READ, OTHER),
    said(Role.TOOL_RESPONSE, "Observation:\nmilk\nt2"),
    said(Role.ASSISTANT, "<code>\nprint(read('a'))\n</code>"),
    calling(CODE),
    said(Role.TOOL_RESPONSE, "Call id: c3\nError:\nFileNotFoundError: a\nNow let's retry"),
]
STEPS = [
    {"task": "go", "task_images": None},
    step(model_output="I'll read.", tool_calls=[READ, OTHER], observations="milk\nt2"),
    step(
        model_output="<code>\nprint(read('a'))\n</code>",
        tool_calls=[CODE],
        error={"type": "AgentExecutionError", "message": "FileNotFoundError: a\nNow let's retry"},
    ),
]


@pytest.mark.parametrize(
    "given_",
    [
        MESSAGES,
        STEPS,
        as_object(STEPS),
        SimpleNamespace(steps=as_object(STEPS), system_prompt="You are."),
        SimpleNamespace(memory=SimpleNamespace(steps=as_object(STEPS))),
        {"output": None, "state": "success", "steps": STEPS},
        json.loads(json.dumps(STEPS)),
    ],
    ids=["messages", "steps", "objects", "memory", "agent", "result", "dumped"],
)
def test_words_calls_and_results_are_read(given_: Any) -> None:
    read = tunaeval.read_conversation(given_)
    assert read.shape == "smolagents"
    assert not read.warnings
    asked, first, *results, second, failed = read.messages
    assert asked.content.endswith("go")
    assert (first.content, first.role) == ("I'll read.", "assistant")
    assert [(one.name, one.arguments, one.id) for one in first.tool_calls] == [
        ("read", {"path": "a"}, "c1"), ("t2", {"x": "it's"}, "c2"),
    ]  # fmt: skip
    assert [(one.tool_call_id, one.content) for one in results] == [("c1", "milk\nt2"), ("c2", "")]
    assert [one.arguments for one in second.tool_calls] == [{"code": "print(read('a'))"}]
    assert (failed.tool_call_id, failed.is_error) == ("c3", True)
    result = scored(given_, check=yes)
    assert (result.details.tool_calls, result.details.failed_calls) == (3, 1)


def test_a_step_whose_tool_raised_has_its_call() -> None:
    message = {"role": "assistant", "content": "", "tool_calls": [READ]}
    error = {"type": "AgentToolExecutionError", "message": "Error executing tool 'read'"}
    read = tunaeval.read_conversation(
        [STEPS[0], step(model_output="", model_output_message=message, error=error)]
    )
    assert [one.name for one in read.messages[1].tool_calls] == ["read"]
    assert (read.messages[2].tool_call_id, read.messages[2].is_error) == ("c1", True)
    assert scored([STEPS[0], *STEPS[1:]], forbid=["t2"]).weighted_total == 0.0


def test_calls_that_cannot_be_read_are_told() -> None:
    odd = said(Role.TOOL_CALL, "Calling tools:\n[<object>]")
    read = tunaeval.read_conversation([said(Role.USER, "go"), odd])
    assert [one.code for one in read.warnings] == ["unread-message"]
    assert "<object>" in read.messages[1].content


@given(st.text(max_size=60), st.sampled_from(list(Role)))
def test_no_text_of_it_raises(text: str, role: Role) -> None:
    tunaeval.read_conversation([said(Role.USER, "go"), said(role, text), said(role, text)])


@given(st.dictionaries(st.sampled_from(sorted(step())), json_values(3)))
def test_no_step_raises(fields: dict[str, Any]) -> None:
    tunaeval.read_conversation([STEPS[0], {**step(), **fields}])


# --- roles that nobody knows ---------------------------------------------------------------------


def test_a_role_that_is_not_known_is_said_in_the_score() -> None:
    messages = [{"role": "user", "content": "go"}, {"role": "robot", "content": "Done."}]
    (warning,) = tunaeval.read_conversation(messages).warnings
    assert (warning.code, warning.source) == ("unknown-role", 1)
    words = "the role 'robot' is not known (message 1), so it counts for nobody"
    assert words in scored(messages, check=yes).details.reasoning


def test_the_steps_of_nothing_are_no_transcript() -> None:
    with pytest.raises(UsageError):
        tunaeval.read_conversation({"steps": []})
