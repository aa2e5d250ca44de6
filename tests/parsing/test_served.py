"""Replies as a server sends them: words and calls, whole and in pieces."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.parsing.samples import LS, TOOLS, call_of, tagged
from tests.parsing.test_events_numbers import PIECES
from tunaeval import parse
from tunaeval.errors import UsageError
from tunaeval.grammar.formats import FORMATS
from tunaeval.parsing.served import VARIABLES, Reply, Sent, Settings, read_tools
from tunaeval.testing.strategies import chunkings

NAMES = ["auto", "hermes", "qwen25", "json", "pythonic", "qwen3-coder", "deepseek-v3.1", "mistral"]
MARKS = [mark for form in FORMATS.values() for r in form.reasoning for mark in (r.open, r.close)]
LONE = "`Use` <tool_call> to call. {not: a call} <｜tool▁calls▁begin｜> </think> [TOOL_CALLS] 👀 "


def settings(form: str, **values: str) -> Settings:
    return Settings.of(form, {f"TUNAEVAL_{name.upper()}": value for name, value in values.items()})


def streamed(reply: Reply, pieces: list[str]) -> tuple[str, list[tuple[str, object]]]:
    """The words, and the calls by their places."""
    found = [reply.feed(piece) for piece in pieces]
    found.append(reply.finish()[:2])
    calls: dict[int, list[str]] = {}
    for _, sent in found:
        for one in sent:
            if one.name:
                assert one.at == len(calls)
                calls[one.at] = [one.name]
            calls[one.at].append(one.arguments)
    joined = [(name, json.loads("".join(rest))) for name, *rest in calls.values()]
    return "".join(words for words, _ in found), joined


def named(calls: list[Sent]) -> list[tuple[str, object]]:
    return [(str(one.name), json.loads(one.arguments)) for one in calls]


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data(), parts=st.lists(st.sampled_from([*PIECES, LONE, *MARKS[:4]]), max_size=6))
def test_a_stream_has_the_words_and_the_calls_of_the_whole(
    name: str, data: st.DataObject, parts: list[str]
) -> None:
    """Except for calls that were sent before the text turned out to be reasoning."""
    text, plain = "".join(parts), data.draw(st.booleans())
    how = settings(name)
    words, calls, result = Reply(how, TOOLS, plain=plain).whole(text)
    reply = Reply(how, TOOLS, plain=plain)
    found = streamed(reply, data.draw(chunkings(text)))
    if not reply.lost:
        assert found == (words, named(calls))
    if not result.calls and not reply.lost:
        assert words == text
    if not plain:
        assert result == parse(text, name, TOOLS)


@pytest.mark.parametrize("name", FORMATS)
@given(data=st.data())
def test_a_text_without_a_call_is_left_as_it_is(name: str, data: st.DataObject) -> None:
    """Markers and all, also those of reasoning and of a call that is dropped."""
    form = FORMATS[name]
    marks = [word.text for word in (form.opener, form.closer, *(form.around or ())) if word]
    marks += [mark for one in form.reasoning for mark in (one.open, one.close)]
    part = st.sampled_from([*marks, "{", '{"name": "nope", "arguments": {}}', "Well.", "\n", " "])
    text = "".join(data.draw(st.lists(part, max_size=8)))
    how, plain = settings(name), data.draw(st.booleans())
    words, calls, _ = Reply(how, TOOLS, plain=plain).whole(text)
    assert calls or words == text
    reply = Reply(how, TOOLS, plain=plain)
    assert reply.lost or streamed(reply, data.draw(chunkings(text))) == (words, named(calls))


@pytest.mark.parametrize("deltas", VARIABLES["TUNAEVAL_DELTAS"])
def test_reasoning_is_words_with_its_markers(deltas: str) -> None:
    text = f"<think>Hm, {tagged(LS)}?</think>\n\nSee:\n{tagged(LS)}\n<think></think>\n{tagged(LS)}"
    words = f"<think>Hm, {tagged(LS)}?</think>\n\nSee:\n<think></think>"
    how = settings("hermes", deltas=deltas)
    assert Reply(how, TOOLS).whole(text)[0] == words
    found = streamed(Reply(how, TOOLS), [*text])
    assert found == (words, [("bash", {"command": "ls"})] * 2)


def test_no_marker_means_reasoning_where_it_was_taken_out() -> None:
    text = f"Write <think> first.\n{tagged(LS)}\nThen </think> follows.\n<think>{tagged(LS)}"
    reply = Reply(settings("hermes"), TOOLS, plain=True)
    words, calls = streamed(reply, [*text])
    assert calls == [("bash", {"command": "ls"})] * 2
    assert words == "Write <think> first.\n\nThen </think> follows.\n<think>"


def test_words_come_as_they_are_written_and_calls_when_they_are_finished() -> None:
    reply = Reply(settings("hermes"), TOOLS)
    assert reply.feed("Hello ")[0] + reply.feed("there. ")[0] == "Hello there. "
    head, tail = tagged(LS)[:-14], tagged(LS)[-14:]
    assert not reply.feed(head[:-1])[1]
    assert [one.name for one in (*reply.feed(head[-1:] + tail)[1],)] == ["bash"]


def test_growing_arguments_are_sent_as_they_come() -> None:
    reply = Reply(settings("hermes", deltas="growing"), TOOLS)
    sent = [one for letter in tagged(LS) for one in reply.feed(letter)[1]]
    assert len(sent) > 3
    assert "".join(one.arguments for one in sent) == '{"command":"ls"}'


def test_a_call_that_is_started_anew_goes_on_where_it_was_left() -> None:
    """The client has the name already, and could not be told to forget it."""
    text = '<tool_call>{"name": "bash", "arguments": {"timeout": 1, "command": "x", "timeout": 2}}'
    reply = Reply(settings("hermes", deltas="growing"), TOOLS)
    _, calls = streamed(reply, [*(text + "</tool_call>")])
    assert calls[-1] == ("bash", {"timeout": 2, "command": "x"})


@pytest.mark.parametrize(("unknown", "number"), [("text", 0), ("call", 1)])
def test_a_call_of_an_unknown_tool_is_text_unless_it_is_to_be_one(
    unknown: str, number: int
) -> None:
    text = call_of("nope", a=1)
    words, calls = streamed(Reply(settings("auto", unknown_tools=unknown), TOOLS), [*text])
    assert (len(calls), words) == (number, "" if number else text)
    known = call_of("bash", command="ls", timeout="3")
    assert Reply(settings("auto", unknown_tools=unknown), TOOLS).whole(known)[2].calls[0].repairs


def test_the_level_is_that_of_the_environment() -> None:
    text = '<tool_call>{"name": "bash", "arguments": {"command": "ls"},}</tool_call>'
    for level, number in (("strict", 0), ("standard", 1), ("lenient", 1)):
        assert len(Reply(settings("hermes", level=level), TOOLS).whole(text)[1]) == number


@pytest.mark.parametrize("variable", VARIABLES)
def test_another_value_is_a_sentence_that_names_variable_and_value(variable: str) -> None:
    with pytest.raises(UsageError, match=f"{variable} is 'loud'; wanted one of"):
        Settings.of("hermes", {variable: "loud"})
    assert Settings.of("hermes", {variable: ""}) == Settings.of("hermes", {})


def test_tools_that_cannot_be_read_are_a_warning_and_any_name_counts() -> None:
    said: list[str] = []
    tools = read_tools([{"secret": "s3"}], lambda words, *more: said.append(words % more))
    assert tools is None
    assert said == ["the tools cannot be read (ToolsError), so any name counts"]
    assert Reply(settings("hermes"), tools).whole(call_of("nope"))[1]
    assert read_tools([], lambda *_: said.append("")) is None
    assert len(said) == 1


def test_a_forced_call_may_be_json() -> None:
    """As replies are constrained to it where the format has no grammar."""
    text = '[{"name": "bash", "parameters": {"command": "ls"}}]'
    found = streamed(Reply(settings("qwen3-coder"), TOOLS, forced=True), [*text])
    assert found == ("", [("bash", {"command": "ls"})])


def test_chunks_may_cut_characters() -> None:
    text = f"👀 {call_of('bash', command='👀')}"
    halves = [
        *text.encode("utf-16-le", "surrogatepass").decode("utf-16-le").replace("👀", "\ud83d\udc40")
    ]
    words, calls = streamed(Reply(settings("hermes"), TOOLS), halves)
    assert (words, calls) == ("👀 ", [("bash", {"command": "👀"})])
    (one,) = Reply(settings("hermes"), None).whole(call_of("bash", command="\ud83d"))[1]
    assert one.arguments.encode() == b'{"command": "\\ud83d"}'
