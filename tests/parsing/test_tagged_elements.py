"""Arguments as nested elements: nothing is lost in the nest, and the schema says what a text is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.formats.reading import read as read_all_ways
from tests.parsing.samples import codes, said
from tests.parsing.test_law_growth import BOUND, assert_linear, growth
from tunaeval import parse, parser_for, render, stream
from tunaeval.errors import FormatError
from tunaeval.grammar import Elements, Literal, Name
from tunaeval.grammar.format import Format
from tunaeval.grammar.formats import MINIMAX_M3
from tunaeval.limits import MAX_DEPTH
from tunaeval.testing.strategies import json_values
from tunaeval.types.calls import JsonValue, ToolCall, Tools, ToolSpec

P = "]<]minimax[>["
PLAIN = Format(
    "plain",
    (Literal("<call "), Name(), Literal(">"), Elements("~", item="li"), Literal("~</call>")),
    models=("nobody's",),
    summary="elements with a short prefix",
)
_KEYS = st.from_regex(r"[a-z_][a-z_]{0,6}", fullmatch=True)
_WORDS = st.text("abc <>/~{}[]\n", max_size=8).filter(lambda text: "~<" not in text)


def call(body: str) -> str:
    """A call of `f` with these elements; `~` stands for the prefix."""
    return f'~<tool_call>\n~<invoke name="f">{body}~</invoke>\n~</tool_call>'.replace("~", P)


def tools(**properties: JsonValue) -> Tools:
    return Tools([ToolSpec("f", "", {"type": "object", "properties": properties})])


def arguments(body: str, **properties: JsonValue) -> JsonValue:
    known = tools(**properties) if properties else None
    ((_, value),) = said(parse(call(body), MINIMAX_M3, tools=known))
    return value


def schema_of(value: JsonValue) -> JsonValue:
    """A schema that says of everything in a value what it is."""
    match value:
        case dict():
            properties = {key: schema_of(inner) for key, inner in value.items()}
            return {"type": "object", "properties": properties}
        case list():
            return {"type": "array", "items": schema_of(value[0]) if value else {}}
    names = {str: "string", bool: "boolean", int: "integer", float: "number"}
    return {"type": names.get(type(value), "null")}


@st.composite
def nests(draw: st.DrawFn, depth: int = 3) -> JsonValue:
    """Values whose lists hold one kind of thing, as a schema can say it."""
    kind = draw(st.sampled_from(["text", "number", "list", "object"] if depth else ["text"]))
    match kind:
        case "text":
            return draw(_WORDS)
        case "number":
            return draw(st.integers() | st.booleans() | st.none())
        case "list":
            return draw(st.lists(_WORDS, max_size=3))
    return draw(st.dictionaries(_KEYS, nests(depth - 1), max_size=3))


@given(made=st.dictionaries(_KEYS, nests(), max_size=3))
def test_what_is_written_is_read_back_at_any_depth(made: dict[str, JsonValue]) -> None:
    text = render([ToolCall("f", made)], PLAIN)
    schema = {key: schema_of(value) for key, value in made.items()}
    result = parse(text, PLAIN, tools=tools(**schema))
    assert said(result) == [("f", made)]
    assert not result.calls[0].repairs


@given(made=st.dictionaries(_KEYS, json_values(6), max_size=3), size=st.integers(1, 9))
def test_any_values_are_read_the_same_in_any_pieces(made: dict[str, JsonValue], size: int) -> None:
    text = render([ToolCall("f", made)], MINIMAX_M3)
    reading = stream(MINIMAX_M3)
    for start in range(0, len(text), size):
        reading.feed(text[start : start + size])
    assert reading.finish() == parse(text, MINIMAX_M3)


@pytest.mark.parametrize(
    ("body", "value"),
    [
        ("~<a>1~</a>", {"a": 1}),
        ("~<a>1 2~</a>", {"a": "1 2"}),
        ("~<a>~</a>", {"a": ""}),
        ("~<a>~<item>1~</item>~<item>x~</item>~</a>", {"a": [1, "x"]}),
        ("\n~<a>\n~<b>true~</b>\n~<c>null~</c>\n~</a>\n", {"a": {"b": True, "c": None}}),
        ('~<a>{"b": [1]}~</a>', {"a": {"b": [1]}}),
        ("~<a>if x ~ y < z ~</a>", {"a": f"if x {P} y < z "}),
        ("~<a></b><c>~</a>", {"a": "</b><c>"}),
        ("", {}),
    ],
)
def test_without_a_schema_a_text_is_what_it_looks_like(body: str, value: JsonValue) -> None:
    assert arguments(body) == value


@pytest.mark.parametrize(
    ("body", "schema", "value"),
    [
        ("~<a>1~</a>", {"type": "string"}, "1"),
        ("~<a>~</a>", {"type": "array"}, []),
        ("~<a>~</a>", {"type": "object"}, {}),
        ("~<a>~<b>2~</b>~</a>", {"properties": {"b": {"type": "string"}}}, {"b": "2"}),
        ("~<a>~<x>2~</x>~<x>3~</x>~</a>", {"type": "array", "items": {"type": "integer"}}, [2, 3]),
        ("~<a>~<item>2~</item>~</a>", {"type": "object"}, {"item": 2}),
        ("~<a>~<item>2~</item>~</a>", {"type": "array", "items": {"type": "string"}}, ["2"]),
        (
            "~<a>~<k>7~</k>~</a>",
            {"type": "object", "additionalProperties": {"type": "string"}},
            {"k": "7"},
        ),
        (
            "~<a>~<k>7~</k>~</a>",
            {
                "anyOf": [
                    {"type": "null"},
                    {"type": "object", "properties": {"k": {"type": "string"}}},
                ]
            },
            {"k": "7"},
        ),
    ],
)
def test_a_schema_says_what_a_text_is(body: str, schema: JsonValue, value: JsonValue) -> None:
    assert arguments(body, a=schema) == {"a": value}


_LIST_OR_OBJECT: JsonValue = {"type": ["array", "object"]}


@pytest.mark.parametrize(
    ("body", "schema", "value"),
    [
        ("~<item>alpha~</item>~<item>beta~</item>", _LIST_OR_OBJECT, ["alpha", "beta"]),
        ("~<item>alpha~</item>", _LIST_OR_OBJECT, ["alpha"]),
        ("~<tag>alpha~</tag>~<tag>beta~</tag>", _LIST_OR_OBJECT, ["alpha", "beta"]),
        ("~<tag>alpha~</tag>", _LIST_OR_OBJECT, {"tag": "alpha"}),
        ("~<k>1~</k>~<k>2~</k>~<j>3~</j>", _LIST_OR_OBJECT, {"k": [1, 2], "j": 3}),
        ("~<k>1~</k>~<j>3~</j>~<k>2~</k>", {}, {"k": [1, 2], "j": 3}),
        ("~<k>1~</k>~<k>2~</k>", {}, {"k": [1, 2]}),
    ],
)
def test_siblings_of_one_name_are_a_list(body: str, schema: JsonValue, value: JsonValue) -> None:
    result = parse(call(f"~<a>{body}~</a>"), MINIMAX_M3, tools=tools(a=schema))
    assert said(result) == [("f", {"a": value})]
    assert not result.diagnoses


def test_siblings_are_a_list_in_an_object_of_any_members() -> None:
    body = "~<a>~<item>1~</item>~<item>2~</item>~</a>"
    result = parse(call(body), MINIMAX_M3, tools=tools(a={"type": "object"}))
    assert said(result) == [("f", {"a": {"item": [1, 2]}})]
    assert not result.diagnoses


def test_where_no_list_is_admitted_the_last_sibling_counts() -> None:
    body = "~<a>~<item>1~</item>~<item>2~</item>~</a>"
    number = {"type": "object", "properties": {"item": {"type": "integer"}}}
    result = parse(call(body), MINIMAX_M3, tools=tools(a=number))
    assert said(result) == [("f", {"a": {"item": 2}})]
    assert codes(result) == ["duplicate-key"]


def test_siblings_are_a_list_at_any_depth() -> None:
    body = "~<k>0~</k>~<j>0~</j>~<k>" * (MAX_DEPTH - 3) + "1" + "~</k>" * (MAX_DEPTH - 3)
    assert parse(call(f"~<a>{body}~</a>"), MINIMAX_M3, level="lenient").outcome == "calls"


def test_a_closing_tag_without_its_prefix_is_mended_and_named() -> None:
    result = parse(call("~<a>x</a>~<b>y~</b>"), MINIMAX_M3)
    assert said(result) == [("f", {"a": "x", "b": "y"})]
    assert [repair.code for repair in result.calls[0].repairs] == ["unclosed"]
    assert not parse(call("~<a>x</a>~<b>y~</b>"), MINIMAX_M3, level="strict").calls


def test_an_argument_that_stands_twice_is_a_list() -> None:
    result = parse(call("~<a>1~</a>~<a>2~</a>"), MINIMAX_M3)
    assert said(result) == [("f", {"a": [1, 2]})]
    listed = tools(a={"type": "array", "items": {"type": "string"}})
    result = parse(call("~<a>x~</a>~<a>y~</a>"), MINIMAX_M3, tools=listed)
    assert said(result) == [("f", {"a": ["x", "y"]})]
    assert not result.diagnoses


def test_a_key_that_stands_twice_is_told() -> None:
    result = parse(call("~<a>1~</a>~<a>2~</a>"), MINIMAX_M3, tools=tools(a={"type": "integer"}))
    assert said(result) == [("f", {"a": 2})]
    assert codes(result) == ["duplicate-key"]


@pytest.mark.parametrize(
    "body",
    [
        "</>~<a>x~</a>",
        "~<a>x~</b>",
        "~<a>x~<b>y~</b>~</a>",
        "words ~<a>x~</a>",
        "~<a>x",
        "~<a>~<b>x~</a>",
    ],
)
def test_elements_that_do_not_nest_are_refused(body: str) -> None:
    result = parse(call(body), MINIMAX_M3, level="lenient")
    assert not result.calls
    assert codes(result) == ["invalid-arguments"]


def test_a_nest_is_read_up_to_the_depth_of_all_values_and_no_deeper() -> None:
    def nest(depth: int) -> str:
        return call("~<a>" * depth + "1" + "~</a>" * depth)

    assert parse(nest(MAX_DEPTH - 1), MINIMAX_M3).calls
    result = parse(nest(MAX_DEPTH), MINIMAX_M3)
    assert (result.outcome, codes(result)[0]) == ("malformed", "too-deep")


@given(at=st.integers(0, 400))
def test_a_cut_nest_is_flagged(at: int) -> None:
    text = call("~<a>~<item>one~</item>~</a>~<b>two~</b>").partition("~</invoke>")[0]
    end = text.rindex(f"{P}</b>") + len(P)
    cut = text[: min(at, end)]
    result = parse(cut, MINIMAX_M3, level="lenient")
    assert not result.calls
    assert result.truncated or len(cut) <= len(f"{P}<tool_call>\n{P}")


def test_elements_without_an_end_are_refused() -> None:
    behind = (Literal("</call>"), Literal("~</call>"))
    words = (Literal("<call "), Name(), Literal(">"), Elements("~"), *behind)
    with pytest.raises(FormatError, match="is read as text beside the arguments"):
        parser_for(Format("f", words))


FLOODS = (
    "~", "~<a>", "~<a>~</a>", "~<item>1~</item>", "~</a>", "~<", "~<a>x</a>", "~<" + "a" * 99,
    "~<a>1~</a> \n", "~x", "~<a>x~y~</a>", "~<a></a>", "~<a>~<b>1~</b>~</a>",
)  # fmt: skip


def test_floods_of_elements_take_linear_time() -> None:
    def whole(text: str) -> object:
        return parse(text, MINIMAX_M3)

    def streamed(text: str) -> object:
        reading = stream(MINIMAX_M3)
        for start in range(0, len(text), 4):
            reading.feed(text[start : start + 4])
        return reading.finish()

    for read, size in ((whole, 8192), (streamed, 4096)):
        for flood in FLOODS:
            for prefix in ("", f'{P}<invoke name="f">', f'{P}<invoke name="f">{P}<a>'):
                made = flood.replace("~", P)
                if growth(read, prefix, made, size, runs=1) > BOUND:
                    assert_linear(read, prefix, made, 4 * size)


@pytest.mark.parametrize(
    ("before", "flood"), [("", "~<a>1~</a>"), ("~<a>", "~<item>x~</item>\n")], ids=["many", "one"]
)
def test_many_thousand_siblings_take_linear_time(before: str, flood: str) -> None:
    """What all siblings before one cost at each of them shows only where they are many."""
    ends = "~</a>" * bool(before) + "~</call>"

    def whole(text: str) -> object:
        return parse(text + ends, PLAIN)

    def streamed(text: str) -> object:
        reading = stream(PLAIN)
        for start in range(0, len(text), 64):
            reading.feed(text[start : start + 64])
        reading.feed(ends)
        return reading.finish()

    for read, size in ((whole, 100_000), (streamed, 50_000)):
        assert_linear(read, f"<call f>{before}", flood, size)


def test_references_are_followed_into_elements() -> None:
    point = {
        "type": "object",
        "properties": {"x": {"type": "string"}, "next": {"$ref": "#/$defs/P"}},
    }
    rows = {"type": "array", "items": {"$ref": "#/$defs/P"}}
    schema = {
        "type": "object",
        "properties": {"at": {"$ref": "#/$defs/P"}, "all": {"$ref": "#/$defs/R"}},
    }
    known = Tools([ToolSpec("f", "", {**schema, "$defs": {"P": point, "R": rows}})])
    body = "~<at>~<x>1~</x>~<next>~<x>2~</x>~</next>~</at>~<all>~<row>~<x>3~</x>~</row>~</all>"
    (found,) = parse(call(body), MINIMAX_M3, tools=known).calls
    assert found.arguments == {"at": {"x": "1", "next": {"x": "2"}}, "all": [{"x": "3"}]}
    assert not found.repairs


@pytest.mark.parametrize("key", ["/a", "/item", "a b", ""])
def test_a_key_that_is_no_tag_is_written_inside_of_json(key: str) -> None:
    call = ToolCall("f", {"a": ["x", {key: ""}]})
    text = render([call], MINIMAX_M3)
    assert said(parse(text, MINIMAX_M3)) == [("f", call.arguments)]


# --- elements that are named after tools -------------------------------------------------------


_TEXTS = st.text("ab<>/cdf \n", max_size=12).filter(lambda text: "</" not in text)


@given(content=_TEXTS, number=st.integers(), before=st.sampled_from(["", "I write.\n\n"]))
def test_an_element_named_after_a_tool_is_a_call_of_it(
    content: str, number: int, before: str
) -> None:
    """Every tag in a string is part of it; whole and in pieces."""
    known = tools(c={"type": "string"}, d={"type": "integer"})
    text = f"{before}<f>\n<c>\n{content}\n</c>\n<d>{number}</d>\n</f>"
    for name in ("auto", "tool-elements"):
        result = read_all_ways(text, name, known)
        assert said(result) == [("f", {"c": content, "d": number})]
        assert (result.content, codes(result)) == (before, [])


@pytest.mark.parametrize(
    "text",
    [
        "<f>\n<other>1</other>\n</f>",
        "<f>some words</f>",
        "The tag <f> begins it.",
        "`<f><c>x</c></f>`",
        "<f><d>1</c></f>",
    ],
)
def test_what_holds_no_declared_argument_is_no_call(text: str) -> None:
    result = read_all_ways(text, tools=tools(c={"type": "string"}, d={"type": "integer"}))
    assert not result.calls
    assert result.diagnoses
    assert result.content == text
    assert not read_all_ways(text).diagnoses or "`" in text


def test_a_tool_that_is_called_as_a_marker_is_does_not_hide_it() -> None:
    known = Tools([ToolSpec("tool_call"), ToolSpec("think"), ToolSpec("f")])
    text = '<think>a</think><tool_call>{"name": "f", "arguments": {}}</tool_call>'
    assert said(read_all_ways(text, tools=known)) == [("f", {})]


@pytest.mark.parametrize("piece", ["<f>", "<f><c>", "<f><c>x</c>", "<f><c>x</c", "<f>\n<", "</f>"])
def test_elements_of_a_tool_take_time_in_proportion(piece: str) -> None:
    known = tools(c={"type": "string"})

    def streamed(text: str) -> object:
        reader = stream(tools=known)
        for start in range(0, len(text), 64):
            reader.feed(text[start : start + 64])
        return reader.finish()

    assert_linear(lambda text: parse(text, tools=known), "", piece, 8 * 1024)
    assert_linear(streamed, "", piece, 8 * 1024)


@given(
    pieces=st.lists(
        st.sampled_from(["<a>", "</a>", "<b>", "</b>", "\n", "x", "Sure. ", "["]), max_size=12
    ),
    size=st.integers(1, 9),
)
def test_a_tool_with_an_argument_of_its_own_name_is_read_alike_in_any_pieces(
    pieces: list[str], size: int
) -> None:
    own = Tools([ToolSpec("a", "", {"properties": {"a": {"type": "string"}, "b": {}}})])
    text = "<a>\n<a>" + "".join(pieces)
    reading = stream(format="tool-elements", tools=own)
    for start in range(0, len(text), size):
        reading.feed(text[start : start + size])
    assert reading.finish() == parse(text, format="tool-elements", tools=own)
