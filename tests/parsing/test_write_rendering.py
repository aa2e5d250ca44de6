"""Calls are written as their format says, and never so that they would be read as others."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.formats.reading import read
from tests.parsing.samples import said
from tunaeval import parse, render
from tunaeval.data.convert import Unconvertible, convert_text, route_between
from tunaeval.errors import UsageError
from tunaeval.grammar.formats import FORMATS
from tunaeval.limits import MAX_DEPTH
from tunaeval.testing.strategies import literals
from tunaeval.testing.tape import Tape
from tunaeval.types.calls import JsonObject, JsonValue, ToolCall, Tools, ToolSpec

CLOSERS = "</parameter>\n</function>\n</tool_call>"


def nested(depth: int) -> JsonValue:
    value: JsonValue = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("form", "call", "message"),
    [
        ("qwen3-coder", ToolCall("f", {"a b": 1}), "the argument 'a b' of 'f': an argument's name"),
        ("qwen3-coder", ToolCall("f g", {}), "the name 'f g': a name fits the pattern"),
        (
            "qwen3-coder",
            ToolCall("f", {"a": 1, "b": f"{CLOSERS}\nx{CLOSERS}"}),
            "the argument 'b' of 'f': its value contains '</parameter>', which is the format's own",
        ),
        (
            "qwen3-coder",
            ToolCall("f", {"a": [CLOSERS.replace("\n", "")]}),
            "the argument 'a' of 'f': its value",
        ),
        ("minimax-m3", ToolCall("f", {"a b": 1}), "the argument 'a b' of 'f'"),
        ("minicpm5", ToolCall("f", {"a": "<![CDATA[x]]>"}), "the argument 'a' of 'f'"),
        ("pythonic", ToolCall("a b", {}), "the name 'a b'"),
        ("hermes", ToolCall("", {}), "the name ''"),
        ("hermes", ToolCall("f", {"a": nested(MAX_DEPTH)}), "the argument 'a' of 'f'"),
    ],
)
def test_what_a_format_cannot_say_is_refused_and_named(
    form: str, call: ToolCall, message: str
) -> None:
    with pytest.raises(UsageError, match=re.escape(f"format {form!r} cannot write {message}")):
        render([ToolCall("g", {}), call], form)


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize(
    ("called", "arguments", "message"),
    [
        ("f", None, "the arguments of 'f': they are NoneType, not a dict"),
        ("f", [1], "the arguments of 'f': they are list, not a dict"),
        ("f", "{}", "the arguments of 'f': they are str, not a dict"),
        ("f", {1: 2}, "the argument 1 of 'f': its name is int, not a text; write '1'"),
        ("f", {"a": 1, None: 2}, "the argument None of 'f': its name is NoneType"),
        (None, {}, "the name None: a tool's name is a text, not NoneType"),
        (b"f", {}, "the name b'f': a tool's name is a text, not bytes"),
        ("f\ud800", {"a": 1}, "the name 'f\\ud800': a lone surrogate is no character"),
    ],
)
def test_a_call_of_other_shapes_is_refused_and_named(
    called: Any, arguments: Any, message: str, name: str
) -> None:
    with pytest.raises(UsageError, match=re.escape(f"format {name!r} cannot write {message}")):
        render([ToolCall("g", {}), ToolCall(called, arguments)], name)


@pytest.mark.parametrize("name", FORMATS)
def test_a_value_of_any_depth_is_refused_and_named(name: str) -> None:
    """One that holds itself, too; what is as deep as can be read is written."""
    deep = nested(100_000)
    round_and_round: list[JsonValue] = []
    round_and_round += [round_and_round, round_and_round]
    for value in (deep, round_and_round, {"b": deep}):
        with pytest.raises(UsageError, match=f"format {name!r} cannot write the argument 'a'"):
            render([ToolCall("f", {"x": 1, "a": value})], name)
    assert render([ToolCall("f", {"a": nested(20)})], name)


def test_tuples_of_any_depth_are_refused() -> None:
    """They are no JSON; the encoder takes them for lists."""
    deep: JsonValue = ()
    for _ in range(100_000):
        deep = (deep,)
    with pytest.raises(UsageError, match="cannot be written as JSON"):
        render([ToolCall("f", {"a": deep})], "hermes")


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=settings().max_examples // 4)
@given(raw=st.binary(max_size=120))
def test_what_is_written_is_read_back_or_refused_by_its_argument(name: str, raw: bytes) -> None:
    """Values made of the format's own markup, of names, brackets and quotes."""
    form, tape = FORMATS[name], Tape(raw)
    pieces = (
        *literals(form),
        "a",
        "x y",
        "\n",
        '"',
        "{",
        "}",
        "[",
        "]",
        ",",
        "1",
        "null",
        "",
        "<",
        ">",
    )

    def text(tape: Tape) -> str:
        return "".join(tape.row(lambda tape: tape.pick(pieces), 5))

    keys = tape.row(lambda tape: tape.pick(("a", "b", "key", text(tape))), 3)
    calls = [ToolCall("f", {key: text(tape) for key in keys})]
    if tape.below(3) == 0:
        calls.append(ToolCall("g", {"a": [text(tape)]}))
    written = refused = ""
    try:
        written = render(calls, form)
    except UsageError as error:
        refused = str(error)
    if refused:
        assert re.search("the argument|the name|all arguments of|these 2 calls", refused)
        return
    texts = Tools(ToolSpec(call.name, parameters=_texts_of(call)) for call in calls)
    found = said(parse(written, form, texts))
    assert found == [(call.name, call.arguments) for call in calls]


