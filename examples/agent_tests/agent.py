"""A small agent: it asks a model and runs the tools that this calls, until it answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx2

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": name,
            "description": description,
            "parameters": {
                "type": "object",
                "properties": {key: {"type": "string"} for key in keys},
                "required": list(keys),
            },
        },
    }
    for name, description, keys in (
        ("read_file", "Read a file.", ("path",)),
        ("update_file", "Replace a text in a file.", ("path", "old", "new")),
    )
]
MOST_TURNS = 8


def run(task: str, *, base_url: str, directory: Path, model: str = "small") -> str:
    """Do the task in the directory; the model's last words."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": task}]
    with httpx2.Client(base_url=base_url, timeout=60) as client:
        for _ in range(MOST_TURNS):
            asked = {"model": model, "messages": messages, "tools": TOOLS}
            reply = client.post("chat/completions", json=asked)
            reply.raise_for_status()
            message = reply.json()["choices"][0]["message"]
            messages.append(message)
            if not message.get("tool_calls"):
                return str(message["content"])
            for call in message["tool_calls"]:
                result = call_tool(call["function"], directory)
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})
    return "I gave up."


def call_tool(function: dict[str, Any], directory: Path) -> str:
    """What the tool gives back; a failure is a result, which the model can read."""
    try:
        arguments = json.loads(function["arguments"])
        path = (directory / arguments["path"]).resolve()
        if not path.is_relative_to(directory.resolve()):
            return "Error: that path leads out of the directory"
        if function["name"] == "read_file":
            return str(path.read_text("utf-8"))
        if function["name"] == "update_file":
            text = path.read_text("utf-8")
            if arguments["old"] not in text:
                return f"Error: {arguments['old']!r} is not in {arguments['path']}"
            path.write_text(text.replace(arguments["old"], arguments["new"]), "utf-8")
            return "Updated."
    except (OSError, ValueError, KeyError, TypeError) as error:
        return f"Error: {error!r}"
    return f"Error: there is no tool {function['name']}"
