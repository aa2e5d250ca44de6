"""Gateways are recognised by their own signs, never guessed; what they strip is found, and the
remedy says to look behind them.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from tests.doctor.other_server import Defect, OtherServer
from tests.doctor.other_wire import Habits
from tunaeval.clients.server import Heard
from tunaeval.doctor.examination import Examination, examine
from tunaeval.doctor.recognise import Signs, by_answer, recognise
from tunaeval.doctor.runner import DoctorSettings
from tunaeval.doctor.values import ServerIdentity


def signs(models: Heard, *, nowhere: int = 404) -> Signs:
    return Signs(models, Heard(404), Heard(nowhere), {})


def heard(body: dict[str, Any], **headers: str) -> Heard:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Heard(200, named, json.dumps(body).encode())


def owned(owner: str) -> dict[str, Any]:
    return {"object": "list", "data": [{"id": "m", "owned_by": owner}]}


@pytest.mark.parametrize(
    ("models", "kind"),
    [
        (heard(owned("openai"), x_litellm_version="1.80.0"), "LiteLLM"),
        (heard(owned("vllm"), x_litellm_version="1.80.0"), "LiteLLM"),
        (heard(owned("vllm")), "vLLM"),
        (heard(owned("openai")), "unknown"),
        (heard(owned("openai"), server="uvicorn"), "unknown"),
        (heard({}, x_request_id="litellm"), "unknown"),
    ],
)
def test_pages_are_signs(models: Heard, kind: str) -> None:
    assert recognise(signs(models)).kind == kind


@pytest.mark.parametrize(
    ("answer", "kind", "version"),
    [
        (heard({}, x_litellm_call_id="1"), "LiteLLM", None),
        (heard({"provider": "Together", "choices": [{"native_finish_reason": "stop"}]}),
         "OpenRouter", None),
        (heard({"provider": "Together", "choices": [{}]}), "unknown", None),
        (heard({"x_groq": {"id": "r"}}), "Groq", None),
        (heard({"system_fingerprint": "vllm-0.33.0-tp2-0f3a"}), "vLLM", "0.33.0"),
        (heard({"system_fingerprint": "fp_ollama"}), "Ollama", None),
        (heard({"system_fingerprint": "fp_44709d6fcb"}), "unknown", None),
        (heard({"choices": [], "model": "vllm"}), "unknown", None),
        (Heard(200, {}, b"[]"), "unknown", None),
    ],
)  # fmt: skip
def test_answers_are_signs_where_no_page_was(answer: Heard, kind: str, version: str | None) -> None:
    found = by_answer(ServerIdentity(), answer)
    assert (found.kind, found.version) == (kind, version)
    assert by_answer(ServerIdentity("TGI"), answer).kind == "TGI", "the first sign wins"


def stripping(*keys: str) -> Defect:
    """A gateway that takes fields out of each request before the server has it."""

    def body(asked: dict[str, Any]) -> dict[str, Any]:
        return {key: value for key, value in asked.items() if key not in keys}

    return Defect("strips", body=body, prompt=body, wire=_as_groq)


def _as_groq(data: bytes) -> bytes:
    """A field that says so: the headers of the test server are fixed."""
    return data.replace(
        b'"object": "chat.completion"', b'"object": "chat.completion", "x_groq": {}'
    )


def examined(defect: Defect) -> Examination:
    with OtherServer(Habits(), defect) as server:
        return asyncio.run(examine(server.url, DoctorSettings(model="scripted"), environment={}))


@pytest.mark.parametrize(
    ("keys", "check"),
    [
        (("tools",), "tools-in-prompt"),
        (("tool_choice",), "choice-required"),
        (("parallel_tool_calls",), "one-at-a-time"),
        (("max_tokens",), None),
        (("temperature",), None),
    ],
)
def test_what_a_gateway_strips_is_found(keys: tuple[str, ...], check: str | None) -> None:
    found = examined(stripping(*keys))
    blamed = {finding.check for finding in found.findings if finding.verdict == "server"}
    assert found.server["name"] == "Groq"
    assert blamed >= ({check} if check else set())
    assert bool(blamed) == bool(check)
    assert found.exit == (1 if check else 0)


def test_the_remedy_says_to_look_behind_a_gateway() -> None:
    def as_openrouter(data: bytes) -> bytes:
        named = data.replace(b'"object": "chat.completion"', b'"object": "x", "provider": "Chutes"')
        return named.replace(b'"finish_reason"', b'"native_finish_reason": "", "finish_reason"')

    spoilt = stripping("tool_choice")
    spoilt.wire = as_openrouter
    found = examined(spoilt)
    assert found.server["name"] == "OpenRouter"
    assert "Chutes" in str(found.server["sign"])
    remedies = [finding.remedy for finding in found.findings if finding.verdict == "server"]
    assert remedies
    assert all("pin one vendor" in remedy for remedy in remedies)


def test_the_version_of_sglang_is_on_a_page_of_its_own() -> None:
    pages = {"/server_info": {"version": "0.5.23"}, "/version": {"version": "1"}}
    found = recognise(Signs(heard(owned("sglang")), Heard(404), Heard(404), pages))
    assert (found.kind, found.version) == ("SGLang", "0.5.23")
