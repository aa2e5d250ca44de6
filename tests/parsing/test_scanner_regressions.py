"""Faults that were found by looking, each with the smallest text that showed it."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.parsing.samples import LS, TOOLS, WHERE, call_with, codes, said, tagged
from tunaeval import parse, parse_message, render, stream
from tunaeval.errors import UsageError
from tunaeval.parsing.repair.machine import read_json
from tunaeval.parsing.repair.schema import fit
from tunaeval.parsing.repair.values import Read, Unreadable
from tunaeval.testing.strategies import json_values
from tunaeval.types.calls import JsonObject, JsonValue, ToolCall
from tunaeval.types.parsing import LEVELS, Level, ParseResult

LS_CALL = [("bash", {"command": "ls"})]


def streamed(text: str) -> ParseResult:
    reading = stream()
    reading.feed(text)
    return reading.finish()


def message(arguments: JsonValue) -> JsonObject:
    return {"tool_calls": [{"function": {"name": "bash", "arguments": arguments}}]}


# --- a call missed, or invented --------------------------------------------------------------


@pytest.mark.parametrize(
    "broken",
    [
        '<tool_call>{"name": "bash", "arguments": {"command": "pwd}}</tool_call>',
        '<tool_call>{"name": "bash", "arguments": {"x": "a".upper()}}</tool_call>',
        '<tool_call>{"name": "bash", "arguments": {"x": /* y }}</tool_call>',
        '```json\n{"name": "bash", "arguments": {"command": "pwd}}\n```',
    ],
)
@pytest.mark.parametrize("level", LEVELS)
def test_a_string_or_comment_that_never_ends_does_not_swallow_the_next_call(
    broken: str, level: Level
) -> None:
    """At lenient the second call even became an argument of the first."""
    result = parse(f"{broken}\n{tagged(LS)}", level=level)
    assert said(result)[-1:] == LS_CALL


def test_a_bare_call_on_a_line_of_its_own_is_read_after_a_broken_one() -> None:
    result = parse(f'{{"name": "bash", "arguments": {{"command": "pwd"}}\n\n{LS}')
    assert said(result) == LS_CALL


@pytest.mark.parametrize("level", LEVELS)
def test_a_comma_too_many_after_a_string_ends_the_string(level: Level) -> None:
    """It read the name 'bash",,"arguments":{"command":"ls'."""
    result = parse(tagged('{"name": "bash",, "arguments": {"command": "ls"}}'), level=level)
    assert said(result) == (LS_CALL if level != "strict" else [])


@pytest.mark.parametrize("frame", ["%s", tagged("%s"), "<tools>[%s]</tools>", "```json\n%s\n```"])
@pytest.mark.parametrize("refused", [LS.replace('"ls"', "run(%s)"), '{"a": %s}', "[run(%s)]"])
def test_what_stands_inside_something_refused_is_no_call(refused: str, frame: str) -> None:
    text = frame % (refused % WHERE)
    if text.startswith("[run"):
        text = f"<tool_call>{text}"  # brackets alone announce nothing
    assert not parse(text, level="lenient").calls


def test_strict_takes_all_calls_between_one_pair_of_markers_or_none() -> None:
    """It was: the first is refused as one of several, the second taken."""
    for text in (tagged(f"{LS}\n{WHERE}"), f"<tools>[{LS}, {WHERE}</tools>"):
        assert not parse(text, level="strict").calls


@pytest.mark.parametrize("cut", ['"arguments": </tool_call>', '"arguments": /* x'])
def test_arguments_without_a_value_are_never_empty(cut: str) -> None:
    """Lenient called bash with {}: "broken arguments mean invalid arguments, never {}"."""
    assert not parse(f'<tool_call>{{"name": "bash", {cut}', level="lenient").calls


def test_what_is_cut_off_a_call_by_a_closer_too_early_is_lost_and_so_lenient() -> None:
    """Standard took the call, with the repair "unclosed", though its closer stood there."""
    text = '<tool_call>{"name": "bash", "arguments": {"a": 1}}, "b": 2}</tool_call>'
    assert not parse(text).calls


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "bash", "arguments": {"env": {}}, "command": "ls"}}',
        '{"name": "bash", "arguments": {"env": {"A": {}}, "command": "ls"}}}',
        '{"name": "bash", "arguments": {"env": 1}, "command": "ls"}}',
        '{"name": "bash",} "arguments": {"command": "ls"}}',
    ],
)
def test_a_bracket_that_may_have_ended_the_arguments_too_early_is_a_guess(text: str) -> None:
    """Standard took it for one too many at the end, and lost or moved arguments."""
    assert not parse(tagged(text)).calls
    (call,) = parse(tagged(text), level="lenient").calls
    assert {"extra-closer", "early-closer"} & {r.code for r in call.repairs if r.level == "lenient"}


# --- outcomes and what is told ---------------------------------------------------------------


@pytest.mark.parametrize("level", LEVELS)
def test_a_fence_around_tagged_calls_is_closed_by_its_closer(level: Level) -> None:
    """It was: truncated, "unclosed-fence"."""
    result = parse(f"```\n{tagged(LS)}\n```", level=level)
    assert said(result) == LS_CALL
    assert not result.truncated
    assert "unclosed-fence" not in codes(result)


@pytest.mark.parametrize("data", ['{"name": "left-pad", "version": "1"}', "[1, 2]", '{"a": 1}'])
def test_a_fence_around_data_is_closed_by_its_closer(data: str) -> None:
    """An object in a fence that is no call left its closer to open another fence."""
    text = f"Like this:\n```json\n{data}\n```"
    assert parse(text) == ParseResult(content=text)


def test_a_fenced_call_with_broken_json_is_malformed() -> None:
    """It was: no_call, truncated, "unclosed-fence"; the name is read over the whole object."""
    result = parse('```json\n{"name": "bash",, "arguments": {"command": 1+1}}\n```')
    assert result.outcome == "malformed"
    assert not result.truncated


@pytest.mark.parametrize("cut", ["<tool_call", "<tool_c", "Sure.\n<tool_cal", "<tools"])
def test_a_reply_that_ends_inside_an_opener_is_truncated(cut: str) -> None:
    """It was a plain no_call, which satisfies "no call expected"."""
    result = parse(cut)
    assert result.truncated
    assert result.outcome == "truncated"


def test_doubled_tags_are_a_mend_and_no_content() -> None:
    """It was: content '<tool_call></tool_call>', no repair, strict silent."""
    text = f"<tool_call><tool_call>{LS}</tool_call></tool_call>"
    result = parse(text)
    assert said(result) == LS_CALL
    assert not result.content
    assert result.calls[0].repairs
    assert parse(text, level="strict").outcome == "malformed"


def test_a_closer_too_many_after_a_bare_call_is_a_mend() -> None:
    """It was: content '}', no repair; between markers and in a fence it is one."""
    result = parse(LS + "}")
    assert said(result) == LS_CALL
    assert [repair.code for repair in result.calls[0].repairs] == ["extra-closer"]


def test_reasoning_inside_a_line_comes_without_its_marker() -> None:
    assert parse("Hello <think>secret</think> world").reasoning == "secret"


def test_a_marker_with_text_between_it_and_its_closer_is_an_attempt() -> None:
    """It was no_call, because no bracket or quote stands there."""
    result = parse("<tool_call>\nread_file main.py\n</tool_call>")
    assert result.outcome == "malformed"


def test_content_keeps_the_opener_of_a_call_that_strict_refused() -> None:
    """The object came back as content without its frame."""
    for text in (f"<tool_call>\n{LS}", tagged(LS + "}")):
        assert parse(text, level="strict").content == text


def test_an_empty_name_is_said_to_be_empty() -> None:
    """It was: "a name is a text, not a text"."""
    assert "not a text" not in parse(tagged('{"name": ""}')).diagnoses[0].message


# --- structured calls ------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", ['{"a": 1,}', "{'a': 1}", "{a: 1}", '{"a": True}'])
def test_strict_mends_no_structured_arguments(arguments: str) -> None:
    assert not parse_message(message(arguments), level="strict").calls


def test_strict_fits_no_structured_argument() -> None:
    result = parse_message(
        message('{"command": "ls", "timeout": "3"}'), tools=TOOLS, level="strict"
    )
    assert said(result) == [("bash", {"command": "ls", "timeout": "3"})]
    assert codes(result) == ["wrong-type"]


@pytest.mark.parametrize("level", LEVELS)
def test_structured_arguments_that_were_cut_are_truncated(level: Level) -> None:
    """It was malformed and not truncated; lenient: a call without `truncated`."""
    result = parse_message(message('{"command": "l'), level=level)
    assert result.truncated
    assert result.outcome == ("calls" if level == "lenient" else "truncated")


def test_a_cut_inside_encoded_arguments_is_told() -> None:
    assert parse(call_with(r'"{\"command\": \"l"'), level="lenient").truncated


@pytest.mark.parametrize("level", LEVELS)
def test_what_is_odd_inside_encoded_arguments_is_told(level: Level) -> None:
    assert codes(parse_message(message('{"a": 1, "a": 2}'), level=level)) == ["duplicate-key"]
    if level != "strict":
        assert codes(parse(call_with(r'"{\"a\": 1, \"a\": 2}"'), level=level)) == ["duplicate-key"]


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_structured_arguments_that_hold_nan_are_invalid(value: float) -> None:
    """`json.loads` reads NaN in a response's body, so it does arrive."""
    assert not parse_message(message({"a": value})).calls
    assert not parse_message(message({"a": [{"b": value}]})).calls


