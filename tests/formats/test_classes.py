"""The sixteen classes of texts that parsers of others, or this one, were seen to read wrongly.

Each row is one example of a class by its number in our catalogue; further examples of 3 and 11 are
in `parsing/test_lost_tags.py` and `parsing/test_late_calls.py`, spellings in `test_spellings.py`.
"""

from __future__ import annotations

import pytest

from tests.formats.reading import read, takes
from tests.parsing.samples import codes, said
from tunaeval.types.calls import JsonValue, Tools, ToolSpec
from tunaeval.types.parsing import LEVELS

TOOLS = Tools(
    [
        ToolSpec("get_weather", parameters=takes(city="string", date="string", days="integer")),
        ToolSpec("search", parameters=takes(arguments="object", words="array")),
        ToolSpec("获取天气", parameters=takes(city="string")),
        ToolSpec("a" * 69, parameters=takes(city="string")),
    ]
)

_M3 = "]<]minimax[>["
_INVOKE = '<｜DSML｜invoke name="get_weather">{}</｜DSML｜invoke>'
_DSML = f"<｜DSML｜function_calls>{_INVOKE}</｜DSML｜function_calls>"
_IN_QWEN = (
    "<tool_call>\n<function={}>\n<parameter=city>\nOslo\n</parameter>\n</function>\n</tool_call>"
)
_MARK = '<|"|>'
_GEMMA = f"call:get_weather{{city:{_MARK}Oslo{_MARK}}}"
OSLO = [("get_weather", {"city": "Oslo"})]

CLASSES: dict[str, tuple[str, str, list[tuple[str, JsonValue]], list[str]]] = {
    "1 a name that is its own namespace": (
        "muse",
        ('to=get_weather.get_weather<|message|><atem:invoke name="get_weather.get_weather">'
        '<atem:parameter name="city">Oslo</atem:parameter></atem:invoke>'),
        OSLO,
        [],
    ),
    "2 no tool_call around": (
        "qwen3_coder",
        "<function=get_weather>\n<parameter=city>\nOslo\n</parameter>\n</function>",
        OSLO,
        [],
    ),
    "2 a lone closer behind it": (
        "step3p5",
        "<function=get_weather>\n<parameter=city>\nOslo\n</parameter>\n</function>\n</tool_call>",
        OSLO,
        [],
    ),
    "4 a header that ends its line": (
        "harmony",
        ("<|channel|>commentary to=functions.get_weather <|constrain|>json\n<|message|>"
        '{"city": "Oslo"}<|call|>'),
        OSLO,
        [],
    ),
    "5 arguments in an argument": (
        "minimax_m2",
        ('<minimax:tool_call><invoke name="get_weather"><parameter name="arguments">'
        '{"city": "Oslo"}</parameter></invoke></minimax:tool_call>'),
        OSLO,
        ["wrapped-arguments"],
    ),
    "5 and in JSON": (
        "hermes",
        '<tool_call>{"name": "get_weather", "arguments": {"input": {"city": "Oslo"}}}</tool_call>',
        OSLO,
        ["wrapped-arguments"],
    ),
    "5 and encoded": (
        "hermes",
        ('<tool_call>{"name": "get_weather", "arguments": {"args": "{\\"city\\": \\"Oslo\\"}"}}'
        "</tool_call>"),
        OSLO,
        ["wrapped-arguments"],
    ),
    "6 a colon for the call": (
        "gemma4",
        f"<|tool_call>:get_weather{{city:{_MARK}Oslo{_MARK}}}<tool_call|>",
        OSLO,
        [],
    ),
    "6 two calls in a block": (
        "gemma4", f"<|tool_call>{_GEMMA}{_GEMMA}<tool_call|>", OSLO * 2, ["unclosed"],
    ),
    "6 three on lines": (
        "gemma4",
        f"<|tool_call>{_GEMMA}\n{_GEMMA}\n{_GEMMA}<tool_call|>",
        OSLO * 3,
        ["unclosed"] * 2,
    ),
    "6 no marks": (
        "gemma4", "<|tool_call>call:get_weather{city:Oslo}<tool_call|>", OSLO, ["unmarked-text"],
    ),
    "7 no function, and white space": (
        "step3",
        ("<｜tool_calls_begin｜>\n<｜tool_call_begin｜>\n"
        '<steptml:invoke name="get_weather"><steptml:parameter name="city">Oslo'
        "</steptml:parameter></steptml:invoke>\n<｜tool_call_end｜>\n<｜tool_calls_end｜>"),
        OSLO,
        [],
    ),
    "8 no string=": (
        "deepseek_v32",
        _DSML.format('<｜DSML｜parameter name="city">Oslo</｜DSML｜parameter>'),
        OSLO,
        [],
    ),
    "9 no space in a tag": (
        "minicpm5",
        "<functionname=\"get_weather\"><param name='city'>Oslo</param></function>",
        OSLO,
        [],
    ),
    "10 repeated children": (
        "minimax-m3",
        (f'{_M3}<tool_call>{_M3}<invoke name="search">{_M3}<words>{_M3}<item>alpha{_M3}</item>'
        f"{_M3}<item>beta{_M3}</item>{_M3}</words>{_M3}</invoke>{_M3}</tool_call>"),
        [("search", {"words": ["alpha", "beta"]})],
        [],
    ),
    "12 a month of two digits": (
        "lfm2",
        '<|tool_call_start|>[get_weather(city="Oslo", days=07)]<|tool_call_end|>',
        [("get_weather", {"city": "Oslo", "days": 7})],
        ["leading-zero"],
    ),
    "13 a name in Chinese": (
        "qwen3_coder", _IN_QWEN.format("获取天气"), [("获取天气", {"city": "Oslo"})], [],
    ),
    "13 a name of 69 letters": (
        "pythonic", f"[{'a' * 69}(city='Oslo')]", [("a" * 69, {"city": "Oslo"})], [],
    ),
    "14 a newline that is the value's": (
        "seed-oss",
        ("<seed:tool_call><function=get_weather><parameter=city>Oslo\n</parameter></function>"
        "</seed:tool_call>"),
        [("get_weather", {"city": "Oslo\n"})],
        [],
    ),
}  # fmt: skip


