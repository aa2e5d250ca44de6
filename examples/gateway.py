"""Read the calls that a server leaves in the text: agents ask this gateway in place of the server.

    $ python examples/gateway.py --upstream http://127.0.0.1:8000/v1 --format hermes --port 9000
    http://127.0.0.1:9000/v1

It speaks the APIs of OpenAI, Anthropic and Google, and asks the upstream for chat completions.
"""

import argparse
import asyncio
import json
import os
from collections.abc import AsyncIterator, Iterator
from functools import partial
from typing import Any

import httpx2

import tunaeval
from tunaeval.errors import TunaevalError
from tunaeval.types.faults import Fail

LIMITS = dict.fromkeys(("max_tokens", "max_output_tokens", "maxOutputTokens"), "max_tokens")
NAMES = {"temperature": "temperature", "top_p": "top_p", "topP": "top_p", "seed": "seed"} | LIMITS
NONE = ("none", {"type": "none"}, {"functionCallingConfig": {"mode": "NONE"}})


async def answer(
    client: httpx2.AsyncClient, given: argparse.Namespace, request: tunaeval.ModelRequest
) -> AsyncIterator[dict[str, Any] | Fail]:
    """Yield the deltas of the upstream's answer, with the calls in its text, or an error."""
    asked, last, sent, fault, status = body_for(request), dict[str, Any](), list[str](), "", 502
    reads = bool(request.tools) and asked.get("tool_choice") not in NONE
    reader = tunaeval.stream(given.format, request.tools, given.level)
    try:
        async with client.stream("POST", f"{given.upstream}/chat/completions", json=asked) as said:
            if not said.is_success:
                words = f"the upstream says: {(await said.aread())[:500].decode(errors='replace')}"
                headers = {key: one for key, one in said.headers.items() if key == "retry-after"}
                yield Fail(status=max(said.status_code, 400), message=words, headers=headers)
                return
            async for chunk in chunks(said):
                choice: dict[str, Any] = next(iter(chunk.get("choices") or [dict[str, Any]()]))
                for key in ("usage", "finish_reason"):
                    last |= {key: one} if (one := chunk.get(key) or choice.get(key)) else {}
                fault = fault or str(chunk.get("error") or "")
                found: list[dict[str, Any]] = [choice.get("delta") or choice.get("message") or {}]
                for delta in deltas(reader.feed_delta(chunk), sent) if reads else found:
                    yield delta
        fault = fault or ("" if "finish_reason" in last else "it broke off")
    except (httpx2.TransportError, ValueError) as error:
        fault, status = repr(error), 504 if isinstance(error, httpx2.TimeoutException) else 502
    if fault:
        yield Fail(status=status, message=f"the upstream gave no whole answer: {fault}")
        return
    result = reader.finish()
    for delta in deltas(reader.last_events(), sent):
        yield delta
    last |= {"finish_reason": "tool_calls"} if sent and last["finish_reason"] == "stop" else {}
    yield last | {"repairs": [one.code for call in result.calls for one in call.repairs]}


def body_for(request: tunaeval.ModelRequest) -> dict[str, Any]:
    """Return the request as chat completions have it; one of these is passed on as it is."""
    body, asked = request.body, dict[str, Any](request.body)
    if request.api != "chat":
        given: dict[str, Any] = {**body, **(body.get("generationConfig") or {})}
        asked = {NAMES[key]: one for key, one in given.items() if key in NAMES}
        asked["messages"] = [*request.messages]
        asked |= {"tools": request.tools.as_openai()} if request.tools else {}
        if body.get("tool_choice", body.get("toolConfig")) in NONE:
            asked["tool_choice"] = "none"
    streams = {"stream": True, "stream_options": {"include_usage": True}}
    return asked | {"model": request.model} | streams


async def chunks(said: httpx2.Response) -> AsyncIterator[dict[str, Any]]:
    """Yield the chunks of a stream, or the one answer of a server that does not stream."""
    others = ""
    async for line in said.aiter_lines():
        others += "" if line.startswith(("data:", "event:", ":")) else line
        if line.startswith("data:") and (data := line[5:].strip()) != "[DONE]":
            yield json.loads(data)
    if others.strip():
        yield json.loads(others)


def deltas(events: list[tunaeval.Event], sent: list[str]) -> Iterator[dict[str, Any]]:
    """Yield what has to be sent: texts as they come, and calls when they are whole."""
    for event in events:
        if event.kind in ("content", "reasoning"):
            yield {"content" if event.kind == "content" else "reasoning_content": event.text}
        elif event.call is not None:
            sent.append(event.call.id or os.urandom(5).hex()[:9])
            function = {"name": event.call.name, "arguments": json.dumps(event.call.arguments)}
            call = {"index": len(sent) - 1, "id": sent[-1], "type": "function"}
            yield {"tool_calls": [call | {"function": function}]}


async def serve(given: argparse.Namespace) -> None:
    tunaeval.stream(given.format)  # an unknown format is refused before all else
    key, limits = os.environ.get("OPENAI_API_KEY"), httpx2.Timeout(600, connect=10)
    headers = {"authorization": f"Bearer {key}"} if key else {}
    async with httpx2.AsyncClient(timeout=limits, headers=headers) as client:
        script = partial(answer, client, given)
        async with tunaeval.model_endpoint(script, port=given.port, keep_turns=8) as served:
            print(served.url, flush=True)
            await asyncio.Event().wait()


if __name__ == "__main__":
    options = argparse.ArgumentParser()
    options.add_argument("--upstream", required=True, type=lambda url: url.rstrip("/"))
    options.add_argument("--format", default="auto")
    options.add_argument("--level", default="standard", choices=("strict", "standard", "lenient"))
    options.add_argument("--port", default=0, type=int)
    try:
        asyncio.run(serve(options.parse_args()))
    except TunaevalError as error:
        options.error(str(error))
