"""What properly closed a value ends it, whatever follows, and JSON ends where its format does.

A row is named after what models do; each is read whole and in pieces.
"""

from __future__ import annotations

from typing import NamedTuple

import pytest

from tests.formats.reading import read, takes
from tests.parsing.samples import codes, said
from tunaeval import render
from tunaeval.parsing.finder import END_TOKENS
from tunaeval.types.calls import JsonObject, JsonValue, ToolCall, Tools, ToolSpec

TOOLS = Tools(
    [
        ToolSpec("save_note", parameters=takes(body="string")),
        ToolSpec("weather", parameters=takes(city="string", state="string")),
        ToolSpec("now", parameters=takes()),
    ]
)


class Row(NamedTuple):
    """A text in a format, the calls in it, and what else there is to say."""

    format: str
    text: str
    calls: list[tuple[str, JsonObject]]
    content: str = ""
    diagnoses: tuple[str, ...] = ()


_MILK: list[tuple[str, JsonObject]] = [("save_note", {"body": "Buy milk"})]
_NOW: list[tuple[str, JsonObject]] = [("now", {})]
_QWEN = "<tool_call>\n<function=save_note>\n<parameter=body>\nBuy milk\n</parameter>\n"
_INVOKE = '<invoke name="save_note">\n<parameter name="body">Buy milk</parameter>\nSaved it.\n'
_GLM = (
    "<tool_call>save_note\n<arg_key>body</arg_key>\n<arg_value>Buy milk</arg_value>\nSaved it.\n"
    "</tool_call>"
)
_DSML = (
    '<｜DSML｜function_calls>\n<｜DSML｜invoke name="save_note">\n'
    '<｜DSML｜parameter name="body" string="true">Buy milk</｜DSML｜parameter>\nSaved it.\n'
    "</｜DSML｜invoke>\n</｜DSML｜function_calls>"
)
_PARIS = "<function=weather>\n<parameter=city>\nParis\n</parameter>\n"
_ROME = _PARIS.replace("Paris", "Rome")
_TWO: list[tuple[str, JsonObject]] = [("weather", {"city": "Paris"}), ("weather", {"city": "Rome"})]

STRAY_TEXT = {
    "qwen3-coder, behind the function": Row(
        "qwen3-coder", _QWEN + "</function>\nSaved it.\n</tool_call>", _MILK, "Saved it.\n"
    ),
    "qwen3-coder, behind the argument": Row(
        "qwen3-coder", _QWEN + "Saved it.\n</function>\n</tool_call>", _MILK, "Saved it."
    ),
    "step3p5": Row("step3p5", _QWEN + "</function>\nSaved it.\n</tool_call>", _MILK, "Saved it.\n"),
    "seed-oss": Row(
        "seed-oss",
        (_QWEN + "</function>\nSaved it.\n</tool_call>").replace("tool_call", "seed:tool_call"),
        _MILK,
        "Saved it.\n",
    ),
    "mimo": Row(
        "mimo",
        "<tool_call>\n<function=save_note>\n<parameter=body>Buy milk</parameter>\nSaved it.\n"
        "</function>\n</tool_call>",
        _MILK,
        "Saved it.",
    ),
    "glm45": Row("glm45", _GLM, _MILK, "Saved it."),
    "glm45, and another call": Row(
        "glm45", f"{_GLM}\nAnd\n{_GLM}", _MILK * 2, "Saved it.\nAnd\nSaved it."
    ),
    "minimax-m2": Row(
        "minimax-m2",
        f"<minimax:tool_call>\n{_INVOKE}</invoke>\n</minimax:tool_call>",
        _MILK,
        "Saved it.",
    ),
    "deepseek-v3.2": Row("deepseek-v3.2", _DSML, _MILK, "Saved it."),
    "a lost tag is told": Row(
        "qwen3-coder",
        _QWEN + "<parrameter=tag>\nx\n</function>\n</tool_call>",
        _MILK,
        "<parrameter=tag>\nx",
        ("swallowed-markup",),
    ),
}  # fmt: skip

STRAY_SIGNS = {
    "one sign too many between two arguments": Row(
        "mimo",
        "<tool_call>\n<function=weather>\n<parameter=city>Dallas</parameter>>"
        "<parameter=state>TX</parameter>\n</function>\n</tool_call>",
        [("weather", {"city": "Dallas", "state": "TX"})],
    ),
    "the same before the end": Row(
        "mimo",
        "<tool_call>\n<function=weather>\n<parameter=city>Dallas</parameter>>\n</function>\n"
        "</tool_call>",
        [("weather", {"city": "Dallas"})],
    ),
}