@pytest.mark.parametrize("row", CLASSES.values(), ids=CLASSES)
def test_what_it_says(row: tuple[str, str, list[tuple[str, JsonValue]], list[str]]) -> None:
    name, text, calls, repairs = row
    for format_ in (name, "auto"):
        for level in LEVELS[1:]:
            result = read(text, format_, TOOLS, level)
            assert said(result) == calls
            assert [repair.code for call in result.calls for repair in call.repairs] == repairs
            assert (codes(result), result.content.strip()) == ([], "")


def test_5_arguments_that_are_declared_stay() -> None:
    text = '<tool_call>{{"name": "search", "arguments": {{"arguments": {}}}}}</tool_call>'
    declared = read(text.format('{"words": []}'), "hermes", TOOLS)
    assert said(declared) == [("search", {"arguments": {"words": []}})]
    for inner in ('{"town": "Oslo"}', '{"city": "Oslo", "town": 1}', "{}", '"Oslo"', "[]"):
        result = read(text.format(inner).replace("search", "get_weather"), "hermes", TOOLS)
        assert [*result.calls[0].arguments] == ["arguments"]
        assert codes(result) == ["undeclared-argument"]


def test_5_strict_unwraps_nothing() -> None:
    for title in ("5 arguments in an argument", "5 and in JSON", "5 and encoded"):
        name, text, _, _ = CLASSES[title]
        result = read(text, name, TOOLS, "strict")
        assert len(result.calls[0].arguments) == 1
        assert codes(result) == ["undeclared-argument"]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(
    "text",
    [
        "<tool_call>\nI think\n</tool_call>",
        "You write <function=name></function> in prose.",
    ],
)
def test_16_a_word_between_tags_is_no_call_where_no_tools_are_known(text: str, level: str) -> None:
    assert read(text, "auto", None, level).outcome == "malformed"  # type: ignore[arg-type]  # one of LEVELS


def test_16_a_name_alone_is_a_call_where_it_can_only_be_one() -> None:
    for text, name, tools in (
        ("<tool_call>get_weather</tool_call>", "auto", TOOLS),
        ("<tool_call>ping</tool_call>", "glm47", None),
        ("<tool_call>ping</tool_call>", "auto", None),
        ("So:\n<function=ping>\n</function>", "auto", None),
        ("<｜tool▁call▁begin｜>ping<｜tool▁sep｜>{}<｜tool▁call▁end｜>", "auto", None),
    ):
        assert [call.arguments for call in read(text, name, tools).calls] == [{}]


@pytest.mark.parametrize("end", ["", "\n", "\n<", "\n<|mess"])
def test_4_a_text_that_ends_in_a_header_is_cut(end: str) -> None:
    text = f"<|channel|>commentary to=functions.get_weather <|constrain|>json{end}"
    assert read(text, "harmony", TOOLS).outcome == "truncated"
    assert read(f"so to=5{end}\n", "harmony").outcome != "calls"
