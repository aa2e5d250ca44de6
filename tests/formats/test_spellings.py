"""What models write beside the form that their template shows, by name and in "auto"."""

from __future__ import annotations

import pytest

from tests.formats.reading import FOUND, TOOLS, read
from tests.parsing.samples import codes, said
from tunaeval import render
from tunaeval.grammar.formats import AUTO, FORMATS
from tunaeval.tools.specs import to_tools
from tunaeval.types.calls import ToolCall

_PARAMETERS = "<parameter=folder>\nsrc\n</parameter>\n<parameter=depth>\n2\n</parameter>\n"
_BARE = f"<function=find_files>\n{_PARAMETERS}</function>"
_STEP = (
    '<steptml:invoke name="find_files"><steptml:parameter name="folder">src</steptml:parameter>'
    '<steptml:parameter name="depth">2</steptml:parameter></steptml:invoke>'
)
_MUSE = (
    '<|start|>assistant to={0}<|message|><atem:function_calls>\n<atem:invoke name="{0}">\n'
    '<atem:parameter name="folder">src</atem:parameter>\n'
    '<atem:parameter name="depth">2</atem:parameter>\n'
    "</atem:invoke>\n</atem:function_calls><|eom|>"
)

SPELLINGS = {
    "a function without its outer tags": ("qwen3-coder step3p5", _BARE),
    "a newline before the message": (
        "harmony openai",
        (
            "<|channel|>commentary to=functions.find_files <|constrain|>json\n"
            '<|message|>{"folder": "src", "depth": 2}<|call|>'
        ),
    ),
    "a colon for call": (
        "gemma4",
        '<|tool_call>:find_files{folder:<|"|>src<|"|>,depth:2}<tool_call|>',
    ),
    "no kind of tool": ("step3", f"<｜tool_call_begin｜>{_STEP}<｜tool_call_end｜>"),
    "white space before an invoke": (
        "step3",
        f"<｜tool_call_begin｜>function<｜tool_sep｜>\n{_STEP}\n<｜tool_call_end｜>",
    ),
    "a kind of value for one argument only": (
        "deepseek-v3.2 deepseek_v4",
        (
            '<｜DSML｜invoke name="find_files">\n<｜DSML｜parameter name="folder" string="true">src'
            '</｜DSML｜parameter>\n<｜DSML｜parameter name="depth">2</｜DSML｜parameter>\n'
            "</｜DSML｜invoke>"
        ),
    ),
    "tags without their blanks": (
        "minicpm5",
        (
            '<functionname="find_files"><paramname="folder">src</param>'
            '<paramname="depth">2</param></function>'
        ),
    ),
    "single quotes": (
        "minicpm5",
        (
            "<function name='find_files'><param name='folder'>src</param>"
            "<param name='depth'>2</param></function>"
        ),
    ),
    "a name that is its own namespace": ("muse", _MUSE.format("find_files.find_files")),
    "a month of two digits": ("lfm2", "<|tool_call_start|>[find_files(folder='src', depth=02)]"),
}


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_spelling_is_read_by_name_and_in_auto(spelling: str) -> None:
    names, text = SPELLINGS[spelling]
    for name in (*names.split(), "auto"):
        for tools in (None, TOOLS):
            assert said(read(text, name, tools)) == [FOUND], name


def test_an_outer_closer_alone_is_markup_once() -> None:
    for name in ("qwen3-coder", "auto"):
        result = read(f"{_BARE}\n</tool_call>", name, TOOLS)
        assert (said(result), codes(result), result.content) == ([FOUND], [], "")
        doubled = read(f"{_BARE}\n</tool_call>\n</tool_call>", name, TOOLS)
        assert (said(doubled), codes(doubled), doubled.content) == ([FOUND], ["stray-closer"], "")
    alone = read(f"{_BARE}\n</tool_call>", "qwen3-bare", TOOLS)
    assert (said(alone), alone.content) == ([FOUND], "\n</tool_call>")


def test_a_doubled_name_that_is_a_tool_stays() -> None:
    tools = to_tools([{"name": "f.f", "parameters": {}}, {"name": "f", "parameters": {}}])
    text = '<|start|>assistant to=f.f<|message|><atem:invoke name="f.f">\n</atem:invoke><|eom|>'
    assert [call.name for call in read(text, "muse", tools).calls] == ["f.f"]


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("name", ["获取天气", "météo", "wetter_für", "t" * 100])
def test_a_name_of_any_letters_is_called(name: str, form: str) -> None:
    """Declared or not, in every format that has calls of any name; its header is no content."""
    tools = to_tools([{"name": name, "parameters": {}}])
    text = _called(name, form)
    for reader in (form, "auto") if FORMATS[form] in AUTO else (form,):
        unmarked = (FORMATS[form].whole and reader == "auto") or FORMATS[form].by_tool
        for known in (tools,) if unmarked else (tools, None):
            result = read(text, reader, known)
            assert ([call.name for call in result.calls], result.content) == ([name], "")


ALONE = {
    "glm45 auto": ("<tool_call>", "</tool_call>"),
    "glm47 hunyuan-v3": ("<tool_call>", "</tool_call>"),
    "iquest-q1 auto": ("<iquest_tool_call>", "</iquest_tool_call>"),
    "solar-open2 auto": ("<|tool_call:start|>", "<|tool_call:end|>"),
}


@pytest.mark.parametrize("names", ALONE)
def test_a_name_alone_in_a_sentence_is_a_call_only_of_a_tool(names: str) -> None:
    """Without tools it may be any word; behind a sentence, on its own line, by another, a call."""
    opener, closer = ALONE[names]
    word, tools = f"{opener}ping{closer}", to_tools([{"name": "ping", "parameters": {}}])
    for name in names.split():
        for text in (f"Use {word} here.", f"使用{word}来"):
            result = read(text, name, None)
            assert (result.outcome, codes(result)) == ("malformed", ["missing-arguments"])
            assert result.content == text
            assert read(text, name, tools).outcome == "calls"
        for text in (word, f"I look.{word}", f"Look:\n{word} Done.", f"{word}{word} {word}"):
            assert {call.name for call in read(text, name, None).calls} == {"ping"}


@pytest.mark.parametrize("gap", ["\n", "\r\n", " \n", "\n\n"])
@pytest.mark.parametrize("name", ["harmony", "muse", "inkling", "solar-open"])
def test_a_header_may_end_its_line(name: str, gap: str) -> None:
    text = render([ToolCall("ping", {"a": "x"})], name)
    body = FORMATS[name].envelope
    assert body is not None
    result = read(text.replace(body.call.body, gap + body.call.body, 1), name, None)
    assert (said(result), result.content) == ([("ping", {"a": "x"})], "")


def test_a_value_keeps_the_newline_that_has_no_partner() -> None:
    text = (
        "<seed:tool_call>\n<function=save_file>\n<parameter=path>a\n</parameter>\n"
        "<parameter=content>\nb\n</parameter>\n</function>\n</seed:tool_call>"
    )
    for name in ("seed-oss", "auto"):
        assert said(read(text, name, TOOLS)) == [("save_file", {"path": "a\n", "content": "b"})]


def _called(name: str, form: str) -> str:
    """A call of this tool without arguments, as the format writes it."""
    return render([ToolCall(name, {})], form)
