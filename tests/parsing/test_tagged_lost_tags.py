"""A tag of an argument that is missing or misspelt: split where that is certain, else diagnosed."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.formats.reading import read, takes
from tests.fuzz.hurt_calls import AIM, MOST_LOST, TOOLS, hurt_calls, verdict
from tests.parsing.samples import codes, said
from tests.parsing.test_law_growth import STREAMED, WHOLE, assert_linear
from tunaeval import parse, render, stream
from tunaeval.errors import UsageError
from tunaeval.grammar import Many
from tunaeval.grammar.formats import FORMATS
from tunaeval.types.calls import JsonValue, ToolCall, Tools, ToolSpec
from tunaeval.types.parsing import LEVELS, Level

WEATHER = Tools(
    [ToolSpec("get_weather", parameters=takes(city="string", state="string", days="integer"))]
)

_QWEN = "<tool_call>\n<function=get_weather>\n{}\n</function>\n</tool_call>"
_DSML = (
    '<｜DSML｜function_calls>\n<｜DSML｜invoke name="get_weather">\n{}\n</｜DSML｜invoke>\n'
    "</｜DSML｜function_calls>"
)
_BARE = sorted(
    name
    for name, form in FORMATS.items()
    if any(isinstance(w, Many) for w in form.words) and not form.by_tool
)

BOTH = {"city": "Dallas", "state": "TX"}

LOST = {
    "the closer of an argument before another": (
        "qwen3-coder",
        _QWEN.format("<parameter=city>\nDallas\n<parameter=state>\nTX\n</parameter>"),
        [BOTH],
    ),
    "and of the last one": (
        "qwen3-coder",
        _QWEN.format("<parameter=city>\nDallas\n<parameter=state>\nTX"),
        [BOTH],
    ),
    "of the last one alone": (
        "qwen3-coder",
        _QWEN.format("<parameter=city>\nDallas"),
        [{"city": "Dallas"}],
    ),
    "a value of another type": (
        "deepseek-v3.2",
        _DSML.format(
            '<｜DSML｜parameter name="city" string="true">Dallas'
            '<｜DSML｜parameter name="days" string="false">3</｜DSML｜parameter>'
        ),
        [{"city": "Dallas", "days": 3}],
    ),
    "the inner of two closers": (
        "qwen3-coder",
        "<tool_call>\n<function=get_weather>\n<parameter=city>\nDallas\n</parameter>\n</tool_call>",
        [{"city": "Dallas"}],
    ),
    "the outer of two closers": (
        "qwen3-coder",
        ("<tool_call>\n<function=get_weather>\n<parameter=city>\nDallas\n</parameter>\n</function>\n"
        "<tool_call>\n<function=get_weather>\n<parameter=city>\nOslo\n</parameter>\n</function>\n"
        "</tool_call>"),
        [{"city": "Dallas"}, {"city": "Oslo"}],
    ),
    "two calls in one pair of tags": (
        "qwen3-coder",
        ("<tool_call>\n<function=get_weather>\n<parameter=city>\nDallas\n</parameter>\n</function>\n"
        "<function=get_weather>\n<parameter=city>\nOslo\n</parameter>\n</function>\n</tool_call>"),
        [{"city": "Dallas"}, {"city": "Oslo"}],
    ),
    "the closer of a call in front of that around all": (
        "deepseek-v3.2",
        ('<｜DSML｜function_calls><｜DSML｜invoke name="get_weather">'
        '<｜DSML｜parameter name="city" string="true">Dallas</｜DSML｜parameter>'
        "</｜DSML｜function_calls>\nDone."),
        [{"city": "Dallas"}],
    ),
    "the closer of an argument in front of that of its call": (
        "deepseek-v3.2",
        _DSML.format('<｜DSML｜parameter name="city" string="true">Dallas'),
        [{"city": "Dallas"}],
    ),
    "a pair's closer": (
        "glm45",
        ("<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Dallas\n"
        "<arg_key>state</arg_key>\n<arg_value>TX</arg_value>\n</tool_call>"),
        [BOTH],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("name", "text", "arguments"), LOST.values(), ids=LOST)
@pytest.mark.parametrize("auto", [False, True], ids=["named", "auto"])
def test_a_lost_closer_is_a_repair(
    name: str, text: str, arguments: list[dict[str, JsonValue]], *, auto: bool
) -> None:
    format_ = "auto" if auto else name
    for level in LEVELS[1:]:
        result = read(text, format_, WEATHER, level)
        assert said(result) == [("get_weather", each) for each in arguments]
        assert [r.code for call in result.calls for r in call.repairs] == ["unclosed"]
        assert codes(result) == []
    strict = read(text, format_, WEATHER, "strict")
    assert len(strict.calls) < len(arguments)
    assert strict.outcome == ("calls" if strict.calls else "malformed")


MISSPELT = {
    "qwen3-coder": _QWEN.format(
        "<parameter=city>\nDallas\n</parameter>\n<paramter=state>\nTX\n</parameter>"
    ),
    "deepseek-v3.2": _DSML.format(
        '<｜DSML｜parameter name="city" string="true">Dallas</｜DSML｜ parameer>\n'
        '<｜DSML｜parameter name="wind" string="true">TX</｜DSML｜parameter>'
    ),
    "muse": (
        '<atem:function_calls>\n<atem:invoke name="get_weather">\n<atem:parameter name="city">'
        'Dallas</atem:parameter>\n<atem:parameter nmae="state">TX</atem:parameter>\n'
        "</atem:invoke>\n</atem:function_calls>"
    ),
    "kimi-k3": (
        '<|open|>call tool="get_weather" index="1"<|sep|><|open|>argument key="city" type="string"'
        '<|sep|>Dallas<|close|>argment<|sep|><|open|>argument kye="state" type="string"<|sep|>TX'
        "<|close|>argument<|sep|><|close|>call<|sep|>"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MISSPELT)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("tools", [WEATHER, None], ids=["tools", "no tools"])
def test_a_misspelt_tag_in_a_value_has_a_diagnosis(
    name: str, level: Level, tools: Tools | None
) -> None:
    for format_ in (name, "auto"):
        result = read(MISSPELT[name], format_, tools, level)
        assert [*result.calls[0].arguments] == ["city"]
        assert codes(result) == ["swallowed-markup"]


@pytest.mark.parametrize(
    "body",
    [
        "<parameter=city>\nsee <parameter=state>\nTX</parameter> there\n</parameter>",
        "<parameter=city>\nDallas\n<parameter=wind>\nTX\n</parameter>",
        "<parameter=state>\nTX\n</parameter>\n<parameter=city>\nDallas\n<parameter=state>\nTX\n</parameter>",
    ],
    ids=["closed in the value", "not declared", "read before"],
)
def test_what_is_not_certain_is_not_split(body: str) -> None:
    result = read(_QWEN.format(body), "qwen3-coder", WEATHER)
    assert "<parameter=" in result.calls[0].arguments["city"]
    assert codes(result) == ["swallowed-markup"]


def test_without_tools_nothing_is_split() -> None:
    result = read(_QWEN.format("<parameter=city>\nDallas\n<parameter=state>\nTX\n</parameter>"))
    assert said(result) == [("get_weather", {"city": "Dallas\n<parameter=state>\nTX"})]
    assert codes(result) == ["swallowed-markup"]


CODE = (
    "<div class=\"a\"><p>one</p><br/><section id='x'>two</section></div>",
    "<project>\n  <dependency><version>1.0</version></dependency>\n</project>",
    "#include <functional>\n#include <vector>\nstd::function<void(int)> f = [](int x) {};\n",
    "Local<Function> cb = Local<Function>::Cast(args[0]);\nvector<pair<int, char>> v;\n",
    "def f(function=None, parameter=3):\n    return a < b > c, x << 2, call(arg_key=1)\n",
    '<form action="/go"><select><option value="1">1</option></select><caption>c</caption></form>',
    "const A = <T,>(x: Array<T>): Promise<T> => <Row key={x} {...y}/>;\n",
    "<?xml version='1.0'?>\n<!-- tool call --><a:b xmlns:a='u'><![CDATA[x]]></a:b>\n",
    "cat <<EOF > out.txt\n<value>$x</value>\nEOF\n",
    "<|endoftext|> <s>[INST] hi [/INST]</s> <b>name=</b> <meter value=3>3</meter>\n",
)
"""Values like others: HTML, XML, JSX, C++, shell."""


@pytest.mark.parametrize("name", _BARE)
def test_code_is_a_value_like_others(name: str) -> None:
    for code in CODE:
        call = ToolCall("save", {"path": "a", "content": code})
        result = parse(render([call], name), name)
        assert said(result) == [("save", call.arguments)]
        assert codes(result) == []


def test_the_files_of_this_repository_are_values_like_others() -> None:
    """Those that do not speak of formats."""
    root = Path(__file__).parents[2] / "tunaeval"
    for package in ("reports", "scoring", "judging", "clients"):
        for path in sorted((root / package).glob("*.py")):
            content = path.read_text("utf-8")
            if "</tool_call>" in content:
                continue
            call = ToolCall("save", {"content": content})
            for name in ("qwen3-coder", "deepseek-v3.2", "glm47", "minimax-m2", "minicpm5"):
                result = parse(render([call], name), name)
                assert (said(result), codes(result)) == ([("save", call.arguments)], []), path


def test_hurt_calls_are_hardly_ever_wrong_in_silence() -> None:
    """The measurement itself, with fewer texts."""
    found = Counter(
        verdict(hurt, parse(hurt.text, hurt.format, TOOLS))
        for hurt in hurt_calls(3000, 7, list(FORMATS))
    )
    assert found["wrong"] <= AIM * found.total()
    assert found["lost"] <= MOST_LOST * found.total()
    assert min(found[kind] for kind in ("same", "refused", "flagged", "invisible")) > 0


@pytest.mark.parametrize(
    "flood",
    [
        "</paramete",
        "<parameter=a",
        "</parameter>\n</tool",
        "</function>\n</tool_call>\n",
        "<parametr>",
    ],
)
def test_floods_of_lost_tags_take_no_time(flood: str) -> None:
    head = "<tool_call>\n<function=get_weather>\n<parameter=city>\n"
    assert_linear(lambda text: parse(text, "qwen3-coder", WEATHER), head, flood, WHOLE)
    assert_linear(_streamed, head, flood, STREAMED)


def _streamed(text: str) -> object:
    reading = stream("qwen3-coder", WEATHER)
    for start in range(0, len(text), 64):
        reading.feed(text[start : start + 64])
    return reading.finish()


def test_a_value_with_tags_of_its_format_is_written() -> None:
    """What is read back as it was is written, diagnosis or not."""
    call = ToolCall("save", {"content": "as in <parameter=x>"})
    assert parse(render([call], "qwen3-coder"), "qwen3-coder").calls[0].arguments == call.arguments
    closed = ToolCall("save", {"content": "as in\n</parameter>\n</function>\n</tool_call>"})
    with pytest.raises(UsageError, match="'content'"):
        render([closed], "qwen3-coder")
