"""Models that write each argument as a pair of tags, one for its name and one for its value."""

from __future__ import annotations

from tunaeval.grammar import (
    THINKING,
    TYPE_NAME,
    WITH_COLONS,
    Key,
    Literal,
    Many,
    Maybe,
    Name,
    Reasoning,
    Space,
    Value,
    shipped,
    shipped_like,
)

from .named_json import GLM_FLASH
from .tagged_json import K2_THINK

_PAIRS = Many(
    (
        Literal("<arg_key>"),
        Key(),
        Literal("</arg_key>"),
        Space("\n"),
        Literal("<arg_value>"),
        Value(),
        Literal("</arg_value>"),
        Space("\n"),
    )
)
_JOINED_PAIRS = Many(
    (
        Literal("<arg_key>"),
        Key(),
        Literal("</arg_key>"),
        Space(),
        Literal("<arg_value>"),
        Value(),
        Literal("</arg_value>"),
        Space(),
    )
)

_BOX = ("<|begin_of_box|>", "<|end_of_box|>")
"""What GLM-4.5V and its successors write around an answer."""

GLM45 = shipped(
    "glm45",
    (
        Literal("<tool_call>"),
        Space(),
        Name(WITH_COLONS),
        Space("\n"),
        _PAIRS,
        Literal("</tool_call>"),
    ),
    dropped=_BOX,
    also=(GLM_FLASH,),
    aliases=(
        "glm",
        "glm-ocr",
        "glm45_moe",
        "laguna",
        "ling3",
        "poolside-v1",
        "poolside_v1",
        "spark25",
    ),
    models=("GLM-4.5", "GLM-4.6", "Ling 3", "Laguna", "Spark 2.5"),
    summary="name, then <arg_key> and <arg_value>, inside <tool_call>",
)

GLM47 = shipped(
    "glm47",
    (
        Literal("<tool_call>"),
        Space(),
        Name(WITH_COLONS),
        Space(),
        _JOINED_PAIRS,
        Literal("</tool_call>"),
    ),
    dropped=_BOX,
    also=(GLM_FLASH,),
    separator="",
    aliases=("glm-4.7", "glm47_moe", "glm5"),
    models=("GLM-4.7", "GLM-5", "Hunyuan 4"),
    summary="as glm45, without newlines",
)

IQUEST_Q1 = shipped(
    "iquest-q1",
    (
        Literal("<iquest_tool_call>"),
        Space(),
        Name(WITH_COLONS),
        Space("\n"),
        _PAIRS,
        Literal("</iquest_tool_call>"),
    ),
    aliases=("iquest_q1",),
    models=("IQuest Q1",),
    summary="as glm45, inside <iquest_tool_call>",
)

HUNYUAN_V3 = shipped(
    "hunyuan-v3",
    (
        Literal("<tool_call>"),
        Space(),
        Name(WITH_COLONS),
        Space(),
        Maybe((Literal("<tool_sep>"),), written=True),
        Space("\n"),
        _PAIRS,
        Literal("</tool_call>"),
    ),
    around=(Literal("<tool_calls>"), Literal("</tool_calls>")),
    models=("Hunyuan 3", "Hunyuan 4"),
    summary="as glm45 with <tool_sep> behind the name, inside <tool_calls>",
)

HUNYUAN_V3_OPENSOURCE = shipped(
    "hunyuan-v3-opensource",
    (
        Literal("<tool_call:opensource>"),
        Space(),
        Name(WITH_COLONS),
        Space(),
        Maybe((Literal("<tool_sep:opensource>"),), written=True),
        Space("\n"),
        Many(
            (
                Literal("<arg_key:opensource>"),
                Key(),
                Literal("</arg_key:opensource>"),
                Space("\n"),
                Literal("<arg_value:opensource>"),
                Value(),
                Literal("</arg_value:opensource>"),
                Space("\n"),
            )
        ),
        Literal("</tool_call:opensource>"),
    ),
    around=(Literal("<tool_calls:opensource>"), Literal("</tool_calls:opensource>")),
    reasoning=(Reasoning("<think:opensource>", "</think:opensource>"), *THINKING),
    models=("Hunyuan 3 and 4 with open weights",),
    summary="as hunyuan-v3, with a suffix in every tag",
)

K2_HORIZON_XML = shipped(
    "k2-horizon-xml",
    (
        Literal("<ifm|tool_call>"),
        Space(),
        Name(WITH_COLONS),
        Space("\n"),
        Many(
            (
                Literal("<ifm|arg_key>"),
                Key(),
                Literal("</ifm|arg_key>"),
                Space("\n"),
                Maybe(
                    (
                        Literal("<ifm|arg_type>"),
                        TYPE_NAME,
                        Literal("</ifm|arg_type>"),
                        Space("\n"),
                    )
                ),
                Literal("<ifm|arg_value>"),
                Value(),
                Literal("</ifm|arg_value>"),
                Space("\n"),
            )
        ),
        Literal("</ifm|tool_call>"),
    ),
    around=(Literal("<ifm|tool_calls>"), Literal("</ifm|tool_calls>")),
    reasoning=K2_THINK,
    models=("K2 Horizon",),
    summary="name, then <ifm|arg_key> and <ifm|arg_value>",
)

IQUEST_CODER = shipped_like(
    IQUEST_Q1,
    name="iquest-coder",
    words=(
        Literal("<iquestcoder_tool_call>"),
        Space(),
        Name(WITH_COLONS),
        Space("\n"),
        _PAIRS,
        Literal("</iquestcoder_tool_call>"),
    ),
    aliases=("iquest_coder", "iquestcoder"),
    models=("IQuest Coder V2",),
    summary="as glm45, inside <iquestcoder_tool_call>",
)
