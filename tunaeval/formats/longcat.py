"""LongCat's two ways to write a call between its tags."""

from __future__ import annotations

from tunaeval.grammar import (
    THINKING,
    WITH_COLONS,
    CallObject,
    Key,
    Literal,
    Many,
    Name,
    Reasoning,
    Space,
    Value,
    shipped,
)

_THINKING = (Reasoning("<longcat_think>", "</longcat_think>"), *THINKING)

# mlx-lm, `tool_parsers/longcat.py`, which reads JSON between the same tags too.
LONGCAT_PAIRS = shipped(
    "longcat-pairs",
    (
        Literal("<longcat_tool_call>"),
        Space(),
        Name(WITH_COLONS),
        Space("\n"),
        Many(
            (
                Literal("<longcat_arg_key>"),
                Key(),
                Literal("</longcat_arg_key>"),
                Space("\n"),
                Literal("<longcat_arg_value>"),
                Value(),
                Literal("</longcat_arg_value>"),
                Space("\n"),
            )
        ),
        Literal("</longcat_tool_call>"),
    ),
    reasoning=_THINKING,
    models=("LongCat-Flash-Lite", "LongCat-2.0"),
    summary="as glm45, with LongCat's tags",
)

LONGCAT = shipped(
    "longcat",
    (
        Literal("<longcat_tool_call>"),
        Space("\n"),
        CallObject(),
        Space("\n"),
        Literal("</longcat_tool_call>"),
    ),
    also=(LONGCAT_PAIRS,),
    reasoning=_THINKING,
    models=("LongCat-Flash",),
    summary="one JSON object between <longcat_tool_call> tags",
)
