"""The official clients of OpenAI, Anthropic and Google read the same bytes as the same message.

They are the measure of what is legal: what they read of a stream that their documentation allows is
what every read of it here is. A test is skipped where its client is not installed.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.faults import Answer, FaultServer
from tests.wire.reads import SSE, TAPE_BYTES, faults, read_sse
from tests.wire.writing import (
    SOUND,
    Events,
    Said,
    chat_events,
    gemini_events,
    messages_events,
    responses_events,
    said,
    sse,
)
from tunaeval.testing.tape import Tape
from tunaeval.types.calls import JsonObject

ASKED: JsonObject = {"model": "m", "messages": [{"role": "user", "content": "Go."}]}

Heard = tuple[str, list[tuple[str | None, str, JsonObject | str]]]
"""The text, and the id, the name and the arguments of each call."""


def client(name: str) -> Any:
    why = f"{name} is not installed: pip install 'tunaeval[sdks]'"
    return pytest.importorskip(name, reason=why)


def chat_heard(url: str) -> Heard:
    made = client("openai").OpenAI(base_url=url, api_key="k", max_retries=0)
    with made as openai, openai.chat.completions.stream(**ASKED) as stream:
        message = stream.get_final_completion().choices[0].message
    calls = message.tool_calls or ()
    return message.content or "", [
        (one.id, one.function.name, one.function.arguments) for one in calls
    ]


def responses_heard(url: str) -> Heard:
    made = client("openai").OpenAI(base_url=url, api_key="k", max_retries=0)
    with made as openai, openai.responses.stream(model="m", input="Go.") as stream:
        answer = stream.get_final_response()
    calls = [one for one in answer.output if one.type == "function_call"]
    return answer.output_text, [(one.call_id, one.name, one.arguments) for one in calls]


def messages_heard(url: str) -> Heard:
    base = url.removesuffix("/v1")
    made = client("anthropic").Anthropic(base_url=base, api_key="k", max_retries=0)
    with made as anthropic, anthropic.messages.stream(**ASKED, max_tokens=9) as stream:
        message = stream.get_final_message()
    text = "".join(one.text for one in message.content if one.type == "text")
    calls = [one for one in message.content if one.type == "tool_use"]
    return text, [(one.id, one.name, one.input) for one in calls]


def gemini_heard(url: str) -> Heard:
    genai = client("google.genai")
    options = genai.types.HttpOptions(base_url=url)
    google = genai.Client(api_key="k", http_options=options)
    parts = [
        part
        for chunk in google.models.generate_content_stream(model="m", contents="Go.")
        for part in chunk.candidates[0].content.parts or ()
    ]
    google.close()
    text = "".join(part.text for part in parts if part.text and not part.thought)
    calls = [part.function_call for part in parts if part.function_call]
    return text, [(one.id, one.name, one.args) for one in calls]


def chat_written(tape: Tape, told: Said) -> Events:
    return chat_events(tape, told, tape.pick(SOUND))


CLIENTS: dict[str, tuple[Callable[[Tape, Said], Events], Callable[[str], Heard]]] = {
    "chat": (chat_written, chat_heard),
    "responses": (lambda tape, told: responses_events(tape, told, is_odd=False), responses_heard),
    "messages": (lambda tape, told: messages_events(tape, told, is_odd=False), messages_heard),
    "gemini": (lambda tape, told: gemini_events(tape, told, is_odd=False), gemini_heard),
}


STYLES = {"gemini": "plain"}
"""How each client wants its events: Google's reads no other lines than data."""


def is_plain(told: Said) -> bool:
    """Whether no character has halves, which these clients do not join."""
    return max(str(told)) < "\U00010000"


@pytest.mark.parametrize("api", CLIENTS)
@settings(max_examples=10)
@given(raw=st.integers(0, 10**6).map(lambda seed: random.Random(seed).randbytes(TAPE_BYTES)))
def test_the_official_client_reads_a_legal_stream_alike(api: str, raw: bytes) -> None:
    write, hear = CLIENTS[api]
    tape = Tape(raw)
    told = said(tape)
    assume(is_plain(told))
    body = sse(tape, write(tape, told), done=api == "chat", style=STYLES.get(api, "named"))
    with FaultServer(Answer(body, headers=SSE)) as server:
        text, calls = hear(server.base_url)
    own = [call.arguments if api in {"messages", "gemini"} else call.written for call in told.calls]
    ids = [None if api in {"chat", "gemini"} and not told.has_ids else one.id for one in told.calls]
    names = [one.name for one in told.calls]
    assert (text, calls) == (told.text, [*zip(ids, names, own, strict=True)])
    assert not [*faults(told, read_sse(tape, body))]
