"""Any tag that means a call may be around any body that some format reads."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pytest

from tests.formats.reading import read, takes
from tunaeval import parse
from tunaeval.grammar.combine import CLAUDE, TAGS
from tunaeval.types.calls import Tools, ToolSpec

TOOLS = Tools([ToolSpec("look", "", takes(x="integer", where="string"))])

OBJECT = '{"name": "look", "arguments": {"x": 1}}'
OTHER_KEYS = '{"function_name": "look", "parameters": {"x": 1}}'
NAME = "<name>look</name>"

BODIES = {
    "json": (OBJECT, f"[{OBJECT}]", OTHER_KEYS, f"[{OTHER_KEYS}]", f"[{OBJECT}, {OBJECT}]"),
    "pythonic": ("[look(x=1)]", "look(x=1)", "[look(x=1), look(x=1)]"),
    "name-json": ('look\n{"x": 1}', 'look{"x": 1}'),
    "glm45": ("look<arg_key>x</arg_key><arg_value>1</arg_value>",),
    "function-call": (
        f'{NAME}<arguments>{{"x": 1}}</arguments>',
        f'{NAME}<arguments><arg name="x" type="integer">1</arg></arguments>',
        f'{NAME}<param name="x" value="1" type="int"/>',
        f'{NAME}<params>\n<parameter name="x">1</parameter>\n</params>',
        '<function_call><name>look</name><arg name="x" type="integer">1</arg></function_call>',
    ),
    "qwen3-bare": ("<function=look>\n<parameter=x>\n1\n</parameter>\n</function>",),
    "minimax-m2": (
        '<invoke name="look"><parameter name="x">1</parameter></invoke>',
        '<invoke name="look"><x>1</x></invoke>',
        (
            f'<{CLAUDE}:invoke name="look"><{CLAUDE}:parameter name="x">1'
            f"</{CLAUDE}:parameter></{CLAUDE}:invoke>"
        ),
    ),
    "minicpm5": (
        '<function name="look"><param name="x" type="integer">1</param></function>',
        (
            '<functions><function name="look"><params><param name="x" value="1" type="integer"/>'
            "</params></function></functions>"
        ),
    ),
    "tool-elements": ("<look>\n<x>1</x>\n</look>",),
}
"""Texts of the same call, by the format that is expected to read it."""

OWN = {"hermes", "jamba", "nemotron", "tools-tag", "granite-20b-fc", "granite3", "gigachat3",
       "olmo3", "function-call", "glm45", "qwen3-coder"}  # fmt: skip
"""Formats that have one of the tags themselves."""


def pairs(*tags: str) -> Iterator[tuple[str, str, str]]:
    """Yield each body in each tag, and the format of the body."""
    for tag, (name, bodies) in product(tags, BODIES.items()):
        closer = f"<|/{tag[2:]}" if tag.startswith("<|") else f"</{tag[1:]}"
        yield from ((f"{tag}{space}{body}{space}{closer}", name, tag)
                    for body in bodies for space in ("", "\n")
                    if not body.startswith(tag))  # fmt: skip


@pytest.mark.parametrize("tag", [*TAGS, "<some:tool_call>", "<some:function>"])
def test_each_tag_goes_with_each_body(tag: str) -> None:
    for text, name, _ in pairs(tag):
        result = read(text, tools=TOOLS, level="strict")
        assert {(call.name, str(call.arguments)) for call in result.calls} == {
            ("look", "{'x': 1}")
        }, text
        assert not any(call.repairs for call in result.calls), text
        assert (result.content.strip(), result.diagnoses) == ("", ()), text
        assert {call.format for call in result.calls} <= {name, *OWN}, text


@pytest.mark.parametrize("tag", ["<tool_use>", "<|TOOLCALL|>", "<some:tools>"])
def test_the_format_of_the_body_reads_it_by_its_name(tag: str) -> None:
    for text, name, _ in pairs(tag):
        result = parse(text, name, tools=TOOLS, level="strict")
        assert [call.arguments for call in result.calls][:1] == [{"x": 1}], text
        assert not result.content.strip(), text


def test_without_tools_only_a_tag_of_some_format_counts() -> None:
    assert parse("<tool_call>[look(x=1)]</tool_call>").calls
    assert parse("<TOOLCALL>[look(x=1)]</TOOLCALL>").calls
    for tag in ("function", "tool_use", "some:tool_call"):
        assert not parse(f"<{tag}>[look(x=1)]</{tag}>").calls


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [("string", "5", "5"), ("integer", "5", 5), ("float", "5", 5), ("float", "0.5", 0.5),
     ("boolean", "true", True), ("boolean", "False", False), ("array", "[1, 2]", [1, 2]),
     ("dict", '{"a": "b"}', {"a": "b"}), ("tuple", "[1]", [1]),
     ("tuple", "(1, 2)", [1, 2]), ("string", "a &lt; b", "a < b")],
)  # fmt: skip
def test_a_type_decides_where_there_is_no_schema(kind: str, text: str, value: object) -> None:
    one = f'<param name="x" type="{kind}">{text}</param>'
    written = text.replace('"', "&quot;")
    other = f'<params><param name="x" value="{written}" type="{kind}"/></params>'
    for inner in (one, other):
        (call,) = read(f'<functions><function name="f">{inner}</function></functions>').calls
        assert call.arguments == {"x": value}
        assert not call.repairs


@pytest.mark.parametrize(
    "text",
    [
        "Put it between <tool_use> and </tool_use>.",
        "A <functions> element has a <function> for each.",
        "<function>seek</function> is how some write it.",
        "`<tool_use>[look(x=1)]</tool_use>` is code.",
        "<some:function>return 1;</some:function>",
    ],
)
def test_a_tag_that_is_named_stays_text(text: str) -> None:
    result = read(text, tools=TOOLS)
    assert result.outcome == "no_call"
    assert result.content == text


def test_many_namespaces_are_read_in_linear_time() -> None:
    text = "".join(f'<n{at}:invoke name="look">' for at in range(2000))
    assert not parse(text, tools=TOOLS).calls


def test_a_list_at_the_start_may_have_prose_directly_behind() -> None:
    result = read("[look(x=1)]Looking now.", tools=TOOLS)
    assert [call.arguments for call in result.calls] == [{"x": 1}]
    assert result.content == "Looking now."
    for text in ("See [look(x=1)]Looking.", "[look(x=1)](url)", "[seek(x=1)]Looking."):
        assert not read(text, tools=TOOLS).calls


@pytest.mark.parametrize(
    "text",
    [
        '{"look": {"x": 1}}',
        '{"tool_call": "look", "parameters": {"x": 1}}',
        '<invoke name="look"><parameter name="arguments">{\'x\': 1}</parameter></invoke>',
        '<tool_call>{"name": "look", "arguments": {"properties": {"x": 1}}}</tool_call>',
        '<functionĠname="look"><paramĠname="x">1</param></function>',
        "<tool_call>look<param_key>x</param_key><param_value>1</param_value></tool_call>",
    ],
)
def test_odd_forms_are_read_at_standard(text: str) -> None:
    assert [call.arguments for call in read(text, tools=TOOLS).calls] == [{"x": 1}]


# --- definitions ---------------------------------------------------------------------------------

SCHEMA = '{"x": {"type": "integer", "description": "How far."}}'


@pytest.mark.parametrize(
    "definition",
    [
        f'{{"name": "look", "description": "Looks.", "parameters": {SCHEMA}}}',
        f'{{"name": "look", "parameters": {SCHEMA}}}',
        '{"name": "look", "description": "Looks.", "parameters": {"x": {"type": "integer"}}}',
        '{"name": "look", "description": "Looks.", "parameters": {}}',
        (
            '{"type": "function", "function": {"name": "look", "description": "Looks.", '
            '"parameters": {"type": "object", "properties": {"x": {"type": "integer"}}}}}'
        ),
    ],
)
@pytest.mark.parametrize("frame", ["{}", "```json\n{}\n```", "<tools>{}</tools>",
                                   "<functions>\n[{}]\n</functions>"])  # fmt: skip
def test_a_definition_is_no_call(frame: str, definition: str) -> None:
    result = read(frame.replace("{}", definition), tools=TOOLS)
    assert not result.calls
    assert [one.code for one in result.diagnoses] == ["schema-echo"]
    assert definition in result.content
    bare = read(frame.replace("{}", definition))
    assert bare.outcome == ("malformed" if frame.startswith("<") else "no_call")


def test_a_definition_beside_a_call_leaves_the_call() -> None:
    definition = f'{{"name": "look", "description": "Looks.", "parameters": {SCHEMA}}}'
    result = read(f"```json\n{definition}\n```\n<tool_call>{OBJECT}</tool_call>", tools=TOOLS)
    assert [call.arguments for call in result.calls] == [{"x": 1}]


def test_a_tool_may_take_what_looks_like_a_definition() -> None:
    tools = Tools([ToolSpec("define", "", takes(field="object"))])
    value = '{"field": {"type": "string", "description": "A name."}}'
    text = f'{{"name": "define", "arguments": {value}}}'
    assert len(read(text, tools=tools).calls) == 1
