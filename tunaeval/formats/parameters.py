"""Formats that write each argument in markup of its own.

The notation is described at `Format.of`.
"""

from __future__ import annotations

from functools import partial

from tunaeval.grammar import THINKING, Envelope, Format, Literal, Reasoning, Route

from .objects import GLM_FLASH, K2_THINK, OTHER_MESSAGES

_format = partial(Format.of, checked=False)  # as in `objects`

_KEY = r"⟨key pattern=[^\"'<>\n]{1,200}⟩"
_QUOTE = "⟨maybe written⟩⟨\"¦'⟩⟨/maybe⟩"
_IS_STRING = '⟨maybe written⟩" string="⟨type text=true json=false⟩⟨/maybe⟩'
_FUNCTION_END = "⟨</parameter>¦</parameter>>⟩\n⟨/each⟩</function>"
_TRIMMED = f"<function=⟨name⟩>\n⟨each⟩<parameter=⟨key⟩>⟨value trim=newline⟩{_FUNCTION_END}"
_UNPAIRED = f"<function=⟨name⟩>\n⟨each⟩<parameter=⟨key⟩>⟨value trim=newlines⟩{_FUNCTION_END}"
_KEPT = f"<function=⟨name⟩>\n⟨each⟩<parameter=⟨key⟩>⟨value⟩{_FUNCTION_END}"
_PAIRS = "⟨each⟩<arg_key>⟨key⟩</arg_key>\n<arg_value>⟨value⟩</arg_value>\n⟨/each⟩"
_INVOKE = (
    f"<invoke name=⟨⟩{_QUOTE}⟨name⟩{_QUOTE}>\n"
    f"⟨each⟩<parameter name={_QUOTE}{_KEY}{_QUOTE}>⟨value⟩</parameter>\n⟨/each⟩</invoke>"
)
_TO_A_TOOL = (
    r"[ \w]{0,40}to=(?:functions\.)?(?P<name>\w[\w.:/-]{0,127})"
    r"[ ]?<\|channel\|>analysis[ ]?<\|constrain\|>xml[\r\n]{0,2}"
)
_MINIMAX = "]<]minimax[>["

# `<function=NAME>` with a `<parameter=KEY>` for each argument.

