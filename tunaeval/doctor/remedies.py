"""What repairs a fault: the exact flag for the recognised server, and threads that report it.

A remedy is looked up by fault and server. Where several help, they come in this order: a missing
flag, the right parser, a template, a newer version, a workaround.
"""

from __future__ import annotations

from .values import ServerIdentity

_TUNAEVAL = "until then, parse the text yourself: tunaeval.parse(text, tools=tools)"

PARSERS: dict[str, tuple[str | None, str | None]] = {
    "apertus": ("apertus", "apertus2509"),
    "deepseek-v3": ("deepseek_v3", "deepseekv3"),
    "deepseek-v3.1": ("deepseek_v31", "deepseekv31"),
    "ernie45": ("ernie45", None),
    "functiongemma": ("functiongemma", None),
    "glm45": ("glm45", "glm45"),
    "glm47": ("glm47", "glm47"),
    "granite3": ("granite", None),
    "hermes": ("hermes", "qwen25"),
    "hunyuan-a13b": ("hunyuan_a13b", None),
    "internlm": ("internlm", "interns1"),
    "jamba": ("jamba", None),
    "json": ("llama3_json", "llama3"),
    "kimi-k2": ("kimi_k2", "kimi_k2"),
    "llama3-bare": ("llama3_json", "llama3"),
    "llama3-json": ("llama3_json", "llama3"),
    "llama4-pythonic": ("llama4_pythonic", "pythonic"),
    "longcat": ("longcat", None),
    "mimo": ("mimo", "mimo"),
    "minimax-m2": ("minimax_m2", "minimax-m2"),
    "mistral-array": ("mistral", "mistral"),
    "mistral-v11": ("mistral", None),
    "olmo3": ("olmo3", None),
    "phi4-mini": ("phi4_mini_json", None),
    "pythonic": ("pythonic", "pythonic"),
    "qwen3-coder": ("qwen3_coder", "qwen3_coder"),
    "seed-oss": ("seed_oss", None),
    "step3": ("step3", "step3"),
}
"""The --tool-call-parser names of each format in vLLM and in SGLang, None where there is none.

Taken from the parsers registered in vLLM 0.33.0 and SGLang 0.5.23.
"""

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
    "vllm": "vllm-project/vllm",
    "sglang": "sgl-project/sglang",
    "ollama": "ollama/ollama",
    "llama.cpp": "ggml-org/llama.cpp",
    "lmstudio": "lmstudio-ai/lmstudio-bug-tracker",
    "dynamo": "ai-dynamo/dynamo",
    "eliza": "elizaOS/eliza",
    "litellm": "BerriAI/litellm",
    "tgi": "huggingface/text-generation-inference",
    "tensorrt-llm": "NVIDIA/TensorRT-LLM",
}
"""The repositories of the threads, by the short names used below."""

_THREADS = {
    "arguments-broken": "vllm#20678, vllm#35266, vllm#45256",
    "arguments-object": "tgi#2954",
    "call-ids": "vllm#18412, llama.cpp#11992, lmstudio#830",
    "calls-in-content": "vllm#47903, sglang#30925, llama.cpp#22786",
    "calls-in-content-sometimes": "vllm#47903, sglang#37634, llama.cpp#22371",
    "calls-lost": "sglang#31915, ollama#10976, vllm#26233",
    "choice-ignored": "llama.cpp#27217, llama.cpp#26535, ollama#17921",
    "choice-unknown": "ollama#17921",
    "content-lost": "sglang#34214",
    "cut-complete": "dynamo#13791",
    "cut-finish": "vllm#53269",
    "empty-arguments": "tensorrt-llm#19228",
    "error": "llama.cpp#20260, ollama#12884, ollama#17638",
    "finish-reason": "vllm#27572, vllm#53363, vercel/ai#12218",
    "frame": "ROCm/ATOM#1711, eliza#13900",
    "frame-choices": "ROCm/ATOM#1711",
    "id": "sglang#35542, anomalyco/opencode#37841",
    "index": "ollama#15457, dynamo#4723, litellm#33678, ollama#7881",
    "name": "sglang#35542",
    "name-changed": "vllm#57950",
    "none-markup": "sglang#30925, sglang#40237",
    "parallel-ignored": "sglang#9696, sglang#37157",
    "reasoning-leaks": "lmstudio#1592",
    "strict-ignored": "vllm#49661",
    "stream-differs": "vllm#20678, vllm#56263, sglang#35564",
    "text-again": "tensorrt-llm#3280",
    "usage-missing": "eliza#13900, litellm#36114",
    "usage-differs": "litellm#36114",
    "cut-markup": "vllm#47903",
    "value-changed": "vllm#46308, vllm#17703, sglang#41316",
}

