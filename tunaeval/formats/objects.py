"""Formats that write a call, or its arguments, as one object: JSON, Python, or in between.

A format's constant is its name in capitals, without its dots: HERMES is "hermes", TOOLS_TAG is
"tools-tag", DEEPSEEK_V31 is "deepseek-v3.1". The notation is described at `Format.of`.
"""

from __future__ import annotations

from functools import partial

from tunaeval.grammar import ANY_SPACE, THINKING, Envelope, Format, Literal, Reasoning, Route
from tunaeval.types import ARGUMENTS_KEYS, NAME_KEYS

_format = partial(Format.of, checked=False)  # tests check them: it would slow the import down

_LOOSE_ROWS = tuple(
    (*bracket, ANY_SPACE, *start)
    for start in (
        ("'",),
        ("“",),
        *((key, ANY_SPACE, ":") for key in (*NAME_KEYS, *ARGUMENTS_KEYS)),
    )
    for bracket in (("{",), ("[", ANY_SPACE, "{"))
)
K2_THINK = (
    Reasoning("<ifm|think>", "</ifm|think>"),
    Reasoning("<ifm|think_fast>", "</ifm|think_fast>"),
    Reasoning("<ifm|think_faster>", "</ifm|think_faster>"),
    *THINKING,
)
"""K2 Horizon thinks at three speeds."""
_ARRAY = "<tool_calls>⟨⟩⟨[call]⟩⟨⟩</tool_calls>"

# DeepSeek's tokens, and the signs that models write which have no such tokens: llama.cpp reads them
# of distilled DeepSeek R1.
_TOKENS = [
    [f"<｜{words.replace('▁', sign)}｜>" for sign in ("▁", "_", " ", "\\_")] + [f"<|{words}|>"]
    for words in [
        "tool▁calls▁begin",
        "tool▁calls▁end",
        "tool▁call▁begin",
        "tool▁call▁end",
        "tool▁sep",
    ]
]
_TOOL_CALLS_BEGIN, _TOOL_CALLS_END, _TOOL_CALL_BEGIN, _TOOL_CALL_END, _TOOL_SEP = (
    f"⟨{'¦'.join(spellings)}⟩" for spellings in _TOKENS
)
_FENCE_ENDS = "¦".join(fence + text for fence in ("```", "```\n") for text in _TOKENS[3])

OTHER_MESSAGES = (
    Route("reasoning", r"[ \w]{0,40}<\|channel\|>analysis[ \w=.-]{0,80}[\r\n]{0,2}", "<|message|>"),
    Route(
        "content",
        r"(?:[ \w.-]|to=(?:assistant|all)\b|<\|(?:channel|constrain)\|>){0,160}[\r\n]{0,2}",
        "<|message|>",
    ),
)
"""Messages that call no tool, in the formats that are like harmony: reasoning, and content."""
_TO_A_TOOL = (
    r"[ \w]{0,40}(?:<\|channel\|>[ \w]{0,40})?"
    r"to=(?!(?:user|assistant|self|all)\b)(?:functions\.)?(?!functions\.)"
    r"(?P<name>\w[\w./-]{0,127})"
    r"(?:[ \w.-]|[\r\n]{0,2}<\|(?:channel|constrain)\|>){0,80}[\r\n]{0,2}"
)
_INKLING_SPEAKER = r"[\w./-]{0,128}[ \r\n]{0,3}"
_SOLAR_SPEAKER = r"\w{0,40}[ \r\n]{0,3}"

# Qwen2.5 and its many fine-tunes. Sources: the Hermes 2 Pro and Qwen2.5 chat templates
# (`<tool_call>`); vLLM #32926 for what Qwen2.5-Coder writes instead (`<tools>` with an object or an
# array, JSON in code fences, bare JSON).

