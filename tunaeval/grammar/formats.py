"""The wire formats, as values.

A format's constant is its name in capitals, without its dots: HERMES is "hermes", TOOLS_TAG is
"tools-tag", DEEPSEEK_V31 is "deepseek-v3.1". To add one is to add a constant, and to decide whether
`auto` reads it (`_BY_NAME_ONLY`). The notation is described at `Format.of`.
"""

from __future__ import annotations

from typing import Any

from tunaeval.types.calls import ARGUMENTS_KEYS, NAME_KEYS

from .format import Format
from .words import ANY_SPACE, THINKING, Channel, Envelope, Literal, Reasoning, Route


def _format(title: str, pattern: str, **options: Any) -> Format:
    """Return the format for a title ("NAME ALIAS ... (MODEL, ...): SUMMARY") and a pattern.

    Where the pattern ends with ⟨|⟩, nothing is written between two calls.
    """
    names, _, about = title.partition(" (")
    models, _, summary = about.partition("): ")
    name, *aliases = names.split()
    if pattern.endswith("⟨|⟩"):
        options["separator"] = ""
    options |= {"models": (*models.split(", "),), "aliases": (*aliases,)}
    # Tests check the formats: it would slow the import down.
    return Format.of(name, pattern, summary=summary, checked=False, **options)


