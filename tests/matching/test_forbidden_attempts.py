"""An attempt at a forbidden tool that cannot be read counts as a call of it, wherever it is asked.

An agent may repair what we cannot read, and run it; so `expect`, `match`, `score` and the checks of
a task say the same about one message.
"""

from typing import Any

import httpx2
import pytest

import tunaeval
from tunaeval.types.calls import JsonObject
from tunaeval.types.faults import Cut


def message(name: str, arguments: str) -> JsonObject:
    function = {"name": name, "arguments": arguments}
    calls = [{"id": "c", "type": "function", "function": function}]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def text(content: str) -> JsonObject:
    return {"role": "assistant", "content": content}


ATTEMPTS = {
    "cut arguments": message("bash", '{"command": "rm -rf ."'),
    "a list": message("bash", '["rm"]'),
    "no name": message("", '{"command": "rm"}'),
    "a space": message("bash ", "{}"),
    "Gemini's prefix": message("default_api.bash", "{}"),
    "a prefix of tools": message("tools.bash", "{}"),
    "an unseen sign": message("bash\u200b", "{}"),
    "cut text": text('<tool_call>{"name":"bash","arguments":{"command":"rm'),
    "text after a sound call": text(
        '<tool_call>{"name":"ls","arguments":{}}</tool_call>'
        '<tool_call>{"name":"default_api.bash","arguments":["rm"]}</tool_call>'
    ),
}


@pytest.mark.parametrize("made", ATTEMPTS.values(), ids=ATTEMPTS)
def test_expect_match_score_and_grading_say_the_same(made: JsonObject) -> None:
    asked = [{"role": "user", "content": "Tidy up"}, made]
    checks = tunaeval.Checks([{"forbid": {"calls": ["bash"]}}])
    assert made != tunaeval.expect(forbid=["bash"])
    assert "forbidden" in tunaeval.match({"forbid": ["bash"]}, made).reason
    assert tunaeval.score(asked, "Tidy up", forbid=["bash"]).weighted_total == 0
    assert tunaeval.score(asked, "Tidy up", check=checks).goal_completion == 0
    assert tunaeval.score(asked, "Tidy up", expect={"forbid": ["bash"]}).goal_completion == 0


@pytest.mark.parametrize(
    "made",
    [
        text('I need no bash. <tool_call>{"name":"ls","arguments":{"path":'),
        text('<tool_call>{"name":"ls","arguments":["bash"]}</tool_call>'),
        message("mybash", "{}"),
        message("ls", '{"command": "bash"'),
    ],
)
def test_an_attempt_at_another_tool_is_none_at_the_forbidden_one(made: JsonObject) -> None:
    tools = tunaeval.to_tools([{"name": "ls"}, {"name": "bash"}, {"name": "mybash"}])
    said = tunaeval.match({"forbid": ["bash"]}, made, tools=tools)
    assert not any(one.code == "forbidden-tool" for one in said.failures)


def ask(model: Any, **more: Any) -> JsonObject:
    tools = [{"type": "function", "function": {"name": "bash"}}]
    body = {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "tools": tools}
    answer: JsonObject = httpx2.post(f"{model.url}/chat/completions", json=body | more).json()
    return answer


@pytest.mark.parametrize("made", ATTEMPTS.values(), ids=ATTEMPTS)
def test_an_endpoint_sees_the_attempts_that_it_sent(made: JsonObject) -> None:
    with tunaeval.model_endpoint([made]) as model:
        ask(model)
    assert model.calls != tunaeval.expect(forbid=["bash"])
    assert model.calls != tunaeval.expect()


def test_an_attempt_that_a_fault_cut_short_counts() -> None:
    script = [[tunaeval.ToolCall("bash", {"command": "rm -rf build"})]]
    fault = Cut(at=1, by="length", share=0.8)
    with tunaeval.model_endpoint(script, faults=[fault]) as model:
        ask(model)
    assert model.calls != tunaeval.expect(forbid=["bash"])


@pytest.mark.parametrize(
    ("made", "result", "worked"),
    [
        ("c", {"tool_call_id": "c"}, True),
        ("other", {"tool_call_id": "other"}, True),  # the agent has ids of its own
        ("c", {}, True),
        ("c", {"tool_call_id": "other"}, False),
    ],
)
def test_a_result_with_a_foreign_id_answers_no_call(
    made: str, result: JsonObject, worked: bool
) -> None:
    said = message("bash", "{}")
    again = {**said, "tool_calls": [{**said["tool_calls"][0], "id": made}]}
    with tunaeval.model_endpoint([said, "Done."]) as model:
        ask(model)
        ask(model, messages=[again, {"role": "tool", "content": "ok", **result}])
    assert (model.calls == tunaeval.expect("bash", succeeded=True)) == worked
