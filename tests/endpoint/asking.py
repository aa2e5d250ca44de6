"""What the tests of the endpoint ask it, and how a stream is read."""

from __future__ import annotations

import json
from typing import Any

import httpx2

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": name,
            "description": "",
            "parameters": {"type": "object", "properties": {key: {"type": "string"}}},
        },
    }
    for name, key in (("read_file", "filepath"), ("bash", "command"))
]
READ = '<tool_call>{"name": "read_file", "arguments": {"filepath": "calc.py"}}</tool_call>'


def question(said: str = "Fix add().", **more: Any) -> dict[str, Any]:
    """A chat request with two tools."""
    asked = [{"role": "user", "content": said}]
    return {"model": "m", "messages": asked, "tools": TOOLS, **more}


def chat(url: str, body: dict[str, Any] | None = None, **headers: str) -> httpx2.Response:
    # Certificates would cost more than everything else here.
    with httpx2.Client(verify=False, timeout=60) as client:
        return client.post(f"{url}/chat/completions", json=body or question(), headers=headers)


def said(reply: httpx2.Response) -> Any:
    """The message of a reply."""
    assert reply.status_code == 200, reply.text
    return reply.json()["choices"][0]["message"]


def refusal(reply: httpx2.Response) -> str:
    """The words of an error as OpenAI's API has it."""
    assert reply.status_code >= 400
    error = reply.json()["error"]
    assert error.keys() == {"message", "type", "param", "code"}
    words: str = error["message"]
    return words


def sent(reply: httpx2.Response, *, comments: bool = False) -> list[Any]:
    """The events of a stream; each frame is one, or a comment if there may be some."""
    assert reply.headers["content-type"].startswith("text/event-stream")
    assert reply.text.endswith("\n\n")
    lines = [frame.split("\n")[-1] for frame in reply.text.split("\n\n")[:-1]]
    lines = [line for line in lines if not (comments and line.startswith(":"))]
    assert all(line.startswith("data: ") for line in lines)
    return [json.loads(line[6:]) for line in lines if line != "data: [DONE]"]


def joined(chunks: list[Any]) -> dict[str, Any]:
    """The message that the chunks of a stream add up to, as a client adds them."""
    message: dict[str, Any] = {"role": "assistant", "content": None}
    calls: dict[int, Any] = {}
    for chunk in chunks:
        for choice in chunk["choices"]:
            delta = choice["delta"]
            for key in ("content", "reasoning_content"):
                if delta.get(key):
                    message[key] = (message.get(key) or "") + delta[key]
            for piece in delta.get("tool_calls", ()):
                call = calls.setdefault(piece["index"], {"function": {"arguments": ""}})
                more = piece["function"].pop("arguments", "")
                call["function"] |= piece.pop("function")
                call["function"]["arguments"] += more
                call |= {key: one for key, one in piece.items() if key != "index"}
    return message | ({"tool_calls": [*calls.values()]} if calls else {})