NO_ARGUMENTS = {
    "and the end": Row("qwen3-coder", "<tool_call>\n<function=now>\n</function>", _NOW),
    "and prose": Row(
        "qwen3-coder", "<tool_call>\n<function=now>\n</function>\nDone.", _NOW, "Done."
    ),
    "and another call": Row(
        "qwen3-coder",
        f"<tool_call>\n<function=now>\n</function>\n<tool_call>\n{_ROME}</function>\n</tool_call>",
        [*_NOW, _TWO[1]],
    ),
    "a name alone, and another call": Row(
        "glm45", "<tool_call>now\n<tool_call>now\n</tool_call>", _NOW * 2
    ),
}

_BEAM = (
    "<|start|>assistant to={}<|channel|>analysis <|constrain|>xml<|message|>"
    '<rfl:parameter name="city">\nRome\n</rfl:parameter>'
)

NO_END = {
    "every argument is there": Row(
        "beam",
        _BEAM.format("weather") + '<rfl:parameter name="state">\nIT\n</rfl:parameter>',
        [("weather", {"city": "Rome", "state": "IT"})],
    ),
    "there are none": Row("beam", _BEAM.format("now").partition("<rfl")[0], _NOW),
    "another one may follow": Row(
        "beam", _BEAM.format("weather"), [], _BEAM.format("weather"), ("truncated",)
    ),
}

SECOND_FUNCTIONS = {
    "the first is never closed": Row(
        "qwen3-coder", f"<tool_call>\n{_PARIS}{_ROME}</function>\n</tool_call>", _TWO
    ),
    "none is": Row("qwen3-coder", f"<tool_call>\n{_PARIS}{_ROME}</tool_call>", _TWO),
    "the second is never closed": Row(
        "qwen3-coder", f"<tool_call>\n{_PARIS}</function>\n{_ROME}</tool_call>", _TWO
    ),
    "prose and no outer closer": Row(
        "qwen3-coder", f"<tool_call>\n{_PARIS}</function>\nDone.", _TWO[:1], "Done."
    ),
    "prose, and another whole call": Row(
        "qwen3-coder",
        f"<tool_call>\n{_PARIS}</function>\nNow\n<tool_call>\n{_ROME}</function>\n</tool_call>",
        _TWO,
        "Now\n",
    ),
}

_CONSTRAINED = "to=functions.{}\n<|constrain|>json<|message|>{}<|call|>"

HEADERS = {
    "a new line before the constraint": Row(
        "harmony",
        "<|channel|>commentary " + _CONSTRAINED.format("weather", '{"city": "Rome"}'),
        _TWO[1:],
    ),
    "the same without a channel": Row(
        "harmony",
        "<|start|>assistant " + _CONSTRAINED.format("weather", '{"city": "Rome"}'),
        _TWO[1:],
    ),
    "the same without arguments": Row(
        "harmony", "<|channel|>commentary " + _CONSTRAINED.format("now", "{}"), _NOW
    ),
}

ROWS = {
    f"{what}: {title}": row
    for what, rows in {
        "stray text": STRAY_TEXT,
        "stray sign": STRAY_SIGNS,
        "no arguments": NO_ARGUMENTS,
        "no end of the message": NO_END,
        "second function": SECOND_FUNCTIONS,
        "harmony": HEADERS,
    }.items()
    for title, row in rows.items()
}


@pytest.mark.parametrize("title", ROWS)
def test_a_closer_is_trusted(title: str) -> None:
    row = ROWS[title]
    result = read(row.text, row.format, TOOLS)
    assert said(result) == row.calls
    assert result.content == row.content
    assert codes(result) == [*row.diagnoses]


UNENDED = {
    "kimi-k2": (
        "<|tool_calls_section_begin|>{}<|tool_calls_section_end|>",
        "<|tool_call_begin|>functions.save_note:0<|tool_call_argument_begin|>{}<|tool_call_end|>",
    ),
    "hermes": ("{}", '<tool_call>\n{{"name": "save_note", "arguments": {}}}\n</tool_call>\n'),
    "deepseek-v3.1": (
        "<｜tool▁calls▁begin｜>{}<｜tool▁calls▁end｜>",
        "<｜tool▁call▁begin｜>save_note<｜tool▁sep｜>{}<｜tool▁call▁end｜>",
    ),
    "mistral-v11": ("{}", "[TOOL_CALLS]save_note[ARGS]{}"),
    "harmony": (
        "{}",
        (
            "<|start|>assistant<|channel|>commentary to=functions.save_note"
            "<|constrain|>json<|message|>{}<|call|>"
        ),
    ),
}
"""Formats with JSON: what is around calls, and a call."""


