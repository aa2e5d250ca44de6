"""OpenAI-style messages: structured calls first, then the text."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from tests.parsing.samples import LS, TOOLS, WHERE, codes, said, tagged
from tunaeval import parse, parse_message
from tunaeval.errors import UsageError
from tunaeval.types.calls import JsonObject, JsonValue
from tunaeval.types.parsing import LEVELS, Level, ParseResult

LS_CALL = [("bash", {"command": "ls"})]


def message(arguments: JsonValue, name: JsonValue = "bash", **more: JsonValue) -> JsonObject:
    """An assistant's message with one structured call."""
    call = {"id": "c1", "type": "function", "function": {"name": name, "arguments": arguments}}
    return {"role": "assistant", "content": None, "tool_calls": [call], **more}


@pytest.mark.parametrize("arguments", ['{"command": "ls"}', {"command": "ls"}])
@pytest.mark.parametrize("level", LEVELS)
def test_a_structured_call_is_a_call_without_repairs(arguments: JsonValue, level: Level) -> None:
    result = parse_message(message(arguments), tools=TOOLS, level=level)
    assert said(result) == LS_CALL
    (call,) = result.calls
    assert (call.id, call.format, call.span, call.repairs) == ("c1", "structured", None, ())
    assert result.outcome == "calls"


@pytest.mark.parametrize("arguments", [None, "", "  ", "null", "{}", {}])
def test_null_and_empty_arguments_are_none(arguments: JsonValue) -> None:
    assert said(parse_message(message(arguments))) == [("bash", {})]


def test_a_missing_arguments_key_is_no_arguments() -> None:
    assert said(parse_message({"tool_calls": [{"function": {"name": "bash"}}]})) == [("bash", {})]


@pytest.mark.parametrize("arguments", ["ls", "[1]", [1], 5, True, '{"a": NaN}', "{{}"])
@pytest.mark.parametrize("level", LEVELS)
def test_broken_arguments_are_invalid_and_never_empty(arguments: JsonValue, level: Level) -> None:
    result = parse_message(message(arguments), level=level)
    assert not result.calls
    assert result.outcome == "malformed"
    assert codes(result) == ["invalid-arguments"]
    assert result.diagnoses[0].message.startswith("tool_calls[0]: ")


def test_arguments_encoded_twice_are_a_mend() -> None:
    """Once is the API's own rule."""
    result = parse_message(message('"{}"'))
    assert said(result) == [("bash", {})]
    assert [repair.code for repair in result.calls[0].repairs] == ["encoded-arguments"]
    assert codes(parse_message(message('"{}"'), level="strict")) == ["invalid-arguments"]
    assert codes(parse_message(message(r'"\"{}\""'), level="lenient")) == ["invalid-arguments"]


@pytest.mark.parametrize("name", [None, "", 5, [], {}])
def test_a_call_without_a_name_is_none(name: JsonValue) -> None:
    result = parse_message(message("{}", name))
    assert result.outcome == "malformed"
    assert codes(result) == ["invalid-name"]


def test_all_structured_calls_are_returned_and_the_bad_ones_told() -> None:
    items: list[JsonValue] = [
        {"function": {"name": "bash", "arguments": '{"command": "ls"}'}},
        {"function": {"name": "rm", "arguments": "{}"}},
        None,
        "x",
        {"id": "c3", "function": {"name": "bash", "arguments": {"command": "pwd"}}},
    ]
    result = parse_message({"tool_calls": items}, tools=TOOLS)
    assert said(result) == [*LS_CALL, ("bash", {"command": "pwd"})]
    assert codes(result) == ["unknown-tool", "invalid-name", "invalid-name"]
    assert [d.message.partition(":")[0] for d in result.diagnoses] == [
        "tool_calls[1]",
        "tool_calls[2]",
        "tool_calls[3]",
    ]


def test_objects_are_read_as_dictionaries_are() -> None:
    function = SimpleNamespace(name="bash", arguments='{"command": "ls"}')
    call = SimpleNamespace(id="c1", type="function", function=function)
    result = parse_message(SimpleNamespace(content="Sure.", tool_calls=[call]))
    assert said(result) == LS_CALL
    assert result.content == "Sure."
    assert result.calls[0].id == "c1"


