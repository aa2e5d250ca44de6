"""What repairs a fault: the exact flag for the recognised server, and threads that report it.

A remedy is looked up by fault and server. Where several help, they come in this order: a missing
flag, the right parser, a template, a newer version, a workaround. The names of parsers are those of
the server's version that the registry of formats knows as names of the model's format.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from tunaeval.grammar.format import THINKING
from tunaeval.grammar.formats import FORMATS, SETS
from tunaeval.parsing.api import formats

from .values import ServerIdentity

_TUNAEVAL = "until then, parse the text yourself: tunaeval.parse(text, tools=tools)"


class Offered(NamedTuple):
    """The names that a version of a server takes for its parsers, without deprecated ones."""

    version: str
    parsers: tuple[str, ...]
    thinkers: tuple[str, ...]
    """The names of reasoning parsers."""


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split())


OFFERED = {
    "vLLM": Offered(
        "0.33.0",
        _names(
            "dots deepseek_v3 deepseek_v31 deepseek_v32 deepseek_v4 deepseek_v41 "
            "cohere_command3 cohere_command4 ernie45 glm45 glm47 ling3 granite-20b-fc granite "
            "granite4 hermes hf beam poolside_v1 hunyuan_a13b hy_v3 hy_v4 internlm jamba lfm2 "
            "kimi_k2 kimi_k3 k2_horizon llama3_json llama4_json llama4_pythonic longcat mimo "
            "minimax_m2 minimax_m3 minicpm5 mistral olmo3 plamo3 muse muse_glimmer musespark1x "
            "openai phi4_mini_json pythonic qwen3_coder qwen3_json qwen3_xml seed_oss step3 "
            "step3p5 step5 inkling xlam gigachat3 functiongemma gemma4 apertus"
        ),
        _names(
            "deepseek_r1 deepseek_v3 deepseek_v4 deepseek_v41 poolside_v1 cohere_command3 "
            "cohere_command4 ernie45 gemma4 glm45 glm47 ling3 openai_gptoss granite "
            "granite_thinking_parser hf beam holo2 hunyuan_a13b hy_v3 hy_v4 kimi_k2 kimi_k3 "
            "k2_horizon mimo minicpmv minimax_m2 minimax_m2_append_think minimax_m3 mistral "
            "nemotron_v3 olmo3 plamo3 muse muse_glimmer musespark1x qwen3 seed_oss step3 "
            "step3p5 step5 inkling"
        ),
    ),
    "SGLang": Offered(
        "0.5.23",
        _names(
            "apertus2509 beam cohere_command4 deepseekv3 deepseekv31 deepseekv32 deepseekv4 "
            "deepseekv41 dots glm glm47 gpt-oss k2_horizon kimi_k2 kimi_k3 lfm2 ling3 llama3 "
            "mimo minicpm5 mistral muse poolside_v1 pythonic qwen qwen3_coder spark25 step3 "
            "step3p5 minimax-m2 minimax-m3 nanbeige trinity interns1 hermes hunyuan gigachat3 "
            "gigachat35 gemma4 inkling iquest_q1 response_template"
        ),
        _names(
            "apertus2509 beam deepseek-r1 deepseek-v3 deepseek-v4 deepseek-v41 dots glm45 ling3 "
            "hunyuan gpt-oss k2_horizon kimi kimi_k2 kimi_k3 mimo muse poolside_v1 qwen3 "
            "qwen3-thinking minimax minimax-append-think minimax-m3 nanbeige step3 step3p5 "
            "mistral nemotron_3 granite_thinking_parser interns1 gemma4 inkling iquest_q1 "
            "cohere_command4 gigachat35 response_template"
        ),
    ),
}
_DEPRECATED = {"qwen25": "qwen", "glm45": "glm"}
"""Names of tool parsers that SGLang 0.5.23 replaces, with a warning, by others."""
_BETTER = {
    ("SGLang", "parsers", "hermes"): "qwen",  # its hermes ends a call at a tag inside of a value
    ("SGLang", "parsers", "json"): "llama3",
    ("SGLang", "parsers", "llama4-pythonic"): "pythonic",
    ("vLLM", "parsers", "json"): "llama3_json",
    ("vLLM", "thinkers", "deepseek-v3"): "deepseek_r1",
    ("vLLM", "thinkers", "deepseek-v3.1"): "deepseek_v3",
    ("SGLang", "thinkers", "deepseek-v3"): "deepseek-r1",
    ("SGLang", "thinkers", "deepseek-v3.1"): "deepseek-v3",
    ("SGLang", "thinkers", "glm47"): "glm45",
}
"""Names that fit better than those that the registry would choose."""
_USUAL_THINKER = "qwen3"
"""The reasoning parser for <think> where the format of the model's calls does not tell more."""
_MARKERS = {
    **{
        r.open: f.name for f in reversed(FORMATS.values()) for r in f.reasoning if r not in THINKING
    },
    "<|channel|>analysis": "harmony",
    "◁think▷": "kimi",
}
"""The formats, or the parsers, that mark reasoning in a way of their own, by the marker."""


