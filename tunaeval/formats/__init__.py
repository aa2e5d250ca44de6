"""The wire formats, as values: a file per family, and nothing but data.

A format's constant is its name in capitals, without its dots: HERMES is "hermes", TOOLS_TAG is
"tools-tag", DEEPSEEK_V31 is "deepseek-v3.1".
"""

from .braces import FUNCTIONGEMMA, GEMMA4
from .named_json import (
    DEEPSEEK_V3,
    DEEPSEEK_V31,
    FUNCTIONARY_V31,
    FUNCTIONARY_V32,
    KIMI_K2,
    MISTRAL_V11,
    PLAMO3,
    REACT,
)
from .pairs import (
    GLM45,
    GLM47,
    HUNYUAN_V3,
    HUNYUAN_V3_OPENSOURCE,
    IQUEST_Q1,
    K2_HORIZON_XML,
)
from .parameters import (
    ANTHROPIC,
    DEEPSEEK_V32,
    DEEPSEEK_V41,
    DOTS_INVOKE,
    GIGACHAT35,
    MIMO,
    MINICPM5,
    MINIMAX_M2,
    MINIMAX_M3,
    QWEN3_CODER,
    SEED_OSS,
    STEP3,
)
from .python_calls import LFM2_PYTHONIC, LLAMA4_PYTHONIC, OLMO3, PYTHONIC
from .qwen25 import CHAIN, ERNIE45, FENCE, HERMES, JSON, LOOSE_JSON, TOOLS_TAG
from .routed import HARMONY, INKLING, KIMI_K3, MUSE
from .tagged_json import (
    APERTUS,
    COHERE,
    DOTS_JSON,
    GIGACHAT3,
    GRANITE3,
    GRANITE31,
    GRANITE_20B_FC,
    HUNYUAN_A13B,
    INTERNLM,
    JAMBA,
    K2_HORIZON_JSON,
    LFM2_JSON,
    LLAMA3_BARE,
    LLAMA3_JSON,
    LONGCAT,
    MISTRAL_ARRAY,
    NEMOTRON,
    PHI4_MINI,
)

FORMATS = {
    format_.name: format_
    for format_ in (
        *CHAIN,
        ANTHROPIC,
        APERTUS,
        COHERE,
        DEEPSEEK_V3,
        DEEPSEEK_V31,
        DEEPSEEK_V32,
        DEEPSEEK_V41,
        DOTS_INVOKE,
        DOTS_JSON,
        ERNIE45,
        FUNCTIONARY_V31,
        FUNCTIONARY_V32,
        FUNCTIONGEMMA,
        GEMMA4,
        GIGACHAT3,
        GIGACHAT35,
        GLM45,
        GLM47,
        GRANITE3,
        GRANITE31,
        GRANITE_20B_FC,
        HARMONY,
        HUNYUAN_A13B,
        HUNYUAN_V3,
        HUNYUAN_V3_OPENSOURCE,
        INKLING,
        INTERNLM,
        IQUEST_Q1,
        JAMBA,
        K2_HORIZON_JSON,
        K2_HORIZON_XML,
        KIMI_K2,
        KIMI_K3,
        LFM2_JSON,
        LFM2_PYTHONIC,
        LLAMA3_BARE,
        LLAMA3_JSON,
        LLAMA4_PYTHONIC,
        LONGCAT,
        MIMO,
        MINICPM5,
        MINIMAX_M2,
        MINIMAX_M3,
        MISTRAL_ARRAY,
        MISTRAL_V11,
        MUSE,
        NEMOTRON,
        OLMO3,
        PHI4_MINI,
        PLAMO3,
        PYTHONIC,
        QWEN3_CODER,
        REACT,
        SEED_OSS,
        STEP3,
    )
}
"""Every format that comes with tunaeval, by its canonical name."""

AUTO = (
    *(
        format_
        for format_ in FORMATS.values()
        if format_
        not in (ANTHROPIC, DOTS_INVOKE, ERNIE45, GLM47, GRANITE31, HUNYUAN_A13B, LLAMA3_BARE, MIMO)
    ),
)
"""What `auto` reads side by side: all but those whose text is also that of another one."""

SETS = {
    "dots": (DOTS_JSON, DOTS_INVOKE),
    "granite": (GRANITE3, GRANITE31),
    "hunyuan": (HUNYUAN_V3, HUNYUAN_V3_OPENSOURCE),
    "k2-horizon": (K2_HORIZON_JSON, K2_HORIZON_XML),
    "lfm2": (LFM2_PYTHONIC, LFM2_JSON),
    "llama3": (LLAMA3_JSON, LLAMA3_BARE),
    "mistral": (MISTRAL_V11, MISTRAL_ARRAY),
    "xlam": (JSON, FENCE, HERMES, MISTRAL_ARRAY),
}
"""Formats that models of one name write in turn, to be read side by side."""

SET_ALIASES = {
    "hy_v3": "hunyuan",
    "hy_v4": "hunyuan",
    "k2_horizon": "k2-horizon",
    "llama3_json": "llama3",
    "llama4_json": "llama3",
}
"""Further names of these sets."""

__all__ = [
    "ANTHROPIC",
    "APERTUS",
    "AUTO",
    "CHAIN",
    "COHERE",
    "DEEPSEEK_V3",
    "DEEPSEEK_V31",
    "DEEPSEEK_V32",
    "DEEPSEEK_V41",
    "DOTS_INVOKE",
    "DOTS_JSON",
    "ERNIE45",
    "FENCE",
    "FORMATS",
    "FUNCTIONARY_V31",
    "FUNCTIONARY_V32",
    "FUNCTIONGEMMA",
    "GEMMA4",
    "GIGACHAT3",
    "GIGACHAT35",
    "GLM45",
    "GLM47",
    "GRANITE3",
    "GRANITE31",
    "GRANITE_20B_FC",
    "HARMONY",
    "HERMES",
    "HUNYUAN_A13B",
    "HUNYUAN_V3",
    "HUNYUAN_V3_OPENSOURCE",
    "INKLING",
    "INTERNLM",
    "IQUEST_Q1",
    "JAMBA",
    "JSON",
    "K2_HORIZON_JSON",
    "K2_HORIZON_XML",
    "KIMI_K2",
    "KIMI_K3",
    "LFM2_JSON",
    "LFM2_PYTHONIC",
    "LLAMA3_BARE",
    "LLAMA3_JSON",
    "LLAMA4_PYTHONIC",
    "LONGCAT",
    "LOOSE_JSON",
    "MIMO",
    "MINICPM5",
    "MINIMAX_M2",
    "MINIMAX_M3",
    "MISTRAL_ARRAY",
    "MISTRAL_V11",
    "MUSE",
    "NEMOTRON",
    "OLMO3",
    "PHI4_MINI",
    "PLAMO3",
    "PYTHONIC",
    "QWEN3_CODER",
    "REACT",
    "SEED_OSS",
    "SETS",
    "SET_ALIASES",
    "STEP3",
    "TOOLS_TAG",
]