_REMEDIES: dict[str, dict[str, str]] = {
    "flags": {
        "vLLM": "start with --enable-auto-tool-choice --tool-call-parser {parser}",
        _ANY: "name the server's tool parser; vLLM: --enable-auto-tool-choice "
        "--tool-call-parser {parser}; SGLang: --tool-call-parser {parser}",
    },
    "calls-in-content": {
        "vLLM": "name the parser of what the model writes: --enable-auto-tool-choice "
        "--tool-call-parser {parser}; " + _TUNAEVAL,
        "SGLang": "name the parser of what the model writes: --tool-call-parser {parser}; "
        + _TUNAEVAL,
        "llama.cpp": "start with --jinja --chat-template-file FILE, the template of this model, "
        "from which the parser is derived, in a newer version; " + _TUNAEVAL,
        "Ollama": "use a newer version, and a model whose /api/show has the capability 'tools'; "
        + _TUNAEVAL,
        _ANY: "name the server's parser for what the model writes (vLLM, SGLang: "
        "--tool-call-parser {parser}); " + _TUNAEVAL,
    },
    "calls-in-content-sometimes": {
        "SGLang": "use another parser of the same format (qwen25 in place of hermes), or a newer "
        "version; " + _TUNAEVAL,
        _ANY: _NEWER + "; " + _TUNAEVAL,
    },
    "calls-lost": {
        "vLLM": "name the parser of what the model writes (--tool-call-parser {parser}), or use a "
        "newer version; " + _TUNAEVAL,
        "SGLang": "name the parser of what the model writes (--tool-call-parser {parser}), or use "
        "a newer version; " + _TUNAEVAL,
        _ANY: _NEWER + "; " + _TUNAEVAL,
    },
    "stream-differs": {_ANY: _WHOLE},
    "arguments-broken": {_ANY: f"{_NEWER}; {_TUNAEVAL}"},
    "empty-arguments": {_ANY: 'read "" as {{}} in the client, and never send it back; ' + _NEWER},
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
        _ANY: "leave the keyword out of the schema before it is sent (true: {{}}; $ref: inline "
        "it); " + _NEWER,
    },
    "strict-ignored": {
        "vLLM": "start with --tool-strict-level 2, or check arguments in the client",
        "SGLang": "set SGLANG_TOOL_STRICT_LEVEL=2, or check arguments in the client",
        _ANY: "check arguments in the client: strict has no effect here",
    },
    "history": {
        "llama.cpp": "send '{{}}' in place of empty or broken arguments; start with --jinja "
        "--chat-template-file FILE, a corrected template",
        _ANY: "send arguments as sound JSON ('{{}}' for none), a string as content, system "
        "messages first; or give the server a corrected chat template",
    },
    "reasoning-leaks": {
        "vLLM": "start with --reasoning-parser R, the reasoning parser of the model",
        "SGLang": "start with --reasoning-parser R, the reasoning parser of the model",
        _ANY: "name the server's reasoning parser (vLLM, SGLang: --reasoning-parser R)",
    },
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


def remedy(fault: str, server: ServerIdentity, form: str | None = None) -> str:
    """Return the advice on a fault of this server; `form` is the format of the model's calls."""
    family = fault.partition("-")[0]
    by_kind = _REMEDIES.get(fault) or _REMEDIES.get(family) or {_ANY: _NEWER}
    words = by_kind.get(server.kind) or by_kind[_ANY]
    threads = _THREADS.get(fault) or _THREADS.get(family)
    seen = ""
    if threads:
        pieces = (thread.partition("#") for thread in threads.split(", "))
        full = (f"{_REPOSITORIES.get(name, name)}#{number}" for name, _, number in pieces)
        seen = f" (reported in {', '.join(full)})"
    vllm, sglang = PARSERS.get(form or "", (None, None))
    parser = sglang if server.kind == "SGLang" else vllm or sglang
    words = words.format(parser=parser or "P (the one of your model)")
    return words + seen + _BEHIND.get(server.kind, "")
