"""Models that write `<function=NAME>` with a `<parameter=KEY>` for each argument."""

from __future__ import annotations

from tunaeval.grammar import (
    THINKING,
    WITH_COLONS,
    Key,
    Literal,
    Many,
    Name,
    Reasoning,
    Space,
    Value,
    Word,
    shipped,
)

_OPENED: tuple[Word, ...] = (Literal("<function="), Name(WITH_COLONS), Literal(">"), Space("\n"))
_KEYED: tuple[Word, ...] = (Literal("<parameter="), Key(), Literal(">"))
_ENDED: tuple[Word, ...] = (Literal("</parameter>", also=("</parameter>>",)), Space("\n"))
_CLOSED = Literal("</function>")

_TRIMMED = (*_OPENED, Many((*_KEYED, Value("newline"), *_ENDED)), _CLOSED)
_KEPT = (*_OPENED, Many((*_KEYED, Value(), *_ENDED)), _CLOSED)
_PAIRED = (*_OPENED, Many((*_KEYED, Value("newlines"), *_ENDED)), _CLOSED)
_TAGS = (Literal("<tool_call>"), Space("\n")), (Space("\n"), Literal("</tool_call>"))
_SEED = (Reasoning("<seed:think>", "</seed:think>"), *THINKING)

# The parser of vllm-mlx reads it: models of the Qwen3-Coder family leave `<tool_call>` out at
# times, mostly before the first call.
QWEN3_BARE = shipped(
    "qwen3-bare",
    _TRIMMED,
    models=("Qwen3-Coder", "Step-3.5", "Nemotron 3"),
    summary="as qwen3-coder, without <tool_call>",
)

MIMO_BARE = shipped(
    "mimo-bare",
    _KEPT,
    models=("MiMo-V2",),
    summary="as mimo, without <tool_call>",
)

SEED_OSS_BARE = shipped(
    "seed-oss-bare",
    _PAIRED,
    reasoning=_SEED,
    models=("Seed-OSS",),
    summary="as seed-oss, without <seed:tool_call>",
)

QWEN3_CODER = shipped(
    "qwen3-coder",
    (*_TAGS[0], *_TRIMMED, *_TAGS[1]),
    also=(QWEN3_BARE,),
    aliases=(
        "interns2-preview",
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
        "qwen3coder",
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
    (*_TAGS[0], *_KEPT, *_TAGS[1]),
    also=(MIMO_BARE,),
    models=("MiMo-V2",),
    summary="as qwen3-coder, with values kept to the letter",
)

SEED_OSS = shipped(
    "seed-oss",
    (
        Literal("<seed:tool_call>"),
        Space("\n"),
        *_PAIRED,
        Space("\n"),
        Literal("</seed:tool_call>"),
    ),
    also=(SEED_OSS_BARE,),
    reasoning=_SEED,
    aliases=("seed_oss",),
    models=("Seed-OSS",),
    summary="as qwen3-coder, inside <seed:tool_call>",
)
