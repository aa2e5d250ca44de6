"""Messages of others: in a text, in a request, in a reply that is compared."""

from __future__ import annotations

import json

import pytest

import tunaeval
from tunaeval import parse
from tunaeval.endpoint.apis import ModelRequest
from tunaeval.errors import UsageError
from tunaeval.rewards import reward_turns
from tunaeval.types.calls import JsonValue
from tunaeval.types.messages import OTHER_ROLES, RESULT_ROLES, Message
from tunaeval.types.parsing import LEVELS

ODD = [["tool"], {"tool": 1}, 7, None]
CALL = {"name": "ls", "arguments": {"path": "."}}


@pytest.mark.parametrize("role", OTHER_ROLES)
def test_a_message_of_others_in_a_text_is_no_call(role: str) -> None:
    for level in LEVELS:
        assert not parse(json.dumps({"role": role, **CALL}), level=level).calls


@pytest.mark.parametrize("role", OTHER_ROLES)
def test_a_message_of_others_is_no_reply(role: str) -> None:
    with pytest.raises(UsageError, match=f"a {role} message makes no calls"):
        tunaeval.match({"tools": ["ls"]}, {"role": role, "tool_calls": [{"function": CALL}]})


@pytest.mark.parametrize("role", RESULT_ROLES)
def test_results_of_a_request_have_any_of_their_roles(role: str) -> None:
    messages = ({"role": "user", "content": "go"}, {"role": role, "content": "r"})
    assert ModelRequest("chat", {}, messages, None, "m").results == ("r",)
    assert Message(role, "r").is_result


@pytest.mark.parametrize("role", ODD)
def test_a_role_that_is_no_text_raises_nothing(role: JsonValue) -> None:
    messages = ({"role": role, "content": "r"},)
    assert ModelRequest("chat", {}, messages, None, "m").results == ()
    assert len(parse(json.dumps({"role": role, **CALL})).calls) <= 1
    reply = {"role": role, "tool_calls": [{"function": CALL}]}
    assert tunaeval.match({"tools": ["ls"]}, reply).ok
    turns = reward_turns([{"role": "assistant", "content": "x"}, *messages], [[CALL]])
    assert len(turns) == (2 if role is None else 1)  # a message without a role is the model's


@pytest.mark.parametrize("role", RESULT_ROLES)
def test_a_failed_result_of_any_role_leaves_the_step_open(role: str) -> None:
    turn = {"role": "assistant", "content": "", "tool_calls": [{"function": CALL}]}
    wrong = {**turn, "tool_calls": [{"function": {**CALL, "arguments": {"path": "x"}}}]}
    failed = {"role": role, "content": "Error: there is no x"}
    assert [one.value for one in reward_turns([wrong, failed, turn], [[CALL]])] == [0.0, 1.0]
