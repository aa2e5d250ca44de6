"""Calls as Python writes them: read as Python itself would read them, or refused."""

from __future__ import annotations

import ast
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.formats.reading import read
from tests.parsing.samples import codes, said
from tests.parsing.test_law_growth import check_floods
from tunaeval import ToolCall, parse, render
from tunaeval.errors import FormatError
from tunaeval.grammar import Literal, PythonCalls, Space, Word
from tunaeval.grammar.format import Format
from tunaeval.grammar.formats import LFM2_PYTHONIC, LLAMA4_PYTHONIC, OLMO3, PYTHONIC
from tunaeval.parsing.reader import Reader, reader_of
from tunaeval.parsing.sets import lfm2
from tunaeval.parsing.write import render_calls
from tunaeval.testing.strategies import calls, chunkings
from tunaeval.testing.streams import stream_of
from tunaeval.types.calls import JsonValue, Tools, ToolSpec
from tunaeval.types.parsing import LEVELS, Level

FORMS = (PYTHONIC, LLAMA4_PYTHONIC, OLMO3, LFM2_PYTHONIC)
READERS = (*map(reader_of, FORMS), lfm2)
OPENERS = ("", "[f(", "[f(a=", "<function_calls>\nf(", "<|tool_call_start|>[f(a=", "[f(a='")

TOOLS = Tools(
    [
        ToolSpec(
            "get_weather",
            parameters={
                "type": "object",
                "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
            },
        ),
        ToolSpec("add"),
    ]
)

PIECES = (
    "'", '"', "'''", "\\", "\\n", "\\x41", "\\'", "\\101", "\\d", "\\u00e9", "\\N{BULLET}", ",",
    ":", "1", "-", "+", "1e5", "0x1f", "1_000", ".5", "1.", "True", "None", "null", "x", "r'",
    "u'", "f'", "b'", "**{", "{", "}", "(", ")", "[", "]", " ", "\n", "it", "'v'", '"v"', "b=",
    "'k': ", "(1,)", "(2)", "()", "01", "1j", "...", "[f(a=1)]", "f(b=2)", "<|tool_call_end|>", "`",
    "<|python_end|>", "</function_calls>", "for x in y", "](", "=", "\t", "é", "\ud800", "\x00",
)  # fmt: skip


def hostile(most: int = 12) -> st.SearchStrategy[str]:
    """Texts made of what Python calls are made of."""
    body = st.lists(st.sampled_from(PIECES), max_size=most).map("".join)
    ends = st.sampled_from(["", ")]", "')]", ")]<|tool_call_end|>", ")\n</function_calls>"])
    return st.tuples(st.sampled_from(OPENERS), body, ends).map("".join)


def plain(value: object) -> JsonValue:
    """A value of Python as JSON has it."""
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {key: plain(item) for key, item in value.items()}
    if value is None or type(value) in (bool, int, float, str):
        return value
    raise ValueError(f"{value!r} is nothing that JSON has")


