"""Pieces of calls that are joined, whatever the server did with them; each oddity is said once."""

from __future__ import annotations

import json

import pytest

from tests.parsing.samples import TOOLS, codes, said
from tests.parsing.test_message_servers import fragment
from tunaeval import parse_message, stream
from tunaeval.clients.answers import Gathered
from tunaeval.clients.pace import TryFailed
from tunaeval.errors import UsageError
from tunaeval.types.calls import JsonObject, JsonValue
from tunaeval.types.parsing import LEVELS, Level, ParseResult

LS, PWD = '{"command": "ls"}', '{"command": "pwd"}'
CALLED = ("bash", {"command": "ls"})
CALLED_TWICE = [CALLED, ("bash", {"command": "pwd"})]


def deltas(*calls: list[JsonValue]) -> list[JsonObject]:
    """A chunk for each list of fragments, and the end."""
    choices = [{"index": 0, "delta": {"tool_calls": each}} for each in calls]
    end = {"index": 0, "delta": {}, "finish_reason": "tool_calls"}
    return [{"choices": [one]} for one in (*choices, end)]


def events(*chunks: JsonObject | str) -> str:
    data = (one if isinstance(one, str) else json.dumps(one) for one in (*chunks, "[DONE]"))
    return "".join(f"data: {one}\n\n" for one in data)


def read(*chunks: JsonObject | str, level: Level = "standard") -> ParseResult:
    reader = stream("auto", tools=TOOLS, level=level)
    reader.feed_sse(events(*chunks))
    return reader.finish()


def gathered(*chunks: JsonObject | str) -> Gathered:
    found = Gathered(lambda: 0.0)
    for one in chunks:
        found.take(one if isinstance(one, str) else json.dumps(one))
    return found


Joined = tuple[str, list[JsonObject], list[str]]
"""How a server writes a call, its fragments, each in a chunk, and the codes of the oddities."""


def bash(arguments: JsonValue, index: JsonValue = 0, id_: str | None = None) -> JsonObject:
    return _numbered("bash", arguments, index, id_)


def more(arguments: JsonValue, index: JsonValue = 0, id_: str | None = None) -> JsonObject:
    return _numbered(None, arguments, index, id_)


def _numbered(name: str | None, text: JsonValue, index: JsonValue, id_: str | None) -> JsonObject:
    found = fragment(name, text) | ({} if index is None else {"index": index})
    return found | ({} if id_ is None else {"id": id_})


JOINED: list[Joined] = [
    ("no index", [bash("", None, "a"), more(LS, None)], ["index-missing"]),
    ("an index that is none", [bash(LS, True)], ["index-missing"]),
    ("an index as a text", [bash("", "0"), more(LS)], ["index-missing"]),
    ("a gap", [bash(LS, 4, "a")], []),
    ("the name last", [more(LS, 0, "a"), bash("")], ["name-late"]),
    ("the name last, in pieces", [more(LS), fragment("ba", None, index=0),
                                  fragment("sh", None, index=0)], ["name-late"]),
    ("new ids", [bash("", 0, "a"), more(LS[:5], 0, "b"), more(LS[5:], 0, "c")], ["id-changed"]),
    ("an id in pieces", [bash(None, 0, "a"), {"index": 0, "id": "b"}, more(LS)], ["id-changed"]),
    ("a late id", [bash(LS[:5]), more(LS[5:], 0, "a")], []),
    ("a name on each", [bash(LS[:5]), bash(LS[5:]), bash("")], []),
    ("an index that counts on", [bash(LS[:5], 0, "a"), more(LS[5:], 1, "a")], []),
]  # fmt: skip


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("how", JOINED, ids=[how for how, _, _ in JOINED])
def test_pieces_of_one_call_are_one_call(how: Joined, level: Level) -> None:
    """At every level, as joining is no repair of what the model wrote."""
    _, fragments, odd = how
    chunks = deltas(*([one] for one in fragments))
    result = read(*chunks, level=level)
    assert (said(result), codes(result), result.calls[0].repairs) == ([CALLED], odd, ())
    assert not any(one.is_attempt for one in result.diagnoses)
    message = gathered(*chunks, "[DONE]").reply(None).message
    (made,) = message["tool_calls"]
    assert (made["function"]["name"], json.loads(made["function"]["arguments"])) == CALLED


APART: list[Joined] = [
    ("by ids", [bash(LS, 0, "a"), bash(PWD, 0, "b")], ["index-shared"]),
    ("by whole arguments", [bash(LS), bash(PWD)], ["index-shared"]),
    ("by a name again before them", [bash(LS), bash(""), more(PWD)], ["index-shared"]),
    ("by an id alone", [bash(LS, None, "a"), bash(PWD, None, "b")], ["index-missing"]),
    ("of one id", [bash(LS, 0, "a"), bash(PWD, 1, "a")], ["id-shared"]),
    ("of one id and index", [bash(LS, 0, "a"), bash(PWD, 0, "a")], ["id-shared"]),
]


