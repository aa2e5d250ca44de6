"""Models that write `<function=NAME>` with a `<parameter=KEY>` for each argument."""

from __future__ import annotations

from tunaeval.grammar import THINKING, Key, Literal, Many, Name, Reasoning, Space, Value, shipped

_TRIMMED = Many(
    (
        Literal("<parameter="),
        Key(),
        Literal(">"),
        Value("newline"),
        Literal("</parameter>"),
        Space("\n"),
    )
)

# The parser of vllm-mlx reads it: models of the Qwen3-Coder family leave `<tool_call>` out at
# times, mostly before the first call.
QWEN3_BARE = shipped(
    "qwen3-bare",
    (
        Literal("<function="),
        Name(),
        Literal(">"),
        Space("\n"),
        _TRIMMED,
        Literal("</function>"),
    ),
    models=("Qwen3-Coder", "Step-3.5", "Nemotron 3"),
    summary="as qwen3-coder, without <tool_call>",
)

QWEN3_CODER = shipped(
    "qwen3-coder",
    (
        Literal("<tool_call>"),
        Space("\n"),
        Literal("<function="),
        Name(),
        Literal(">"),
        Space("\n"),
        _TRIMMED,
        Literal("</function>"),
        Space("\n"),
        Literal("</tool_call>"),
    ),
    also=(QWEN3_BARE,),
    aliases=(
        "nanbeige",
        "nano_v3",
        "nemotron-3-nano",
        "nemotron-3.5-nano",
        "nemotron3",
        "nemotron_3",
        "nemotron_nano",
        "nemotron_v3",
        "ornith",
        "qwen3.5",
        "qwen3_coder",
        "qwen3_xml",
        "qwen_coder",
        "qwen_xml",
        "step3p5",
        "step5",
    ),
    models=("Qwen3-Coder", "Qwen3.5", "Nemotron 3", "Step-3.5", "Granite 4.2"),
    summary="<function=NAME> with <parameter=KEY> inside <tool_call>",
)

MIMO = shipped(
    "mimo",
    (
        Literal("<tool_call>"),
        Space("\n"),
        Literal("<function="),
        Name(),
        Literal(">"),
        Space("\n"),
        Many(
            (
                Literal("<parameter="),
                Key(),
                Literal(">"),
                Value(),
                Literal("</parameter>"),
                Space("\n"),
            )
        ),
        Literal("</function>"),
        Space("\n"),
        Literal("</tool_call>"),
    ),
    models=("MiMo-V2",),
    summary="as qwen3-coder, with values kept to the letter",
)

SEED_OSS = shipped(
    "seed-oss",
    (
        Literal("<seed:tool_call>"),
        Space("\n"),
        Literal("<function="),
        Name(),
        Literal(">"),
        Space("\n"),
        Many(
            (
                Literal("<parameter="),
                Key(),
                Literal(">"),
                Value("newlines"),
                Literal("</parameter>"),
                Space("\n"),
            )
        ),
        Literal("</function>"),
        Space("\n"),
        Literal("</seed:tool_call>"),
    ),
    reasoning=(Reasoning("<seed:think>", "</seed:think>"), *THINKING),
    aliases=("seed_oss",),
    models=("Seed-OSS",),
    summary="as qwen3-coder, inside <seed:tool_call>",
)
