"""A script is answered turn by turn, whole and streamed alike, in both APIs."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx2
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tunaeval
from tests.endpoint.asking import READ, TOOLS, chat, joined, question, refusal, said, sent
from tests.spoiling import spoil
from tunaeval import ModelRequest, ToolCall
from tunaeval.errors import UsageError


def test_calls_in_a_text_are_sent_as_structured_ones() -> None:
    with tunaeval.model_endpoint([f"I look. {READ}"]) as model:
        message = said(chat(model.url))
    function = message["tool_calls"][0]["function"]
    assert function == {"name": "read_file", "arguments": '{"filepath": "calc.py"}'}
    assert message["content"] == "I look."
    assert model.calls[0].arguments == {"filepath": "calc.py"}


def test_a_text_stays_one_where_no_tools_are_offered() -> None:
    with tunaeval.model_endpoint([READ]) as model:
        assert said(chat(model.url, question(tools=[])))["content"] == READ


@pytest.mark.parametrize("name", ["hermes", "mistral-v11", "qwen3-coder", "llama4-pythonic"])
def test_any_wire_format_can_be_written(name: str) -> None:
    call = ToolCall("read_file", {"filepath": "a b.py"})
    script = [tunaeval.render([call], format=name)]
    with tunaeval.model_endpoint(script, format=name) as model:
        said(chat(model.url))
    assert model.calls == tunaeval.expect(call)


def test_an_item_may_be_calls_a_message_or_callable() -> None:
    async def later(request: ModelRequest) -> str:
        await asyncio.sleep(0)
        return f"{len(request.messages)} messages, {', '.join(request.tools or ())}"

    script: list[Any] = [
        ToolCall("bash", {}),
        [],
        {"content": "Hm.", "reasoning_content": "?"},
        later,
    ]
    with tunaeval.model_endpoint(script) as model:
        got = [said(chat(model.url)) for _ in script]
    assert [one["content"] for one in got] == [None, None, "Hm.", "1 messages, read_file, bash"]
    assert got[0]["tool_calls"][0]["id"] == "call_1"
    assert got[2]["reasoning_content"] == "?"


def test_one_callable_answers_all_turns() -> None:
    with tunaeval.model_endpoint(lambda request: request.messages[-1]["content"]) as model:
        assert [said(chat(model.url, question(word)))["content"] for word in "ab"] == ["a", "b"]
    assert [request.messages[0]["content"] for request in model.requests] == ["a", "b"]


def test_a_script_that_has_run_out_says_so() -> None:
    with tunaeval.model_endpoint(["Done."]) as model:
        said(chat(model.url))
        assert "the script is over: it has 1 turn," in refusal(chat(model.url))
    assert [turn.code for turn in model.turns] == [None, "script_over"]
    assert model.left == 0


def test_a_callable_that_exits_is_an_answer() -> None:
    def leaves(_: ModelRequest) -> str:
        raise SystemExit(0)

    with tunaeval.model_endpoint(leaves) as model:
        for _ in range(2):
            assert "the script raised SystemExit: 0" in refusal(chat(model.url))
    assert [turn.code for turn in model.turns] == ["script_failed"] * 2


def test_a_callable_that_raises_or_returns_nonsense_is_an_answer() -> None:
    def raises(_: ModelRequest) -> str:
        raise ValueError("no idea")

    with tunaeval.model_endpoint([raises, lambda _: 3]) as model:  # type: ignore[list-item, return-value] # on purpose
        assert "the script raised ValueError: no idea" in refusal(chat(model.url))
        assert "what the script returned is 3; wanted" in refusal(chat(model.url))


WRONG: list[Any] = [
    [{"role": "user", "content": "x"}], [{"role": "assistant", "tool_calls": "x"}],
    [tunaeval.ToolCall("", {})], [[tunaeval.ToolCall("", {})]],
]  # fmt: skip


@pytest.mark.parametrize("script", ["Done.", {"content": "x"}, [3], [["a"]], 3, [{"x": 1}], *WRONG])
def test_what_is_no_script_is_refused_at_once(script: Any) -> None:
    with pytest.raises(UsageError, match="wanted"):
        tunaeval.model_endpoint(script)


def test_masks_are_checked_at_once() -> None:
    with pytest.raises(UsageError, match="the mask '<x>' cannot be used"):
        tunaeval.model_endpoint(["Done."], masks={"<x>": "("})


def test_nobody_to_answer_is_refused() -> None:
    with pytest.raises(UsageError, match="pass a script, a cassette or an upstream"):
        tunaeval.model_endpoint()
    with pytest.raises(UsageError, match="a script excludes cassette"):
        tunaeval.model_endpoint(["x"], upstream="http://127.0.0.1:1/v1")


_ARGUMENTS = st.dictionaries(st.text(max_size=5), st.text(max_size=40) | st.integers(), max_size=3)
_MESSAGES = st.builds(
    lambda text, calls: (text, [ToolCall(name, arguments) for name, arguments in calls]),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=60),
    st.lists(st.tuples(st.sampled_from(["read_file", "bash"]), _ARGUMENTS), max_size=3),
)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text_and_calls=_MESSAGES)
def test_a_stream_adds_up_to_the_whole(text_and_calls: tuple[str, list[ToolCall]]) -> None:
    """Whatever is said, a client that adds the pieces up has the message that comes whole."""
    text, calls = text_and_calls
    item = calls or {"content": text}
    with tunaeval.model_endpoint([item, item]) as model:
        whole = said(chat(model.url))
        chunks = sent(chat(model.url, question(stream=True)))
    for one in whole.get("tool_calls", ()):
        one.pop("id")
    streamed = joined(chunks)
    for one in streamed.get("tool_calls", ()):
        assert one.pop("id")
    assert {key: one for key, one in whole.items() if one} == {
        key: one for key, one in streamed.items() if one
    }
    assert chunks[-1]["choices"][0]["finish_reason"] == ("tool_calls" if calls else "stop")
    sent_calls = [(call.name, call.arguments) for call in model.turns[0].calls]
    assert sent_calls == [(call.name, call.arguments) for call in calls]


def test_usage_ends_a_stream_where_it_is_asked_for() -> None:
    with tunaeval.model_endpoint(["a", "b"]) as model:
        asked = question(stream=True, stream_options={"include_usage": True})
        *before, last = sent(chat(model.url, asked))
        without = sent(chat(model.url, question(stream=True)))
    assert last["choices"] == []
    assert last["usage"]["total_tokens"] > 0
    assert all(chunk["usage"] is None for chunk in before)
    assert not any("usage" in chunk for chunk in without)
    assert model.usage.prompt_tokens


def responses(url: str, body: dict[str, Any]) -> httpx2.Response:
    return httpx2.post(f"{url}/responses", json={"model": "m", **body}, timeout=10)


FLAT = [{"type": "function", **tool["function"]} for tool in TOOLS]  # type: ignore[dict-item] # is a dictionary


def test_the_responses_api_is_read_as_messages_and_answered_in_items() -> None:
    items = [
        {"role": "user", "content": [{"type": "input_text", "text": "Fix."}]},
        {"type": "function_call", "call_id": "c", "name": "bash", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": "ok"},
    ]
    with tunaeval.model_endpoint([READ]) as model:
        body = {"instructions": "Be brief.", "input": items, "tools": FLAT}
        (item,) = responses(model.url, body).json()["output"]
    assert item["type"] == "function_call"
    assert item["arguments"] == '{"filepath": "calc.py"}'
    roles = [message["role"] for message in model.requests[0].messages]
    assert roles == ["system", "user", "assistant", "tool"]
    assert model.requests[0].results == ("ok",)


def test_the_events_of_the_responses_api_end_in_the_whole_response() -> None:
    with tunaeval.model_endpoint([f"So. {READ}", f"So. {READ}"]) as model:
        whole = responses(model.url, {"input": "Fix.", "tools": FLAT}).json()
        events = sent(responses(model.url, {"input": "Fix.", "tools": FLAT, "stream": True}))
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    assert events[0]["type"] == "response.created"
    assert events[-1]["type"] == "response.completed"
    last = events[-1]["response"]["output"]
    assert [item["type"] for item in last] == ["message", "function_call"]
    assert [item["type"] for item in whole["output"]] == ["message", "function_call"]
    for kind, text in (("output_text", "So."), ("function_call_arguments", last[1]["arguments"])):
        deltas = [event["delta"] for event in events if event["type"] == f"response.{kind}.delta"]
        assert "".join(deltas) == text
    done = [event["item"] for event in events if event["type"] == "response.output_item.done"]
    assert done == last


def test_a_response_can_be_gone_on_from() -> None:
    with tunaeval.model_endpoint(["First.", "Second."]) as model:
        first = responses(model.url, {"input": "One?"}).json()
        responses(model.url, {"input": "Two?", "previous_response_id": first["id"]})
        unknown = responses(model.url, {"input": "Two?", "previous_response_id": "x"})
    said_before = [message["content"] for message in model.requests[1].messages]
    assert said_before == ["One?", "First.", "Two?"]
    assert "which this endpoint never gave" in refusal(unknown)


def test_the_transcript_has_each_message_once() -> None:
    with tunaeval.model_endpoint([READ, "Done."]) as model:
        message = said(chat(model.url))
        result = {"role": "tool", "tool_call_id": "call_1", "content": "text"}
        asked = question()
        chat(model.url, {**asked, "messages": [*asked["messages"], message, result]})
    assert [one["role"] for one in model.transcript] == ["user", "assistant", "tool", "assistant"]
    score = tunaeval.score(model.transcript, "Fix add().")
    assert score.details.tool_calls == 1


def test_a_block_that_uses_too_little_raises_where_that_is_asked_for() -> None:
    with (
        pytest.raises(AssertionError, match="the script has 1 item left after 1 turn, so the"),
        tunaeval.model_endpoint(["One.", "Two."], leftover="fail") as model,
    ):
        chat(model.url)
    scripts: list[Any] = [[], lambda _: "One."]
    for script in scripts:
        with (
            pytest.raises(AssertionError, match="the model was never asked"),
            tunaeval.model_endpoint(script, leftover="fail"),
        ):
            pass
        with tunaeval.model_endpoint(script, leftover="fail", allow_unasked=True) as unasked:
            pass
        assert unasked.unused is None
    with pytest.raises(ZeroDivisionError), tunaeval.model_endpoint(["One."], leftover="fail"):
        raise ZeroDivisionError
    with tunaeval.model_endpoint(["One.", "Two."]) as allowed:
        chat(allowed.url)
    assert allowed.unused is None
    with pytest.raises(UsageError, match="leftover is 'warn'; wanted 'fail' or 'allow'"):
        tunaeval.model_endpoint([], leftover="warn")  # type: ignore[arg-type] # on purpose


def test_a_model_that_was_never_asked_has_made_no_calls_that_are_right() -> None:
    with tunaeval.model_endpoint(["One."]) as model:
        pass
    for wanted in (tunaeval.expect(), tunaeval.expect(forbid=["bash"])):
        assert model.calls != wanted
        assert "the model was never asked" in wanted.explain(model.calls)[0]
    with tunaeval.model_endpoint(["One."], allow_unasked=True) as model:
        pass
    assert model.calls == tunaeval.expect()


@pytest.mark.parametrize("awaits", [False, True])
def test_a_callable_changes_no_request_and_no_answer(*, awaits: bool) -> None:
    given: dict[str, Any] = {"content": "Hm.", "extra": [["x"]]}

    def script(request: ModelRequest) -> Any:
        spoil(request)
        spoil(given["extra"])
        given["extra"] = [["x"]]
        return given

    async def later(request: ModelRequest) -> Any:
        await asyncio.sleep(0)
        return script(request)

    with tunaeval.model_endpoint(later if awaits else script) as model:
        for _ in range(2):
            chat(model.url)
    spoil(given)
    assert [one.body for one in model.requests] == [question()] * 2
    assert [one.messages for one in model.requests] == [tuple(question()["messages"])] * 2
    assert [turn.message and turn.message["extra"] for turn in model.turns] == [[["x"]]] * 2