HERMES = _format(
    "hermes",
    "<tool_call>\n⟨call⟩\n</tool_call>",
    aliases=("json_tools", "qwen3_json", "qwen", "qwen2d5", "trinity", "granite4"),
    models=("Hermes 2/3", "Qwen2.5", "QwQ", "Qwen3 dense"),
    summary="one JSON object between <tool_call> tags",
)
ERNIE45 = _format(
    "ernie45",
    "<tool_call>\n⟨call⟩\n</tool_call>",
    dropped=("<response>", "</response>"),
    models=("ERNIE 4.5",),
    summary="as hermes, with prose in <response>",
)
TOOLS_TAG = _format(
    "tools-tag",
    "<tools>\n⟨call array⟩\n</tools>",
    models=("Qwen2.5-Coder",),
    summary="a JSON object or array between <tools> tags",
)
FENCE = _format(
    "fence",
    "```⟨skip text=json pattern=`[ \\t]?[A-Za-z0-9_+-]{0,24}`⟩\n⟨call array⟩\n```",
    marked=False,
    models=("Qwen2.5-Coder", "many models without a format of their own"),
    summary="a JSON object or array in a Markdown code fence",
)
JSON = _format(
    "json",
    "⟨call array⟩",
    marked=False,
    models=("Qwen2.5-Coder", "Llama 3 without its tag"),
    summary="a bare JSON object or array",
)
LOOSE_JSON = _format(
    "loose-json",
    "⟨call array bare_keys⟩",
    opens=_LOOSE_ROWS,
    marked=False,
    models=("small models",),
    summary="a bare object with single quotes, typographic quotes or bare keys",
)

# One JSON object, or an array of them, between markers of the model's own.