@pytest.mark.parametrize("how", APART, ids=[how for how, _, _ in APART])
def test_two_calls_stay_two(how: Joined) -> None:
    _, fragments, odd = how
    chunks = deltas(*([one] for one in fragments))
    result = read(*chunks)
    assert (said(result), codes(result)) == (CALLED_TWICE, odd)
    assert len(gathered(*chunks).reply(None).message["tool_calls"]) == 2


def test_each_oddity_is_said_once() -> None:
    result = read(*deltas(*[[fragment("bash", LS, id=f"c{number}")] for number in range(5)]))
    assert (len(result.calls), codes(result)) == (5, ["index-missing"])


def test_entries_of_one_choice_are_merged_and_choices_are_not() -> None:
    first, second = (
        {"index": 0, "delta": {"tool_calls": [one]}}
        for one in (fragment("bash", LS[:5], index=0), fragment(None, LS[5:], index=0))
    )
    other = {"index": 1, "delta": {"tool_calls": [fragment("bash", PWD, index=0)]}}
    text = {"index": "0", "delta": {"content": "Done."}, "finish_reason": "tool_calls"}
    result = read({"choices": [first, other, second, text]})
    assert (said(result), result.content, codes(result)) == ([CALLED], "Done.", ["other-choices"])


def test_a_call_behind_the_finish_reason_is_a_call() -> None:
    *calls, end = deltas([fragment("bash", LS, index=0, id="a")])
    assert said(read(end, *calls)) == [CALLED]


def test_a_whole_message_at_the_end_is_not_read_twice() -> None:
    call: JsonObject = {**fragment("bash", LS), "id": "a"}
    message = {"role": "assistant", "content": "Look.", "tool_calls": [call]}
    whole: JsonObject = {"choices": [{"message": message, "finish_reason": "tool_calls"}]}
    text: JsonObject = {"choices": [{"index": 0, "delta": {"content": "Look."}}]}
    for chunks in ([whole], [text, whole], [text, *deltas([{**call, "index": 0}]), whole]):
        result = read(*chunks)
        assert (said(result), result.content, codes(result)) == ([CALLED], "Look.", [])


def test_a_call_by_a_custom_tool_has_its_text_as_input() -> None:
    pieces: list[JsonObject] = [
        {"type": "custom", "custom": {"name": "shell", "input": "ls "}, "id": "a"},
        {"custom": {"input": "-la"}},
    ]
    reader = stream("auto")
    for piece in pieces:
        reader.feed_delta({"tool_calls": [{**piece, "index": 0}]})
    assert said(reader.finish()) == [("shell", {"input": "ls -la"})]


@pytest.mark.parametrize("broken", ['{"choices": [', '{"foo": 1}', '{"choices": "x"}', "7"])
def test_an_event_that_cannot_be_read_forbids_no_call(broken: str) -> None:
    end = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    assert read(broken, end).outcome in {"malformed", "truncated"}
    with pytest.raises(TryFailed, match="can be read"):
        gathered(broken, end).reply(None)
    called = deltas([fragment("bash", LS, index=0)])
    assert said(read(broken, *called)) == [CALLED]
    reply = gathered(broken, *called).reply(None)
    assert reply.streamed is not None
    assert "cannot be read" in reply.streamed.notes[0]


def test_a_stream_that_goes_on_after_an_error_is_read_and_one_that_ends_in_it_is_none() -> None:
    error: JsonObject = {"error": {"message": "busy"}}
    called = deltas([bash(LS)])
    for chunks in ([error, *called], [*called, error]):
        assert said(read(*chunks)) == [CALLED]
        assert len(gathered(*chunks).reply(None).message["tool_calls"]) == 1
    assert read(called[0], error).truncated
    with pytest.raises(TryFailed, match="in an error"):
        gathered(called[0], error, "[DONE]").reply(None)


def test_a_name_that_is_sent_again_longer_is_that_name() -> None:
    pieces = [[fragment(name, None, index=0, id="a")] for name in ("ba", "bas", "bash")]
    assert said(read(*deltas(*pieces, [more(LS)]))) == [CALLED]


def test_arguments_of_a_call_that_the_provider_runs_are_no_call() -> None:
    block = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}
    delta = {"type": "input_json_delta", "partial_json": '{"query": "x"}'}
    result = read(
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
    )
    assert (result.outcome, codes(result)) == ("no_call", [])


def test_other_candidates_of_gemini_are_not_read() -> None:
    b, a = (
        {"candidates": [{"index": i, "content": {"parts": [{"text": t}]}, "finishReason": "STOP"}]}
        for i, t in ((1, "B"), (0, "A"))
    )
    result = read(b, a)
    assert (result.content, codes(result)) == ("A", ["other-choices"])


def test_a_malformed_call_of_gemini_is_malformed() -> None:
    end = {"candidates": [{"finishReason": "MALFORMED_FUNCTION_CALL", "finishMessage": "Oh"}]}
    assert read(end).outcome == parse_message(end).outcome == "malformed"


def test_an_error_in_place_of_a_message_is_quoted() -> None:
    with pytest.raises(UsageError, match="reports an error: busy"):
        parse_message({"type": "error", "error": {"message": "busy"}})
