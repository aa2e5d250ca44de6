"""The Responses API and Anthropic's Messages are judged by the rules of chat completions."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.doctor.answering import Reply
from tests.doctor.loopback import Loopback
from tests.doctor.other_apis import Event, sound
from tests.doctor.test_bad_servers import JSON
from tunaeval.clients.server import Heard
from tunaeval.doctor.asks import ONE
from tunaeval.doctor.examination import Examination, examine
from tunaeval.doctor.reading import read_answer
from tunaeval.doctor.runner import DoctorSettings
from tunaeval.doctor.values import APIS


def examined(server: Loopback, *only: str, quick: bool = True) -> Examination:
    settings = DoctorSettings(quick=quick)
    return asyncio.run(examine(server.base_url, settings, only=only, environment={}))


def faults(found: Examination) -> set[str]:
    return {finding.id for finding in found.findings if finding.verdict == "server"}


@pytest.mark.parametrize("model", ["able", "thinking"])
def test_a_sound_server_has_no_findings_in_any_api(model: str) -> None:
    with Loopback(apis=sound, seed=3, model=model) as server:
        found = examined(server, *APIS, quick=False)
    assert found.findings == ()
    assert found.exit == 0
    names = {name for _, name in found.passed}
    assert {"responses/stream-as-whole", "messages/value-code", "messages/usage"} <= names
    assert not found.rates, "they are those of chat completions, which no check judges here"


def test_an_api_that_is_not_there_is_no_finding() -> None:
    with Loopback() as server:
        found = examined(server)
        paths = [path for path, _ in server.requests if path in ("/v1/responses", "/v1/messages")]
    assert (found.findings, found.exit) == ((), 0)
    assert len(paths) == 2, "each is asked for once"
    assert not any(name.startswith(APIS) for _, name in found.passed)


def _changed(kind: str, **fields: Any) -> Any:
    """Spoil what has this type, wherever it is in the events, by these fields; None removes one."""

    def change(value: Any) -> Any:
        if isinstance(value, list):
            return [change(one) for one in value]
        if not isinstance(value, dict):
            return value
        found = {key: change(one) for key, one in value.items()}
        if value.get("type") == kind or value.get("object") == kind:
            found |= fields
        return {key: one for key, one in found.items() if one is not None}

    return lambda _, events: [change(one) for one in events]


def _without_last_piece(_: str, events: list[Event]) -> list[Event]:
    kinds = ("response.function_call_arguments.delta", "content_block_delta")
    places = [at for at, one in enumerate(events) if one.get("type") in kinds]
    return [one for at, one in enumerate(events) if at not in places[-1:]]


def _failing(_: str, events: list[Event]) -> list[Event]:
    if len(events) == 1:
        return events
    error = {"type": "error", "error": {"type": "api_error", "message": "the engine is on fire"}}
    return [*events[:2], error]


def _final_without_calls(_: str, events: list[Event]) -> list[Event]:
    if events[-1].get("type") == "response.completed":
        events[-1]["response"]["output"] = []
    return events


ROWS: tuple[tuple[str, Any, str], ...] = (
    ("responses", _without_last_piece, "stream-as-whole/both/stream-differs"),
    ("messages", _without_last_piece, "stream-as-whole/both/stream-differs"),
    ("responses", _changed("function_call", call_id=None), "call-ids/whole/call-ids"),
    ("responses", _changed("function_call", call_id=None), "stream-fragments/streamed/id-missing"),
    ("messages", _changed("tool_use", id=""), "call-ids/whole/call-ids"),
    ("messages", _changed("message", stop_reason="end_turn"), "finish-reason/whole/finish-reason"),
    ("messages", _changed("message", usage=None), "usage/whole/usage-missing"),
    ("responses", _changed("response", usage=None), "usage/streamed/usage-missing"),
    ("responses", _changed("response", status="odd"), "finish-reason/whole/finish-reason"),
    ("messages", _changed("tool_use", input="{}"), "stream-as-whole/both/stream-differs"),
    ("responses", _failing, "stream-frames/streamed/error"),
    ("messages", _failing, "stream-frames/streamed/error"),
    ("responses", _final_without_calls, "stream-frames/streamed/frame-final"),
)


@pytest.mark.parametrize(("api", "spoil", "id_"), ROWS, ids=[f"{a} {i}" for a, _, i in ROWS])
def test_a_defect_of_an_api_has_an_id_that_begins_with_it(api: str, spoil: Any, id_: str) -> None:
    with Loopback(apis=lambda of, events: spoil(of, events) if of == api else events) as server:
        found = examined(server)
    assert f"{api}/{id_}" in faults(found), faults(found)
    assert {one.partition("/")[0] for one in faults(found)} == {api}, "chat is sound"
    assert found.exit == 1
    if spoil is _failing:
        assert "the engine is on fire" in str(found.findings)


def test_streams_that_differ_in_both_apis_are_settled_in_both() -> None:
    """One difference that is certain is enough for a check, so that the questions last for all."""
    with Loopback(apis=_without_last_piece) as server:
        found = examined(server)
    assert {f"{api}/stream-as-whole/both/stream-differs" for api in APIS} <= faults(found)
    assert found.requests < 80, "one pair of each is asked again"


def test_calls_left_in_the_text_are_found_in_every_api() -> None:
    with Loopback("no-parser", apis=sound) as server:
        found = examined(server)
    assert {f"{api}/calls-as-written/whole/calls-in-content" for api in APIS} <= faults(found)


def _words_for_calls(_: str, events: list[Event]) -> list[Event]:
    """The calls are lost, and words that the model wrote before them are left."""
    words = {"type": "output_text", "text": "I do it.", "annotations": []}
    item = {"type": "message", "id": "m", "role": "assistant", "content": [words]}
    said = {"type": "response.output_text.delta", "item_id": "m", "output_index": 0,
            "content_index": 0, "delta": "I do it."}  # fmt: skip
    kept = [one for one in events if "function_call" not in json.dumps(one.get("item", one["type"]))
            and "arguments" not in one["type"]] if len(events) > 1 else events  # fmt: skip

    def change(value: Any) -> Any:
        if isinstance(value, dict):
            is_call = value.get("type") == "function_call"
            return item if is_call else {key: change(one) for key, one in value.items()}
        return [change(one) for one in value] if isinstance(value, list) else value

    changed = [change(one) for one in kept]
    called = changed != events or kept != events
    return [*changed[:-1], *([said] if called and len(events) > 1 else []), changed[-1]]


@pytest.mark.parametrize("only", [(), ("responses",)])
def test_a_call_that_the_server_lost_is_found_without_raw_text(only: tuple[str, ...]) -> None:
    with Loopback("second-call-lost", apis=sound) as server:
        found = examined(server, *only)
    lost = {f"responses/two-calls/{mode}/calls-lost" for mode in ("whole", "streamed")}
    assert lost <= faults(found)
    assert found.exit == 1


def test_a_call_that_was_lost_behind_words_is_found_without_raw_text() -> None:
    with Loopback(apis=lambda of, events: _words_for_calls(of, events) if of == "responses"
                  else events) as server:  # fmt: skip
        found = examined(server)
    assert {f"responses/calls-as-written/{mode}/calls-lost" for mode in ("whole", "streamed")} <= (
        faults(found)
    )
    assert {one.partition("/")[0] for one in faults(found)} == {"responses"}


@pytest.mark.parametrize("model", ["forgetful", "talkative"])
def test_a_call_that_the_model_did_not_make_is_not_lost(model: str) -> None:
    with Loopback(apis=sound, model=model) as server:
        found = examined(server)
    assert not faults(found)
    assert found.exit != 1


def test_a_stream_that_loses_a_call_is_found_where_the_last_event_has_it() -> None:
    def without_events(_: str, events: list[Event]) -> list[Event]:
        if len(events) == 1:
            return events
        return [one for one in events if "function_call" not in json.dumps(one)
                or one["type"] == "response.completed"]  # fmt: skip

    with Loopback(apis=lambda of, events: without_events(of, events) if of == "responses"
                  else events) as server:  # fmt: skip
        found = examined(server)
    assert "responses/stream-frames/streamed/frame-final" in faults(found)
    assert "responses/calls-as-written/streamed/calls-lost" in faults(found)


def test_cached_tokens_of_a_prompt_are_counted_by_anthropic_beside_the_others() -> None:
    usage = {"input_tokens": 1, "cache_read_input_tokens": 6, "output_tokens": 2}
    body = json.dumps({"content": [], "stop_reason": "end_turn", "usage": usage}).encode()
    answer = read_answer(replace(ONE[0], api="messages"), Heard(200, {}, body))
    assert (answer.prompt_tokens, answer.completion_tokens, answer.finish) == (7, 2, "stop")


EVENTS = st.lists(st.dictionaries(
    st.sampled_from(["type", "index", "output_index", "item", "content_block", "delta", "response",
                     "message", "error", "usage", "output", "content"]),
    st.sampled_from([
        "function_call", "tool_use", "error", "message_start", "message_delta", "message_stop",
        "content_block_start", "content_block_delta", "content_block_stop", "response.completed",
        "response.output_item.added", "response.output_text.delta", "response.failed",
    ]) | JSON,
    max_size=6,
), max_size=5)  # fmt: skip


@given(events=EVENTS)
@pytest.mark.parametrize("api", APIS)
def test_no_answer_raises(api: Any, events: list[dict[str, Any]]) -> None:
    text = "".join(f"data: {json.dumps(one)}\n\n" for one in events)
    read_answer(replace(ONE[1], api=api), Heard(200, {}, text.encode()))
    for body in events[:1]:
        read_answer(replace(ONE[0], api=api), Heard(200, {}, json.dumps(body).encode()))


@pytest.mark.parametrize("api", APIS)
def test_an_api_that_alone_is_asked_for_and_is_not_there_is_not_all_right(api: str) -> None:
    with Loopback() as server:
        found = examined(server, api)
    assert (found.exit, found.stopped) == (2, f"the server has no /v1/{api}")
    assert [finding.verdict for finding in found.findings] == ["not tested"]


@pytest.mark.parametrize("first", ["hang", "500"])
def test_an_api_that_is_not_there_is_left_out_whatever_its_first_answer(first: str) -> None:
    class Absent(Loopback):
        def post(self, path: str, body: Any, authorization: str | None) -> Reply | None:
            seen = [one for one, _ in self.requests if one == path]
            reply = super().post(path, body, authorization)
            if not path.endswith(APIS) or (first == "hang" and seen):
                return reply
            if first == "hang":
                time.sleep(2.4)
            return Reply.error(500, "no route") if first == "500" else reply

    with Absent() as server:
        timeout = 1.5 if first == "hang" else 60.0
        settings = DoctorSettings(quick=True, timeout_seconds=timeout)
        found = asyncio.run(examine(server.base_url, settings, environment={}))
    assert not any(finding.group in APIS for finding in found.findings)
    assert found.exit == 0