# The parser of vllm-mlx reads it: models of the Qwen3-Coder family leave `<tool_call>` out at
# times, mostly before the first call.
QWEN3_BARE = _format(
    "qwen3-bare",
    _TRIMMED,
    models=("Qwen3-Coder", "Step-3.5", "Nemotron 3"),
    summary="as qwen3-coder, without <tool_call>",
)
MIMO_BARE = _format("mimo-bare", _KEPT, models=("MiMo-V2",), summary="as mimo, without <tool_call>")
SEED_OSS_BARE = _format(
    "seed-oss-bare",
    _UNPAIRED,
    reasoning=(Reasoning("<seed:think>", "</seed:think>"), *THINKING),
    models=("Seed-OSS",),
    summary="as seed-oss, without <seed:tool_call>",
)
QWEN3_CODER = _format(
    "qwen3-coder",
    f"<tool_call>\n{_TRIMMED}\n</tool_call>",
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
MIMO = _format(
    "mimo",
    f"<tool_call>\n{_KEPT}\n</tool_call>",
    also=(MIMO_BARE,),
    models=("MiMo-V2",),
    summary="as qwen3-coder, with values kept to the letter",
)
SEED_OSS = _format(
    "seed-oss",
    f"<seed:tool_call>\n{_UNPAIRED}\n</seed:tool_call>",
    also=(SEED_OSS_BARE,),
    reasoning=(Reasoning("<seed:think>", "</seed:think>"), *THINKING),
    aliases=("seed_oss",),
    models=("Seed-OSS",),
    summary="as qwen3-coder, inside <seed:tool_call>",
)

# Each argument as a pair of tags, one for its name and one for its value.

GLM45 = _format(
    "glm45",
    f"<tool_call>⟨⟩⟨name⟩\n{_PAIRS}</tool_call>",
    dropped=("<|begin_of_box|>", "<|end_of_box|>"),
    also=(GLM_FLASH,),
    aliases=(
        "glm",
        "glm-ocr",
        "glm45_moe",
        "laguna",
        "ling3",
        "poolside-v1",
        "poolside_v1",
        "spark25",
    ),
    models=("GLM-4.5", "GLM-4.6", "Ling 3", "Laguna", "Spark 2.5"),
    summary="name, then <arg_key> and <arg_value>, inside <tool_call>",
)
GLM47 = _format(
    "glm47",
    "<tool_call>⟨⟩⟨name⟩⟨⟩"
    "⟨each⟩<arg_key>⟨key⟩</arg_key>⟨⟩<arg_value>⟨value⟩</arg_value>⟨⟩⟨/each⟩</tool_call>",
    dropped=("<|begin_of_box|>", "<|end_of_box|>"),
    also=(GLM_FLASH,),
    separator="",
    aliases=("glm-4.7", "glm47_moe", "glm5"),
    models=("GLM-4.7", "GLM-5", "Hunyuan 4"),
    summary="as glm45, without newlines",
)
IQUEST_Q1 = _format(
    "iquest-q1",
    f"<iquest_tool_call>⟨⟩⟨name⟩\n{_PAIRS}</iquest_tool_call>",
    aliases=("iquest_q1",),
    models=("IQuest Q1",),
    summary="as glm45, inside <iquest_tool_call>",
)
HUNYUAN_V3 = _format(
    "hunyuan-v3",
    f"<tool_call>⟨⟩⟨name⟩⟨⟩⟨maybe written⟩<tool_sep>⟨/maybe⟩\n{_PAIRS}</tool_call>",
    around=("<tool_calls>", "</tool_calls>"),
    models=("Hunyuan 3", "Hunyuan 4"),
    summary="as glm45 with <tool_sep> behind the name, inside <tool_calls>",
)
HUNYUAN_V3_OPENSOURCE = _format(
    "hunyuan-v3-opensource",
    "<tool_call:opensource>⟨⟩⟨name⟩⟨⟩⟨maybe written⟩<tool_sep:opensource>⟨/maybe⟩\n"
    "⟨each⟩<arg_key:opensource>⟨key⟩</arg_key:opensource>\n"
    "<arg_value:opensource>⟨value⟩</arg_value:opensource>\n⟨/each⟩</tool_call:opensource>",
    around=("<tool_calls:opensource>", "</tool_calls:opensource>"),
    reasoning=(Reasoning("<think:opensource>", "</think:opensource>"), *THINKING),
    models=("Hunyuan 3 and 4 with open weights",),
    summary="as hunyuan-v3, with a suffix in every tag",
)
K2_HORIZON_XML = _format(
    "k2-horizon-xml",
    "<ifm|tool_call>⟨⟩⟨name⟩\n"
    "⟨each⟩<ifm|arg_key>⟨key⟩</ifm|arg_key>\n"
    "⟨maybe⟩<ifm|arg_type>⟨type⟩</ifm|arg_type>\n⟨/maybe⟩"
    "<ifm|arg_value>⟨value⟩</ifm|arg_value>\n⟨/each⟩</ifm|tool_call>",
    around=("<ifm|tool_calls>", "</ifm|tool_calls>"),
    reasoning=K2_THINK,
    models=("K2 Horizon",),
    summary="name, then <ifm|arg_key> and <ifm|arg_value>",
)
IQUEST_CODER = _format(
    "iquest-coder",
    f"<iquestcoder_tool_call>⟨⟩⟨name⟩\n{_PAIRS}</iquestcoder_tool_call>",
    aliases=("iquest_coder", "iquestcoder"),
    models=("IQuest Coder V2",),
    summary="as glm45, inside <iquestcoder_tool_call>",
)
# mlx-lm, `tool_parsers/longcat.py`, which reads JSON between the same tags too.
LONGCAT_PAIRS = _format(
    "longcat-pairs",
    "<longcat_tool_call>⟨⟩⟨name⟩\n"
    "⟨each⟩<longcat_arg_key>⟨key⟩</longcat_arg_key>\n"
    "<longcat_arg_value>⟨value⟩</longcat_arg_value>\n⟨/each⟩</longcat_tool_call>",
    reasoning=(Reasoning("<longcat_think>", "</longcat_think>"), *THINKING),
    models=("LongCat-Flash-Lite", "LongCat-2.0"),
    summary="as glm45, with LongCat's tags",
)
LONGCAT = _format(
    "longcat",
    "<longcat_tool_call>\n⟨call⟩\n</longcat_tool_call>",
    also=(LONGCAT_PAIRS,),
    reasoning=(Reasoning("<longcat_think>", "</longcat_think>"), *THINKING),
    models=("LongCat-Flash",),
    summary="one JSON object between <longcat_tool_call> tags",
)
# `solar_open2_tool_parser.py` and `solar_open2_reasoning_parser.py` in vLLM.
SOLAR_OPEN2 = _format(
    "solar-open2",
    "<|tool_call:start|>⟨name⟩\n"
    "⟨each⟩<|tool_arg:start|>⟨key⟩<|tool_arg:value|>⟨value⟩<|tool_arg:end|>\n⟨/each⟩"
    "<|tool_call:end|>",
    reasoning=(Reasoning("<|think:start|>", "<|think:end|>"), *THINKING),
    aliases=("solar_open2",),
    models=("Solar Open 2",),
    summary="name, then each argument's name and value behind tokens of their own",
)

# Each argument in a tag of its own, the argument's name in the tag.

MINIMAX_M2 = _format(
    "minimax-m2",
    _INVOKE,
    around=(
        "⟨<minimax:tool_call>¦<function_calls>¦<dots_function_call>⟩",
        "⟨</minimax:tool_call>¦</function_calls>¦</dots_function_call>⟩",
    ),
    aliases=(
        "minimax",
        "minimax-append-think",
        "minimax_append_think",
        "minimax_m2",
        "minimax_m2_append_think",
    ),
    models=("MiniMax M2",),
    summary='<invoke name="NAME"> with <parameter name="KEY"> inside',
)
ANTHROPIC = _format(
    "anthropic",
    _INVOKE,
    around=("<function_calls>", "</function_calls>"),
    aliases=("claude", "function_calls"),
    models=("Claude 2 and 3 in text",),
    summary="as minimax-m2, inside <function_calls>",
)
DOTS_INVOKE = _format(
    "dots-invoke",
    _INVOKE,
    around=("<dots_function_call>", "</dots_function_call>"),
    models=("dots",),
    summary="as minimax-m2, inside <dots_function_call>",
)
MINIMAX_M3 = _format(
    "minimax-m3",
    f'{_MINIMAX}<invoke name="⟨name⟩">⟨elements prefix={_MINIMAX}⟩{_MINIMAX}</invoke>',
    around=(f"{_MINIMAX}<tool_call>", f"{_MINIMAX}</tool_call>"),
    reasoning=(Reasoning("<mm:think>", "</mm:think>"), *THINKING),
    aliases=("minimax_m3",),
    models=("MiniMax M3",),
    summary="arguments as nested elements, a prefix before every tag",
)
# Cline and Roo tell any model to write so: docs of their system prompts, "Tool Use Formatting".
TOOL_ELEMENTS = _format(
    "tool-elements",
    "<⟨name⟩>\n⟨arguments optional⟩⟨elements⟩\n</⟨name⟩>",
    by_tool=True,
    aliases=("cline", "roo"),
    models=("any model prompted by Cline or Roo",),
    summary="an element named after its tool, with an element for each argument, or JSON, in it",
)
MINICPM5 = _format(
    "minicpm5",
    "⟨<function name=\"¦<function name='¦<functionname=\"¦<functionname='⟩⟨name⟩⟨\">¦'>⟩⟨⟩"
    f"⟨each⟩⟨<param name=\"¦<param name='¦<paramname=\"¦<paramname='⟩{_KEY}⟨\">¦'>⟩"
    "⟨value quotes=<![CDATA[,]]>⟩</param>⟨⟩"
    "⟨/each⟩</function>",
    models=("MiniCPM 4", "MiniCPM 5"),
    summary='<function name="NAME"> with <param name="KEY"> inside',
)
STEP3 = _format(
    "step3",
    "<｜tool_call_begin｜>⟨⟩"
    '⟨maybe written⟩function⟨|⟩<｜tool_sep｜>⟨/maybe⟩⟨⟩<steptml:invoke name="⟨name⟩">⟨⟩'
    f'⟨each⟩<steptml:parameter name="{_KEY}">⟨value⟩</steptml:parameter>⟨⟩'
    "⟨/each⟩</steptml:invoke>⟨⟩<｜tool_call_end｜>",
    around=("<｜tool_calls_begin｜>", "<｜tool_calls_end｜>"),
    separator="",
    models=("Step3",),
    summary="<steptml:invoke> between Step's tokens",
)
DEEPSEEK_V32 = _format(
    "deepseek-v3.2",
    '⟨<｜DSML｜invoke name="¦<|DSML|invoke name="⟩⟨name⟩">\n'
    "⟨arguments optional⟩"
    f'⟨each⟩⟨<｜DSML｜parameter name="¦<|DSML|parameter name="⟩{_KEY}{_IS_STRING}⟨">¦" >⟩'
    "⟨value⟩⟨</｜DSML｜parameter>¦</|DSML|parameter>⟩\n⟨/each⟩"
    "⟨</｜DSML｜invoke>¦</|DSML|invoke>⟩",
    around=(
        "⟨<｜DSML｜function_calls>¦<｜DSML｜tool_calls>¦<|DSML|function_calls>¦<|DSML|tool_calls>⟩",
        "⟨</｜DSML｜function_calls>¦</｜DSML｜tool_calls>¦</|DSML|function_calls>¦</|DSML|tool_calls>⟩",
    ),
    aliases=(
        "deepseek-v32",
        "deepseek-v4",
        "deepseek32",
        "deepseek_v32",
        "deepseek_v3_2",
        "deepseek_v4",
        "deepseekv32",
        "deepseekv4",
    ),
    models=("DeepSeek V3.2", "DeepSeek V4"),
    summary="DSML: each parameter says whether it is a string; or one JSON object",
)
DEEPSEEK_V41 = _format(
    "deepseek-v4.1",
    '⟨<｜DSML｜ invoke name="¦<|DSML| invoke name="⟩⟨name⟩">\n'
    f'⟨each⟩⟨<｜DSML｜ parameter name="¦<|DSML| parameter name="⟩{_KEY}{_IS_STRING}⟨">¦" >⟩'
    "⟨value⟩⟨</｜DSML｜ parameter>¦</|DSML| parameter>⟩\n⟨/each⟩"
    "⟨</｜DSML｜ invoke>¦</|DSML| invoke>⟩",
    around=("⟨<｜DSML｜ calls>¦<|DSML| calls>⟩", "⟨</｜DSML｜ calls>¦</|DSML| calls>⟩"),
    aliases=("deepseek_v41", "deepseekv41"),
    models=("DeepSeek V4.1",),
    summary="DSML with a space in every tag",
)
GIGACHAT35 = _format(
    "gigachat3.5",
    '<｜GCML｜invoke name="⟨name⟩">\n'
    f'⟨each⟩<｜GCML｜parameter name="{_KEY}{_IS_STRING}⟨">¦" >⟩⟨value⟩</｜GCML｜parameter>\n⟨/each⟩'
    "</｜GCML｜invoke>",
    around=("<｜GCML｜tool_calls>", "</｜GCML｜tool_calls>"),
    aliases=("gigachat35",),
    models=("GigaChat 3.5",),
    summary="GCML: DSML with another token",
)
COHERE_CMD5 = _format(
    "cohere-cmd5",
    "<cofl:tool_call⟨= ⟩"
    '⟨maybe written⟩id="⟨skip text=0 pattern=[\\w.-]{0,64}⟩"⟨= ⟩⟨/maybe⟩name="⟨name⟩">⟨⟩'
    f'⟨each⟩<cofl:tool_param name="{_KEY}{_IS_STRING}">⟨value⟩</cofl:tool_param>⟨⟩'
    "⟨/each⟩</cofl:tool_call>",
    around=("<cofl:tool_calls>", "</cofl:tool_calls>"),
    separator="",
    aliases=("cohere2_moe", "cohere_command5"),
    models=("Command 5",),
    summary="each parameter says whether it is a string, between <cofl:…> tags",
)
KIMI_K3 = _format(
    "kimi-k3",
    '<|open|>call tool="⟨name⟩'
    '⟨maybe written⟩" index="⟨skip text=1 pattern=[0-9]{0,6}⟩⟨/maybe⟩"<|sep|>⟨⟩'
    '⟨maybe⟩<|open|>json type="object"<|sep|>⟨arguments⟩<|close|>json<|sep|>⟨⟩⟨/maybe⟩'
    '⟨each⟩<|open|>argument key="⟨key pattern=[^\\"<>\\n]{1,200} escaped⟩'
    '⟨maybe written⟩" type="⟨type⟩⟨/maybe⟩"<|sep|>⟨value⟩<|close|>argument<|sep|>⟨⟩'
    "⟨/each⟩<|close|>call<|sep|>",
    around=("<|open|>tools<|sep|>", "<|close|>tools<|sep|>"),
    dropped=(
        "<|open|>response<|sep|>",
        "<|close|>response<|sep|>",
        "<|close|>message<|sep|>",
        "<|end_of_msg|>",
    ),
    separator="",
    reasoning=(Reasoning("<|open|>think<|sep|>", "<|close|>think<|sep|>"), *THINKING),
    aliases=("kimi_k3",),
    models=("Kimi K3",),
    summary="XTML: calls and typed arguments between <|open|>, <|sep|> and <|close|>",
)

# The same in messages with headers that say where they go.

MUSE = _format(
    "muse",
    "⟨<atem:invoke name=\"¦<atem:invoke name='⟩⟨name pattern=\\w[\\w./-]{0,127} doubled⟩⟨\">¦'>⟩\n"
    f"⟨each⟩⟨<atem:parameter name=\"¦<atem:parameter name='⟩{_KEY}⟨\">¦'>⟩"
    "⟨value⟩</atem:parameter>\n⟨/each⟩"
    "</atem:invoke>",
    around=("<atem:function_calls>", "</atem:function_calls>"),
    envelope=Envelope(
        Literal("<|start|>", ("to=",)),
        (
            Route(
                "reasoning", r"(?:\w{1,40} )?to=self(?: [ \w=.-]{0,80})?[\r\n]{0,2}", "<|message|>"
            ),
            Route(
                "content",
                r"(?:(?:\w{1,40} )?to=(?:user|commentary)(?: [ \w=.-]{0,80})?|\w{0,40})[\r\n]{0,2}",
                "<|message|>",
            ),
            Route(
                "call",
                r"(?:\w{1,40} )?to=[\w./-]{1,128}[ \w=.-]{0,80}[\r\n]{0,2}",
                "<|message|>",
                "assistant to=f",
            ),
        ),
        Literal("<|eom|>", ("<|eot|>",)),
    ),
    aliases=("atem", "glimmer", "muse_glimmer", "musespark1x"),
    models=("Muse Spark", "Muse Glimmer"),
    summary="<atem:invoke> in a message to a tool; a message to itself is reasoning",
)
# `parser/beam.py` in SGLang.
BEAM = _format(
    "beam",
    "<|message|>⟨⟩"
    r'⟨each⟩<rfl:parameter name="⟨key pattern=[^\"<>\n]{1,200}⟩">'
    "⟨value trim=newline⟩</rfl:parameter>⟨⟩⟨/each⟩",
    envelope=Envelope(
        Literal("<|start|>", ("<|channel|>", "to=")),
        (
            Route(
                "call",
                _TO_A_TOOL,
                "<|message|>",
                "assistant to={name}<|channel|>analysis <|constrain|>xml",
            ),
            *OTHER_MESSAGES,
        ),
        Literal("<|call|>", ("<|end|>", "<|return|>")),
    ),
    separator="",
    models=("Beam",),
    summary="<rfl:parameter> in a message to NAME; analysis is reasoning",
)
