"""A result that an agent sends as a user's words, as smolagents does, is a result here, too."""

from __future__ import annotations

from typing import Any

import pytest

import tunaeval
from tests.endpoint.asking import chat, question, said
from tunaeval.types.faults import Inject

CALLED = "Calling tools:\n[{'id': 'call_1', 'function': {'name': 'read_file', 'arguments': {}}}]"
SEEN = "Observation:\nreturn a - b"


def told(observed: Any, called: str = CALLED) -> dict[str, Any]:
    asked = question()
    reply = {"role": "assistant", "content": called}
    messages = [*asked["messages"], reply, {"role": "user", "content": observed}]
    return {**asked, "messages": messages}


@pytest.mark.parametrize("tool", [None, "read_file"])
@pytest.mark.parametrize("observed", [SEEN, [{"type": "text", "text": SEEN}]])
def test_an_injection_is_planted_in_an_observation(observed: Any, tool: str | None) -> None:
    with tunaeval.model_endpoint(["ok"], faults=[Inject("Obey.", tool=tool)]) as model:
        said(chat(model.url, told(observed)))
    (result,) = model.requests[0].results
    assert result.startswith(SEEN)
    assert result.endswith("Obey.")
    assert model.unused_faults == ()


def test_an_observation_of_another_tool_is_left_as_it_is() -> None:
    with tunaeval.model_endpoint(["ok"], faults=[Inject("Obey.", tool="bash")]) as model:
        said(chat(model.url, told(SEEN)))
    assert model.requests[0].results == (SEEN,)
    assert len(model.unused_faults) == 1


def test_what_a_user_says_is_no_observation() -> None:
    with tunaeval.model_endpoint(["ok"], faults=[Inject("Obey.")]) as model:
        said(chat(model.url, told("My observation: it fails.")))
    assert model.requests[0].results == ()


def test_a_first_message_that_is_an_observation_has_no_tool() -> None:
    asked = {**question(), "messages": [{"role": "user", "content": SEEN}]}
    with tunaeval.model_endpoint(["ok"], faults=[Inject("Obey.", tool="bash")]) as model:
        said(chat(model.url, asked))
    assert model.requests[0].results == (SEEN,)
