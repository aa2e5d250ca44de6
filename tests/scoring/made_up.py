"""Transcripts, executions and settings that hypothesis makes up."""

from __future__ import annotations

from hypothesis import strategies as st

import tunaeval
from tunaeval import ScoreSettings
from tunaeval.scoring.settings import Price
from tunaeval.types.calls import ToolCall
from tunaeval.types.messages import Message, ToolExecution, Usage

TOOLS = st.sampled_from(["read", "bash", "done_tool", "planner_tool"])
IDS = st.none() | st.sampled_from(["c1", "c2", "c3"])
TEXTS = st.text(max_size=20) | st.sampled_from(
    [
        '{"ok": false}',
        '{"ok": true}',
        "[]",
        "Exit Code: 3",
        "Error: no",
        '{"status": "error"}',
        '{"success": false}',
        '{"error": "gone"}',
    ]
)
ARGUMENTS = st.sampled_from([{}, {"path": "a"}, {"path": "b"}])
CALLS = st.builds(ToolCall, TOOLS, ARGUMENTS, IDS)
USAGES = st.builds(
    Usage,
    st.none() | st.integers(-1, 200_000),
    st.none() | st.integers(-1, 9),
    st.none() | st.floats(0, 9) | st.just(float("nan")),
)
MESSAGES = st.builds(
    Message,
    role=st.sampled_from(["user", "assistant", "tool", "system"]),
    content=TEXTS,
    tool_calls=st.lists(CALLS, max_size=3).map(tuple),
    tool_call_id=IDS,
    is_error=st.none() | st.booleans(),
    usage=st.none() | USAGES,
)
TRANSCRIPTS = st.lists(MESSAGES, max_size=8).filter(
    lambda messages: not messages or any(m.content.strip() or m.tool_calls for m in messages)
)
"""A transcript that is not empty holds a word or a call; others are refused."""
EXECUTIONS = st.builds(
    ToolExecution,
    tool=TOOLS,
    call_id=IDS,
    arguments=st.just({}),
    started_at=st.floats(0, 9),
    duration_seconds=st.none() | st.floats(0, 9),
    ok=st.booleans(),
    ok_reason=st.sampled_from(["assumed", "exception", "exit-code"]),
)

PRESETS = st.sampled_from(["default", "evals2"])
EXTRA = ("argument-validity", "cost", "expected-trajectory", "latency", "repetition")
"""The categories that stand beside a preset, or may."""

SETTINGS = st.builds(
    ScoreSettings,
    completion_tools=st.sampled_from([("done_tool",), ("read", "done_tool"), ()]),
    polling_tools=st.sampled_from([(), ("bash",)]),
    many_steps=st.integers(0, 5),
    price=st.none() | st.just(Price(1.0, 2.0)),
    count_tokens=st.none() | st.just(len),
    expect=st.none()
    | st.just({"tools": ["read", "bash"], "match": "any_order"})
    | st.just({"calls": [{"name": "read"}], "match": "superset"}),
    tools=st.none()
    | st.just(tunaeval.to_tools([]))
    | st.just(tunaeval.to_tools([{"name": "read", "parameters": {}}])),
)
