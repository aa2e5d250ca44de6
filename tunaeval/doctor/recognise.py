"""Identify a server by signs that only it has; without one it stays unknown, never a guess."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from tunaeval.clients.server import Heard
from tunaeval.types.calls import JsonObject, JsonValue
from tunaeval.types.json_text import json_object

from .values import ServerIdentity, listed

Get: TypeAlias = Callable[[str], Awaitable[Heard]]

_UNKNOWN_PATH = "/tunaeval-no-such-path"


@dataclass(frozen=True, slots=True)
class Signs:
    """The responses of a server on the paths that identify known servers."""

    models: Heard
    front: Heard
    unknown_path: Heard
    pages: Mapping[str, JsonObject]

    @property
    def models_listed(self) -> list[JsonObject]:
        found = (json_object(self.models.body) or {}).get("data")
        return [one for one in listed(found) if isinstance(one, dict)]

    def owned_by(self, owner: str) -> bool:
        return any(one.get("owned_by") == owner for one in self.models_listed)

    def page(self, path: str, key: str) -> JsonValue:
        return self.pages.get(path, {}).get(key)


_PAGES = ("/props", "/model_info", "/server_info", "/version", "/api/version", "/info")


async def look(get: Get, root: str) -> Signs:
    """Fetch the signs of a server in at most 8 GETs, 9 for SGLang.

    `root` is the path of the server's API without /v1.
    """
    models = await get("models")
    if models.status is None:  # no server is listening, so nothing else will answer
        return Signs(models, Heard(), Heard(), {})
    front, unknown_path = await get(f"{root}/"), await get(f"{root}{_UNKNOWN_PATH}")
    pages = {}
    if not _answers_all(unknown_path):
        for path in _PAGES:
            if path == "/server_info" and "/model_info" not in pages:
                continue  # SGLang has both, and others need not be asked
            heard = await get(f"{root}{path}")
            if heard.status == 200 and (found := json_object(heard.body)) is not None:
                pages[path] = found
    return Signs(models, front, unknown_path, pages)


def recognise(signs: Signs) -> ServerIdentity:
    """Return the server that these signs identify, or an unknown one."""
    models = tuple(str(one["id"]) for one in signs.models_listed if one.get("id"))
    everything = _answers_all(signs.unknown_path)
    found = next(((kind, words) for kind, words, has_sign in _SIGNS if has_sign(signs)), None)
    if found is None:
        return ServerIdentity(models=models, answers_all=everything)
    kind, words = found
    version = _text(signs.page(*_VERSIONS[kind])) if kind in _VERSIONS else None
    if kind == "LiteLLM":
        version = signs.models.headers.get("x-litellm-version")
    parser = _text(signs.page("/model_info", "tool_call_parser")) if kind == "SGLang" else None
    # What else the server reported about tool calling.
    caps = signs.page("/props", "chat_template_caps")
    facts = {"reasoning_parser": signs.page("/model_info", "reasoning_parser"), "template": caps}
    known = {key: value for key, value in facts.items() if value}
    return ServerIdentity(kind, version, parser, words, models, everything, known)


def by_answer(server: ServerIdentity, heard: Heard) -> ServerIdentity:
    """Return the server with the model that an answer names, and identified by that answer if no
    page identified it.
    """
    if server.kind != "unknown" and server.answers_as is not None:
        return server
    body = json_object(heard.body) or {}
    server = replace(server, answers_as=server.answers_as or _text(body.get("model")))
    if server.kind != "unknown":
        return server
    print_ = _text(body.get("system_fingerprint")) or ""
    choices = body.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else {}
    kind, version, sign = "unknown", None, server.sign
    if "x-litellm-version" in heard.headers or "x-litellm-call-id" in heard.headers:
        kind, sign = "LiteLLM", "answers have headers x-litellm-"
        version = heard.headers.get("x-litellm-version")
    elif _text(body.get("provider")) and "native_finish_reason" in choice:
        kind, sign = "OpenRouter", f"answers name a provider, {body['provider']}"
    elif isinstance(body.get("x_groq"), dict):
        kind, sign = "Groq", "answers have x_groq"
    elif print_.startswith("vllm-"):
        kind, version = "vLLM", print_.removeprefix("vllm-").partition("-")[0]
        sign = f"the fingerprint {print_}"
    elif print_ == "fp_ollama":
        kind, sign = "Ollama", f"the fingerprint {print_}"
    return replace(server, kind=kind, version=version, sign=sign)


def _answers_all(unknown_path: Heard) -> bool:
    return unknown_path.status == 200


def _text(value: JsonValue) -> str | None:
    return value if isinstance(value, str) and value else None


_ANY_PATH = b"Unexpected endpoint or method"
_SIGNS: tuple[tuple[str, str, Callable[[Signs], object]], ...] = (
    ("LM Studio", "it answers 200 'Unexpected endpoint or method' on any path",
     lambda signs: _answers_all(signs.unknown_path) and _ANY_PATH in signs.unknown_path.body),
    ("LiteLLM", "the header x-litellm-version",
     lambda signs: signs.models.headers.get("x-litellm-version")),
    ("llama.cpp", "the header Server: llama.cpp",
     lambda signs: signs.models.headers.get("server", "").startswith("llama.cpp")),
    ("llama.cpp", "models owned by llamacpp", lambda signs: signs.owned_by("llamacpp")),
    ("llama.cpp", "/props has chat_template_caps",
     lambda signs: signs.page("/props", "chat_template_caps") is not None),
    ("SGLang", "models owned by sglang", lambda signs: signs.owned_by("sglang")),
    ("SGLang", "/ says that SGLang is running",
     lambda signs: b"SGLang is running" in signs.front.body),
    ("SGLang", "/model_info names a tool_call_parser",
     lambda signs: "tool_call_parser" in signs.pages.get("/model_info", {})),
    ("vLLM", "models owned by vllm", lambda signs: signs.owned_by("vllm")),
    ("Ollama", "/ says that Ollama is running",
     lambda signs: b"Ollama is running" in signs.front.body),
    ("TGI", "/info names the router text-generation-router",
     lambda signs: signs.page("/info", "router") == "text-generation-router"),
)  # fmt: skip
"""The signs of each kind, in this order because SGLang also answers on Ollama's paths, LM Studio
answers on every path, and a gateway may pass on the signs of the server behind it.
"""

_VERSIONS = {
    "llama.cpp": ("/props", "build_info"),
    "SGLang": ("/server_info", "version"),
    "vLLM": ("/version", "version"),
    "Ollama": ("/api/version", "version"),
    "TGI": ("/info", "version"),
}
"""The page and the key that has the version of a kind."""