@pytest.mark.parametrize("name", UNENDED)
def test_a_string_without_its_quote_ends_where_its_format_does(name: str) -> None:
    around, call = UNENDED[name]
    hurt, sound = call.format('{"body": "Buy milk}'), call.format('{"body": "x"}')
    both = read(around.format(hurt + sound), name, TOOLS, "lenient")
    assert said(both) == [*_MILK, ("save_note", {"body": "x"})]
    assert said(read(around.format(hurt + sound), name, TOOLS)) == [("save_note", {"body": "x"})]
    if name != "mistral-v11":  # nothing ends its last call
        last = read(around.format(hurt), name, TOOLS, "lenient")
        assert said(last) == _MILK
        assert read(around.format(hurt), name, TOOLS).outcome == "malformed"


@pytest.mark.parametrize("name", UNENDED)
def test_a_closer_in_a_sound_string_ends_nothing(name: str) -> None:
    around, call = UNENDED[name]
    closer = call[-20:].rpartition("}")[2].strip() or "[TOOL_CALLS]"
    body = f'a }}{closer} b \\"c\\"'
    result = read(around.format(call.format(f'{{"body": "{body}"}}')), name, TOOLS)
    assert said(result) == [("save_note", {"body": body.replace("\\", "")})]


WITH_COLONS = {
    "gemma4": '<|tool_call>call:mcp.days:events{day:<|"|>x<|"|>}<tool_call|>',
    "qwen3-coder": (
        "<tool_call>\n<function=mcp.days:events>\n<parameter=day>\nx\n</parameter>\n"
        "</function>\n</tool_call>"
    ),
    "minimax-m2": (
        '<minimax:tool_call>\n<invoke name="mcp.days:events">\n<parameter name="day">x'
        "</parameter>\n</invoke>\n</minimax:tool_call>"
    ),
    "pythonic": '[mcp.days:events(day="x")]',
    "python-calls": 'mcp.days:events(day="x")',
    "name-json": 'mcp.days:events\n{"day": "x"}',
    "mistral-v11": '[TOOL_CALLS]mcp.days:events[ARGS]{"day": "x"}',
    "glm45": (
        "<tool_call>mcp.days:events\n<arg_key>day</arg_key>\n<arg_value>x</arg_value>\n</tool_call>"
    ),
    "deepseek-v3.1": (
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>mcp.days:events<｜tool▁sep｜>"
        '{"day": "x"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>'
    ),
    "tool-elements": "<mcp.days:events><day>x</day></mcp.days:events>",
}


@pytest.mark.parametrize("name", WITH_COLONS)
def test_a_name_with_a_colon_is_called(name: str) -> None:
    tools = Tools([ToolSpec("mcp.days:events", parameters=takes(day="string"))])
    assert said(read(WITH_COLONS[name], name, tools)) == [("mcp.days:events", {"day": "x"})]
    marked = name not in ("python-calls", "name-json", "tool-elements")
    assert read(WITH_COLONS[name], name, TOOLS).detail == ("unknown-tool" if marked else None)


def test_a_second_object_behind_the_arguments_is_lenient() -> None:
    text = UNENDED["kimi-k2"][1].format('{"body": "a"} {"body": "b"}')
    assert read(text, "kimi-k2", TOOLS).outcome == "malformed"
    assert said(read(text, "kimi-k2", TOOLS, "lenient")) == [("save_note", {"body": "a"})]


def test_a_space_before_the_end_of_a_tag_is_read() -> None:
    text = _DSML.replace(' string="true">', " >").replace("Saved it.\n", "")
    assert said(read(text, "deepseek-v3.2", TOOLS)) == _MILK


def test_entities_in_a_key_are_read() -> None:
    text = (
        '<|open|>call tool="weather"<|sep|><|open|>argument key="a&lt;b&gt; &quot;c&quot;" '
        'type="string"<|sep|>x<|close|>argument<|sep|><|close|>call<|sep|>'
    )
    assert said(read(text, "kimi-k3")) == [("weather", {'a<b> "c"': "x"})]


