"""What parsers of others were seen to do to texts: 11 to 18 and 20 of `test_peer_defects.py`."""

from __future__ import annotations

import pytest

from tests.formats.reading import (
    FOUND,
    PING,
    PINGED,
    SUM,
    SUMMED,
    TOOLS,
    read,
    saving,
    with_parameters,
)
from tests.parsing.samples import codes, said, tagged
from tunaeval import parse, stream
from tunaeval.types.calls import Tools, ToolSpec
from tunaeval.types.parsing import LEVELS, Level

# --- 11 to 13: what is said, and what is called ------------------------------------------------


@pytest.mark.parametrize("name", ["llama3_json", "llama3-bare", "qwen25", "xlam", "json", "auto"])
@pytest.mark.parametrize("level", LEVELS)
def test_11_a_record_with_a_name_is_no_call(name: str, level: Level) -> None:
    text = 'The record is {"name": "Bob", "parameters": {"age": 3}} as stored.'
    result = read(text, name, TOOLS, level)
    assert not result.calls
    assert result.content == text
    assert not [event for event in stream(name, tools=TOOLS).feed(text) if event.name]


@pytest.mark.parametrize("name", ["hermes", "granite4", "qwen25", "auto"])
def test_12_nothing_that_is_said_around_calls_is_lost(name: str) -> None:
    result = read(f"A {tagged(PING)} B {tagged(SUM)} C", name, TOOLS)
    assert said(result) == [PINGED, SUMMED]
    assert result.content == "A  B  C"


@pytest.mark.parametrize("name", ["hermes", "granite4", "qwen25", "auto"])
def test_12_a_tag_that_is_only_mentioned_hides_no_call(name: str) -> None:
    for mention in ("Use `<tool_call>` for calls.\n", "<tool_call> opens a call, says the page.\n"):
        result = read(mention + tagged(PING), name, TOOLS)
        assert said(result) == [PINGED]
        assert result.content == mention


def test_12_brackets_inside_a_string_end_no_array() -> None:
    for name in ("phi4_mini_json", "auto"):
        result = read(f"So: functools[{saving(']')}] Done.", name, TOOLS)
        assert said(result) == [("save_file", {"path": "a", "content": "]"})]
        assert result.content.split() == ["So:", "Done."]


@pytest.mark.parametrize("name", ["hermes", "granite4", "qwen25", "auto"])
def test_12_a_broken_block_stays_in_the_content(name: str) -> None:
    text = f"Before {tagged(PING.replace('{}}', 'oh no'))} after"
    result = read(text, name, TOOLS)
    assert (result.content, result.outcome) == (text, "malformed")


@pytest.mark.parametrize("name", ["hermes", "granite4", "qwen25", "auto"])
def test_13_a_stranger_is_told_of_and_its_text_is_kept(name: str) -> None:
    text = f"x {tagged(PING.replace('ping', 'nope'))}"
    result = read(text, name, TOOLS)
    assert (result.content, codes(result)) == (text, ["unknown-tool"])
    assert said(read(text, name)) == [("nope", {})]
    assert not [event for event in stream(name, tools=TOOLS).feed(text) if event.name]


# --- 14 and 15: white space and fences ---------------------------------------------------------


@pytest.mark.parametrize("name", ["hermes", "qwen25", "trinity", "granite4", "auto"])
@pytest.mark.parametrize(("before", "after"), [("", ""), ("\n", ""), ("", " "), (" \n\t", "\r\n")])
def test_14_white_space_around_a_call_does_not_matter(name: str, before: str, after: str) -> None:
    result = read(f"<tool_call>{before}{PING}{after}</tool_call>", name, TOOLS, "strict")
    assert (said(result), result.content) == ([PINGED], "")


@pytest.mark.parametrize("between", ["", " ", "\n", "  \n"])
def test_14_nor_does_white_space_between_two_tokens(between: str) -> None:
    call = PING.replace("arguments", "parameters")
    for name in ("internlm", "interns1", "auto"):
        text = f"<|action_start|>{between}<|plugin|>{between}{call}{between}<|action_end|>"
        result = read(text, name, TOOLS, "strict")
        assert (said(result), result.content) == ([PINGED], "")


@pytest.mark.parametrize("name", ["llama3_json", "xlam", "qwen25", "auto"])
def test_15_a_call_in_a_fence_is_found_by_streams_and_in_whole_texts(name: str) -> None:
    assert said(read(f"```json\n{PING}\n```", name, TOOLS)) == [PINGED]


@pytest.mark.parametrize("name", ["xlam", "qwen25", "auto"])
def test_15_so_are_several_in_one_fence(name: str) -> None:
    result = read(f"```json\n[{PING}, {SUM}]\n```", name, TOOLS)
    assert (said(result), result.content) == ([PINGED, SUMMED], "")


@pytest.mark.parametrize("name", ["hermes", "granite4", "qwen25", "auto"])
def test_15_a_fence_inside_the_tags_is_mended(name: str) -> None:
    result = read(tagged(f"```json\n{PING}\n```"), name, TOOLS)
    assert (said(result), result.content) == ([PINGED], "")
    assert [repair.code for repair in result.calls[0].repairs] == ["fence"]


