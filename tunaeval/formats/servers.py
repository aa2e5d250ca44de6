"""Names that servers have for formats and for reasoning, where one name is not one format here.

From `--tool-call-parser` and `--reasoning-parser` of vLLM, SGLang, dynamo and smg, and the parsers
that a Modelfile of Ollama names. A name of reasoning is the format that its models write calls in,
for every format here knows its models' reasoning.
"""

from __future__ import annotations

from .function_tags import QWEN3_BARE, QWEN3_CODER
from .named_json import MISTRAL_V11
from .pairs import HUNYUAN_V3, HUNYUAN_V3_OPENSOURCE, K2_HORIZON_XML
from .parameters import DOTS_INVOKE
from .python_calls import LFM2_PYTHONIC
from .qwen25 import FENCE, HERMES, JSON
from .tagged_json import (
    DOTS_JSON,
    GRANITE3,
    GRANITE31,
    K2_HORIZON_JSON,
    LFM2_JSON,
    LLAMA3_BARE,
    LLAMA3_JSON,
    MISTRAL_ARRAY,
    TOOL_CALLS,
)

SETS = {
    "dots": (DOTS_JSON, DOTS_INVOKE),
    "granite": (GRANITE3, GRANITE31),
    "hunyuan": (HUNYUAN_V3, HUNYUAN_V3_OPENSOURCE),
    "k2-horizon": (K2_HORIZON_JSON, K2_HORIZON_XML),
    "lfm2": (LFM2_PYTHONIC, LFM2_JSON),
    "llama3": (LLAMA3_JSON, LLAMA3_BARE),
    "mistral": (MISTRAL_V11, MISTRAL_ARRAY),
    "qwen3": (HERMES, QWEN3_CODER, QWEN3_BARE),
    "xlam": (JSON, FENCE, HERMES, MISTRAL_ARRAY, TOOL_CALLS),
}
"""Formats that models of one name write in turn, to be read side by side."""

SET_ALIASES = {
    "holo2": "qwen3",
    "hy_v3": "hunyuan",
    "hy_v4": "hunyuan",
    "k2_horizon": "k2-horizon",
    "lfm2-thinking": "lfm2",
    "llama": "llama3",
    "llama3_json": "llama3",
    "llama4_json": "llama3",
    "qwen3-thinking": "qwen3",
    "qwen3-vl-instruct": "qwen3",
    "qwen3-vl-thinking": "qwen3",
    "qwen3_thinking": "qwen3",
}
"""Further names of these sets."""

_TEMPLATE = (
    "the chat template of the model decides what a call looks like; give the name of the format "
    "that the template writes, or 'auto'"
)
_REASONING = (
    "it says only how reasoning is marked, which all formats know; give the name of the format "
    "that the model writes calls in (hermes, qwen3-coder, glm45, deepseek-v3, ...), or 'auto'"
)
_NOTHING = "it leaves a text as it is; give the name of the format of the model, or 'auto'"

REFUSED = {
    "base": _REASONING,
    "basic": _REASONING,
    "default": "dynamo calls several formats of JSON so; give the name of one of them, or 'auto'",
    "hf": _TEMPLATE,
    "identity": _NOTHING,
    "passthrough": _NOTHING,
    "response_template": _TEMPLATE,
    "telechat4": _REASONING,
}
"""Names that no format can have, and why, with what to give instead."""
