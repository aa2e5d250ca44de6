"""Models that write the tool's name in markup, and the arguments behind it as one JSON object."""

from __future__ import annotations

from tunaeval.grammar import (
    THINKING,
    WITH_COLONS,
    Arguments,
    Literal,
    Markup,
    Maybe,
    Name,
    Reasoning,
    Space,
    shipped,
)

MISTRAL_V11 = shipped(
    "mistral-v11",
    (
        Literal("[TOOL_CALLS]"),
        Name(WITH_COLONS),
        Maybe((Literal("[CALL_ID]"), Markup("", r"[A-Za-z0-9]{0,40}"))),
        Maybe((Literal("[ARGS]"),), written=True),
        Arguments(),
    ),
    separator="",
    reasoning=(Reasoning("[THINK]", "[/THINK]"), *THINKING),
    aliases=("ministral",),
    models=("Mistral Small 3", "Magistral", "Devstral", "Ministral 3"),
    summary="name and JSON behind [TOOL_CALLS], with or without [ARGS]",
)

_TOKENS = {
    words: Literal(
        f"<｜{words}｜>",
        (*(f"<｜{words.replace('▁', sign)}｜>" for sign in ("_", " ", "\\_")), f"<|{words}|>"),
    )
    for words in (
        "tool▁calls▁begin", "tool▁calls▁end", "tool▁call▁begin", "tool▁call▁end", "tool▁sep",
    )
}  # fmt: skip
"""DeepSeek's, also as models write them for which they are none: with other signs.

llama.cpp reads such of DeepSeek R1.
"""
_CALLS = (_TOKENS["tool▁calls▁begin"], _TOKENS["tool▁calls▁end"])
_FENCE_ENDS = [
    fence + text
    for fence in ("```", "```\n")
    for text in (_TOKENS["tool▁call▁end"].text, *_TOKENS["tool▁call▁end"].also)
]

DEEPSEEK_V3 = shipped(
    "deepseek-v3",
    (
        _TOKENS["tool▁call▁begin"],
        Literal("function"),
        _TOKENS["tool▁sep"],
        Name(WITH_COLONS),
        Space("\n"),
        Literal("```json"),
        Space("\n"),
        Arguments(),
        Space("\n"),
        Literal(_FENCE_ENDS[0], (*_FENCE_ENDS[1:],)),
    ),
    around=_CALLS,
    aliases=("cogito", "deepseek", "deepseek-r1", "deepseek_r1", "deepseek_v3", "deepseekv3"),
    models=("DeepSeek V3", "DeepSeek R1", "Cogito"),
    summary="name, then JSON in a fence, between DeepSeek's tokens",
)

DEEPSEEK_V31 = shipped(
    "deepseek-v3.1",
    (
        _TOKENS["tool▁call▁begin"],
        Name(WITH_COLONS),
        _TOKENS["tool▁sep"],
        Space(),
        Arguments(),
        Space(),
        _TOKENS["tool▁call▁end"],
    ),
    around=_CALLS,
    separator="",
    aliases=("deepseek3", "deepseek31", "deepseek_v31", "deepseek_v3_1", "deepseekv31"),
    models=("DeepSeek V3.1",),
    summary="name and JSON between DeepSeek's tokens",
)

KIMI_K2 = shipped(
    "kimi-k2",
    (
        Literal("<|tool_call_begin|>"),
        Space(),
        Name(before="functions.", after=r":?[0-9]{0,6}", after_text=":0"),
        Space(),
        Literal("<|tool_call_argument_begin|>"),
        Space(),
        Arguments(),
        Space(),
        Literal("<|tool_call_end|>"),
    ),
    around=(Literal("<|tool_calls_section_begin|>"), Literal("<|tool_calls_section_end|>")),
    separator="",
    aliases=("kimi", "kimi_k2", "kimi_k25", "kimi_thinking", "kimik2"),
    models=("Kimi K2", "Kimi K2 Thinking", "Kimi K2.5"),
    summary="an id that contains the name, then JSON, between Kimi's tokens",
)

PLAMO3 = shipped(
    "plamo3",
    (
        Literal("<|plamo:begin_tool_request:plamo|>"),
        Literal("<|plamo:begin_tool_name:plamo|>"),
        Name(WITH_COLONS),
        Literal("<|plamo:end_tool_name:plamo|>"),
        Literal("<|plamo:begin_tool_arguments:plamo|>"),
        Maybe((Literal("<|plamo:constrain|>json<|plamo:msg|>"),), written=True),
        Arguments(),
        Literal("<|plamo:end_tool_arguments:plamo|>"),
        Literal("<|plamo:end_tool_request:plamo|>"),
    ),
    around=(
        Literal("<|plamo:begin_tool_requests:plamo|>"),
        Literal("<|plamo:end_tool_requests:plamo|>"),
    ),
    dropped=("<|plamo:tag|>",),
    separator="",
    reasoning=(
        Reasoning("<|plamo:begin_think:plamo|>", "<|plamo:end_think:plamo|>"),
        *THINKING,
    ),
    models=("PLaMo 3",),
    summary="name and JSON between PLaMo's markers",
)