def test_too_many_structured_calls_are_told() -> None:
    items = message("{}")["tool_calls"] * 1025
    assert codes(parse_message({"tool_calls": items})) == ["too-many-calls"]


def test_a_number_is_no_message() -> None:
    with pytest.raises(UsageError):
        parse_message(5)


# --- whole and stream ------------------------------------------------------------------------


def test_the_greatest_counted_calls_is_read_alike() -> None:
    """The engine said "more than 1024" of exactly 1024."""
    text = tagged(LS) * 1024
    assert streamed(text) == parse(text)


@pytest.mark.parametrize("depth", [128, 129])
def test_the_greatest_depth_is_read_alike(depth: int) -> None:
    """The call is level 1. Whole took 129 levels, the stream 128."""
    lists = "[" * (depth - 2) + "]" * (depth - 2)
    for text in (call_with(f'{{"a": {lists}}}'), f'{{"name": "f", "arguments": {{"a": {lists}}}}}'):
        assert streamed(text) == parse(text)
        assert bool(parse(text).calls) == (depth == 128)


@pytest.mark.parametrize("number", ["1." + "0" * 5000, "1" * 4301 + "e-4301", "0." + "1" * 4299])
def test_a_long_number_is_read_alike(number: str) -> None:
    text = call_with(f'{{"a": {number}}}')
    assert streamed(text) == parse(text)