DOTS_JSON = _format(
    "dots-json",
    "<dots_function_call>\n⟨call⟩\n</dots_function_call>",
    models=("dots (its second way)",),
    summary="one JSON object between <dots_function_call> tags",
)
INTERNLM = _format(
    "internlm",
    "<|action_start|>⟨ ⟩<|plugin|>\n⟨call arguments=parameters⟩\n<|action_end|>",
    aliases=("intern-s1", "interns1"),
    models=("InternLM2.5", "Intern-S1"),
    summary="one JSON object behind <|plugin|>",
)
GIGACHAT3 = _format(
    "gigachat3",
    "⟨<|function_call|>¦function call<|role_sep|>\n⟩⟨call⟩",
    dropped=("<|message_sep|>",),
    separator="",
    models=("GigaChat 3",),
    summary="one JSON object behind <|function_call|>, without a closer",
)
GRANITE_20B_FC = _format(
    "granite-20b-fc",
    "<function_call> ⟨call⟩",
    separator=" ",
    models=("granite-20b-functioncalling",),
    summary="one JSON object behind <function_call>, without a closer",
)
K2_HORIZON_JSON = _format(
    "k2-horizon-json",
    "<ifm|tool_call>⟨⟩⟨call⟩⟨⟩</ifm|tool_call>",
    around=("<ifm|tool_calls>", "</ifm|tool_calls>"),
    separator="",
    reasoning=K2_THINK,
    models=("K2 Horizon",),
    summary="one JSON object between <ifm|tool_call> tags",
)
MISTRAL_ARRAY = _format(
    "mistral-array",
    "[TOOL_CALLS] ⟨[call]⟩",
    models=("Mistral 7B v0.3", "Mistral Nemo", "Mistral Large 2407"),
    summary="a JSON array behind [TOOL_CALLS]",
)
JAMBA = _format(
    "jamba", _ARRAY, models=("Jamba 1.5",), summary="a JSON array between <tool_calls> tags"
)
HUNYUAN_A13B = _format(
    "hunyuan-a13b",
    _ARRAY,
    dropped=("<answer>", "</answer>"),
    aliases=("hunyuan_a13b",),
    models=("Hunyuan-A13B",),
    summary="as jamba, with prose in <answer>",
)
NEMOTRON = _format(
    "nemotron",
    "<TOOLCALL>⟨⟩⟨[call]⟩⟨⟩</TOOLCALL>",
    aliases=("nemotron_deci",),
    models=("Nemotron Nano v2", "Llama-Nemotron"),
    summary="a JSON array between <TOOLCALL> tags",
)
GRANITE3 = _format(
    "granite3",
    "<|tool_call|>⟨⟩⟨[call]⟩",
    models=("Granite 3.0",),
    summary="a JSON array behind <|tool_call|>, without a closer",
)
GRANITE31 = _format(
    "granite3.1",
    "<tool_call>⟨⟩⟨[call]⟩",
    dropped=("<response>", "</response>"),
    reasoning=(
        Reasoning("Here is my thought process:", "Here is my response:"),
        Reasoning("Here's my thought process:", "Here's my response:"),
        *THINKING,
    ),
    models=("Granite 3.1", "Granite 3.2", "Granite 3.3"),
    summary="a JSON array behind <tool_call>, without a closer",
)
PHI4_MINI = _format(
    "phi4-mini",
    "functools⟨⟩⟨[call]⟩",
    aliases=("firefunction", "phi4", "phi4_mini_json"),
    models=("Phi-4-mini", "FireFunction v2"),
    summary="a JSON array behind the word functools",
)
# `crates/tool_parser/src/parsers/sarashina.rs` in smg. The token is often lost in decoding, and
# what is left is a list of dictionaries as Python writes them.
SARASHINA = _format(
    "sarashina",
    "<|tool_calls|>⟨⟩⟨[call]⟩",
    also=(JSON, LOOSE_JSON),
    models=("Sarashina",),
    summary="an array behind <|tool_calls|>, mostly in Python's quotes",
)
# The template `tool_use` of Command R and Command R+, in their tokenizers' configuration.
COMMAND_R = _format(
    "command-r",
    "Action:⟨ ⟩```json\n⟨[call] name=tool_name arguments=parameters⟩\n```",
    models=("Command R", "Command R+"),
    summary="a JSON array with tool_name and parameters in a fence behind Action:",
)
# The template of Apriel-1.6: "Here are my reasoning steps:" is in the prompt.
APRIEL = _format(
    "apriel",
    _ARRAY,
    dropped=("[END FINAL RESPONSE]", "<|end|>"),
    reasoning=(Reasoning("Here are my reasoning steps:", "[BEGIN FINAL RESPONSE]"), *THINKING),
    models=("Apriel 1.5", "Apriel 1.6"),
    summary="as jamba, with the answer behind [BEGIN FINAL RESPONSE]",
)
COHERE = _format(
    "cohere",
    "<|START_ACTION|>\n⟨[call] name=tool_name arguments=parameters⟩\n<|END_ACTION|>",
    dropped=("<|START_RESPONSE|>", "<|END_RESPONSE|>", "<|START_TEXT|>", "<|END_TEXT|>"),
    reasoning=(Reasoning("<|START_THINKING|>", "<|END_THINKING|>"), *THINKING),
    aliases=("cohere_cmd", "cohere_command3", "cohere_command4"),
    models=("Command R7B", "Command A", "Command 4"),
    summary="a JSON array with tool_name and parameters between action markers",
)
LFM2_JSON = _format(
    "lfm2-json",
    "<|tool_call_start|>⟨⟩⟨[call]⟩⟨⟩<|tool_call_end|>",
    models=("LFM2 (its JSON mode)",),
    summary="a JSON array between tool call markers",
)
LLAMA3_JSON = _format(
    "llama3-json",
    "<|python_tag|>⟨⟩⟨call arguments=parameters joined=`; `⟩",
    dropped=("<|eom_id|>", "<|eot_id|>", "<|eot|>"),
    models=("Llama 3.1", "Llama 3.2", "Llama 3.3", "Llama 4"),
    summary="JSON objects behind <|python_tag|>, separated by semicolons",
)
LLAMA3_BARE = _format(
    "llama3-bare",
    "⟨call arguments=parameters⟩",
    marked=False,
    models=("Llama 3.1", "Llama 3.2", "Llama 3.3", "Llama 4"),
    summary="as llama3-json, without its tag",
)
APERTUS = _format(
    "apertus",
    "<|tools_prefix|>⟨⟩⟨[call] keyed⟩⟨⟩<|tools_suffix|>",
    reasoning=(Reasoning("<|inner_prefix|>", "<|inner_suffix|>"), *THINKING),
    aliases=("apertus2509",),
    models=("Apertus",),
    summary="a JSON array of objects whose one key is the tool's name",
)
# xLAM's own prompt, and the answers of OpenAI's API where a model writes them as text.
TOOL_CALLS = _format(
    "tool-calls",
    "⟨[call] inside=tool_calls,tool_call⟩",
    marked=False,
    whole=True,
    models=("xLAM", "models that repeat OpenAI's API"),
    summary="a list of calls in an object's tool_calls: all of a reply or of a code fence",
)