def parser_name(kind: str, form: str | None, thought: str | None = None) -> str | None:
    """Return the name that a server has for the parser of a format, or None if none is known.

    With `thought`, a text with reasoning in it, it is the name of the reasoning parser.
    """
    offered = OFFERED.get(kind)
    if offered is None:
        return None
    what = "parsers"
    if thought is not None:
        what = "thinkers"
        form = next((of for mark, of in _MARKERS.items() if mark in thought), form)
    if better := _BETTER.get((kind, what, form or "")):
        return better
    known, plain = formats.aliases(), (form or "").translate(_PLAIN)

    def reads(name: str) -> bool:
        of = known.get(name, name)
        named = (of, *(one.name for one in SETS.get(of, ())))
        return form in named or name.translate(_PLAIN) == plain

    def rank(name: str) -> tuple[bool, ...]:
        theirs = name.translate(_PLAIN)
        return plain != theirs, not plain.startswith(theirs), name in known

    usual = _USUAL_THINKER if thought and "<think>" in thought else None
    return min(filter(reads, getattr(offered, what)), key=rank, default=usual)


_PLAIN = str.maketrans("", "", "-_.")


_ANY = ""
_NEWER = "use a newer version of the server, or send this report to its developers (--markdown)"
_WHOLE = "ask with stream: false until a version without the fault"
_TEMPLATE = {
    "llama.cpp": "start with --jinja --chat-template-file FILE, a template that prints {what}",
    "vLLM": "start with --chat-template FILE, a template that prints {what}",
    "SGLang": "start with --chat-template FILE, a template that prints {what}",
    "Ollama": "take a model whose /api/show has the capability 'tools', or a Modelfile with a "
    "TEMPLATE that prints {what}",
    _ANY: "give the server a chat template that prints {what} (llama.cpp: --jinja "
    "--chat-template-file FILE; vLLM, SGLang: --chat-template FILE)",
}
_REPOSITORIES = {
    "vLLM": "vllm-project/vllm",
    "SGLang": "sgl-project/sglang",
    "Ollama": "ollama/ollama",
    "llama.cpp": "ggml-org/llama.cpp",
    "LM Studio": "lmstudio-ai/lmstudio-bug-tracker",
    "LiteLLM": "BerriAI/litellm",
    "TGI": "huggingface/text-generation-inference",
}
_THREADS = {
    "arguments-broken": {"vLLM": "20678 35266 45256"},
    "arguments-object": {"TGI": "2954"},
    "call-ids": {"vLLM": "18412", "llama.cpp": "11992", "LM Studio": "830"},
    "calls-in-content": {"llama.cpp": "22786", "Ollama": "18658"},
    "calls-in-content-sometimes": {"llama.cpp": "22371"},
    "calls-lost": {"SGLang": "31915", "Ollama": "10976"},
    "choice-ignored": {"llama.cpp": "27217 26535", "Ollama": "17921", "vLLM": "50477"},
    "choice-unknown": {"Ollama": "17921"},
    "content-lost": {"SGLang": "34214"},
    "cut-finish": {"vLLM": "53269"},
    "cut-markup": {"vLLM": "47903"},
    "error": {"llama.cpp": "20260", "Ollama": "12884 17638"},
    "finish-reason": {"vLLM": "27572 53363"},
    "flags": {"vLLM": "9986"},
    "id": {"SGLang": "35542"},
    "index": {"Ollama": "15457 7881", "LiteLLM": "33678"},
    "name": {"SGLang": "35542"},
    "name-changed": {"vLLM": "57950"},
    "none-markup": {"SGLang": "30925 40237"},
    "parallel-ignored": {"SGLang": "9696 37157"},
    "strict-ignored": {"vLLM": "49661"},
    "stream-differs": {"vLLM": "20678 56263", "SGLang": "35564"},
    "usage-differs": {"LiteLLM": "36114"},
    "value-changed": {"SGLang": "41316"},
}
"""Threads that report a fault of a server, by their numbers in its repository."""

