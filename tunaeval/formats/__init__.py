"""The wire formats, as values: a file per family, and nothing but data.

A format's constant is its name in capitals, without its dots: HERMES is "hermes", TOOLS_TAG is
"tools-tag", DEEPSEEK_V31 is "deepseek-v3.1".
"""

from .braces import FUNCTIONGEMMA, GEMMA4
from .named_json import (
    DEEPSEEK_V3,
    DEEPSEEK_V31,
    FUNCTIONARY_V31,
    KIMI_K2,
    MISTRAL_V11,
    PLAMO3,
)
from .pairs import GLM45, GLM47, HUNYUAN_V3, IQUEST_Q1, K2_HORIZON_XML
from .parameters import (
    DEEPSEEK_V32,
    DEEPSEEK_V41,
    GIGACHAT35,
    MIMO,
    MINICPM5,
    MINIMAX_M2,
    QWEN3_CODER,
    SEED_OSS,
    STEP3,
)
from .python_calls import LFM2_PYTHONIC, LLAMA4_PYTHONIC, OLMO3, PYTHONIC
from .qwen25 import CHAIN, FENCE, HERMES, JSON, LOOSE_JSON, TOOLS_TAG
from .tagged_json import (
    APERTUS,
    COHERE,
    DOTS_JSON,
    GIGACHAT3,
    GRANITE3,
    GRANITE_20B_FC,
    INKLING,
    INTERNLM,
    JAMBA,
    K2_HORIZON_JSON,
    LFM2_JSON,
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
        APERTUS,
        COHERE,
        DEEPSEEK_V3,
        DEEPSEEK_V31,
        DEEPSEEK_V32,
        DEEPSEEK_V41,
        DOTS_JSON,
        FUNCTIONARY_V31,
        FUNCTIONGEMMA,
        GEMMA4,
        GIGACHAT3,
        GIGACHAT35,
        GLM45,
        GLM47,
        GRANITE3,
        GRANITE_20B_FC,
        HUNYUAN_V3,
        INKLING,
        INTERNLM,
        IQUEST_Q1,
        JAMBA,
        K2_HORIZON_JSON,
        K2_HORIZON_XML,
        KIMI_K2,
        LFM2_JSON,
        LFM2_PYTHONIC,
        LLAMA3_JSON,
        LLAMA4_PYTHONIC,
        LONGCAT,
        MIMO,
        MINICPM5,
        MINIMAX_M2,
        MISTRAL_V11,
        MISTRAL_ARRAY,
        NEMOTRON,
        OLMO3,
        PHI4_MINI,
        PLAMO3,
        PYTHONIC,
        QWEN3_CODER,
        SEED_OSS,
        STEP3,
    )
}
"""Every format that comes with tunaeval, by its canonical name."""

SETS = {
    "dots": (DOTS_JSON, MINIMAX_M2),
    "k2-horizon": (K2_HORIZON_JSON, K2_HORIZON_XML),
    "lfm2": (LFM2_PYTHONIC, LFM2_JSON),
    "mistral": (MISTRAL_V11, MISTRAL_ARRAY),
}
"""Formats that models of one name write in turn, to be read side by side."""

__all__ = [
    "APERTUS",
    "CHAIN",
    "COHERE",
    "DEEPSEEK_V3",
    "DEEPSEEK_V31",
    "DEEPSEEK_V32",
    "DEEPSEEK_V41",
    "DOTS_JSON",
    "FENCE",
    "FORMATS",
    "FUNCTIONARY_V31",
    "FUNCTIONGEMMA",
    "GEMMA4",
    "GIGACHAT3",
    "GIGACHAT35",
    "GRANITE3",
    "GRANITE_20B_FC",
    "HERMES",
    "INKLING",
    "INTERNLM",
    "JAMBA",
    "JSON",
    "K2_HORIZON_JSON",
    "KIMI_K2",
    "LFM2_JSON",
    "LFM2_PYTHONIC",
    "LLAMA3_JSON",
    "LLAMA4_PYTHONIC",
    "LONGCAT",
    "LOOSE_JSON",
    "MIMO",
    "MINICPM5",
    "MINIMAX_M2",
    "MISTRAL_ARRAY",
    "MISTRAL_V11",
    "NEMOTRON",
    "OLMO3",
    "PHI4_MINI",
    "PLAMO3",
    "PYTHONIC",
    "QWEN3_CODER",
    "SEED_OSS",
    "SETS",
    "STEP3",
    "TOOLS_TAG",
]