# The tool's name in markup, and the arguments behind it as one JSON object.

MISTRAL_V11 = _format(
    "mistral-v11",
    "[TOOL_CALLS]⟨name⟩⟨maybe⟩[CALL_ID]⟨skip pattern=[A-Za-z0-9]{0,40}⟩⟨/maybe⟩"
    "⟨maybe written⟩[ARGS]⟨/maybe⟩⟨arguments⟩",
    separator="",
    reasoning=(Reasoning("[THINK]", "[/THINK]"), *THINKING),
    aliases=("ministral",),
    models=("Mistral Small 3", "Magistral", "Devstral", "Ministral 3"),
    summary="name and JSON behind [TOOL_CALLS], with or without [ARGS]",
)
DEEPSEEK_V3 = _format(
    "deepseek-v3",
    f"{_TOOL_CALL_BEGIN}function{_TOOL_SEP}⟨name⟩\n```json\n⟨arguments⟩\n⟨{_FENCE_ENDS}⟩",
    around=(_TOOL_CALLS_BEGIN, _TOOL_CALLS_END),
    aliases=("cogito", "deepseek", "deepseek-r1", "deepseek_r1", "deepseek_v3", "deepseekv3"),
    models=("DeepSeek V3", "DeepSeek R1", "Cogito"),
    summary="name, then JSON in a fence, between DeepSeek's tokens",
)
DEEPSEEK_V31 = _format(
    "deepseek-v3.1",
    f"{_TOOL_CALL_BEGIN}⟨name⟩{_TOOL_SEP}⟨⟩⟨arguments⟩⟨⟩{_TOOL_CALL_END}",
    around=(_TOOL_CALLS_BEGIN, _TOOL_CALLS_END),
    separator="",
    aliases=("deepseek3", "deepseek31", "deepseek_v31", "deepseek_v3_1", "deepseekv31"),
    models=("DeepSeek V3.1",),
    summary="name and JSON between DeepSeek's tokens",
)
KIMI_K2 = _format(
    "kimi-k2",
    "<|tool_call_begin|>⟨⟩⟨name before=functions. after=:?[0-9]{0,6} after_text=:0⟩⟨⟩"
    "<|tool_call_argument_begin|>⟨⟩⟨arguments⟩⟨⟩<|tool_call_end|>",
    around=("<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"),
    separator="",
    aliases=("kimi", "kimi_k2", "kimi_k25", "kimi_thinking", "kimik2"),
    models=("Kimi K2", "Kimi K2 Thinking", "Kimi K2.5"),
    summary="an id that contains the name, then JSON, between Kimi's tokens",
)
PLAMO3 = _format(
    "plamo3",
    "<|plamo:begin_tool_request:plamo|>⟨|⟩"
    "<|plamo:begin_tool_name:plamo|>⟨name⟩<|plamo:end_tool_name:plamo|>⟨|⟩"
    "<|plamo:begin_tool_arguments:plamo|>"
    "⟨maybe written⟩<|plamo:constrain|>json<|plamo:msg|>⟨/maybe⟩⟨arguments⟩"
    "<|plamo:end_tool_arguments:plamo|>⟨|⟩<|plamo:end_tool_request:plamo|>",
    around=("<|plamo:begin_tool_requests:plamo|>", "<|plamo:end_tool_requests:plamo|>"),
    dropped=("<|plamo:tag|>",),
    separator="",
    reasoning=(Reasoning("<|plamo:begin_think:plamo|>", "<|plamo:end_think:plamo|>"), *THINKING),
    models=("PLaMo 3",),
    summary="name and JSON between PLaMo's markers",
)
FUNCTIONARY_V31 = _format(
    "functionary-v3.1",
    "<function=⟨name⟩>⟨⟩⟨arguments⟩⟨⟩</function>",
    separator="",
    models=("Functionary 3.1", "Llama 3.1 with custom tools"),
    summary="JSON in a tag that contains the name",
)
FUNCTIONARY_V32 = _format(
    "functionary-v3.2",
    ">>>⟨name⟩⟨\n¦\r\n⟩⟨⟩⟨arguments⟩",
    marked=False,
    dropped=(">>>all\n", ">>>all\r\n"),
    prompted=True,
    aliases=("functionary",),
    models=("Functionary 3.2",),
    summary="a recipient behind >>>, then JSON; all is the user",
)
# `functionary_tool_parser.py` in vllm-mlx, and Functionary's own prompts of version 2.
FUNCTIONARY_V2 = _format(
    "functionary-v2",
    "<|recipient|>⟨⟩⟨name⟩\n<|content|>⟨⟩⟨arguments⟩",
    dropped=("<|from|>assistant\n", "<|recipient|>all\n<|content|>", "<|stop|>"),
    models=("Functionary 2",),
    summary="a recipient and JSON behind tokens; all is the user",
)
# `qwen_fncall_prompt.py` in Qwen-Agent.
QWEN_AGENT = _format(
    "qwen-agent",
    "✿FUNCTION✿⟨skip text=`: ` pattern=`:? ?`⟩⟨name⟩\n"
    "✿ARGS✿⟨skip text=`: ` pattern=`:? ?`⟩⟨arguments⟩",
    dropped=("✿RETURN✿: ", "✿RETURN✿"),
    models=("Qwen2 and Qwen2.5 through Qwen-Agent",),
    summary="a line with the function and a line with its arguments, between flowers",
)
# `qwen_tool_parser.py` and `api/tool_calling.py` in vllm-mlx.
CALLING_TOOL = _format(
    "calling-tool",
    "[Calling tool: ⟨name⟩(⟨arguments⟩)]",
    marked=False,
    models=("Qwen3 through vllm-mlx",),
    summary="[Calling tool: NAME(JSON)]",
)
REACT = _format(
    "react",
    "Action: ⟨name⟩\nAction Input: ⟨arguments⟩",
    marked=False,
    models=("any model prompted for it", "Qwen 1.5 agents", "LangChain prompts"),
    summary="a line with the action and a line with its input",
)
# GLM-4's own template, and LLaMA-Factory's for it: the name is the first line of the reply.
NAME_JSON = _format(
    "name-json",
    "⟨name⟩⟨\n¦\r\n⟩⟨arguments⟩",
    marked=False,
    whole=True,
    aliases=("glm4",),
    models=("GLM-4",),
    summary="a name, and JSON on the next line: all of a reply or of a code fence",
)
# MiroThinker's prompt: a server, one of its tools, and its arguments.
MIROTHINKER = _format(
    "mirothinker",
    "<use_mcp_tool>\n"
    "⟨maybe written⟩<server_name>⟨skip text=tools pattern=[^<>\\n]{0,128}⟩</server_name>\n⟨/maybe⟩"
    "<tool_name>⟨name⟩</tool_name>\n"
    "<arguments>\n"
    "⟨arguments⟩\n"
    "</arguments>\n"
    "</use_mcp_tool>",
    models=("MiroThinker", "Cline's way to call tools of MCP servers"),
    summary="a server, a tool's name and JSON, each in a tag, inside <use_mcp_tool>",
)
STEP_AUDIO_2 = _format(
    "step-audio-2",
    "<tool_call>⟨⟩function\n⟨name⟩\n⟨arguments⟩⟨⟩</tool_call>",
    separator="",
    aliases=("step_audio_2",),
    models=("Step-Audio-2",),
    summary="the word function, a name and JSON on lines of their own, inside <tool_call>",
)
GLM_FLASH = _format(
    "glm-flash",
    "<tool_call>⟨⟩⟨name⟩>⟨⟩⟨arguments⟩⟨⟩</tool_call>",
    models=("GLM-5.3-Flash",),
    summary="a name, > and JSON inside <tool_call>",
)