_REMEDIES: dict[str, dict[str, str]] = {
    "flags": {
        "vLLM": "start with {flags}",
        _ANY: "name the server's tool parser ({flags})",
    },
    "calls-in-content": {
        "vLLM": "name the parser of what the model writes: {flags}; " + _TUNAEVAL,
        "SGLang": "name the parser of what the model writes: {flags}; " + _TUNAEVAL,
        "llama.cpp": "start with --jinja --chat-template-file FILE, the template of this model, "
        "from which the parser is derived, in a newer version; " + _TUNAEVAL,
        "Ollama": "use a newer version, and a model whose /api/show has the capability 'tools'; "
        + _TUNAEVAL,
        _ANY: "name the server's parser for what the model writes ({flags}); " + _TUNAEVAL,
    },
    "calls-lost": {
        "vLLM": "see that it was started with {flags}, or use a newer version; " + _TUNAEVAL,
        "SGLang": "start with {flags}, or use a newer version; " + _TUNAEVAL,
        _ANY: _NEWER + "; " + _TUNAEVAL,
    },
    "stream-differs": {_ANY: _WHOLE},
    "arguments-broken": {_ANY: f"{_NEWER}; {_TUNAEVAL}"},
    "empty-arguments": {_ANY: 'read "" as {} in the client, and never send it back; ' + _NEWER},
    "choice-ignored": {
        "llama.cpp": "use a newer version; or treat required and named choices as auto, and "
        "check which tool was called",
        "Ollama": "Ollama has no tool_choice: offer only the tool to call, or no tool",
        _ANY: _NEWER + "; or treat tool_choice as auto, and offer only the tools that may be "
        "called",
    },
    "name-changed": {_ANY: "offer tools under names of letters, digits and _; " + _NEWER},
    "none-markup": {_ANY: "leave `tools` out of a request that may not call; " + _NEWER},
    "choice-unknown": {_ANY: "check tool_choice in the client: the server does not"},
    "parallel-ignored": {
        _ANY: "keep the first call in the client and drop the others; " + _NEWER,
    },
    "schema": {
        _ANY: "leave the keyword out of the schema before it is sent (true: {}; $ref: inline "
        "it); " + _NEWER,
    },
    "strict-ignored": {
        "vLLM": "start with --tool-strict-level parameter, or check arguments in the client",
        "SGLang": "set SGLANG_TOOL_STRICT_LEVEL=2, or check arguments in the client",
        _ANY: "check arguments in the client: strict has no effect here",
    },
    "history": {
        "llama.cpp": "send '{}' in place of empty or broken arguments; start with --jinja "
        "--chat-template-file FILE, a corrected template",
        _ANY: "send arguments as sound JSON ('{}' for none), a string as content, system "
        "messages first; or give the server a corrected chat template",
    },
    "reasoning-leaks": {
        "vLLM": "start with {thinker}: thoughts are then taken out before calls are looked for",
        "SGLang": "start with {thinker}: thoughts are then taken out before calls are looked for",
        "llama.cpp": "start with --reasoning-format auto and the template of this model",
        _ANY: "name the server's reasoning parser ({thinker})",
    },
    "schema-forced": {_ANY: "check arguments before a call is run; " + _NEWER},
    "cut-complete": {
        _ANY: "raise max_tokens, and run no call of an answer with the finish reason length"
    },
    "cut-finish": {_ANY: "check arguments before a call is run, and raise max_tokens; " + _NEWER},
    "arguments-object": {_ANY: "accept an object as well as a string in the client; " + _NEWER},
    "call-ids": {_ANY: "add missing ids in the client; " + _NEWER},
    "index": {_ANY: f"combine fragments by id, or {_WHOLE}"},
    "id": {_ANY: f"keep the first id and name of a call, or {_WHOLE}"},
    "id-shared": {_ANY: "combine fragments by index, and make ids in the client; " + _NEWER},
    "name": {_ANY: f"keep the first id and name of a call, or {_WHOLE}"},
    "frame": {_ANY: _WHOLE},
    "role": {_ANY: f"treat every delta as the assistant's in the client, or {_WHOLE}"},
    "text": {_ANY: _WHOLE},
    "type": {_ANY: f"treat every call as a function call in the client, or {_WHOLE}"},
    "result-unseen": {
        kind: words.format(what="tools' results") for kind, words in _TEMPLATE.items()
    },
    "cut-markup": {
        _ANY: "show no content of an answer with the finish reason length; " + _TUNAEVAL
    },
    "content-lost": {_ANY: f"{_NEWER}; {_TUNAEVAL}"},
    "usage-differs": {_ANY: "count tokens in the client if you pay for them"},
    "usage-missing": {_ANY: "count tokens in the client; " + _NEWER},
    "finish-reason": {_ANY: "look for calls whatever the finish reason says; " + _NEWER},
    "tools": {kind: words.format(what="the tools") for kind, words in _TEMPLATE.items()},
    "past": {
        kind: words.format(what="past calls and results") for kind, words in _TEMPLATE.items()
    },
    "context": {
        "Ollama": "set OLLAMA_CONTEXT_LENGTH, or num_ctx in a Modelfile: /v1 takes 4,096 tokens "
        "by default (ollama/ollama#14259, ollama/ollama#18107)",
        "llama.cpp": "start with a larger --ctx-size",
        "vLLM": "start with a larger --max-model-len",
        "SGLang": "start with a larger --context-length",
        _ANY: "give the server a longer context: what does not fit is cut off without an error",
    },
    "model": {_ANY: "the server did what it should: use a model that calls tools, or fewer tools"},
}


