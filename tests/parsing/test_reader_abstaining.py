"""A call by which a model says that it calls nothing is no call, in whatever shape it comes."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tunaeval.parsing.sets
from tests.parsing.test_law_alike import TOOLS as MANY
from tests.parsing.test_law_alike import texts
from tunaeval import ToolCall, parse, parse_levels, parse_many, parse_message
from tunaeval.errors import UsageError
from tunaeval.grammar.formats import AUTO, FORMATS
from tunaeval.parsing.reader import Reader, reader_of
from tunaeval.testing.laws import names_and_arguments
from tunaeval.testing.streams import stream_of, wrong_pieces
from tunaeval.types.parsing import LEVELS, Level, ParseResult

TOOLS = tunaeval.to_tools([{"name": "ls", "parameters": {"properties": {"path": {}}}}])
NAMES = ["no_function", "out_of_domain"]
GRANITE = '<function_call> {"name": "no_function", "arguments": {}}'
HERMES = '<tool_call>{"name": "%s", "arguments": {}}</tool_call>'


def is_abstention(result: ParseResult) -> bool:
    return (result.calls, result.outcome, result.detail) == ((), "no_call", "abstained")


@pytest.mark.parametrize("tools", [TOOLS, None])
@pytest.mark.parametrize("level", LEVELS)
def test_a_call_of_such_a_name_is_an_abstention(tools: tunaeval.Tools | None, level: Level) -> None:
    result = parse("I cannot. " + GRANITE, tools=tools, level=level, abstain=NAMES)
    assert is_abstention(result)
    assert result.content == "I cannot. "
    [note] = result.diagnoses
    assert (note.code, note.message) == ("abstained", "a call of 'no_function' means no call")
    assert note.span == (26, 66)


def test_without_the_name_it_is_a_call_of_an_unknown_tool() -> None:
    assert parse(GRANITE, tools=TOOLS).detail == "unknown-tool"
    assert parse(GRANITE, tools=TOOLS, abstain=[]).detail == "unknown-tool"
    assert parse(GRANITE, tools=TOOLS, abstain=["others"]).detail == "unknown-tool"


def test_a_call_that_nothing_marks_is_an_abstention_where_tools_are_given() -> None:
    assert is_abstention(parse('out_of_domain(query="why")', tools=TOOLS, abstain=NAMES))


def test_the_name_may_be_that_of_a_tool() -> None:
    tools = [{"name": "no_function", "parameters": {"required": ["why"]}}]
    assert is_abstention(parse(GRANITE, tools=tools, abstain=NAMES))


def test_a_tool_that_is_called_beside_it_counts() -> None:
    for names in (("no_function", "ls"), ("ls", "no_function")):
        result = parse("".join(HERMES % name for name in names), tools=TOOLS, abstain=NAMES)
        assert names_and_arguments(result.calls) == [("ls", {})]
        assert (result.outcome, result.detail) == ("calls", None)
        assert [note.code for note in result.diagnoses] == ["abstained"]


@pytest.mark.parametrize(
    ("rest", "outcome"),
    [
        (HERMES % "cd", "malformed"),
        ('<tool_call>{"name": 5}</tool_call>', "malformed"),
        ('<tool_call>{"name": "ls", "argu', "truncated"),
        ("`<tool_call>`", "no_call"),
        ("And so ...", "no_call"),
        ("\n### Instruction:\nGo on.", "no_call"),
    ],
)
def test_what_is_attempted_beside_it_is_no_abstention(rest: str, outcome: str) -> None:
    text = HERMES % "no_function" + rest
    assert parse(text, tools=TOOLS, abstain=NAMES).outcome == outcome


def test_what_is_odd_about_the_call_itself_is_not_reported() -> None:
    text = '<tool_call>{"name": "no_function", "arguments": {"a": 1, "a": 2}}</tool_call>'
    assert [note.code for note in parse(text).diagnoses] == ["duplicate-key"]
    assert [note.code for note in parse(text, abstain=NAMES).diagnoses] == ["abstained"]


@pytest.mark.parametrize("wrong", ["", "no", b"", {}, 0, None])
def test_what_is_no_collection_of_names_is_refused(wrong: Any) -> None:
    for use in (parse, parse_levels):
        with pytest.raises(UsageError, match=r"abstain is .*; wanted names of calls"):
            use("Hi.", abstain=wrong)


def test_a_broken_call_of_such_a_name_is_an_attempt() -> None:
    text = '<tool_call>{"name": "no_function", "arguments": 5}</tool_call>'
    assert parse(text, tools=TOOLS, abstain=NAMES).outcome == "malformed"


def test_the_level_decides_whether_it_is_a_call_at_all() -> None:
    text = '<tool_call>{"name": "no_function", "arguments": {},}</tool_call>'
    levels = parse_levels(text, tools=TOOLS, abstain=NAMES)
    assert [result.outcome for result in levels.values()] == ["malformed", "no_call", "no_call"]
    assert levels["standard"] is levels["lenient"]
    for level in LEVELS:
        assert levels[level] == parse(text, tools=TOOLS, level=level, abstain=NAMES)


def test_many_texts_are_read_so_in_several_processes() -> None:
    texts = [GRANITE, HERMES % "ls", "No."] * 200
    alone = [parse(text, tools=TOOLS, abstain=NAMES) for text in texts]
    for workers in (1, 2):
        assert parse_many(texts, tools=TOOLS, workers=workers, abstain=NAMES) == alone


class Upper:
    """A parser that is no format."""

    name = "upper"

    def parse(
        self, text: str, *, tools: tunaeval.Tools | None = None, level: Level = "standard"
    ) -> ParseResult:
        del level
        calls = tuple(ToolCall(name, {}) for name in text.split() if tools is None or name in tools)
        return ParseResult(calls, outcome="calls" if calls else "no_call")


def test_a_parser_of_others_knows_nothing_of_it() -> None:
    assert is_abstention(parse("no_function", Upper(), TOOLS, abstain=NAMES))
    assert names_and_arguments(parse("ls no_function", Upper(), TOOLS, abstain=NAMES).calls) == [
        ("ls", {})
    ]


@pytest.mark.parametrize("wrong", ["no_function", b"x", 5, [5], [None]])
def test_names_are_several_strings(wrong: Any) -> None:
    for read in (
        lambda: parse("x", abstain=wrong),
        lambda: parse_levels("x", abstain=wrong),
        lambda: parse_message({"content": ""}, abstain=wrong),
        lambda: parse_many(["x"], abstain=wrong),
        lambda: tunaeval.stream(abstain=wrong),
    ):
        with pytest.raises(UsageError, match=r"abstain.* wanted names of calls, in a list"):
            read()


# --- messages ------------------------------------------------------------------------------------


def structured(*calls: tuple[str, object], content: str | None = None) -> dict[str, Any]:
    items = [{"function": {"name": name, "arguments": arguments}} for name, arguments in calls]
    return {"role": "assistant", "content": content, "tool_calls": items}


@pytest.mark.parametrize("source", ["structured", "text", None])
def test_a_structured_call_of_such_a_name_is_an_abstention(source: Any) -> None:
    message = structured(("no_function", "{}"))
    result = parse_message(message, tools=TOOLS, source=source, abstain=NAMES)
    assert is_abstention(result)
    assert result.diagnoses[0].span is None


@pytest.mark.parametrize("level", LEVELS)
def test_one_that_the_server_left_in_the_text_is_one_at_every_level(level: Level) -> None:
    message = {"content": GRANITE}
    result = parse_message(message, "auto", TOOLS, level, source="structured", abstain=NAMES)
    assert is_abstention(result)


@pytest.mark.parametrize(
    ("message", "outcome", "calls"),
    [
        (structured(("no_function", "{}"), ("ls", "{}")), "calls", ["ls"]),
        (structured(("no_function", "{}"), ("cd", "{}")), "malformed", []),
        (structured(("no_function", "{}"), ("ls", '{"pa')), "truncated", []),
        (structured(("no_function", "{}"), content=HERMES % "ls"), "calls", ["ls"]),
        (structured(("no_function", "{}"), content=HERMES % "cd"), "malformed", []),
        (structured(("no_function", "{}"), content=GRANITE), "no_call", []),
        (structured(("ls", "{}"), content=GRANITE), "calls", ["ls"]),
    ],
)
def test_other_calls_of_a_message_count(
    message: Mapping[str, Any], outcome: str, calls: list[str]
) -> None:
    result = parse_message(message, tools=TOOLS, abstain=NAMES)
    assert (result.outcome, [call.name for call in result.calls]) == (outcome, calls)


def test_a_streamed_message_is_the_message() -> None:
    messages = [
        structured(("no_function", "{}")),
        structured(("no_function", "{}"), ("ls", '{"path": "."}')),
        structured(("ls", "{}"), ("out_of_domain", "{}"), ("ls", "{}")),
        structured(("no_function", "{}"), ("cd", "{}")),
        structured(("no_function", "{}"), content=HERMES % "ls"),
        structured(("no_function", "{}"), content=GRANITE),
    ]
    for message in messages:
        stream = tunaeval.stream(tools=TOOLS, abstain=NAMES)
        events = stream.feed_delta({"content": message["content"]})
        for index, item in enumerate(message["tool_calls"]):
            events += stream.feed_delta({"tool_calls": [{**item, "index": index}]})
        result = stream.finish()
        events += stream.last_events()
        assert result == parse_message(message, tools=TOOLS, abstain=NAMES)
        assert not [event for event in events if event.name in NAMES]
        if all(call.source == "structured" for call in result.calls):
            finished = [(event.index, event.call) for event in events if event.call]
            assert finished == [*enumerate(result.calls)]


# --- laws ----------------------------------------------------------------------------------------


def _names_in(
    text: str, reader: Reader, tools: tunaeval.Tools | None, some: list[bool]
) -> frozenset[str]:
    """Some of the names that a text calls."""
    calls = reader.parse(text, tools=tools, level="lenient").calls
    named = {call.name for call, is_one in zip(calls, some, strict=False) if is_one}
    return frozenset(named or {"no"})


@pytest.mark.parametrize("name", [*FORMATS, "auto"])
@settings(max_examples=settings().max_examples // 4)
@given(data=st.data(), level=st.sampled_from(LEVELS))
def test_a_stream_is_what_the_whole_text_is(name: str, data: st.DataObject, level: Level) -> None:
    """Laws 2 and 3 of streams: the same result, the same calls by their numbers, all the text."""
    form = data.draw(st.sampled_from(AUTO)) if name == "auto" else FORMATS[name]
    text = "".join(data.draw(st.lists(texts(form), min_size=1, max_size=2)))
    reader = tunaeval.parsing.sets.auto if name == "auto" else reader_of(form)
    tools = data.draw(st.sampled_from([None, MANY]))
    some = data.draw(st.lists(st.booleans(), min_size=3, max_size=3))
    names = _names_in(text, reader, None, some)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    chunks = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    whole = parse(text, reader, tools, level, abstain=names)
    _check_the_rest(whole, parse(text, reader, tools and tools.widened(names), level), names)
    stream = tunaeval.stream(reader, tools, level, abstain=names)
    result, events = stream_of(stream, chunks)
    assert result == whole
    assert not [event for event in events if event.name in names]
    assert not wrong_pieces(events, result)


def _check_the_rest(found: ParseResult, read: ParseResult, names: Collection[str]) -> None:
    """Other calls and what is said beside them stay as they are."""
    assert found.calls == tuple(call for call in read.calls if call.name not in names)
    assert (found.content, found.reasoning) == (read.content, read.reasoning)
    assert (found.outcome == "calls") == bool(found.calls)
    noted = "abstained" in {note.code for note in found.diagnoses}
    assert noted == (len(found.calls) < len(read.calls))


def test_a_call_waits_for_the_number_of_one_that_is_reported_later() -> None:
    """The first object of a list is reported at the list's end, the second one while it grows."""
    one, two = '{"name": "f", "arguments": {}}', '{"name": "g", "arguments": {"s": "3"}}'
    stream = tunaeval.stream("json", level="strict", abstain=["f"])
    events = stream.feed(f"{two}{two}[{one}, {two}]")
    result = stream.finish()
    events += stream.last_events()
    assert len(result.calls) == 3
    assert {event.index for event in events if event.name == "g"} == {0, 1, 2}
    assert [event.index for event in events if event.call] == [0, 1, 2]
