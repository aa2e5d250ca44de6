"""The wire formats, as values.

To add one is to add a constant to `objects` or to `parameters`, which registers its name, and to
decide whether `auto` reads it (`_BY_NAME_ONLY`).
"""

from tunaeval.grammar import Format

from . import objects, parameters
from .objects import *  # noqa: F403 - its constants are names of this package
from .parameters import *  # noqa: F403 - likewise

CHAIN = (objects.HERMES, objects.TOOLS_TAG, objects.JSON, objects.FENCE, objects.LOOSE_JSON)
"""What the TunaCode harness looked for after structured calls, in its order."""

_CONSTANTS = {
    name.replace("_", "@"): format_  # sorted between digits and letters
    for name, format_ in {**vars(objects), **vars(parameters)}.items()
    if isinstance(format_, Format)
}
FORMATS = {format_.name: format_ for format_ in CHAIN}
FORMATS |= {_CONSTANTS[name].name: _CONSTANTS[name] for name in sorted(_CONSTANTS)}
"""Every format that comes with tunaeval, by its canonical name.

Where two could read a text, `auto` reads it in the earlier one: those of the chain, then the others
in the order of their constants' names.
"""

_BY_NAME_ONLY = {
    "anthropic", "apriel", "command-r", "dots-invoke", "ernie45", "glm47", "granite3.1",
    "hunyuan-a13b", "llama3-bare", "mimo", "mimo-bare", "sarashina", "seed-oss-bare",
}  # fmt: skip

AUTO = tuple(format_ for name, format_ in FORMATS.items() if name not in _BY_NAME_ONLY)
"""What `auto` reads side by side: all but those whose text is also that of another one."""

# Names that servers have for formats and for reasoning, where one name is not one format here: from
# `--tool-call-parser` and `--reasoning-parser` of vLLM, SGLang, dynamo and smg, and the parsers
# that a Modelfile of Ollama names. A name of reasoning is the format that its models write calls
# in, for every format here knows its models' reasoning.

SETS = {
    "dots": (objects.DOTS_JSON, parameters.DOTS_INVOKE),
    "granite": (objects.GRANITE3, objects.GRANITE31),
    "hunyuan": (parameters.HUNYUAN_V3, parameters.HUNYUAN_V3_OPENSOURCE),
    "k2-horizon": (objects.K2_HORIZON_JSON, parameters.K2_HORIZON_XML),
    "lfm2": (objects.LFM2_PYTHONIC, objects.LFM2_JSON),
    "llama3": (objects.LLAMA3_JSON, objects.LLAMA3_BARE),
    "mistral": (objects.MISTRAL_V11, objects.MISTRAL_ARRAY),
    "qwen3": (objects.HERMES, parameters.QWEN3_CODER, parameters.QWEN3_BARE),
    "xlam": (
        objects.JSON,
        objects.FENCE,
        objects.HERMES,
        objects.MISTRAL_ARRAY,
        objects.TOOL_CALLS,
    ),
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
