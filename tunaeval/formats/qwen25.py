"""The formats that Qwen2.5 models and their many fine-tunes write, as values.

Sources: the Hermes 2 Pro and Qwen2.5 chat templates (`<tool_call>`); vLLM #32926 for what
Qwen2.5-Coder writes instead (`<tools>` with an object or an array, JSON in code fences, bare JSON).
"""

from __future__ import annotations

from tunaeval.grammar import (
    ANY_SPACE,
    CallObject,
    Literal,
    Markup,
    Space,
    shipped,
    shipped_like,
)
from tunaeval.types import ARGUMENTS_KEYS, NAME_KEYS

HERMES = shipped(
    "hermes",
    (
        Literal("<tool_call>"),
        Space("\n"),
        CallObject(),
        Space("\n"),
        Literal("</tool_call>"),
    ),
    aliases=("json_tools", "qwen3_json", "qwen", "qwen2d5", "trinity", "granite4"),
    models=("Hermes 2/3", "Qwen2.5", "QwQ", "Qwen3 dense"),
    summary="one JSON object between <tool_call> tags",
)

ERNIE45 = shipped_like(
    HERMES,
    name="ernie45",
    dropped=("<response>", "</response>"),
    aliases=(),
    models=("ERNIE 4.5",),
    summary="as hermes, with prose in <response>",
)

TOOLS_TAG = shipped(
    "tools-tag",
    (
        Literal("<tools>"),
        Space("\n"),
        CallObject(array=True),
        Space("\n"),
        Literal("</tools>"),
    ),
    models=("Qwen2.5-Coder",),
    summary="a JSON object or array between <tools> tags",
)

FENCE = shipped(
    "fence",
    (
        Literal("```"),
        Markup("json", r"[ \t]?[A-Za-z0-9_+-]{0,24}"),
        Space("\n"),
        CallObject(array=True),
        Space("\n"),
        Literal("```"),
    ),
    marked=False,
    models=("Qwen2.5-Coder", "many models without a format of their own"),
    summary="a JSON object or array in a Markdown code fence",
)

JSON = shipped(
    "json",
    (
        CallObject(
            array=True,
            opens=(("{", ANY_SPACE, '"'), ("[", ANY_SPACE, "{", ANY_SPACE, '"')),
        ),
    ),
    marked=False,
    models=("Qwen2.5-Coder", "Llama 3 without its tag"),
    summary="a bare JSON object or array",
)

_LOOSE_STARTS = (
    ("'",),
    ("“",),
    *((key, ANY_SPACE, ":") for key in (*NAME_KEYS, *ARGUMENTS_KEYS)),
)

LOOSE_JSON = shipped(
    "loose-json",
    (
        CallObject(
            array=True,
            bare_keys=True,
            opens=tuple(
                (*bracket, ANY_SPACE, *start)
                for start in _LOOSE_STARTS
                for bracket in (("{",), ("[", ANY_SPACE, "{"))
            ),
        ),
    ),
    marked=False,
    models=("small models",),
    summary="a bare object with single quotes, typographic quotes or bare keys",
)

CHAIN = (HERMES, TOOLS_TAG, JSON, FENCE, LOOSE_JSON)
"""What the TunaCode harness looked for after structured calls, in its order."""
