"""What each API writes, whole or as a stream, is read as the answer that was written."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tunaeval.types.messages import Usage
from tunaeval.wire.apis import APIS
from tunaeval.wire.assembler import Assembler
from tunaeval.wire.values import Answer, Request

SERVED: Any = ("chat", "responses", "messages", "gemini")
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
ARGUMENTS = st.dictionaries(TEXTS, TEXTS | st.integers() | st.none(), max_size=3)


@st.composite
def answers(draw: st.DrawFn) -> Answer:
    message: dict[str, Any] = {"role": "assistant", "content": draw(TEXTS) or None}
    if thought := draw(TEXTS):
        message["reasoning_content"] = thought
    names = draw(st.lists(st.sampled_from(["ls", "read"]), max_size=3))
    if names:
        message["tool_calls"] = [
            {
                "id": f"c{index}",
                "type": "function",
                "function": {"name": name, "arguments": json.dumps(draw(ARGUMENTS))},
            }
            for index, name in enumerate(names)
        ]
    ended = st.sampled_from(["length", "content_filter", "tool_calls" if names else "stop"])
    usage = Usage(draw(st.integers(0, 10**6)), draw(st.integers(0, 10**6)))
    return Answer(message, finish=draw(ended), usage=usage)


def plain(message: Any) -> Any:
    """A message whose arguments are objects: an API may write them anew."""
    calls = [(call["id"], call["function"]) for call in message.get("tool_calls") or ()]
    found = [
        (
            id_,
            one["name"],
            given if isinstance(given := one["arguments"], dict) else json.loads(given),
        )
        for id_, one in calls
    ]
    return [message.get("content") or "", message.get("reasoning_content") or "", found]


@pytest.mark.parametrize("name", SERVED)
@given(answer=answers(), number=st.integers(1, 9))
def test_what_is_written_is_read_whole_and_streamed(name: Any, answer: Answer, number: int) -> None:
    api, request = APIS[name], Request(name, {}, (), None, "m")
    document = json.loads(json.dumps(api.write_reply(answer, request, number)))
    read = api.read_reply(document)
    assert plain(read.message) == plain(answer.message)
    assert (read.finish, read.usage, read.error) == (answer.finish, answer.usage, None)
    assert api.answers(document)
    assembler = Assembler()
    for event in api.write_events(answer, request, number):
        assembler.event(json.loads(json.dumps(event)))
    assembler.end()
    assert plain(assembler.message()) == plain(answer.message)
    assert (assembler.finish, assembler.usage) == (answer.finish, answer.usage)


@pytest.mark.parametrize("name", SERVED)
@pytest.mark.parametrize("status", [400, 401, 404, 429, 500, 503])
def test_an_error_that_is_written_is_read(name: Any, status: int) -> None:
    api = APIS[name]
    assert api.read_reply(api.write_error("Slow down.", status, None)).error == "Slow down."


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(["messages", "input", "contents", "role", "content", "parts", "type",
                         "tools", "system", "text", "id", "functionCall", "functionResponse",
                         "tool_calls", "function", "name", "arguments", "call_id"])
        | st.text(max_size=3),
        inner,
        max_size=4,
    ),
    max_leaves=12,
)  # fmt: skip
BODIES = st.dictionaries(
    st.sampled_from(["messages", "input", "contents", "tools", "system", "model", "instructions",
                     "systemInstruction", "previous_response_id", "stream_options", "n"]),
    JSON,
)  # fmt: skip


@pytest.mark.parametrize("name", SERVED)
@given(body=BODIES)
def test_no_request_raises(name: Any, body: Any) -> None:
    request, _ = APIS[name].read_request(body, {})
    assert request.body == body
    assert isinstance(APIS[name].results(body), list)