_LOOSE_ROWS = tuple(
    (*bracket, ANY_SPACE, *start)
    for start in (("'",), ("“",), *((key, ANY_SPACE, ":") for key in (*NAME_KEYS, *ARGUMENTS_KEYS)))
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
_PARAMETERS = "⟨[call] name=tool_name arguments=parameters lines number=tool_call_id⟩"

# DeepSeek's tokens, and the signs that models write which have no such tokens: llama.cpp reads them
# of distilled DeepSeek R1.
_TOKENS = [
    [f"<｜tool▁{word}｜>".replace("▁", sign) for sign in ("▁", "_", " ", "\\_")]
    + [f"<|tool▁{word}|>"]
    for word in ("calls▁begin", "calls▁end", "call▁begin", "call▁end", "sep")
]
_TOOL_CALLS_BEGIN, _TOOL_CALLS_END, _TOOL_CALL_BEGIN, _TOOL_CALL_END, _TOOL_SEP = (
    f"⟨{'¦'.join(spellings)}⟩" for spellings in _TOKENS
)
_FENCE_ENDS = "¦".join(fence + text for fence in ("```", "```\n") for text in _TOKENS[3])


def _like_harmony(header: str, text: str, *also: str) -> Envelope:
    """Return an envelope like harmony's: `header` matches a call's header, `text` is written.

    A message of analysis with a recipient is no reasoning: it is a call.
    """
    to_tool = r"(?![ \w.-]{0,40}\bto=(?!(?:user|assistant|self|all)\b))"
    analysis = rf"[ \w]{{0,40}}<\|channel\|>analysis{to_tool}[ \w=.-]{{0,80}}[\r\n]{{0,2}}"
    other = r"(?:[ \w.-]|to=(?:assistant|all)\b|<\|(?:channel|constrain)\|>){0,160}[\r\n]{0,2}"
    headers: tuple[tuple[Channel, str, str], ...] = (
        ("call", header, text), ("reasoning", analysis, ""), ("content", other, ""),
    )  # fmt: skip
    return Envelope(
        Literal("<|start|>", ("<|channel|>", "to=")),
        tuple(
            Route(channel, row, "<|message|>", text, also if text else ())
            for channel, row, text in headers
        ),
        Literal("<|call|>", ("<|end|>", "<|return|>")),
    )


_INKLING_SPEAKER = r"[\w./-]{0,128}[ \r\n]{0,3}"
_INKLING_PROSE = ("<|content_text|>", "<|content_invoke_tool_text|>", "<|content_tool_error|>")
_SOLAR_SPEAKER = r"\w{0,40}[ \r\n]{0,3}"

# Qwen2.5 and its many fine-tunes. Sources: the Hermes 2 Pro and Qwen2.5 chat templates
# (`<tool_call>`); vLLM #32926 for what Qwen2.5-Coder writes instead (`<tools>` with an object or an
# array, JSON in code fences, bare JSON).

HERMES = _format(
    "hermes json_tools qwen3_json qwen qwen2d5 trinity granite4 (Hermes 2/3, Qwen2.5, QwQ, Qwen3 "
    "dense): one JSON object between <tool_call> tags",
    "<tool_call>\n⟨call⟩\n</tool_call>",
)
ERNIE45 = _format(
    "ernie45 (ERNIE 4.5): as hermes, with prose in <response>",
    "<tool_call>\n⟨call⟩\n</tool_call>",
    dropped=("<response>", "</response>"),
)
TOOLS_TAG = _format(
    "tools-tag (Qwen2.5-Coder): a JSON object or array between <tools> tags",
    "<tools>\n⟨call array⟩\n</tools>",
)
FENCE = _format(
    "fence (Qwen2.5-Coder, many models without a format of their own): a JSON object or array in a "
    "Markdown code fence",
    "```⟨skip text=json pattern=`[ \\t]?[A-Za-z0-9_+-]{0,24}`⟩\n⟨call array⟩\n```",
    marked=False,
)
JSON = _format(
    "json (Qwen2.5-Coder, Llama 3 without its tag): a bare JSON object or array", "⟨call array⟩"
)
LOOSE_JSON = _format(
    "loose-json (small models): a bare object with single quotes, typographic quotes or bare keys",
    "⟨call array bare_keys⟩",
    opens=_LOOSE_ROWS,
)

# One JSON object, or an array of them, between markers of the model's own.

DOTS_JSON = _format(
    "dots-json (dots (its second way)): one JSON object between <dots_function_call> tags",
    "<dots_function_call>\n⟨call⟩\n</dots_function_call>",
)
INTERNLM = _format(
    "internlm intern-s1 interns1 (InternLM2.5, Intern-S1): one JSON object behind <|plugin|>",
    "<|action_start|>⟨ ⟩<|plugin|>\n⟨call arguments=parameters⟩\n<|action_end|>",
)
GIGACHAT3 = _format(
    "gigachat3 (GigaChat 3): one JSON object behind <|function_call|>, without a closer",
    "⟨<|function_call|>¦function call<|role_sep|>\n⟩⟨call⟩⟨|⟩",
    dropped=("<|message_sep|>",),
)
GRANITE_20B_FC = _format(
    "granite-20b-fc (granite-20b-functioncalling): one JSON object behind <function_call>, without "
    "a closer",
    "<function_call> ⟨call⟩",
    separator=" ",
)
K2_HORIZON_JSON = _format(
    "k2-horizon-json (K2 Horizon): one JSON object between <ifm|tool_call> tags",
    "<ifm|tool_call>⟨⟩⟨call⟩⟨⟩</ifm|tool_call>⟨|⟩",
    around=("<ifm|tool_calls>", "</ifm|tool_calls>"),
    reasoning=K2_THINK,
)
MISTRAL_ARRAY = _format(
    "mistral-array (Mistral 7B v0.3, Mistral Nemo, Mistral Large 2407): a JSON array behind "
    "[TOOL_CALLS]",
    "[TOOL_CALLS] ⟨[call]⟩",
)
JAMBA = _format(
    "jamba (Jamba 1.5): a JSON array between <tool_calls> tags", _ARRAY.replace("]⟩", "] lines⟩")
)
HUNYUAN_A13B = _format(
    "hunyuan-a13b hunyuan_a13b (Hunyuan-A13B): as jamba, with prose in <answer>",
    _ARRAY,
    dropped=("<answer>", "</answer>"),
)
NEMOTRON = _format(
    "nemotron nemotron_deci (Nemotron Nano v2, Llama-Nemotron): a JSON array between <TOOLCALL> "
    "tags",
    "<TOOLCALL>⟨⟩⟨[call]⟩⟨⟩</TOOLCALL>",
)
GRANITE3 = _format(
    "granite3 (Granite 3.0): a JSON array behind <|tool_call|>, without a closer",
    "<|tool_call|>⟨⟩⟨[call]⟩",
)
GRANITE31 = _format(
    "granite3.1 (Granite 3.1, Granite 3.2, Granite 3.3): a JSON array behind <tool_call>, without "
    "a closer",
    "<tool_call>⟨⟩⟨[call]⟩",
    dropped=("<response>", "</response>"),
    reasoning=(
        Reasoning("Here is my thought process:", "Here is my response:"),
        Reasoning("Here's my thought process:", "Here's my response:"),
        *THINKING,
    ),
)
PHI4_MINI = _format(
    "phi4-mini firefunction phi4 phi4_mini_json (Phi-4-mini, FireFunction v2): a JSON array behind "
    "the word functools",
    "functools⟨⟩⟨[call]⟩",
)
# `crates/tool_parser/src/parsers/sarashina.rs` in smg. The token is often lost in decoding, and
# what is left is a list of dictionaries as Python writes them.
SARASHINA = _format(
    "sarashina (Sarashina): an array behind <|tool_calls|>, mostly in Python's quotes",
    "<|tool_calls|>⟨⟩⟨[call]⟩",
    also=(JSON, LOOSE_JSON),
)
# The template `tool_use` of Command R and Command R+, in their tokenizers' configuration.
COMMAND_R = _format(
    "command-r (Command R, Command R+): a JSON array with tool_name and parameters in a fence "
    "behind Action:",
    "Action:⟨ ⟩```json\n⟨[call] name=tool_name arguments=parameters⟩\n```",
)
# The template of Apriel-1.6: "Here are my reasoning steps:" is in the prompt.
APRIEL = _format(
    "apriel (Apriel 1.5, Apriel 1.6): as jamba, with the answer behind [BEGIN FINAL RESPONSE]",
    _ARRAY,
    dropped=("[END FINAL RESPONSE]", "<|end|>"),
    reasoning=(Reasoning("Here are my reasoning steps:", "[BEGIN FINAL RESPONSE]"), *THINKING),
)
COHERE = _format(
    "cohere cohere_cmd cohere_command3 cohere_command4 (Command R7B, Command A, Command 4): a JSON "
    "array with tool_name and parameters between action markers",
    f"<|START_ACTION|>⟨⟩{_PARAMETERS}⟨⟩<|END_ACTION|>",
    dropped=("<|START_RESPONSE|>", "<|END_RESPONSE|>", "<|START_TEXT|>", "<|END_TEXT|>"),
    reasoning=(Reasoning("<|START_THINKING|>", "<|END_THINKING|>"), *THINKING),
)
LFM2_JSON = _format(
    "lfm2-json pangu openpangu openpangu_v2 (LFM2 (its JSON mode), openPangu): a JSON array "
    "between tool call markers",
    "⟨<|tool_call_start|>¦[unused11]⟩⟨⟩⟨[call]⟩⟨⟩⟨<|tool_call_end|>¦[unused12]⟩",
)
LLAMA3_JSON = _format(
    "llama3-json (Llama 3.1, Llama 3.2, Llama 3.3, Llama 4): JSON objects behind <|python_tag|>, "
    "separated by semicolons",
    "<|python_tag|>⟨⟩⟨call arguments=parameters joined=`; `⟩",
    dropped=("<|eom_id|>", "<|eot_id|>", "<|eot|>", "<|python_start|>", "<|python_end|>"),
)
LLAMA3_BARE = _format(
    "llama3-bare (Llama 3.1, Llama 3.2, Llama 3.3, Llama 4): as llama3-json, without its tag",
    "⟨call arguments=parameters⟩",
)
APERTUS = _format(
    "apertus apertus2509 (Apertus): a JSON array of objects whose one key is the tool's name",
    "<|tools_prefix|>⟨⟩⟨[call] keyed⟩⟨⟩<|tools_suffix|>",
    reasoning=(Reasoning("<|inner_prefix|>", "<|inner_suffix|>"), *THINKING),
)
# xLAM's own prompt, and the answers of OpenAI's API where a model writes them as text.
TOOL_CALLS = _format(
    "tool-calls (xLAM, models that repeat OpenAI's API): a list of calls in an object's "
    "tool_calls: all of a reply or of a code fence",
    "⟨[call] inside=tool_calls,tool_call⟩",
    whole=True,
)

# The tool's name in markup, and the arguments behind it as one JSON object.

MISTRAL_V11 = _format(
    "mistral-v11 ministral (Mistral Small 3, Magistral, Devstral, Ministral 3): name and JSON "
    "behind [TOOL_CALLS], with or without [ARGS]",
    "[TOOL_CALLS]⟨name⟩⟨maybe⟩[CALL_ID]⟨skip pattern=[A-Za-z0-9]{0,40}⟩⟨/maybe⟩"
    "⟨maybe written⟩[ARGS]⟨/maybe⟩⟨arguments⟩⟨|⟩",
    reasoning=(Reasoning("[THINK]", "[/THINK]"), *THINKING),
)
DEEPSEEK_V3 = _format(
    "deepseek-v3 cogito deepseek deepseek-r1 deepseek_r1 deepseek_v3 deepseekv3 (DeepSeek V3, "
    "DeepSeek R1, Cogito): name, then JSON in a fence, between DeepSeek's tokens",
    f"{_TOOL_CALL_BEGIN}function{_TOOL_SEP}⟨name⟩\n```json\n⟨arguments⟩\n⟨{_FENCE_ENDS}⟩",
    around=(_TOOL_CALLS_BEGIN, _TOOL_CALLS_END),
    inner="",
)
DEEPSEEK_V31 = _format(
    "deepseek-v3.1 deepseek3 deepseek31 deepseekv3.1 deepseek_v31 deepseek_v3_1 deepseekv31 "
    "(DeepSeek V3.1): name and JSON between DeepSeek's tokens",
    f"{_TOOL_CALL_BEGIN}⟨name⟩{_TOOL_SEP}⟨⟩⟨arguments⟩⟨⟩{_TOOL_CALL_END}⟨|⟩",
    around=(_TOOL_CALLS_BEGIN, _TOOL_CALLS_END),
)
KIMI_K2 = _format(
    "kimi-k2 kimi kimi_k2 kimi_k25 kimi_thinking kimik2 (Kimi K2, Kimi K2 Thinking, Kimi K2.5): an "
    "id that contains the name, then JSON, between Kimi's tokens",
    "<|tool_call_begin|>⟨⟩⟨name before=functions. after=:?[0-9]{0,6} after_text=:0⟩⟨⟩"
    "<|tool_call_argument_begin|>⟨⟩⟨arguments⟩⟨⟩<|tool_call_end|>⟨|⟩",
    around=(
        "⟨<|tool_calls_section_begin|>¦<|tool_call_section_begin|>⟩",
        "⟨<|tool_calls_section_end|>¦<|tool_call_section_end|>⟩",
    ),
)
PLAMO3 = _format(
    "plamo3 (PLaMo 3): name and JSON between PLaMo's markers",
    "<|plamo:begin_tool_request:plamo|>⟨|⟩"
    "<|plamo:begin_tool_name:plamo|>⟨name⟩<|plamo:end_tool_name:plamo|>⟨|⟩"
    "<|plamo:begin_tool_arguments:plamo|>"
    "⟨maybe written⟩<|plamo:constrain|>json<|plamo:msg|>⟨/maybe⟩⟨arguments⟩"
    "<|plamo:end_tool_arguments:plamo|>⟨|⟩<|plamo:end_tool_request:plamo|>⟨|⟩",
    around=("<|plamo:begin_tool_requests:plamo|>", "<|plamo:end_tool_requests:plamo|>"),
    dropped=("<|plamo:tag|>",),
    reasoning=(Reasoning("<|plamo:begin_think:plamo|>", "<|plamo:end_think:plamo|>"), *THINKING),
)
FUNCTIONARY_V31 = _format(
    "functionary-v3.1 (Functionary 3.1, Llama 3.1 with custom tools): JSON in a tag that contains "
    "the name",
    "<function=⟨name⟩>⟨⟩⟨arguments⟩⟨⟩</function>⟨|⟩",
)
FUNCTIONARY_V32 = _format(
    "functionary-v3.2 functionary (Functionary 3.2): a recipient behind >>>, then JSON; all is the "
    "user",
    ">>>⟨name⟩⟨\n¦\r\n⟩⟨⟩⟨arguments⟩",
    marked=False,
    dropped=(">>>all\n", ">>>all\r\n"),
    prompted=True,
)
# `functionary_tool_parser.py` in vllm-mlx, and Functionary's own prompts of version 2.
FUNCTIONARY_V2 = _format(
    "functionary-v2 (Functionary 2): a recipient and JSON behind tokens; all is the user",
    "<|recipient|>⟨⟩⟨name⟩\n<|content|>⟨⟩⟨arguments⟩",
    dropped=("<|from|>assistant\n", "<|recipient|>all\n<|content|>", "<|stop|>"),
)
# `qwen_fncall_prompt.py` in Qwen-Agent.
QWEN_AGENT = _format(
    "qwen-agent (Qwen2 and Qwen2.5 through Qwen-Agent): a line with the function and a line with "
    "its arguments, between flowers",
    "✿FUNCTION✿⟨skip text=`: ` pattern=`:? ?`⟩⟨name⟩\n"
    "✿ARGS✿⟨skip text=`: ` pattern=`:? ?`⟩⟨arguments⟩",
    dropped=("✿RETURN✿: ", "✿RETURN✿"),
)
# `qwen_tool_parser.py` and `api/tool_calling.py` in vllm-mlx.
CALLING_TOOL = _format(
    "calling-tool (Qwen3 through vllm-mlx): [Calling tool: NAME(JSON)]",
    "[Calling tool: ⟨name⟩(⟨arguments⟩)]",
    marked=False,
)
REACT = _format(
    "react (any model prompted for it, Qwen 1.5 agents, LangChain prompts): a line with the action "
    "and a line with its input",
    "Action: ⟨name⟩\nAction Input: ⟨arguments⟩",
    marked=False,
)
# GLM-4's own template, and LLaMA-Factory's for it: the name is the first line of the reply.
NAME_JSON = _format(
    "name-json glm4 (GLM-4): a name, and JSON on the next line: all of a reply or of a code fence",
    "⟨name⟩⟨\n¦\r\n⟩⟨arguments⟩",
    whole=True,
)
# `cwm_tool_parser.py` in vLLM: what is no object is a command.
CWM = _format(
    "cwm (CWM): a name, and JSON or a command, in a tag that is called tool",
    "<tool: ⟨skip text=function pattern=`[a-z_]{0,24}`⟩>\n"
    "⟨name⟩⟨ ⟩⟨arguments text=command⟩\n</tool>",
)
CALL_LINE = _format(
    "call-line (Qwen3-Coder-Next): the word Call, a name and JSON on a line: all of a reply or of "
    "a code fence",
    "⟨name before=`Call `⟩⟨ ¦\n⟩⟨arguments⟩",
    whole=True,
)
# MiroThinker's prompt: a server, one of its tools, and its arguments.
MIROTHINKER = _format(
    "mirothinker (MiroThinker, Cline's way to call tools of MCP servers): a server, a tool's name "
    "and JSON, each in a tag, inside <use_mcp_tool>",
    "<use_mcp_tool>\n"
    "⟨maybe written⟩<server_name>⟨skip text=tools pattern=[^<>\\n]{0,128}⟩</server_name>\n⟨/maybe⟩"
    "<tool_name>⟨name⟩</tool_name>\n"
    "<arguments>\n"
    "⟨arguments⟩\n"
    "</arguments>\n"
    "</use_mcp_tool>",
)
STEP_AUDIO_2 = _format(
    "step-audio-2 step_audio_2 (Step-Audio-2): the word function, a name and JSON on lines of "
    "their own, inside <tool_call>",
    "<tool_call>⟨⟩function\n⟨name⟩\n⟨arguments⟩⟨⟩</tool_call>⟨|⟩",
)
GLM_FLASH = _format(
    "glm-flash (GLM-5.3-Flash): a name, > and JSON inside <tool_call>",
    "<tool_call>⟨⟩⟨name⟩>⟨⟩⟨arguments⟩⟨⟩</tool_call>",
)

# `call:NAME{key:value}`, with a mark of the model's own around texts.
# What Gemma 4 falls into is Python's brackets instead of its braces.

FUNCTIONGEMMA = _format(
    "functiongemma function_gemma (FunctionGemma 270M): call:NAME and braces with bare keys, texts "
    "between <escape> marks",
    "<start_function_call>⟨⟩⟨name before=call:⟩⟨arguments mark=<escape>⟩⟨⟩<end_function_call>⟨|⟩",
)
GEMMA4_PYTHON = _format(
    "gemma4-python (Gemma 4): as gemma4, with the arguments as Python writes them",
    "<|tool_call>call:⟨⟩⟨calls⟩⟨⟩<tool_call|>⟨|⟩",
)
GEMMA4 = _format(
    "gemma4 gemma-4 gemma4-no-thinking (Gemma 4): call:NAME and braces with bare keys, texts "
    'between <|"|> marks',
    "⟨<|tool_call>¦<|tool_call>call:⟩⟨⟩"
    '⟨maybe⟩:⟨/maybe⟩⟨name before=call:⟩⟨arguments mark=<|"|>⟩⟨⟩<tool_call|>⟨|⟩',
    also=(GEMMA4_PYTHON,),
    reasoning=(Reasoning("<|channel>thought", "<channel|>"), *THINKING),
)

# Calls as Python writes them, with or without markers around them.

PYTHONIC = _format(
    "pythonic (Llama 3.2 1B and 3B, ToolACE, models that are asked for a list of calls): a list of "
    "Python calls, without markers",
    "⟨[calls]⟩⟨|⟩",
    around=("⟨¦<|python_start|>⟩", "⟨¦<|python_end|>⟩"),
)
# Replies of 2024 to the prompts of BFCL: Gorilla writes commas between calls, Raven semicolons,
# others quote each call in a list, or escape its names as Markdown does.
PYTHON_CALLS = _format(
    "python-calls gorilla granite_pythonic raven (Gorilla OpenFunctions v2, NexusRaven, Snowflake "
    "Arctic, DBRX, small Mistrals): Python calls side by side, or quoted in a list: all of a reply "
    "or of a code fence",
    "⟨calls loose⟩",
    whole=True,
)
LLAMA4_PYTHONIC = _format(
    "llama4-pythonic llama4_pythonic (Llama 4): a list of Python calls, with or without Python "
    "markers around it",
    "⟨[calls]⟩⟨|⟩",
    around=("<|python_start|>", "<|python_end|>"),
)
OLMO3 = _format(
    "olmo3 olmo3-think (OLMo 3): Python calls on lines of their own between <function_calls> tags",
    "<function_calls>\n⟨calls⟩\n</function_calls>",
)
# Google's guides to function calling with Gemma 3 (ai.google.dev/gemma/docs).
TOOL_CODE = _format(
    "tool-code (Gemma 3, Gemini): Python calls in a Markdown code fence of the language tool_code",
    "⟨```tool_code¦```tool_call¦```tool_code\nprint(default_api.¦```tool_call\npython(default_api.⟩"
    "\n⟨calls⟩\n```",
)
LFM2_PYTHONIC = _format(
    "lfm2-pythonic (LFM2, LFM2.5): a list of Python calls between tool call markers",
    "<|tool_call_start|>⟨⟩⟨[calls] json⟩⟨⟩<|tool_call_end|>",
)
TOOL_CODE_LINE = _format(
    "tool-code-line (Gemma 3): Python calls behind tool_code =, in a list or not",
    "⟨tool_code = ¦tool_code=⟩⟨[calls]⟩",
    marked=False,
)

# Every text is in a message with a header that says where it goes.

HARMONY = _format(
    "harmony gpt-oss gpt_oss openai openai_gptoss (gpt-oss, LLM-jp 4): JSON in a message to "
    "functions.NAME; analysis is reasoning",
    "<|message|>⟨⟩⟨arguments⟩⟨|⟩",
    envelope=_like_harmony(
        r"[ \w]{0,40}(?:<\|channel\|>[ \w]{0,40})?"
        r"to=(?!(?:user|assistant|self|all)\b)(?:functions\.)?(?!functions\.)"
        r"(?P<name>\w[\w./-]{0,127})"
        r"(?:[ \w.-]|[\r\n]{0,2}<\|(?:channel|constrain)\|>){0,80}[\r\n]{0,2}",
        "assistant to=functions.{name}<|channel|>commentary json",
        "assistant<|channel|>commentary to=functions.{name} <|constrain|>json",
        "assistant<|channel|>analysis to=functions.{name} code",
    ),
)
INKLING = _format(
    "inkling (Inkling): one JSON object in a message that says so",
    "<|content_invoke_tool_json|>⟨⟩⟨call arguments=args⟩⟨|⟩",
    envelope=Envelope(
        Literal("<|message_model|>", ("<|content_thinking|>", *_INKLING_PROSE)),
        (
            Route("call", _INKLING_SPEAKER, "<|content_invoke_tool_json|>", "{name}"),
            Route("reasoning", _INKLING_SPEAKER, "<|content_thinking|>"),
            *(Route("content", _INKLING_SPEAKER, body) for body in _INKLING_PROSE),
        ),
        Literal("<|end_message|>"),
    ),
    dropped=("<|content_model_end_sampling|>",),
)
# `solar_open_tool_parser.py` and `solar_open_reasoning_parser.py` in Upstage's fork of vLLM.
SOLAR_OPEN = _format(
    "solar-open solar_open (Solar Open): an id, a name and JSON, each behind a token, in a message "
    "for calls",
    "<|tool_call:begin|>⟨skip pattern=[A-Za-z0-9_.-]{0,40}⟩<|tool_call:name|>⟨name⟩"
    "<|tool_call:args|>⟨⟩⟨arguments⟩⟨⟩<|tool_call:end|>⟨|⟩",
    envelope=Envelope(
        Literal("<|begin|>", ("<|think|>", "<|content|>", "<|tool_calls|>")),
        (
            Route("call", _SOLAR_SPEAKER, "<|tool_calls|>", "assistant"),
            Route("reasoning", _SOLAR_SPEAKER, "<|think|>"),
            Route("content", _SOLAR_SPEAKER, "<|content|>"),
        ),
        Literal("<|calls|>", ("<|end|>", "<|flush|>")),
    ),
)

# An attribute ends at its own quote; without quotes it ends at the bracket, too.
_KEY = r"⟨key pattern=[^\"'<>\n]{1,200} quoted⟩"
_ENDS = "⟨\">¦'>¦\" >¦' >⟩"
_QUOTE = "⟨maybe written⟩⟨\"¦'⟩⟨/maybe⟩"
_IS_STRING = '⟨maybe written⟩" string="⟨type text=true json=false⟩⟨/maybe⟩'
_FUNCTION_END = "⟨</parameter>¦</parameter>>⟩\n⟨/each⟩</function>"
_TRIMMED = f"<function=⟨name⟩>\n⟨each⟩<parameter=⟨key⟩>⟨value trim=newline⟩{_FUNCTION_END}"
_UNPAIRED = f"<function=⟨name⟩>\n⟨each⟩<parameter=⟨key⟩>⟨value trim=newlines⟩{_FUNCTION_END}"
_KEPT = f"<function=⟨name⟩>\n⟨each⟩<parameter=⟨key⟩>⟨value⟩{_FUNCTION_END}"
_PAIRS = (
    "⟨each⟩⟨<arg_key>¦<param_key>⟩⟨key⟩⟨</arg_key>¦</param_key>⟩\n"
    "⟨<arg_value>¦<param_value>⟩⟨value⟩⟨</arg_value>¦</param_value>⟩\n⟨/each⟩"
)
_INVOKE = (
    f"<invoke name=⟨⟩{_QUOTE}⟨name⟩{_QUOTE}⟨⟩>\n"
    f"⟨each⟩<parameter name={_QUOTE}{_KEY}"
    f"⟨maybe⟩⟨\" string=\"¦\" type=\"¦' string='¦' type='⟩⟨type hint⟩⟨/maybe⟩{_QUOTE}⟨⟩>"
    "⟨value⟩</parameter>\n⟨/each⟩</invoke>"
)
_PARAMS = "¦".join(
    f"<{tag} name=" + sign for tag in ("param", "parameter", "arg") for sign in "\"'"
)
_PARAMS += '¦<paramname="¦<paramname=\'¦<paramĠname="'
_TYPED = (
    f"⟨each⟩⟨{_PARAMS}⟩{_KEY[:-1]} valued⟩"
    f'⟨maybe⟩⟨" type="¦\' type=\'¦" string="⟩⟨type hint⟩⟨/maybe⟩{_ENDS}'
    "⟨value quotes=<![CDATA[,]]>⟩⟨</param>¦</parameter>¦</arg>⟩⟨⟩⟨/each⟩"
)
_MINIMAX = "]<]minimax[>["

# `<function=NAME>` with a `<parameter=KEY>` for each argument.

# The parser of vllm-mlx reads it: models of the Qwen3-Coder family leave `<tool_call>` out at
# times, mostly before the first call.
QWEN3_BARE = _format(
    "qwen3-bare (Qwen3-Coder, Step-3.5, Nemotron 3): as qwen3-coder, without <tool_call>", _TRIMMED
)
MIMO_BARE = _format("mimo-bare (MiMo-V2): as mimo, without <tool_call>", _KEPT)
SEED_OSS_BARE = _format(
    "seed-oss-bare (Seed-OSS): as seed-oss, without <seed:tool_call>",
    _UNPAIRED,
    reasoning=(Reasoning("<seed:think>", "</seed:think>"), *THINKING),
)
QWEN3_CODER = _format(
    "qwen3-coder interns2-preview minicpmv nanbeige nano_v3 nemotron-3-nano nemotron-3.5-nano "
    "nemotron3 nemotron_3 nemotron_nano nemotron_v3 ornith qwen3.5 qwen3_coder qwen3coder "
    "qwen3_xml qwen_coder qwen_xml step3p5 step5 (Qwen3-Coder, Qwen3.5, Nemotron 3, Step-3.5, "
    "Granite 4.2): <function=NAME> with <parameter=KEY> inside <tool_call>",
    f"<tool_call>\n{_TRIMMED}\n</tool_call>",
    also=(QWEN3_BARE,),
)
MIMO = _format(
    "mimo (MiMo-V2): as qwen3-coder, with values kept to the letter",
    f"<tool_call>\n{_KEPT}\n</tool_call>",
    also=(MIMO_BARE,),
)
SEED_OSS = _format(
    "seed-oss seed_oss (Seed-OSS): as qwen3-coder, inside <seed:tool_call>",
    f"<seed:tool_call>\n{_UNPAIRED}\n</seed:tool_call>",
    also=(SEED_OSS_BARE,),
    reasoning=(Reasoning("<seed:think>", "</seed:think>"), *THINKING),
)

# Each argument as a pair of tags, one for its name and one for its value.

GLM45 = _format(
    "glm45 glm glm-ocr glm45_moe hyperclovax_seed_think laguna ling3 poolside-v1 poolside_v1 "
    "spark25 (GLM-4.5, GLM-4.6, Ling 3, Laguna, Spark 2.5): name, then <arg_key> and <arg_value>, "
    "inside <tool_call>",
    f"<tool_call>⟨⟩⟨name⟩\n{_PAIRS}</tool_call>",
    dropped=("<|begin_of_box|>", "<|end_of_box|>"),
    also=(GLM_FLASH,),
)
GLM47 = _format(
    "glm47 glm-4.7 glm47_moe glm5 spark3 (GLM-4.7, GLM-5, Hunyuan 4): as glm45, without newlines",
    "<tool_call>⟨⟩⟨name⟩⟨⟩"
    "⟨each⟩<arg_key>⟨key⟩</arg_key>⟨⟩<arg_value>⟨value⟩</arg_value>⟨⟩⟨/each⟩</tool_call>⟨|⟩",
    dropped=("<|begin_of_box|>", "<|end_of_box|>"),
    also=(GLM_FLASH,),
)
IQUEST_Q1 = _format(
    "iquest-q1 iquest_q1 (IQuest Q1): as glm45, inside <iquest_tool_call>",
    f"<iquest_tool_call>⟨⟩⟨name⟩\n{_PAIRS}</iquest_tool_call>",
)
HUNYUAN_V3 = _format(
    "hunyuan-v3 (Hunyuan 3, Hunyuan 4): as glm45 with <tool_sep> behind the name, inside "
    "<tool_calls>",
    f"<tool_call>⟨⟩⟨name⟩⟨⟩⟨maybe written⟩<tool_sep>⟨/maybe⟩\n{_PAIRS}</tool_call>",
    around=("<tool_calls>", "</tool_calls>"),
)
HUNYUAN_V3_OPENSOURCE = _format(
    "hunyuan-v3-opensource (Hunyuan 3 and 4 with open weights): as hunyuan-v3, with a suffix in "
    "every tag",
    "<tool_call:opensource>⟨⟩⟨name⟩⟨⟩⟨maybe written⟩<tool_sep:opensource>⟨/maybe⟩\n"
    "⟨each⟩<arg_key:opensource>⟨key⟩</arg_key:opensource>\n"
    "<arg_value:opensource>⟨value⟩</arg_value:opensource>\n⟨/each⟩</tool_call:opensource>",
    around=("<tool_calls:opensource>", "</tool_calls:opensource>"),
    reasoning=(Reasoning("<think:opensource>", "</think:opensource>"), *THINKING),
)
K2_HORIZON_XML = _format(
    "k2-horizon-xml (K2 Horizon): name, then <ifm|arg_key> and <ifm|arg_value>",
    "<ifm|tool_call>⟨⟩⟨name⟩\n"
    "⟨each⟩<ifm|arg_key>⟨key⟩</ifm|arg_key>\n"
    "⟨maybe⟩<ifm|arg_type>⟨type⟩</ifm|arg_type>\n⟨/maybe⟩"
    "<ifm|arg_value>⟨value⟩</ifm|arg_value>\n⟨/each⟩</ifm|tool_call>",
    around=("<ifm|tool_calls>", "</ifm|tool_calls>"),
    reasoning=K2_THINK,
)
IQUEST_CODER = _format(
    "iquest-coder iquest_coder iquestcoder (IQuest Coder V2): as glm45, inside "
    "<iquestcoder_tool_call>",
    f"<iquestcoder_tool_call>⟨⟩⟨name⟩\n{_PAIRS}</iquestcoder_tool_call>",
)
# mlx-lm, `tool_parsers/longcat.py`, which reads JSON between the same tags too.
LONGCAT_PAIRS = _format(
    "longcat-pairs (LongCat-Flash-Lite, LongCat-2.0): as glm45, with LongCat's tags",
    "<longcat_tool_call>⟨⟩⟨name⟩\n"
    "⟨each⟩<longcat_arg_key>⟨key⟩</longcat_arg_key>\n"
    "<longcat_arg_value>⟨value⟩</longcat_arg_value>\n⟨/each⟩</longcat_tool_call>",
    reasoning=(Reasoning("<longcat_think>", "</longcat_think>"), *THINKING),
)
LONGCAT = _format(
    "longcat (LongCat-Flash): one JSON object between <longcat_tool_call> tags",
    "<longcat_tool_call>\n⟨call⟩\n</longcat_tool_call>",
    also=(LONGCAT_PAIRS,),
    reasoning=(Reasoning("<longcat_think>", "</longcat_think>"), *THINKING),
)
# `solar_open2_tool_parser.py` and `solar_open2_reasoning_parser.py` in vLLM.
SOLAR_OPEN2 = _format(
    "solar-open2 solar_open2 (Solar Open 2): name, then each argument's name and value behind "
    "tokens of their own",
    "<|tool_call:start|>⟨name⟩\n"
    "⟨each⟩<|tool_arg:start|>⟨key⟩<|tool_arg:value|>⟨value⟩<|tool_arg:end|>\n⟨/each⟩"
    "<|tool_call:end|>",
    reasoning=(Reasoning("<|think:start|>", "<|think:end|>"), *THINKING),
)

# Each argument in a tag of its own, the argument's name in the tag.

MINIMAX_M2 = _format(
    "minimax-m2 minimax minimax-append-think minimax_append_think minimax_m2 "
    'minimax_m2_append_think (MiniMax M2): <invoke name="NAME"> with <parameter name="KEY"> inside',
    _INVOKE,
    around=(
        "⟨<minimax:tool_call>¦<function_calls>¦<dots_function_call>⟩",
        "⟨</minimax:tool_call>¦</function_calls>¦</dots_function_call>⟩",
    ),
)
ANTHROPIC = _format(
    "anthropic claude function_calls (Claude 2 and 3 in text): as minimax-m2, inside "
    "<function_calls>",
    _INVOKE,
    around=("<function_calls>", "</function_calls>"),
)
DOTS_INVOKE = _format(
    "dots-invoke (dots): as minimax-m2, inside <dots_function_call>",
    _INVOKE,
    around=("<dots_function_call>", "</dots_function_call>"),
)
MINIMAX_M3 = _format(
    "minimax-m3 minimax_m3 (MiniMax M3): arguments as nested elements, a prefix before every tag",
    f'{_MINIMAX}<invoke name="⟨name⟩⟨">¦" >⟩⟨elements prefix={_MINIMAX}⟩{_MINIMAX}</invoke>',
    around=(f"{_MINIMAX}<tool_call>", f"{_MINIMAX}</tool_call>"),
    reasoning=(Reasoning("<mm:think>", "</mm:think>"), *THINKING),
)
# Cline and Roo tell any model to write so: docs of their system prompts, "Tool Use Formatting".
TOOL_ELEMENTS = _format(
    "tool-elements cline roo (any model prompted by Cline or Roo): an element named after its "
    "tool, with an element for each argument, or JSON, in it",
    "<⟨name⟩>\n⟨arguments optional⟩⟨elements⟩\n</⟨name⟩>",
    by_tool=True,
)
# A tool's name is the tag, around what Qwen3-Coder writes in a call (Luce-Org/lucebox#525).
TAG_PARAMETERS = _format(
    "tag-parameters (Qwen3-Coder and its like): an element named after its tool, with "
    "<parameter=KEY> inside",
    "<⟨name⟩>\n⟨each⟩<parameter=⟨key⟩>⟨value trim=newline⟩</parameter>\n⟨/each⟩</⟨name⟩>",
    by_tool=True,
)
MINICPM5 = _format(
    'minicpm5 (MiniCPM 4, MiniCPM 5): <function name="NAME"> with <param name="KEY"> inside',
    '⟨<function name="¦<function name=\'¦<functionname="¦<functionname=\'¦<functionĠname="⟩'
    '⟨name⟩⟨">¦\'>¦" >⟩⟨⟩'
    f"⟨maybe⟩<params>⟨⟩⟨/maybe⟩{_TYPED}⟨maybe⟩</params>⟨⟩⟨/maybe⟩</function>",
)
_ARGUMENTS = "arguments>¦{0}params>¦{0}parameters>¦{0}args>"
FUNCTION_CALL = _format(
    "function-call (GPT-4o, GPT-5, o1 and Grok where a prompt asks for XML): the name in an "
    "element, and JSON or an element for each argument, typed or not",
    "<function_call>\n<name>⟨⟩⟨name⟩⟨⟩</name>\n"
    f"⟨maybe written⟩⟨<{_ARGUMENTS.format('<')}⟩\n⟨/maybe⟩⟨arguments optional⟩"
    f"{_TYPED}⟨maybe written⟩⟨</{_ARGUMENTS.format('</')}⟩\n⟨/maybe⟩</function_call>",
)
STEP3 = _format(
    "step3 (Step3): <steptml:invoke> between Step's tokens",
    "<｜tool_call_begin｜>⟨⟩"
    '⟨maybe written⟩function⟨|⟩<｜tool_sep｜>⟨/maybe⟩⟨⟩<steptml:invoke name="⟨name⟩⟨">¦" >⟩⟨⟩'
    f'⟨each⟩<steptml:parameter name="{_KEY}{_ENDS}⟨value⟩</steptml:parameter>⟨⟩'
    "⟨/each⟩</steptml:invoke>⟨⟩<｜tool_call_end｜>⟨|⟩",
    around=("<｜tool_calls_begin｜>", "<｜tool_calls_end｜>"),
)
# Models misspell the tag around the calls.
_DSML_CALLS = "¦".join(
    f"{{0}}{sign}DSML{sign}{word}>"
    for sign in "｜|"
    for word in ("function_calls", "tool_calls", "functioncalls", "toolcalls")
) + "".join(f"¦{{0}}｜DSML｜{word}>" for word in ("function_call", "tool_call"))
DEEPSEEK_V32 = _format(
    "deepseek-v3.2 deepseek-v32 deepseek-v4 deepseek32 deepseek_v32 deepseek_v3_2 deepseek_v4 "
    "deepseekv32 deepseekv4 (DeepSeek V3.2, DeepSeek V4): DSML: each parameter says whether it is "
    "a string; or one JSON object",
    '⟨<｜DSML｜invoke name="¦<|DSML|invoke name="⟩⟨name⟩⟨">¦" >⟩\n'
    "⟨arguments optional⟩"
    f'⟨each⟩⟨<｜DSML｜parameter name="¦<|DSML|parameter name="⟩{_KEY}{_IS_STRING}{_ENDS}'
    "⟨value⟩⟨</｜DSML｜parameter>¦</|DSML|parameter>⟩\n⟨/each⟩"
    "⟨</｜DSML｜invoke>¦</|DSML|invoke>⟩",
    around=(f"⟨{_DSML_CALLS.format('<')}⟩", f"⟨{_DSML_CALLS.format('</')}⟩"),
)
DEEPSEEK_V41 = _format(
    "deepseek-v4.1 deepseek-v41 deepseek_v41 deepseekv41 (DeepSeek V4.1): DSML with a space in "
    "every tag",
    '⟨<｜DSML｜ invoke name="¦<|DSML| invoke name="⟩⟨name⟩⟨">¦" >⟩\n'
    f'⟨each⟩⟨<｜DSML｜ parameter name="¦<|DSML| parameter name="⟩{_KEY}{_IS_STRING}{_ENDS}'
    "⟨value⟩⟨</｜DSML｜ parameter>¦</|DSML| parameter>⟩\n⟨/each⟩"
    "⟨</｜DSML｜ invoke>¦</|DSML| invoke>⟩",
    around=("⟨<｜DSML｜ calls>¦<|DSML| calls>⟩", "⟨</｜DSML｜ calls>¦</|DSML| calls>⟩"),
)
GIGACHAT35 = _format(
    "gigachat3.5 gigachat35 (GigaChat 3.5): GCML: DSML with another token",
    '<｜GCML｜invoke name="⟨name⟩⟨">¦" >⟩\n'
    f'⟨each⟩<｜GCML｜parameter name="{_KEY}{_IS_STRING}{_ENDS}⟨value⟩</｜GCML｜parameter>\n⟨/each⟩'
    "</｜GCML｜invoke>",
    around=("<｜GCML｜tool_calls>", "</｜GCML｜tool_calls>"),
)
COHERE_CMD5 = _format(
    "cohere-cmd5 cohere2_moe cohere_command5 (Command 5): each parameter says whether it is a "
    "string, between <cofl:…> tags",
    "<cofl:tool_call⟨= ⟩"
    '⟨maybe written⟩id="⟨skip text=0 pattern=[\\w.-]{0,64}⟩"⟨= ⟩⟨/maybe⟩name="⟨name⟩">⟨⟩'
    f'⟨each⟩<cofl:tool_param name="{_KEY}{_IS_STRING}{_ENDS}⟨value⟩</cofl:tool_param>⟨⟩'
    "⟨/each⟩</cofl:tool_call>⟨|⟩",
    around=("<cofl:tool_calls>", "</cofl:tool_calls>"),
)
KIMI_K3 = _format(
    "kimi-k3 kimi_k3 (Kimi K3): XTML: calls and typed arguments between <|open|>, <|sep|> and "
    "<|close|>",
    '<|open|>call tool="⟨name⟩'
    '⟨maybe written⟩" index="⟨skip text=1 pattern=[0-9]{0,6}⟩⟨/maybe⟩"<|sep|>⟨⟩'
    '⟨maybe⟩<|open|>json type="object"<|sep|>⟨arguments⟩<|close|>json<|sep|>⟨⟩⟨/maybe⟩'
    '⟨each⟩<|open|>argument key="⟨key pattern=[^\\"<>\\n]{1,200} escaped⟩'
    '⟨maybe written⟩" type="⟨type⟩⟨/maybe⟩"<|sep|>⟨value⟩<|close|>argument<|sep|>⟨⟩'
    "⟨/each⟩<|close|>call<|sep|>⟨|⟩",
    around=("<|open|>tools<|sep|>", "<|close|>tools<|sep|>"),
    dropped=(
        "<|open|>response<|sep|>",
        "<|close|>response<|sep|>",
        "<|close|>message<|sep|>",
        "<|end_of_msg|>",
    ),
    reasoning=(Reasoning("<|open|>think<|sep|>", "<|close|>think<|sep|>"), *THINKING),
)

# Arguments in tags, in messages with headers that say where they go.

_MUSE_TO, _MUSE_MORE = r"(?:\w{1,40} )?to=", r"(?: [ \w=.-]{0,80})?"
_MUSE_PROSE = rf"(?:{_MUSE_TO}(?:user|commentary){_MUSE_MORE}|\w{{0,40}})[\r\n]{{0,2}}"
_MUSE_CALL = rf"{_MUSE_TO}[\w./-]{{1,128}}[ \w=.-]{{0,80}}[\r\n]{{0,2}}"
MUSE = _format(
    "muse atem glimmer muse_glimmer musespark1x (Muse Spark, Muse Glimmer): <atem:invoke> in a "
    "message to a tool; a message to itself is reasoning",
    "⟨<atem:invoke name=\"¦<atem:invoke name='⟩⟨name pattern=\\w[\\w./-]{0,127} "
    'doubled⟩⟨">¦\'>¦" >⟩\n'
    f"⟨each⟩⟨<atem:parameter name=\"¦<atem:parameter name='⟩{_KEY}{_ENDS}"
    "⟨value⟩</atem:parameter>\n⟨/each⟩"
    "</atem:invoke>⟨|⟩",
    around=("<atem:function_calls>", "</atem:function_calls>"),
    inner="\n",
    envelope=Envelope(
        Literal("<|start|>", ("to=",)),
        (
            Route("reasoning", rf"{_MUSE_TO}self{_MUSE_MORE}[\r\n]{{0,2}}", "<|message|>"),
            Route("content", _MUSE_PROSE, "<|message|>"),
            Route("call", _MUSE_CALL, "<|message|>", "assistant to={name}"),
        ),
        Literal("<|eom|>", ("<|eot|>",)),
    ),
)
# `parser/beam.py` in SGLang.
BEAM = _format(
    "beam (Beam): <rfl:parameter> in a message to NAME; analysis is reasoning",
    "<|message|>⟨⟩"
    r'⟨each⟩<rfl:parameter name="⟨key pattern=[^\"<>\n]{1,200}⟩">'
    "⟨value trim=newline⟩</rfl:parameter>⟨⟩⟨/each⟩⟨|⟩",
    envelope=_like_harmony(
        r"[ \w]{0,40}to=(?:functions\.)?(?P<name>\w[\w.:/-]{0,127})"
        r"[ ]?<\|channel\|>analysis[ ]?<\|constrain\|>xml[\r\n]{0,2}",
        "assistant to={name}<|channel|>analysis <|constrain|>xml",
    ),
)

CHAIN = (HERMES, TOOLS_TAG, JSON, FENCE, LOOSE_JSON)
"""What the TunaCode harness looked for after structured calls, in its order."""

ORDER = (
    # A damaged text between tags that several formats have is read as Hermes, the commonest.
    *CHAIN,
    # Behind JSON, whose keys are commoner: an object is this one's only where it has its keys.
    LLAMA3_BARE,
    # GEMMA4 is before GEMMA4_PYTHON, which refuses braces behind a name. GLM45 is before
    # HUNYUAN_V3, which reads GLM's calls, too, as its separator may be missing.
    ANTHROPIC, APERTUS, APRIEL, BEAM, CALL_LINE, CALLING_TOOL, COHERE, COHERE_CMD5, COMMAND_R,
    CWM, DEEPSEEK_V3, DEEPSEEK_V31, DEEPSEEK_V32, DEEPSEEK_V41, DOTS_INVOKE, DOTS_JSON, ERNIE45,
    FUNCTION_CALL, FUNCTIONARY_V2, FUNCTIONARY_V31, FUNCTIONARY_V32, FUNCTIONGEMMA, GEMMA4,
    GEMMA4_PYTHON, GIGACHAT3, GIGACHAT35, GLM45, GLM47, GLM_FLASH, GRANITE3, GRANITE31,
    GRANITE_20B_FC, HARMONY, HUNYUAN_A13B, HUNYUAN_V3, HUNYUAN_V3_OPENSOURCE, INKLING, INTERNLM,
    IQUEST_CODER, IQUEST_Q1, JAMBA, K2_HORIZON_JSON, K2_HORIZON_XML, KIMI_K2, KIMI_K3,
    LFM2_JSON, LFM2_PYTHONIC, LLAMA3_JSON, LLAMA4_PYTHONIC, LONGCAT, LONGCAT_PAIRS, MIMO,
    MIMO_BARE, MINICPM5, MINIMAX_M2, MINIMAX_M3, MIROTHINKER, MISTRAL_ARRAY, MISTRAL_V11, MUSE,
    NAME_JSON, NEMOTRON, OLMO3, PHI4_MINI, PLAMO3, PYTHON_CALLS, PYTHONIC, QWEN3_BARE,
    QWEN3_CODER, QWEN_AGENT, REACT, SARASHINA, SEED_OSS, SEED_OSS_BARE, SOLAR_OPEN, SOLAR_OPEN2,
    STEP3, STEP_AUDIO_2, TAG_PARAMETERS, TOOL_CALLS, TOOL_CODE, TOOL_CODE_LINE, TOOL_ELEMENTS,
)  # fmt: skip
"""Every format that comes with tunaeval. Where two could read a text, `auto` takes the earlier one.

Only the pairs with a reason above need their order; the others are sorted by name.
"""

FORMATS = {form.name: form for form in ORDER}
"""Every format that comes with tunaeval, by its canonical name."""

_BY_NAME_ONLY = {
    "anthropic", "apriel", "command-r", "dots-invoke", "ernie45", "glm47", "granite3.1",
    "hunyuan-a13b", "mimo", "mimo-bare", "sarashina", "seed-oss-bare",
}  # fmt: skip

AUTO = tuple(form for form in ORDER if form.name not in _BY_NAME_ONLY)
"""What `auto` reads side by side: all but those whose text is also that of another one."""

# Names that servers have for formats and for reasoning, where one name is not one format here: from
# `--tool-call-parser` and `--reasoning-parser` of vLLM, SGLang, dynamo and smg, and the parsers
# that a Modelfile of Ollama names. A name of reasoning is the format that its models write calls
# in, for every format here knows its models' reasoning.

_SETS = {
    "dots": (DOTS_JSON, DOTS_INVOKE),
    "granite": (GRANITE3, GRANITE31),
    "hunyuan hy_v3 hy_v4": (HUNYUAN_V3, HUNYUAN_V3_OPENSOURCE),
    "k2-horizon k2_horizon": (K2_HORIZON_JSON, K2_HORIZON_XML),
    "lfm2 lfm2-thinking": (LFM2_PYTHONIC, LFM2_JSON),
    "rwkv": (HERMES, ANTHROPIC, FENCE),
    "telechat4 xing4_0 xingchen4": (HERMES, GLM45),
    "llama3 llama llama3_json llama4_json": (LLAMA3_JSON, LLAMA3_BARE),
    "mistral": (MISTRAL_V11, MISTRAL_ARRAY),
    "qwen3 holo2 qwen3-thinking qwen3-vl-instruct qwen3-vl-thinking qwen3_thinking": (
        HERMES, QWEN3_CODER, QWEN3_BARE,
    ),
    "xlam": (JSON, FENCE, HERMES, MISTRAL_ARRAY, TOOL_CALLS),
}  # fmt: skip

SETS = {names.split()[0]: formats for names, formats in _SETS.items()}
"""Formats that models of one name write in turn, to be read side by side."""

SET_ALIASES = {alias: names.split()[0] for names in _SETS for alias in names.split()[1:]}
"""Further names of these sets."""

REFUSED = {
    **dict.fromkeys(
        ("base", "basic"),
        "it says only how reasoning is marked, which all formats know; give the name of the format "
        "that the model writes calls in (hermes, qwen3-coder, glm45, deepseek-v3, ...), or 'auto'",
    ),
    **dict.fromkeys(
        ("hf", "response_template", "granite_thinking_parser"),
        "the chat template of the model decides what a call looks like; give the name of the "
        "format that the template writes, or 'auto'",
    ),
    **dict.fromkeys(
        ("identity", "passthrough"),
        "it leaves a text as it is; give the name of the format of the model, or 'auto'",
    ),
    "default": "dynamo calls several formats of JSON so; give the name of one of them, or 'auto'",
}
"""Names that no format can have, and why, with what to give instead."""