# --- the readers below -----------------------------------------------------------------------


@pytest.mark.parametrize("prose", ["{see below}", "{x for x in y}", "{a b}"])
def test_words_in_braces_are_no_value(prose: str) -> None:
    """Three guesses at once (a bare key, no colon, no quotes) made a value of prose."""
    assert isinstance(read_json(prose), Unreadable)


_KEYWORDS = st.sampled_from(
    ["type", "properties", "required", "additionalProperties", "items", "enum", "anyOf", "allOf"]
)


@given(value=json_values(4), schema=st.dictionaries(_KEYWORDS, json_values(4), max_size=4))
def test_by_a_broken_schema_nothing_changes_in_silence(
    value: JsonValue, schema: JsonObject
) -> None:
    """{"allOf": 5} and {"required": [["a"]]} raised TypeError."""
    values: list[JsonValue] = [value, {}, []]
    for one in values:
        fitted = fit(one, schema)
        assert fitted.repairs or repr(fitted.value) == repr(one)


def test_an_escape_in_a_string_with_unknown_ones_is_left_too() -> None:
    r"""A regular expression, `\bclass\s`: half of it became a backspace."""
    read = read_json(r'{"pattern": "\bclass\s+\w+"}')
    assert isinstance(read, Read)
    assert read.value == {"pattern": r"\bclass\s+\w+"}


@pytest.mark.parametrize("text", ['{"a": 1,}', "[1,]"])
def test_a_trailing_comma_is_told_where_it_stands(text: str) -> None:
    """It was at the closer behind it."""
    read = read_json(text)
    assert isinstance(read, Read)
    assert [text[slice(*repair.span)] for repair in read.repairs if repair.span] == [","]


def test_levels_never_take_a_call_back() -> None:
    """What a lower level takes, a higher one takes; guards the faults above when repaired."""
    for text in (tagged(f"{LS}\n{WHERE}"), f"```\n{tagged(LS)}\n```", LS + "}"):
        results = [said(parse(text, level=level)) for level in LEVELS]
        assert all(len(lower) <= len(higher) for lower, higher in pairwise(results))


def test_a_string_that_ran_into_the_next_call_is_left_where_it_began() -> None:
    """Not at a closer before it: the engine would read the same block for ever."""
    call = '{"name": "ping", "arguments": {}}'
    broken = f'{{"name": "x", "ool>\n{call}'
    result = parse(
        f"<tool_call>\n{call}\n</tool_call>\n<tool_call>\n{broken}\n</tool_call>", "hermes"
    )
    assert [found.name for found in result.calls] == ["ping"]
    assert codes(result) == ["invalid-json"]


def test_a_value_that_is_never_closed_does_not_swallow_the_next_call() -> None:
    broken = "<tool_call>\n<function=bash>\n<parameter=command>\nls\n</function>\n</tool_call>\n"
    sound = (
        "<tool_call>\n<function=ping>\n<parameter=n>\n1\n</parameter>\n</function>\n</tool_call>"
    )
    result = parse(broken + sound, "qwen3-coder")
    assert said(result) == [("bash", {"command": "ls"}), ("ping", {"n": 1})]
    assert [repair.code for repair in result.calls[0].repairs] == ["unclosed"]
    strict = parse(broken + sound, "qwen3-coder", level="strict")
    assert (said(strict), codes(strict)) == ([("ping", {"n": 1})], ["unclosed"])
    assert strict.content == broken


def test_a_whole_call_quoted_in_a_value_belongs_to_it_when_its_closer_comes() -> None:
    """Where the call's own end is not followed by another call."""
    quoted = "as in </function>\n</tool_call> and so on"
    text = render([ToolCall("bash", {"command": quoted})], "qwen3-coder")
    assert parse(text, "qwen3-coder").calls[0].arguments == {"command": quoted}
