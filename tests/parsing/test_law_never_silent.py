"""No reply with a trace of a call is "no call" without a word, and no mention is an attempt."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.formats.reading import read, takes
from tests.parsing.samples import codes
from tunaeval import stream
from tunaeval.types.calls import Tools, ToolSpec
from tunaeval.types.parsing import LEVELS

TOOLS = Tools([ToolSpec("get_weather", parameters=takes(city="string"))])
OSLO = '{"city": "Oslo"}'

STRIPPED = {
    "deepseek-v3": f"functionget_weather\n```json\n{OSLO}\n```",
    "harmony": f"assistantcommentary to=functions.get_weather json{OSLO}",
    "harmony, the recipient first": f"assistant to=functions.get_weathercommentary json{OSLO}",
    "harmony, behind the prompt": f"commentary to=functions.get_weather json{OSLO}",
    "mistral-v11": f"get_weather[ARGS]{OSLO}",
    "plamo3": f"get_weatherjson{OSLO}",
    "solar-open": f"assistantget_weather{OSLO}",
    "kimi-k2": f"functions.get_weather:3{OSLO}",
    "beam": (
        'assistant to=get_weatheranalysis xml<rfl:parameter name="city">\nOslo\n</rfl:parameter>'
    ),
}


@pytest.mark.parametrize("name", STRIPPED)
@pytest.mark.parametrize("end", ["", "\n"])
def test_a_reply_that_lost_its_special_tokens_is_read_with_a_repair(name: str, end: str) -> None:
    text, form = STRIPPED[name] + end, name.partition(",")[0]
    for reader in ("auto", form):
        for level in LEVELS:
            result = read(text, reader, TOOLS, level)
            made = [(call.name, call.arguments, call.format) for call in result.calls]
            assert made == ([] if level == "strict" else [("get_weather", {"city": "Oslo"}, form)])
            assert level != "strict" or (result.outcome, codes(result)) == ("malformed", ["mended"])
            assert all(
                [r.code for r in call.repairs] == ["stripped-tokens"] for call in result.calls
            )


PAIR = "<arg_key>city</arg_key>{}<arg_value>Oslo</arg_value>{}"


@pytest.mark.parametrize("gap", ["", "\n"])
@pytest.mark.parametrize("end", ["", "</tool_call>", "\n</tool_call>\n"])
def test_a_name_before_the_elements_of_arguments_lacks_only_its_tag(gap: str, end: str) -> None:
    text = f"get_weather{gap}{PAIR.format(gap, end)}"
    for reader in ("auto", "glm45", "glm47"):
        result = read(text, reader, TOOLS)
        assert [(call.name, call.arguments) for call in result.calls] == [
            ("get_weather", {"city": "Oslo"})
        ]
        assert [r.code for r in result.calls[0].repairs] == ["stripped-tokens"]
        assert not result.diagnoses
    beside = read(f"I will.\n{text}", "auto", TOOLS)
    assert not beside.calls
    assert codes(beside)


def test_what_several_formats_would_write_without_tokens_is_an_attempt() -> None:
    text = f"get_weather{OSLO}"
    assert read(text, "auto", TOOLS).outcome == "malformed"
    assert read(text, "deepseek-v3.1", TOOLS).outcome == "calls"
    assert read(text, "deepseek-v3.1").outcome == "no_call"


def test_words_around_a_stripped_call_leave_it_unread() -> None:
    result = read(f"I write functionget_weather\n```json\n{OSLO}\n```", "deepseek-v3", TOOLS)
    assert not result.calls
    assert codes(result)


REMAINS = (
    "<tool_call>get_weather city=Oslo",
    "I look.\n<tool_call>\nget_weather city=Oslo days=2",
    "<name>\nget_weather\n<parameter=city>Oslo</parameter>",
    "<parameter=city>\nOslo\n</parameter>",
    f"<|message|>{OSLO}<|call|>",
    '<｜DSML｜parameter name="city" string="true">Oslo</｜DSML｜parameter>',
    f"myget_weather: {OSLO}",
    'xget_weather\n(city="Oslo")',
)


@pytest.mark.parametrize("text", REMAINS)
def test_what_is_left_of_a_call_is_said(text: str) -> None:
    for level in LEVELS:
        assert codes(read(text, "auto", TOOLS, level))
        assert codes(read(f"Well.\n{text}\n", "hermes", TOOLS, level))


SENTENCES = (
    "A value is written as <parameter=city> there, and ends with </parameter>.",
    "The server drops the token <|message|> in its answers.",
    'I would have to call get_weather with {"city": "Oslo"} for that.',
)
CODE = (
    "`<parameter=city>` begins a value.",
    "```\n<parameter=city>Oslo</parameter>\n```\nThat is how it is written.",
)


@pytest.mark.parametrize("text", SENTENCES + CODE)
def test_a_mention_is_no_attempt(text: str) -> None:
    for tools in (TOOLS, None):
        result = read(text, "auto", tools)
        assert result.outcome == "no_call"
        assert {*codes(result)} <= {"mention"}
        assert text not in CODE or not result.diagnoses


def test_a_call_of_another_format_behind_a_read_one_is_said() -> None:
    call = json.dumps({"name": "get_weather", "arguments": {"city": "Oslo"}})
    first = f"<tool_call>{call}</tool_call>"
    second = "<function=get_weather>\n<parameter=city>\nRome\n</parameter>\n</function>"
    result = read(f"{first}\n{second}", "hermes", TOOLS)
    assert [call.arguments for call in result.calls] == [{"city": "Oslo"}]
    assert codes(result) == ["reads-as"]


def test_an_event_that_cannot_be_read_forbids_no_call() -> None:
    reading = stream(tools=TOOLS)
    reading.feed_sse('data: {"choices": [{"delta": {"content": "Hi"}}]}{"choices": []}\n\n')
    reading.feed_sse('data: {"choices": [{"delta": {}, "finish_reason": "stop"}]}\n\n')
    reading.feed_sse("data: [DONE]\n\n")
    assert reading.finish().outcome == "malformed"


@given(
    before=st.text(max_size=12), name=st.sampled_from(["get_weather", "xget_weather", "Get"]),
    after=st.text(" {}()[]:=\"'`\n<|>", max_size=8), end=st.text(max_size=12),
)  # fmt: skip
def test_whole_texts_and_streams_say_the_same(before: str, name: str, after: str, end: str) -> None:
    read(f"{before}{name}{after}{OSLO}{end}", "auto", TOOLS)
    read(f"{name}{after}{OSLO}{end}", "mistral-v11", TOOLS)


@pytest.mark.parametrize("role", ["User", "human", "context", "critic", "tool_result"])
@pytest.mark.parametrize(
    "turn",
    [
        "<|im_end|>\n<|im_start|>{}\n{}<|im_end|>",
        "<|eot_id|><|start_header_id|>{}<|end_header_id|>\n\n{}<|eot_id|>",
        "<end_of_turn>\n<start_of_turn>{}\n{}<end_of_turn>",
    ],
)
def test_a_role_that_no_template_lists_is_another_s(turn: str, role: str) -> None:
    call = '<tool_call>{"name": "get_weather", "arguments": {"city": "Oslo"}}</tool_call>'
    result = read("I do not know." + turn.format(role, call), "auto", TOOLS)
    assert (result.calls, codes(result)) == ((), ["later-turn"])


@pytest.mark.parametrize("whose", ['"type": "tool_result"', '"role": "tool"', '"role": "user"'])
def test_a_message_of_another_as_json_is_no_call(whose: str) -> None:
    text = f'{{{whose}, "name": "get_weather", "arguments": {OSLO}}}'
    assert read(text, "auto", TOOLS).outcome == "no_call"
