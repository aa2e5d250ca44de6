"""Models that write `call:NAME{key:value}`, with a mark of their own around texts."""

from __future__ import annotations

from tunaeval.grammar import (
    THINKING,
    WITH_COLONS,
    Arguments,
    Literal,
    Maybe,
    Name,
    Reasoning,
    Space,
    shipped,
)

from .python_calls import GEMMA4_PYTHON

FUNCTIONGEMMA = shipped(
    "functiongemma",
    (
        Literal("<start_function_call>"),
        Space(),
        Name(WITH_COLONS, before="call:"),
        Arguments(mark="<escape>"),
        Space(),
        Literal("<end_function_call>"),
    ),
    separator="",
    aliases=("function_gemma",),
    models=("FunctionGemma 270M",),
    summary="call:NAME and braces with bare keys, texts between <escape> marks",
)

GEMMA4 = shipped(
    "gemma4",
    (
        Literal("<|tool_call>", also=("<|tool_call>call:",)),
        Space(),
        Maybe((Literal(":"),)),
        Name(WITH_COLONS, before="call:"),
        Arguments(mark='<|"|>'),
        Space(),
        Literal("<tool_call|>"),
    ),
    separator="",
    also=(GEMMA4_PYTHON,),
    reasoning=(Reasoning("<|channel>thought", "<channel|>"), *THINKING),
    aliases=("gemma-4", "gemma4-no-thinking"),
    models=("Gemma 4",),
    summary='call:NAME and braces with bare keys, texts between <|"|> marks',
)
