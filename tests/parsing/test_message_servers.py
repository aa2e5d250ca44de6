"""Streams of servers that number, name and identify calls in ways of their own, and that break."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.parsing.samples import TOOLS, codes, said
from tests.parsing.test_message_streams import arguments_of, sse
from tunaeval import parse_message, stream
from tunaeval.errors import UsageError
from tunaeval.testing.strategies import chunkings, json_values
from tunaeval.types.calls import JsonObject, JsonValue
from tunaeval.types.parsing import JOINED, ParseResult


class Server(NamedTuple):
    """How a server streams structured calls."""

    numbers: str
    """Its "own" for each call, always "zero", or "none"."""
    ids: str
    """In the "first" fragment, in "each", "empty" or "null" in later ones, or "none" at all."""
    name_again: bool
    whole: bool
    """A call is one fragment."""


def readable(server: Server) -> bool:
    """Whether fragments say which call they are of: without ids and indices only whole ones do."""
    return server.numbers == "own" or server.ids != "none" or server.whole


SERVERS = [
    server
    for numbers in ("own", "zero", "none")
    for ids in ("first", "each", "empty", "null", "none")
    for name_again in (False, True)
    for whole in (False, True)
    if readable(server := Server(numbers, ids, name_again, whole))
]


def fragments(
    server: Server, number: int, call: JsonObject, cuts: Sequence[str]
) -> Iterator[JsonObject]:
    """The fragments of one call; the head of one that is not whole has no arguments."""
    pieces = [call["function"]["arguments"]] if server.whole else ["", *cuts]
    for place, piece in enumerate(pieces):
        later = {"first": {}, "none": {}, "each": {"id": call["id"]}, "empty": {"id": ""}}
        id_: JsonObject = later.get(server.ids, {"id": None})
        if place == 0 and server.ids != "none":
            id_ = {"id": call["id"]}
        index = {"own": {"index": number}, "zero": {"index": 0}, "none": {}}[server.numbers]
        named = place == 0 or server.name_again
        name: JsonObject = {"name": call["function"]["name"]} if named else {}
        yield {**index, **id_, "function": {**name, "arguments": piece}}


@given(
    data=st.data(),
    server=st.sampled_from(SERVERS),
    arguments=st.lists(st.dictionaries(st.text(max_size=4), json_values(), max_size=2), max_size=4),
)
def test_calls_are_kept_apart_however_a_server_numbers_them(
    data: st.DataObject, server: Server, arguments: list[JsonObject]
) -> None:
    written = [json.dumps(each) for each in arguments]
    calls: list[JsonObject] = [
        {"id": f"c{number}", "function": {"name": f"f{number % 2}", "arguments": each}}
        for number, each in enumerate(written)
    ]
    rows = [
        list(fragments(server, number, call, data.draw(chunkings(call["function"]["arguments"]))))
        for number, call in enumerate(calls)
    ]
    reader = stream("hermes")
    events = [e for row in rows for f in row for e in reader.feed_delta({"tool_calls": [f]})]
    result = reader.finish()
    events += reader.last_events()
    if server.ids == "none":
        calls = [{"function": call["function"]} for call in calls]
    odd = {"zero": "index-shared", "none": "index-missing"}.get(server.numbers)
    assert {code for code in codes(result) if code in JOINED} <= {odd}
    others = tuple(one for one in result.diagnoses if one.code not in JOINED)
    whole = parse_message({"tool_calls": calls}, "hermes")
    assert replace(result, diagnoses=others) == whole
    for number, each in enumerate(result.calls):
        assert arguments_of(events, number) == each.arguments


def streamed(*items: list[JsonValue]) -> ParseResult:
    """The result of deltas with these fragments."""
    reader = stream("auto", tools=TOOLS)
    for fragment in items:
        reader.feed_delta({"tool_calls": fragment})
    return reader.finish()


def fragment(name: str | None, arguments: JsonValue, **more: JsonValue) -> JsonObject:
    return {**more, "function": {"name": name, "arguments": arguments}}


LS, PWD = '{"command": "ls"}', '{"command": "pwd"}'
BOTH = [("bash", {"command": "ls"}), ("bash", {"command": "pwd"})]


def test_parallel_calls_that_share_an_index_are_two() -> None:
    """As Ollama and Gemini endpoints send them."""
    first = [fragment("bash", LS, index=0, id="a")]
    assert said(streamed(first, [fragment("bash", PWD, index=0, id="b")])) == BOTH
    assert said(streamed(first, [fragment("bash", PWD, index=0, id="")])) == BOTH


def test_calls_of_one_delta_without_index_go_on_side_by_side() -> None:
    head: list[JsonValue] = [fragment("bash", "", id="a"), fragment("bash", "", id="b")]
    rest: list[JsonValue] = [fragment(None, LS), fragment(None, PWD)]
    assert said(streamed(head, rest)) == BOTH


def test_fragments_that_share_an_index_go_to_the_call_of_their_id() -> None:
    heads = [[fragment("bash", '{"command": ', index=0, id=id_)] for id_ in "ab"]
    rest = (fragment(None, '"ls"}', index=0, id="a"), fragment(None, '"pwd"}', index=0, id="b"))
    assert said(streamed(*heads, *[[each] for each in rest])) == BOTH


def test_fragments_without_index_go_on_with_the_last_call() -> None:
    first, second = fragment("bash", LS, index=0), fragment("bash", '{"command": ', index=1)
    assert said(streamed([first], [second], [fragment(None, '"pwd"}')])) == BOTH


def test_an_id_says_the_call_where_the_index_is_left_out_later() -> None:
    heads = [fragment("bash", '{"command": ', index=n, id=id_) for n, id_ in enumerate("ab")]
    rest = (fragment(None, '"ls"}', id="a"), fragment(None, '"pwd"}', id="b"))
    assert said(streamed(*[[each] for each in (*heads, *rest)])) == BOTH


def test_a_new_id_for_each_fragment_is_one_call() -> None:
    pieces = (fragment(None, LS[:4], index=0, id="b"), fragment(None, LS[4:], index=0, id="c"))
    result = streamed([fragment("bash", "", index=0, id="a")], *[[each] for each in pieces])
    assert said(result) == BOTH[:1]
    assert result.calls[0].id == "a"


def test_a_name_may_come_in_pieces_and_an_id_late() -> None:
    result = streamed(
        [fragment("ba", None, index=0, id="")], [fragment("sh", "", index=0, id="a")],
        [fragment("", LS, index=0)],
    )  # fmt: skip
    assert said(result) == BOTH[:1]
    assert result.calls[0].id == "a"


def test_arguments_that_come_as_an_object_are_not_empty() -> None:
    """As TGI sends them."""
    calls = [fragment("bash", {"command": command}, index=0) for command in ("ls", "pwd")]
    assert said(streamed(*[[each] for each in calls])) == BOTH


def test_arguments_said_twice_under_one_id_are_no_second_call() -> None:
    once = [fragment("bash", LS, index=0, id="a")]
    result = streamed(once, once)
    assert (said(result), codes(result)) == (BOTH[:1], [])
    assert [repair.code for repair in result.calls[0].repairs] == ["repeated-call"]


# --- streams that break ------------------------------------------------------------------------


@pytest.mark.parametrize("cut", range(1, 12))
def test_a_stream_that_ends_in_the_middle_is_diagnosed(cut: int) -> None:
    sent = sse([{"content": "All is well, "}, {"content": "and é"}]).replace("\\u00e9", "é")
    open_end = sent.partition("data: [DONE]")[0].encode()
    reader = stream("hermes")
    reader.feed_sse(open_end[: -8 * cut])
    result = reader.finish()
    assert "stream-cut" in codes(result)
    assert result.truncated
    assert result.outcome == ("no_call" if result.content else "truncated")
    assert "All is well, and é".startswith(result.content)


@pytest.mark.parametrize("end", ["[DONE]", '{"choices": [{"finish_reason": "stop"}]}\n\n'])
def test_a_stream_that_was_ended_has_no_diagnosis(end: str) -> None:
    reader = stream("hermes")
    reader.feed_sse('data: {"choices": [{"delta": {"content": "Hi"}}]}\n\ndata: ' + end)
    assert reader.finish() == ParseResult(content="Hi")


def test_bytes_that_end_inside_a_letter_do_not_raise() -> None:
    reader = stream("hermes")
    reader.feed_sse('data: {"choices": [{"delta": {"content": "é'.encode()[:-1])
    assert codes(reader.finish()) == ["invalid-chunk", "stream-cut"]


@pytest.mark.parametrize("half", ["\\ud83d", "\ud83d"], ids=["escaped", "raw"])
def test_half_a_surrogate_pair_is_kept(half: str) -> None:
    chunk = f'{{"choices": [{{"delta": {{"content": "a{half}b"}}}}]}}'
    reader = stream("hermes")
    reader.feed_sse(f"data: {chunk}\n\ndata: [DONE]\n\n")
    assert reader.finish().content == "a\ud83db"


@given(st.data())
def test_no_chunk_raises(data: st.DataObject) -> None:
    def fields(names: str, values: st.SearchStrategy[JsonValue]) -> st.SearchStrategy[JsonObject]:
        return st.fixed_dictionaries({}, optional=dict.fromkeys(names.split(), values))

    odd = st.one_of(json_values(), st.just("x" * 70))
    function = st.one_of(odd, fields("name arguments", odd))
    call = st.fixed_dictionaries({"function": function}, optional={"index": odd, "id": odd})
    calls = st.fixed_dictionaries({"tool_calls": st.lists(call)})
    deltas = st.one_of(odd, fields("content tool_calls reasoning function_call", odd), calls)
    choice = st.one_of(odd, st.fixed_dictionaries({"delta": deltas}))
    chunk = st.one_of(odd, st.fixed_dictionaries({"choices": st.one_of(odd, st.lists(choice))}))
    reader = stream("hermes", tools=TOOLS)
    for each in data.draw(st.lists(chunk, max_size=4)):
        reader.feed_sse(f"data: {json.dumps(each)}\n\n")
    reader.finish()
    reader.last_events()


def test_deep_chunks_do_not_raise() -> None:
    reader = stream("hermes")
    reader.feed_sse("data: " + "[" * 100_000 + "\n")
    assert codes(reader.finish()) == ["invalid-chunk", "stream-cut"]


def test_what_is_no_delta_is_refused() -> None:
    reader = stream("hermes")
    for wrong in (None, "text", b""):
        with pytest.raises(UsageError, match="delta is"):
            reader.feed_delta(wrong)  # type: ignore[arg-type]  # that is what is refused
    with pytest.raises(UsageError, match="piece is"):
        reader.feed_sse(None)  # type: ignore[arg-type]  # as above
    reader.finish()
    with pytest.raises(UsageError, match="is finished"):
        reader.feed_delta({"tool_calls": []})
