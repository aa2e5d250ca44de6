"""What agents send differently in each run does not hinder a cassette, and what does is said."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tunaeval
from tests.endpoint.asking import TOOLS, chat, question, refusal, said
from tests.endpoint.test_strangers import CHAT, GEMINI, MESSAGES, RESPONSES
from tunaeval.endpoint.cassettes import MASKS, Masker, key_of, masked
from tunaeval.errors import RecordError, UsageError
from tunaeval.wire.apis import APIS

BODIES: dict[Any, dict[str, Any]] = {
    "chat": CHAT, "responses": RESPONSES, "messages": MESSAGES, "gemini": GEMINI,
}  # fmt: skip


def key(api: Any, body: dict[str, Any]) -> str:
    return key_of(Masker(MASKS).normalised(APIS[api].read_request(body, {})[0]))


def with_ids(value: Any, call_id: str, item_id: str) -> Any:
    """The request with another id for its call, and ids of items where an API has them."""
    if isinstance(value, list):
        return [with_ids(one, call_id, item_id) for one in value]
    if not isinstance(value, dict):
        return call_id if value == "c" else value
    more = {"id": item_id} if value.get("type") in ("message", "function_call") else {}
    more |= {"id": call_id} if {"args", "response"} & value.keys() else {}
    return {name: with_ids(one, call_id, item_id) for name, one in value.items()} | more


@given(ids=st.lists(st.from_regex(r"[A-Za-z0-9_-]{2,40}", fullmatch=True), min_size=4, unique=True))
@pytest.mark.parametrize("api", BODIES)
def test_the_ids_of_every_api_change_no_key(api: str, ids: list[str]) -> None:
    first = with_ids(BODIES[api], ids[0], f"msg_{ids[1]}")
    second = with_ids(BODIES[api], ids[2], f"msg_{ids[3]}")
    assert key(api, first) == key(api, second)
    masker = Masker(MASKS)
    assert masker.body(masker.body(first)) == masker.body(first)
    assert key(api, BODIES[api] | {"tools": []}) != key(api, BODIES[api])


IDS = st.uuids().map(str) | st.from_regex(
    r"[a-z]{2,5}_(?=[0-9])[0-9A-Za-z]{16,32}|01[0-9A-HJ-NP-TV-Z]{24}|00-[0-9]{32}-[0-9]{16}-01",
    fullmatch=True,
)
TIMES = (
    st.floats(1e9, 4e9)
    | st.integers(10**12, 4 * 10**12)
    | st.datetimes().map(lambda one: f"{one.isoformat()}Z")
)
METADATA = st.dictionaries(st.sampled_from(["turn_id", "createdAt", "trace"]), IDS | TIMES) | (
    st.fixed_dictionaries({"session": st.fixed_dictionaries({"id": IDS, "seen": st.lists(TIMES)})})
)
SIGNATURES = ("signature", "thoughtSignature", "thought_signature")
LISTS = {"chat": "messages", "responses": "input", "messages": "messages", "gemini": "contents"}


def with_metadata(api: str, data: st.DataObject) -> dict[str, Any]:
    """The request of an API with metadata beside its messages, and signatures in their parts."""
    body: dict[str, Any] = json.loads(json.dumps(BODIES[api]))
    for message in body[LISTS[api]]:
        kinds = st.lists(st.sampled_from(["code_item"]), max_size=1)
        passed = {"turn_id": data.draw(IDS), "create_time": data.draw(TIMES)}
        message["internal_passthrough"] = passed | {"kinds": data.draw(kinds)}
        if metadata := data.draw(METADATA):
            message["more"] = metadata
        parts = message.get("parts", message.get("content", message.get("tool_calls")))
        for part in parts if isinstance(parts, list) else ():
            part[data.draw(st.sampled_from(SIGNATURES))] = data.draw(st.text())
            part.get("function", part)[data.draw(st.sampled_from(SIGNATURES))] = data.draw(
                st.text()
            )
    return body


@settings(max_examples=50)
@given(data=st.data())
@pytest.mark.parametrize("api", BODIES)
def test_ids_times_and_signatures_beside_a_message_change_no_key(
    api: str, data: st.DataObject
) -> None:
    body = with_metadata(api, data)
    assert key(api, body) == key(api, BODIES[api])
    masker = Masker(MASKS)
    assert masker.body(masker.body(body)) == masker.body(body)


def places(value: Any, *path: Any, is_ours: bool = False) -> Iterator[tuple[Any, ...]]:
    """Where the arguments, schemas, texts and results of a request are, and what is in them."""
    ours = ("text", "arguments", "args", "input", "output", "response", "parameters", "thinking")
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for name, one in items:
        is_text = name == "content" and isinstance(one, str)
        found = is_ours or is_text or (path and name in (*ours, "input_schema", "instructions"))
        if found:
            yield (*path, name)
        if isinstance(one, dict | list):
            yield from places(one, *path, name, is_ours=bool(found) and name != "content")


def changed(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    made = value.copy()
    made[path[0]] = changed(value[path[0]], path[1:], new)
    return made


@settings(max_examples=50)
@given(data=st.data())
@pytest.mark.parametrize("api", BODIES)
def test_what_a_model_reads_counts_whatever_its_name_and_form(
    api: str, data: st.DataObject
) -> None:
    """In arguments, schemas, texts and results an id or a time is a value like others."""
    path = data.draw(st.sampled_from([*places(BODIES[api])]))
    old: Any = BODIES[api]
    for name in path:
        old = old[name]
    seconds = data.draw(
        st.lists(st.integers(10**9, 4 * 10**9), min_size=2, max_size=2, unique=True)
    )
    news: list[Any] = seconds
    if isinstance(old, str):
        news = [f"{old} {one}" for one in seconds]
    elif isinstance(old, dict):
        name = data.draw(
            st.sampled_from(["turn_id", "id", "call_id", "at_passthrough", *SIGNATURES])
        )
        made: list[list[Any]] = [
            seconds,
            [*map(str, seconds)],
            [{"create_time": one} for one in seconds],
        ]
        news = [{**old, "type": "function", name: one} for one in data.draw(st.sampled_from(made))]
    masker = Masker(MASKS)
    first, second = (key_of(masker.body(changed(BODIES[api], path, new))) for new in news)
    assert first != second, path


@pytest.mark.parametrize("more", [{"note": "a"}, {"turn_id": "a", "note": "b c"}, {"score": 0.5}])
def test_an_object_beside_a_message_that_has_more_than_ids_counts(more: dict[str, Any]) -> None:
    body = json.loads(json.dumps(CHAT))
    body["messages"][1]["more"] = more
    assert key("chat", body) != key("chat", CHAT)


@pytest.mark.parametrize(
    "field", ["metadata", "client_metadata", "prompt_cache_key", "user", "labels", "stream"]
)
def test_fields_that_no_answer_depends_on_are_left_out(field: str) -> None:
    assert key("chat", CHAT | {field: str(uuid4())}) == key("chat", CHAT | {field: {"a": 1}})


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("msg_01a21797-348f-7b61-92b4-54b3eefa9312", "msg_<uuid>"),
        ("see toolu_01A09q90qw90lq917835lq9 and call_abcdefghij0123456789ABCD.",
         "see <api id> and <api id>."),
        ("resp_68a1f0c2d3e4b5a69788", "<api id>"),
        ("Chunk ID: 7f3a2b\nWall time: 0.0123 seconds\nok", "<chunk>\nWall time: <seconds>\nok"),
        ('{"exit_code": 0, "duration_seconds": 0.1}', '{"exit_code": 0, "<duration>}'),
        ("in /x/.claude/projects/-tmp-a-b/memory", "in /x/<project>/memory"),
        ("Today's date is Saturday, November 28, 2026 (in your locale)",
         "Today's date is <day> (in your locale)"),
        ("ok in 12ms", "ok in <seconds>"),
        ("call_me_maybe and call_1", "call_me_maybe and call_1"),
        ("wait 5 seconds", "wait 5 seconds"),
    ],
)  # fmt: skip
def test_results_of_agents_are_masked(text: str, shown: str) -> None:
    assert masked(text) == shown


def turn(system: str, *results: str) -> dict[str, Any]:
    """A request after as many calls as there are results."""
    body = question()
    messages = [{"role": "system", "content": system}, *body["messages"]]
    for index, result in enumerate(results):
        function = {"name": "bash", "arguments": "{}"}
        call = {"id": f"c{index}", "type": "function", "function": function}
        messages += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{index}", "content": result},
        ]
    return body | {"messages": messages, "tools": TOOLS}


@pytest.fixture
def cassette(tmp_path: Path) -> Path:
    """Three turns of an agent."""
    path = tmp_path / "c.jsonl"
    with (
        tunaeval.model_endpoint(["first", "second", "third"]) as upstream,
        tunaeval.model_endpoint(upstream=upstream.url, cassette=path, record=True) as model,
    ):
        for body in (turn("Old."), turn("Old.", "a"), turn("Old.", "a", "b")):
            said(chat(model.url, body))
    return path


def test_a_loose_match_allows_all_but_the_turn_and_its_results(cassette: Path) -> None:
    asked = [turn("New."), turn("New.", "a"), turn("New.", "changed", "b")]
    with tunaeval.model_endpoint(cassette=cassette, match="loose") as model:
        got = [said(chat(model.url, body))["content"] for body in asked]
        words = refusal(chat(model.url, turn("New.", "a", "c")))
    assert got == ["first", "second", "third"]
    assert model.left == 0
    assert "messages[5].content: recorded 'b', asked 'c'" in words


def test_a_loose_match_takes_the_nearest_and_each_once(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    bodies = [question("Fix it.", model=name) for name in ("small", "large")]
    with (
        tunaeval.model_endpoint(lambda request: request.model) as upstream,
        tunaeval.model_endpoint(upstream=upstream.url, cassette=path, record=True) as model,
    ):
        for body in bodies:
            said(chat(model.url, body))
    with tunaeval.model_endpoint(cassette=path, match="loose") as model:
        asked = [question("Repair it.", model=name) for name in ("large", "large")]
        got = [said(chat(model.url, body))["content"] for body in asked]
        assert "does not have this request" in refusal(chat(model.url, asked[0]))
    assert got == ["large", "small"]


def test_an_exact_match_says_where_a_loose_one_would_do(cassette: Path) -> None:
    with tunaeval.model_endpoint(cassette=cassette) as model:
        loose = refusal(chat(model.url, turn("New.", "a")))
        other = refusal(chat(model.url, turn("Old.", "x")))
    assert 'or play it with match="loose"' in loose
    assert "match=" not in other


def test_a_report_names_the_nearest_and_what_is_not_compared(cassette: Path) -> None:
    uuid = str(uuid4())
    body = turn(f"New {uuid}.", "a") | {"metadata": {"a": 1}, "seed": 3}
    with tunaeval.model_endpoint(["x", "y"]) as model:
        chat(model.url, body)
        chat(model.url, turn("Old.", "a"))
    missing, there = (tunaeval.cassette_report(cassette, one) for one in model.requests)
    head = "the cassette c.jsonl"
    assert missing.splitlines() == [
        f"{head} does not have this request; the nearest is in line 3, with 2 differences:",
        "  messages[0].content: recorded 'Old.', asked 'New <uuid>.'",
        "  seed: recorded nothing, asked 3",
        "not compared: metadata",
        f"masked: <uuid 1>: {uuid}",
    ]
    assert there.startswith(f"{head} has this request, in line 3\n")
    with pytest.raises(RecordError, match="there is no cassette"):
        tunaeval.cassette_report(cassette.parent / "none", model.requests[0])


def test_a_cassette_of_before_these_masks_is_played(tmp_path: Path) -> None:
    """Its requests have ids and fields that today's rules leave out."""
    path = tmp_path / "c.jsonl"
    items = [
        {"type": "message", "id": "msg_1", "role": "user", "content": "Hi"},
        {"type": "function_call", "call_id": "<id 1>", "id": "fc_7", "name": "x", "arguments": ""},
        {"type": "function_call_output", "call_id": "<id 1>", "output": "r"},
    ]
    old = {"api": "responses", "model": "m", "input": items, "client_metadata": {"a": "b"}}
    line = {"key": key_of(old), "request": old, "finish_reason": "stop"}
    line["message"] = {"role": "assistant", "content": "Yes."}
    header = {"cassette": 1, "masks": {"<seconds>": r"\b\d+\.\d+ ?m?s\b"}}
    path.write_text("".join(json.dumps(one) + "\n" for one in (header, line)))
    again = json.dumps(items).replace("<id 1>", "c9").replace("msg_1", "msg_9").replace("_7", "_8")
    new = {"model": "m", "input": json.loads(again), "client_metadata": {"a": "c"}}
    with tunaeval.model_endpoint(cassette=path) as model:
        reply = httpx2.post(f"{model.url}/responses", json=new)
    assert reply.status_code == 200, reply.text


def test_match_is_one_of_two_words_beside_a_cassette(cassette: Path) -> None:
    with pytest.raises(UsageError, match="match is 'near'; wanted 'exact' or 'loose'"):
        tunaeval.model_endpoint(cassette=cassette, match="near")  # type: ignore[arg-type] # on purpose
    with pytest.raises(UsageError, match="pass only a cassette"):
        tunaeval.model_endpoint(["Done."], match="loose")


def test_a_directory_is_masked_without_the_tag_or_the_backtick_behind_it() -> None:
    """Codex writes `<cwd>/tmp/x</cwd>`; a played call has to name the present directory."""
    folder = f"{tempfile.gettempdir()}/tunaeval-a1"
    assert masked(f"<cwd>{folder}</cwd> `{folder}`") == "<cwd><tmp></cwd> `<tmp>`"