def test_the_shape_of_langchain_is_read() -> None:
    call = {"name": "bash", "args": {"command": "ls"}, "id": "c1", "type": "tool_call"}
    assert said(parse_message({"content": "", "tool_calls": [call]})) == LS_CALL


def test_a_legacy_function_call_is_read() -> None:
    old = {"content": None, "function_call": {"name": "bash", "arguments": '{"command": "ls"}'}}
    result = parse_message(old, tools=TOOLS)
    assert said(result) == LS_CALL
    assert result.calls[0].id is None


@pytest.mark.parametrize(
    "content",
    [
        tagged(LS),
        [tagged(LS)],
        [
            {"type": "text", "text": "<tool_call>\n"},
            {"type": "text", "text": LS},
            {"type": "image_url", "image_url": {}},
            {"type": "text", "text": "\n</tool_call>"},
        ],
    ],
)
@pytest.mark.parametrize("calls", [None, [], ""])
def test_without_structured_calls_the_text_is_read(content: JsonValue, calls: JsonValue) -> None:
    """An empty text is no call either, as some servers write."""
    result = parse_message({"content": content, "tool_calls": calls})
    assert result == parse(tagged(LS))


@pytest.mark.parametrize("content", [None, "", [], [None]])
def test_a_message_without_text_says_nothing(content: JsonValue) -> None:
    assert parse_message({"content": content}) == ParseResult()
    assert parse_message({}) == ParseResult()


def test_a_call_that_the_server_left_in_the_text_is_not_counted_twice() -> None:
    result = parse_message(message('{"command": "ls"}', content=f"Sure. {tagged(LS)}"))
    assert said(result) == LS_CALL
    assert result.content == "Sure. "


def test_when_no_structured_call_stands_the_text_counts() -> None:
    result = parse_message(message("{}", "rm", content=tagged(WHERE)), tools=TOOLS)
    assert said(result) == [("bash", {"command": "pwd"})]
    assert codes(result) == ["unknown-tool"]


@pytest.mark.parametrize("cut", [False, True])
def test_text_that_was_cut_beside_a_structured_call_is_told(cut: bool) -> None:
    called = [{"function": {"name": "bash", "arguments": '{"command": "ls"}'}}]
    text = tagged(LS)[:30] if cut else "Here."
    result = parse_message({"content": text, "tool_calls": called}, "hermes")
    assert (result.outcome, len(result.calls), result.truncated) == ("calls", 1, cut)


def test_reasoning_beside_the_content_is_reasoning() -> None:
    beside = {"content": "Done.", "reasoning_content": f"Perhaps {LS}?"}
    result = parse_message(beside)
    assert result == ParseResult(content="Done.", reasoning=f"Perhaps {LS}?")
    assert parse_message({"content": "Done.", "reasoning": "Hm."}).reasoning == "Hm."
    both = parse_message({"content": "<think>b</think>Done.", "reasoning_content": "a"})
    assert both == ParseResult(content="Done.", reasoning="ab")


def test_arguments_are_fitted_to_the_schema() -> None:
    result = parse_message(message('{"command": "ls", "timeout": "3"}'), tools=TOOLS)
    assert said(result) == [("bash", {"command": "ls", "timeout": 3})]
    assert [repair.code for repair in result.calls[0].repairs] == ["type"]
    wrong = parse_message(message('{"command": "ls", "timeout": "soon"}'), tools=TOOLS)
    assert said(wrong) == [("bash", {"command": "ls", "timeout": "soon"})]
    assert codes(wrong) == ["wrong-type"]


def test_more_calls_than_the_cap_are_not_read() -> None:
    items = [{"function": {"name": "f", "arguments": "{}"}}] * 1100
    assert len(parse_message({"tool_calls": items}).calls) == 1024


@pytest.mark.parametrize("thing", [None, "text", b"", []])
def test_what_is_no_message_is_refused_with_a_word(thing: object) -> None:
    with pytest.raises(UsageError, match="a dict or an object"):
        parse_message(thing)
