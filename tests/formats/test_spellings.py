"""What models write beside the form that their template shows, by name and in "auto"."""

from __future__ import annotations

import pytest

from tests.formats.reading import FOUND, TOOLS, read
from tests.parsing.samples import codes, said
from tunaeval import render
from tunaeval.tools import to_tools
from tunaeval.types import ToolCall

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


@pytest.mark.parametrize("name", ["获取天气", "météo", "t" * 100])
def test_a_declared_name_of_any_letters_is_called(name: str) -> None:
    tools = to_tools([{"name": name, "parameters": {}}])
    for form in ("qwen3-coder", "harmony", "kimi-k2", "minimax-m2", "pythonic", "deepseek-v3.1"):
        text = _called(name, form)
        for reader in (form, "auto"):
            assert [call.name for call in read(text, reader, tools).calls] == [name], form


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
