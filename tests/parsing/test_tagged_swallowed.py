"""A value that swallowed its format's own markup, whole or miswritten, is never silent.

And what is no markup of the format, or has both of its tags, is a value like others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.formats.reading import read, takes
from tests.parsing.samples import codes, said
from tests.parsing.test_law_growth import STREAMED, WHOLE, assert_linear
from tunaeval import parse, render, stream
from tunaeval.errors import UsageError
from tunaeval.grammar import Elements, Literal, Many
from tunaeval.grammar.format import Format
from tunaeval.grammar.formats import FORMATS
from tunaeval.testing.strategies import tools_for
from tunaeval.types.calls import ToolCall, Tools, ToolSpec
from tunaeval.types.parsing import LEVELS, ParseResult

TOOLS = Tools([ToolSpec("book", parameters=takes(city="string", guests="string"))])
MEANT = {"city": "Rome", "guests": "two"}
TAGGED = sorted(
    name
    for name, form in FORMATS.items()
    if any(isinstance(w, Many | Elements) or getattr(w, "mark", "") for w in form.words)
)
_WORD = re.compile(r"(?<![a-z])(?!guests)[a-z_]{3,}", re.IGNORECASE)


def _seam(name: str) -> tuple[str, str, str]:
    """A call up to its first value, what is between the two, and the rest."""
    text = render([ToolCall("book", MEANT)], name)
    start, end = text.index("Rome") + 4, text.index("two")
    return text[:start], text[start:end], text[end:]


def _miswritten(seam: str) -> Iterator[str]:
    """What is between two values as models write it by mistake, all of it alike."""
    yield _WORD.sub(lambda word: word[0].upper(), seam)
    yield _WORD.sub(lambda word: word[0].title(), seam)
    for word in ("parameter", "param "):
        if seam.count(word.rstrip()) > 1:
            yield re.sub(rf"(?<={word[:4]})\\w*>\\s*<.*?(?={word[2:]})", "", seam, flags=re.DOTALL)
    yield seam.replace("｜", "|")
    yield seam.replace("parameter", "param")
    yield re.sub(r"(?<=[\w<])[｜|](?=\w)", "", seam)
    for prefix in (r"｜\w+｜ ?", "(?:atem|steptml):", r"ifm\|", "longcat_", ":opensource"):
        yield re.sub(prefix, "", seam)
    for word in sorted({found[0] for found in _WORD.finditer(seam)}):
        for at in range(len(word)):
            yield seam.replace(word, word[:at] + word[at + 1 :])
            yield seam.replace(word, word[:at] + word[at] + word[at:])
            yield seam.replace(word, word[:at] + word[at + 1 :], 1)
    for tag in [*re.finditer("<", seam)][1:]:
        yield seam[: tag.start()]
        yield seam[tag.start() :]


def _silent(result: ParseResult) -> bool:
    """Whether a value is another text than was meant, and no diagnosis says so."""
    values = {str(value).strip() for call in result.calls for value in call.arguments.values()}
    return bool(values - {*MEANT.values()}) and "swallowed-markup" not in codes(result)


@pytest.mark.parametrize("name", TAGGED)
def test_no_miswritten_tag_in_a_value_is_silent(name: str) -> None:
    before, seam, behind = _seam(name)
    for hurt in dict.fromkeys(_miswritten(seam)):
        for tools in (TOOLS,) if FORMATS[name].by_tool else (TOOLS, None):
            result = parse(before + hurt + behind, name, tools)
            assert not _silent(result), hurt
            assert result.outcome in ("calls", "malformed", "truncated"), hurt


@given(data=st.data())
def test_whole_and_stream_say_the_same_of_it(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(TAGGED))
    before, seam, behind = _seam(name)
    hurt = data.draw(st.sampled_from([*_miswritten(seam)]))
    read(before + hurt + behind, name, TOOLS, data.draw(st.sampled_from(LEVELS)))


_QWEN = "<tool_call>\n<function=book>\n<parameter=city>\n{}\n</function>\n</tool_call>"
_CPM = '<function name="book"><param name="city">{}</param></function>'
_DSML = (
    '<｜DSML｜invoke name="book">\n<｜DSML｜parameter name="city" string="true">{}'
    "</｜DSML｜parameter>\n</｜DSML｜invoke>"
)
_GCML = _DSML.replace("DSML", "GCML")
_M3 = "]<]minimax[>["
_ELEMENT = f'{_M3}<invoke name="book">{_M3}<guests>{{}}{_M3}</guests>{_M3}</invoke>'

SWALLOWED = {
    "capitals": (
        "qwen3-coder",
        _QWEN.format("Rome\n</PARAMETER>\n<PARAMETER=guests>\ntwo\n</parameter>"),
    ),
    "an opener without its key": ("qwen3-coder", _QWEN.format("Rome\n<parameter>\n</parameter>")),
    "the same where nothing is closed": ("qwen3-coder", _QWEN.format("Rome\n<parameter>")),
    "a closer in capitals at the end": ("qwen3-coder", _QWEN.format("Rome\n</PARAMETER>")),
    "signs of another width": (
        "gigachat3.5",
        _GCML.format('Rome</|GCML|parameter>\n<|GCML|parameter name="guests" string="true">two'),
    ),
    "no prefix": (
        "deepseek-v3.2",
        _DSML.format('Rome</parameter>\n<parameter name="guests" string="true">two'),
    ),
    "shortened": (
        "minimax-m2",
        ('<invoke name="book">\n<parameter name="city">Rome</param>\n'
         '<param name="guests">two</parameter>\n</invoke>'),
    ),
    "a closer that goes on as an opener": (
        "qwen3-coder",
        _QWEN.format("Rome\n</paramrameter=guests>\ntwo\n</parameter>"),
    ),
    "the same with a prefix": (
        "deepseek-v3.2",
        _DSML.format('Rome</｜DSML｜par｜DSML｜parameter name="guests" string="true">two'),
    ),
    "quotes that the value ends in": ("minicpm5", _CPM.format("<![CDATA[a")),
    "a prefix of elements": ("minimax-m3", _ELEMENT.format("]<]minmax[>[<x>1]<]minmax[>[</x>")),
    "marks around texts": (
        "functiongemma",
        ("<start_function_call>call:book{city:<escape>Rome<escpe>,guests:<escpe>two<escape>}"
         "<end_function_call>"),
    ),
    "short marks around texts": (
        "gemma4", '<|tool_call>call:book{city:<|"|>Rome<"|>,guests:<"|>two<|"|>}<tool_call|>',
    ),
}  # fmt: skip


@pytest.mark.parametrize(("name", "text"), SWALLOWED.values(), ids=SWALLOWED)
@pytest.mark.parametrize("tools", [TOOLS, None], ids=["tools", "no tools"])
def test_swallowed_markup_has_a_diagnosis(name: str, text: str, tools: Tools | None) -> None:
    for level in LEVELS[1:]:
        assert codes(read(text, name, tools, level)) == ["swallowed-markup"]


def test_members_that_a_schema_declares_are_known_without_their_prefix() -> None:
    guests = {"type": ["object", "string"], "properties": {"adults": {"type": "integer"}}}
    schema = {"type": "object", "properties": {"guests": guests}}
    tools = Tools([ToolSpec("book", parameters=schema)])
    own, other = _ELEMENT.format("<adults>2</adults>"), _ELEMENT.format("<b>2</b>")
    assert codes(read(own, "minimax-m3", tools)) == ["swallowed-markup"]
    assert codes(read(other, "minimax-m3", tools)) == []


OTHERS = (
    '<invoke name="f">\n<parameter name="x">1</parameter>\n<parameter name="y">2</parameter>',
    "Local<Parameter> p; vector<Function> f; map<Value, Argument<Value>> m; // <Arg_Value>",
    '<object data="a.swf"><param name="movie" value="a.swf"><param name="q" value="1"></object>',
    '/// <summary>x</summary>\n/// <param name="x">the first</param>\n',
    "usage: a <PARAM> [<VALUE> ...], where `</PARAM>` means nothing",
    "<PARAMETERS><PARAMETER>a</PARAMETER>\n<PARAMETER>b</PARAMETER></PARAMETERS>",
    'nnoremap <Escape>, x\nmap: <Escape>\n["<Escape>", "<Return>"]',
    'Enum.map(xs, &(&1 <> "|")) |> IO.puts, a: "|>", b: <<1>>',
    "a[b[i]] < c[d[j]] > e, x <- y, z -> [<a>, <b>]",
    "<h1>Title</h1><p>text</p>",
)  # fmt: skip


@pytest.mark.parametrize("name", TAGGED)
def test_what_has_both_of_its_tags_is_a_value(name: str) -> None:
    own = " ".join(w.text for w in _literals(FORMATS[name]))
    for code in OTHERS:
        call = ToolCall("save", {"path": "a", "content": code})
        if any(word in code for word in own.split() if len(word) > 3):
            continue  # its own markup
        try:
            text = render([call], name)
        except UsageError:
            continue
        result = parse(text, name, tools_for([call]) if FORMATS[name].by_tool else None)
        assert (said(result), codes(result)) == ([("save", call.arguments)], []), code


def _literals(form: Format) -> Iterator[Literal]:
    for word in form.words:
        yield from [word] if isinstance(word, Literal) else []
        yield from (w for w in getattr(word, "words", ()) if isinstance(w, Literal))


@pytest.mark.parametrize(
    "value",
    [
        "<b>x</b> 1<2",
        "a </param> b",
        "</PARAM>",
        'a </param> <param name="x">',
        "a</param></function>\\n",
        'a</param></function> <function name="g"><param name="q">1</param></function>',
    ],
)
def test_what_is_in_quotes_of_the_format_is_a_value(value: str) -> None:
    result = read(_CPM.format(f"<![CDATA[{value}]]>"), "minicpm5")
    assert (said(result), codes(result)) == ([("book", {"city": value})], [])


@pytest.mark.parametrize("flood", ["</PARAMETER", "<PARAMETER=a>", "</param>\n", "<param ", "x"])
def test_floods_of_miswritten_tags_take_no_time(flood: str) -> None:
    head, end = "<tool_call>\n<function=f>\n<parameter=a>\nparam", "\n</parameter>\n</function>"
    assert_linear(lambda text: parse(text + end, "qwen3-coder"), head, flood, WHOLE)


@pytest.mark.parametrize("flood", ["<escpe>,a:", ",a:", ",", "<escap", " "])
def test_floods_of_marks_take_no_time(flood: str) -> None:
    head = "<start_function_call>call:f{a:<escape>"
    assert_linear(lambda text: parse(text + "<escape>}", "functiongemma"), head, flood, WHOLE)


def test_quotes_that_are_never_closed_end_with_their_argument() -> None:
    text = (
        '<function name="book"><param name="city"><![CDATA[Rome</param>'
        '<param name="guests"><![CDATA[two]]></param></function>'
    )
    result = read(text, "minicpm5", TOOLS)
    assert said(result) == [("book", {"city": "<![CDATA[Rome", "guests": "two"})]
    assert codes(result) == ["swallowed-markup"]


@pytest.mark.parametrize("flood", ["</param>", "<![CDATA[</param></function>", "]]>", "<![CDATA["])
def test_floods_of_quotes_take_no_time(flood: str) -> None:
    head = '<function name="f"><param name="a"><![CDATA['
    assert_linear(lambda text: parse(text, "minicpm5"), head, flood, WHOLE)
    assert_linear(lambda text: stream("minicpm5").feed(text), head, flood, STREAMED)


@pytest.mark.parametrize("rest", ["</arg>", "</para", "/parameter>", "&lt;/parameter&gt;", "</"])
def test_what_is_left_of_a_closer_is_told_where_the_next_argument_shows_the_end(rest: str) -> None:
    properties = {key: {"type": "string"} for key in "ab"}
    tools = Tools([ToolSpec("f", parameters={"properties": properties})])
    head = "<tool_call><function=f><parameter=a>\none"
    tail = "\n<parameter=b>\ntwo\n</parameter></function></tool_call>"
    result = parse(f"{head}\n{rest}{tail}", "qwen3-coder", tools)
    assert result.calls[0].arguments == {"a": f"one\n{rest}", "b": "two"}
    assert "swallowed-markup" in [diagnosis.code for diagnosis in result.diagnoses]
    cut = parse(head + tail, "qwen3-coder", tools)
    assert (cut.calls[0].arguments, cut.diagnoses) == ({"a": "one", "b": "two"}, ())