# `call:NAME{key:value}`, with a mark of the model's own around texts.
# What Gemma 4 falls into is Python's brackets instead of its braces.

FUNCTIONGEMMA = _format(
    "functiongemma",
    "<start_function_call>⟨⟩⟨name before=call:⟩⟨arguments mark=<escape>⟩⟨⟩<end_function_call>",
    separator="",
    aliases=("function_gemma",),
    models=("FunctionGemma 270M",),
    summary="call:NAME and braces with bare keys, texts between <escape> marks",
)
# What Gemma 4 falls into: Python's brackets instead of its braces.
GEMMA4_PYTHON = _format(
    "gemma4-python",
    "<|tool_call>call:⟨⟩⟨calls⟩⟨⟩<tool_call|>",
    separator="",
    models=("Gemma 4",),
    summary="as gemma4, with the arguments as Python writes them",
)
GEMMA4 = _format(
    "gemma4",
    "⟨<|tool_call>¦<|tool_call>call:⟩⟨⟩"
    '⟨maybe⟩:⟨/maybe⟩⟨name before=call:⟩⟨arguments mark=<|"|>⟩⟨⟩<tool_call|>',
    also=(GEMMA4_PYTHON,),
    separator="",
    reasoning=(Reasoning("<|channel>thought", "<channel|>"), *THINKING),
    aliases=("gemma-4", "gemma4-no-thinking"),
    models=("Gemma 4",),
    summary='call:NAME and braces with bare keys, texts between <|"|> marks',
)

