"""Models that write each argument in a tag of its own, the argument's name in the tag."""

from __future__ import annotations

from tunaeval.grammar import (
    THINKING,
    WITH_COLONS,
    Arguments,
    Attribute,
    Elements,
    Key,
    Literal,
    Many,
    Markup,
    Maybe,
    Name,
    Reasoning,
    Space,
    Value,
    shipped,
    shipped_like,
)

_ATTRIBUTE_NAME = r"[^\"'<>\n]{1,200}"
_STRING_OR_NOT = Maybe(
    (Literal('" string="'), Attribute(text=("true",), json=("false",))), written=True
)
_QUOTE = Literal('"', also=("'",))

MINIMAX_M2 = shipped(
    "minimax-m2",
    (
        Literal("<invoke name="),
        Space(),
        Maybe((_QUOTE,), written=True),
        Name(WITH_COLONS),
        Maybe((_QUOTE,), written=True),
        Literal(">"),
        Space("\n"),
        Many(
            (
                Literal("<parameter name="),
                Maybe((_QUOTE,), written=True),
                Key(_ATTRIBUTE_NAME),
                Maybe((_QUOTE,), written=True),
                Literal(">"),
                Value(),
                Literal("</parameter>"),
                Space("\n"),
            )
        ),
        Literal("</invoke>"),
    ),
    around=(
        Literal("<minimax:tool_call>", also=("<function_calls>", "<dots_function_call>")),
        Literal("</minimax:tool_call>", also=("</function_calls>", "</dots_function_call>")),
    ),
    aliases=(
        "minimax",
        "minimax-append-think",
        "minimax_append_think",
        "minimax_m2",
        "minimax_m2_append_think",
    ),
    models=("MiniMax M2",),
    summary='<invoke name="NAME"> with <parameter name="KEY"> inside',
)

ANTHROPIC = shipped_like(
    MINIMAX_M2,
    name="anthropic",
    around=(Literal("<function_calls>"), Literal("</function_calls>")),
    aliases=("claude", "function_calls"),
    models=("Claude 2 and 3 in text",),
    summary="as minimax-m2, inside <function_calls>",
)

DOTS_INVOKE = shipped_like(
    MINIMAX_M2,
    name="dots-invoke",
    around=(Literal("<dots_function_call>"), Literal("</dots_function_call>")),
    aliases=(),
    models=("dots",),
    summary="as minimax-m2, inside <dots_function_call>",
)

_M3 = "]<]minimax[>["

MINIMAX_M3 = shipped(
    "minimax-m3",
    (
        Literal(f'{_M3}<invoke name="'),
        Name(WITH_COLONS),
        Literal('">'),
        Elements(_M3),
        Literal(f"{_M3}</invoke>"),
    ),
    around=(Literal(f"{_M3}<tool_call>"), Literal(f"{_M3}</tool_call>")),
    reasoning=(Reasoning("<mm:think>", "</mm:think>"), *THINKING),
    aliases=("minimax_m3",),
    models=("MiniMax M3",),
    summary="arguments as nested elements, a prefix before every tag",
)

# Cline and Roo tell any model to write so: docs of their system prompts, "Tool Use Formatting".
TOOL_ELEMENTS = shipped(
    "tool-elements",
    (
        Literal("<"),
        Name(WITH_COLONS),
        Literal(">"),
        Space("\n"),
        Arguments(optional=True),
        Elements(""),
        Space("\n"),
        Literal("</"),
        Name(WITH_COLONS),
        Literal(">"),
    ),
    by_tool=True,
    aliases=("cline", "roo"),
    models=("any model prompted by Cline or Roo",),
    summary="an element named after its tool, with an element for each argument, or JSON, in it",
)

MINICPM5 = shipped(
    "minicpm5",
    (
        Literal(
            '<function name="', also=("<function name='", '<functionname="', "<functionname='")
        ),
        Name(WITH_COLONS),
        Literal('">', also=("'>",)),
        Space(),
        Many(
            (
                Literal('<param name="', also=("<param name='", '<paramname="', "<paramname='")),
                Key(_ATTRIBUTE_NAME),
                Literal('">', also=("'>",)),
                Value(quotes=("<![CDATA[", "]]>")),
                Literal("</param>"),
                Space(),
            )
        ),
        Literal("</function>"),
    ),
    models=("MiniCPM 4", "MiniCPM 5"),
    summary='<function name="NAME"> with <param name="KEY"> inside',
)

