"""Models that write calls as Python does, with or without markers around them."""

from __future__ import annotations

from tunaeval.grammar import ANY_NAME, ANY_SPACE, Literal, PythonCalls, Space, shipped

_BARE = PythonCalls(opens=(("[", ANY_SPACE, ANY_NAME, "("),))

PYTHONIC = shipped(
    "pythonic",
    (_BARE,),
    marked=False,
    around=(Literal("", also=("<|python_start|>",)), Literal("", also=("<|python_end|>",))),
    separator="",
    models=("Llama 3.2 1B and 3B", "ToolACE", "models that are asked for a list of calls"),
    summary="a list of Python calls, without markers",
)

# Replies of 2024 to the prompts of BFCL: Gorilla writes commas between calls, Raven semicolons,
# others quote each call in a list, or escape its names as Markdown does.
PYTHON_CALLS = shipped(
    "python-calls",
    (PythonCalls(listed=False, loose=True),),
    marked=False,
    whole=True,
    aliases=("gorilla", "raven"),
    models=("Gorilla OpenFunctions v2", "NexusRaven", "Snowflake Arctic", "DBRX", "small Mistrals"),
    summary="Python calls side by side, or quoted in a list: all of a reply or of a code fence",
)

LLAMA4_PYTHONIC = shipped(
    "llama4-pythonic",
    (_BARE,),
    marked=False,
    around=(Literal("<|python_start|>"), Literal("<|python_end|>")),
    separator="",
    aliases=("llama4_pythonic",),
    models=("Llama 4",),
    summary="a list of Python calls, with or without Python markers around it",
)

OLMO3 = shipped(
    "olmo3",
    (
        Literal("<function_calls>"),
        Space("\n"),
        PythonCalls(listed=False),
        Space("\n"),
        Literal("</function_calls>"),
    ),
    aliases=("olmo3-think",),
    models=("OLMo 3",),
    summary="Python calls on lines of their own between <function_calls> tags",
)

# Google's guides to function calling with Gemma 3 (ai.google.dev/gemma/docs).
TOOL_CODE = shipped(
    "tool-code",
    (
        Literal("```tool_code"),
        Space("\n"),
        PythonCalls(listed=False),
        Space("\n"),
        Literal("```"),
    ),
    models=("Gemma 3",),
    summary="Python calls in a Markdown code fence of the language tool_code",
)

LFM2_PYTHONIC = shipped(
    "lfm2-pythonic",
    (
        Literal("<|tool_call_start|>"),
        Space(),
        PythonCalls(),
        Space(),
        Literal("<|tool_call_end|>"),
    ),
    models=("LFM2", "LFM2.5"),
    summary="a list of Python calls between tool call markers",
)

# What Gemma 4 falls into: Python's brackets instead of its braces.
GEMMA4_PYTHON = shipped(
    "gemma4-python",
    (
        Literal("<|tool_call>call:"),
        Space(),
        PythonCalls(listed=False),
        Space(),
        Literal("<tool_call|>"),
    ),
    separator="",
    models=("Gemma 4",),
    summary="as gemma4, with the arguments as Python writes them",
)

TOOL_CODE_LINE = shipped(
    "tool-code-line",
    (Literal("tool_code = ", also=("tool_code=",)), PythonCalls()),
    marked=False,
    models=("Gemma 3",),
    summary="Python calls behind tool_code =, in a list or not",
)
