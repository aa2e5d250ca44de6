"""A broken attempt has a diagnosis: between markers around calls, and in front of a good call."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from tests.formats.reading import read, takes
from tests.parsing.samples import codes, said
from tests.parsing.test_law_growth import STREAMED, WHOLE, assert_linear
from tunaeval import parse, render, stream
from tunaeval.grammar.formats import FORMATS
from tunaeval.types.calls import ToolCall, Tools, ToolSpec
from tunaeval.types.parsing import LEVELS

TOOLS = Tools([ToolSpec("book", parameters=takes(city="string"))])
ROME, OSLO = ToolCall("book", {"city": "Rome"}), ToolCall("book", {"city": "Oslo"})
SURROUNDED = sorted(
    name for name, form in FORMATS.items() if form.marked and form.around and form.around[0].text
)


def _hurt(text: str) -> Iterator[str]:
    """With a letter or a sign less in one place, and with other quotes."""
    for word in re.finditer(r"[A-Za-z]{3,}|[<>=|\"'{}\[\]]+", text):
        middle = (word.start() + word.end()) // 2
        yield text[:middle] + text[middle + 1 :]
        yield text[: word.start()] + text[word.end() :]
    yield text.replace('"', "'")


@pytest.mark.parametrize("name", SURROUNDED)
@pytest.mark.parametrize("tools", [TOOLS, None], ids=["tools", "no tools"])
def test_what_is_between_markers_of_calls_is_an_attempt(name: str, tools: Tools | None) -> None:
    around = FORMATS[name].around
    assert around is not None
    first, last = around[0].text, around[1].text
    text = render([ROME], name)
    for hurt in _hurt(text[text.index(first) + len(first) : text.rindex(last)]):
        result = parse(text[: text.index(first)] + first + hurt + last, name, tools)
        assert result.calls or result.diagnoses, hurt
        assert result.outcome != "no_call", hurt


def _without_opener(name: str) -> Iterator[str]:
    """A call whose opener is lost, or has another letter in one place."""
    form, text = FORMATS[name], render([ROME], name)
    assert form.opener
    opener = form.opener.text
    body = text[text.index(opener) + len(opener) :]
    yield body
    yield opener.swapcase() + body
    for at, letter in enumerate(opener):
        yield f"Sure.\n{opener[:at]}{'x' if letter != 'x' else 'y'}{opener[at + 1 :]}{body}"


CLOSED = sorted(
    name
    for name, form in FORMATS.items()
    if form.opener and form.closer and any(map(str.isalpha, form.closer.text))
)


@pytest.mark.parametrize("how", ["by name", "auto"])
@pytest.mark.parametrize("name", CLOSED)
def test_a_call_whose_opener_is_lost_is_an_attempt(name: str, how: str) -> None:
    for text in _without_opener(name):
        result = read(text, name if how == "by name" else "auto", TOOLS)
        assert result.calls or result.diagnoses, text
        assert result.outcome != "no_call" or "unclosed-fence" in codes(result), text


def test_it_is_one_behind_a_good_call_too() -> None:
    good = render([OSLO], "hermes")
    result = read(good + "\n" + good.replace("<tool_call>", "<tool_cal>"), "hermes", TOOLS)
    assert (said(result), codes(result)) == ([("book", {"city": "Oslo"})], ["stray-closer"])


def test_a_message_of_harmony_that_ends_a_call_has_one() -> None:
    broken = render([ROME], "harmony").replace("<|message|>", "<|mesage|>")
    for text in (broken, '{"city": "Rome"}<|call|>'):
        result = read(text, "harmony", TOOLS)
        assert (result.outcome, codes(result)) == ("malformed", ["stray-closer"])


NAMED = {
    "glm45": "<tool_cal>book</tool_call>",
    "minimax-m2": '<invok name="book"></invoke>',
    "deepseek-v3.2": '<｜DSML｜invok name="book">\n</｜DSML｜invoke>',
    "qwen3-bare": "<functin=book>\n</function>",
    "minicpm5": '<functon name="book"></function>',
    "solar-open2": "<|tool_call:strt|>book\n<|tool_call:end|>",
}


@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize("how", ["by name", "auto"])
def test_a_tool_s_name_alone_is_one(name: str, how: str) -> None:
    result = read(NAMED[name], name if how == "by name" else "auto", TOOLS)
    assert (result.outcome, codes(result)) == ("malformed", ["stray-closer"])


PROSE = [
    "It ends with </tool_call>, as you see.",
    'Write `{"name": "f"}</tool_call>` there.',
    "if (x) { y(); }\n</function> is no tag of ours: see (a)</tool_call> and [b]</tools>.",
    'assert out.endswith("}</tool_call>")',
    "So it is: opener {json} </tool_call>",
    "{{ call }}\n</tool_call>",
    "It must end with </parameter></function></tool_call>.",
    "Close everything (parentheses, too)\n</function_calls>\nand stop.",
    "The array [1, 2] <|call|> is odd.",
    '<function id="1"><parameter>a</parameter></function>',
    "<function>{ return 1; }</function>",
    '<tools version="1">{"a": 1}</tools>',
    '<tool_calls count="2">[a, b]</tool_calls>',
    "Hermes models put calls between <tool_call> and </tool_call>.",
    "Gemma writes a call between <|tool_call> and <tool_call|>.",
    "A call is inside <tool_call></tool_call> XML tags.",
    "All of it is between <function_calls> and </function_calls>.",
    'The tags are "<tool_call>" and "</tool_call>".',
    "Use '<|tool_call>' and '<tool_call|>'.",
]
"""About markers, or with such markup of its own."""


@pytest.mark.parametrize("name", ["auto", "hermes", "qwen3-coder", "olmo3", "harmony", "gemma4"])
@pytest.mark.parametrize("text", PROSE)
@pytest.mark.parametrize("tools", [TOOLS, None], ids=["tools", "no tools"])
def test_prose_that_speaks_of_markers_tries_nothing(
    text: str, name: str, tools: Tools | None
) -> None:
    result = read(text, name, tools)
    assert (result.outcome, {*codes(result)} - {"quoted", "mention"}) == ("no_call", set())


@pytest.mark.parametrize("between", ["book", "\nbook\n", "\n"])
def test_markers_around_a_tool_s_name_or_nothing_are_an_attempt(between: str) -> None:
    result = read(f"I book it: <tool_call>{between}</tool_call>", "hermes", TOOLS)
    assert (result.outcome, codes(result)) == ("malformed", ["invalid-json"])


def test_an_element_that_names_a_tool_is_an_attempt() -> None:
    text = '<tool_call id="1">{"name": "book", "arguments": {"city": "Rome"}}</tool_call>'
    assert read(text, "hermes", TOOLS).outcome == "malformed"
    assert read(text.replace("arguments", "args"), "hermes").outcome == "no_call"


@pytest.mark.parametrize("opener", ["<tool_call >", '<tool_call id="1">', "<tool_cal>"])
def test_an_element_with_the_keys_of_a_call_is_one_too(opener: str) -> None:
    text = f'The 5" pipe.\n\n{opener}{{"name": "b", "arguments": {{"c": "d"}}}}</tool_call>'
    result = read(text, "hermes")
    assert (result.outcome, codes(result)) == ("malformed", ["stray-closer"])


BROKEN = {
    "a misspelt opener": (
        "minimax-m2",
        '<minimax:tool_call>\n<invok name="book">\n</invoke>\n</minimax:tool_call>',
    ),
    "behind a sentence": (
        "minimax-m2",
        'Well. <minimax:tool_call>\n<invok name="book">\n</invoke>\n</minimax:tool_call>',
    ),
    "other quotes": (
        "deepseek-v3.2",
        (
            "<｜DSML｜function_calls>\n<｜DSML｜invoke name='book'>\n</｜DSML｜invoke>\n"
            "</｜DSML｜function_calls>"
        ),
    ),
    "anything": ("kimi-k2", "<|tool_calls_section_begin|>well<|tool_calls_section_end|>"),
}


@pytest.mark.parametrize(("name", "text"), BROKEN.values(), ids=BROKEN)
def test_it_is_malformed_and_all_of_it_is_in_the_diagnosis(name: str, text: str) -> None:
    for level in LEVELS:
        result = read(text, name, TOOLS, level)
        assert (result.outcome, codes(result)) == ("malformed", ["invalid-json"])
        span = result.diagnoses[0].span
        assert span is not None
        assert text[slice(*span)] == text.removeprefix("Well. ")
        first, last = FORMATS[name].around or ("", "")
        rest = text.replace(getattr(first, "text", ""), "").replace(getattr(last, "text", ""), "")
        assert result.content == rest


@pytest.mark.parametrize(
    "text",
    [
        "<|tool_calls_section_begin|><|tool_calls_section_end|>",
        "<|tool_calls_section_begin|>\n \n<|tool_calls_section_end|>\nDone.",
        "The tag <|tool_calls_section_begin|> opens and <|tool_calls_section_end|> closes.",
        "`<|tool_calls_section_begin|>` (a), `<|tool_calls_section_end|>` (b)",
    ],
    ids=["nothing", "white space", "in prose", "quoted"],
)
def test_markers_without_anything_are_no_attempt(text: str) -> None:
    result = read(text, "kimi-k2", TOOLS)
    assert (result.outcome, codes(result)) == ("no_call", [])


@pytest.mark.parametrize("end", ["", "\n</minimax:tool_cal>", "\n<minimax:tool_call>\n<invok>"])
def test_a_tag_behind_a_marker_that_is_never_closed_is_an_attempt(end: str) -> None:
    text = f'<minimax:tool_call>\n<invok name="book">{end}'
    result = read(text, "minimax-m2", TOOLS)
    assert (result.outcome, {*codes(result)}) == ("malformed", {"invalid-json"})
    again = read(f"{text}\n{render([OSLO], 'minimax-m2')}", "minimax-m2", TOOLS)
    assert said(again) == [("book", {"city": "Oslo"})]
    assert {*codes(again)} == {"invalid-json"}


def test_words_behind_a_marker_are_prose() -> None:
    result = read("<minimax:tool_call> begins all calls.", "minimax-m2", TOOLS)
    assert (result.outcome, codes(result)) == ("no_call", [])


FIRST = {
    "a name in capitals": ("qwen3-coder", "<tool_call>\n<FUNCTION=book>\n<parameter=city>\nRome\n"),
    "a name and nothing more": ("mimo", "<tool_call>\n<function=book>\n"),
    "without the outer tag": ("qwen3-coder", "<function=book>\n"),
    "another sign": ("seed-oss", "<seed:tool_call>\n<function:book>\n<parameter=city>\nRome\n"),
}


@pytest.mark.parametrize(("name", "text"), FIRST.values(), ids=FIRST)
def test_a_broken_attempt_before_a_good_call_keeps_its_diagnosis(name: str, text: str) -> None:
    for between in ("", "\n", "\nAgain:\n"):
        for level in LEVELS:
            result = read(text + between + render([OSLO], name), name, TOOLS, level)
            assert said(result) == [("book", {"city": "Oslo"})]
            assert codes(result) == ["invalid-json"]


@pytest.mark.parametrize("name", sorted(name for name, form in FORMATS.items() if form.marked))
def test_what_was_malformed_alone_has_a_diagnosis_before_a_good_call(name: str) -> None:
    for hurt in _hurt(render([ROME], name)):
        alone = parse(hurt, name, TOOLS)
        by_its_name_alone = [note.code for note in alone.diagnoses] == ["reads-as"]
        if alone.outcome == "malformed" and not by_its_name_alone:
            result = parse(f"{hurt}\n{render([OSLO], name)}", name, TOOLS)
            assert result.diagnoses or any(call.repairs for call in result.calls), hurt


@pytest.mark.parametrize(
    "prose",
    [
        "Calls begin with <tool_call> and have a <function=name> inside.\n",
        "<tool_call> is the tag (of calls).\n",
        "<tool_call>\nis the tag:\n",
        "As in `<tool_call>\n<function=f>`:\n",
    ],
)
def test_a_tag_in_prose_before_a_good_call_is_no_attempt(prose: str) -> None:
    result = read(prose + render([OSLO], "qwen3-coder"), "qwen3-coder", TOOLS)
    assert said(result) == [("book", {"city": "Oslo"})]
    assert codes(result) == []


@pytest.mark.parametrize(
    ("name", "text", "outcome"),
    [
        ("glm45", "<tool_call>lsarg_key>a</arg_key></tool_call>", "malformed"),
        ("mistral-v11", '[TOOL_CALLS]lsARGS]{"path": "a"}', "malformed"),
        ("mistral-v11", "[TOOL_CALLS]ls", "truncated"),
        ("glm45", "<tool_call>ls", "truncated"),
        ("deepseek-v3.1", "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>ls", "truncated"),
    ],
)  # fmt: skip
def test_auto_says_of_a_broken_attempt_what_its_format_says(
    name: str, text: str, outcome: str
) -> None:
    result = read(text, "auto")
    assert (result.outcome, codes(result)) == (outcome, codes(read(text, name)))


def test_auto_says_that_the_second_call_in_a_region_is_broken() -> None:
    good, bad = (f'<|tool_call_begin|>functions.f:{n}<|tool_call_argument_begin|>{{"a": {n}}}'
                 "<|tool_call_end|>" for n in range(2))  # fmt: skip
    hurt = bad.replace("argument", "argumnt")
    text = f"<|tool_calls_section_begin|>{good}{hurt}<|tool_calls_section_end|>"
    for name in ("kimi-k2", "auto"):
        result = read(text, name)
        assert said(result) == [("f", {"a": 0})]
        assert codes(result) == ["invalid-json"]


@pytest.mark.parametrize("gap", ["", "\n", "  \n"])
def test_an_opener_that_is_there_twice_is_no_attempt_of_its_own(gap: str) -> None:
    result = read(f"<tool_call>{gap}{render([OSLO], 'qwen3-coder')}", "qwen3-coder", TOOLS)
    assert said(result) == [("book", {"city": "Oslo"})]
    assert codes(result) == []


@pytest.mark.parametrize(
    "flood",
    [
        "<|tool_calls_section_begin|>x",
        "<|tool_calls_section_begin|>x<|tool_calls_section_end|>",
        "x<|tool_calls_section_end|>",
    ],
)
def test_floods_of_markers_take_no_time(flood: str) -> None:
    assert_linear(lambda text: parse(text, "kimi-k2"), "", flood, WHOLE)
    assert_linear(lambda text: stream("kimi-k2").feed(text), "", flood, STREAMED)