# --- 16: texts that were cut -------------------------------------------------------------------

_CUT = {
    "hermes": f"<tool_call>\n{saving('hello')}".removesuffix('lo"}}'),
    "qwen25": f"<tool_call>\n{saving('hello')}".removesuffix('lo"}}'),
    "qwen3_coder": with_parameters("save_file", path="a", content="hello").partition("lo\n")[0],
    "openai": "<|channel|>commentary to=functions.save_file <|constrain|>json<|message|>"
    '{"path": "a", "content": "hel',
    "pythonic": "[save_file(path='a', content='hel",
    "gemma4": '<|tool_call>call:save_file{path:<|"|>a<|"|>,content:<|"|>hel',
}


@pytest.mark.parametrize("name", _CUT)
def test_16_a_call_that_was_cut_is_never_taken_for_a_whole_one(name: str) -> None:
    for format_ in (name, "auto"):
        for level in LEVELS:
            result = read(_CUT[name], format_, TOOLS, level)
            assert result.truncated
            guessed = [[repair.code for repair in call.repairs] for call in result.calls]
            assert all("truncated" in repairs for repairs in guessed)
            assert not guessed or level == "lenient"
            assert result.calls or (result.outcome, result.content) == ("truncated", _CUT[name])


# --- 17: crashes -------------------------------------------------------------------------------

_DEEP = "[" * 20_000
_DEPTHS = {
    "qwen25": tagged(saving("").replace('""', _DEEP)),
    "llama3_json": f'{{"name": "f", "parameters": {{"a": {_DEEP}}}}}',
    "mistral": f'[TOOL_CALLS] [{{"name": "f", "arguments": {{"a": {_DEEP}}}}}]',
    "qwen3_coder": with_parameters("f", a=_DEEP),
    "pythonic": f"[f(a={_DEEP})]",
    "gemma4": f"<|tool_call>call:f{{a:{_DEEP}}}<tool_call|>",
}


@pytest.mark.parametrize("name", _DEPTHS)
@pytest.mark.parametrize("closed", [False, True], ids=["open", "closed"])
def test_17_depth_is_refused_and_nothing_is_raised(name: str, *, closed: bool) -> None:
    text = _DEPTHS[name].replace(_DEEP, _DEEP + "]" * 20_000) if closed else _DEPTHS[name]
    lists = Tools([ToolSpec("f", "", {"properties": {"a": {"type": "array"}}})])
    for format_ in (name, "auto"):
        for tools in (lists, None):
            result = parse(text, format_, tools=tools)
            reading = stream(format_, tools=tools)
            for start in range(0, len(text), 997):
                reading.feed(text[start : start + 997])
            assert reading.finish() == result
            # A value that is bare text can be as deep as it likes: it is a text then.
            assert all(isinstance(call.arguments["a"], str) for call in result.calls)


def test_17_several_calls_of_internlm_are_several_calls() -> None:
    block = "<|action_start|><|plugin|>\n{}<|action_end|>"
    calls = (PING.replace("arguments", "parameters"), SUM.replace("arguments", "parameters"))
    for between in ("", "\n", " and "):
        text = between.join(block.format(call) for call in calls)
        assert said(read(text, "internlm", TOOLS)) == [PINGED, SUMMED]


# --- 18: calls as Python writes them -----------------------------------------------------------

_MIXED = '[api.search("x"), sum_up(a=-1, b=(1, 2))]'
_ONLY = ("sum_up", {"a": -1, "b": [1, 2]})


@pytest.mark.parametrize("name", ["pythonic", "llama4_pythonic", "auto"])
def test_18_an_argument_without_a_name_spoils_no_other_call(name: str) -> None:
    known = Tools([ToolSpec("api.search"), ToolSpec("sum_up")])
    for tools in (known, None):
        result = read(_MIXED, name, tools)
        assert said(result) == [_ONLY]
        assert codes(result) == ["positional-arguments"]
        assert not [
            event for event in stream(name, tools=tools).feed(_MIXED) if event.name == "api.search"
        ]


@pytest.mark.parametrize("name", ["pythonic", "llama4_pythonic", "auto"])
@pytest.mark.parametrize("tools", [TOOLS, None], ids=["tools", "no tools"])
def test_18_prose_around_a_list_hides_no_call(name: str, tools: Tools | None) -> None:
    text = "I look first.\n[find_files(folder='src', depth=2), sum_up(a=1, b=2.5)]\nThat is all."
    result = read(text, name, tools)
    assert said(result) == [FOUND, SUMMED]
    assert result.content == "I look first.\n\nThat is all."


# --- 20: thoughts ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["hermes", "granite4", "qwen25", "trinity", "auto"])
@pytest.mark.parametrize("opener", ["<think>", ""])
def test_20_a_call_that_was_only_thought_of_is_none(name: str, opener: str) -> None:
    thought = f"maybe {tagged(PING)} no"
    result = read(f"{opener}{thought}</think>Hello", name, TOOLS)
    assert (result.calls, result.content, result.reasoning) == ((), "Hello", thought)
    assert result.outcome == "no_call"
