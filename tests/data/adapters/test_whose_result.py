"""Which call a result belongs to, and which calls of a message are one."""

from __future__ import annotations

import json
from time import process_time
from typing import Any

import pytest

import tunaeval
from tunaeval import ToolCall
from tunaeval.types.conversations import Conversation, PendingCalls
from tunaeval.types.messages import Message

USER = {"role": "user", "content": "go"}
DONE = {"role": "assistant", "content": "done"}


def call(id_: str | None, name: str = "f", **arguments: Any) -> dict[str, Any]:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"type": "function", "function": function} | ({} if id_ is None else {"id": id_})


def asks(*calls: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": [*calls]}


def result(content: str = "r", **fields: Any) -> dict[str, Any]:
    return {"role": "tool", "content": content, **fields}


def read(*messages: Any) -> Conversation:
    return tunaeval.read_conversation([USER, *messages])


def warned(given: Conversation) -> list[str]:
    return [notice.code for notice in given.warnings]


def answered(given: Conversation) -> list[tuple[str | None, str]]:
    return [(one.tool_call_id, one.content) for one in given.messages if one.is_result]


@pytest.mark.parametrize("missing", [{}, {"tool_call_id": None}, {"tool_call_id": ""}])
@pytest.mark.parametrize("role", ["tool", "function", "tool_result"])
def test_a_result_without_an_id_answers_the_only_call_that_waits(
    missing: dict[str, Any], role: str
) -> None:
    given = read(asks(call("c1")), {**result(**missing), "role": role}, DONE)
    assert answered(given) == [("c1", "r")]
    assert not warned(given)
    assert (
        tunaeval.score([USER, asks(call("c1")), result(**missing), DONE], "go").success_ratio == 1
    )


def test_an_answered_call_waits_no_more() -> None:
    given = read(asks(call("c1"), call("c2")), result("one", tool_call_id="c1"), result("two"))
    assert answered(given) == [("c1", "one"), ("c2", "two")]


@pytest.mark.parametrize("key", ["name", "tool_name"])
def test_else_it_answers_the_first_call_of_its_name(key: str) -> None:
    calls = asks(call("c1", "f"), call("c2", "g"), call("c3", "f"))
    given = read(calls, result("g", **{key: "g"}), result("f1", **{key: "f"}), result("f2"))
    assert answered(given) == [("c2", "g"), ("c1", "f1"), ("c3", "f2")]
    assert not warned(given)


def test_else_it_is_an_orphan() -> None:
    given = read(asks(call("c1"), call("c2", "g")), result(), result(name="h"))
    assert answered(given) == [(None, "r"), (None, "r")]
    assert sorted(warned(given)) == [*["dangling-call"] * 2, *["orphan-result"] * 2]


def test_results_in_lists_of_messages_are_found_as_well() -> None:
    calls = (ToolCall("f", {}, "c1"), ToolCall("f", {}, "c1"))
    given = tunaeval.read_conversation([Message("assistant", "", calls), Message("tool", "r")])
    assert answered(given) == [("c1", "r")]
    assert len(given.messages[0].tool_calls) == 1


@pytest.mark.parametrize(
    "part",
    [
        {"functionResponse": {"name": "g", "response": {"result": "r"}}},
        {"function_response": {"id": "", "name": "g", "response": {"result": "r"}}},
    ],
)
def test_it_is_so_for_geminis_parts(part: dict[str, Any]) -> None:
    calls: list[dict[str, Any]] = [
        {"functionCall": {"id": id_, "name": id_, "args": {}}} for id_ in ("f", "g")
    ]
    contents = [{"role": "model", "parts": calls}, {"role": "user", "parts": [part]}]
    assert answered(tunaeval.read_conversation(contents)) == [("g", "r")]
    later = {"role": "user", "parts": [part]}
    assert answered(tunaeval.read_conversation([*contents, later]))[1] == ("f", "r")


@pytest.mark.parametrize("times", [2, 3])
def test_a_call_that_a_message_has_more_than_once_is_one(times: int) -> None:
    given = read(asks(*[call("c1", x=1)] * times), result(tool_call_id="c1"), DONE)
    (made,) = given.messages[1].tool_calls
    assert [repair.code for repair in made.repairs] == ["repeated-call"]
    assert not warned(given)


def test_different_calls_with_one_id_both_stand() -> None:
    given = read(asks(call("c1", x=1), call("c1", x=2)), *[result(tool_call_id="c1")] * 2, DONE)
    assert [one.arguments for one in given.messages[1].tool_calls] == [{"x": 1}, {"x": 2}]
    assert warned(given) == ["id-shared"]


def test_calls_of_two_messages_are_two() -> None:
    turn = (asks(call("c1", x=1)), result(tool_call_id="c1"))
    given = read(*turn, *turn, DONE)
    assert [len(one.tool_calls) for one in given.messages] == [0, 1, 0, 1, 0, 0]
    assert warned(given) == ["duplicate-id"]


def test_calls_without_an_id_are_two() -> None:
    given = read(asks(call(None, x=1), call(None, x=1)), result(), result(), DONE)
    assert len(given.messages[1].tool_calls) == 2
    assert not warned(given)


ANTHROPIC = {"type": "tool_use", "id": "k", "name": "f", "input": {"x": 1}}
BEDROCK = {"toolUse": {"toolUseId": "k", "name": "f", "input": {"x": 1}}}


@pytest.mark.parametrize("part", [ANTHROPIC, BEDROCK])
def test_it_is_so_for_parts_of_other_apis(part: dict[str, Any]) -> None:
    given = read({"role": "assistant", "content": [part, part]})
    assert [len(one.tool_calls) for one in given.messages] == [0, 1]


def atif(*steps: dict[str, Any]) -> Conversation:
    agent = [
        {"step_id": at, "source": "agent", "message": "", **one} for at, one in enumerate(steps, 2)
    ]
    head = {"step_id": 1, "source": "user", "message": "go"}
    return tunaeval.read_conversation({"schema_version": "ATIF-v1.6", "steps": [head, *agent]})


def step(ids: list[str], *results: dict[str, Any]) -> dict[str, Any]:
    calls = [{"tool_call_id": id_, "function_name": "bash", "arguments": {}} for id_ in ids]
    return {"tool_calls": calls, "observation": {"results": [*results]}}


def test_an_observation_of_atif_answers_all_calls_of_its_step() -> None:
    given = atif(step(["a", "b", "c"], {"content": "text"}), step(["d"], {"content": "more"}))
    assert answered(given) == [("a", "text"), ("b", ""), ("c", ""), ("d", "more")]
    assert not warned(given)


def test_an_observation_of_atif_leaves_out_calls_that_have_a_result() -> None:
    own = {"source_call_id": "b", "content": "own"}
    given = atif(step(["a", "b", "c"], own, {"content": "text"}))
    assert answered(given) == [("b", "own"), ("a", "text"), ("c", "")]


def test_an_observation_of_atif_without_calls_is_a_message_of_the_system() -> None:
    given = atif({"observation": {"results": [{"content": "text"}]}})
    assert [one.role for one in given.messages] == ["user", "system"]


def test_the_results_of_an_error_are_errors() -> None:
    given = atif(step(["a", "b"], {"content": "x", "extra": {"is_error": True}}))
    assert [one.is_error for one in given.messages if one.is_result] == [True, True]


def test_waiting_calls_are_found_in_linear_time() -> None:
    def seconds(count: int) -> float:
        pending, begun = PendingCalls(), process_time()
        for at in range(count):
            pending.add(f"c{at}", f"n{at % 7}")
        for at in range(count):
            pending.answered(None, f"n{at % 7}")
        return process_time() - begun

    few = min(seconds(5_000) for _ in range(3))
    assert min(seconds(40_000) for _ in range(3)) < 40 * few + 0.05


def test_a_message_of_many_calls_with_one_id_is_read() -> None:
    calls = [call("c1", x=at) for at in range(3_000)]
    assert len(read(asks(*calls)).messages[1].tool_calls) == 3_000
