"""What a model is asked, in each way of asking."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tunaeval.errors import UnknownNameError
from tunaeval.parsing.api import parse
from tunaeval.runs.prompts import (
    ASKS,
    EXAMPLES,
    MAX_STRING,
    asking,
    call_schema,
    fitting,
    kept_reply,
    retry_prompt,
)
from tunaeval.tasks.suites.loading import load_suite, suite_names
from tunaeval.types.calls import JsonValue, Tools, ToolSpec
from tunaeval.types.runs import Suite

MakeSuite = Callable[..., Suite]


def test_under_api_the_tools_go_to_the_api_alone(make_suite: MakeSuite) -> None:
    asked = asking(make_suite(), "api")
    assert asked.messages("Hi") == [
        {"role": "system", "content": "Work."},
        {"role": "user", "content": "Hi"},
    ]
    assert asked.tools == tuple(make_suite().tools.as_openai())
    assert asked.schema is None
    assert asked.heading is None


def test_under_prompt_the_system_message_tells_the_tools(make_suite: MakeSuite) -> None:
    asked = asking(make_suite(), "prompt")
    system = asked.opening[0]["content"]
    assert asked.tools is None
    assert '"name": "read_file"' in system
    assert '<tool_call>\n{"name"' in system


def test_under_prompt_examples_are_written_as_calls_are_read(make_suite: MakeSuite) -> None:
    asked = asking(make_suite(), "prompt", examples=EXAMPLES)
    answers = [turn["content"] for turn in asked.opening if turn["role"] == "assistant"]
    shown = fitting(EXAMPLES, make_suite().tools)
    assert shown
    for answer, example in zip(answers, shown, strict=True):
        calls = parse(answer, "hermes").calls
        assert [(c.name, c.arguments) for c in calls] == [
            (c.name, c.arguments) for c in example.calls
        ]


def test_under_schema_the_score_is_headed(make_suite: MakeSuite) -> None:
    asked = asking(make_suite(), "schema")
    assert asked.heading == "constrained decoding"
    assert "- read_file(filepath: string, limit?: integer): Read a file." in str(asked.opening[0])


def test_an_unknown_way_to_ask_is_refused(make_suite: MakeSuite) -> None:
    with pytest.raises(UnknownNameError, match="prompt"):
        asking(make_suite(), "promt")  # type: ignore[arg-type] # the mistake that is tested


def test_a_digest_tells_two_ways_to_ask_apart(make_suite: MakeSuite) -> None:
    assert len({asking(make_suite(), ask).digest for ask in ASKS}) == len(ASKS)
    assert asking(make_suite(), "api").digest == asking(make_suite(), "api").digest


@pytest.mark.parametrize("name", suite_names())
def test_no_example_is_a_question_of_a_suite(name: str) -> None:
    suite = load_suite(name)
    shown = fitting(EXAMPLES, suite.tools)
    assert not {example.question for example in shown} & {one.prompt for one in suite.scenarios}
    assert any(not example.calls for example in shown)
    if "read_file" in suite.tools:  # the examples are about the tools of a coding agent
        assert 4 <= len(shown) <= 8
        assert any(len(example.calls) > 1 for example in shown)


def test_the_answers_of_examples_fit_the_schema() -> None:
    suite = load_suite("smoke")
    turns = asking(suite, "schema").opening[1:]
    assert [turn["role"] for turn in turns] == ["user", "assistant"] * (len(turns) // 2)
    branches = {
        one["properties"]["name"]["const"]: one
        for one in call_schema(suite.tools)["anyOf"]
        if "name" in one.get("properties", {})
    }
    for turn in turns[1::2]:
        answer = json.loads(turn["content"])
        for call in answer if isinstance(answer, list) else [answer]:
            if "answer" in call:
                continue
            allowed = branches[call["name"]]["properties"]["arguments"]
            assert set(allowed["required"]) <= set(call["arguments"]) <= set(allowed["properties"])


def test_examples_that_the_tools_cannot_make_are_left_out() -> None:
    assert all(not example.calls for example in fitting(EXAMPLES, Tools()))


def test_the_schema_is_bounded_and_without_null() -> None:
    parameters = {
        "type": "object",
        "properties": {
            "a": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None, "title": "A"},
            "b": {"type": ["array", "null"], "items": {"type": "string"}},
            "c": {"enum": ["x", "y"], "type": "string"},
            "d": {"type": "object", "additionalProperties": {"type": "string"}},
            "e": {"type": "object", "properties": {"f": {"type": "number"}}, "required": ["f"]},
        },
        "required": ["c"],
    }
    call, several, answer = call_schema(Tools([ToolSpec("t", parameters=parameters)]))["anyOf"]
    text = {"type": "string", "maxLength": MAX_STRING}
    arguments = call["properties"]["arguments"]
    assert call["properties"]["name"] == {"const": "t"}
    assert arguments["required"] == ["c"]
    assert arguments["properties"] == {
        "a": text,
        "b": {"type": "array", "items": text, "maxItems": 8},
        "c": {"enum": ["x", "y"], "type": "string"},
        "d": {"type": "object", "additionalProperties": text},
        "e": {
            "type": "object",
            "properties": {"f": {"type": "number"}},
            "required": ["f"],
            "additionalProperties": False,
        },
    }
    assert several["items"] == {"anyOf": [call]}
    assert list(answer["properties"]) == ["answer"]


@given(task=st.text())
def test_a_task_stands_in_the_retry_as_it_is(task: str) -> None:
    assert task in retry_prompt(task)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("Hi", "Hi"),
        (None, "(no answer)"),
        ("", "(no answer)"),
        ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}, 3, {}], "ab"),
        (7, "(no answer)"),
    ],
)
def test_any_reply_can_be_said_back(content: JsonValue, text: str) -> None:
    assert kept_reply({"role": "assistant", "content": content}) == {
        "role": "assistant",
        "content": text,
    }


@pytest.mark.parametrize(
    "calls",
    [None, {}, [None], [{}], [{"function": None}], [{"function": {"name": None}}],
     [{"function": {"name": "\ud800", "arguments": {"x": 2**70}}}]],
)  # fmt: skip
def test_odd_calls_do_not_break_what_is_said_back(calls: JsonValue) -> None:
    message = kept_reply({"content": "x", "tool_calls": calls})
    assert set(message) == {"role", "content"}
    assert message["content"].startswith("x")