STEP3 = shipped(
    "step3",
    (
        Literal("<｜tool_call_begin｜>"),
        Space(),
        Maybe((Literal("function"), Literal("<｜tool_sep｜>")), written=True),
        Space(),
        Literal('<steptml:invoke name="'),
        Name(WITH_COLONS),
        Literal('">'),
        Space(),
        Many(
            (
                Literal('<steptml:parameter name="'),
                Key(_ATTRIBUTE_NAME),
                Literal('">'),
                Value(),
                Literal("</steptml:parameter>"),
                Space(),
            )
        ),
        Literal("</steptml:invoke>"),
        Space(),
        Literal("<｜tool_call_end｜>"),
    ),
    around=(Literal("<｜tool_calls_begin｜>"), Literal("<｜tool_calls_end｜>")),
    separator="",
    models=("Step3",),
    summary="<steptml:invoke> between Step's tokens",
)

DEEPSEEK_V32 = shipped(
    "deepseek-v3.2",
    (
        Literal('<｜DSML｜invoke name="', also=('<|DSML|invoke name="',)),
        Name(WITH_COLONS),
        Literal('">'),
        Space("\n"),
        Arguments(optional=True),
        Many(
            (
                Literal('<｜DSML｜parameter name="', also=('<|DSML|parameter name="',)),
                Key(_ATTRIBUTE_NAME),
                _STRING_OR_NOT,
                Literal('">', also=('" >',)),
                Value(),
                Literal("</｜DSML｜parameter>", also=("</|DSML|parameter>",)),
                Space("\n"),
            )
        ),
        Literal("</｜DSML｜invoke>", also=("</|DSML|invoke>",)),
    ),
    around=(
        Literal(
            "<｜DSML｜function_calls>",
            also=("<｜DSML｜tool_calls>", "<|DSML|function_calls>", "<|DSML|tool_calls>"),
        ),
        Literal(
            "</｜DSML｜function_calls>",
            also=("</｜DSML｜tool_calls>", "</|DSML|function_calls>", "</|DSML|tool_calls>"),
        ),
    ),
    aliases=(
        "deepseek-v32",
        "deepseek-v4",
        "deepseek32",
        "deepseek_v32",
        "deepseek_v3_2",
        "deepseek_v4",
        "deepseekv32",
        "deepseekv4",
    ),
    models=("DeepSeek V3.2", "DeepSeek V4"),
    summary="DSML: each parameter says whether it is a string; or one JSON object",
)

DEEPSEEK_V41 = shipped(
    "deepseek-v4.1",
    (
        Literal('<｜DSML｜ invoke name="', also=('<|DSML| invoke name="',)),
        Name(WITH_COLONS),
        Literal('">'),
        Space("\n"),
        Many(
            (
                Literal('<｜DSML｜ parameter name="', also=('<|DSML| parameter name="',)),
                Key(_ATTRIBUTE_NAME),
                _STRING_OR_NOT,
                Literal('">', also=('" >',)),
                Value(),
                Literal("</｜DSML｜ parameter>", also=("</|DSML| parameter>",)),
                Space("\n"),
            )
        ),
        Literal("</｜DSML｜ invoke>", also=("</|DSML| invoke>",)),
    ),
    around=(
        Literal("<｜DSML｜ calls>", also=("<|DSML| calls>",)),
        Literal("</｜DSML｜ calls>", also=("</|DSML| calls>",)),
    ),
    aliases=("deepseek_v41", "deepseekv41"),
    models=("DeepSeek V4.1",),
    summary="DSML with a space in every tag",
)

GIGACHAT35 = shipped(
    "gigachat3.5",
    (
        Literal('<｜GCML｜invoke name="'),
        Name(WITH_COLONS),
        Literal('">'),
        Space("\n"),
        Many(
            (
                Literal('<｜GCML｜parameter name="'),
                Key(_ATTRIBUTE_NAME),
                _STRING_OR_NOT,
                Literal('">', also=('" >',)),
                Value(),
                Literal("</｜GCML｜parameter>"),
                Space("\n"),
            )
        ),
        Literal("</｜GCML｜invoke>"),
    ),
    around=(Literal("<｜GCML｜tool_calls>"), Literal("</｜GCML｜tool_calls>")),
    aliases=("gigachat35",),
    models=("GigaChat 3.5",),
    summary="GCML: DSML with another token",
)

COHERE_CMD5 = shipped(
    "cohere-cmd5",
    (
        Literal("<cofl:tool_call "),
        Maybe((Literal('id="'), Markup("0", r"[\w.-]{0,64}"), Literal('" ')), written=True),
        Literal('name="'),
        Name(WITH_COLONS),
        Literal('">'),
        Space(),
        Many(
            (
                Literal('<cofl:tool_param name="'),
                Key(_ATTRIBUTE_NAME),
                _STRING_OR_NOT,
                Literal('">'),
                Value(),
                Literal("</cofl:tool_param>"),
                Space(),
            )
        ),
        Literal("</cofl:tool_call>"),
    ),
    around=(Literal("<cofl:tool_calls>"), Literal("</cofl:tool_calls>")),
    separator="",
    aliases=("cohere2_moe", "cohere_command5"),
    models=("Command 5",),
    summary="each parameter says whether it is a string, between <cofl:…> tags",
)
