"""Models that write one JSON object, or an array of them, between markers of their own."""

from __future__ import annotations

from tunaeval.grammar import (
    ANY_SPACE,
    THINKING,
    CallObject,
    Literal,
    Reasoning,
    Space,
    shipped,
    shipped_like,
)

from .qwen25 import JSON, LOOSE_JSON

_ONE = CallObject()
_SEVERAL = CallObject(array=True, listed=True)
_PARAMETERS = CallObject(arguments="parameters")

DOTS_JSON = shipped(
    "dots-json",
    (
        Literal("<dots_function_call>"),
        Space("\n"),
        _ONE,
        Space("\n"),
        Literal("</dots_function_call>"),
    ),
    models=("dots (its second way)",),
    summary="one JSON object between <dots_function_call> tags",
)

INTERNLM = shipped(
    "internlm",
    (
        Literal("<|action_start|>"),
        Space(" "),
        Literal("<|plugin|>"),
        Space("\n"),
        _PARAMETERS,
        Space("\n"),
        Literal("<|action_end|>"),
    ),
    aliases=("intern-s1", "interns1"),
    models=("InternLM2.5", "Intern-S1"),
    summary="one JSON object behind <|plugin|>",
)

GIGACHAT3 = shipped(
    "gigachat3",
    (Literal("<|function_call|>", also=("function call<|role_sep|>\n",)), _ONE),
    dropped=("<|message_sep|>",),
    separator="",
    models=("GigaChat 3",),
    summary="one JSON object behind <|function_call|>, without a closer",
)

GRANITE_20B_FC = shipped(
    "granite-20b-fc",
    (Literal("<function_call>"), Space(" "), _ONE),
    separator=" ",
    models=("granite-20b-functioncalling",),
    summary="one JSON object behind <function_call>, without a closer",
)

K2_THINK = (
    Reasoning("<ifm|think>", "</ifm|think>"),
    Reasoning("<ifm|think_fast>", "</ifm|think_fast>"),
    Reasoning("<ifm|think_faster>", "</ifm|think_faster>"),
    *THINKING,
)
"""K2 Horizon thinks at three speeds."""

K2_HORIZON_JSON = shipped(
    "k2-horizon-json",
    (Literal("<ifm|tool_call>"), Space(), _ONE, Space(), Literal("</ifm|tool_call>")),
    around=(Literal("<ifm|tool_calls>"), Literal("</ifm|tool_calls>")),
    separator="",
    reasoning=K2_THINK,
    models=("K2 Horizon",),
    summary="one JSON object between <ifm|tool_call> tags",
)

MISTRAL_ARRAY = shipped(
    "mistral-array",
    (Literal("[TOOL_CALLS]"), Space(" "), _SEVERAL),
    models=("Mistral 7B v0.3", "Mistral Nemo", "Mistral Large 2407"),
    summary="a JSON array behind [TOOL_CALLS]",
)

JAMBA = shipped(
    "jamba",
    (Literal("<tool_calls>"), Space(), _SEVERAL, Space(), Literal("</tool_calls>")),
    models=("Jamba 1.5",),
    summary="a JSON array between <tool_calls> tags",
)

HUNYUAN_A13B = shipped_like(
    JAMBA,
    name="hunyuan-a13b",
    dropped=("<answer>", "</answer>"),
    aliases=("hunyuan_a13b",),
    models=("Hunyuan-A13B",),
    summary="as jamba, with prose in <answer>",
)

NEMOTRON = shipped(
    "nemotron",
    (Literal("<TOOLCALL>"), Space(), _SEVERAL, Space(), Literal("</TOOLCALL>")),
    aliases=("nemotron_deci",),
    models=("Nemotron Nano v2", "Llama-Nemotron"),
    summary="a JSON array between <TOOLCALL> tags",
)

GRANITE3 = shipped(
    "granite3",
    (Literal("<|tool_call|>"), Space(), _SEVERAL),
    models=("Granite 3.0",),
    summary="a JSON array behind <|tool_call|>, without a closer",
)

GRANITE31 = shipped(
    "granite3.1",
    (Literal("<tool_call>"), Space(), _SEVERAL),
    dropped=("<response>", "</response>"),
    reasoning=(
        Reasoning("Here is my thought process:", "Here is my response:"),
        Reasoning("Here's my thought process:", "Here's my response:"),
        *THINKING,
    ),
    models=("Granite 3.1", "Granite 3.2", "Granite 3.3"),
    summary="a JSON array behind <tool_call>, without a closer",
)