@pytest.mark.parametrize("name", ["minimax-m2", "deepseek-v3.2"])
def test_a_misspelt_closer_between_closers_is_no_end_of_the_text(name: str) -> None:
    text = ROWS[f"stray text: {name}"].text.replace("Saved it.\n", "")
    assert said(read(text, name, TOOLS)) == _MILK
    hurt = text.replace("invoke>", "nvoke>")
    result = read(hurt, name, TOOLS)
    assert (result.outcome, result.truncated) == ("malformed", False)
    assert read(hurt[: hurt.index("nvoke>")], name, TOOLS).outcome == "truncated"


@pytest.mark.parametrize("token", END_TOKENS)
@pytest.mark.parametrize("name", ["auto", "hermes", "mistral-v11", "harmony"])
def test_a_token_at_the_end_of_a_text_is_no_content(name: str, token: str) -> None:
    for text in ("Hello", "Hello", 'See <a href="x">'):
        assert read(text + token, name).content == text
        assert read(f"{text}{token}{token}\n", name).content == text
    call = render([ToolCall("weather", {"city": "Rome"})], "hermes")
    result = read(f"{call}{token}", name, TOOLS)
    assert result.content in ("", call)
    assert not result.diagnoses or name not in ("auto", "hermes")


@pytest.mark.parametrize(
    "text",
    [
        "The token <|im_end|> ends a turn.",
        "In `<|im_end|>`",
        "Was <s>10</s>",
        "```\n</s>\n```",
        "It ends in <|im_end",
        "a<|im_end|> b",
    ],
)
def test_a_token_that_ends_nothing_is_content(text: str) -> None:
    assert read(text, "hermes").content == text
    assert read(text).content == text


def test_calls_that_are_a_whole_reply_may_end_in_a_token() -> None:
    calls = 'weather(city="Rome")\nweather(city="Paris")'
    result = read(f"{calls}</s>\n<|im_end|>", tools=TOOLS)
    assert said(result) == _TWO[::-1]
    assert result.content == ""


@pytest.mark.parametrize(
    "text",
    [
        "```\n<think>a</think>\n```",
        "See:\n```xml\n<think>\na\n</think>\n```\nDone.",
        "<think>b</think>```py\n<think>a</think>\n```",
    ],
)
@pytest.mark.parametrize("name", ["auto", "qwen25", "fence", "hermes", "glm45"])
def test_reasoning_tags_in_a_code_fence_are_content(name: str, text: str) -> None:
    result = read(text, name)
    assert result.content == text.removeprefix("<think>b</think>")
    assert not result.truncated
    assert not result.diagnoses


@pytest.mark.parametrize("name", ["auto", "pythonic"])
def test_one_dictionary_is_the_arguments_where_the_tool_declares_its_keys(name: str) -> None:
    result = read('[weather({"city": "Rome", "state": "IT"}), now()]', name, TOOLS)
    assert said(result) == [("weather", {"city": "Rome", "state": "IT"}), ("now", {})]
    assert [repair.code for repair in result.calls[0].repairs] == ["one-dictionary"]
    assert read('[weather({"city": "Rome"})]', name, TOOLS, "strict").outcome == "malformed"
    assert read('[weather({"town": "Rome"})]', name, TOOLS).outcome == "malformed"


def test_an_opener_that_looks_like_a_list_ends_no_object_in_pieces_either() -> None:
    text = '[TOOL_CALLS] [{"name":[TOOL_CALLS] "f", "arguments": {"a": 1}}]'
    assert read(text, "mistral-array").outcome == "malformed"
    assert read(text, "mistral").outcome == "malformed"


@pytest.mark.parametrize(
    ("written", "value"),
    [(".25", 0.25), ("-.5", -0.5), ("1.", 1.0), ("1_000", 1000), ("TRUE", True), ("Null", None)],
)
def test_a_number_or_word_of_a_program_is_that_value(written: str, value: JsonValue) -> None:
    for text in (f'{{"a": {written}}}', f'{{"a": {written}, "b": [{written}]}}'):
        call = f'<tool_call>{{"name": "f", "arguments": {text}}}</tool_call>'
        result = read(call, "hermes", None, "lenient")
        assert result.calls[0].arguments["a"] == value
        assert type(result.calls[0].arguments["a"]) is type(value)
    for number in ("1__0", "1_", "012"):
        call = f'<tool_call>{{"name": "f", "arguments": {{"a": {number}}}}}</tool_call>'
        assert not read(call, "hermes", None, "lenient").calls