FUNCTIONARY_V31 = shipped(
    "functionary-v3.1",
    (
        Literal("<function="),
        Name(WITH_COLONS),
        Literal(">"),
        Space(),
        Arguments(),
        Space(),
        Literal("</function>"),
    ),
    separator="",
    models=("Functionary 3.1", "Llama 3.1 with custom tools"),
    summary="JSON in a tag that contains the name",
)

FUNCTIONARY_V32 = shipped(
    "functionary-v3.2",
    (Literal(">>>"), Name(WITH_COLONS), Literal("\n", also=("\r\n",)), Space(), Arguments()),
    marked=False,
    dropped=(">>>all\n", ">>>all\r\n"),
    prompted=True,
    aliases=("functionary",),
    models=("Functionary 3.2",),
    summary="a recipient behind >>>, then JSON; all is the user",
)

# `functionary_tool_parser.py` in vllm-mlx, and Functionary's own prompts of version 2.
FUNCTIONARY_V2 = shipped(
    "functionary-v2",
    (
        Literal("<|recipient|>"),
        Space(),
        Name(WITH_COLONS),
        Space("\n"),
        Literal("<|content|>"),
        Space(),
        Arguments(),
    ),
    dropped=("<|from|>assistant\n", "<|recipient|>all\n<|content|>", "<|stop|>"),
    models=("Functionary 2",),
    summary="a recipient and JSON behind tokens; all is the user",
)

# `qwen_fncall_prompt.py` in Qwen-Agent.
QWEN_AGENT = shipped(
    "qwen-agent",
    (
        Literal("✿FUNCTION✿"),
        Markup(": ", r":? ?"),
        Name(WITH_COLONS),
        Space("\n"),
        Literal("✿ARGS✿"),
        Markup(": ", r":? ?"),
        Arguments(),
    ),
    dropped=("✿RETURN✿: ", "✿RETURN✿"),
    models=("Qwen2 and Qwen2.5 through Qwen-Agent",),
    summary="a line with the function and a line with its arguments, between flowers",
)

# `qwen_tool_parser.py` and `api/tool_calling.py` in vllm-mlx.
CALLING_TOOL = shipped(
    "calling-tool",
    (
        Literal("[Calling tool:"),
        Space(" "),
        Name(WITH_COLONS),
        Literal("("),
        Arguments(),
        Literal(")]"),
    ),
    marked=False,
    models=("Qwen3 through vllm-mlx",),
    summary="[Calling tool: NAME(JSON)]",
)

REACT = shipped(
    "react",
    (
        Literal("Action:"),
        Space(" "),
        Name(WITH_COLONS),
        Space("\n"),
        Literal("Action Input:"),
        Space(" "),
        Arguments(),
    ),
    marked=False,
    models=("any model prompted for it", "Qwen 1.5 agents", "LangChain prompts"),
    summary="a line with the action and a line with its input",
)

# GLM-4's own template, and LLaMA-Factory's for it: the name is the first line of the reply.
NAME_JSON = shipped(
    "name-json",
    (Name(WITH_COLONS), Literal("\n", also=("\r\n",)), Arguments()),
    marked=False,
    whole=True,
    aliases=("glm4",),
    models=("GLM-4",),
    summary="a name, and JSON on the next line: all of a reply or of a code fence",
)

# MiroThinker's prompt: a server, one of its tools, and its arguments.
MIROTHINKER = shipped(
    "mirothinker",
    (
        Literal("<use_mcp_tool>"),
        Space("\n"),
        Maybe(
            (
                Literal("<server_name>"),
                Markup("tools", r"[^<>\n]{0,128}"),
                Literal("</server_name>"),
                Space("\n"),
            ),
            written=True,
        ),
        Literal("<tool_name>"),
        Name(WITH_COLONS),
        Literal("</tool_name>"),
        Space("\n"),
        Literal("<arguments>"),
        Space("\n"),
        Arguments(),
        Space("\n"),
        Literal("</arguments>"),
        Space("\n"),
        Literal("</use_mcp_tool>"),
    ),
    models=("MiroThinker", "Cline's way to call tools of MCP servers"),
    summary="a server, a tool's name and JSON, each in a tag, inside <use_mcp_tool>",
)

STEP_AUDIO_2 = shipped(
    "step-audio-2",
    (
        Literal("<tool_call>"),
        Space(),
        Literal("function"),
        Space("\n"),
        Name(WITH_COLONS),
        Space("\n"),
        Arguments(),
        Space(),
        Literal("</tool_call>"),
    ),
    separator="",
    aliases=("step_audio_2",),
    models=("Step-Audio-2",),
    summary="the word function, a name and JSON on lines of their own, inside <tool_call>",
)

GLM_FLASH = shipped(
    "glm-flash",
    (
        Literal("<tool_call>"),
        Space(),
        Name(WITH_COLONS),
        Literal(">"),
        Space(),
        Arguments(),
        Space(),
        Literal("</tool_call>"),
    ),
    models=("GLM-5.3-Flash",),
    summary="a name, > and JSON inside <tool_call>",
)