def _texts_of(call: ToolCall) -> JsonObject:
    """A schema that says which values are texts."""
    kinds: JsonObject = {
        key: {"type": "string"} if isinstance(value, str) else {}
        for key, value in call.arguments.items()
    }
    return {"properties": kinds}


def test_calls_that_cannot_stand_together_are_refused() -> None:
    with pytest.raises(UsageError, match="cannot write these 1025 calls in one text"):
        render([ToolCall("f", {})] * 1025)


def test_a_text_that_looks_like_a_number_is_written_where_only_a_schema_tells() -> None:
    call = ToolCall("f", {"a": "5", "b": "null", "c": (1, 2), "d": "[1]"})
    assert "5" in render([call], "glm45")
    assert render([call], "hermes")


def test_a_conversion_asks_the_same() -> None:
    text = '<tool_call>{"name": "f", "arguments": {"a b": 1}}</tool_call>'
    found = convert_text(text, route_between("hermes", "qwen3-coder"))
    assert isinstance(found, Unconvertible)
    assert "in qwen3-coder, it would be read with" in found.reason


def test_the_order_of_arguments_is_no_difference() -> None:
    """What Python has no words for is written last."""
    made = ToolCall("f", {"a b": 1, "c": 2})
    text = render([made], "pythonic")
    assert said(parse(text, "pythonic")) == [("f", made.arguments)]


LISTS = (
    "apertus", "apriel", "cohere", "command-r", "granite3", "granite3.1", "hunyuan-a13b", "jamba",
    "lfm2-json", "mistral-array", "nemotron", "phi4-mini", "sarashina",
)  # fmt: skip


@pytest.mark.parametrize("name", LISTS)
def test_a_single_call_stands_in_a_list_where_other_parsers_want_one(name: str) -> None:
    text = render([ToolCall("f", {})], name)
    alone, lists = re.subn(r"\[(\s*\{.*\}\s*)\]", r"\1", text)
    assert lists == 1
    assert said(parse(alone, name, level="strict")) == [("f", {})]


def test_every_format_of_lists_is_known() -> None:
    """All others that read lists are read as single objects by their own templates, too."""
    shapes = {name: form.call for name, form in FORMATS.items() if form.call and not form.whole}
    listed = {name for name, call in shapes.items() if call.listed}
    assert listed == set(LISTS)
    arrays = {name for name, call in shapes.items() if call.array}
    assert arrays - listed == {"fence", "json", "loose-json", "tools-tag"}


@pytest.mark.parametrize("quote", ['"', "'"])
def test_muse_is_read_in_either_quotes(quote: str) -> None:
    body = "<atem:invoke name='f'>\n<atem:parameter name='title'>x</atem:parameter>\n</atem:invoke>"
    text = f"<atem:function_calls>\n{body}\n</atem:function_calls>".replace("'", quote)
    for level in ("strict", "standard"):
        result = parse(text, "muse", level=level)
        assert said(result) == [("f", {"title": "x"})]
        assert not result.content.strip()


def test_names_of_arguments_in_entities_are_read_in_pieces_too() -> None:
    arguments: JsonObject = {"a&b": 1, 'c"d': "x", "e&amp;f": 2}
    text = render([ToolCall("f", arguments)], "kimi-k3")
    assert said(read(text, "kimi-k3")) == [("f", arguments)]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "seed-oss",
            (
                "<seed:tool_call>\n<function=f>\n<parameter=a>x\ny</parameter>\n</function>\n"
                "</seed:tool_call>\n<seed:tool_call>\n<function=g>\n</function>\n</seed:tool_call>"
            ),
        ),
        (
            "cohere",
            (
                '<|START_ACTION|>[\n    {"tool_call_id": "0", "tool_name": "f", "parameters": '
                '{"a": "x\\ny"}},\n    {"tool_call_id": "1", "tool_name": "g", "parameters": {}}\n]'
                "<|END_ACTION|>"
            ),
        ),
        (
            "jamba",
            (
                '<tool_calls>[\n    {"name": "f", "arguments": {"a": "x\\ny"}},\n'
                '    {"name": "g", "arguments": {}}\n]</tool_calls>'
            ),
        ),
    ],
)
def test_models_whose_templates_no_package_has_are_written_as_theirs(name: str, text: str) -> None:
    calls = [ToolCall("f", {"a": "x\ny"}), ToolCall("g", {})]
    assert render(calls, name) == text
    assert said(parse(text, name, level="strict")) == [("f", {"a": "x\ny"}), ("g", {})]


def test_newlines_at_both_ends_of_a_value_are_kept() -> None:
    """Seed-OSS writes none around a value, and its reader removes a pair of them."""
    call = ToolCall("f", {"a": "\nx\n"})
    assert said(parse(render([call], "seed-oss"), "seed-oss")) == [("f", {"a": "\nx\n"})]