PHI4_MINI = shipped(
    "phi4-mini",
    (Literal("functools"), Space(), _SEVERAL),
    aliases=("firefunction", "phi4", "phi4_mini_json"),
    models=("Phi-4-mini", "FireFunction v2"),
    summary="a JSON array behind the word functools",
)

# `crates/tool_parser/src/parsers/sarashina.rs` in smg. The token is often lost in decoding, and
# what is left is a list of dictionaries as Python writes them.
SARASHINA = shipped(
    "sarashina",
    (Literal("<|tool_calls|>"), Space(), _SEVERAL),
    also=(JSON, LOOSE_JSON),
    models=("Sarashina",),
    summary="an array behind <|tool_calls|>, mostly in Python's quotes",
)

# The template `tool_use` of Command R and Command R+, in their tokenizers' configuration.
COMMAND_R = shipped(
    "command-r",
    (
        Literal("Action:"),
        Space(" "),
        Literal("```json"),
        Space("\n"),
        CallObject(name="tool_name", arguments="parameters", array=True, listed=True),
        Space("\n"),
        Literal("```"),
    ),
    models=("Command R", "Command R+"),
    summary="a JSON array with tool_name and parameters in a fence behind Action:",
)

# The template of Apriel-1.6: "Here are my reasoning steps:" is in the prompt.
APRIEL = shipped_like(
    JAMBA,
    name="apriel",
    dropped=("[END FINAL RESPONSE]", "<|end|>"),
    reasoning=(Reasoning("Here are my reasoning steps:", "[BEGIN FINAL RESPONSE]"), *THINKING),
    models=("Apriel 1.5", "Apriel 1.6"),
    summary="as jamba, with the answer behind [BEGIN FINAL RESPONSE]",
)

COHERE = shipped(
    "cohere",
    (
        Literal("<|START_ACTION|>"),
        Space("\n"),
        CallObject(name="tool_name", arguments="parameters", array=True, listed=True),
        Space("\n"),
        Literal("<|END_ACTION|>"),
    ),
    dropped=(
        "<|START_RESPONSE|>",
        "<|END_RESPONSE|>",
        "<|START_TEXT|>",
        "<|END_TEXT|>",
    ),
    reasoning=(Reasoning("<|START_THINKING|>", "<|END_THINKING|>"), *THINKING),
    aliases=("cohere_cmd", "cohere_command3", "cohere_command4"),
    models=("Command R7B", "Command A", "Command 4"),
    summary="a JSON array with tool_name and parameters between action markers",
)

LFM2_JSON = shipped(
    "lfm2-json",
    (Literal("<|tool_call_start|>"), Space(), _SEVERAL, Space(), Literal("<|tool_call_end|>")),
    models=("LFM2 (its JSON mode)",),
    summary="a JSON array between tool call markers",
)

LLAMA3_JSON = shipped(
    "llama3-json",
    (
        Literal("<|python_tag|>"),
        Space(),
        CallObject(arguments="parameters", joined="; "),
    ),
    dropped=("<|eom_id|>", "<|eot_id|>", "<|eot|>"),
    models=("Llama 3.1", "Llama 3.2", "Llama 3.3", "Llama 4"),
    summary="JSON objects behind <|python_tag|>, separated by semicolons",
)

LLAMA3_BARE = shipped(
    "llama3-bare",
    (CallObject(arguments="parameters", opens=(("{", ANY_SPACE, '"'),)),),
    marked=False,
    models=("Llama 3.1", "Llama 3.2", "Llama 3.3", "Llama 4"),
    summary="as llama3-json, without its tag",
)

APERTUS = shipped(
    "apertus",
    (
        Literal("<|tools_prefix|>"),
        Space(),
        CallObject(array=True, listed=True, keyed=True),
        Space(),
        Literal("<|tools_suffix|>"),
    ),
    reasoning=(Reasoning("<|inner_prefix|>", "<|inner_suffix|>"), *THINKING),
    aliases=("apertus2509",),
    models=("Apertus",),
    summary="a JSON array of objects whose one key is the tool's name",
)

# xLAM's own prompt, and the answers of OpenAI's API where a model writes them as text.
TOOL_CALLS = shipped(
    "tool-calls",
    (CallObject(array=True, listed=True, inside=("tool_calls", "tool_call")),),
    marked=False,
    whole=True,
    models=("xLAM", "models that repeat OpenAI's API"),
    summary="a list of calls in an object's tool_calls: all of a reply or of a code fence",
)
