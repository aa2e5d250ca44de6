"""A script may make an answer delta by delta: it is sent as it grows, in every API."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import threading
import tracemalloc
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Any

import httpx2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tunaeval
from tests.endpoint.asking import TOOLS, chat, joined, question, refusal, said, sent
from tunaeval.errors import UsageError
from tunaeval.types.faults import Cut, Fail, Fault, RepeatId

USAGE = {
    "prompt_tokens": 11,
    "completion_tokens": 7,
    "total_tokens": 18,
    "prompt_tokens_details": {"cached_tokens": 4},
}
END = {"finish_reason": "tool_calls", "usage": USAGE, "repairs": ["trailing-comma", "bare-key"]}
SAID = "x-tunaeval-repairs: trailing-comma, bare-key"

HI = [{"role": "user", "content": "Hi."}]
FUNCTIONS: list[Any] = [one["function"] for one in TOOLS]
ASKED: dict[str, tuple[str, dict[str, Any]]] = {
    "chat": ("v1/chat/completions", question("Hi.")),
    "responses": (
        "v1/responses",
        {"model": "m", "input": "Hi.", "tools": [{"type": "function", **one} for one in FUNCTIONS]},
    ),
    "messages": (
        "v1/messages",
        {"model": "m", "max_tokens": 9, "messages": HI,
         "tools": [{"name": one["name"], "input_schema": one["parameters"]} for one in FUNCTIONS]},
    ),
    "gemini": (
        "v1beta/models/m:generateContent",
        {"contents": [{"role": "user", "parts": [{"text": "Hi."}]}],
         "tools": [{"functionDeclarations": FUNCTIONS}]},
    ),
}  # fmt: skip


def asked(api: str, *, streams: bool) -> tuple[str, dict[str, Any]]:
    path, body = ASKED[api]
    if api == "gemini":
        return (path.replace(":g", ":streamG") + "?alt=sse" if streams else path), body
    return path, {**body, "stream": streams}


def post(url: str, body: Any) -> httpx2.Response:
    with httpx2.Client(verify=False, timeout=60) as client:  # as in `chat`
        return client.post(url, json=body)


def call(index: int, **more: Any) -> dict[str, Any]:
    return {"tool_calls": [{"index": index, **more}]}


def begun(index: int, name: str = "bash", arguments: str = "") -> dict[str, Any]:
    function = {"name": name, "arguments": arguments}
    return call(index, id=f"c{index}", type="function", function=function)


DELTAS: list[Any] = [
    {"role": "assistant", "content": ""},
    {"reasoning_content": "H"},
    {"reasoning_content": "m."},
    {"content": "Loo"},
    {"content": "king."},
    begun(0),
    call(0, function={"arguments": '{"command": '}),
    call(0, function={"arguments": '"ls"}'}),
    begun(1, "read_file", '{"filepath": "a.py"}'),
    END,
]
CALLS = [("bash", {"command": "ls"}), ("read_file", {"filepath": "a.py"})]


def script(deltas: list[Any]) -> Callable[[Any], AsyncIterator[Any]]:
    async def grow(_: tunaeval.ModelRequest) -> AsyncIterator[Any]:
        for delta in deltas:
            await asyncio.sleep(0)
            yield delta

    return grow


def read(text: str, *, streams: bool) -> tunaeval.ParseResult:
    """What this library reads in an answer of any API."""
    if not streams:
        return tunaeval.parse_message(json.loads(text), tools=TOOLS)
    reader = tunaeval.stream(tools=TOOLS)
    reader.feed_sse(text)
    return reader.finish()


@pytest.mark.parametrize("api", ASKED)
@pytest.mark.parametrize("streams", [False, True])
def test_each_api_sends_the_whole_of_it(api: str, streams: bool) -> None:
    path, body = asked(api, streams=streams)
    with tunaeval.model_endpoint(script(DELTAS)) as model:
        reply = post(f"{model.anthropic_url}/{path}", body)
    result = read(reply.text, streams=streams)
    assert [(one.name, one.arguments) for one in result.calls] == CALLS
    assert (result.content, result.reasoning, result.diagnoses) == ("Looking.", "Hm.", ())
    (turn,) = model.turns
    assert (turn.finish_reason, turn.error) == ("tool_calls", None)
    assert (model.usage.prompt_tokens, model.usage.completion_tokens) == (11, 7)
    assert [(one.name, one.arguments) for one in model.calls] == CALLS
    if streams:
        assert reply.text.endswith(f"\n\n: {SAID}\n\n")
    else:
        assert f"{reply.headers['x-tunaeval-repairs']}" == SAID.partition(": ")[2]


def test_usage_is_sent_as_it_was_given() -> None:
    with tunaeval.model_endpoint(script(DELTAS)) as model:
        whole = chat(model.url).json()
        asked = question(stream=True, stream_options={"include_usage": True})
        last = sent(chat(model.url, asked), comments=True)[-1]
    assert whole["usage"] == last["usage"] == USAGE
    assert whole["choices"][0]["finish_reason"] == "tool_calls"


PIECES = st.one_of(
    st.sampled_from(["a", "b c", "\n", "é", "🙂"]).map(lambda one: {"content": one}),
    st.sampled_from(["x", " y"]).map(lambda one: {"reasoning_content": one}),
)


@settings(max_examples=15)
@given(data=st.data())
def test_a_stream_is_the_whole_answer_however_its_deltas_come(data: st.DataObject) -> None:
    """Calls also come mixed: a piece of one, then a piece of another."""
    deltas: list[Any] = data.draw(st.lists(PIECES, max_size=5))
    many = data.draw(st.integers(0, 3))
    texts = [json.dumps({"command": f"{n} {'ä' * n}"}) for n in range(many)]
    deltas += [begun(n) for n in range(many)]
    left = dict(enumerate(texts))
    while left:
        n = data.draw(st.sampled_from(sorted(left)))
        size = data.draw(st.integers(1, len(left[n])))
        deltas.append(call(n, function={"arguments": left[n][:size]}))
        left[n] = left[n][size:]
        left = {key: one for key, one in left.items() if one}
    deltas.append({"finish_reason": "stop"})
    with tunaeval.model_endpoint(script(deltas)) as model:
        for api in ASKED:
            found = []
            for streams in (False, True):
                path, body = asked(api, streams=streams)
                reply = post(f"{model.anthropic_url}/{path}", body)
                result = read(reply.text, streams=streams)
                calls = [(one.name, one.arguments) for one in result.calls]
                found.append((calls, result.content, result.reasoning or ""))
            assert found[0] == found[1]
            assert found[0][0] == [("bash", json.loads(text)) for text in texts]


class Gated:
    """A script that waits in the middle until `go_on` is called; what became of it in the end."""

    def __init__(self) -> None:
        self.ends: list[str] = []
        self.go_on: Callable[[], object] = lambda: None

    async def __call__(self, _: tunaeval.ModelRequest) -> AsyncIterator[Any]:
        gate = asyncio.Event()
        self.go_on = partial(asyncio.get_running_loop().call_soon_threadsafe, gate.set)
        try:
            yield {"content": "first"}
            yield {"content": " second"}
            await gate.wait()
            yield {"content": " third"}
            yield {"finish_reason": "stop"}
            self.ends.append("over")
        finally:
            self.ends.append("closed")


@pytest.mark.parametrize("api", ASKED)
def test_a_token_is_sent_before_the_next_one_is_there(api: str) -> None:
    path, body = asked(api, streams=True)
    grow = Gated()
    with tunaeval.model_endpoint(grow) as model:
        url = f"{model.anthropic_url}/{path}"
        with httpx2.stream("POST", url, json=body, timeout=60) as reply:
            text, pieces = "", reply.iter_text()
            while "second" not in text:
                text += next(pieces)
            assert "third" not in text
            assert not model.turns
            grow.go_on()
            text += "".join(pieces)
    assert read(text, streams=True).content == "first second third"
    assert model.turns[0].message == {"role": "assistant", "content": "first second third"}


def wait_for(condition: Callable[[], object]) -> None:
    while not condition():
        threading.Event().wait(0.002)


def test_a_client_that_leaves_ends_the_generator() -> None:
    grow = Gated()
    with tunaeval.model_endpoint(grow) as model:
        url = f"{model.url}/chat/completions"
        with httpx2.stream("POST", url, json=question(stream=True)) as reply:
            next(reply.iter_text())
        wait_for(lambda: model.turns)
        assert grow.ends == ["closed"]
        assert model.turns[0].error == "the client left before the end"
        assert (model.turns[0].message, model.calls) == (None, ())


def test_the_endpoint_ends_while_a_stream_is_sent() -> None:
    grow = Gated()
    with contextlib.ExitStack() as stack:
        with tunaeval.model_endpoint(grow) as model:
            url = f"{model.url}/chat/completions"
            reply = stack.enter_context(httpx2.stream("POST", url, json=question(stream=True)))
            assert next(reply.iter_text())
        assert grow.ends == ["closed"]
        assert len(model.turns) == 1


@pytest.mark.parametrize("api", ASKED)
@pytest.mark.parametrize("streams", [False, True])
@pytest.mark.parametrize("how", ["returned", "awaited", "yielded"])
def test_an_error_reaches_the_client_with_its_status(api: str, streams: bool, how: str) -> None:
    error = Fail(status=429, message="Too much.", headers={"Retry-After": "7"})

    async def awaited(_: tunaeval.ModelRequest) -> Fail:
        return error

    path, body = asked(api, streams=streams)
    scripts: dict[str, Any] = {
        "returned": lambda _: error,
        "awaited": awaited,
        "yielded": script([error]),
    }
    with tunaeval.model_endpoint(scripts[how]) as model:
        reply = post(f"{model.anthropic_url}/{path}", body)
    assert (reply.status_code, reply.headers["retry-after"]) == (429, "7")
    assert reply.json()["error"]["message"] == "Too much."
    assert (model.turns[0].error, model.errors) == ("Too much.", ("Too much.",))


@pytest.mark.parametrize("api", ASKED)
@pytest.mark.parametrize("fault", ["Fail", "raised", "no delta"])
def test_an_error_in_the_middle_ends_the_stream_with_it(api: str, fault: str) -> None:
    async def grow(_: tunaeval.ModelRequest) -> AsyncIterator[Any]:
        yield {"content": "a"}
        if fault == "raised":
            raise ValueError("lost it")
        yield Fail(status=502, message="lost it") if fault == "Fail" else "lost it"

    path, body = asked(api, streams=True)
    with tunaeval.model_endpoint(grow) as model:
        reply = post(f"{model.anthropic_url}/{path}", body)
        whole = post(f"{model.anthropic_url}/{ASKED[api][0]}", ASKED[api][1])
    result = read(reply.text, streams=True)
    assert result.truncated
    assert "stream-cut" in [one.code for one in result.diagnoses]
    assert "lost it" in reply.text.rpartition("\n\n")[0].rpartition("\n\n")[2]
    assert whole.status_code == (502 if fault == "Fail" else 400)
    assert "lost it" in str(model.turns[0].error)
    assert [turn.message for turn in model.turns] == [None, None]


def test_a_message_may_say_how_it_ended_and_what_it_took() -> None:
    message = {"role": "assistant", "content": "x", "finish_reason": "length", "usage": USAGE}
    with tunaeval.model_endpoint([message | {"repairs": ["fence"]}]) as model:
        reply = chat(model.url)
    document = reply.json()
    assert document["choices"][0]["finish_reason"] == model.turns[0].finish_reason == "length"
    assert (document["usage"], reply.headers["x-tunaeval-repairs"]) == (USAGE, "fence")
    assert said(reply) == model.turns[0].message == {"role": "assistant", "content": "x"}


def test_a_text_that_was_repaired_says_so() -> None:
    text = '<tool_call>{"name": "bash", "arguments": {"command": "ls",}}</tool_call>'
    with tunaeval.model_endpoint([text, text, "Sound."]) as model:
        whole, streamed, sound = (
            chat(model.url),
            chat(model.url, question(stream=True)),
            chat(model.url),
        )
    assert whole.headers["x-tunaeval-repairs"] == "trailing-comma"
    assert streamed.text.endswith("data: [DONE]\n\n: x-tunaeval-repairs: trailing-comma\n\n")
    assert "x-tunaeval-repairs" not in sound.headers


def test_faults_hit_an_answer_that_grows() -> None:
    faults: list[Fault] = [RepeatId(at=1), Cut(at=2, by="length"), Cut(at=3)]
    with tunaeval.model_endpoint(script(DELTAS), faults=faults) as model:
        first = joined(sent(chat(model.url, question(stream=True)), comments=True))
        second = joined(sent(chat(model.url, question(stream=True)), comments=True))
        with pytest.raises(httpx2.RemoteProtocolError):
            chat(model.url, question(stream=True))
    assert [one["id"] for one in first["tool_calls"]] == ["c0", "c0"]
    assert second["tool_calls"][1]["function"]["arguments"] == '{"filepath'
    assert not model.unused_faults


def test_a_fault_has_its_headers() -> None:
    with tunaeval.model_endpoint(
        ["x"], faults=[Fail(1, 429, headers={"Retry-After": "3"})]
    ) as model:
        reply = chat(model.url)
    assert (reply.status_code, reply.headers["retry-after"]) == (429, "3")


def test_what_a_client_gets_is_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-secret-1")
    error = Fail(
        status=429, message="key sk-secret-secret-1", headers={"x-key": "sk-secret-secret-1"}
    )
    with tunaeval.model_endpoint(script([{"content": "a"}, error])) as model:
        streamed = chat(model.url, question(stream=True))
    with tunaeval.model_endpoint(script([error])) as model:
        whole = chat(model.url)
    for reply in (streamed, whole):
        assert "sk-secret" not in reply.text + str(reply.headers)


@pytest.mark.parametrize(
    "headers", [{"Content-Length": "3"}, {"a b": "c"}, {"a": "b\r\nc: d"}, "a", {"a": 1}]
)
def test_headers_that_would_break_the_answer_are_refused(headers: Any) -> None:
    with pytest.raises(UsageError, match="headers"):
        Fail(headers=headers)


@pytest.mark.parametrize("port", [-1, 65536, "80", True])
def test_a_port_is_a_number(port: Any) -> None:
    with pytest.raises(UsageError, match="port"):
        tunaeval.model_endpoint(["x"], port=port)


def test_the_port_is_the_one_that_was_asked_for() -> None:
    with tunaeval.model_endpoint(["a"]) as first:
        port = int(first.anthropic_url.rpartition(":")[2])
        with pytest.raises(UsageError, match=f"the port {port} cannot be used"):
            tunaeval.model_endpoint(["b"], port=port).__enter__()
    with tunaeval.model_endpoint(["c"], port=port) as second:
        assert second.url == f"http://127.0.0.1:{port}/v1"


def test_only_the_last_turns_are_kept() -> None:
    with tunaeval.model_endpoint(lambda _: "x", keep_turns=2, leftover="fail") as model:
        for _ in range(5):
            chat(model.url)
        assert [turn.number for turn in model.turns] == [4, 5]
        completed = model.usage.completion_tokens or 0
        assert completed == 5 * (model.turns[0].usage.completion_tokens or 0)
    with tunaeval.model_endpoint(lambda _: "x", keep_turns=0, leftover="fail") as model:
        chat(model.url)
        assert (model.turns, model.unused) == ((), None)
    with pytest.raises(UsageError, match="keep_turns"):
        tunaeval.model_endpoint(["x"], keep_turns=-1)


@pytest.mark.parametrize("api", ["chat", "responses"])
def test_memory_is_flat_where_few_turns_are_kept(api: str) -> None:
    path, body = asked(api, streams=True)
    key, text = ("input" if api == "responses" else "messages"), "x" * 200_000
    body = {**body, key: [{"role": "user", "content": text}]}
    with tunaeval.model_endpoint(script(DELTAS), keep_turns=1) as model:

        def ask(times: int) -> int:
            for _ in range(times):
                post(f"{model.anthropic_url}/{path}", body)
            gc.collect()
            return tracemalloc.get_traced_memory()[0]

        tracemalloc.start()
        try:
            first = ask(3)
            assert ask(10) < first + 500_000
        finally:
            tracemalloc.stop()


def test_a_generator_is_an_item_of_a_list() -> None:
    with tunaeval.model_endpoint([script(DELTAS), Fail(status=503, message="Away.")]) as model:
        assert said(chat(model.url))["content"] == "Looking."
        assert refusal(chat(model.url)) == "Away."