def as_python_reads(text: str) -> dict[str, JsonValue]:
    """The arguments of the one call in a list, as Python's own parser sees them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        row = ast.parse(text, mode="eval").body
    assert isinstance(row, ast.List)
    (call,) = row.elts
    assert isinstance(call, ast.Call)
    assert not call.args
    found: dict[str, JsonValue] = {}
    for keyword in call.keywords:
        value = plain(ast.literal_eval(keyword.value))
        found |= {keyword.arg: value} if keyword.arg else value
    return found


@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=9).map("".join))
def test_what_python_reads_is_read_alike_or_refused(body: str) -> None:
    text = f"[f(a={body})]"
    result = parse(text, "pythonic")
    try:
        wanted = as_python_reads(text)
    except (SyntaxError, ValueError, AssertionError, TypeError):
        return
    assert said(result) in ([], [("f", wanted)])


LITERALS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text() | st.text("'\"\\nx \n\t\x00é🙂{[(,)]}"),
    lambda inner: st.lists(inner, max_size=3) | st.lists(inner, max_size=3).map(tuple)
    | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip
"""Values that Python writes as literals."""


@given(value=LITERALS, form=st.sampled_from(FORMS))
def test_every_literal_is_read_without_a_mend(value: object, form: Format) -> None:
    opener = form.opener.text if form.opener else ""
    closer = form.closer.text if form.closer else ""
    result = parse(f"{opener}[f(a={value!r})]{closer}", form, level="strict")
    assert said(result) == [("f", {"a": plain(value)})]
    assert not result.diagnoses or codes(result) == ["nul"]


@given(made=calls(), form=st.sampled_from(FORMS))
def test_what_is_written_needs_no_mend(made: list[ToolCall], form: Format) -> None:
    result = parse(render(made, form), form, level="strict")
    assert said(result) == [(call.name, call.arguments) for call in made]


@given(data=st.data(), text=hostile(), level=st.sampled_from(LEVELS))
@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)
def test_chunks_do_not_matter(reader: Reader, data: st.DataObject, text: str, level: Level) -> None:
    for tools in (None, Tools([ToolSpec("f")])):
        stream = reader.stream(tools=tools, level=level)
        found = stream_of(stream, data.draw(chunkings(text)))[0]
        assert found == reader.parse(text, tools=tools, level=level)


@given(text=hostile(), reader=st.sampled_from(READERS))
def test_levels_are_monotone(text: str, reader: Reader) -> None:
    strict, standard, lenient = (reader.parse(text, level=level) for level in LEVELS)
    assert strict.diagnoses or strict == standard
    assert standard.diagnoses or standard == lenient


def test_a_value_in_parentheses_is_no_tuple() -> None:
    result = parse("[f(a=(2), b=(2,), c=((1, 2)), d=())]", "pythonic", level="strict")
    assert said(result) == [("f", {"a": 2, "b": [2], "c": [1, 2], "d": []})]


# --- what is no call -------------------------------------------------------------------------

NO_CALLS = (
    "[see note (a)]", "[text](url)", "[f(a=1)](url)", "[f(x) for x in y]", "[f(a=1) for x in y]",
    "foo(a=1)", "use foo(a=1), then bar(b=2).", "x = [Foo(a=1), Foo(a=2)]", "d[get(key='a')]",
    "f([g(a=1)])", "[len('abc')]", "[int('3'), 4]", "[1, 2]", "[a, b]", "[]", "[f(a=1), 2]",
    "[f]", "[f(a=1) and g(b=2)]", "- [ ] f(a=1)", "[^1]: f(a=1)", "[f(a=1).x]",
)  # fmt: skip


@pytest.mark.parametrize("text", NO_CALLS)
@pytest.mark.parametrize("level", LEVELS)
def test_prose_and_programs_are_no_calls(text: str, level: Level) -> None:
    for tools in (None, TOOLS):
        result = parse(text, "pythonic", tools=tools, level=level)
        assert result.outcome == "no_call"
        assert result.content == text


def test_a_list_of_others_functions_is_no_call() -> None:
    result = parse("[Item(name='a'), add(a=1)]", "pythonic", tools=TOOLS)
    assert said(result) == [("add", {"a": 1})]
    assert codes(result) == ["unknown-tool"]


def test_nothing_is_evaluated() -> None:
    for value in (
        "x + 1", "g()", "f'{x}'", "b'x'", "x.y", "[i for i in x]", "not x", "lambda: 1", "1 + 1",
        "__import__('os')", "{x + 1, 2}", "{i for i in x}", "1j", "nan", "*x", "-x",
        "+(1)",
    ):  # fmt: skip
        result = parse(f"[f(a={value}), g(b=2)]", "pythonic", level="lenient")
        assert said(result)[-1:] in ([], [("g", {"b": 2})]), value
        assert "f" not in [call.name for call in result.calls], value
        assert codes(result), value


def test_a_text_that_never_ends_takes_no_other_block_with_it() -> None:
    text = "<|tool_call_start|>[f(a='x)]<|tool_call_end|> <|tool_call_start|>[g(b='y')]"
    for level in LEVELS[1:]:
        result = parse(text + "<|tool_call_end|>", LFM2_PYTHONIC, level=level)
        assert said(result) == [("g", {"b": "y"})]
        assert codes(result) == ["invalid-json"]


# --- arguments without a name ----------------------------------------------------------------


def test_arguments_are_named_by_their_place_only_when_lenient() -> None:
    text = "[get_weather('Oslo', 2), add(a=1)]"
    result = parse(text, "pythonic", tools=TOOLS, level="lenient")
    assert said(result) == [("get_weather", {"city": "Oslo", "days": 2}), ("add", {"a": 1})]
    assert [repair.code for repair in result.calls[0].repairs] == ["positional-arguments"] * 2
    for tools in (None, TOOLS):
        refused = parse(text, "pythonic", tools=tools)
        assert said(refused) == [("add", {"a": 1})]
        assert codes(refused) == ["positional-arguments"]


def test_more_places_than_the_schema_has_are_refused() -> None:
    for text in ("[get_weather('Oslo', 2, 3)]", "[get_weather(city='Oslo', 2)]", "[add(1)]"):
        result = parse(text, "pythonic", tools=TOOLS, level="lenient")
        assert codes(result) == ["positional-arguments"]
        assert result.outcome == "malformed"


# --- cuts, floods and caps -------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_every_cut_inside_a_call_is_told(form: Format) -> None:
    text = render([ToolCall("get_weather", {"city": "Os\\lo", "days": 23, "all": [True]})], form)
    start, end = text.index("city"), text.index(")")
    for cut in range(start, end + 1):
        for tools in (None, TOOLS):
            standard = parse(text[:cut], form, tools=tools)
            if cut > start + len("city"):
                assert standard.outcome == "truncated", text[:cut]
            lenient = parse(text[:cut], form, tools=tools, level="lenient")
            assert lenient.truncated or not lenient.calls
            for call in lenient.calls:
                assert "truncated" in [repair.code for repair in call.repairs]


FLOODS = (
    ")A(A=, ", "[", "[f(", "f(", "[f(a=", "'", "''", "\\", "\\'", "[f(a=1), ", "f(a=1), ", "a",
    "1", "1e", "{'a':", "(", "**{", " ", "=", ",", "]", "[f(x+", "[f(a='", "it's ", "\\N{", "r'",
    "a=1 ", "[f(a=b.c)", "f(a=b.c) ", "[a.",
)  # fmt: skip


@pytest.mark.parametrize(
    ("reader", "prefix"),
    [
        (reader_of(PYTHONIC), "[A(A="),
        (reader_of(PYTHONIC), ""),
        (reader_of(LFM2_PYTHONIC), "<|tool_call_start|>[f(a=b.c "),
        (reader_of(OLMO3), "<function_calls>\nf(a='"),
    ],
    ids=["in a list", "bare", "marked", "in a text"],
)
@pytest.mark.parametrize("every", [3, pytest.param(1, marks=pytest.mark.slow)])
def test_twice_the_text_takes_about_twice_the_time(reader: Reader, prefix: str, every: int) -> None:
    """Without `-m slow` it is every third flood, and another third behind each prefix."""
    check_floods(reader, prefix, FLOODS[len(prefix) % every :: every])


@pytest.mark.parametrize(
    "escape",
    ["\\x41", "\\101", "\\u00e9", "\\U0001F600", "\\N{BULLET}", "\\N{LATIN SMALL LETTER A}"],
)
def test_a_character_by_its_number_or_name_is_the_one_that_python_reads(escape: str) -> None:
    text = f"[f(a='<{escape}>1')]"
    result = read(text, "pythonic")
    assert result.calls[0].arguments == as_python_reads(text)
    assert not result.calls[0].repairs


@pytest.mark.parametrize("escape", ["\\", "\\x4", "\\u00", "\\U0001F6", "\\N{", "\\N{BUL"])
def test_an_escape_that_was_cut_is_left_out(escape: str) -> None:
    result = read(f"[f(a='<{escape}", "pythonic", level="lenient")
    assert result.truncated
    assert result.calls[0].arguments == {"a": "<"}


@pytest.mark.parametrize("bracket", ["[", "(", "{'k': "])
def test_depth_is_capped(bracket: str) -> None:
    closer = {"[": "]", "(": ",)", "{": "}"}[bracket[0]]
    for depth, outcome in ((127, "calls"), (128, "malformed"), (100_000, "malformed")):
        text = f"[f(a={bracket * depth}1{closer * depth})]"
        result = parse(text, "pythonic")
        assert result.outcome == outcome
        assert codes(result) == ([] if outcome == "calls" else ["too-deep"])


def test_digits_are_capped() -> None:
    assert parse(f"[f(a={'1' * 4300})]", "pythonic").outcome == "calls"
    for digits in ("1" * 4301, "1" * 20_000):
        text = f"[f(a={digits})]"
        assert codes(parse(text, "pythonic")) == ["too-many-digits"]
        stream = reader_of(PYTHONIC).stream()
        found = stream_of(stream, [text[at : at + 7] for at in range(0, len(text), 7)])[0]
        assert found == parse(text, "pythonic")


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_calls_are_capped(form: Format) -> None:
    call = ToolCall("f", {"a": 1})
    assert not parse(render([call] * 1024, form), form).diagnoses
    result = parse(render_calls([call] * 1025, form), form)
    assert len(result.calls) == 1024
    assert codes(result) == ["too-many-calls"]


# --- grammars --------------------------------------------------------------------------------

BARE = PythonCalls(opens=(("[", "f("),))


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ((PythonCalls(),), "it begins with ⟨calls⟩, which needs `opens` to be found"),
        ((BARE, Literal("</c>")), "follows ⟨calls⟩, where nothing may be"),
        ((PythonCalls(opens=(("f(",),)),), "nothing announces a call without fixed text before it"),
        (
            (Literal("<c>"), Literal("x"), PythonCalls(), Literal("</c>")),
            "⟨calls⟩ follows 'x', where",
        ),
        ((Literal("<c>"), BARE, Literal("</c>")), "`opens` is for a call without"),
    ],
)
def test_a_grammar_that_cannot_work_is_refused(words: tuple[Word, ...], reason: str) -> None:
    with pytest.raises(FormatError) as error:
        Format("f", words)
    assert reason in str(error.value)


def test_a_third_partys_format_needs_one_word() -> None:
    words = (Literal("<c>"), Space("\n"), PythonCalls(), Space("\n"), Literal("</c>"))
    form = Format("mine", words)
    assert render([ToolCall("f", {"a": 1})], form) == "<c>\n[f(a=1)]\n</c>"
    assert said(parse("<c>f(a=1)</c>", form)) == [("f", {"a": 1})]