_BEHIND = {
    "LiteLLM": "; examine the server behind the gateway, too: if it is right, the gateway is not",
    "OpenRouter": '; pin one vendor ("provider": {"only": [NAME]}) and examine each',
}
"""Further advice where a gateway is between the client and the model's server."""


def remedy(
    fault: str,
    server: ServerIdentity,
    form: str | None = None,
    *,
    thought: str | None = None,
    parses: bool = False,
) -> str:
    """Return the advice on a fault of this server.

    `form` is the format of the model's calls, `thought` a text with its reasoning. `parses` says
    that the server parses some of the calls. Flags that the server has already are not advised.
    """
    name = parser_name(server.kind, form)
    has = server.parser and _DEPRECATED.get(server.parser, server.parser)
    if fault in ("calls-in-content", "calls-lost") and (parses or has) and has in (None, name):
        fault = "calls-lost" if fault == "calls-lost" and not has else f"{fault}-sometimes"
    if fault == "reasoning-leaks" and server.facts.get("reasoning_parser"):
        fault = "reasoning-leaks-sometimes"
    family = fault.partition("-")[0]
    by_kind = _REMEDIES.get(fault) or _REMEDIES.get(family) or {_ANY: f"{_NEWER}; {_TUNAEVAL}"}
    words = by_kind.get(server.kind) or by_kind[_ANY]
    words = words.replace("{flags}", _flags(server, form))
    words = words.replace("{thinker}", _flags(server, form, thought or ""))
    threads = (_THREADS.get(fault) or _THREADS.get(family) or {}).get(server.kind, "").split()
    cited = ", ".join(f"{_REPOSITORIES[server.kind]}#{number}" for number in threads)
    seen = f" (reported in {cited})" if cited else ""
    return words + seen + _BEHIND.get(server.kind, "")


_AUTO = {"vLLM": "--enable-auto-tool-choice "}


def _flags(server: ServerIdentity, form: str | None, thought: str | None = None) -> str:
    """Return the flags that name a parser, or for an unknown server those of each that has some."""
    option = "--tool-call-parser" if thought is None else "--reasoning-parser"
    if server.kind not in OFFERED:
        each = (replace(server, kind=kind, version=None) for kind in OFFERED)
        return "; ".join(f"{one.kind}: {_flags(one, form, thought)}" for one in each)
    auto = _AUTO.get(server.kind, "") if thought is None else ""
    name, of = parser_name(server.kind, form, thought), OFFERED[server.kind].version
    if name is None:
        return f"{auto}{option} P (one for this model; {server.kind} {of} has none that is known)"
    version = server.version or of
    other = "" if version.startswith(of) else f" (so it is called in {server.kind} {of})"
    return f"{auto}{option} {name}{other}"