# Calls as Python writes them, with or without markers around them.

PYTHONIC = _format(
    "pythonic",
    "⟨[calls]⟩",
    marked=False,
    around=("⟨¦<|python_start|>⟩", "⟨¦<|python_end|>⟩"),
    separator="",
    models=("Llama 3.2 1B and 3B", "ToolACE", "models that are asked for a list of calls"),
    summary="a list of Python calls, without markers",
)
# Replies of 2024 to the prompts of BFCL: Gorilla writes commas between calls, Raven semicolons,
# others quote each call in a list, or escape its names as Markdown does.
PYTHON_CALLS = _format(
    "python-calls",
    "⟨calls loose⟩",
    marked=False,
    whole=True,
    aliases=("gorilla", "raven"),
    models=("Gorilla OpenFunctions v2", "NexusRaven", "Snowflake Arctic", "DBRX", "small Mistrals"),
    summary="Python calls side by side, or quoted in a list: all of a reply or of a code fence",
)
LLAMA4_PYTHONIC = _format(
    "llama4-pythonic",
    "⟨[calls]⟩",
    marked=False,
    around=("<|python_start|>", "<|python_end|>"),
    separator="",
    aliases=("llama4_pythonic",),
    models=("Llama 4",),
    summary="a list of Python calls, with or without Python markers around it",
)
OLMO3 = _format(
    "olmo3",
    "<function_calls>\n⟨calls⟩\n</function_calls>",
    aliases=("olmo3-think",),
    models=("OLMo 3",),
    summary="Python calls on lines of their own between <function_calls> tags",
)
# Google's guides to function calling with Gemma 3 (ai.google.dev/gemma/docs).
TOOL_CODE = _format(
    "tool-code",
    "```tool_code\n⟨calls⟩\n```",
    models=("Gemma 3",),
    summary="Python calls in a Markdown code fence of the language tool_code",
)
LFM2_PYTHONIC = _format(
    "lfm2-pythonic",
    "<|tool_call_start|>⟨⟩⟨[calls]⟩⟨⟩<|tool_call_end|>",
    models=("LFM2", "LFM2.5"),
    summary="a list of Python calls between tool call markers",
)
TOOL_CODE_LINE = _format(
    "tool-code-line",
    "⟨tool_code = ¦tool_code=⟩⟨[calls]⟩",
    marked=False,
    models=("Gemma 3",),
    summary="Python calls behind tool_code =, in a list or not",
)

