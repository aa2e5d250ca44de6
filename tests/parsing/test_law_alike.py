"""A text is read alike by the shortcut for one block, by the scanner, and as a stream."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tunaeval.grammar import Literal
from tunaeval.grammar.format import Format
from tunaeval.grammar.formats import FORMATS, SETS
from tunaeval.parsing.reader import Reader, reader_of
from tunaeval.parsing.sets import qwen25
from tunaeval.parsing.write import render_calls
from tunaeval.types.calls import ToolCall, Tools, ToolSpec
from tunaeval.types.parsing import LEVELS, Level

ALL = Reader("all", tuple(FORMATS.values()))
READERS = {
    "all": ALL,
    "qwen25": qwen25,
    **{name: Reader(name, forms) for name, forms in SETS.items()},
    **{name: reader_of(form) for name, form in FORMATS.items()},
}

_TYPES = ("string", "integer", "number", "boolean", "array", "object", "null")
_PROPERTIES = {
    "s": {"type": "string", "description": "a text"},
    "n": {"type": "integer"},
    "x": {"type": "number"},
    "b": {"type": "boolean"},
    "l": {"type": "array", "items": {"type": "integer"}},
    "o": {"type": "object"},
    "m": {"type": ["string", "null"]},
    "u": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
    "e": {"enum": ["fast", "slow"]},
    "t": {"type": "string", "enum": ["1", "2"]},
    "c": {"type": "array", "items": {"type": "string", "minLength": 1}, "minItems": 1},
    "r": {"$ref": "#/$defs/pair"},
}
_DEFS = {"pair": {"type": "array", "items": {"type": "number"}}}
TOOLS = Tools(
    [
        ToolSpec("f", parameters={"type": "object", "properties": _PROPERTIES, "$defs": _DEFS}),
        ToolSpec("g.h", parameters={"type": "object", "properties": {}, "required": ["a"]}),
        ToolSpec("k", parameters={"type": "object", "properties": _PROPERTIES,
                                  "additionalProperties": False}),
        ToolSpec("bare"),
    ]
)  # fmt: skip
KEYS = (*_PROPERTIES, "a", "properties", "type", "name", "arguments", 'q"', "ä", "x y")

# --- texts as a model writes them, or nearly -----------------------------------------------------

_INNER = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["", "ls", '"', "\\", "</tool_call>", "\x00", "\ud83d", "ü", "12", "true"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(KEYS), inner),
    max_leaves=4,
)  # fmt: skip
_STRINGS = (
    st.sampled_from(["3", "-0", "007", "1e9", "null", "None", "True", "false", " 5 ", "[1, 2]", "{",
                     "[1,]", '{"a": 1}', "\n", "\nx\n", "a\n\n", "fast", "NaN", "nothing", "/etc",
                     "<think>", "</parameter>", "</arg_value>", "```", "`", "\u00a05", '"quoted"'])
    | st.text(max_size=8)
)  # fmt: skip
_VALUES = _STRINGS | st.integers(-5, 5) | _INNER


@st.composite
def calls(draw: st.DrawFn) -> ToolCall:
    name = draw(st.sampled_from(["f", "f", "f", "g.h", "k", "bare", "unknown"]))
    return ToolCall(name, draw(st.dictionaries(st.sampled_from(KEYS), _VALUES, max_size=3)))


_GAPS = st.sampled_from(
    ["", "", "", "", "\n", "\n\n", " ", "Sure. ", "Sure.\n", "...", "…", "`", "<think>I</think>",
     "\n<think>\nA thought\n</think>\n\n", "thought</think>", "<think>", "```", "```json\n{}\n```",
     "```python\nx = {'a': 1}\n```\n", "```\ncode\n```", '{"a": 1}', '{"name": "f"}', "[", "{",
     '[{"b": 2}]', ", ", "; ", "}", "]", "\u3000", "<tool", "<tool_call>", "</tool_call>", "[TOOL_"]
)  # fmt: skip


def _marks(form: Format) -> list[str]:
    """The fixed texts of a format, and the beginnings of them."""
    words = [*form.words, *(form.around or ())]
    whole = [text for word in words if isinstance(word, Literal) for text in word.spellings]
    thoughts = [text for each in form.reasoning for text in (each.open, each.close)]
    return [*whole, *thoughts, *(text[: len(text) * 2 // 3] for text in whole)] or ["{"]


@st.composite
def texts(draw: st.DrawFn, form: Format) -> str:
    """Blocks of the format with anything between them, now and then damaged."""
    parts = [draw(_GAPS)]
    for _ in range(draw(st.integers(0, 3))):
        several = 2 if draw(st.integers(0, 3)) == 0 else 1
        parts += [written([draw(calls()) for _ in range(several)], form), draw(_GAPS)]
    text = "".join(parts)
    for _ in range(draw(st.sampled_from([0, 0, 0, 1, 1, 2]))):
        text = draw(damaged(text, form))
    return text


def written(some: list[ToolCall], form: Format) -> str:
    return render_calls(some, form)


@st.composite
def damaged(draw: st.DrawFn, text: str, form: Format) -> str:
    """Something put in, left out, or said twice."""
    start = draw(st.integers(0, len(text)))
    end = min(len(text), start + draw(st.integers(0, 12)))
    added = draw(
        st.sampled_from(["", "", text[start:end] * 2, " ", "\n", '"', "'", ",", "}", "{", "]", "`",
                         " " * 45, "\\", ":", "9" * 20, "\\u0022", *_marks(form)])
    )  # fmt: skip
    return text[:start] + added + text[end:]


def check_alike(name: str, text: str, tools: Tools | None, level: Level) -> None:
    """The same in every field: by the shortcut where it reads, by the scanner, as a stream."""
    reader = READERS[name]
    found = reader.parse(text, tools=tools, level=level)
    slow = reader.read_tiled(text, tools, level)[0]
    stream = reader.stream(tools=tools, level=level)
    stream.feed(text)
    assert found == slow
    assert repr(found) == repr(slow), "1 and True are equal"
    assert repr(found) == repr(stream.finish())


SOME_TOOLS = st.sampled_from([None, TOOLS])
SOME_LEVELS = st.sampled_from(LEVELS)


def test_a_backslash_before_zeros_is_no_nul() -> None:
    text = '✿FUNCTION✿: f\n✿ARGS✿: {}\n✿FUNCTION✿: f\n✿ARGS✿: {"s": "\\\\u0000"}'
    check_alike("qwen-agent", text, None, "strict")


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=settings().max_examples // 4)
@given(data=st.data(), tools=SOME_TOOLS, level=SOME_LEVELS)
def test_the_shortcut_and_streams_change_nothing(
    name: str, data: st.DataObject, tools: Tools | None, level: Level
) -> None:
    check_alike(name, data.draw(texts(FORMATS[name])), tools, level)


@pytest.mark.parametrize("name", ["all", "qwen25", "mistral", "dots", "k2-horizon"])
@given(data=st.data(), tools=SOME_TOOLS, level=SOME_LEVELS)
def test_they_change_nothing_in_sets_of_formats(
    name: str, data: st.DataObject, tools: Tools | None, level: Level
) -> None:
    forms = st.sampled_from(READERS[name].formats)
    text = "".join(data.draw(texts(data.draw(forms))) for _ in range(data.draw(st.integers(1, 2))))
    check_alike(name, text, tools, level)


# --- what could go wrong, one by one -------------------------------------------------------------


def _hermes(body: str) -> str:
    return f"<tool_call>\n{body}\n</tool_call>"


def _coder(*values: str) -> str:
    parameters = "".join(f"<parameter=a{i}>{value}</parameter>\n" for i, value in enumerate(values))
    return f"<tool_call>\n<function=f>\n{parameters}</function>\n</tool_call>"


HIDDEN = {
    "a key twice": '{"name": "f", "arguments": {"s": "1", "s": "2"}}',
    "a key twice, deep": '{"name": "f", "arguments": {"o": {"s": 1, "s": 2}}}',
    "arguments twice": '{"name": "f", "arguments": {"s": "1"}, "arguments": {"s": "2"}}',
    "a key twice behind a spelled quote": r'{"name": "f", "arguments": {"": 1, "": "\u0022\""}}',
    "a spelled NUL": r'{"name": "f", "arguments": {"s": "\u0000"}}',
    "a spelled NUL in a key": r'{"name": "f", "arguments": {"\u0000": "s"}}',
    "half a pair": r'{"name": "f", "arguments": {"s": "\ud83d"}}',
    "a large integer": '{"name": "f", "arguments": {"n": 18446744073709551617}}',
    "a large integer, deep": '{"name": "f", "arguments": {"l": [18446744073709551617]}}',
    "a long number": f'{{"name": "f", "arguments": {{"n": {"9" * 4301}}}}}',
    "too deep": f'{{"name": "f", "arguments": {{"l": {"[" * 128}{"]" * 128}}}}}',
    "a schema": '{"name": "f", "arguments": {"type": "object", "properties": {}}}',
    "another type": '{"name": "f", "arguments": {"n": "3"}}',
    "no such tool": '{"name": "unheard", "arguments": {}}',
    "a wrapped call": '{"function": {"name": "f"}, "arguments": {}}',
}
"""What the decoder does not tell, or the other reader has something to say about."""


@pytest.mark.parametrize("body", HIDDEN.values(), ids=HIDDEN)
@pytest.mark.parametrize("around", ["{}", "{}\n", "Well.\n{}", "{}{}"])
def test_nothing_odd_is_passed_over(body: str, around: str) -> None:
    text = around.replace("{}", _hermes(body))
    for name in ("hermes", "qwen25", "all"):
        for tools in (None, TOOLS):
            check_alike(name, text, tools, "strict")


_FAR = " " * 90
TAGGED = {
    "a key twice": _coder("1", "2").replace("a1", "a0"),
    "a closer far from what follows it": _coder("x", "y").replace(
        "\n<parameter", f"{_FAR}<parameter"
    ),
    "the last closer far from the end": _coder("x", "y").replace(
        "\n</function", f"{_FAR}</function"
    ),
    "a closer inside a value": _coder("x</parameter>y", "z"),
    "a value to repair": _coder("[1,]").replace("a0", "l"),
    "a value to bend": _coder(" 5 ").replace("a0", "n"),
    "a key and no value": _coder("x").replace("</parameter>", ""),
    "an argument too many": _coder("x").replace("=f>", "=k>"),
    "no name": _coder("x").replace("=f>", "=>"),
}


@pytest.mark.parametrize("text", TAGGED.values(), ids=TAGGED)
@pytest.mark.parametrize("level", LEVELS)
def test_tagged_values_end_where_the_other_reader_ends_them(text: str, level: Level) -> None:
    for name in ("qwen3-coder", "all"):
        for tools in (None, TOOLS):
            check_alike(name, f"{text}\n{_coder('x')}", tools, level)


ORDINARY = {
    "one": _hermes('{"name": "f", "arguments": {"s": "say \\"a\\"", "n": 1}}'),
    "a closer in a string": _hermes('{"name": "f", "arguments": {"s": "</tool_call>"}}'),
    "arrays and objects": _hermes('{"name": "f", "arguments": {"l": [1, 2], "o": {"p": "q"}}}'),
    "reasoning before": "<think>\nHm <tool_call>.\n</think>\n\n" + _coder("x", "\ny\n"),
    "reasoning not opened": "Hm.\n</think>\n" + _coder("x"),
    "prose between": "So.\n\n" + _coder("x < 3", "[1, 2]") + " and\n" + _coder("<b>") + "\nDone.",
    "no call": "Nothing to do: a < b and {c}. [1]",
    "code": "See:\n```python\nx = {'a': 1}\n```\nand {'b': 2}.",
}


@pytest.mark.parametrize("text", ORDINARY.values(), ids=ORDINARY)
@pytest.mark.parametrize("tools", [None, TOOLS], ids=["any", "known"])
def test_ordinary_texts_are_read_alike(text: str, tools: Tools | None) -> None:
    check_alike("all", text, tools, "standard")


REPEATED = (
    "<tool_call>{", '<tool_call>{"a": ', '<tool_call>{"name": "x", ', "<tool_call>{a b", "[{'a':",
    "<tool_call>{}</tool_call>", "<tool_call>\n{'name': 'x', 'arguments': {}}\n", "<function=f>",
    "<function=f>{", '<function=f>{"a"', "```json\n{", '```json\n{"', '{"name": "f"} ',
    "{'name': 1}",
    '<tool_call>{"name": "f", "arguments": {"s": "', "<tool_call>[{", "[TOOL_CALLS]f[ARGS]{", "[f(",
    '<tool_call>{"name": "unheard", "arguments": {}}</tool_call>',
    ">>>", ">>>all ", "<|tool_call>", "<|tool_call>call:", "<invoke name=", "Action: ",
    "✿FUNCTION✿", "<tool_call>f<tool_sep>",
    '<invoke name="f">\n<px ', "<function=f \n", "<think>a <invoke name=",
)  # fmt: skip
_BEHIND = (
    "",
    "}",
    '"}}',
    '"name": "f", "arguments": {}}</tool_call>',
    "</think>",
    "`",
    " " * 400,
    "x",
    "f\n{}",
    '<invoke name="f">\n<parameter name="s">x</parameter></invoke>',
)


@pytest.mark.parametrize("piece", REPEATED)
@pytest.mark.parametrize("behind", _BEHIND)
def test_what_is_met_again_is_read_alike(piece: str, behind: str) -> None:
    for text in (piece * 50 + behind, f"{piece * 40}\n{behind}\n{piece * 40}"):
        for level in LEVELS:
            check_alike("all", text, TOOLS, level)
