"""A small agent of its own process: asks a model over HTTP, runs its calls in its own directory."""

from __future__ import annotations

import json
import sys
from typing import Any
from urllib.request import Request, urlopen

from tunaeval import Workspace, workspace_tools
from tunaeval.errors import WorkspaceError
from tunaeval.tools.tool_prompts import tool_spec

COMMANDS = [["python", "{path}"], *(["python", "-m", f"tests.test_{name}"] for name in (
    "orders", "theme", "pages", "text", "size",
))]  # fmt: skip


def asked(url: str, messages: list[dict[str, Any]], tools: list[Any]) -> dict[str, Any]:
    body = json.dumps({"model": "any", "messages": messages, "tools": tools}).encode()
    request = Request(f"{url}/chat/completions", body, {"Content-Type": "application/json"})  # noqa: S310 - of loopback
    with urlopen(request, timeout=20) as answer:  # noqa: S310 - as above
        found: dict[str, Any] = json.load(answer)["choices"][0]["message"]
    return found


def worked(url: str, prompt: str) -> str:
    with Workspace(at=".", commands=COMMANDS) as workspace:
        tools = workspace_tools(workspace)
        told = [tool_spec(tool).as_openai() for tool in tools.values()]
        messages: list[dict[str, Any]] = [{"role": "user", "content": prompt}]
        while True:
            message = asked(url, messages, told)
            messages.append(message)
            if not message.get("tool_calls"):
                return str(message["content"])
            for call in message["tool_calls"]:
                function = call["function"]
                try:
                    said = tools[function["name"]](**json.loads(function["arguments"]))
                except WorkspaceError as error:
                    said = f"Error: {error}"
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": said})


if __name__ == "__main__":
    print(worked(sys.argv[1], sys.argv[2]))