# Every text is in a message with a header that says where it goes.

HARMONY = _format(
    "harmony",
    "<|message|>⟨⟩⟨arguments⟩",
    envelope=Envelope(
        Literal("<|start|>", ("<|channel|>", "to=")),
        (
            Route(
                "call",
                _TO_A_TOOL,
                "<|message|>",
                "assistant<|channel|>commentary to=functions.{name} <|constrain|>json",
            ),
            *OTHER_MESSAGES,
        ),
        Literal("<|call|>", ("<|end|>", "<|return|>")),
    ),
    separator="",
    aliases=("gpt-oss", "gpt_oss", "openai", "openai_gptoss"),
    models=("gpt-oss", "LLM-jp 4"),
    summary="JSON in a message to functions.NAME; analysis is reasoning",
)
INKLING = _format(
    "inkling",
    "<|content_invoke_tool_json|>⟨⟩⟨call arguments=args⟩",
    envelope=Envelope(
        Literal(
            "<|message_model|>",
            (
                "<|content_thinking|>",
                "<|content_text|>",
                "<|content_invoke_tool_text|>",
                "<|content_tool_error|>",
            ),
        ),
        (
            Route("call", _INKLING_SPEAKER, "<|content_invoke_tool_json|>", "{name}"),
            Route("reasoning", _INKLING_SPEAKER, "<|content_thinking|>"),
            Route("content", _INKLING_SPEAKER, "<|content_text|>"),
            Route("content", _INKLING_SPEAKER, "<|content_invoke_tool_text|>"),
            Route("content", _INKLING_SPEAKER, "<|content_tool_error|>"),
        ),
        Literal("<|end_message|>"),
    ),
    dropped=("<|content_model_end_sampling|>",),
    separator="",
    models=("Inkling",),
    summary="one JSON object in a message that says so",
)
# `solar_open_tool_parser.py` and `solar_open_reasoning_parser.py` in Upstage's fork of vLLM.
SOLAR_OPEN = _format(
    "solar-open",
    "<|tool_call:begin|>⟨skip pattern=[A-Za-z0-9_.-]{0,40}⟩<|tool_call:name|>⟨name⟩"
    "<|tool_call:args|>⟨⟩⟨arguments⟩⟨⟩<|tool_call:end|>",
    envelope=Envelope(
        Literal("<|begin|>", ("<|think|>", "<|content|>", "<|tool_calls|>")),
        (
            Route("call", _SOLAR_SPEAKER, "<|tool_calls|>", "assistant"),
            Route("reasoning", _SOLAR_SPEAKER, "<|think|>"),
            Route("content", _SOLAR_SPEAKER, "<|content|>"),
        ),
        Literal("<|calls|>", ("<|end|>", "<|flush|>")),
    ),
    separator="",
    aliases=("solar_open",),
    models=("Solar Open",),
    summary="an id, a name and JSON, each behind a token, in a message for calls",
)
